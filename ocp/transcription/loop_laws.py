"""Closed loops as a law of motion: where a basis of motions can keep them closed beside what the statement prescribes already.

A spline has N numbers per joint. It keeps a gap closed at its Greville abscissae, with the rate at both ends in place of the second and the
second last of them, where rates that are prescribed leave it no freedom: N rows, no fewer and no more. A mesh keeps the gap and its rate
closed at the end of every interval, and the second derivative at its inner stages but the middle one: as many rows as an interval has
accelerations. At the ends of the motion some of these rows follow from what the statement says of coordinates and rates there; such rows
are left out, and if they cannot hold the statement contradicts the loops.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.closure import close, examples
from ocp.mechanics.loads import Wrench
from ocp.mechanics.loops import DEPENDENT, gap_acceleration, gap_at, gap_rate, labels, units
from ocp.mechanics.structure import structure
from ocp.motion.mesh import Mesh, basis, transfer
from ocp.motion.spline import fit, greville
from ocp.problem.ground import slots
from ocp.problem.instant import Instant
from ocp.problem.names import LOOPS
from ocp.problem.statement import Constraint, Span
from ocp.transcription.kernels import Same, column, function

FUNCTIONS = (
    lambda at: gap_at(at.tree, at.frames),
    lambda at: gap_rate(at.tree, at.q, at.qd),
    lambda at: gap_acceleration(at.tree, at.q, at.qd, at.qdd),
)
OFF = 1e-6  # m or rad: greatest gap in what a statement prescribes
FIRM = 1e4  # weight of what is prescribed over the loops' closing, in the search for both
WIDE = 0.3  # rad, m and their rates: about an end that follows by itself
COARSE, STEPS = 20, 60  # control points of a guess that is made to close, and steps of that search


def closures(problem, integrated=False):
    """Return the constraints that keep the loops closed, each with the instants of every row: ((Constraint, ((s, ..), ..)), ..).

    Where passive joints are `integrated`, loops are closed at the start and then stay so. Raises ValueError naming the loop if the statement
    prescribes an end of the motion in which it gapes.
    """
    if not problem.tree.loops:
        return ()
    if isinstance(problem.motion, Mesh) and len(problem.motion.stages) < 2:
        raise ValueError("order: expected at least 2 to keep loops closed, got 1")
    implied, found = _implied(Same(problem), integrated).rows, []
    for level, (name, gap) in enumerate(zip(LOOPS, FUNCTIONS)):
        held = [
            _instants(problem.motion, level, row, implied, integrated)
            for row in range(len(structure(problem.tree).cuts))
        ]
        if any(held):
            found.append((_law(problem.tree, name, gap, level), tuple(held)))
    return tuple(found)


def loosened(problem):
    """Return the problem's constraints, with those rows of its end that integrated loops bring about by themselves made wide: they only tell
    one assembly of the loops from another. Raises ValueError naming a constraint that prescribes such rows not at the end alone."""
    found, lost = (
        [],
        _implied(Same(problem), True).prescribed if problem.tree.loops else frozenset(),
    )
    for constraint in problem.requirements:
        rows = [number for name, number, _ in lost if name == constraint.name]
        if rows and constraint.when not in ("end", "joined"):
            raise ValueError(
                f"constraint {constraint.name!r}: with passive 'integrated' state what holds at the end by at_end: the loops bring "
                f"{constraint.label(rows[0])} about there by themselves"
            )
        if rows:
            size = np.array(
                [
                    row in rows
                    for row in range(
                        max(np.size(constraint.lower), np.size(constraint.upper), max(rows) + 1)
                    )
                ]
            )
            constraint = replace(
                constraint,
                lower=constraint.lower - WIDE * size,
                upper=constraint.upper + WIDE * size,
            )
        found.append(constraint)
    return tuple(found)


def closed_points(problem, points):
    """Return the control points (n, points) of a guess with its loops closed where they can be, driven joints unmoved if possible."""
    tree, motion = problem.tree, problem.motion
    if not tree.loops:
        return points
    coarse = replace(motion, points=min(motion.points, max(COARSE, motion.degree + 1)))
    s = np.linspace(0.0, 1.0, 2 * coarse.points + 1)
    q = points @ basis(motion, s).T
    for fixed in ([joint.name for joint in tree.moving if joint.actuated], ()):
        try:
            return transfer(coarse, fit(coarse, close(tree, q, fixed), s), motion)
        except ValueError:  # the solver may still find what the projection does not
            continue
    return points


def _law(tree, name, gap, level):
    rows = list(structure(tree).cuts)
    return Constraint(
        name=name,
        function=lambda at: gap(at)[rows],
        lower=0.0,
        upper=0.0,
        labels=tuple(labels(tree)[row] for row in rows),
        units=tuple(units(tree)[row] + ("", "/s", "/s2")[level] for row in rows),
    )


def _instants(motion, level, row, implied, integrated):
    """Return the instants at which a row is asked for."""
    ends = [end for end in (0, 1) if (level, end, row) not in implied]
    if integrated:
        return (0.0,) if level < 2 and 0 in ends else ()
    if isinstance(motion, Mesh):
        if level < 2:
            return tuple(s for s in motion.breaks.tolist() if 0 < s < 1 or s in ends)
        inner = motion.stages[(motion.stages > 0) & (motion.stages < 1)]
        inner, begin = (
            np.delete(inner, len(inner) // 2),
            (0.0,) if motion.stages[0] == 0 and 0 in ends else (),
        )
        return begin + tuple((motion.breaks[:-1, None] + inner / motion.intervals).ravel().tolist())
    if level:
        return tuple(float(end) for end in ends) if level == 1 else ()
    s, dropped = greville(motion), set()
    for end, order in ((0, range(3)), (1, range(-1, -4, -1))):
        lost = ((0, end, row) in implied, True, (2, end, row) in implied)
        dropped |= {place % len(s) for place, gone in zip(order, lost) if gone}
    return tuple(float(instant) for k, instant in enumerate(s) if k not in dropped)


@dataclass(frozen=True, slots=True)
class _Implied:
    """Rows of the closures, (level, end, row), that follow from the others and the statement, and prescribed rows that follow from closures."""

    rows: frozenset
    prescribed: frozenset


@lru_cache(maxsize=16)
def _implied(same, integrated):
    """Return what is _Implied by a problem, kept, because a transcription and its certificate ask several times."""
    problem = same.value
    z, ends, hidden = _ends(problem)
    known = list(_prescribed(problem, ends, hidden))
    owners, stack = (
        [owner for group, _ in known for owner in group],
        ca.vertcat(ca.SX(0, 1), *(value for _, value in known)),
    )
    rows, T = list(structure(problem.tree).cuts), np.sqrt(np.prod(problem.duration))
    own = [(level, end, row) for level in range(3) for end in (0, 1) for row in range(len(rows))]
    closing = ca.vertcat(
        *(FUNCTIONS[level](ends[end])[rows] * T**level for level in range(3) for end in (0, 1))
    )
    both = ca.vertcat(stack, closing)
    look = function(
        "ends", [z], [ca.cse(both), ca.cse(ca.jacobian(both, z))], ["z"], ["values", "slopes"]
    )
    for q in examples(problem.tree):
        values, slopes = _search(look, len(owners), q)
        if np.abs(values).max(initial=0.0) < OFF:
            break
    first = [k for k, (_, _, s) in enumerate(owners) if not integrated or s == 0.0]
    then = len(owners) + np.array(
        [k for k, (level, _, _) in enumerate(own) if not integrated or level < 2]
    )
    last = [k for k in range(len(owners)) if k not in first]
    found = _dependent(slopes, [*first, *then, *last])
    if np.abs(values[: len(owners)]).max(initial=0.0) < OFF:
        _check(
            problem,
            own,
            values[len(owners) :],
            [k - len(owners) for k in found if k >= len(owners)],
            T,
        )
    return _Implied(
        frozenset(own[k - len(owners)] for k in found if k >= len(owners)),
        frozenset(owners[k] for k in found if k in last),
    )


def _ends(problem):
    """Return z = (q, T qd, T2 qdd) at the start and at the end, the two Instants, and the symbols of all that is no motion."""
    n, T, tree = problem.tree.dof, np.sqrt(np.prod(problem.duration)), problem.tree
    z, torque, cut = (
        ca.SX.sym("z", 6 * n),
        ca.SX.sym("torque", n),
        ca.SX.sym("cut", len(labels(tree))),
    )
    places = () if problem.ground is None else slots(problem.ground)
    push = ca.SX.sym("push", 6 * len(places))
    wrenches = {
        slot: Wrench(link=slot[1], moment=part[:3], force=part[3:])
        for slot, part in zip(places, ca.vertsplit(push, 6) if places else ())
    }
    ends = []
    for s, part in zip((0.0, 1.0), ca.vertsplit(z, 3 * n)):
        q, rate, acceleration = ca.vertsplit(part, n)
        ends.append(
            Instant(
                tree=tree,
                s=ca.SX(s),
                T=ca.SX(T),
                q=q,
                qd=rate / T,
                qdd=acceleration / T**2,
                loads=problem.loads,
                inverse=lambda *_: torque,
                ground=problem.ground,
                react=lambda _: wrenches,
                lifted=lambda _: torque,
                need=lambda _: torque,
                cut=lambda _: cut,
            )
        )
    return z, ends, ca.vertcat(torque, cut, push)


def _prescribed(problem, ends, hidden):
    """Yield ([(constraint's name, number of its row, s), ..], their values less their bounds) of equalities on the motion at its ends."""
    for constraint in problem.requirements:
        where = {"start": (0.0,), "end": (1.0,), "joined": (1.0,)}.get(constraint.when, (0.0, 1.0))
        if isinstance(constraint.when, Span):
            where = tuple(s for s in where if constraint.when.holds(s))
        for s in where:
            stack = column(
                f"constraint {constraint.name!r}",
                constraint.function(*(ends if constraint.when == "joined" else ends[int(s) :][:1])),
            )
            lower, upper = constraint.bounds(stack.shape[0])
            moved = np.array(ca.which_depends(stack, hidden, 1, True), dtype=bool)
            chosen = np.nonzero((lower == upper) & ~moved)[0].tolist()
            if chosen:
                yield (
                    [(constraint.name, number, s) for number in chosen],
                    stack[chosen] - ca.DM(lower[chosen]),
                )


def _search(look, count, q):
    """Return values and slopes near q where what is prescribed holds, the first `count` rows, and the loops are closed if they can be."""
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


def _dependent(slopes, order):
    """Return those rows, taken in this order, whose gradient says nothing new."""
    base, found = np.empty((0, slopes.shape[1])), []
    for k in order:
        length = np.linalg.norm(slopes[k])
        rest = slopes[k] / max(length, 1e-300)
        for _ in range(2):  # once more, for what the first left of rounding
            rest = rest - base.T @ (base @ rest)
        if length < 1e-12 or np.linalg.norm(rest) < DEPENDENT:
            found.append(k)
        else:
            base = np.vstack([base, rest / np.linalg.norm(rest)])
    return found


def _check(problem, own, values, dependent, T):
    """Raise ValueError naming the first row that what is prescribed keeps from closing."""
    for k in dependent:
        level, end, row = own[k]
        if not abs(values[k]) <= OFF:
            law = _law(problem.tree, LOOPS[level], FUNCTIONS[level], level)
            raise ValueError(
                f"loop {law.label(row)}: what the constraints prescribe at the {('start', 'end')[end]} leaves "
                f"{('a gap', 'a rate', 'an acceleration')[level]} of {values[k] / T**level:.4g} {law.unit(row)}; "
                "ocp.loops.close finds coordinates, rates and accelerations that fit"
            )
