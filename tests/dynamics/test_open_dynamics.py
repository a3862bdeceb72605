"""Dynamics of trees with open numbers: with given ones it is that of the tree stated with these."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from flexible_trees import mixed
from open_trees import Opening, numbers_of, opened_tree
from random_trees import random_loads, random_motion, random_tree

from ocp import Load, Parameter, forward_dynamics
from ocp.dynamics import BOOK, FORMULATIONS, derivatives_of, mass_matrix, tabulate
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.formulations import barman, lie_group, newton_euler
from ocp.dynamics.tables.lookup import Tabulated
from ocp.mechanics.flexible.link_modes import with_stiffness_factor
from ocp.mechanics.kinematics.kinematics import kinetic_energy, potential_energy
from ocp.mechanics.values.parameters import with_values
from ocp.models.arms.two_link import two_link

SEEDS = (4, 21)  # a branched tree and a chain, together of all four kinds of joint
every_seed = pytest.mark.parametrize("seed", SEEDS)


@cache
def opened(seed):
    """A small random tree opened, the values given, the tree with these, a motion and loads."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1 + int(4 * rng.random() ** 2), massless=0)
    motion, loads = random_motion(rng, tree), random_loads(rng, tree, 1 + seed % 2)
    open_tree, values = opened_tree(rng, tree)
    return open_tree, values, with_values(open_tree, values), tuple(map(ca.DM, motion)), loads


def assert_same(function, seed):
    """Assert that function(tree, motion, loads), matrices, gives open and closed the same."""
    tree, values, shut, motion, loads = opened(seed)
    actual, wanted = (
        numbers_of(ca.vertcat(*map(ca.vec, function(each, motion, loads))), values)
        for each in (tree, shut)
    )
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))


@every_seed
def test_every_formulation_is_that_of_the_numbers(seed):
    def torques(tree, motion, loads):
        return [each.inverse(tree, *motion, loads) for each in FORMULATIONS.values()]

    assert_same(torques, seed)


@every_seed
def test_reactions_are_those_of_the_numbers(seed):
    def reactions(tree, motion, loads):
        both = (method.reactions(tree, *motion, loads) for method in (newton_euler, barman))
        return [part for pair in both for part in pair]

    assert_same(reactions, seed)


@every_seed
def test_first_and_second_derivatives_are_those_of_the_numbers(seed):
    assert_same(
        lambda tree, motion, loads: composite_bodies.sensitivity(tree, *motion, loads), seed
    )
    assert_same(
        lambda tree, motion, loads: composite_bodies.curvature(tree, motion[0], *motion, loads),
        seed,
    )


def test_derivatives_that_were_published_are_those_of_the_numbers():
    def slopes(tree, motion, loads):
        own = [each.sensitivity for each in FORMULATIONS.values() if each.sensitivity]
        return [part for each in own for part in each(tree, *motion, loads)]

    assert_same(slopes, SEEDS[1])


@every_seed
def test_accelerations_and_inertia_are_those_of_the_numbers(seed):
    assert_same(lambda tree, motion, loads: [mass_matrix(tree, motion[0])], seed)
    assert_same(lambda tree, motion, loads: [forward_dynamics(tree, *motion, loads)], seed)
    assert_same(
        lambda tree, motion, loads: lie_group.hybrid(
            tree, *motion, [k % 2 == 0 for k in range(tree.dof)], loads
        ),
        seed,
    )


@pytest.mark.parametrize("seed", (0, 3))
def test_trees_that_bend_take_open_bodies_gravity_stiffness_and_damping(seed):
    given, _, *motion, loads = mixed(seed)
    opening, factor = Opening(np.random.default_rng(seed)), Parameter("factor", 1.0)
    links = tuple(
        opening.body(link) if link.modes is None else replace(link, modes=softened(link, factor))
        for link in given.links
    )
    tree = replace(given, links=links, gravity=opening.vector(given.gravity))
    values, motion = opening.values | {factor: 1.4}, [*map(ca.DM, motion)]

    def answers(each):
        parts = [
            BOOK.inverse(each, *motion, loads),
            forward_dynamics(each, *motion, loads),
            ca.vec(BOOK.reactions(each, *motion, loads)[1]),
            kinetic_energy(each, *motion[:2]),
            potential_energy(each, motion[0]),
        ]
        return numbers_of(ca.vertcat(*parts), values)

    wanted = answers(with_values(tree, values))
    size = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(answers(tree), wanted, rtol=0, atol=1e-12 * size)


def softened(link, factor):
    """The modes of a link with stiffness and damping times a factor."""
    return replace(
        with_stiffness_factor(link.modes, factor), damping=factor * np.array(link.modes.damping)
    )


def with_tip(mass):
    """The arm of two links, its outer one of that mass."""
    arm = two_link(gravity=9.81)
    return replace(arm, links=(arm.links[0], replace(arm.links[1], mass=mass)))


def test_an_open_mass_costs_products_with_it_and_nothing_else():
    heavy = Parameter("heavy", with_tip(0.5).links[1].mass, "kg")
    counts = []
    for mass in (heavy.value, heavy):
        motion = [ca.SX.sym(name, 2) for name in ("q", "qd", "qdd")]
        torques = newton_euler.inverse(with_tip(mass), *motion)
        counts.append(ca.Function("graph", [*motion, heavy.expression], [torques]).n_instructions())
    assert counts[0] < counts[1] <= 1.3 * counts[0]


def test_an_open_load_is_a_parameter_times_its_torques():
    tree, push = with_tip(0.5), Parameter("push", 3.0, "N")
    motion = (ca.DM([0.3, -0.4]), ca.DM([1.0, 2.0]), ca.DM([0.5, 0.6]))
    for formulation in FORMULATIONS.values():
        open_one, given = (
            formulation.inverse(tree, *motion, (Load(point="tip", force=(force, 0, -2 * force)),))
            for force in (push, 5.0)
        )
        np.testing.assert_allclose(numbers_of(open_one, {push: 5.0}), np.array(given), atol=1e-13)


def test_derivatives_of_an_own_formulation_are_checked_at_the_own_values():
    tree = with_tip(Parameter("heavy", 0.5, "kg"))
    own = replace(FORMULATIONS["newton_euler"], name="own")
    assert derivatives_of(own, "recursive", tree) is own.derivatives


def test_tables_refuse_parameters_by_name():
    with pytest.raises(ValueError, match="table: expected numbers, got the parameters heavy"):
        tabulate(with_tip(Parameter("heavy", 0.5, "kg")), Tabulated(points=5))
