"""A trial of a measured person: angles, moments, powers, events and cycles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from ocp import BSpline, MarkerFit, Series, Tree, inverse_kinematics, measured_torques
from ocp.estimation import ConsistentMotion, consistent_motion
from ocp.mechanics.muscles import muscles_of
from ocp.problems.lab.laboratory_axes import middle, present, recognise_axes
from ocp.problems.lab.marker_sets import MarkerSet
from ocp.problems.lab.measured_person import MeasuredPerson
from ocp.problems.lab.muscles.electromyograms import Electromyograms, envelopes_at
from ocp.problems.lab.muscles.muscle_forces import MuscleForces, muscle_forces
from ocp.problems.lab.plates import Tread, doubts, foot_wrenches, treads

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
TOGETHER = 0.15  # s: between a strike of the plates and that of the markers
UNSURE = 0.05  # s: of an event that markers tell (Zeni et al. 2008: most within 2 frames of 60 Hz)
NEAR = 0.02  # s: of a tread that covers a stance
BRIEF = 0.1  # s: a span in which forces are known is longer
LEFT = 1.0  # N, N m: what may stay unexplained after the consistent motion is found
LOW = 0.05  # m: a foot that is higher above where feet tread is in the air
# Weights of markers by segment, as usual in inverse kinematics of gait: the pelvis carries little
# soft tissue, shoulders follow arms [assumed]
WEIGHTS = {"pelvis": 10.0, "trunk": 0.5, "head": 0.1, "upper_arm": 0.1, "forearm": 0.1}
NO_STRIDE = "no whole stride: no foot strikes twice"
FEET = "heel_r", "heel_l", "toe_r", "toe_l"
PERCENT = np.linspace(0.0, 100.0, 101)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A heel strike or a toe-off: `time` (s), `foot` "r" or "l", `kind` "strike" or "off", and
    whether "plates" or "markers" tell it."""

    time: float
    foot: str
    kind: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cycle:
    """A stride of one foot, from strike (s) to strike, and `curves` {quantity: (101,)} of it.

    Quantities: hip_flex_deg, hip_flex_Nm_kg, hip_flex_W_kg and so on, of its leg's joints; moments
    and powers are nan where no plate tells what the ground did.
    """

    foot: str
    start: float
    off: float
    end: float
    curves: Mapping[str, np.ndarray]


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
        lines = {side: _line(person, seen, side, turned.t) for side in "rl"}
        steps = treads(turned, lines)
        said += [*doubts(steps), *_misfit(person, turned, steps)]
        feet = foot_wrenches(turned, steps)
        torques = measured_torques(person.tree, fit.t, fit.q, fit.qd, fit.qdd, feet, person.feet)
    events = tuple(_events(person, seen, fit, steps))
    known, consistent = np.zeros(len(fit.t), dtype=bool), None
    if feet is not None and steps:
        lower = {side: np.min([mark[1] for mark in _line(person, seen, side, fit.t)], axis=0)
                 for side in "rl"}  # fmt: skip
        spans = known_spans(events, steps, fit.t, lower)
        known = np.array([any(a <= time <= b for a, b in spans) for time in fit.t])
        if spans:
            consistent = consistent_motion(
                fit, feet, person.feet, known=spans, weights=weights, plates=plates
            )
            said += _unexplained(consistent)
    found = tuple(_cycles(person, fit, torques, events, steps))
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
        muscles=_muscles(person, fit, torques, emg) if len(torques) else None,
        events=events,
        cycles=found,
        smoothing=f"quintic spline of {segments} segments in {span:.2f} s: up to "
        f"{segments / span / 2:.1f} Hz",
        doubts=tuple(said),
    )


def known_runs(trial: Analysis) -> tuple[tuple[float, float], ...]:
    """Return the spans (s) of frames in which plates tell all that the ground does.

    Args:
        trial: the Analysis.
    """
    return _runs(trial.known, trial.fit.t)


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
    cycles = tuple(_cycles(person, fit, torques, events, trial.treads))
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


def _line(
    person: MeasuredPerson, markers: Series, side: str, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (3, N) of heel and toe at other times."""
    places = []
    for mark in ("heel", "toe"):
        rows = markers.values[str(person.table.landmark(f"{mark}_{side}"))]
        there = np.isfinite(rows[0])
        places.append(np.array([np.interp(t, markers.t[there], row[there]) for row in rows]))
    return places[0], places[1]


def _events(
    person: MeasuredPerson, markers: Series, fit: MarkerFit, steps: tuple[Tread, ...]
) -> Iterator[Event]:
    """Yield strikes and offs in order: those of plates, and elsewhere where the heel is farthest
    ahead of the pelvis, and the toe farthest behind   (Zeni, Richards & Higginson 2008)."""
    found = []
    pelvis = middle(markers, *person.table.among(markers.values).segment("pelvis"))[2]
    seen = np.isfinite(pelvis)
    ahead = np.interp(fit.t, markers.t[seen], pelvis[seen])
    for side in "rl":
        heel, toe = _line(person, markers, side, fit.t)
        for kind, curve in (("strike", heel[2] - ahead), ("off", ahead - toe[2])):
            sure = [
                tread.start if kind == "strike" else tread.end
                for tread in steps
                if tread.foot == side
                and (
                    tread.start > markers.t[0] + 1e-3
                    if kind == "strike"
                    else tread.end < markers.t[-1] - 1e-3
                )
            ]
            told = [(time, "plates") for time in sure]
            told += [
                (time, "markers")
                for time in fit.t[_peaks(curve)]
                if all(abs(time - other) > TOGETHER for other in sure)
            ]
            found += [Event(time=float(at), foot=side, kind=kind, told=by) for at, by in told]
    yield from sorted(found, key=lambda event: event.time)


def known_spans(
    events: tuple[Event, ...],
    steps: tuple[Tread, ...],
    t: np.ndarray,
    heights: Mapping[str, np.ndarray],
) -> tuple[tuple[float, float], ...]:
    """Return the spans (s) in which plates tell all that the ground does: of each foot that it
    stands on one, or that it is in the air.

    Args:
        events: of the trial.
        steps: on plates.
        t: times of the trial (N,) s.
        heights: {"r" and "l": that of the lower one of heel and toe (N,)} m.
    """
    told = np.ones(len(t), dtype=bool)
    trodden = [heights[step.foot][(t >= step.start) & (t <= step.end)] for step in steps]
    ground = max((float(rows.min()) for rows in trodden if len(rows)), default=np.inf)
    for side in "rl":
        begin = Event(time=float(t[0]), foot=side, kind="begin", told="plates")
        end = Event(time=float(t[-1]), foot=side, kind="end", told="plates")
        own = [begin, *(event for event in events if event.foot == side), end]
        for first, last in pairwise(own):
            early, late = (0.0 if each.told == "plates" else UNSURE for each in (first, last))
            span = (t >= first.time - early) & (t <= last.time + late)
            stands = first.kind == "strike" or last.kind == "off"
            low = bool(span.any()) and float(heights[side][span].min()) < ground + LOW
            covered = any(
                tread.foot == side
                and tread.start <= first.time + NEAR
                and tread.end >= last.time - NEAR
                for tread in steps
            )
            if stands and low and not covered:
                told &= ~span
    return _runs(told, t)


def _runs(told: np.ndarray, t: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Return the spans (s) of times (N,) at which all is told, of more than BRIEF."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], told, [0]]).astype(int)))
    return tuple(
        (float(t[first]), float(t[end - 1]))
        for first, end in zip(edges[::2], edges[1::2])
        if t[end - 1] - t[first] > BRIEF
    )


def _peaks(curve: np.ndarray) -> np.ndarray:
    """Return the samples at which a curve is highest of its surroundings and above its middle."""
    inner = (curve[1:-1] > curve[:-2]) & (curve[1:-1] >= curve[2:])
    return 1 + np.flatnonzero(inner & (curve[1:-1] > (curve.max() + curve.min()) / 2))


def _cycles(
    person: MeasuredPerson,
    fit: MarkerFit,
    torques: np.ndarray,
    events: tuple[Event, ...],
    steps: tuple[Tread, ...],
) -> Iterator[Cycle]:
    tree = person.tree
    for side in "rl":
        mine = [event for event in events if event.foot == side]
        strikes = [event.time for event in mine if event.kind == "strike"]
        for start, end in pairwise(strikes):
            offs = [e.time for e in mine if e.kind == "off" and start < e.time < end]
            if len(offs) != 1:
                continue
            at = start + (end - start) * PERCENT / 100
            borne = any(
                abs(tread.start - start) < TOGETHER and tread.foot == side and not tread.cut
                for tread in steps
            )
            curves = {}
            for joint in tree.moving:
                own, sign = person.names.get(joint.name, (joint.name, 1.0))
                name = own.removesuffix(f"_{side}")
                if name == own or joint.kind != "revolute":
                    continue
                k = tree.coordinate(joint.name)
                curves[f"{name}_deg"] = sign * np.degrees(np.interp(at, fit.t, fit.q[k]))
                if len(torques) and borne:
                    power = torques[k] * fit.qd[k]
                    for unit, rows in (("Nm_kg", sign * torques[k]), ("W_kg", power)):
                        curves[f"{name}_{unit}"] = np.interp(at, fit.t, rows) / person.mass
            yield Cycle(
                foot=side, start=start, off=offs[0], end=end, curves=MappingProxyType(curves)
            )


def _rms(rows: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(np.sum(rows**2, axis=0)))) if rows.size else float("nan")
