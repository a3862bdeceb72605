"""Strides of a trial: strikes and offs, spans in which plates tell all, curves of cycles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from ocp import MarkerFit, Series
from ocp.problems.lab.laboratory_axes import middle
from ocp.problems.lab.measured_person import MeasuredPerson
from ocp.problems.lab.plates import Tread

TOGETHER = 0.15  # s: between a strike of the plates and that of the markers
UNSURE = 0.05  # s: of an event that markers tell (Zeni et al. 2008: most within 2 frames of 60 Hz)
NEAR = 0.02  # s: of a tread that covers a stance
BRIEF = 0.1  # s: a span in which forces are known is longer
LOW = 0.05  # m: a foot that is higher above where feet tread is in the air
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


def foot_line(
    person: MeasuredPerson, markers: Series, side: str, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (3, N) of heel and toe at other times.

    Args:
        person: whose markers they are.
        markers: of the trial.
        side: "r" or "l".
        t: times (N,) s.
    """
    places = []
    for mark in ("heel", "toe"):
        rows = markers.values[str(person.table.landmark(f"{mark}_{side}"))]
        there = np.isfinite(rows[0])
        places.append(np.array([np.interp(t, markers.t[there], row[there]) for row in rows]))
    return places[0], places[1]


def step_events(
    person: MeasuredPerson, markers: Series, fit: MarkerFit, steps: tuple[Tread, ...]
) -> Iterator[Event]:
    """Yield strikes and offs in order: those of plates, and elsewhere where the heel is farthest
    ahead of the pelvis, and the toe farthest behind   (Zeni, Richards & Higginson 2008).

    Args:
        person: whose markers they are.
        markers: of the trial.
        fit: its motion.
        steps: on plates.
    """
    found = []
    pelvis = middle(markers, *person.table.among(markers.values).segment("pelvis"))[2]
    seen = np.isfinite(pelvis)
    ahead = np.interp(fit.t, markers.t[seen], pelvis[seen])
    for side in "rl":
        heel, toe = foot_line(person, markers, side, fit.t)
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
    return told_runs(told, t)


def told_runs(told: np.ndarray, t: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Return the spans (s) in which all is told, of more than BRIEF.

    Args:
        told: whether it is (N,).
        t: times (N,) s.
    """
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


def stride_cycles(
    person: MeasuredPerson,
    fit: MarkerFit,
    torques: np.ndarray,
    events: tuple[Event, ...],
    steps: tuple[Tread, ...],
) -> Iterator[Cycle]:
    """Yield the strides of both feet.

    Args:
        person: whose they are.
        fit: the motion.
        torques: (n, N) N m or N, empty without plates.
        events: in order of time.
        steps: on plates.
    """
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
