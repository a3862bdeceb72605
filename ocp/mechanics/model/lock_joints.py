"""Joints that are held where they stand: a smaller tree from a larger one."""

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from ocp.mechanics.kinematics.rigid_kinematics import joint_pose
from ocp.mechanics.model.joint_selection import values_by_joint
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.degrees import degrees_suspected, warn_of_degrees
from ocp.mechanics.values.parameters import is_open, nominal
from ocp.mechanics.values.validation import ZERO, check_type, numbers, unit_of


def with_locked_joints(tree: Tree, values: Mapping[str, float]) -> Tree:
    """Return the tree with joints fixed at `values` {name: rad or m}, and all that follow them.

    Words call all joints that have them in their names, as "wrist": see `values_by_joint`.
    What acts on one of these joints alone, as its damping, goes with its coordinate. Raises
    ValueError naming a joint that is unknown, has no coordinate of its own, is a ball, has open
    numbers, or cannot stand where it is to be fixed; warns of angles that are likely in degrees.
    """
    given = values_by_joint(tree, check_type("with_locked_joints: values", values, Mapping))
    places = {name: _place(tree.moving[tree.coordinate(name)], given[name]) for name in given}
    warn_of_degrees(
        "with_locked_joints", ((tree.moving[tree.coordinate(n)], at) for n, at in places.items())
    )
    still = {joint.name for joint in tree.joints if _leader(joint) in places}
    return replace(
        tree,
        joints=tuple(_held(joint, places.get(_leader(joint))) for joint in tree.joints),
        elements=tuple(each for each in tree.elements if getattr(each, "joint", None) not in still),
    )


def _place(joint: Joint, value: float) -> float:
    """Return the place at which a joint is locked (rad or m), within its limits."""
    if joint.ball:
        raise ValueError(f"joint {joint.name!r}: a component of a ball is not locked by itself")
    unit = unit_of(joint, "q")
    place = float(numbers(f"joint {joint.name!r}: place", value, (), unit))
    lower, upper = (float(bound) for bound in nominal(joint.position))
    if not lower - ZERO <= place <= upper + ZERO:
        words = degrees_suspected(place) if unit == "rad" else ""
        raise ValueError(
            f"joint {joint.name!r}: it cannot be locked at {place:g} {unit}, beyond its limits of "
            f"{lower:g} to {upper:g} {unit}{words and '; '}{words}"
        )
    return place


def _leader(joint: Joint) -> str:
    """Return the name of the coordinate by which a joint moves."""
    return joint.name if joint.follows is None else joint.follows.coordinate


def _held(joint: Joint, value: float | None) -> Joint:
    if value is None or joint.screw is None:
        return joint
    if is_open((joint.home, joint.screw)):
        raise ValueError(f"joint {joint.name!r}: it has open numbers, and is not locked")
    way = value if joint.follows is None else joint.follows.function(ca.DM(value))
    home = ca.evalf(ca.SX(joint_pose(joint, way))).full()
    return Joint(name=joint.name, parent=joint.parent, home=home)
