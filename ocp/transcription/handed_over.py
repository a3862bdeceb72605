"""What one phase hands over to the next: rigid contacts that hold on both sides of a transition.

Where coordinates are the same on both sides, a point that rests at the end of a phase rests at the
start of the next one too; asked for twice, its rows would depend on each other, and multipliers be
undetermined. So the later phase does not ask for them at its start. Under a symmetry it is the
image of the point that rests.
"""

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import positions
from ocp.mechanics.parameters import parameters_of, reference
from ocp.mechanics.tree import Tree
from ocp.mechanics.types import Matrix
from ocp.problem.phases import Transition
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry
from ocp.transcription.contact_laws import NEW, OFF, Hold, rigid_holds, searched
from ocp.transcription.opening import sought

LEVELS = ("q", "qd", "qdd")  # whose holds are places, rates and accelerations
Met = frozenset[tuple[int, Hold]]  # level and row


def handed_over(problem: Problem, free: Sequence[str]) -> Mapping[str, Met]:
    """Return {phase: what others see to at its start}, of a problem of phases.

    Places that follow parameters which are sought are asked for on both sides, unless they are the
    very same.
    """
    parts = {phase.name: part for phase, part in zip(problem.phases, problem.parts)}
    met: dict[str, Met] = {name: frozenset() for name in parts}
    for each in problem.transitions:
        if "q" in each.quantities:
            met[each.after] |= _handed(each, parts[each.before], parts[each.after], tuple(free))
    return met


def _handed(link: Transition, before: Problem, after: Problem, free: tuple[str, ...]) -> Met:
    """Return what the end of one phase sees to at the start of another."""
    gained = () if link.symmetry is None else parameters_of(link.symmetry.shift)
    if any(sought(each, free) for each in gained):  # and so what rests may be anywhere
        return frozenset()
    ends, starts = _standing(before, 1), _standing(after, 0)
    if not ends or not starts:
        return frozenset()
    q = ca.SX.sym("q", before.tree.dof)
    base, there = _gaps(before, ends, q), _gaps(after, starts, _image(link.symmetry, q))
    values, depends = _dependent(before.tree, q, base, there)
    known = [
        hold
        for hold, value, follows in zip(starts, values, depends)
        if follows and abs(value) < OFF and _same_place(before, after, ends, hold, free)
    ]
    levels = [level for level, quantity in enumerate(LEVELS) if quantity in link.quantities]
    return frozenset((level, hold) for level in levels for hold in known)


def kept_at_rest(problem: Problem, link: Transition) -> frozenset[str]:
    """Return which points that strike in a transition the phase after it holds at rest."""
    parts = {phase.name: part for phase, part in zip(problem.phases, problem.parts)}
    before, after = parts[link.before], parts[link.after]
    starts = _standing(after, 0)
    if not starts or not link.strikes:
        return frozenset()
    tree, q = reference(before.tree), ca.SX.sym("q", before.tree.dof)
    base = _gaps(after, starts, _image(reference(link.symmetry), q))
    places = ca.vertcat(*positions(tree, q, link.points))
    rows = np.reshape(_dependent(before.tree, q, base, places)[1], (-1, 3))
    depends = [bool(row.all()) for row in rows]
    return frozenset(point for point, held in zip(link.points, depends) if held)


def _dependent(tree: Tree, q: Matrix, base: Matrix, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of rows, and which gradients are combinations of those of `base`, where
    all of that vanishes as far as it does."""
    every = ca.vertcat(base, rows)
    look = ca.Function("look", [q], [every, ca.jacobian(every, q)])
    values, slopes = searched(look, tree, np.arange(base.shape[0]))
    first, others = np.split(slopes, [base.shape[0]])
    shares = np.linalg.lstsq(first.T, others.T, rcond=None)[0]
    rests = np.linalg.norm(others - shares.T @ first, axis=1)
    sizes = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
    return values[base.shape[0] :], rests < NEW * sizes


def _standing(part: Problem, end: int) -> list[Hold]:
    """Return the rows of the rigid contacts that stand at an end of a phase."""
    ground = part.ground
    if ground is None:
        return []
    return [hold for hold in rigid_holds(ground) if hold.support(ground).when[end] == end]


def _gaps(part: Problem, holds: Sequence[Hold], q: Matrix) -> Matrix:
    """Return how far (m) rows are from their places at coordinates q."""
    tree, ground = reference((part.tree, part.ground))
    names = [hold.point(ground) for hold in holds]
    places = dict(zip(names, positions(tree, q, names)))
    return ca.vertcat(
        *(places[n][hold.axis] - hold.target(ground) for n, hold in zip(names, holds))
    )


def _image(symmetry: Symmetry | None, q: Matrix) -> Matrix:
    """Return the coordinates after a transition of those before it, at parameters' own values."""
    if symmetry is None:
        return q
    image, shifts = ca.SX(*q.shape), reference(symmetry.shift)
    for row, (other, sign, shift) in enumerate(zip(symmetry.index, symmetry.sign, shifts)):
        image[other] = sign * (q[row] - shift)
    return image


def _same_place(
    before: Problem, after: Problem, ends: Sequence[Hold], hold: Hold, free: tuple[str, ...]
) -> bool:
    """Tell whether a row's place follows nothing that is sought, or is that of a row before it."""
    grounds = before.ground, after.ground
    assert grounds[0] is not None and grounds[1] is not None
    target = hold.target(grounds[1])
    if not any(sought(each, free) for each in parameters_of(target)):
        return True
    return any(
        (each.point(grounds[0]), each.axis) == (hold.point(grounds[1]), hold.axis)
        and each.target(grounds[0]) == target
        for each in ends
    )
