"""Markers and force plates of C3D files as tables."""

import warnings
from pathlib import Path

import numpy as np

from ocp.interchange.c3d.force_plates import Plate, plates_of
from ocp.interchange.c3d.frames import Recording, read_recording
from ocp.interchange.c3d.parameters import Parameters
from ocp.interchange.tables.table import Table
from ocp.interchange.tables.units import in_si, lower_prefixes
from ocp.storage.atomic_files import bytes_of

AXES = "xyz"


@np.errstate(invalid="ignore", over="ignore")  # what is endless is refused by the table
def read_c3d(path: Path) -> Table:
    """Return the table of a .c3d file: markers NAME.x, .., and wrenches of its force plates.

    Markers that were not seen are nan. Of plate k the columns are plate_k_force_vx, .. (N),
    plate_k_force_px, .. (m), the middle of its corners, and plate_k_torque_x, .. (N m) about that,
    in the file's global axes and with its sign, means over each frame.

    Raises:
        ValueError: the file is none or cut off, names of markers are missing or used twice, or a
            unit
            is not known.
    """
    recording = read_recording(path, bytes_of(path))
    parameters, count = recording.parameters, len(recording.points)
    metre = _metre(parameters)
    names = _names(parameters, recording.points.shape[1])
    labels = [f"{name}.{axis}" for name in names for axis in AXES]
    columns = [metre * recording.points.reshape(count, -1).T]
    units = ["m"] * len(labels)
    for k, plate in enumerate(_plates(recording, metre)):
        middle = np.repeat(plate.middle[:, None], count, axis=1)
        parts = (
            ("force_v", "N", plate.force),
            ("force_p", "m", middle),
            ("torque_", "N m", plate.moment),
        )
        for ending, unit, rows in parts:
            labels += [f"plate_{k + 1}_{ending}{axis}" for axis in AXES]
            units += [unit] * 3
            columns.append(rows)
    if not labels:
        raise ValueError(f"{path}: expected markers or force plates, got neither")
    return Table(
        t=(recording.first + np.arange(count)) / recording.rate,
        labels=labels,
        values=np.vstack(columns),
        units=units,
        header={"DataRate": f"{recording.rate:g}"},
        source=str(path),
    )


def _names(parameters: Parameters, count: int) -> list[str]:
    """Return the names of the markers; raise ValueError for one that is empty or used twice."""
    path = parameters.path
    parts = [parameters.texts(each) for each in parameters.names("POINT:LABELS")]
    names = [name.strip() for part in parts for name in part][:count]
    if len(names) < count:
        raise ValueError(f"{path}: POINT:LABELS: expected {count} names, got {len(names)}")
    known: set[str] = set()
    for k, name in enumerate(names):
        if not name:
            raise ValueError(f"{path}: POINT:LABELS: marker {k + 1} has no name")
        if name in known:
            raise ValueError(f"{path}: POINT:LABELS: marker {name!r} is named twice")
        known.add(name)
    return names


def _metre(parameters: Parameters) -> float:
    """Return the unit of length (m) of a file."""
    path, text = parameters.path, parameters.text("POINT:UNITS")
    if not text:
        raise ValueError(f"{path}: expected a unit of m, got none")
    try:
        name, factor = in_si(lower_prefixes(text))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if name != "m":
        raise ValueError(f"{path}: expected a unit of m, got {text!r}")
    return factor


def _plates(recording: Recording, metre: float) -> list[Plate]:
    """Return the force plates; none, with a warning, where they cannot be read."""
    path = recording.parameters.path
    try:
        return list(plates_of(recording, metre))
    except ValueError as error:
        why = str(error).removeprefix(f"{path}: ")
    words = f"{path}: its force plates cannot be read, and are left out: {why}"
    warnings.warn(words, UserWarning, stacklevel=5)
    return []
