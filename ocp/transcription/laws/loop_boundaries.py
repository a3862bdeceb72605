"""Prescribed ends of motions with closed loops: rows of the closures that follow from others.

Both ends are tried in numbers: coordinates, rates and accelerations that meet what is prescribed
and close the loops. There the gradients of all these rows tell which are redundant.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.loop_assembly import closed_configurations
from ocp.mechanics.kinematics.loop_closure import DEPENDENT, gap_acceleration, gap_at, gap_rate
from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import shorten
from ocp.problem.constraint import Span
from ocp.problem.contact.complementarity import touch_size
from ocp.problem.contact.ground import slots
from ocp.problem.instant import Forces, Instant
from ocp.problem.statement import Problem
from ocp.transcription.kernels.kernels import as_column
from ocp.transcription.kernels.motion_traces import ByIdentity

GAPS = (
    lambda at: gap_at(at.tree, at.moves),
    lambda at: gap_rate(at.tree, at.q, at.qd),
    lambda at: gap_acceleration(at.tree, at.q, at.qd, at.qdd),
)
PER = ("", "/s", "/s2")  # units of a gap, its rate and its acceleration
OFF = 1e-6  # m or rad: greatest gap in what a statement prescribes
FIRM = 1e4  # weight of what is prescribed over the loops' closing, in the search for both
STEPS = 60  # of that search


@dataclass(frozen=True, slots=True)
class Implied:
    """Rows of the closures, (level, end, row), that follow from the others and the statement, and
    prescribed rows, (constraint's name, row, s), that follow from closures."""

    rows: frozenset
    prescribed: frozenset

    def levels(self, row: int) -> tuple[frozenset, frozenset]:
        """Return the levels of a row of the gap that are implied at the start and at the end."""
        start, end = (
            frozenset(level for level, where, number in self.rows if (where, number) == (side, row))
            for side in (0, 1)
        )
        return start, end


def implied_rows(problem: Problem, integrated: bool) -> Implied:
    """Return the rows Implied by a problem.

    Raises ValueError naming a loop that gapes at an end as it is prescribed.
    """
    return _implied_rows(ByIdentity(problem), integrated)


@lru_cache(maxsize=16)
def _implied_rows(same: ByIdentity, integrated: bool) -> Implied:
    """Return the Implied rows, kept, because a transcription and its certificate ask several
    times."""
    problem = same.value
    z, ends, hidden = end_instants(problem)
    stated = list(_prescribed_rows(problem, ends, hidden))
    owners = [owner for group, _ in stated for owner in group]
    rows, T = list(structure(problem.tree).cuts), np.sqrt(np.prod(problem.duration))
    closures = [
        (level, end, row) for level in range(3) for end in (0, 1) for row in range(len(rows))
    ]
    gaps = [GAPS[level](ends[end])[rows] * T**level for level in range(3) for end in (0, 1)]
    both = ca.vertcat(ca.SX(0, 1), *(value for _, value in stated), *gaps)
    values, slopes = _values_at_solution(problem, z, both, len(owners))
    first = [k for k, (_, _, s) in enumerate(owners) if not integrated or s == 0.0]
    then = [k for k, (level, _, _) in enumerate(closures) if not integrated or level < 2]
    last = [k for k in range(len(owners)) if k not in first]
    order = [*first, *(len(owners) + k for k in then), *last]
    dependent = _dependent_numbers(slopes, order)
    following = [k - len(owners) for k in dependent if k >= len(owners)]
    if np.abs(values[: len(owners)]).max(initial=0.0) < OFF:
        base = [k for k in order if k not in dependent]
        known = _explain_rows(values, slopes, base, dependent, [name for name, _, _ in owners])
        _check(problem, {closures[k]: known[len(owners) + k] for k in following}, T)
    return Implied(
        rows=frozenset(closures[k] for k in following),
        prescribed=frozenset(owners[k] for k in dependent if k in last),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentRow:
    """A row that follows from others: its `value` where these hold, and the names of the
    constraints among them."""

    value: float
    sources: tuple[str, ...]


def dependent_rows(problem: Problem, rows: Sequence) -> dict[int, DependentRow]:
    """Return {number of a row: Following} of those that follow from what the statement prescribes
    at the ends.

    Each of the `rows` is (end, function of an Instant that gives one number). They are compared in
    numbers, as closures are, where what is prescribed holds; if it cannot none follows.
    """
    z, ends, hidden = end_instants(problem)
    stated = list(_prescribed_rows(problem, ends, hidden))
    count = sum(len(group) for group, _ in stated)
    asked = [function(ends[end]) for end, function in rows]
    both = ca.vertcat(ca.SX(0, 1), *(value for _, value in stated), *asked)
    values, slopes = _values_at_solution(problem, z, both, count)
    if np.abs(values[:count]).max(initial=0.0) > OFF:
        return {}
    dependent = _dependent_numbers(slopes, range(len(values)))
    names = [name for owners, _ in stated for name, _, _ in owners]
    base = [k for k in range(len(values)) if k not in dependent]
    known = _explain_rows(values, slopes, base, dependent, names)
    return {k - count: each for k, each in known.items() if k >= count}


def _explain_rows(
    values: np.ndarray,
    slopes: np.ndarray,
    base: Sequence[int],
    dependent: Sequence[int],
    names: Sequence[str],
) -> dict[int, DependentRow]:
    """Return {row: Following} of the dependent rows, whose gradients are sums of those of the rows
    of the `base`; the first rows are those of the constraints of these `names`."""
    known = {}
    for k in dependent:
        felt: Sequence[int] = ()
        if abs(values[k]) > OFF:  # else nobody asks whence it comes
            shares = np.abs(np.linalg.lstsq(slopes[base].T, slopes[k], rcond=None)[0])
            felt = [row for row, share in zip(base, shares) if share > DEPENDENT * shares.max()]
        sources = tuple(dict.fromkeys(names[row] for row in felt if row < len(names)))
        known[k] = DependentRow(value=float(values[k]), sources=sources)
    return known


def prescribed_by(problem: Problem, sources: Sequence[str]) -> str:
    """Return the end of a message, by which constraints something follows, and what a symmetry
    among them exchanges; nothing where there are none."""
    words = f"; it follows from {', '.join(sources)}" if sources else ""
    if problem.symmetry is None or not any(name.startswith("mirrored.") for name in sources):
        return words
    names = [joint.name for joint in problem.tree.moving]
    pairs = {tuple(sorted(pair)) for pair in enumerate(problem.symmetry.index)}
    exchanged = [f"{names[a]} with {names[b]}" for a, b in sorted(pairs) if a != b]
    return (
        f"{words}: the symmetry, whose end is the image of the start, exchanges "
        f"{shorten(', '.join(exchanged)) or 'no coordinates'}"
    )


def end_instants(problem: Problem) -> tuple[Matrix, list[Instant], Matrix]:
    """Return z = (q, T qd, T2 qdd) at the start and at the end, the two Instants, and the symbols
    of all that is no motion."""
    n, T, tree = problem.tree.dof, np.sqrt(np.prod(problem.duration)), problem.tree
    z, torque = ca.SX.sym("z", 6 * n), ca.SX.sym("torque", n)
    cut = ca.SX.sym("cut", len(structure(tree).cut_labels))
    hold = ca.SX.sym("hold", len(structure(tree).stay_labels))
    touch = ca.SX.sym("touch", touch_size(problem.loads))
    places = () if problem.ground is None else slots(problem.ground)
    push = ca.SX.sym("push", 6 * len(places))
    parts = ca.vertsplit(push, 6) if places else ()
    wrenches = {
        slot: Wrench(link=slot[1], moment=part[:3], force=part[3:])
        for slot, part in zip(places, parts)
    }
    forces = Forces(
        inverse=lambda *_: torque,
        torques=lambda _: torque,
        needed=lambda _: torque,
        ground=lambda _: wrenches,
        cuts=lambda _: cut,
        stays=lambda _: hold,
        touches=lambda _: touch,
    )
    rate = ca.SX.sym("rate")
    ends = []
    for s, part in zip((0.0, 1.0), ca.vertsplit(z, 3 * n)):
        q, slope, bend = ca.vertsplit(part, n)
        motion = {"q": q, "qd": slope / T, "qdd": bend / T**2}
        statement: dict[str, Any] = {"tree": tree, "loads": problem.loads, "ground": problem.ground}
        statement["flow"] = lambda expression: rate * ca.SX.ones(*ca.SX(expression).shape)
        ends.append(Instant(s=ca.SX(s), T=ca.SX(T), forces=forces, **motion, **statement))
    return z, ends, ca.vertcat(torque, cut, hold, touch, push, rate)


def _prescribed_rows(
    problem: Problem, ends: list[Instant], hidden: Matrix
) -> Iterator[tuple[list[tuple[str, int, float]], Matrix]]:
    """Yield ([(constraint's name, number of its row, s), ..], their values less their bounds) of
    equalities on the motion at its ends."""
    for constraint in problem.requirements:
        for s in _ends_of(constraint.when):
            instants = ends if constraint.when == "joined" else ends[int(s) :][:1]
            stack = as_column(f"constraint {constraint.name!r}", constraint.function(*instants))
            lower, upper = constraint.bounds(stack.shape[0])
            moved = np.array(ca.which_depends(stack, hidden, 1, True), dtype=bool)
            chosen = np.nonzero((lower == upper) & ~moved)[0].tolist()
            if chosen:
                names = [(constraint.name, number, s) for number in chosen]
                yield names, stack[chosen] - ca.DM(lower[chosen])


def _ends_of(when: Any) -> tuple[float, ...]:
    """Return at which ends of the motion a constraint holds.

    One of both together counts at the end.
    """
    if isinstance(when, Span):
        return tuple(s for s in (0.0, 1.0) if when.holds(s))
    return {"start": (0.0,), "end": (1.0,), "joined": (1.0,)}.get(when, (0.0, 1.0))


def _values_at_solution(
    problem: Problem, z: Matrix, both: Matrix, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return values and slopes of all rows where the first `count` of them, and the others if they
    can be, are met."""
    graphs = [ca.cse(both), ca.cse(ca.jacobian(both, z))]
    look = ca.Function("ends", [z], graphs, ["z"], ["values", "slopes"])
    for q in closed_configurations(problem.tree):
        values, slopes = _search(look, count, q)
        if np.abs(values).max(initial=0.0) < OFF:
            break
    return values, slopes


def _search(look: ca.Function, count: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and slopes near q where what is prescribed holds, the first `count` rows, and
    the loops are closed if they can be."""
    still = np.zeros(2 * len(q))
    z = np.concatenate([q, still, q, still])
    for _ in range(STEPS):
        values, slopes = (np.array(part) for part in look(z))
        weight = np.where(np.arange(len(values)) < count, FIRM, 1.0)[:, None]
        step = np.linalg.lstsq(weight * slopes, -weight * values, rcond=1e-12)[0].ravel()
        if np.abs(step).max() < 1e-13:
            break
        z += step * min(1.0, 1.0 / np.abs(step).max())
    values, slopes = (np.array(part) for part in look(z))
    return values.ravel(), slopes


def _dependent_numbers(slopes: np.ndarray, order: Iterable[int]) -> list[int]:
    """Return the rows, taken in this order, whose gradient depends on those of the rows before."""
    base, dependent = np.empty((0, slopes.shape[1])), []
    for k in order:
        length = np.linalg.norm(slopes[k])
        rest = slopes[k] / max(length, 1e-300)
        for _ in range(2):  # once more, for what the first left of rounding
            rest = rest - base.T @ (base @ rest)
        if length < 1e-12 or np.linalg.norm(rest) < DEPENDENT:
            dependent.append(k)
        else:
            base = np.vstack([base, rest / np.linalg.norm(rest)])
    return dependent


def _check(problem: Problem, gaps: Mapping[tuple[int, int, int], DependentRow], T: float) -> None:
    """Raise ValueError naming the first row that what is prescribed keeps from closing."""
    shape = structure(problem.tree)
    for (level, end, row), found in gaps.items():
        if not abs(found.value) <= OFF:
            cut = shape.cuts[row]
            raise ValueError(
                f"loop {shape.cut_labels[cut]}: what the constraints prescribe at the "
                f"{('start', 'end')[end]} leaves {('a gap', 'a rate', 'an acceleration')[level]} "
                f"of {found.value / T**level:.4g} {shape.cut_units[cut]}{PER[level]}"
                f"{prescribed_by(problem, found.sources)}; "
                "ocp.mechanics.close finds coordinates, rates and accelerations that fit"
            )
