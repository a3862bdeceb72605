"""Inverse and forward dynamics: the methods of the literature, their derivatives, closed loops."""

from typing import TYPE_CHECKING

from ocp.dynamics.catalogue import (
    APPROXIMATE,
    CHOICES,
    DERIVATIVES,
    FORMULATIONS,
    derivatives_of,
    formulation_of,
    settled,
)
from ocp.dynamics.charts import INERTIA
from ocp.dynamics.formulation import Approximation, Formulation, Provider, Reach
from ocp.dynamics.mirroring import mirror_image
from ocp.dynamics.model import (
    accelerations,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from ocp.dynamics.newton_euler import NEWTON_EULER
from ocp.later import later

if TYPE_CHECKING:
    from ocp.dynamics.barman import BARMAN
    from ocp.dynamics.book import BOOK
    from ocp.dynamics.configuration_space import CONFIGURATION_SPACE, WITHOUT_CORIOLIS
    from ocp.dynamics.hollerbach_3x3 import HOLLERBACH_3X3
    from ocp.dynamics.hollerbach_4x4 import HOLLERBACH_4X4
    from ocp.dynamics.lie_group import LIE_GROUP
    from ocp.dynamics.tables import (
        TABLE,
        TABLE_FORMS,
        Table,
        Tabulated,
        table,
        table_plan,
        tabulate,
    )
    from ocp.dynamics.tables_splines import NUMBER_BYTES, TABLE_MEMORY, bytes_in_words
    from ocp.dynamics.uicker_kahn import UICKER_KAHN
    from ocp.dynamics.waters import WATERS

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
    "settled",
    "table",
    "table_plan",
    "tabulate",
]

# Methods that a motion is not planned with load when they are first asked for.
__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.dynamics.barman": ("BARMAN",),
        "ocp.dynamics.book": ("BOOK",),
        "ocp.dynamics.configuration_space": (
            "CONFIGURATION_SPACE",
            "WITHOUT_CORIOLIS",
        ),
        "ocp.dynamics.hollerbach_3x3": ("HOLLERBACH_3X3",),
        "ocp.dynamics.hollerbach_4x4": ("HOLLERBACH_4X4",),
        "ocp.dynamics.lie_group": ("LIE_GROUP",),
        "ocp.dynamics.tables": (
            "TABLE",
            "TABLE_FORMS",
            "Table",
            "Tabulated",
            "table",
            "table_plan",
            "tabulate",
        ),
        "ocp.dynamics.tables_splines": (
            "NUMBER_BYTES",
            "TABLE_MEMORY",
            "bytes_in_words",
        ),
        "ocp.dynamics.uicker_kahn": ("UICKER_KAHN",),
        "ocp.dynamics.waters": ("WATERS",),
    },
)
