"""A whole gait cycle of the right leg, from any motion of the human that stands on two feet.

A motion of one step is continued by its mirror image; one of both steps is taken as it is. So walks
in one phase and in several, and runs whose feet are both in the air at times, are all one record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ocp import Instant, Problem, Solution, Symmetry, Tree
from ocp.mechanics import body_weight, center_of_mass, nominal
from ocp.mechanics.muscles import muscles_of
from ocp.models.human import mirror
from ocp.problem import fibre_of, joint_contact_force, metabolic_powers
from ocp.problem import mirror_symmetry as reflected
from ocp.problems.gait.report.gait_cycle import OTHER, REFLECTED, reflection, step_length
from ocp.problems.gait.report.phase_report import mirrored
from ocp.solution import traces

SAMPLES = 401  # of the cycle, both ends among them: four between two whole percentages
NEAR = 1e-9  # of the cycle: spans of standing that are so close are one
HEELS = {"right": "heel_r", "left": "heel_l"}
TOES = {"right": "toe_r", "left": "toe_l"}
KNEES = {"right": "knee_flex_r", "left": "knee_flex_l"}
FAINT = 1.0  # N: a foot's centre of pressure is over at least so much
FORWARD, UP = ("glob_tz", 2), ("glob_ty", 1)  # slides of the root along global axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Stride:
    """A motion over 0 to 100 % of the right leg's gait cycle, which begins with its strike.

    At `percent` (M,) coordinates `q` (n, M; rad or m) and rates `qd`; `moments` (n, M; N m or N),
    what drives and force elements give together at each joint, and `drives`, what drives give;
    `power` {of what: (M,)}, W, of all muscles that are elements: what they spend (Bhargava 2004)
    and the work of their active fibres, shortening and lengthening, and what the ground has `given`
    feet and `taken` from them;
    `forces` {foot: (3, M)} of the ground, left, up and forward, in body weights; `knees` {side:
    (M,)}, what their surfaces bear beside muscles, the same, zero without these; the `centre` of
    mass (3, M; m), the `trunk` (3, M; m) from L5/S1 to C7/T1, the `head` from there to its top,
    `heels` and `toes` {foot: (3, M; m)} and `pressures` {foot: its centre of pressure (3, M; m)},
    of no meaning where it bears nothing.
    `stances` {foot: ((start, end), ..)} in %, an end beyond 100 where it goes on into the next
    cycle. `way` (3, m) is gained in all; `duration` (s), `mass` (kg). The body is the `tree`.
    """

    tree: Tree
    percent: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    moments: np.ndarray
    drives: np.ndarray
    power: Mapping[str, np.ndarray]
    forces: Mapping[str, np.ndarray]
    knees: Mapping[str, np.ndarray]
    centre: np.ndarray
    trunk: np.ndarray
    head: np.ndarray
    heels: Mapping[str, np.ndarray]
    toes: Mapping[str, np.ndarray]
    pressures: Mapping[str, np.ndarray]
    stances: Mapping[str, tuple[tuple[float, float], ...]]
    way: np.ndarray
    duration: float
    mass: float

    @property
    def weights(self) -> np.ndarray:
        """Shares (M,) of the cycle that the samples stand for, by the trapezoid rule."""
        shares = np.gradient(self.percent) / 100.0
        shares[[0, -1]] /= 2.0
        return shares

    @property
    def toe_off(self) -> float:
        """Where the right foot's stance ends that begins the cycle (%); 100 if it never does."""
        return self.stances["right"][0][1] if self.stances["right"] else 100.0

    def joint(self, values: np.ndarray, name: str) -> np.ndarray:
        """Return the row (M,) of a joint among values (n, M); zero where it is frozen."""
        names = [joint.name for joint in self.tree.moving]
        return values[names.index(name)] if name in names else 0.0 * self.percent


def stride_of(solution: Solution, side: str = "right") -> Stride:
    """Return the Stride of a motion of the human on two feet, "right" and "left".

    Of the `side` left it is that of the mirror image, so that it tells of the left leg, from its
    strike, what else is told of the right one.
    """
    pieces = [*_pieces(solution)]
    whole = sum(piece.duration for piece in pieces)
    way = sum((piece.way for piece in pieces if piece.first), np.zeros(3))
    spans = {foot: _joined([*_spans(pieces, foot)], whole) for foot in OTHER}
    stride = _sampled(pieces, spans, _strike(spans[side], whole), way)
    return stride if side == "right" else _image(stride)


def _image(stride: Stride) -> Stride:
    """Return the mirror image of a Stride, in the plane X = 0."""
    symmetry = reflected(stride.tree, *mirror(stride.tree))
    return replace(
        stride,
        **{name: symmetry.image(getattr(stride, name)) for name in JOINTS},
        forces={foot: REFLECTED * stride.forces[OTHER[foot]] for foot in OTHER},
        knees={foot: stride.knees[OTHER[foot]] for foot in OTHER},
        centre=REFLECTED * stride.centre,
        trunk=REFLECTED * stride.trunk,
        head=REFLECTED * stride.head,
        **{
            name: {foot: REFLECTED * getattr(stride, name)[OTHER[foot]] for foot in OTHER}
            for name in PLACES
        },
        stances={foot: stride.stances[OTHER[foot]] for foot in OTHER},
        way=REFLECTED[:, 0] * stride.way,
    )


JOINTS = ("q", "qd", "moments", "drives")  # of a Stride, with a row for each joint
PLACES = ("heels", "toes", "pressures")  # of a Stride, by foot
POWERS = ("spent", "shortening", "lengthening", "given", "taken")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A phase as it stands in the cycle: from `start` for its `duration` (s), reflected where there
    is a `symmetry`, a step's `way` (3, m) ahead then; the `first` of a step tells that way."""

    phase: Solution
    start: float
    duration: float
    symmetry: Symmetry | None
    ahead: np.ndarray
    way: np.ndarray
    first: bool


def _pieces(solution: Solution) -> Iterator[_Piece]:
    """Yield the phases of a motion, and where it is one step those of its image."""
    phases = list(solution.phases.values()) or [solution]
    halved = solution.problem.symmetry is None or mirrored(solution.problem)
    way, start = _way(solution.problem), 0.0
    for image in (None, reflection(solution.problem)) if halved else (None,):
        for k, phase in enumerate(phases):
            yield _Piece(
                phase=phase,
                start=start,
                duration=phase.duration,
                symmetry=image,
                ahead=way if image else np.zeros(3),
                way=way,
                first=k == 0,
            )
            start += phase.duration


def _way(problem: Problem) -> np.ndarray:
    """Return the way (3, m) of a motion until its end is the image of its start."""
    way = np.zeros(3)
    if problem.symmetry is None:
        way[2] = step_length(problem)
        return way
    for name, axis in (FORWARD, UP):
        if name in (joint.name for joint in problem.tree.moving):
            way[axis] = float(problem.symmetry.shift[problem.tree.coordinate(name)])
    return way


def _spans(pieces: Sequence[_Piece], foot: str) -> Iterator[tuple[float, float]]:
    """Yield (start, end), s, of the spans in which a foot bears, in each of the pieces."""
    for piece in pieces:
        name = OTHER[foot] if piece.symmetry else foot
        ground = piece.phase.problem.ground
        for each in () if ground is None else ground.feet:
            for support in each.supports if each.name == name else ():
                a = max(support.when[0], each.bears[0])
                b = min(support.when[1], each.bears[1])
                if a < b:
                    yield piece.start + a * piece.duration, piece.start + b * piece.duration


def _joined(spans: Sequence[tuple[float, float]], whole: float) -> tuple[tuple[float, float], ...]:
    """Return spans of a cycle with those made one that meet, over its end too."""
    merged: list[tuple[float, float]] = []
    for a, b in sorted(spans):
        if merged and a <= merged[-1][1] + NEAR * whole:
            merged[-1] = merged[-1][0], max(b, merged[-1][1])
        else:
            merged.append((a, b))
    closes = len(merged) > 1 and merged[0][0] < NEAR * whole
    if closes and merged[-1][1] > whole * (1.0 - NEAR):
        (_, early), *others, (start, _) = merged
        merged = [*others, (start, whole + early)]
    return tuple(merged)


def _strike(spans: Sequence[tuple[float, float]], whole: float) -> float:
    """Return when a foot strikes (s), the first time; 0 where it never does."""
    return min((a % whole for a, _ in spans), default=0.0)


def _later(
    spans: Sequence[tuple[float, float]], start: float, whole: float
) -> tuple[tuple[float, float], ...]:
    """Return spans of a cycle that begins at another `start`."""
    near = NEAR * whole
    moved = (((a - start + near) % whole - near, b - a) for a, b in spans)
    return tuple(sorted((max(a, 0.0), max(a, 0.0) + length) for a, length in moved))


def _sampled(
    pieces: Sequence[_Piece],
    spans: Mapping[str, Sequence[tuple[float, float]]],
    strike: float,
    way: np.ndarray,
) -> Stride:
    """Return the Stride of pieces from a strike (s) on."""
    whole = sum(piece.duration for piece in pieces)
    percent = np.linspace(0.0, 100.0, SAMPLES)
    t = strike + percent / 100.0 * whole
    again = t >= whole * (1.0 + NEAR) if strike == 0.0 else t >= whole * (1.0 - NEAR)
    starts = np.array([piece.start for piece in pieces])
    t = np.where(again, t - whole, np.minimum(t, whole))
    which = np.searchsorted(starts, t + NEAR * whole, side="right") - 1
    if strike > 0.0:  # the end is that of the piece before the strike
        which[-1] = np.searchsorted(starts, t[-1] - NEAR * whole, side="right") - 1
    tree = pieces[0].phase.problem.tree
    values = _values(pieces, which, t - starts[which], body_weight(tree))
    for name in ("centre", *(f"{name} {foot}" for name in PLACES for foot in OTHER)):
        values[name] = values[name] + np.outer(way, again)
    percents = {
        foot: _later(
            [(100 * a / whole, 100 * b / whole) for a, b in each], 100 * strike / whole, 100
        )
        for foot, each in spans.items()
    }
    return Stride(
        tree=tree,
        percent=percent,
        **{name: values[name] for name in (*JOINTS, "centre", "trunk", "head")},
        power={name: values[name][0] for name in POWERS},
        forces={foot: values[f"force {foot}"] for foot in OTHER},
        knees={foot: values[f"knee {foot}"][0] for foot in OTHER},
        **{name: {foot: values[f"{name} {foot}"] for foot in OTHER} for name in PLACES},
        stances=percents,
        way=way,
        duration=whole,
        mass=sum(link.mass for link in tree.links),
    )


def _values(
    pieces: Sequence[_Piece], which: np.ndarray, t: np.ndarray, weight: float
) -> dict[str, np.ndarray]:
    """Return {name: values (m, M)} of all that a Stride has, `which` piece at the time t (M,) after
    its start; a phase is traced once for itself and its image."""
    values: dict[str, np.ndarray] = {}
    for phase in {id(piece.phase): piece.phase for piece in pieces}.values():
        users = [k for k, piece in enumerate(pieces) if piece.phase is phase]
        here = np.flatnonzero(np.isin(which, users))
        if not len(here):
            continue
        inside = np.clip(t[here], 0.0, phase.duration)
        for name, rows in traces(phase, _wanted(phase), inside).items():
            values.setdefault(name, np.zeros((len(rows), len(t))))[:, here] = rows
    for k, piece in enumerate(pieces):
        if piece.symmetry is not None:
            _reflect(values, which == k, piece)
    borne = [f"{what} {foot}" for what in ("force", "knee") for foot in OTHER]
    return values | {name: values[name] / weight for name in borne}


def _wanted(phase: Solution) -> dict[str, Callable[[Instant], Any]]:
    """Return the functions of an Instant that a Stride is made of."""
    ground = phase.problem.ground
    feet = () if ground is None else [foot.name for foot in ground.feet]

    def force(foot: str) -> Callable[[Instant], Any]:
        if foot not in feet:
            return lambda at: 0.0 * at.q[:3]
        return lambda at: at.reaction.force(foot)

    def pressure(foot: str) -> Callable[[Instant], Any]:
        if foot not in feet:
            return lambda at: 0.0 * at.q[:3]
        return lambda at: at.reaction.lever(foot) / ca.fmax(at.reaction.push(foot), FAINT)

    def placed(point: str) -> Callable[[Instant], Any]:
        return lambda at: at.position(point)

    tree = phase.problem.tree
    alone = not any(KNEES["right"] in each.joints(tree) for each in muscles_of(tree))

    def knee(foot: str) -> Callable[[Instant], Any]:
        if alone:
            return lambda at: 0.0 * at.q[:1]
        return lambda at: ca.norm_2(joint_contact_force(at, KNEES[foot]))

    def ground_power(way: int) -> Callable[[Instant], Any]:
        """Return the power that feet get from the ground, or lose to it, way -1, each alone."""
        if not feet:
            return lambda at: 0.0 * at.q[:1]
        return lambda at: sum(ca.fmax(way * at.contact_power(foot), 0.0) for foot in feet)

    def fibres(way: int) -> Callable[[Instant], Any]:
        return lambda at: way * ca.sum1(ca.fmax(way * fibre_powers(at), 0.0))

    return {
        "q": lambda at: at.q,
        "qd": lambda at: at.qd,
        "moments": lambda at: at.tau + at.elements,
        "drives": lambda at: at.tau,
        "spent": lambda at: ca.sum1(metabolic_powers(at)),
        "shortening": fibres(1),
        "lengthening": fibres(-1),
        "given": ground_power(1),
        "taken": ground_power(-1),
        "centre": lambda at: center_of_mass(at.tree, at.q),
        "trunk": lambda at: at.position("C7T1") - at.position("L5S1"),
        "head": lambda at: at.position("head_top") - at.position("C7T1"),
        **{f"heels {foot}": placed(point) for foot, point in HEELS.items()},
        **{f"toes {foot}": placed(point) for foot, point in TOES.items()},
        **{f"pressures {foot}": pressure(foot) for foot in OTHER},
        **{f"force {foot}": force(foot) for foot in OTHER},
        **{f"knee {foot}": knee(foot) for foot in OTHER},
    }


def fibre_powers(at: Instant) -> Any:
    """Return the powers (m, W) of the active fibres of all muscles, above 0 as they shorten."""
    powers = [ca.DM(0, 1)]
    for each in muscles_of(at.tree):
        fibre = fibre_of(at, each.name)
        speed = fibre.velocity * each.fastest * nominal(each.fibre)
        powers.append(-fibre.active * nominal(each.force) * speed)
    return ca.vertcat(*powers)


def _reflect(values: dict[str, np.ndarray], here: np.ndarray, piece: _Piece) -> None:
    """Reflect what was sampled in a piece, in place."""
    symmetry, ahead = piece.symmetry, piece.ahead[:, None]
    assert symmetry is not None
    for name in JOINTS:
        values[name][:, here] = symmetry.image(values[name][:, here])
    names = [joint.name for joint in piece.phase.problem.tree.moving]
    for name, axis in (FORWARD, UP):
        if name in names:
            values["q"][names.index(name), here] += piece.ahead[axis]
    values["centre"][:, here] = REFLECTED * values["centre"][:, here] + ahead
    for name in ("trunk", "head"):
        values[name][:, here] = REFLECTED * values[name][:, here]
    both = {foot: values[f"knee {foot}"][:, here] for foot in OTHER}
    for foot, other in OTHER.items():
        values[f"knee {foot}"][:, here] = both[other]
    for name in ("force", *PLACES):
        both = {foot: REFLECTED * values[f"{name} {foot}"][:, here] for foot in OTHER}
        for foot, other in OTHER.items():
            values[f"{name} {foot}"][:, here] = both[other] + (ahead if name in PLACES else 0.0)
