"""A trial of a measured person: angles, moments, powers, events and cycles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ocp import BSpline, MarkerFit, Series, Tree, inverse_kinematics, measured_torques
from ocp.estimation import ConsistentMotion, consistent_motion, settle_mass_centre
from ocp.mechanics.muscles import muscles_of
from ocp.problems.lab.laboratory_axes import present, recognise_axes
from ocp.problems.lab.marker_sets import MarkerSet
from ocp.problems.lab.measured_person import MeasuredPerson
from ocp.problems.lab.muscles.electromyograms import Electromyograms, envelopes_at
from ocp.problems.lab.muscles.muscle_forces import MuscleForces, muscle_forces
from ocp.problems.lab.plates import Tread, doubts, foot_wrenches, treads
from ocp.problems.lab.strides import (
    Cycle,
    Event,
    foot_line,
    known_spans,
    step_events,
    stride_cycles,
    told_runs,
)

DEGREE = 5  # of the spline of all coordinates
CUTOFF = 8.0  # Hz: of the spline's segments; nearer to known walks than 6 of filters (gait_lab.md)
PLATES = 5.0, 0.01  # N, m: of plates beside markers [assumed; Bobbert & Schamhardt 1990]
MISSING = 0.25  # of the frames: a marker that lacks more is named
ASTRAY = 0.04  # m: root mean square of a marker that does not sit where the person has it
JUMP = 0.1  # m: of a marker in one frame
GRAVITY = 9.81  # m/s2
LOADS = 0.7, 5.0  # of a weight: the largest load of somebody who steps, from slow walks to sprints
ODD = 0.1  # of a weight: unexplained forces beyond it (Hicks et al. 2015 ask for less than 0.05)
FAR = 0.08  # m: of a weight: unexplained moments beyond it [assumed; pressures err by 0.01 m]
LEFT = 1.0  # N, N m: what may stay unexplained after the consistent motion is found
# Weights of markers by segment, as usual in inverse kinematics of gait: the pelvis carries little
# soft tissue, shoulders follow arms [assumed]
WEIGHTS = {"pelvis": 10.0, "trunk": 0.5, "head": 0.1, "upper_arm": 0.1, "forearm": 0.1}
NO_STRIDE = "no whole stride: no foot strikes twice"
FEET = "heel_r", "heel_l", "toe_r", "toe_l"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Analysis:
    """The answers of one trial.

    Attributes:
        person: the MeasuredPerson.
        fit: the MarkerFit, whose t, q, qd and qdd are the motion.
        torques: (n, N) N m or N, nan where the ground's forces are not known; empty without plates.
        treads: which foot stood on which plate.
        feet: wrenches of the ground on both feet; None without plates.
        known: times at which plates tell all that the ground does (N,).
        consistent: the motion and forces nearest to these under which nothing is unexplained; None
            where forces are not known.
        trunk: by which its tree has the mass centre of the trunk moved (3,) m, left, up and ahead.
        muscles: that share the moments, where the person has muscles and plates bear feet; else
            None.
        events, cycles: in order of time.
        smoothing: in words, what the spline lets through.
        doubts: sentences about what could be otherwise.
    """

    person: MeasuredPerson
    fit: MarkerFit
    torques: np.ndarray
    treads: tuple[Tread, ...]
    feet: Series | None
    known: np.ndarray
    consistent: ConsistentMotion | None
    trunk: np.ndarray
    muscles: MuscleForces | None
    events: tuple[Event, ...]
    cycles: tuple[Cycle, ...]
    smoothing: str
    doubts: tuple[str, ...]

    @property
    def residuals(self) -> tuple[float, float]:
        """Root mean squares of the force (N) and moment (N m) at the pelvis that motion and
        plates leave unexplained where they tell all, nan without plates."""
        return _unexplained_root(self.person.tree, self.torques, self.known)

    @property
    def segments(self) -> dict[str, float]:
        """Root mean square distances (m) of markers from their places on each segment."""
        squares: dict[str, list[float]] = {}
        for name, rms in self.fit.rms.items():
            squares.setdefault(self.person.table.sites[name][0], []).append(rms**2)
        return {name: float(np.sqrt(np.mean(each))) for name, each in squares.items()}


def analyse(
    person: MeasuredPerson,
    markers: Series,
    forces: Series | None = None,
    *,
    cutoff: float = CUTOFF,
    up: str = "",
    plates: tuple[float, float] = PLATES,
    emg: Series | None = None,
) -> Analysis:
    """Return the angles, moments, powers, events and cycles of a trial.

    Args:
        person: as of `scale`.
        markers: of the trial, in the laboratory's axes, m.
        forces: of its plates, as `ocp.interchange.wrenches` has them, in the same axes.
        cutoff: Hz, above which motion counts as noise: the spline of all coordinates has two
            segments in each of its periods.
        up: the laboratory's upward axis where the markers do not tell it.
        plates: standard deviations of forces (N) and of centres of pressure (m), by which forces
            and motion give way to each other.
        emg: envelopes {muscle: (1, N)} that the person's muscles are to be near to, as
            `electromyograms` has them.

    Raises:
        ValueError: for markers of other units or exchanged sides, feet without a heel or a toe,
            plates far from both feet, and envelopes of muscles that the person does not have, or of
            other times.
    """
    markers, lost = present(markers)
    table = person.table.among(markers.values)
    axes = recognise_axes(markers, table, up)
    _check_feet(markers, table)
    seen = markers.only([*table.sites]).rotate(axes.turn)
    weights = weights_of(table)
    span = float(seen.t[-1] - seen.t[0])
    segments = min(max(round(2 * cutoff * span), 1), len(seen.t) - DEGREE)
    fit = inverse_kinematics(
        person.tree,
        seen,
        weights=weights,
        motion=BSpline(points=segments + DEGREE, degree=DEGREE),
        start=person.q,
        limits=person.limited,
    )
    said = [
        f"marker {name} is missing in all frames" for name in lost if name in person.table.sites
    ]
    said += [*axes.doubts, *_missing(seen), *_astray(fit), *_jumps(fit), *_unsolved(fit)]
    steps: tuple[Tread, ...] = ()
    feet, torques = None, np.empty((0, len(fit.t)))
    if forces is not None:
        turned = forces.between(float(seen.t[0]), float(seen.t[-1])).rotate(axes.turn)
        lines = {side: foot_line(person, seen, side, turned.t) for side in "rl"}
        steps = treads(turned, lines)
        said += [*doubts(steps), *_misfit(person, turned, steps)]
        feet = foot_wrenches(turned, steps)
        torques = measured_torques(person.tree, fit.t, fit.q, fit.qd, fit.qdd, feet, person.feet)
    events = tuple(step_events(person, seen, fit, steps))
    known, consistent = np.zeros(len(fit.t), dtype=bool), None
    moved = np.zeros(3)
    if feet is not None and steps:
        lower = {side: np.min([mark[1] for mark in foot_line(person, seen, side, fit.t)], axis=0)
                 for side in "rl"}  # fmt: skip
        spans = known_spans(events, steps, fit.t, lower)
        known = np.array([any(a <= time <= b for a, b in spans) for time in fit.t])
        if spans:
            balanced, moved = _balance(person, fit, feet, known, plates)
            consistent = consistent_motion(
                balanced, feet, person.feet, known=spans, weights=weights, plates=plates
            )
            said += _unexplained(consistent)
    found = tuple(stride_cycles(person, fit, torques, events, steps))
    if not found:
        said.append(NO_STRIDE)
    force, moment = _unexplained_root(person.tree, torques, known)
    weight = person.mass * GRAVITY
    if force > ODD * weight or moment > FAR * weight:
        said.append(
            f"{force:.0f} N and {moment:.0f} N m (rms) at the pelvis are unexplained: plates are "
            "not where or when they should be, or the mass is another"
        )
    needed = {"muscles, which a model has": person.muscled, "forces on the feet": len(torques)}
    lacking = [word for word, there in needed.items() if not there]
    if emg is not None and lacking:
        said.append(f"{emg.source}: left out, as there are no {' and no '.join(lacking)}")
        emg = None
    return Analysis(
        person=person,
        fit=fit,
        torques=torques,
        treads=steps,
        feet=feet,
        known=known,
        consistent=consistent,
        trunk=moved,
        muscles=_muscles(person, fit, torques, emg) if len(torques) else None,
        events=events,
        cycles=found,
        smoothing=f"quintic spline of {segments} segments in {span:.2f} s: up to "
        f"{segments / span / 2:.1f} Hz",
        doubts=tuple(said),
    )


def _balance(
    person: MeasuredPerson,
    fit: MarkerFit,
    feet: Series,
    known: np.ndarray,
    plates: tuple[float, float],
) -> tuple[MarkerFit, np.ndarray]:
    """Return the fit whose trunk, all between the pelvis and the trunk's markers, has its mass
    centre where least is unexplained, and how far it is moved (3,) m."""
    tree, links = fit.tree, {point.name: point.link for point in fit.tree.points}
    pelvis, marked = (person.table.segment(name) for name in ("pelvis", "trunk"))
    if not marked:
        return fit, np.zeros(3)
    at, end = (tree.link_index(links[names[0]]) for names in (marked, pelvis))
    trunk = []
    while at >= 0 and at != end:
        trunk.append(tree.link_names[at])
        at = tree.parents[at]
    return settle_mass_centre(fit, feet, person.feet, trunk, known=known, plates=plates)


def known_runs(trial: Analysis) -> tuple[tuple[float, float], ...]:
    """Return the spans (s) of frames in which plates tell all that the ground does.

    Args:
        trial: the Analysis.
    """
    return told_runs(trial.known, trial.fit.t)


def replaced_motion(trial: Analysis, fit: MarkerFit, torques: np.ndarray, feet: Series) -> Analysis:
    """Return a trial along another motion, of some of its frames, with its strides and muscles.

    Args:
        trial: the Analysis.
        fit: the motion, with the residuals of markers along it.
        torques: (n, N) N m or N.
        feet: wrenches of the ground on both feet.
    """
    person, first, last = trial.person, fit.t[0], fit.t[-1]
    events = tuple(event for event in trial.events if first <= event.time <= last)
    muscles = None
    if trial.muscles is not None:
        muscles = _muscles(person, fit, torques, _followed_emg(trial.muscles, fit.t))
    cycles = tuple(stride_cycles(person, fit, torques, events, trial.treads))
    lost = () if cycles or NO_STRIDE in trial.doubts else (NO_STRIDE,)
    return replace(
        trial,
        fit=fit,
        torques=torques,
        feet=feet,
        known=np.ones(len(fit.t), dtype=bool),
        consistent=None,
        muscles=muscles,
        events=events,
        cycles=cycles,
        doubts=(*trial.doubts, *lost),
    )


def _followed_emg(muscles: MuscleForces, t: np.ndarray) -> Series | None:
    """Return the envelopes that muscles followed at other times (N,), None without any."""
    there = {
        name: np.interp(t, muscles.t, row)[None]
        for name, row in zip(muscles.names, muscles.followed)
        if np.isfinite(row).all()
    }
    return Series(t=t, values=there, source="electromyograms") if there else None


def _unexplained_root(tree: Tree, torques: np.ndarray, known: np.ndarray) -> tuple[float, float]:
    """Return the root mean squares of the force (N) and moment (N m) on passive joints, of the
    times that are known; nan where none are."""
    if not known.any():
        return float("nan"), float("nan")
    rows = [k for k, joint in enumerate(tree.moving) if not joint.actuated]
    slides = [k for k in rows if tree.moving[k].kind == "prismatic"]
    turns = [k for k in rows if k not in slides]
    return _rms(torques[slides][:, known]), _rms(torques[turns][:, known])


def _muscles(
    person: MeasuredPerson, fit: MarkerFit, torques: np.ndarray, emg: Series | None
) -> MuscleForces | None:
    """Return the muscles that share the moments of joints between the pelvis and the feet, near to
    envelopes; beyond the links that plates push moments are not known."""
    tree = person.tree
    if person.muscled is None:
        return None
    feet = {tree.link_index(link) for link in person.feet.values()}
    beyond: set[str] = set()
    for k, joint in enumerate(tree.joints):
        at = tree.parents[k]
        while at >= 0 and at not in feet:
            at = tree.parents[at]
        beyond |= {joint.name} if at >= 0 else set()
    names = [j.name for j in tree.moving if j.actuated and j.name not in beyond]
    crossed = [name for name in names if _is_crossed(person.muscled, name)]
    near = Electromyograms(envelopes={}) if emg is None else envelopes_at(emg, fit.t)
    return muscle_forces(person.muscled, fit.t, fit.q, fit.qd, torques, joints=crossed, emg=near)


def _is_crossed(tree: Tree, joint: str) -> bool:
    try:
        return bool(muscles_of(tree, joint=joint))
    except ValueError:
        return False


def weights_of(table: MarkerSet) -> dict[str, float]:
    """Return {marker: weight}, by the segments on which markers sit.

    Args:
        table: of the markers.
    """
    return {
        name: WEIGHTS.get(site[0].removesuffix("_r").removesuffix("_l"), 1.0)
        for name, site in table.sites.items()
    }


def _check_feet(markers: Series, table: MarkerSet) -> None:
    """Raise ValueError where a foot has no marker at its heel or at its toe."""
    lacking = [mark for mark in FEET if table.landmark(mark) is None]
    if lacking:
        raise ValueError(
            f"{markers.source}: expected markers at heels and toes, which tell strikes, and which "
            f"foot a plate bears; the person or the recording has none of {', '.join(lacking)}"
        )


def _unsolved(fit: MarkerFit) -> Iterator[str]:
    if not fit.success:
        yield f"the search for the motion ended before it converged: {fit.status}"


def _unexplained(near: ConsistentMotion) -> Iterator[str]:
    force, moment = near.after
    if not near.success or max(near.after) > LEFT:
        yield (
            f"no motion is found that forces explain: {force:.1f} N and {moment:.1f} N m are left "
            f"({near.status})"
        )


def _missing(markers: Series) -> Iterator[str]:
    for name, rows in markers.values.items():
        share = float(np.isnan(rows).any(axis=0).mean())
        if share > MISSING:
            yield f"marker {name} is missing in {100 * share:.0f} % of the frames"


def _astray(fit: MarkerFit) -> Iterator[str]:
    for name, rms in fit.rms.items():
        if rms > ASTRAY:
            yield (
                f"marker {name} is {1e3 * rms:.0f} mm from its place on the person: it has moved, "
                "or its name is another's"
            )


def _jumps(fit: MarkerFit) -> Iterator[str]:
    for name, rows in fit.residuals.items():
        off = np.linalg.norm(np.nan_to_num(rows), axis=0)
        if fit.rms[name] <= ASTRAY and off.max() > JUMP:
            yield (
                f"marker {name} is {1e3 * off.max():.0f} mm from its place at "
                f"{fit.t[off.argmax()]:.2f} s: it is another thing's there"
            )


def _misfit(person: MeasuredPerson, forces: Series, steps: tuple[Tread, ...]) -> Iterator[str]:
    """Yield doubts about the load on plates beside the person's weight."""
    if not steps:
        yield "plates bear no foot: moments are those of legs in the air"
        return
    most = max(float(np.nanmax(rows[4])) for rows in forces.values.values())
    share = most / (person.mass * GRAVITY)
    if not LOADS[0] < share < LOADS[1]:
        yield (
            f"plates bear at most {share:.2g} times the person's weight ({person.mass:.1f} kg): "
            "forces are in other units, or somebody else's"
        )


def _rms(rows: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(np.sum(rows**2, axis=0)))) if rows.size else float("nan")
