"""Bounds of elements' states and of the controls that drive them, as constraints."""

import casadi as ca

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraint import Constraint

STATE_BOUNDS, CONTROL_BOUNDS = "state_bounds", "control_bounds"


def state_limits(tree: Tree) -> tuple[Constraint, ...]:
    """Return the constraints that keep states of elements, and the controls that drive them, within
    their bounds all along; none of a tree without states."""
    if not tree.states:
        return ()
    states = list(tree.states)
    driven = [row for row in states if row in structure(tree).drives]
    return (
        _bounds(tree, STATE_BOUNDS, states, "position", "q"),
        *([_bounds(tree, CONTROL_BOUNDS, driven, "torque", "tau")] if driven else []),
    )


def _bounds(tree: Tree, name: str, rows: list[int], limit: str, quantity: str) -> Constraint:
    joints = [tree.moving[row] for row in rows]
    lower, upper = zip(*(getattr(joint, limit) for joint in joints))
    return Constraint(
        name=name,
        function=lambda at: ca.vertcat(*(getattr(at, quantity)[row] for row in rows)),
        lower=lower,
        upper=upper,
        labels=tuple(joint.name for joint in joints),
        units=tuple(unit_of(joint, quantity) for joint in joints),
    )
