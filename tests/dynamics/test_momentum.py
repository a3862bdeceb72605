"""Angular momentum about the centre of mass, and its derivatives, against automatic ones."""

from dataclasses import replace

import casadi as ca
import numpy as np
from flexible_trees import mixed
from mapped_trees import random_mapped_tree
from slope_cases import mechanism, some_trees, valued

from ocp import mechanics
from ocp.dynamics.derivatives.momentum import (
    angular_momentum,
    has_momentum_slopes,
    join_momentum_curvature,
    momentum_curvature_parts,
    momentum_slope,
)


@some_trees
def test_angular_momentum_has_the_derivatives_that_casadi_finds(seed):
    tree, motion, *_ = mechanism(seed)
    assert has_momentum_slopes(tree)
    x, weight = ca.SX.sym("x", 2 * tree.dof), np.random.default_rng(seed).normal(size=3)
    q, qd = ca.vertsplit(x, tree.dof)
    motion, value = motion[: 2 * tree.dof], mechanics.angular_momentum(tree, q, qd)
    bend, gradient = ca.hessian(ca.dot(weight, value), x)
    by_qq, by_q_qd, slope = join_momentum_curvature(
        tree, momentum_curvature_parts(tree, ca.DM(weight), q, qd)
    )
    own = ca.vertcat(
        ca.horzcat(ca.triu2symm(by_qq), by_q_qd), ca.horzcat(by_q_qd.T, ca.SX(tree.dof, tree.dof))
    )
    size = np.abs(valued([x], ca.jacobian(value, x), motion)).max()
    for one, other in (
        (angular_momentum(tree, q, qd), value),
        (momentum_slope(tree, q, qd), ca.jacobian(value, x)),
        (slope, gradient),
        (own, bend),
    ):
        one, other = valued([x], one, motion), valued([x], other, motion)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * (1 + size))


def test_trees_of_balls_flexible_links_or_no_mass_have_no_such_derivatives():
    rng = np.random.default_rng(2)
    tree, *_ = mechanism(5)
    weightless = replace(tree, links=tuple(mechanics.Link() for _ in tree.links))
    assert not any(map(has_momentum_slopes, (random_mapped_tree(rng, 3), mixed(3)[0], weightless)))


def test_the_whole_neither_gains_nor_loses_what_rests_on_the_ground():
    """A turning rod beside a block that stands still."""
    rod = mechanics.Link(mass=2.0, com=(0.5, 0.0, 0.0))
    joints = [mechanics.revolute("hinge", axis=(0, 0, 1)), mechanics.fixed("block")]
    block = mechanics.Link(mass=6.0, com=(0.0, 1.0, 0.0))
    tree = mechanics.Tree(links=[rod, block], joints=joints)
    spin = ca.evalf(angular_momentum(tree, ca.DM([0.0]), ca.DM([3.0])))
    arm, speed, share = np.array([0.5, -1.0, 0.0]), np.array([0.0, 1.5, 0.0]), 6.0 / 8.0
    np.testing.assert_allclose(np.array(spin).ravel(), 2.0 * share * np.cross(arm, speed))
