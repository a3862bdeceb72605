"""Slopes of torques by kinematic and inertial parameters: those of differentiation, and cheaper."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from open_trees import opened_tree
from random_trees import random_loads, random_motion, random_tree

from ocp import Parameter
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.models.arms.general_chain import general_chain
from ocp.models.human import human
from ocp.transcription.kernels.custom_derivatives import Torque, count_instructions

SLIDES, TURNS, BRANCHED, SCREW = 6, 2, 12, 4  # seeds of trees, one with a screw


def both(tree, values, motion, loads):
    """Slopes by the recursion and by differentiation of the torques, as expressions."""
    parameters = ca.vertcat(*(each.expression for each in values))
    own = COMPOSITE.parameter_slopes(tree, *motion, loads, parameters)
    torques = FORMULATIONS["newton_euler"].inverse(tree, *motion, loads)
    return own, ca.jacobian(ca.cse(torques), parameters)


def assert_same(tree, values, loads, rng):
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    inputs = ca.vertcat(*motion, *(each.expression for each in values))
    here = np.concatenate([rng.uniform(-1, 1, 3 * tree.dof), list(values.values())])
    functions = [ca.Function("f", [inputs], [each]) for each in both(tree, values, motion, loads)]
    actual, wanted = (np.array(function(here)) for function in functions)
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("seed", [SLIDES, TURNS, BRANCHED])
def test_by_all_numbers_of_a_tree_they_are_those_of_differentiation(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1 + int(8 * rng.random()), massless=0)
    random_motion(rng, tree)
    loads = random_loads(rng, tree, 1 + seed % 2)
    assert_same(*opened_tree(rng, tree), loads, rng)


def masses_open(tree, links):
    """A tree whose links have open masses, and the values (Parameter: number)."""
    made, values = list(tree.links), {}
    for k in links:
        mass = Parameter(f"mass{k}", float(made[k].mass))
        values[mass], made[k] = mass.value, replace(made[k], mass=mass)
    return replace(tree, links=tuple(made)), values


def test_by_masses_of_a_branched_human_they_are_those_of_differentiation():
    tree = human()
    heavy = [k for k, link in enumerate(tree.links) if link.mass][:3]
    assert_same(*masses_open(tree, heavy), (), np.random.default_rng(0))


@pytest.mark.parametrize(("joints", "own", "automatic"), [(5, 190, 618), (10, 215, 1499)])
def test_beside_the_slopes_a_mass_at_the_end_adds_instructions(joints, own, automatic):
    tree, values = masses_open(general_chain(joints), [joints - 1])
    motion = [ca.SX.sym(name, joints) for name in ("q", "qd", "qdd")]
    slopes = COMPOSITE.slope_parts(tree, *motion, ())
    joined = [ca.vec(part) for part in COMPOSITE.join_slopes(tree, slopes)[:3]]
    alone = count_instructions(joined)
    added = [count_instructions([*joined, each]) - alone for each in both(tree, values, motion, ())]
    assert added == pytest.approx([own, automatic], abs=5)


def test_an_open_pitch_is_left_to_differentiation():
    rng = np.random.default_rng(SCREW)
    tree = random_tree(rng, 1 + int(8 * rng.random()), massless=0)
    tree, values = opened_tree(rng, tree)
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    symbols = ca.vertcat(*(each.expression for each in values))
    assert COMPOSITE.parameter_slopes(tree, *motion, (), symbols) is None


@pytest.mark.parametrize(("link", "recursive"), [(19, True), (0, False)])
def test_a_kernel_takes_the_one_with_fewer_instructions(link, recursive):
    """By the mass of a chain's last link the recursion's, of nothing open neither."""
    tree, values = masses_open(general_chain(20), [link] if recursive else [])
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    torque = Torque(
        symbol=ca.SX.sym("tau", tree.dof),
        made=lambda: FORMULATIONS["newton_euler"].inverse(tree, *motion, ()),
        place=ca.vertcat(*motion),
        provider=COMPOSITE,
        tree=tree,
        records=(),
        arguments=(*motion, ()),
        chosen=None,
    )
    symbols = ca.vertcat(ca.SX(0, 1), *(each.expression for each in values))
    assert (torque.parameter_slope(symbols) is not None) == recursive
