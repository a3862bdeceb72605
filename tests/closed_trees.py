"""Random mechanisms with closed loops, for property tests; every draw comes from a seeded
generator."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
from random_trees import random_motion, random_rotation, random_tree

from ocp import Loop, Point
from ocp.mechanics.kinematics import kinematics, loop_closure

CHOICES = (
    ("xyz", "xyz", "start"),
    ("xyz", "xy", "end"),
    ("xyz", "yz", "start"),
    ("yz", "xz", "end"),
    ("xy", "z", "start"),
    ("x", "", "end"),
    ("z", "", "global"),
    ("xy", "", "global"),
    ("", "y", "end"),
    ("z", "x", "start"),
)


def closed_at(rng, tree, q, choice, name="cut"):
    """The tree with one more loop, which is closed at q, between two random links that move against
    each other."""
    position, orientation, axes = choice
    frames = [np.array(pose) for pose in kinematics.poses(tree, ca.DM(q))]
    while True:
        first, last = (int(k) for k in rng.choice(len(tree.joints), 2, replace=False))
        start = frames[first] @ (*0.3 * rng.standard_normal(3), 1.0)
        turn = frames[first][:3, :3].T @ frames[last][:3, :3]
        points = [
            Point(
                name=f"{name} {side}",
                link=tree.names[k],
                position=(np.linalg.inv(frames[k]) @ start)[:3],
            )
            for side, k in (("start", first), ("end", last))
        ]
        loop = Loop(
            name=name,
            start=points[0].name,
            end=points[1].name,
            position=position,
            orientation=orientation,
            axes=axes,
            turn=turn,
            frame=random_rotation(rng),
        )
        try:
            return replace(tree, points=(*tree.points, *points), loops=(*tree.loops, loop))
        except ValueError:  # rigidly joined links
            continue


@cache
def case(seed):
    """A random tree with two loops, closed at the first of two configurations; rates,
    accelerations, and multipliers."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(4, 9)))
    q, other = random_motion(rng, tree)[:2]
    for number in range(2):
        tree = closed_at(
            rng, tree, q, CHOICES[(2 * seed + number) % len(CHOICES)], name=f"cut {number}"
        )
    return (
        tree,
        q,
        other,
        *random_motion(rng, tree)[:2],
        rng.standard_normal(len(loop_closure.gap_labels(tree))),
    )


def numbers(expression):
    """A DM as an array, a column as a vector."""
    array = np.array(expression)
    return array[:, 0] if array.shape[1] == 1 else array


def spatial(tree, position="xyz", orientation="xyz"):
    """A mechanism whose pin closes these directions, in the axes of its start's link."""
    return replace(
        tree,
        loops=(replace(tree.loops[0], position=position, orientation=orientation, axes="start"),),
    )
