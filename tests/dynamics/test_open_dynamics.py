"""Dynamics of trees with open numbers: with given ones it is that of the tree stated with these."""

import casadi as ca
import numpy as np
from ocp.models.two_link import two_link
from open_trees import numbers_of, opened_tree
from random_trees import over, random_loads, random_motion, random_tree

from ocp import Parameter
from ocp.dynamics import composite, newton_euler
from ocp.mechanics.parameters import closed


def opened(seed, parts=("bodies", "joints", "points")):
    """A small random tree opened, the values given, the tree with these, a motion and loads."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1 + int(4 * rng.random() ** 2))
    motion, loads = random_motion(rng, tree), random_loads(rng, tree, seed % 3)
    open_tree, values = opened_tree(rng, tree, parts)
    return open_tree, values, closed(open_tree, values), [*map(ca.DM, motion)], loads


def assert_same(expressions, values, numbers):
    for expression, number in zip(expressions, numbers, strict=True):
        wanted = np.array(ca.DM(number))
        size = max(1.0, np.abs(wanted).max(initial=0.0))
        np.testing.assert_allclose(
            numbers_of(expression, values), wanted, rtol=0, atol=1e-12 * size
        )


@over(range(8))
def test_torques_and_reactions_are_those_of_the_numbers(seed):
    tree, values, shut, motion, loads = opened(seed)
    torques = [newton_euler.inverse(each, *motion, loads) for each in (tree, shut)]
    assert_same(torques[:1], values, torques[1:])
    reactions = [newton_euler.reactions(each, *motion, loads) for each in (tree, shut)]
    assert_same(reactions[0], values, reactions[1])


@over(range(8, 14))
def test_first_and_second_derivatives_are_those_of_the_numbers(seed):
    tree, values, shut, motion, loads = opened(seed)
    slopes = [composite.sensitivity(each, *motion, loads) for each in (tree, shut)]
    assert_same(slopes[0], values, slopes[1])
    multipliers = ca.DM(np.random.default_rng(seed).standard_normal(tree.dof))
    curves = [composite.curvature(each, multipliers, *motion, loads) for each in (tree, shut)]
    assert_same(curves[0], values, curves[1])


def test_a_free_mass_adds_its_own_products_and_no_more():
    """Where a mass stands the graph has its symbol; all else folds as it did."""
    given = two_link(gravity=9.81)
    tip = given.links[-1]
    heavy = Parameter("heavy", tip.mass, "kg")
    counts = []
    for mass in (tip.mass, heavy):
        tree = type(given)(
            links=[
                *given.links[:-1],
                type(tip)(mass=mass, com=tip.com, inertia=tip.inertia),
            ],
            joints=given.joints,
            points=given.points,
            gravity=given.gravity,
        )
        motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
        torques = newton_euler.inverse(tree, *motion)
        graph = ca.Function("graph", [*motion, heavy.expression], [torques])
        counts.append(graph.n_instructions())
    assert counts[0] < counts[1] <= 1.3 * counts[0]
