"""Force plates of C3D files: from analog channels to wrenches in the axes of the markers.

Kinds of plates are those of the C3D user guide (Motion Lab Systems 2008), FORCE_PLATFORM:TYPE. A
plate's own axes follow from its corners: x from the second to the first, y from the fourth to the
first, z into the ground.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ocp.interchange.c3d.frames import Recording
from ocp.interchange.c3d.parameters import Parameters
from ocp.interchange.tables.units import in_si, lower_prefixes

GROUP = "FORCE_PLATFORM"
Sums = tuple[np.ndarray, np.ndarray]  # force (3, N) and moment (3, N) about the surface's middle


@dataclass(frozen=True, slots=True, kw_only=True)
class Plate:
    """Means over each frame in the axes of the markers: force (3, frames; N), the middle of the
    corners
    (3, m), and moment (3, frames; N m) about it.
    """

    force: np.ndarray
    middle: np.ndarray
    moment: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Axes of a plate (3x3, columns), the `middle` of its surface (3, m), and its `origin` (3, m):
    from
    where it measures to the middle, in its axes; of kind 3 along x and y how far its sensors are
    from
    the middle.
    """

    axes: np.ndarray
    middle: np.ndarray
    origin: np.ndarray


def plates_of(recording: Recording, metre: float) -> Iterator[Plate]:
    """Yield the force plates of a recording.

    Args:
        recording: of the file.
        metre: its unit of length (m).

    Raises:
        ValueError: a parameter is missing or wrong.
    """
    parameters, count = recording.parameters, len(recording.points)
    used = int(parameters.number(f"{GROUP}:USED")) if f"{GROUP}:USED" in parameters else 0
    for k in range(used):
        kind = int(_of_plate(parameters, "TYPE", k, 1)[0])
        if kind not in KINDS:
            known = ", ".join(map(str, KINDS))
            raise ValueError(
                f"{parameters.path}: {GROUP}:TYPE: expected one of {known}, got {kind}"
            )
        units, sums = KINDS[kind]
        geometry = _geometry(parameters, k, metre)
        channels = _channels(recording, k, units, metre)
        if kind == CALIBRATED:
            if not parameters.numbers(f"{GROUP}:CAL_MATRIX").size:
                matrix = np.eye(6)
            else:
                matrix = _of_plate(parameters, "CAL_MATRIX", k, 36).reshape(6, 6, order="F")
            channels = (np.repeat([1.0, metre], 3)[:, None] * matrix) @ channels
        force, moment = (
            (geometry.axes @ rows).reshape(3, count, -1).mean(axis=2)
            for rows in sums(channels, geometry.origin)
        )
        yield Plate(force=force, middle=geometry.middle, moment=moment)


def _of_plate(
    parameters: Parameters, name: str, k: int, count: int, stride: int | None = None
) -> np.ndarray:
    """Return `count` numbers of plate k in a parameter, `stride` (the same) after those of the
    plate before."""
    stride = count if stride is None else stride
    values = parameters.numbers(f"{GROUP}:{name}").ravel(order="F")
    if count > stride or len(values) < (k + 1) * stride:
        raise ValueError(
            f"{parameters.path}: {GROUP}:{name}: expected {count} numbers of plate {k + 1}, got "
            f"{min(stride, max(len(values) - k * stride, 0))}"
        )
    return values[k * stride : k * stride + count]


def _geometry(parameters: Parameters, k: int, metre: float) -> Geometry:
    corners = metre * _of_plate(parameters, "CORNERS", k, 12).reshape(4, 3)
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    lengths = [float(np.linalg.norm(axis)) for axis in (x, z)]
    if not all(lengths):
        raise ValueError(
            f"{parameters.path}: {GROUP}:CORNERS: those of plate {k + 1} span no plane"
        )
    x, z = x / lengths[0], z / lengths[1]
    return Geometry(
        axes=np.column_stack([x, np.cross(z, x), z]),
        middle=corners.mean(axis=0),
        origin=metre * _of_plate(parameters, "ORIGIN", k, 3),
    )


def _channels(recording: Recording, k: int, units: Sequence[str], metre: float) -> np.ndarray:
    """Return the analog channels of plate k (channels, samples), (value - offset) scale in SI,
    or in their own units where none is asked."""
    parameters, samples = recording.parameters, recording.samples
    name = f"{GROUP}:CHANNEL"
    stride = (*parameters.numbers(name).shape, 0)[0]
    numbers = _of_plate(parameters, "CHANNEL", k, len(units), stride).astype(int)
    scales = parameters.series("ANALOG:SCALE")
    offsets = parameters.series("ANALOG:OFFSET", unsigned=recording.unsigned)
    known = min(samples.shape[2], len(scales), len(offsets))
    wrong = next((number for number in numbers if not 1 <= number <= known), None)
    if wrong is not None:
        raise ValueError(f"{parameters.path}: {name}: expected 1 to {known}, got {wrong}")
    rows = numbers - 1
    said = [text for each in parameters.names("ANALOG:UNITS") for text in parameters.texts(each)]
    own = [said[row] if row < len(said) else "" for row in rows]
    factors = [_factor(text, unit, metre) for text, unit in zip(own, units)]
    gains = parameters.number("ANALOG:GEN_SCALE") * scales[rows] * factors
    values = samples[:, :, rows].reshape(-1, len(rows)) - offsets[rows]
    return (gains * values).T


def _factor(text: str, unit: str, metre: float) -> float:
    """Return the factor of a channel's numbers: that of its unit or, if that is of another kind,
    that of N and the file's unit of length."""
    try:
        name, factor = in_si(lower_prefixes(text))
    except ValueError:
        name, factor = "", 1.0
    if name != unit:
        return metre if unit in ("m", "N m") else 1.0
    return factor


def _by_center(channels: np.ndarray, origin: np.ndarray) -> Sums:
    """Return the sums of force, center of pressure and moment about the vertical there."""
    force, zeros = channels[:3], np.zeros_like(channels[5])
    places = np.array([channels[3], channels[4], zeros])
    return force, np.cross(places.T, force.T).T + np.array([zeros, zeros, channels[5]])


def _by_moments(channels: np.ndarray, origin: np.ndarray) -> Sums:
    """Return the sums of force and moment about where a plate measures, below its surface; the way
    up is along -z, and that of files that have the one down is turned."""
    force, up = channels[:3], -origin if origin[2] > 0 else origin
    return force, channels[3:] - np.cross(up, force.T).T


def _by_corners(channels: np.ndarray, origin: np.ndarray) -> Sums:
    """Return the sums of four sensors, whose forces along x come in pairs 12 and 34, along y in
    pairs 14 and 23."""
    x12, x34, y14, y23, *z = channels
    a, b, depth = origin[0], origin[1], abs(origin[2])
    force = np.array([x12 + x34, y14 + y23, sum(z)])
    moment = np.array(
        [
            b * (z[0] + z[1] - z[2] - z[3]),
            a * (z[1] + z[2] - z[0] - z[3]),
            b * (x34 - x12) + a * (y14 - y23),
        ]
    )
    return force, moment - np.cross([0.0, 0.0, -depth], force.T).T


CALIBRATED = 4  # the kind whose channels are volts until its matrix makes moments of them
FORCES, MOMENTS = ("N",) * 3, ("N m",) * 3
Kind = tuple[Sequence[str], Callable[[np.ndarray, np.ndarray], Sums]]
KINDS: dict[int, Kind] = {  # units of channels, and their sums
    1: ((*FORCES, "m", "m", "N m"), _by_center),
    2: ((*FORCES, *MOMENTS), _by_moments),
    3: (("N",) * 8, _by_corners),
    CALIBRATED: (("",) * 6, _by_moments),
}
