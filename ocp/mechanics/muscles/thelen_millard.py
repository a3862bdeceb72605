"""Muscles of Thelen (2003) and Millard et al. (2013): their curves, and their parameters on ours.

OpenSim's conversion of both keeps strengths, lengths, times, damping and strains, and loses the
shapes of the curves; so does this one, and `curve_differences` says by how much.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from math import exp
from typing import ClassVar, TypeAlias

import numpy as np

from ocp.mechanics.muscles import force_curves
from ocp.mechanics.values.validation import positive, set_fields
from ocp.spelling import suggest_fields

Curve: TypeAlias = Callable[[np.ndarray], np.ndarray]
Options: TypeAlias = dict[str, float]
TOE_FORCE, TOE_SHAPE = 0.33, 3.0  # of Thelen's tendon, over the largest force, and its exponent
KEPT = (  # by OpenSim's conversion
    *("force", "fibre", "slack", "pennation", "fastest", "rise", "fall"),
    *("damping", "tendon_strain", "fibre_strain"),
)
POINTS = 2000  # on each piece of Millard's curves: exact to 2e-7
RANGES = {  # over which curves are compared
    "active_force": (0.5, 1.5),
    "passive_force": (1.0, 1.5),
    "force_velocity": (-1.0, 1.0),
    "tendon_force": (1.0, 1.04),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMuscle:
    """Parameters of OpenSim's muscles that have a counterpart in ours.

    Args:
        force: max_isometric_force (N).
        fibre: optimal_fiber_length (m).
        slack: tendon_slack_length (m).
        pennation: pennation_angle_at_optimal (rad).
        fastest: max_contraction_velocity (optimal lengths/s).
        rise: activation_time_constant (s).
        fall: deactivation_time_constant (s).
        tendon_strain: of the tendon at the largest force.
        fibre_strain: of the fibres that bear it without activation.

    Raises:
        ValueError: for a number that is not positive, but pennation and damping, which may be 0.
    """

    title: ClassVar[str]

    force: float
    fibre: float
    slack: float
    pennation: float = 0.0
    fastest: float = 10.0
    rise: float
    fall: float
    tendon_strain: float
    fibre_strain: float

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self)):
            zero = name in ("pennation", "damping")
            number = positive(f"{self.title}: {name}", getattr(self, name), zero)
            set_fields(self, **{name: number})

    @property
    def options(self) -> Options:
        """Keywords of a muscle on our curves, as OpenSim converts them."""
        return {name: getattr(self, name) for name in KEPT}

    @property
    def curves(self) -> Mapping[str, Curve]:
        """Its curves by name, over optimal length, slack length and largest force."""
        raise NotImplementedError


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class ThelenMuscle(OtherMuscle):
    """Parameters of OpenSim's Thelen2003Muscle that have a counterpart, and the shapes that do not.

    Args:
        force, fibre, slack, pennation, fastest, rise, fall: as OpenSim has them, see `OtherMuscle`.
        tendon_strain: FmaxTendonStrain.
        fibre_strain: FmaxMuscleStrain.
        active_shape: KshapeActive.
        passive_shape: KshapePassive.
        slowness: Af, of the force-velocity curve.
        eccentric: Flen, the largest force in lengthening over the isometric one.
    """

    title: ClassVar[str] = "Thelen's muscle"
    damping: ClassVar[float] = 0.0  # as OpenSim's conversion has it

    rise: float = 0.015
    fall: float = 0.050
    tendon_strain: float = 0.04
    fibre_strain: float = 0.6
    active_shape: float = 0.45
    passive_shape: float = 5.0
    slowness: float = 0.25
    eccentric: float = 1.4

    @property
    def curves(self) -> Mapping[str, Curve]:
        """Its curves by name, all over optimal length, slack length and largest force (Thelen 2003,
        eq. 3-7, with OpenSim's tendon)."""

        def active(length: np.ndarray) -> np.ndarray:
            return np.exp(-((length - 1) ** 2) / self.active_shape)

        def passive(length: np.ndarray) -> np.ndarray:
            rise = np.exp(self.passive_shape * (length - 1) / self.fibre_strain) - 1
            return np.maximum(rise, 0) / (exp(self.passive_shape) - 1)

        def velocity(v: np.ndarray) -> np.ndarray:
            steep = (2 + 2 / self.slowness) / (self.eccentric - 1)
            lengthening = np.maximum(v, 0)
            above = (1 + lengthening * steep * self.eccentric) / (1 + lengthening * steep)
            shortening = np.minimum(v, 0)
            return np.where(v > 0, above, (1 + shortening) / (1 - shortening / self.slowness))

        def tendon(length: np.ndarray) -> np.ndarray:
            growth = exp(TOE_SHAPE)
            toe = 99 * self.tendon_strain * growth / (166 * growth - 67)
            stiffness = 67 / (100 * (self.tendon_strain - toe))
            stretch = length - 1
            curved = TOE_FORCE * (np.exp(TOE_SHAPE * np.minimum(stretch, toe) / toe) - 1)
            below = np.maximum(curved, 0) / (growth - 1)
            return np.where(stretch > toe, stiffness * (stretch - toe) + TOE_FORCE, below)

        return _by_name(active, passive, velocity, tendon)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class MillardMuscle(OtherMuscle):
    """Parameters of OpenSim's Millard2012EquilibriumMuscle that have a counterpart.

    Args:
        force, fibre, slack, pennation, fastest, rise, fall: as OpenSim has them, see `OtherMuscle`.
        damping: fiber_damping.
        tendon_strain: strain_at_one_norm_force of its TendonForceLengthCurve.
        fibre_strain: that of its FiberForceLengthCurve.
    """

    title: ClassVar[str] = "Millard's muscle"

    rise: float = 0.010
    fall: float = 0.040
    damping: float = 0.1
    tendon_strain: float = 0.049
    fibre_strain: float = 0.7

    @property
    def curves(self) -> Mapping[str, Curve]:
        """Its curves by name, of OpenSim's default shapes (Millard et al. 2013, appendix A)."""
        return _by_name(
            _bezier(_active_corners(), 0.9),
            _bezier(_passive_corners(self.fibre_strain), 0.1 + 0.8 * 0.75),
            _bezier(_velocity_corners(), 0.1 + 0.8 * 0.6, 0.1 + 0.8 * 0.9),
            _bezier(_tendon_corners(self.tendon_strain), 0.1 + 0.8 * 0.5),
        )


def curve_differences(muscle: OtherMuscle) -> dict[str, tuple[float, float]]:
    """Differences of a muscle's curves from ours with its strains.

    Args:
        muscle: the muscle.

    Returns:
        {curve: (root mean square, largest) difference}, over the largest isometric force, with
        fibres of 0.5 to 1.5 (passive: 1 to 1.5), all velocities, and tendons stretched by 4 %.
    """
    ours: dict[str, Curve] = {
        "active_force": force_curves.active_force,
        "passive_force": lambda x: force_curves.passive_force(x, muscle.fibre_strain),
        "force_velocity": force_curves.force_velocity,
        "tendon_force": lambda x: force_curves.tendon_force(x, muscle.tendon_strain),
    }
    differences = {}
    for name, (lower, upper) in RANGES.items():
        places = np.linspace(lower, upper, 401)
        error = ours[name](places) - muscle.curves[name](places)
        differences[name] = float(np.sqrt(np.mean(error**2))), float(np.abs(error).max())
    return differences


def _by_name(active: Curve, passive: Curve, velocity: Curve, tendon: Curve) -> dict[str, Curve]:
    return dict(zip(RANGES, (active, passive, velocity, tendon)))


Corner: TypeAlias = tuple[float, float, float]  # x, y and slope


def _bezier(corners: list[Corner], *curviness: float) -> Curve:
    """Return the curve of quintic Bezier pieces between corners, straight beyond them; with two
    `curviness` the first is that of the first half of the pieces."""
    x: list[np.ndarray] = []
    y: list[np.ndarray] = []
    pieces = len(corners) - 1
    for k, (start, end) in enumerate(pairwise(corners)):
        bend = curviness[k * len(curviness) // pieces]
        (x0, y0, slope0), (x1, y1, slope1) = start, end
        # Where the tangents meet; of parallel ones halfway.
        meets = abs(slope0 - slope1) > 1e-9
        across = (y1 - y0 - x1 * slope1 + x0 * slope0) / (slope0 - slope1) if meets else 0.0
        xc = across if meets else (x0 + x1) / 2
        yc = y1 + (xc - x1) * slope1
        u = np.linspace(0, 1, POINTS)[:, None]
        basis = np.array([1, 5, 10, 10, 5, 1]) * u ** np.arange(6) * (1 - u) ** np.arange(5, -1, -1)
        for values, (first, corner, last) in ((x, (x0, xc, x1)), (y, (y0, yc, y1))):
            near, far = first + bend * (corner - first), last + bend * (corner - last)
            values.append(basis @ np.array([first, near, near, far, far, last]))
    at, height = np.concatenate(x), np.concatenate(y)
    (low, first_value, first_slope), (high, last_value, last_slope) = corners[0], corners[-1]

    def curve(place: np.ndarray) -> np.ndarray:
        inside = np.interp(place, at, height)
        below = first_value + first_slope * (place - low)
        above = last_value + last_slope * (place - high)
        return np.where(place < low, below, np.where(place > high, above, inside))

    return curve


def _active_corners() -> list[Corner]:
    """Return the corners of the active curve of OpenSim's ActiveForceLengthCurve."""
    start, knee, end, slope, least = 0.4441, 0.73, 1.8123, 0.8616, 0.1
    top, delta = 1.0, 0.05
    shoulder = top - delta
    height = 1 - slope * (shoulder - knee)
    steep = 1.25 * height / (knee - start)
    fall = (top + delta) + (end - (top + delta)) / 2
    return [
        (start, least, 0.0),
        (start + (knee - start) / 2, height / 2, steep),
        (knee + (shoulder - knee) / 2, height + (1 - height) / 2, slope),
        (top, 1.0, 0.0),
        (fall, 0.5, -1 / ((end - delta) - (top + delta))),
        (end, least, 0.0),
    ]


def _passive_corners(strain: float) -> list[Corner]:
    """Return the corners of OpenSim's FiberForceLengthCurve."""
    slope, low_slope = 2 / strain, 0.2
    low = 1 + min(0.1 / slope, 0.1 * strain)
    foot = 1 + (low - 1) / 2
    return [(1.0, 0.0, 0.0), (low, low_slope * (low - foot), low_slope), (1 + strain, 1.0, slope)]


def _velocity_corners() -> list[Corner]:
    """Return the corners of OpenSim's ForceVelocityCurve."""
    near, eccentric = 0.9, 1.4
    slow = 0.25 * 0.5 * (1 - near)
    fast = eccentric - 0.15 * 0.5 * (1 - near)
    shortening: list[Corner] = [(-1.0, 0.0, 0.0), (-near, slow, 0.25)]
    return [*shortening, (0.0, 1.0, 5.0), (near, fast, 0.15), (1.0, eccentric, 0.0)]


def _tendon_corners(strain: float) -> list[Corner]:
    """Return the corners of OpenSim's TendonForceLengthCurve."""
    slope, toe = 1.375 / strain, 2 / 3
    end = 1 + strain + (toe - 1) / slope
    start = 1 + (end - 1) / 10
    middle = 1 + strain + (toe / 2 - 1) / slope
    steep = toe / 2 / (middle - start)
    control = start + (middle - start) / 2
    return [(1.0, 0.0, 0.0), (control, steep * (control - start), steep), (end, toe, slope)]
