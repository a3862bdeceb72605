"""What the drives of a tree can, as requirements on every motion of it."""

from math import inf
from typing import TYPE_CHECKING, Any

import casadi as ca

from ocp.mechanics.elements import Activation, Strength, TorqueSpeed
from ocp.mechanics.tree import Tree
from ocp.mechanics.types import Matrix
from ocp.mechanics.units import unit_of
from ocp.problem.constraint import Constraint

if TYPE_CHECKING:
    from ocp.problem.instant import Instant
    from ocp.problem.phases import Transition

STRENGTH, ACTIVATION, AT_FIRST = "strength", "activation", "activation_at_start"


def drive_limits(tree: Tree) -> tuple[Constraint, ...]:
    """Return what keeps the torques of drives within their strength over angle and speed, and the
    signals of those that come on by a law within their joints' torque limits, from torques on that
    are so; nothing of a tree without such drives."""
    return (*_strength(tree), *_activation(tree))


def _strength(tree: Tree) -> tuple[Constraint, ...]:
    known = strengths(tree)
    if not known:
        return ()
    units = [unit_of(tree.moving[tree.coordinate(each.joint)], "tau") for each in known]
    return (
        Constraint(
            name=STRENGTH,
            function=_room,
            lower=0.0,
            upper=inf,
            labels=tuple(f"{each.joint} {side}" for each in known for side in each.sides),
            units=tuple(unit for each, unit in zip(known, units) for _ in each.sides),
        ),
    )


def _room(at: "Instant") -> Matrix:
    """Return what is left of the strength of drives."""
    rows: list[Matrix] = []
    for each in strengths(at.tree):
        row = at.tree.coordinate(each.joint)
        rows += each.room(at.tau[row], at.q[row], at.qd[row])
    return ca.vertcat(*rows)


def _activation(tree: Tree) -> tuple[Constraint, ...]:
    known = _coming_on(tree)
    if not known:
        return ()
    joints = [tree.moving[row] for _, row in known]
    shared: dict[str, Any] = {
        "lower": [joint.torque[0] for joint in joints],
        "upper": [joint.torque[1] for joint in joints],
        "labels": tuple(each.joint for each, _ in known),
        "units": tuple(unit_of(joint, "tau") for joint in joints),
    }
    return (
        Constraint(name=ACTIVATION, function=_asked, **shared),
        Constraint(name=AT_FIRST, function=_activated, when="start", **shared),
    )


def strengths(tree: Tree) -> tuple[Strength | TorqueSpeed, ...]:
    """Return what limits torques of a tree over angle and speed."""
    return tuple(each for each in tree.elements if isinstance(each, Strength | TorqueSpeed))


def torque_bounds(at: "Instant") -> Matrix:
    """Return between what the strengths of a tree keep its torques (2n,), N m or N: the lower
    bounds, then the upper ones, infinite where there are none."""
    least: list[Any] = [-inf] * at.tree.dof
    most: list[Any] = [inf] * at.tree.dof
    for each in strengths(at.tree):
        row = at.tree.coordinate(each.joint)
        sides = each.bounds(at.q[row], at.qd[row])
        if -1 in sides:
            least[row] = ca.fmax(least[row], sides[-1])
        if 1 in sides:
            most[row] = ca.fmin(most[row], sides[1])
    return ca.vertcat(*least, *most)


def states_of_drives(link: "Transition", before: Any, after: Any) -> tuple[int, ...]:
    """Return the rows of tau that are states of drives which come on by a law, and that nothing
    else of a link between two phases makes the same on both sides; these are problems."""
    free = before.ground is None and after.ground is None and before.tree is after.tree
    alike = free and [id(each) for each in before.loads] == [id(each) for each in after.loads]
    if (alike and {"q", "qd", "qdd"} <= set(link.quantities)) or "tau" in link.quantities:
        return ()
    return tuple(row for _, row in _coming_on(after.tree))


def _asked(at: "Instant") -> Matrix:
    """Return the signals of drives that come on by a law."""
    return ca.vertcat(
        *(each.asked(at.tau[row], at.tau_rate[row]) for each, row in _coming_on(at.tree))
    )


def _activated(at: "Instant") -> Matrix:
    """Return their torques."""
    return ca.vertcat(*(at.tau[row] for _, row in _coming_on(at.tree)))


def _coming_on(tree: Tree) -> list[tuple[Activation, int]]:
    """Return the drives that come on by a law, and their rows of q."""
    known = (each for each in tree.elements if isinstance(each, Activation))
    return [(each, tree.coordinate(each.joint)) for each in known]
