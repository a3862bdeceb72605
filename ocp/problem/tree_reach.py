"""Reach of a tree: how far a point can come from the first moving joint's axis."""

import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree


def reach(tree: Tree, point: str) -> tuple[np.ndarray, float, str] | None:
    """Return a place (3,) on the axis of the first moving joint on the way to a point, how long the
    way from axis to axis is from there (m), and that joint's name.

    None where a joint on the way follows others, whose way has no bounds of its own; infinite where
    one slides without limits, as a floating root does.
    """
    place = kinematics.point_named(tree, point)
    tip, length, axis = np.array(place.position), 0.0, ""
    k = tree.link_index(place.link)
    while k >= 0:
        joint = tree.joints[k]
        if joint.follows is not None:
            return None
        if joint.screw is not None or joint.ball:
            length += float(np.linalg.norm(tip - joint.anchor)) + _slide(joint)
            tip, axis = joint.anchor, joint.name
        home = np.array(joint.home)
        tip = home[:3, :3] @ tip + home[:3, 3]
        k = tree.parents[k]
    return tip, length, axis


def _slide(joint: Joint) -> float:
    """Return the largest way (m) of a joint along its axis."""
    way = 1.0 if joint.kind == "prismatic" else 0.0 if joint.ball else abs(joint.pitch)
    return way * max(map(abs, joint.position)) if way > 1e-14 else 0.0
