"""Models and motions from the files of other programs, and back into them."""

from typing import TYPE_CHECKING

from ocp.later import later

if TYPE_CHECKING:
    from ocp.interchange.meanings import coordinates, markers, wrenches
    from ocp.interchange.mjcf_compiled import quiet
    from ocp.interchange.models import load_model, save_model
    from ocp.interchange.motions import (
        force_table,
        joint_trajectory,
        marker_table,
        motion_table,
        save_forces,
        save_motion,
    )
    from ocp.interchange.reading import read_table
    from ocp.interchange.remarks import ModelWarning
    from ocp.interchange.table import Table
    from ocp.interchange.views import as_pandas, as_xarray
    from ocp.interchange.writing import save_table

__all__ = [
    "ModelWarning",
    "Table",
    "as_pandas",
    "as_xarray",
    "coordinates",
    "force_table",
    "joint_trajectory",
    "load_model",
    "marker_table",
    "markers",
    "motion_table",
    "quiet",
    "read_table",
    "save_forces",
    "save_model",
    "save_motion",
    "save_table",
    "wrenches",
]

# Readers and writers load when they are first asked for.
__getattr__, __dir__ = later(
    __name__,
    {
        "ocp.interchange.meanings": ("coordinates", "markers", "wrenches"),
        "ocp.interchange.mjcf_compiled": ("quiet",),
        "ocp.interchange.models": ("load_model", "save_model"),
        "ocp.interchange.motions": (
            "force_table",
            "joint_trajectory",
            "marker_table",
            "motion_table",
            "save_forces",
            "save_motion",
        ),
        "ocp.interchange.reading": ("read_table",),
        "ocp.interchange.remarks": ("ModelWarning",),
        "ocp.interchange.table": ("Table",),
        "ocp.interchange.views": ("as_pandas", "as_xarray"),
        "ocp.interchange.writing": ("save_table",),
    },
)
