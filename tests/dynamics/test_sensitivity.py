"""First derivatives of torques and reactions, against automatic differentiation, differences of
another formulation, and structure."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_tree
from slope_cases import (
    METHODS,
    RECURSIONS,
    TREES,
    assert_close,
    branched_trees,
    differences,
    every_recursion,
    every_tree,
    mechanism,
    some_trees,
    stored,
    symbolic,
    unrelated,
    valued,
)

from ocp import Load
from ocp.dynamics import BARMAN
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.formulations import hollerbach_3x3, newton_euler
from ocp.dynamics.formulations.barman import reaction_sensitivity

matrices_of_any_kind = pytest.mark.parametrize(
    "name", ["hollerbach_4x4", "hollerbach_3x3", "waters", "uicker_kahn", "barman"]
)


@cache
def slopes_by_ad(seed):
    """CasADi's derivatives of newton_euler by motion and loads."""
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    return valued(
        [x, y],
        ca.jacobian(newton_euler.inverse(tree, *arguments), ca.vertcat(x, y)),
        motion,
        wrenches,
    )


# First derivatives of torques


@cache
def slopes_by_differences(seed):
    """Differences of hollerbach_3x3's torques by the motion."""
    tree, motion, _, loads = mechanism(seed)
    x, _, arguments = symbolic(tree, loads)
    torques = ca.Function("torques", [x], [hollerbach_3x3.inverse(tree, *arguments[:3], loads)])
    return differences(lambda moved: np.array(torques(moved)), motion)


@some_trees
@every_recursion
def test_a_recursion_gives_what_casadi_finds_and_the_differences_of_another_formulation(name, seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    actual = valued([x, y], ca.horzcat(*RECURSIONS[name](tree, *arguments)), motion, wrenches)
    assert_close(actual, slopes_by_ad(seed)[:, : 3 * tree.dof], 1e-9)
    assert_close(actual, slopes_by_differences(seed), 1e-8)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@over(range(0, TREES, 5))
@matrices_of_any_kind
def test_a_load_may_vary_with_time(name, seed, kind):
    tree, motion, _, loads = mechanism(seed)
    x, _, arguments = symbolic(tree, (), kind)
    t = kind.sym("t")
    varying = tuple(
        Load(point=load.point, moment=ca.cos(t) * ca.DM(load.moment), force=ca.vertcat(t, t**2, 1))
        for load in loads
    )
    expected = ca.jacobian(newton_euler.inverse(tree, *arguments[:3], varying), x)
    actual = ca.horzcat(*METHODS[name].sensitivity(tree, *arguments[:3], varying))
    assert_close(*(valued([x, t], part, motion, 0.7) for part in (actual, expected)), 1e-9)


@some_trees
def test_torques_follow_the_loads(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    actual = valued([x, y], composite_bodies.sensitivity(tree, *arguments)[3], motion, wrenches)
    assert_close(actual, slopes_by_ad(seed)[:, 3 * tree.dof :], 1e-9)


@branched_trees
@every_recursion
def test_joints_of_different_branches_share_no_entry(name, seed):
    tree, _, _, loads = mechanism(seed, branching=0.8)
    for matrix in RECURSIONS[name](tree, *symbolic(tree, loads)[2]):
        assert matrix.shape == (tree.dof, tree.dof)
        assert not (stored(matrix) & unrelated(tree)).any()


@matrices_of_any_kind
def test_a_tree_that_cannot_move_has_empty_derivatives(name):
    tree, still = random_tree(np.random.default_rng(0), 3, kinds=("fixed",)), ca.DM(0, 1)
    assert [part.shape for part in METHODS[name].sensitivity(tree, still, still, still)] == [
        (0, 0)
    ] * 3


# What joints carry


@every_tree
def test_barman_gives_the_torques_and_reactions_of_newton_and_euler(seed):
    tree, motion, _, loads = mechanism(seed)
    arguments = *(ca.DM(part) for part in np.split(motion, 3)), loads
    assert_close(
        *(np.array(method.inverse(tree, *arguments)) for method in (BARMAN, newton_euler)), 1e-12
    )
    assert_close(
        *(
            np.array(ca.vertcat(*method.reactions(tree, *arguments)))
            for method in (BARMAN, newton_euler)
        ),
        1e-12,
    )


@some_trees
def test_barman_gives_the_derivatives_of_the_reactions(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    expected = ca.jacobian(ca.vec(ca.vertcat(*newton_euler.reactions(tree, *arguments))), x)
    actual = ca.horzcat(*reaction_sensitivity(tree, *arguments))
    assert actual.shape == (6 * len(tree.links), 3 * tree.dof)
    assert_close(*(valued([x, y], part, motion, wrenches) for part in (actual, expected)), 1e-9)
