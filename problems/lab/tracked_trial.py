"""A trial tracked with dynamics: the certified motion and forces that markers and plates make
likeliest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import cast

import casadi as ca
import numpy as np

from ocp import PLAIN, BSpline, Guess, Instant, Problem, Series, Solution, Solver, prepare
from ocp.estimation import (
    MeasurementNoise,
    Stance,
    measured_noise,
    settle_markers,
    tracking_problem,
)
from ocp.mechanics import Matrix
from ocp.problems.lab.trial_analysis import GRAVITY, PLATES, Analysis, known_runs, replaced_motion

LONGEST = 3.0  # s: of what is tracked, which takes some 15 s of a slow processor a second
EDGE = 0.02  # s: a stance that is cut so short is left out of the span, as its load is
ROUGH = 8  # iterations by the curvature of squares alone
OWN = "structured"
DENSE = 1000.0  # Hz: at which forces are told


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackedTrial:
    """A trial's motion by tracking with dynamics.

    Attributes:
        trial: the Analysis along the tracked motion: frames of the span, their angles, moments,
            strides and muscles.
        solution: of the tracking problem, with its certificate; its time counts from the span's
            start.
        span: (start, end) s of the trial.
        known: the longest time (s) in a piece in which plates tell all.
        noise: by which markers and plates weigh.
        moved: {joint: (rms, largest) change} from inverse kinematics, rad or m.
        markers: {segment: (before, after)} root mean square distances (m).
        forces: {foot: (rms N, rms N m about the origin)} from the plates, in the motion's band.
        errors: {stance: (force (3,) N, centre of pressure (3,) m)} that its plate is off all along.
    """

    trial: Analysis
    solution: Solution
    span: tuple[float, float]
    known: float
    noise: MeasurementNoise
    moved: Mapping[str, tuple[float, float]]
    markers: Mapping[str, tuple[float, float]]
    forces: Mapping[str, tuple[float, float]]
    errors: Mapping[str, tuple[np.ndarray, np.ndarray]]

    @property
    def share(self) -> float:
        """The root mean square by which forces are off the plates, over the body's weight."""
        squares = [force**2 for force, _ in self.forces.values()]
        return float(np.sqrt(np.sum(squares))) / (self.trial.person.mass * GRAVITY)

    @property
    def distance(self) -> tuple[float, float]:
        """Root mean square distances (m) of all markers before and after."""
        both = np.array([[before, after] for before, after in self.markers.values()])
        first, last = np.sqrt(np.mean(both**2, axis=0))
        return float(first), float(last)

    def __str__(self) -> str:
        start, end = self.span
        words = f"from {start:.2f} to {end:.2f} s"
        if self.known > end - start + 2 * EDGE:
            words += f", part of {self.known:.2f} s in which plates tell all"
            words += f" (at most {LONGEST:g} s unless a span is asked for)"
        return words

    def data(self) -> dict[str, object]:
        """Return the numbers of a report, as JSON has them; angles in degrees, lengths in mm."""
        kinds = {joint.name: joint.kind for joint in self.trial.person.tree.moving}
        sizes = {"revolute": np.degrees(1.0), "prismatic": 1e3}
        certificate = self.solution.verification
        return {
            "span": self.span,
            "told": str(self),
            "status": self.solution.status,
            "iterations": self.solution.statistics["iterations"],
            "certificate": certificate.verdict() if certificate else "none",
            "noise_mm": {name: 1e3 * size for name, size in self.noise.markers.items()},
            "plates": [self.noise.plates, self.noise.instants],
            "moved": {
                name: [float(sizes[kinds[name]] * each) for each in change]
                for name, change in self.moved.items()
            },
            "markers_mm": {
                name: [1e3 * before, 1e3 * after] for name, (before, after) in self.markers.items()
            },
            "forces": dict(self.forces),
            "share": self.share,
            "reserve": self.trial.muscles.largest_reserve if self.trial.muscles else None,
            "errors": {
                name: [push.tolist(), (1e3 * place).tolist()]
                for name, (push, place) in self.errors.items()
            },
        }


def track(
    trial: Analysis,
    *,
    span: tuple[float, float] | None = None,
    plates: tuple[float, float] = PLATES,
    solver: Solver = Solver(),
) -> TrackedTrial:
    """Return the motion and forces of a trial that its markers and plates make likeliest, each by
    its noise, and that nothing but the ground explains.

    Args:
        trial: with plates.
        span: (start, end) s in which plates tell all that the ground does, by default the longest
            there is, of at most LONGEST.
        plates: standard deviations of constant errors of forces (N) and of centres of pressure
            (m).
        solver: of the tracking problem.

    Raises:
        ValueError: there are no plates, or they never tell all that the ground does, or not
            throughout the span.
        NotSolved: no such motion is found.
    """
    near, feet = trial.consistent, trial.feet
    runs = known_runs(trial)
    if feet is None:
        raise ValueError(
            "track: the trial has no plates: what the ground does to the feet is not known"
        )
    if near is None or not runs:
        raise ValueError(
            "track: plates never tell all that the ground does (every foot on one of them, or in "
            "the air): nothing to track"
        )
    whole = max(runs, key=lambda run: run[1] - run[0])
    begin, end = whole if span is None else span
    if not any(first <= begin < end <= last for first, last in runs):
        told = ", ".join(f"{first:.2f} to {last:.2f} s" for first, last in runs)
        raise ValueError(f"track: span: plates tell all from {told}, got {begin:g} to {end:g} s")
    if span is None:
        end = min(end, begin + LONGEST)
        for tread in trial.treads:
            begin = tread.end if begin < tread.end < begin + EDGE else begin
            end = tread.start if end - EDGE < tread.start < end else end
    stances = [
        Stance(
            name=f"{tread.foot}_{number}",
            plate=tread.foot,
            link=trial.person.feet[tread.foot],
            start=tread.start,
            end=tread.end,
        )
        for number, tread in enumerate(trial.treads, start=1)
    ]
    settled = settle_markers(replace(trial.fit, tree=near.tree))
    noise = measured_noise(settled, feet, plates)
    stated = tracking_problem(settled, feet, stances, noise, span=(begin, end))
    seconds = float(near.t[-1] - near.t[0])
    s = np.linspace(begin - near.t[0], end - near.t[0], 2 * stated.motion.points) / seconds
    found = _solve_tracking(stated, Guess(q=near.points @ near.motion.values(s).T), solver)
    bearing = {stance.name: stance.plate for stance in stances}
    return _compare_with_trial(trial, found, bearing, (begin, end), whole[1] - whole[0], noise)


def _solve_tracking(stated: Problem, guess: Guess, solver: Solver) -> Solution:
    """Return the certified solution of a tracking problem.

    From a start whose forces are far off, Gauss's and Newton's steps, whose Hessian has no negative
    curvature, come near at once, and do not end; Newton's end from there. Factors of the former are
    quicker by our interior point too, which "auto" takes for the latter alone.
    """
    rough = replace(
        solver,
        plugin=OWN if solver.plugin == "auto" else solver.plugin,
        hessian="gauss-newton",
        options={**solver.options, "max_iter": ROUGH},
    )
    plan = prepare(stated, solver=rough, attempts=PLAIN)
    begin = plan.solve(guess, check_mesh=False)
    sharp = replace(plan, solver=solver)
    return sharp.solve(begin, attempts=PLAIN, certify=True, check_mesh=False).require()


def _compare_with_trial(
    trial: Analysis,
    found: Solution,
    plates: Mapping[str, str],
    span: tuple[float, float],
    known: float,
    noise: MeasurementNoise,
) -> TrackedTrial:
    """Return the tracked trial beside the measured one; `plates` are those of stances."""
    fit, tree, feet = trial.fit, trial.person.tree, trial.feet
    assert feet is not None
    frames = np.flatnonzero((fit.t >= span[0]) & (fit.t <= span[1]))
    t = fit.t[frames] - span[0]
    q = found.q(t)
    off = {name: rows[:, frames] for name, rows in fit.residuals.items()}
    near = fit.residuals_along(q, frames)
    change = q - fit.q[:, frames]
    dense = np.linspace(0.0, found.duration, round(DENSE * found.duration) + 1)
    pushes = dict(_pushes(found, plates, feet, dense))
    told = Series(t=dense + span[0], values=pushes, source="tracking")
    moving = replace(
        fit,
        t=fit.t[frames],
        q=q,
        qd=found.qd(t),
        qdd=found.qdd(t),
        motion=cast(BSpline, found.problem.motion),
        points=found.points,
        residuals=near,
        deviations=fit.deviations[:, frames],
        active=MappingProxyType({n: row[frames] for n, row in fit.active.items()}),
    )
    return TrackedTrial(
        trial=replaced_motion(
            trial,
            moving,
            found.tau(t),
            Series(t=moving.t, values=dict(_pushes(found, plates, feet, t)), source="tracking"),
        ),
        solution=found,
        span=span,
        known=known,
        noise=noise,
        moved=MappingProxyType(
            {
                joint.name: (float(np.sqrt(np.mean(row**2))), float(np.abs(row).max()))
                for joint, row in zip(tree.moving, change)
            }
        ),
        markers=MappingProxyType(dict(_distances(trial, off, near))),
        forces=MappingProxyType(dict(_changes(feet, told))),
        errors=MappingProxyType(
            {stance: _plate_errors(found, stance) for stance in _stances(found)}
        ),
    )


def _stances(found: Solution) -> tuple[str, ...]:
    ground = found.problem.ground
    return () if ground is None else tuple(foot.name for foot in ground.feet)


def _plate_errors(found: Solution, stance: str) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much a stance's plate is off all along: force (3,) N, pressure (3,) m."""
    push, place = (
        np.array([found.parameters[f"{stance}_{what}_{axis}"] for axis in "xyz"])
        for what in ("force", "pressure")
    )
    return push, place


def _pushes(
    found: Solution, plates: Mapping[str, str], feet: Series, t: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the wrenches (6, N) on each foot, of all its stances {name: foot}."""
    for foot in feet.values:
        rows = np.zeros((6, len(t)))
        for stance in _stances(found):
            if plates[stance] == foot:
                rows += found.trace(partial(_wrench, stance=stance), t)
        yield foot, rows


def _wrench(at: Instant, stance: str) -> Matrix:
    return ca.vertcat(at.reaction.moment(stance), at.reaction.force(stance))


def _changes(feet: Series, told: Series) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield by how much wrenches on each foot are off the plates (rms), means over frames."""
    inner = told.t[10:-10:10]
    measured, found = feet.at(inner), told.at(inner)
    for foot in feet.values:
        off = found[foot] - measured[foot]
        sizes = (float(np.sqrt(np.nanmean(np.sum(part**2, axis=0)))) for part in (off[3:], off[:3]))
        yield foot, (next(sizes), next(sizes))


def _distances(
    trial: Analysis, before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the root mean square distances of markers of each segment before and after."""
    sites = trial.person.table.sites
    segments: dict[str, list[str]] = {}
    for name in before:
        segments.setdefault(sites[name][0], []).append(name)
    for segment, names in segments.items():
        sizes = [
            float(np.sqrt(np.nanmean([np.sum(rows[name] ** 2, axis=0) for name in names])))
            for rows in (before, after)
        ]
        yield segment, (sizes[0], sizes[1])
