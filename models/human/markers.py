"""Markers as laboratories tape them on people: a cluster of three on every segment."""

from dataclasses import replace

import numpy as np

from ocp import Point, Tree

SIZE = 0.05  # m: how far a cluster's markers stand from the segment's centre of mass [assumed]


def clustered(tree: Tree, size: float = SIZE) -> Tree:
    """Return the tree with three more points on every link that has mass.

    They are called JOINT_a, JOINT_b and JOINT_c after the link's joint and stand away from its
    centre of mass by `size` (m) along its axes.
    """
    points = [
        Point(name=f"{joint.name}_{letter}", link=joint.name, position=np.array(link.com) + off)
        for joint, link in zip(tree.joints, tree.links)
        if link.mass > 0
        for letter, off in zip("abc", size * np.eye(3))
    ]
    return replace(tree, points=(*tree.points, *points))


def cluster_names(tree: Tree) -> tuple[str, ...]:
    """Return the names of the clusters' markers of a tree that has them."""
    massive = [joint.name for joint, link in zip(tree.joints, tree.links) if link.mass > 0]
    return tuple(f"{name}_{letter}" for name in massive for letter in "abc")
