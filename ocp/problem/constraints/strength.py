"""Strength of drives over angle and speed, as a constraint on every motion of a tree."""

from collections.abc import Collection, Iterator
from functools import partial
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

import casadi as ca

from ocp.mechanics.elements import Strength, TorqueSpeed
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraint import Constraint, Span

if TYPE_CHECKING:
    from ocp.problem.instant import Instant

STRENGTH = "strength"


def strength_limits(
    tree: Tree, joints: Collection[str] | None = None, between: int = 0
) -> tuple[Constraint, ...]:
    """Return the constraints that keep the torques of drives within their strength over angle and
    speed; none of a tree without such drives.

    Args:
        tree: the tree, whose problems have these constraints at the nodes.
        joints: those whose drives are meant; all where it is None.
        between: at how many instants between each two nodes they hold too.
    """
    known = [each for each in strengths(tree) if joints is None or each.joint in joints]
    if not known:
        return ()
    units = [unit_of(tree.moving[tree.coordinate(each.joint)], "tau") for each in known]
    return (
        Constraint(
            name=STRENGTH if not between else f"{STRENGTH}.between",
            function=partial(_room, {each.joint for each in known}),
            sizes=partial(_limits, {each.joint for each in known}),
            lower=0.0,
            upper=inf,
            labels=tuple(f"{each.joint} {side}" for each in known for side in each.sides),
            units=tuple(unit for each, unit in zip(known, units) for _ in each.sides),
            when=Span(start=0.0, end=1.0, between=between) if between else "path",
        ),
    )


def _room(joints: Collection[str], at: "Instant") -> Matrix:
    """Return the strength that drives of these joints have left."""
    rows = (each.room(at.tau[k], at.q[k], at.qd[k]) for each, k in _strengths_at(joints, at))
    return ca.vertcat(*chain.from_iterable(rows))


def _limits(joints: Collection[str], at: "Instant") -> Matrix:
    """Return the torques up to which drives of these joints go, in the order of their room."""
    sides = (each.bounds(at.q[k], at.qd[k]).values() for each, k in _strengths_at(joints, at))
    return ca.vertcat(*map(ca.fabs, chain.from_iterable(sides)))


def _strengths_at(
    joints: Collection[str], at: "Instant"
) -> Iterator[tuple[Strength | TorqueSpeed, int]]:
    """Yield the strengths of these joints, and where their coordinates stand."""
    for each in strengths(at.tree):
        if each.joint in joints:
            yield each, at.tree.coordinate(each.joint)


def strengths(tree: Tree) -> tuple[Strength | TorqueSpeed, ...]:
    """Return the strengths that limit torques of a tree over angle and speed."""
    return tuple(each for each in tree.elements if isinstance(each, Strength | TorqueSpeed))


def torque_bounds(at: "Instant") -> Matrix:
    """Return between what the strengths of a tree keep its torques (2n,), N m or N: the lower
    bounds, then the upper ones, infinite where there are none."""
    least: list[Matrix] = [-inf] * at.tree.dof
    most: list[Matrix] = [inf] * at.tree.dof
    for each in strengths(at.tree):
        row = at.tree.coordinate(each.joint)
        sides = each.bounds(at.q[row], at.qd[row])
        if -1 in sides:
            least[row] = ca.fmax(least[row], sides[-1])
        if 1 in sides:
            most[row] = ca.fmin(most[row], sides[1])
    return ca.vertcat(*least, *most)
