"""Markers and force plates of C3D files, by the library ezc3d."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ocp.interchange.table import Table
from ocp.interchange.units import in_si
from ocp.version import needs

AXES = "xyz"


def read_c3d(path: Path) -> Table:
    """Return the table of a .c3d file: markers NAME.x, .., and wrenches of its force plates.

    Markers that were not seen are nan. Of plate k the columns are plate_k_force_vx, .. (N),
    plate_k_force_px, .. (m), the middle of its corners, and plate_k_torque_x, .. (N m) about that,
    in the file's global axes and with its sign, means over each frame. Raises ImportError saying
    how to install ezc3d; ValueError naming the file where it is none, or a unit is not known.
    """
    c3d = _opened(path)
    points, parameters = c3d["data"]["points"], c3d["parameters"]["POINT"]
    count = points.shape[2]
    rate = float(parameters["RATE"]["value"][0])
    names = [name.strip() for name in parameters["LABELS"]["value"][: points.shape[1]]]
    residuals = c3d["data"]["meta_points"]["residuals"][0]
    seen = np.where(residuals < 0, np.nan, points[:3])
    first = float(c3d["header"]["points"]["first_frame"])
    labels = [f"{name}.{axis}" for name in names for axis in AXES]
    columns = [_scaled(path, parameters["UNITS"], "m", seen[:, k]) for k in range(len(names))]
    units = ["m"] * len(labels)
    for k, plate in enumerate(c3d["data"]["platform"]):
        for ending, unit, rows in _wrench(path, plate, count):
            labels += [f"plate_{k + 1}_{ending}{axis}" for axis in AXES]
            units += [unit] * 3
            columns.append(rows)
    return Table(
        t=(first + np.arange(count)) / rate,
        labels=labels,
        values=np.vstack(columns),
        units=units,
        header={"DataRate": f"{rate:g}"},
        source=str(path),
    )


def _opened(path: Path) -> Any:
    try:
        ezc3d = import_module("ezc3d")
    except ImportError:
        raise ModuleNotFoundError(f"{path}: C3D files need ezc3d: {needs('data')}") from None
    path.stat()  # a file that is not there is an OSError
    try:
        return ezc3d.c3d(str(path), extract_forceplat_data=True)
    except (OSError, RuntimeError, KeyError, IndexError) as error:
        raise ValueError(f"{path}: cannot be read as C3D: {error}") from None


def _wrench(path: Path, plate: Any, count: int) -> list[tuple[str, str, np.ndarray]]:
    """Return (ending of the labels, unit, rows (3, count)) of the force, its point, its moment."""
    force = _scaled(path, plate["unit_force"], "N", _means(plate["force"], count))
    moment = _scaled(path, plate["unit_moment"], "N m", _means(plate["moment"], count))
    middle = np.mean(plate["corners"], axis=1)[:, None] * np.ones(count)
    point = _scaled(path, plate["unit_position"], "m", middle)
    return [("force_v", "N", force), ("force_p", "m", point), ("torque_", "N m", moment)]


def _means(rows: np.ndarray, count: int) -> np.ndarray:
    """Return the means (3, count) of samples (3, N), N / count of them to a frame."""
    return rows.reshape(3, count, -1).mean(axis=2)


def _scaled(path: Path, stated: Any, unit: str, rows: np.ndarray) -> np.ndarray:
    """Return rows in SI, from the unit that a parameter or a text states."""
    text = stated if isinstance(stated, str) else stated["value"][0]
    try:
        name, factor = in_si(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if name != unit:
        raise ValueError(f"{path}: expected a unit of {unit}, got {text!r}")
    return factor * rows
