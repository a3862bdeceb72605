"""Avoidance: limbs keep together, apart, and off what they carry."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, posture, rows
from random_trees import random_motion, random_tree

from ocp import Instant
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics.kinematics import kinematics
from ocp.problem import apart, off_box, off_edges, swing_together
from ocp.problem.instant import Forces


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
    assert constraint.lower == pytest.approx((0.08**2, 0.2**2))
    assert constraint.labels == ("toe_left and toe_right", "head and toe_left")
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


class Placed:
    """An Instant of which only the places of points are asked."""

    def __init__(self, **places):
        self.places = {name: ca.DM(place) for name, place in places.items()}

    def position(self, point):
        return self.places[point]


def room(place, edges=((0.5, 0.0, 0.2),), ahead=(1.0, 0.0, 0.0)):
    keep = off_edges("stairs", edges, ["toe"], up=(0.0, 0.0, 1.0), ahead=ahead)
    return np.array(keep.function(Placed(toe=place))).ravel() - keep.lower


@pytest.mark.parametrize(
    ("place", "free"),
    [
        ((0.4, 0.3, 0.0), True),  # before it, below
        ((0.9, -2.0, 0.25), True),  # beyond it, above
        ((0.4, 0.0, 0.9), True),
        ((0.9, 0.0, 0.2), True),  # on the stair
        ((0.5, 0.0, 0.0), True),  # at its front
        ((0.503, 0.0, 0.197), False),  # inside, next to the edge
        ((0.9, 0.0, 0.199), False),
        ((0.501, 0.0, -3.0), False),
    ],
)
def test_a_spot_keeps_over_or_before_an_edge(place, free):
    assert (room(place) > 0).all() == free


def test_stairs_that_go_down_have_their_edges_behind():
    assert (room((0.6, 0.0, 0.0), ahead=(-1.0, 0.0, 0.0)) > 0).all()
    assert (room((0.4, 0.0, 0.0), ahead=(-1.0, 0.0, 0.0)) < 0).all()


def test_a_share_of_the_way_between_points_keeps_off_every_edge_too():
    spots = ["heel", ("heel", "toe", 0.25)]
    edges = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.5)]
    keep = off_edges("stairs", edges, spots, up=(0.0, 0.0, 1.0), ahead=(1.0, 0.0, 0.0))
    at = Placed(heel=(0.0, 0.0, 0.4), toe=(4.4, 0.0, 0.0))  # a quarter on: 0.3 above x = 1.1
    free = np.array(keep.function(at)).ravel() >= keep.lower
    assert free.tolist() == [True, True, True, False]
    assert keep.labels[-1] == "heel to toe off edge 2"
