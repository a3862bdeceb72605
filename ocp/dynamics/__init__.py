"""Inverse and forward dynamics: the methods of the literature, their derivatives, closed loops."""

from typing import TYPE_CHECKING

from ocp.dynamics.catalogue import (
    APPROXIMATE,
    CHOICES,
    DERIVATIVES,
    FORMULATIONS,
    derivatives_of,
    formulation_of,
    resolve_auto,
)
from ocp.dynamics.derivatives.charts import INERTIA
from ocp.dynamics.formulation_record import Approximation, Formulation, Provider, Reach
from ocp.dynamics.formulations.newton_euler import NEWTON_EULER
from ocp.dynamics.mirror_symmetry import mirror_image
from ocp.dynamics.tree_dynamics import (
    accelerations,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.dynamics.formulations.barman import BARMAN
    from ocp.dynamics.formulations.book import BOOK
    from ocp.dynamics.formulations.configuration_space import CONFIGURATION_SPACE, WITHOUT_CORIOLIS
    from ocp.dynamics.formulations.hollerbach_3x3 import HOLLERBACH_3X3
    from ocp.dynamics.formulations.hollerbach_4x4 import HOLLERBACH_4X4
    from ocp.dynamics.formulations.lie_group import LIE_GROUP
    from ocp.dynamics.formulations.uicker_kahn import UICKER_KAHN
    from ocp.dynamics.formulations.waters import WATERS
    from ocp.dynamics.tables.lookup import (
        TABLE,
        TABLE_FORMS,
        Table,
        Tabulated,
        table,
        table_plan,
        tabulate,
    )
    from ocp.dynamics.tables.tensor_splines import NUMBER_BYTES, TABLE_MEMORY, bytes_in_words

__all__ = [
    "APPROXIMATE",
    "BARMAN",
    "BOOK",
    "CHOICES",
    "CONFIGURATION_SPACE",
    "DERIVATIVES",
    "FORMULATIONS",
    "HOLLERBACH_3X3",
    "HOLLERBACH_4X4",
    "INERTIA",
    "LIE_GROUP",
    "NEWTON_EULER",
    "NUMBER_BYTES",
    "TABLE",
    "TABLE_FORMS",
    "TABLE_MEMORY",
    "UICKER_KAHN",
    "WATERS",
    "WITHOUT_CORIOLIS",
    "Approximation",
    "Formulation",
    "Provider",
    "Reach",
    "Table",
    "Tabulated",
    "accelerations",
    "bytes_in_words",
    "derivatives_of",
    "formulation_of",
    "forward_dynamics",
    "hybrid_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "mirror_image",
    "resolve_auto",
    "table",
    "table_plan",
    "tabulate",
]

# Methods that a motion is not planned with load when they are first asked for.
__getattr__, __dir__ = lazy_names(__name__)
