"""Markers and force plates of C3D files, by the library ezc3d."""

import re
import struct
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ocp.interchange.table import Table
from ocp.interchange.units import in_si
from ocp.solution.files import bytes_of
from ocp.version import needs

AXES = "xyz"
LABELS = re.compile(r"LABELS\d*")  # of which each has 255 names at most
LONG = 65535  # frames that a header can count
BLOCK, MARK = 512, 80  # bytes of a header, of which the second is that
BIG = b"\x56"  # the sign of processors that write numbers from their large end
FAILURES = (OSError, RuntimeError, ValueError, LookupError, MemoryError, SystemError)


def read_c3d(path: Path) -> Table:
    """Return the table of a .c3d file: markers NAME.x, .., and wrenches of its force plates.

    Markers that were not seen are nan. Of plate k the columns are plate_k_force_vx, .. (N),
    plate_k_force_px, .. (m), the middle of its corners, and plate_k_torque_x, .. (N m) about that,
    in the file's global axes and with its sign, means over each frame. Raises ImportError saying
    how to install ezc3d; ValueError naming the file where it is none or cut off, where names of
    markers are missing or used twice, and where a unit is not known.
    """
    c3d = _opened(path)
    points, parameters = c3d["data"]["points"], c3d["parameters"]["POINT"]
    count = points.shape[2]
    rate, first = _rate(path, c3d, count)
    names = _names(path, parameters, points.shape[1])
    residuals = c3d["data"]["meta_points"]["residuals"][0]
    seen = np.where(residuals < 0, np.nan, points[:3])
    labels = [f"{name}.{axis}" for name in names for axis in AXES]
    columns = [_scaled(path, parameters["UNITS"], "m", seen[:, k]) for k in range(len(names))]
    units = ["m"] * len(labels)
    for k, plate in enumerate(c3d["data"].get("platform", ())):
        for ending, unit, rows in _wrench(path, plate, count):
            labels += [f"plate_{k + 1}_{ending}{axis}" for axis in AXES]
            units += [unit] * 3
            columns.append(rows)
    if not labels:
        raise ValueError(f"{path}: expected markers or force plates, got neither")
    return Table(
        t=(first + np.arange(count)) / rate,
        labels=labels,
        values=np.vstack(columns),
        units=units,
        header={"DataRate": f"{rate:g}"},
        source=str(path),
    )


def _rate(path: Path, c3d: Any, count: int) -> tuple[float, float]:
    """Return the rate (Hz) of frames and the number of the first; raise ValueError for a file that
    has fewer frames than its header says."""
    stated, header = c3d["parameters"]["POINT"]["RATE"]["value"], c3d["header"]["points"]
    rate = float(stated[0]) if len(stated) else 0.0
    if not 0 < rate < np.inf:
        raise ValueError(f"{path}: POINT:RATE: expected a number above 0 Hz, got {rate:g}")
    frames = _frames(path)
    if count < frames:
        raise ValueError(f"{path}: the header says {frames} frames, got {count}: it is cut off")
    return rate, float(header["first_frame"])


def _frames(path: Path) -> int:
    """Return how many frames the header of a C3D file says, which the library does not keep; 0
    where it cannot count them."""
    content = bytes_of(path)
    parameters = BLOCK * (content[0] - 1)
    order = ">" if content[parameters + 3 : parameters + 4] == BIG else "<"
    first, last = struct.unpack(f"{order}2H", content[6:10])
    return 0 if last >= LONG else last - first + 1


def _names(path: Path, parameters: Any, count: int) -> list[str]:
    """Return the names of the markers, of LABELS, LABELS2, ..; raise ValueError for empty ones and
    for such that are used twice."""
    parts = [parameters[word]["value"] for word in parameters if LABELS.fullmatch(word)]
    names = [name.strip() for part in parts for name in part][:count]
    if len(names) < count:
        raise ValueError(f"{path}: POINT:LABELS: expected {count} names, got {len(names)}")
    for k, name in enumerate(names):
        if not name:
            raise ValueError(f"{path}: POINT:LABELS: marker {k + 1} has no name")
        if name in names[:k]:
            raise ValueError(f"{path}: POINT:LABELS: marker {name!r} is named twice")
    return names


def _opened(path: Path) -> Any:
    """Return what the library reads; without force plates, which a warning says, where it cannot
    read these."""
    try:
        ezc3d = import_module("ezc3d")
    except ImportError:
        raise ModuleNotFoundError(f"{path}: C3D files need ezc3d: {needs('data')}") from None
    head = bytes_of(path)[:BLOCK]  # an OSError where there is no file, or a folder
    if len(head) < BLOCK or head[1] != MARK:
        raise ValueError(f"{path}: cannot be read as C3D: its second byte is not {MARK}")
    try:
        return ezc3d.c3d(str(path), extract_forceplat_data=True)
    except FAILURES as error:
        why = str(error)
    try:
        c3d = ezc3d.c3d(str(path))
    except FAILURES as error:
        raise ValueError(f"{path}: cannot be read as C3D: {error}") from None
    words = f"{path}: its force plates cannot be read, and are left out: {why}"
    warnings.warn(words, UserWarning, stacklevel=4)
    return c3d


def _wrench(path: Path, plate: Any, count: int) -> list[tuple[str, str, np.ndarray]]:
    """Return (ending of the labels, unit, rows (3, count)) of the force, its point, its moment."""
    force = _scaled(path, plate["unit_force"], "N", _means(plate["force"], count))
    moment = _scaled(path, plate["unit_moment"], "N m", _means(plate["moment"], count))
    middle = np.mean(plate["corners"], axis=1)[:, None] * np.ones(count)
    point = _scaled(path, plate["unit_position"], "m", middle)
    return [("force_v", "N", force), ("force_p", "m", point), ("torque_", "N m", moment)]


def _means(rows: np.ndarray, count: int) -> np.ndarray:
    """Return the means (3, count) of samples (3, N), N / count of them to a frame."""
    return rows.reshape(3, count, -1).mean(axis=2) if count else rows[:, :0]


def _scaled(path: Path, stated: Any, unit: str, rows: np.ndarray) -> np.ndarray:
    """Return rows in SI, from the unit that a parameter or a text states."""
    text = stated if isinstance(stated, str) else next(iter(stated["value"]), "")
    if not text.strip():
        raise ValueError(f"{path}: expected a unit of {unit}, got none")
    try:
        name, factor = in_si(text.replace("M", "m").replace("C", "c"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if name != unit:
        raise ValueError(f"{path}: expected a unit of {unit}, got {text!r}")
    return factor * rows
