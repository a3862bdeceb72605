"""Models and motions from the files of other programs, and back into them."""

from typing import TYPE_CHECKING

from ocp.lazy import lazy_names

if TYPE_CHECKING:
    from ocp.interchange.c_code.c_folder import export_c
    from ocp.interchange.fitted_wraps import fit_wraps
    from ocp.interchange.mjcf.compiled_model import quiet
    from ocp.interchange.model_files import load_model, save_model
    from ocp.interchange.opensim.acting.contacts import opensim_contacts
    from ocp.interchange.opensim.state_tables import opensim_states
    from ocp.interchange.reader_notes import ModelWarning
    from ocp.interchange.tables.column_meanings import coordinates, markers, wrenches
    from ocp.interchange.tables.data_frames import as_pandas, as_xarray
    from ocp.interchange.tables.read_table import read_table
    from ocp.interchange.tables.solution_tables import (
        force_table,
        joint_trajectory,
        marker_table,
        motion_table,
        save_forces,
        save_motion,
    )
    from ocp.interchange.tables.table import Table
    from ocp.interchange.tables.write_table import save_table

__all__ = [
    "ModelWarning",
    "Table",
    "as_pandas",
    "as_xarray",
    "coordinates",
    "export_c",
    "fit_wraps",
    "force_table",
    "joint_trajectory",
    "load_model",
    "marker_table",
    "markers",
    "motion_table",
    "opensim_contacts",
    "opensim_states",
    "quiet",
    "read_table",
    "save_forces",
    "save_model",
    "save_motion",
    "save_table",
    "wrenches",
]

# Readers and writers load when they are first asked for.
__getattr__, __dir__ = lazy_names(__name__)
