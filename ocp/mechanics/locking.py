"""Joints that are held where they stand: a smaller tree from a larger one."""

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from ocp.mechanics.checks import instance, numbers
from ocp.mechanics.joints import Joint
from ocp.mechanics.parameters import is_open
from ocp.mechanics.rigid import joint_pose
from ocp.mechanics.tree import Tree


def locked(tree: Tree, values: Mapping[str, float]) -> Tree:
    """Return the tree with joints fixed at `values` {name: rad or m}, and all that follow them.

    What acts on one of these joints alone, as its damping, goes with its coordinate. Raises
    ValueError naming a joint that is unknown, has no coordinate of its own, is a ball, or has open
    numbers.
    """
    places = {}
    for name, value in instance("locked: values", values, Mapping).items():
        if tree.moving[tree.coordinate(name)].ball:
            raise ValueError(f"joint {name!r}: a component of a ball is not locked by itself")
        places[name] = float(numbers(f"joint {name!r}: place", value, (), "rad or m"))
    still = {joint.name for joint in tree.joints if _leader(joint) in places}
    return replace(
        tree,
        joints=tuple(_held(joint, places.get(_leader(joint))) for joint in tree.joints),
        elements=tuple(each for each in tree.elements if getattr(each, "joint", None) not in still),
    )


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
