"""Tracking with dynamics: the motion and the forces that markers and plates make likeliest.

An ordinary optimal control problem over the control points of a spline, the wrenches of the ground
and the constant errors e of the plates,

    minimise  sum over frames of |p(q) - p_measured|^2 / s_marker^2
            + PER_SEGMENT a segment * integral of |F + e - F_measured|^2 / s_instant^2
            + sum of e^2 / s_plates^2
            + (2 pi f)^-4 integral of |J (qdd - qdd_fit)|^2 / s_marker^2
    subject to  M qdd + h - J' F = (0, tau)

so that nothing pushes the root but the ground: that is its law of motion. Feet bear from EDGE
segments of the band before they strike until as long after they leave. A wrench counts by its
force and by its moment about the measured centre of pressure: across the force over the load, which
so is the error of that, along it as a couple of forces at the plate's corners. Beyond the frequency
f up to which inverse kinematics go accelerations stay near to theirs, as markers see them: of what
is quicker markers tell only noise (the smoothing spline's prior, Wahba 1978). Markers and forces
tracked by one dynamic motion: van den Bogert & Su 2008; Dembia et al. 2020 (MocoTrack).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import casadi as ca
import numpy as np

from ocp.estimation.marker_kinematics import MarkerFit
from ocp.estimation.marker_residuals import point_places
from ocp.estimation.tracking.measurement_noise import MeasurementNoise
from ocp.estimation.tracking.plates_in_band import (
    BAND,
    CORNER,
    EDGE,
    LOADED,
    PER_SEGMENT,
    Plates,
    plates_in_band,
    pressure_centre,
)
from ocp.mechanics.values.parameters import Parameter
from ocp.mechanics.values.types import Matrix
from ocp.motion import BSpline, fit_samples
from ocp.pickling import portable
from ocp.problem import (
    Curves,
    Foot,
    Ground,
    Instant,
    Objective,
    Problem,
    Series,
    Support,
    marker_tracking,
    samples,
    squares,
)

DEGREE = 5  # of the motion
FARTHEST = 20.0  # standard deviations: a plate is off by less
ARM = 1e-2  # m: a marker so far from every axis is added, which sees all joints [assumed]
AXES = "xyz"


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """A time from `start` to `end` (s) in which the ground pushes a `link`, as the wrench of the
    `plate` tells; its `name` is that of a foot of the problem's ground."""

    name: str
    plate: str
    link: str
    start: float
    end: float


def tracking_problem(
    fit: MarkerFit,
    forces: Series,
    stances: Sequence[Stance],
    noise: MeasurementNoise,
    *,
    span: tuple[float, float] | None = None,
    normal: tuple[float, float, float] = (0.0, 1.0, 0.0),
) -> Problem:
    """Return the problem of tracking a trial's markers and plates by one dynamic motion.

    Its feet are the stances, and its free parameters NAME_force_x (N) to NAME_pressure_z (m) the
    constant errors of the plates in each.

    Args:
        fit: of the markers.
        forces: {plate: (6, N)} moment about the global origin (N m) above force (N).
        stances: all that touch the ground in the span.
        noise: by which markers and plates weigh.
        span: (start, end) s, by default the whole trial.
        normal: upward.

    Raises:
        ValueError: the tree has no passive joints, or quaternions; a plate or link that is unknown,
            a marker without noise, and a span that was not recorded.
    """
    name, tree = "tracking_problem", fit.tree
    if all(joint.actuated for joint in tree.moving) or tree.balls:
        raise ValueError(f"{name}: expected a tree with passive joints and without quaternions")
    start, end = span or (float(fit.t[0]), float(fit.t[-1]))
    if not fit.t[0] <= start < end <= fit.t[-1]:
        raise ValueError(
            f"{name}: span: expected times from {fit.t[0]:g} to {fit.t[-1]:g} s, got {span}"
        )
    inside = [each for each in stances if each.start < end and each.end > start]
    for stance in inside:
        if stance.plate not in forces.values:
            raise ValueError(
                f"{name}: stance {stance.name!r}: {forces.source} has no plate {stance.plate!r}; "
                f"it has {', '.join(forces.values)}"
            )
    lacking = [marker for marker in fit.residuals if marker not in noise.markers]
    if lacking:
        raise ValueError(f"{name}: noise: marker {lacking[0]!r} has none")
    seconds = end - start
    segments = max(round(2 * BAND * seconds), 1)
    blur = EDGE * seconds / segments  # in the band loads rise before feet strike
    inside = [replace(each, start=each.start - blur, end=each.end + blur) for each in inside]
    motion = BSpline(points=segments + DEGREE, degree=DEGREE)
    band = plates_in_band(motion, np.array((start, end)), forces, (1.0, 1.0))
    ground = Ground(
        feet=tuple(_foot(stance, forces, start, seconds) for stance in inside), normal=normal
    ) if inside else None  # fmt: skip
    errors = {stance.name: _errors(stance, noise) for stance in inside}
    told = {
        stance.name: _plate_curves(stance, band, list(forces.values), seconds) for stance in inside
    }
    spans = {stance.name: (stance.start - start, stance.end - start) for stance in inside}
    names = tuple(fit.residuals)
    places = point_places(tree, names, fit.q)[0].reshape(-1, 3, len(fit.t))
    measured = dict(zip(names, places + np.array([*fit.residuals.values()])))
    seen = Series(t=fit.t, values=measured, source="markers")
    weights = {marker: noise.markers[marker] ** -2 for marker in fit.residuals}
    objective = marker_tracking(
        tree, seen, weights=weights, size=1.0, offset=start, duration=seconds
    )
    objective += _smooth(fit, weights, (start, end), segments)
    if inside:
        deviation = _Deviation(told=told, spans=spans, errors=errors, noise=noise)
        objective += PER_SEGMENT * segments / seconds * squares("forces", deviation)
        objective += samples("plate_errors", _Prior(errors=errors, noise=noise), (0.5,))
    return Problem(tree=tree, motion=motion, duration=seconds, objective=objective, ground=ground)


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Deviation:
    """The function of an Instant that has how far wrenches are from plates and their `errors`, over
    the noise: forces, and moments about the measured centre of pressure, across the force and along
    it."""

    told: dict[str, Curves]
    spans: dict[str, tuple[float, float]]
    errors: dict[str, tuple[Parameter, ...]]
    noise: MeasurementNoise

    def __call__(self, at: Instant) -> Matrix:
        rows = []
        for name, curve in self.told.items():
            measured, (start, end) = curve.at(at.t), self.spans[name]
            moment, push, place = measured[:3], measured[3:6], measured[6:9]
            load = ca.fmax(ca.norm_2(push), LOADED)
            bears = ca.logic_and(at.t > start + 1e-9, at.t < end - 1e-9)
            error = ca.vertcat(*(each.expression for each in self.errors[name]))
            more = at.reaction.force(name) - push
            twist = at.reaction.moment(name) - moment - ca.cross(place, more)
            twist += ca.cross(error[3:], push)
            along = ca.dot(twist, push) / load**2 * push
            force, pressure = self.noise.instants
            couple = force * CORNER
            rows += [
                bears * (more + error[:3]) / force,
                bears * (twist - along) / ca.sqrt((load * pressure) ** 2 + couple**2),
                bears * along / couple,
            ]
        return ca.vertcat(*rows)


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Prior:
    """The function of an Instant that has the constant errors of plates over their noise."""

    errors: dict[str, tuple[Parameter, ...]]
    noise: MeasurementNoise

    def __call__(self, at: Instant) -> Matrix:
        force, pressure = self.noise.plates
        return ca.vertcat(
            *(
                each.expression / (force if each.unit == "N" else pressure)
                for errors in self.errors.values()
                for each in errors
            )
        )


def _errors(stance: Stance, noise: MeasurementNoise) -> tuple[Parameter, ...]:
    """Return the constant errors of a stance's plate: of the force, and of its centre of
    pressure."""
    return tuple(
        Parameter(
            f"{stance.name}_{what}_{axis}",
            0.0,
            unit,
            lower=-FARTHEST * size,
            upper=FARTHEST * size,
            free=True,
        )
        for what, unit, size in zip(("force", "pressure"), ("N", "m"), noise.plates)
        for axis in AXES
    )


def _foot(stance: Stance, forces: Series, start: float, seconds: float) -> Foot:
    """Return the foot of a stance, whose centre is the mean centre of pressure."""
    a, b = (stance.start - start) / seconds, (stance.end - start) / seconds
    rows = forces.values[stance.plate][:, (forces.t >= stance.start) & (forces.t <= stance.end)]
    center = pressure_centre(*np.split(np.nansum(rows, axis=1), 2))
    support = Support(link=stance.link, when=(max(a, 0.0), min(b, 1.0)))
    bears = (a if a > 0 else -inf, b if b < 1 else inf)
    return Foot(name=stance.name, supports=(support,), center=tuple(center.tolist()), bears=bears)


def _plate_curves(stance: Stance, band: Plates, plates: Sequence[str], seconds: float) -> Curves:
    """Return the moment, force and centre of pressure that a stance's plate tells, at times from
    the band's start."""
    row = 6 * plates.index(stance.plate)
    s = np.linspace(0.0, 1.0, PER_SEGMENT * (len(band.points) - 3) + 1)
    told = band.at(band.start + band.span * s)[row : row + 6]
    return _even_curves(np.vstack([told, pressure_centre(told[:3], told[3:])]), seconds)


def _even_curves(rows: np.ndarray, seconds: float) -> Curves:
    """Return cubic curves through rows (m, K) at even times, PER_SEGMENT of them a segment."""
    segments = (rows.shape[1] - 1) // PER_SEGMENT
    basis = BSpline(points=segments + 3, degree=3, clamped=False)
    found = fit_samples(basis, np.linspace(0.0, 1.0, rows.shape[1]), rows)
    return Curves(start=0.0, step=seconds / segments, coefficients=found, missing=())


def _smooth(
    fit: MarkerFit, weights: dict[str, float], span: tuple[float, float], segments: int
) -> Objective:
    """Return the prior of accelerations, and of joints that no marker sees, to stay near to those
    of inverse kinematics; it counts in as many samples as there are frames, by the mean of the
    markers' metric over these."""
    start, end = span
    frames = (fit.t >= start) & (fit.t <= end)
    slopes = point_places(fit.tree, tuple(fit.residuals), fit.q[:, frames])[1]
    roots = np.sqrt(np.repeat([weights[marker] for marker in fit.residuals], 3))[:, None]
    slopes = roots * slopes
    metric = np.mean(slopes.transpose(0, 2, 1) @ slopes, axis=0)
    size = float(np.median(list(weights.values())))
    metric += size * ARM**2 * np.eye(fit.tree.dof)
    cutoff = fit.motion.segments / float(fit.t[-1] - fit.t[0]) / 2
    root = np.linalg.cholesky(metric).T / (2 * np.pi * cutoff) ** 2
    whole = float(fit.t[-1] - fit.t[0])
    s = np.linspace(0.0, 1.0, PER_SEGMENT * segments + 1)
    at = (start + (end - start) * s - fit.t[0]) / whole
    place, aim = (
        _even_curves(fit.points @ fit.motion.values(at, k).T / whole**k, end - start)
        for k in (0, 2)
    )
    rate = float(frames.sum()) / (end - start)
    unseen = ARM * np.sqrt(size)
    return rate * squares(
        "smooth",
        lambda at: ca.vertcat(
            ca.DM(root) @ (at.qdd - aim.at(at.t)), unseen * (at.q - place.at(at.t))
        ),
    )
