"""The usual requirements on a motion, each a function that returns Constraint records."""

from collections.abc import Mapping

import numpy as np

from ocp.problem.statement import Constraint
from ocp.problem.units import unit_of


def at_start(tree, *, q=None, qd=None, qdd=None):
    """Prescribe coordinates, rates and accelerations at s = 0.

    Each is a number for all joints, n numbers, or {joint name: number} for some; raises ValueError for a wrong count, an unknown joint,
    or a position outside its joint's limits.
    """
    return _boundary(tree, "start", q=q, qd=qd, qdd=qdd)


def at_end(tree, *, q=None, qd=None, qdd=None):
    """Prescribe coordinates, rates and accelerations at s = 1, as `at_start` does at s = 0."""
    return _boundary(tree, "end", q=q, qd=qd, qdd=qdd)


def joint_limits(tree, *, hull=False):
    """Keep every coordinate within its joint's `position` limits, at the nodes; with `hull` every control point, and so the whole curve,
    which asks for somewhat more and costs no rows."""
    return _limits(tree, "joint_limits", "position", "q", "hull" if hull else "path")


def velocity_limits(tree):
    """Keep every rate within its joint's `velocity` limits."""
    return _limits(tree, "velocity_limits", "velocity", "qd")


def torque_limits(tree):
    """Keep every joint torque or force within its joint's `torque` limits."""
    return _limits(tree, "torque_limits", "torque", "tau")


def path(name, function, *, lower=-np.inf, upper=np.inf, when="path", labels=(), units=""):
    """Require lower <= function(instant) <= upper along the motion, or over `when`."""
    return Constraint(
        name=name,
        function=function,
        lower=lower,
        upper=upper,
        when=when,
        labels=labels,
        units=units,
    )


def _limits(tree, name, attribute, quantity, when="path"):
    bounded = [
        (row, joint)
        for row, joint in enumerate(tree.moving)
        if np.isfinite(getattr(joint, attribute)).any()
    ]
    if not bounded:
        raise ValueError(f"{name}: no joint of the tree has {attribute} limits")
    rows = [row for row, _ in bounded]
    return Constraint(
        name=name,
        function=lambda at: _pick(getattr(at, quantity), rows),
        when=when,
        lower=[getattr(joint, attribute)[0] for _, joint in bounded],
        upper=[getattr(joint, attribute)[1] for _, joint in bounded],
        labels=tuple(joint.name for _, joint in bounded),
        units=tuple(unit_of(joint, quantity) for _, joint in bounded),
    )


def _boundary(tree, when, **wanted):
    constraints = []
    for quantity, value in wanted.items():
        if value is None:
            continue
        values = _per_joint(tree, f"at_{when}: {quantity}", value)
        joints, rows = [tree.moving[row] for row in values], list(values)
        if quantity == "q":
            _check_inside(joints, values.values(), when)
        constraints.append(
            Constraint(
                name=f"at_{when}.{quantity}",
                function=lambda at, quantity=quantity, rows=rows: _pick(
                    getattr(at, quantity), rows
                ),
                lower=list(values.values()),
                upper=list(values.values()),
                when=when,
                labels=tuple(joint.name for joint in joints),
                units=tuple(unit_of(joint, quantity) for joint in joints),
            )
        )
    return tuple(constraints)


def _per_joint(tree, what, value):
    """Return {row of q: number} from a number, a sequence of n or a mapping by joint name."""
    if isinstance(value, Mapping):
        values = {tree.coordinate(name): number for name, number in value.items()}
    elif np.ndim(value) == 0:
        values = dict.fromkeys(range(tree.dof), value)
    elif len(value) == tree.dof:
        values = dict(enumerate(value))
    else:
        names = ", ".join(joint.name for joint in tree.moving)
        raise ValueError(f"{what}: expected {tree.dof} values ({names}), got {len(value)}")
    values = {row: float(number) for row, number in values.items()}
    for row, number in values.items():
        if not np.isfinite(number):
            raise ValueError(
                f"{what}: joint {tree.moving[row].name!r}: expected a finite number, got {number}"
            )
    return values


def _check_inside(joints, values, when):
    for joint, value in zip(joints, values):
        lower, upper = joint.position
        if not lower <= value <= upper:
            raise ValueError(
                f"at_{when}: joint {joint.name!r}: {value:g} {unit_of(joint, 'q')} is outside its limits "
                f"({lower:g}, {upper:g})"
            )


def _pick(vector, rows):
    return vector if rows == list(range(vector.shape[0])) else vector[rows]
