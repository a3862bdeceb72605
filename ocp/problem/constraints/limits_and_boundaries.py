"""The usual requirements on a motion, each a function that returns Constraint records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TypeAlias

import numpy as np

from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.degrees import degrees_suspected, warn_of_degrees
from ocp.mechanics.values.parameters import Number, Open, as_open, is_open, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, describe_value, unit_of
from ocp.problem.constraint import Constraint, When, require_bound
from ocp.problem.constraints.attitudes import check_length, check_rates
from ocp.problem.instant import Instant

PerJoint: TypeAlias = float | Open | Sequence[Number] | np.ndarray | Mapping[str, Number] | None


def at_start(
    tree: Tree, *, q: PerJoint = None, qd: PerJoint = None, qdd: PerJoint = None
) -> tuple[Constraint, ...]:
    """Prescribe coordinates, rates and accelerations at s = 0.

    Each is a number for all joints, n numbers, or {joint name: number} for some; numbers may be
    open. Raises ValueError for a wrong count, an unknown joint, a coordinate outside its joint's
    limits, or a ball's quaternion whose length is not one; warns of angles that are likely in
    degrees.
    """
    return _boundary(tree, "start", q=q, qd=qd, qdd=qdd)


def at_end(
    tree: Tree, *, q: PerJoint = None, qd: PerJoint = None, qdd: PerJoint = None
) -> tuple[Constraint, ...]:
    """Prescribe coordinates, rates and accelerations at s = 1, as `at_start` does at s = 0."""
    return _boundary(tree, "end", q=q, qd=qd, qdd=qdd)


def at_rest(tree: Tree) -> tuple[Constraint, ...]:
    """Begin and end without rates and accelerations."""
    return (*at_start(tree, qd=0.0, qdd=0.0), *at_end(tree, qd=0.0, qdd=0.0))


def limits(tree: Tree, *, hull: bool = False) -> tuple[Constraint, ...]:
    """Keep all limits that the tree's joints have: of positions, velocities, torques, jerks and
    torque rates.

    `hull` is that of `joint_limits`. Raises ValueError if there are none.
    """
    check_type("limits: tree", tree, Tree)
    known = {
        "position": lambda: joint_limits(tree, hull=hull),
        "velocity": lambda: velocity_limits(tree),
        "torque": lambda: torque_limits(tree),
        "jerk": lambda: jerk_limits(tree),
        "torque_rate": lambda: torque_rate_limits(tree),
    }
    stated = tuple(make() for attribute, make in known.items() if _limited_joints(tree, attribute))
    if not stated:
        raise ValueError("limits: no joint of the tree has any")
    return stated


def joint_limits(tree: Tree, *, hull: bool = False) -> Constraint:
    """Keep every coordinate within its joint's `position` limits, at the nodes.

    With `hull` every control point stays within them, and so the whole curve, which asks for
    somewhat more and costs no rows. Raises ValueError if no joint has such limits.
    """
    return _limits(tree, "joint_limits", "position", "q", "hull" if hull else "path")


def velocity_limits(tree: Tree) -> Constraint:
    """Keep every rate within its joint's `velocity` limits.

    Raise ValueError if no joint has any.
    """
    return _limits(tree, "velocity_limits", "velocity", "qd")


def torque_limits(tree: Tree) -> Constraint:
    """Keep every joint torque or force within its joint's `torque` limits.

    Raise ValueError if no joint has any.
    """
    return _limits(tree, "torque_limits", "torque", "tau")


def jerk_limits(tree: Tree) -> Constraint:
    """Keep the rate of every acceleration within its joint's `jerk` limits.

    Raise ValueError if no joint has any.
    """
    return _limits(tree, "jerk_limits", "jerk", "qddd")


def torque_rate_limits(tree: Tree) -> Constraint:
    """Keep the rate of every joint torque or force within its joint's `torque_rate` limits.

    Raise ValueError if no joint has any.
    """
    return _limits(tree, "torque_rate_limits", "torque_rate", "tau_rate")


def path(
    name: str,
    function: Callable[[Instant], Matrix],
    *,
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
    when: When = "path",
    labels: Sequence[str] = (),
    units: str | Sequence[str] = "",
) -> Constraint:
    """Require lower <= function(instant) <= upper along the motion, or over `when`.

    One bound at least is finite. `labels` and `units` name the rows; the rest as in `Constraint`.
    """
    stated = Constraint(
        name=name,
        function=function,
        lower=lower,
        upper=upper,
        when=when,
        labels=labels,
        units=units,
    )
    return require_bound(stated)


def _limits(tree: Tree, name: str, attribute: str, quantity: str, when: str = "path") -> Constraint:
    check_type(f"{name}: tree", tree, Tree)
    bounded = _limited_joints(tree, attribute)
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


def _limited_joints(tree: Tree, attribute: str) -> list[tuple[int, Joint]]:
    """Return the joints that have a limit, with their rows of q; states of elements keep theirs by
    themselves."""
    return [
        (row, joint)
        for row, joint in enumerate(tree.moving)
        if row not in tree.states
        and any(is_open(bound) or isfinite(bound) for bound in getattr(joint, attribute))
    ]


def _boundary(tree: Tree, when: str, **wanted: PerJoint) -> tuple[Constraint, ...]:
    if all(value is None for value in wanted.values()):
        raise ValueError(f"at_{when}: asks nothing: expected q, qd or qdd")
    if wanted.get("q") is not None and wanted.get("qd") is not None:
        values, rates = (
            _per_joint(tree, f"at_{when}: {what}", wanted[what]) for what in ("q", "qd")
        )
        check_rates(f"at_{when}: qd", tree, values, rates)
    return tuple(
        _prescribe(tree, when, quantity, value)
        for quantity, value in wanted.items()
        if value is not None
    )


def _prescribe(tree: Tree, when: str, quantity: str, value: PerJoint) -> Constraint:
    values = _per_joint(tree, f"at_{when}: {quantity}", value)
    rows = list(values)
    joints = [tree.moving[row] for row in rows]
    if quantity == "q":
        _check_inside(joints, values.values(), when)
        warn_of_degrees(f"at_{when}: q", zip(joints, values.values()))
        check_length(f"at_{when}: q", tree, values)
    stated = Constraint(
        name=f"at_{when}.{quantity}",
        function=lambda at: _pick(getattr(at, quantity), rows),
        lower=list(values.values()),
        upper=list(values.values()),
        when=when,
        labels=tuple(joint.name for joint in joints),
        units=tuple(unit_of(joint, quantity) for joint in joints),
    )
    return require_bound(stated)


def _per_joint(tree: Tree, what: str, value: Numbers) -> dict[int, Number]:
    """Return {row of q: number} from a number, a sequence of n or a mapping by joint name.

    States of elements are meant by name alone.
    """
    check_type(f"{what}: tree", tree, Tree)
    value, count = as_open(value), tree.dof - len(tree.states)
    if isinstance(value, Mapping):
        values = {tree.coordinate(name): number for name, number in value.items()}
    elif isinstance(value, str) or hasattr(value, "is_symbolic"):
        raise ValueError(f"{what}: expected numbers, got {describe_value(value)}")
    elif np.ndim(value) == 0:
        values = dict.fromkeys(range(count), value)
    elif len(value) == count:
        values = dict(enumerate(value))
    else:
        names = ", ".join(joint.name for joint in tree.moving[:count])
        raise ValueError(f"{what}: expected {count} values ({names}), got {len(value)}")
    return {row: _number(what, tree.moving[row], value) for row, value in values.items()}


def _number(what: str, joint: Joint, value: Number) -> Number:
    value = as_open(value)
    if isinstance(value, Open):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"{what}: joint {joint.name!r}: expected a finite number, got {value}")
    return number


def _check_inside(joints: Iterable[Joint], values: Iterable[Number], when: str) -> None:
    for joint, number in zip(joints, values):
        value, (lower, upper) = nominal((number, joint.position))
        if not lower <= value <= upper:
            unit = unit_of(joint, "q")
            words = degrees_suspected(value) if unit == "rad" else ""
            raise ValueError(
                f"at_{when}: joint {joint.name!r}: {value:g} {unit} is outside its limits "
                f"({lower:g}, {upper:g}){words and '; '}{words}"
            )


def _pick(vector: Matrix, rows: list[int]) -> Matrix:
    return vector if rows == list(range(vector.shape[0])) else vector[rows]
