"""Contact handover: rigid contacts that hold on both sides of a transition.

Where coordinates are the same on both sides, a point that rests at the end of a phase rests at the
start of the next one too; asked for twice, its rows would depend on each other, and multipliers be
undetermined. So the later phase does not ask for them at its start. Under a symmetry it is the
image of the point that rests.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.kinematics import positions
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import (
    Number,
    Parameter,
    Values,
    nominal,
    parameters_of,
    with_values,
)
from ocp.mechanics.values.types import Matrix
from ocp.problem.phases.phases import Transition
from ocp.problem.statement import Problem
from ocp.problem.symmetry import Symmetry
from ocp.transcription.laws.contact_laws import AXES, NEW, OFF, Hold, rigid_holds, search_posture
from ocp.transcription.parameters.open_parameters import is_sought

LEVELS = ("q", "qd", "qdd")  # whose holds are places, rates and accelerations
SEED, BESIDE = 5, 0.02  # m or rad: what parameters may be beside their own values
Holds = frozenset[tuple[int, Hold]]  # level and row


def contact_handover(problem: Problem, free: Sequence[str]) -> Mapping[str, Holds]:
    """Return {phase: what others see to at its start}, of a problem of phases.

    Places are asked for on both sides unless they are the same whatever parameters are. Raises
    ValueError naming phases and the contact that cannot be reached from what stands before it.
    """
    parts = problem.parts
    met: dict[str, Holds] = {name: frozenset() for name in parts}
    for each in problem.transitions:
        if "q" in each.quantities:
            met[each.after] |= _holds_handed_over(
                each, parts[each.before], parts[each.after], tuple(free)
            )
    return met


def _holds_handed_over(
    link: Transition, before: Problem, after: Problem, free: tuple[str, ...]
) -> Holds:
    """Return the holds at the start of a phase that follow from those at the end of another."""
    ends, starts = _standing_holds(before, 1), _standing_holds(after, 0)
    if not ends or not starts:
        return frozenset()
    shift = () if link.symmetry is None else link.symmetry.shift
    targets = [*_targets(before, ends), *_targets(after, starts)]
    q = ca.SX.sym("q", before.tree.dof)
    draws = []
    for values in _parameter_samples(parameters_of([targets, shift])):
        base = _gaps(before, ends, q, values)
        there = _gaps(after, starts, _image(with_values(link.symmetry, values), q), values)
        draws.append(_dependent(before.tree, q, base, there))
        if len(draws) == 1 and not any(is_sought(each, free) for each in parameters_of(shift)):
            firm = [
                not any(is_sought(one, free) for one in parameters_of(each)) for each in targets
            ]
            _check_reached(link, after, (base, there), q, np.array(firm))
    follows = np.all([depends for _, depends in draws], axis=0)
    same = follows & np.all([np.abs(gaps) < OFF for gaps, _ in draws], axis=0)
    known = [same, follows, follows]  # rates do not depend on where a foot stands
    return frozenset(
        (level, hold)
        for level, (quantity, given) in enumerate(zip(LEVELS, known))
        if quantity in link.quantities
        for hold, implied in zip(starts, given)
        if implied
    )


def _parameter_samples(every: Sequence[Parameter]) -> Iterator[dict[Parameter, float]]:
    """Yield the parameters' own values, and others beside them."""
    rng = np.random.default_rng(SEED)
    yield {each: each.value for each in every}
    if every:
        yield {each: each.value + BESIDE * rng.uniform(-1.0, 1.0) for each in every}


def _check_reached(
    link: Transition, after: Problem, gaps: tuple[Matrix, Matrix], q: Matrix, firm: np.ndarray
) -> None:
    """Raise ValueError if what stands on both sides, of the rows that are `firm`, cannot do so at
    the same coordinates, though what stands before can."""
    count = gaps[0].shape[0]
    off = _distances(after.tree, ca.vertcat(*gaps), q, firm)
    if off.max() < OFF or _distances(after.tree, gaps[0], q, firm[:count]).max() > OFF:
        return  # or of which the phase before is told by itself
    ground: Any = after.ground
    hold = _standing_holds(after, 0)[int(np.argmax(off[count:]))]
    raise ValueError(
        f"phase {link.after!r}: contact {hold.foot!r}: point {hold.point(ground)!r} cannot be at "
        f"{AXES[hold.axis]} = {nominal(hold.target(ground)):.4g} m where phase {link.before!r} "
        f"ends with what stands there; the nearest is {off.max():.4g} m off"
    )


def _distances(tree: Tree, gaps: Matrix, q: Matrix, firm: np.ndarray) -> np.ndarray:
    """Return the distances (m) of rows from zero where they are as near as they get, zero if not
    `firm`."""
    look = ca.Function("look", [q], [gaps, ca.jacobian(gaps, q)])
    return np.abs(search_posture(look, tree, firm)[0]) * firm


def points_held_after(problem: Problem, link: Transition) -> frozenset[str]:
    """Return which points that strike in a transition the phase after it holds at rest.

    Raises ValueError naming a contact that stands before and after but does not strike: it could
    only do so where nothing is struck at all.
    """
    parts = problem.parts
    before, after = parts[link.before], parts[link.after]
    starts = _standing_holds(after, 0)
    if not starts or not link.strikes:
        return frozenset()
    tree, q = nominal(before.tree), ca.SX.sym("q", before.tree.dof)
    every = parameters_of([_targets(after, starts), link.symmetry])
    values = {each: each.value for each in every}
    base = _gaps(after, starts, _image(with_values(link.symmetry, values), q), values)
    places = ca.vertcat(*positions(tree, q, link.points))
    _check_standing(link, before, starts, (q, base, places))
    rows = np.reshape(_dependent(before.tree, q, base, places)[1], (-1, 3))
    depends = [bool(row.all()) for row in rows]
    return frozenset(point for point, held in zip(link.points, depends) if held)


def _check_standing(
    link: Transition, before: Problem, starts: Sequence[Hold], looked: tuple[Matrix, Matrix, Matrix]
) -> None:
    """Raise ValueError naming a contact that holds on both sides of a link, of whose rows at the
    `starts` nothing moves that strikes: q, their gaps and the places of what strikes are
    `looked` at."""
    q, gaps, places = looked
    ends = _standing_holds(before, 1)
    if not ends:
        return
    every = parameters_of(_targets(before, ends))
    values = {each: each.value for each in every}
    rows = ca.vertcat(gaps, _gaps(before, ends, q, values), places)
    look = ca.Function("look", [q], [rows, ca.jacobian(rows, q)])
    slopes = search_posture(look, before.tree, np.arange(len(starts)))[1]
    begin, end, blows = np.split(slopes, np.cumsum([len(starts), len(ends)]))
    held, struck = _combinations_of(end, begin), _combinations_of(blows, begin)
    for hold, stands, strikes in zip(starts, held, struck):
        if stands and not strikes:
            points = ", ".join(repr(point) for point in link.points)
            raise ValueError(
                f"links: {link.name}: impact of {points}: contact {hold.foot!r} stands before and "
                "after it, and takes part in the blow; name its points too, as in impact('left "
                "foot', 'right foot'), or let it leave"
            )


def _dependent(tree: Tree, q: Matrix, base: Matrix, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of rows, and which gradients are combinations of those of `base`, where
    all of that vanishes as far as it does."""
    every = ca.vertcat(base, rows)
    look = ca.Function("look", [q], [every, ca.jacobian(every, q)])
    values, slopes = search_posture(look, tree, np.arange(base.shape[0]))
    first, others = np.split(slopes, [base.shape[0]])
    return values[base.shape[0] :], _combinations_of(first, others)


def _combinations_of(first: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Tell which gradients (rows, n) of `others` are combinations of the `first` ones."""
    shares = np.linalg.lstsq(first.T, others.T, rcond=None)[0]
    rests = np.linalg.norm(others - shares.T @ first, axis=1)
    sizes = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
    return rests < NEW * sizes


def _standing_holds(part: Problem, end: int) -> list[Hold]:
    """Return the rows of the rigid contacts that stand at an end of a phase."""
    ground = part.ground
    if ground is None:
        return []
    return [hold for hold in rigid_holds(ground) if hold.support(ground).when[end] == end]


def _gaps(part: Problem, holds: Sequence[Hold], q: Matrix, values: Values) -> Matrix:
    """Return the distances (m) of rows from their places at coordinates q, with parameters
    there."""
    ground: Any = part.ground
    names = [hold.point(ground) for hold in holds]
    places = positions(nominal(part.tree), q, names)
    targets = with_values(_targets(part, holds), values)
    rows = zip(places, holds, targets)
    return ca.vertcat(*(place[hold.axis] - target for place, hold, target in rows))


def _targets(part: Problem, holds: Sequence[Hold]) -> list[Number]:
    """Return the coordinates (m) at which rows are held."""
    ground: Any = part.ground
    return [hold.target(ground) for hold in holds]


def _image(symmetry: Symmetry | None, q: Matrix) -> Matrix:
    """Return the coordinates after a transition of those before it."""
    if symmetry is None:
        return q
    image = ca.SX(*q.shape)
    for row, (other, sign, way) in enumerate(zip(symmetry.index, symmetry.sign, symmetry.shift)):
        image[other] = sign * (q[row] - way)
    return image
