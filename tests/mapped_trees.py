"""Random trees with balls and followers."""

from dataclasses import replace

import casadi as ca
import numpy as np
from random_trees import random_pose, random_tree

from ocp.mechanics import Tree, ball, polynomial


def random_mapped_tree(rng, joints, *, followers=True):
    """Return a random tree of which some joints are balls, and others follow a coordinate."""
    tree = random_tree(rng, joints, kinds=("revolute", "prismatic", "screw"))
    built = [tree.joints[0]]
    for joint in tree.joints[1:]:
        kind = rng.integers(3)
        single = next(each for each in built if each.screw is not None and each.follows is None)
        if kind == 0:
            joint = ball(joint.name, joint.parent, home=random_pose(rng))
        elif kind == 1 and followers:
            joint = replace(joint, follows=polynomial(single.name, *rng.uniform(-0.5, 0.5, 4)))
        built.append(joint)
    if not any(joint.ball for joint in built):
        built[-1] = ball(built[-1].name, built[-1].parent)
    if all(joint.follows is None for joint in built) and followers:
        built[0] = replace(built[0], follows=polynomial(built[0].name, 0.1, 0.8, 0.2))
    return Tree(links=tree.links, joints=tuple(built), points=tree.points, gravity=tree.gravity)


def numbers(expression, symbols, values):
    """Values (numpy) of an expression."""
    return np.array(ca.evalf(ca.densify(ca.substitute(expression, symbols, values))))
