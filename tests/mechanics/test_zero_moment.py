"""Wrenches, weights and polygons: what standing bodies are reckoned by."""

from itertools import combinations

import casadi as ca
import numpy as np
import pytest
from random_trees import random_motion, random_tree

from ocp import Load
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import Wrench, body_weight, convex_hull
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.two_link import two_link
from ocp.models.human import human
from ocp.problems.gait.statement.contact_schedule import UP


def test_a_wrench_takes_from_each_joint_what_the_same_load_does():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, int(rng.integers(3, 11)))
        motion = tuple(map(ca.DM, random_motion(rng, tree)))
        moves, bare = kinematics.motions(tree, motion[0]), inverse(tree, *motion)
        for point in tree.points:
            moment, force = rng.standard_normal(3), rng.standard_normal(3)
            place = np.array(kinematics.position(tree, motion[0], point)).ravel()
            loaded = inverse(
                tree,
                *motion,
                (Load(point=point.name, force=force, moment=moment - np.cross(place, force)),),
            )
            wrench = Wrench(link=point.link, moment=ca.DM(moment), force=ca.DM(force))
            found = kinematics.wrench_torques(tree, moves, wrench)
            assert np.allclose(
                np.array(found),
                np.array(bare - loaded),
                rtol=0,
                atol=1e-12 * max(1.0, float(ca.norm_inf(bare))),
            )


def test_the_weight_is_in_the_trees_own_gravity():
    assert body_weight(human()) == pytest.approx(75 * 9.81)
    assert body_weight(two_link(gravity=0.0)) == 1.0
    assert body_weight(two_link(gravity=3.0)) == pytest.approx(3.0)


def left(a, b, p, normal):
    """How far p (3,) or (points, 3) is to the left of the way from a to b, times its length, about
    a normal."""
    return np.cross(b - a, p - a) @ normal


def extremes(points, normal):
    """The oracle: an edge of the hull is a pair of points that has all others on its left."""
    corners = set()
    for a, b in combinations(points, 2):
        for u, v in ((a, b), (b, a)):
            sides = left(u, v, points, normal)
            between = ((points - u) * (points - v)).sum(axis=1) <= 1e-12
            inside = (sides > 1e-12) | ((np.abs(sides) <= 1e-12) & between)
            if np.linalg.norm(a - b) > 1e-12 and inside.all():
                corners |= {tuple(u), tuple(v)}
    return corners


@pytest.mark.parametrize("normal", [(0, 0, 1), UP, (0.6, 0, 0.8)], ids=str)
def test_the_hull_is_the_smallest_convex_polygon_counter_clockwise(normal):
    normal = np.array(normal, dtype=float)
    across = np.linalg.svd(normal[None])[2][1:]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        several_in_line = rng.integers(-2, 3, (14, 2))
        flat = several_in_line if seed % 2 else rng.standard_normal((14, 2))
        points = np.vstack([flat, flat[:3]]) @ across
        corners = convex_hull(points, normal)
        following = np.roll(corners, -1, axis=0)
        for a, b, c in zip(corners, following, np.roll(following, -1, axis=0)):
            assert left(a, b, points, normal).min() >= -1e-12
            assert left(a, b, c, normal) > 1e-12
        assert {tuple(corner) for corner in corners} == extremes(points, normal)
