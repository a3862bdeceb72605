"""Avoidance: limbs keep together, apart, and off what they carry."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, posture, rows
from random_trees import random_motion, random_tree

from ocp import Instant
from ocp.dynamics.newton_euler import inverse
from ocp.mechanics import kinematics
from ocp.problem import (
    apart,
    off_box,
    swing_together,
)
from ocp.problem.instant import Forces

NEAR = 1e-3  # of s: away from a switch, yet in the part next to it


def test_an_offset_is_as_long_as_the_distance_and_ignores_what_carries_both():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, int(rng.integers(3, 11)), branching=0.6)
        q = ca.SX.sym("q", tree.dof)
        start, end = (
            tree.points[k].name for k in rng.choice(len(tree.points), size=2, replace=False)
        )
        vector = kinematics.offset(tree, q, start, end)
        both = ca.Function(
            "both",
            [q],
            [
                ca.norm_2(vector),
                ca.norm_2(kinematics.position(tree, q, end) - kinematics.position(tree, q, start)),
            ],
        )
        for _ in range(3):
            short, full = both(random_motion(rng, tree)[0])
            assert float(short) == pytest.approx(float(full), rel=1e-12)
        chains = []
        for name in (start, end):
            k, chain = tree.link_index(tree.point(name).link), set()
            while k >= 0:
                chain.add(k)
                k = tree.parents[k]
            chains.append(chain)
        moved = {tree.rows[k] for k in chains[0] ^ chains[1]} - {None}
        used = {row for row in range(tree.dof) if ca.depends_on(vector, q[row])}
        assert used <= moved


def test_spheres_touch_at_the_sum_of_their_radii():
    tree = biped()
    q = ca.DM(posture(tree, np.random.default_rng(4))[0])
    at = Instant(tree=tree, s=0.0, T=1.0, q=q, qd=q, qdd=q, forces=Forces(inverse=inverse))
    distance = float(ca.norm_2(at.position("toe_left") - at.position("toe_right")))
    constraint = apart(
        "feet", [(("toe_left", 0.03), ("toe_right", 0.05)), (("head", 0.1), ("toe_left", 0.1))]
    )
    assert constraint.lower == pytest.approx((0.08**2, 0.2**2)) and constraint.labels == (
        "toe_left and toe_right",
        "head and toe_left",
    )
    assert rows(constraint, at)[0] == pytest.approx(distance**2)


@pytest.mark.parametrize(("hips", "sign"), [((0.3, 0.2), 1), ((-0.3, -0.2), 1), ((0.3, -0.2), -1)])
def test_limbs_that_swing_together_reach_to_the_same_side(hips, sign):
    tree = biped()
    q = np.zeros(tree.dof)
    q[[tree.coordinate(f"hip_{side}") for side in ("right", "left")]] = hips
    at = Instant(
        tree=tree,
        s=0.0,
        T=1.0,
        q=ca.DM(q),
        qd=ca.DM(q),
        qdd=ca.DM(q),
        forces=Forces(inverse=inverse),
    )
    constraint = swing_together(
        "coupling", ("head", "toe_right"), ("head", "toe_left"), along=(1, 0, 0)
    )
    reaches = [float(at.position(f"toe_{side}")[0]) for side in ("right", "left")]
    assert rows(constraint, at) == pytest.approx(np.prod(reaches))
    assert constraint.lower == pytest.approx(-(0.02**2))  # m2: so near to hanging they do so


def test_a_sphere_keeps_behind_over_or_under_a_box_and_never_before_it():
    def margin(height, ahead):
        center, up, forth = np.zeros(3), ca.DM([0, 0, 1]), ca.DM([1, 0, 0])
        at = SimpleNamespace(position=lambda point: ca.DM([ahead, 0.4, height]))
        rule = off_box("box", lambda _: (ca.DM(center), (up, forth)), (0.2, 0.3), {"elbow": 0.05})
        return float(rule.function(at)) - rule.lower_of(0)

    assert margin(0.0, -0.36) > 0 and margin(0.26, 0.0) > 0 and margin(-0.26, 0.0) > 0
    for height, ahead in ((0.0, 0.0), (0.0, -0.34), (0.24, 0.0), (0.0, 0.36), (0.0, 5.0)):
        assert margin(height, ahead) < 0, (height, ahead)
    assert margin(0.25, -3.0) > 1 and margin(0.24, 0.5) < 0 < margin(0.26, 0.5)
