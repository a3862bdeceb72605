"""Joints that are called by words of their names, and the limits they are given."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from ocp.mechanics.model.joints import LIMITED, Joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.degrees import warn_of_degrees
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import positive
from ocp.spelling import suggestion

Value = TypeVar("Value")


def values_by_joint(tree: Tree, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return {joint: value} of `values` by name of a joint, or by a word that names of several have
    in them, as "knee"; a name counts more than a word, a later word more than an earlier one.

    Raises ValueError for what is in no name of a coordinate.
    """
    names = [joint.name for joint in tree.moving]
    known: dict[str, Value] = {}
    for word, value in values.items():
        if word in tree.names:
            tree.coordinate(word)  # which raises ValueError for a ball, and what follows
        if word not in names:
            meant = [name for name in names if isinstance(word, str) and word in name]
            known |= dict.fromkeys(meant or [names[tree.coordinate(word)]], value)
    return known | {name: value for name, value in values.items() if name in names}


def with_limits(tree: Tree, *, strength: float = 1.0, **limits: Numbers) -> Tree:
    """Return the tree with other limits of its driven joints, as jerk=50.0 (rad/s3 or m/s3).

    `limits` are fields of a Joint: position, velocity, torque, jerk, torque_rate. Each is what a
    Joint takes, a number or (lower, upper), of which None keeps the tree's own; or such by a joint,
    {name or word: ..}, as `values_by_joint` has them. `strength`: torques and forces, as a part of
    what they would be. Raises ValueError naming an unknown joint or limit, warns of
    angles that are likely in degrees.
    """
    positive("with_limits: strength", strength)
    driven = [joint.name for joint in tree.moving if joint.actuated]
    given: dict[str, dict[str, Numbers]] = {name: {} for name in driven}
    for what, value in limits.items():
        if what not in LIMITED:
            raise ValueError(
                f"with_limits: unknown limit {what!r}{suggestion(what, LIMITED)}; a joint has "
                f"{', '.join(LIMITED)}"
            )
        several = isinstance(value, Mapping)
        named = values_by_joint(tree, value) if several else dict.fromkeys(driven, value)
        for name, bounds in named.items():
            given.setdefault(name, {})[what] = bounds
    joints = (
        _with(joint, given[joint.name], strength) if _own(joint) and joint.name in given else joint
        for joint in tree.joints
    )
    bounded = replace(tree, joints=tuple(joints))
    for what, rates in (("position", False), ("velocity", True)):
        changed = [joint for joint in bounded.moving if what in given.get(joint.name, ())]
        ends = ((joint, bound) for joint in changed for bound in getattr(joint, what))
        warn_of_degrees(f"with_limits: {what}", ends, rates=rates)
    return bounded


def _own(joint: Joint) -> bool:
    return joint.screw is not None and joint.follows is None


def _with(joint: Joint, limits: Mapping[str, Numbers], strength: float) -> Joint:
    changed = replace(
        joint, **{what: _kept(getattr(joint, what), value) for what, value in limits.items()}
    )
    if strength == 1.0:
        return changed
    return replace(changed, torque=tuple(strength * bound for bound in changed.torque))


def _kept(own: Numbers, value: Numbers) -> Numbers:
    """Return limits, of which None is what a joint has of its own."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return value
    return tuple(before if bound is None else bound for before, bound in zip(own, value))
