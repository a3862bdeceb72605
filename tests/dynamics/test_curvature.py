"""Second derivatives of torques, against automatic differentiation and differences of another
gradient."""

import casadi as ca
import numpy as np
from slope_cases import (
    assert_close,
    branched_trees,
    differences,
    every_tree,
    mechanism,
    some_trees,
    stored,
    symbolic,
    unrelated,
    valued,
)

from ocp.dynamics import FORMULATIONS
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.derivatives.published_recursions import published_provider
from ocp.dynamics.formulations import hollerbach_4x4, newton_euler
from ocp.mechanics import Wrench, motions, wrench_torques


def whole(tree, blocks):
    """The symmetric matrix of second derivatives by motion and loads from the five that do not
    vanish, two of them upper triangles."""
    by_qq, q_qd, q_qdd, by_qd, q_load = blocks
    n, m = tree.dof, q_load.shape[1]
    rows = [
        (ca.triu2symm(by_qq), q_qd, q_qdd, q_load),
        (q_qd.T, ca.triu2symm(by_qd), ca.SX(n, n), ca.SX(n, m)),
        (q_qdd.T, ca.SX(n, 2 * n + m)),
        (q_load.T, ca.SX(m, 2 * n + m)),
    ]
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def weights(seed, tree):
    """Multipliers of the torques."""
    return ca.DM(np.random.default_rng(seed).standard_normal(tree.dof))


@every_tree
def test_the_curvature_is_that_which_casadi_finds(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    multipliers = weights(seed, tree)
    expected, slope = ca.hessian(
        ca.dot(multipliers, newton_euler.inverse(tree, *arguments)), ca.vertcat(x, y)
    )
    *blocks, gradient = composite_bodies.join_curvature(
        tree, composite_bodies.curvature_parts(tree, multipliers, *arguments)
    )
    assert all(not np.tril(stored(blocks[k]), -1).any() for k in (0, 3))
    assert_close(
        *(valued([x, y], part, motion, wrenches) for part in (whole(tree, blocks), expected)), 1e-9
    )
    assert_close(*(valued([x, y], part, motion, wrenches) for part in (gradient, slope)), 1e-9)


@some_trees
def test_the_curvature_is_the_difference_of_another_gradient(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    slopes = ca.horzcat(*hollerbach_4x4.sensitivity(tree, *arguments[:3], loads))
    gradient = ca.Function("gradient", [x], [slopes.T @ weights(seed, tree)])
    actual = whole(tree, composite_bodies.curvature(tree, weights(seed, tree), *arguments))[
        : len(motion), : len(motion)
    ]
    assert_close(
        valued([x, y], actual, motion, wrenches),
        differences(lambda moved: np.array(gradient(moved)), motion),
        1e-8,
    )


@some_trees
def test_wrenches_that_stay_in_the_ground_have_the_derivatives_that_casadi_finds(seed):
    tree, motion, _, loads = mechanism(seed)
    rng = np.random.default_rng(seed)
    x = ca.SX.sym("motion", 3 * tree.dof)
    y = ca.SX.sym("wrenches", 12)
    parts = ca.vertsplit(y, 3)
    arguments = ca.vertsplit(x, tree.dof)
    multipliers = weights(seed, tree)
    wrenches = tuple(
        Wrench(
            link=str(rng.choice(tree.names)),
            place=rng.standard_normal(3),
            moment=parts[k],
            force=parts[k + 1],
        )
        for k in (0, 2)
    )
    moves = motions(tree, arguments[0])
    torques = newton_euler.inverse(tree, *arguments, loads) - sum(
        wrench_torques(tree, moves, wrench) for wrench in wrenches
    )
    values = [
        valued([x, y], part, motion, np.arange(12) - 5.5)
        for part in (
            ca.jacobian(torques, ca.vertcat(x, y)),
            *ca.hessian(ca.dot(multipliers, torques), ca.vertcat(x, y)),
        )
    ]
    wanted = [
        *range(3 * tree.dof),
        *range(3 * tree.dof + 6 * len(loads), 3 * tree.dof + 6 * len(loads) + 12),
    ]
    for provider in (COMPOSITE, published_provider(FORMULATIONS["lie_group"])):
        slopes = provider.join_slopes(
            tree, provider.slope_parts(tree, *arguments, (*loads, *wrenches))
        )
        *blocks, gradient = provider.join_curvature(
            tree, provider.curvature_parts(tree, multipliers, *arguments, (*loads, *wrenches))
        )
        for actual, expected in zip(
            (ca.horzcat(*slopes)[:, wanted], whole(tree, blocks)[wanted, wanted], gradient[wanted]),
            values,
        ):
            assert_close(valued([x, y], actual, motion, np.arange(12) - 5.5), expected, 1e-9)


@some_trees
def test_loops_give_what_scalar_graphs_give(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    for parts, join in (
        (composite_bodies.slope_parts(tree, *arguments), composite_bodies.join_slopes),
        (
            composite_bodies.curvature_parts(tree, weights(seed, tree), *arguments),
            composite_bodies.join_curvature,
        ),
    ):
        values = ca.Function("parts", [x, y], [ca.SX(part) for part in parts]).call(
            [ca.MX(motion), ca.MX(wrenches)]
        )
        looped, scalar = (ca.vertcat(*map(ca.vec, join(tree, given))) for given in (values, parts))
        assert_close(
            np.array(ca.evalf(ca.densify(looped))), valued([x, y], scalar, motion, wrenches), 1e-12
        )


@branched_trees
def test_the_curvature_of_different_branches_is_structurally_zero(seed):
    tree, _, _, loads = mechanism(seed, branching=0.8)
    for matrix in composite_bodies.curvature(
        tree, ca.SX.sym("multipliers", tree.dof), *symbolic(tree, loads)[2]
    )[:4]:
        assert not (stored(matrix) & unrelated(tree)).any()
