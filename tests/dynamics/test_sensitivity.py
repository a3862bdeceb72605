"""Derivatives of inverse dynamics: every recursion against automatic differentiation, finite
differences, structure and closed forms."""

from functools import cache
from itertools import count

import casadi as ca
import numpy as np
import pytest
from ocp.models.two_link import INERTIA, LENGTH, MASS, two_link
from ocp.problems.two_link_lift import problem as two_link_lift
from random_trees import over, random_loads, random_motion, random_tree

from ocp import Load, solve
from ocp.dynamics import (
    BARMAN,
    FORMULATIONS,
    composite,
    hollerbach_3x3,
    hollerbach_4x4,
    newton_euler,
)
from ocp.dynamics.barman import reaction_sensitivity
from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.published import published
from ocp.mechanics import Wrench, poses, wrench_torques

KINDS = ("revolute", "prismatic", "screw", "fixed")
METHODS = FORMULATIONS | {"barman": BARMAN}
RECURSIONS = {name: method.sensitivity for name, method in METHODS.items() if method.sensitivity}
RECURSIONS["composite"] = lambda *motion: composite.sensitivity(*motion)[:3]
TREES = 24  # of 1 to 6 joints, six with each kind of root

every_recursion = pytest.mark.parametrize("name", RECURSIONS)
every_tree = over(range(TREES))
branched_trees = over(range(8, TREES, 3))  # of 3 joints and more


def mechanism(seed, branching=0.3):
    """A random tree of 1 to 6 joints, its root of each kind in turn (a fixed one carries them), q,
    qd and qdd as one vector, up to three loads as another."""
    rng, first = np.random.default_rng(seed), seed % len(KINDS)
    joints, kinds = (
        1 + seed // len(KINDS) % 6 + (KINDS[first] == "fixed"),
        KINDS[first:] + KINDS[:first],
    )
    tree = next(
        tree
        for tree in (random_tree(rng, joints, kinds=kinds, branching=branching) for _ in count())
        if tree.dof
    )
    loads = random_loads(rng, tree, int(rng.integers(4)))
    return (
        tree,
        random_motion(rng, tree).ravel(),
        np.array([(*load.moment, *load.force) for load in loads]).ravel(),
        loads,
    )


def symbolic(tree, loads, kind=ca.SX):
    """Symbols of the motion, q over qd over qdd, and of the loads, moment over force; arguments of
    a formulation made of them."""
    motion, wrenches = kind.sym("motion", 3 * tree.dof), kind.sym("wrenches", 6 * len(loads))
    parts = ca.vertsplit(wrenches, 3)
    acting = tuple(
        Load(point=load.point, moment=parts[2 * k], force=parts[2 * k + 1])
        for k, load in enumerate(loads)
    )
    return motion, wrenches, (*ca.vertsplit(motion, tree.dof), acting)


def valued(symbols, expression, *values):
    """The value (array) of an expression; several columns of values give several results side by
    side."""
    return np.array(ca.Function("valued", symbols, [ca.densify(expression)])(*values))


def assert_close(found, expected, tolerance):
    """Equality within a part of the largest entry that is expected."""
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=0)
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


def differences(function, at, step=0.02):
    """Central differences of eighth order of a function that takes many columns at once: (m, n)
    from (n,) -> (m,).

    In a joint variable the dynamics are sines and cosines of it and its double, times polynomials:
    the error is of order (2 step)^8 / 630.
    """
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    moved = np.hstack(
        [at[:, None] + sign * k * step * np.eye(len(at)) for k in weights for sign in (1, -1)]
    )
    values = function(moved).reshape(-1, len(weights), 2, len(at))
    return np.einsum("mkn,k->mn", values[:, :, 0] - values[:, :, 1], list(weights.values())) / step


def unrelated(tree):
    """Whether neither of two joints carries the other, (n, n)."""
    carried = np.zeros((tree.dof, tree.dof), dtype=bool)
    for k, row in enumerate(tree.rows):
        while row is not None and k >= 0:
            if tree.rows[k] is not None:
                carried[row, tree.rows[k]] = True
            k = tree.parents[k]
    return ~(carried | carried.T)


def stored(matrix):
    """Where a matrix has entries that are not structurally zero."""
    return np.array(ca.DM(matrix.sparsity(), 1)) != 0


# First derivatives of torques


@cache
def slopes_by_differences(seed):
    """Differences of hollerbach_3x3's torques by the motion."""
    tree, motion, _, loads = mechanism(seed)
    x, _, arguments = symbolic(tree, loads)
    torques = ca.Function("torques", [x], [hollerbach_3x3.inverse(tree, *arguments[:3], loads)])
    return differences(lambda moved: np.array(torques(moved)), motion)


@every_tree
@every_recursion
def test_a_recursion_gives_what_casadi_finds_and_the_differences_of_another_formulation(name, seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    found = valued([x, y], ca.horzcat(*RECURSIONS[name](tree, *arguments)), motion, wrenches)
    assert_close(found, slopes_by_ad(seed)[:, : 3 * tree.dof], 1e-9)
    assert_close(found, slopes_by_differences(seed), 1e-8)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@over(range(0, TREES, 5))
@pytest.mark.parametrize("name", ["hollerbach_4x4", "barman"])
def test_a_load_may_vary_with_time(name, seed, kind):
    tree, motion, _, loads = mechanism(seed)
    x, _, arguments = symbolic(tree, (), kind)
    t = kind.sym("t")
    varying = tuple(
        Load(point=load.point, moment=ca.cos(t) * ca.DM(load.moment), force=ca.vertcat(t, t**2, 1))
        for load in loads
    )
    expected = ca.jacobian(newton_euler.inverse(tree, *arguments[:3], varying), x)
    found = ca.horzcat(*METHODS[name].sensitivity(tree, *arguments[:3], varying))
    assert_close(*(valued([x, t], part, motion, 0.7) for part in (found, expected)), 1e-9)


@every_tree
def test_torques_follow_the_loads(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    found = valued([x, y], composite.sensitivity(tree, *arguments)[3], motion, wrenches)
    assert_close(found, slopes_by_ad(seed)[:, 3 * tree.dof :], 1e-9)


@branched_trees
@every_recursion
def test_joints_of_different_branches_share_no_entry(name, seed):
    tree, _, _, loads = mechanism(seed, branching=0.8)
    for matrix in RECURSIONS[name](tree, *symbolic(tree, loads)[2]):
        assert matrix.shape == (tree.dof, tree.dof)
        assert not (stored(matrix) & unrelated(tree)).any()


@pytest.mark.parametrize("name", ["hollerbach_4x4", "barman"])
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


@every_tree
def test_barman_gives_the_derivatives_of_the_reactions(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    expected = ca.jacobian(ca.vec(ca.vertcat(*newton_euler.reactions(tree, *arguments))), x)
    found = ca.horzcat(*reaction_sensitivity(tree, *arguments))
    assert found.shape == (6 * len(tree.links), 3 * tree.dof)
    assert_close(*(valued([x, y], part, motion, wrenches) for part in (found, expected)), 1e-9)


# Second derivatives


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
    *blocks, gradient = composite.join_curvature(
        tree, composite.curvature_parts(tree, multipliers, *arguments)
    )
    assert all(not np.tril(stored(blocks[k]), -1).any() for k in (0, 3))
    assert_close(
        *(valued([x, y], part, motion, wrenches) for part in (whole(tree, blocks), expected)), 1e-9
    )
    assert_close(*(valued([x, y], part, motion, wrenches) for part in (gradient, slope)), 1e-9)


@every_tree
def test_the_curvature_is_the_difference_of_another_gradient(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    slopes = ca.horzcat(*hollerbach_4x4.sensitivity(tree, *arguments[:3], loads))
    gradient = ca.Function("gradient", [x], [slopes.T @ weights(seed, tree)])
    found = whole(tree, composite.curvature(tree, weights(seed, tree), *arguments))[
        : len(motion), : len(motion)
    ]
    assert_close(
        valued([x, y], found, motion, wrenches),
        differences(lambda moved: np.array(gradient(moved)), motion),
        1e-8,
    )


@every_tree
def test_wrenches_that_stay_in_the_ground_have_the_derivatives_that_casadi_finds(seed):
    tree, motion, _, loads = mechanism(seed)
    rng, x, y = (
        np.random.default_rng(seed),
        ca.SX.sym("motion", 3 * tree.dof),
        ca.SX.sym("wrenches", 12),
    )
    parts, arguments, multipliers = (
        ca.vertsplit(y, 3),
        ca.vertsplit(x, tree.dof),
        weights(seed, tree),
    )
    wrenches = tuple(
        Wrench(
            link=str(rng.choice(tree.names)),
            place=rng.standard_normal(3),
            moment=parts[k],
            force=parts[k + 1],
        )
        for k in (0, 2)
    )
    frames = poses(tree, arguments[0])
    torques = newton_euler.inverse(tree, *arguments, loads) - sum(
        wrench_torques(tree, frames, wrench) for wrench in wrenches
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
    for provider in (COMPOSITE, published(FORMULATIONS["lie_group"])):
        slopes = provider.join_slopes(
            tree, provider.slope_parts(tree, *arguments, (*loads, *wrenches))
        )
        *blocks, gradient = provider.join_curvature(
            tree, provider.curvature_parts(tree, multipliers, *arguments, (*loads, *wrenches))
        )
        for found, expected in zip(
            (ca.horzcat(*slopes)[:, wanted], whole(tree, blocks)[wanted, wanted], gradient[wanted]),
            values,
        ):
            assert_close(valued([x, y], found, motion, np.arange(12) - 5.5), expected, 1e-9)


@over(range(0, TREES, 3))
def test_loops_give_what_scalar_graphs_give(seed):
    tree, motion, wrenches, loads = mechanism(seed)
    x, y, arguments = symbolic(tree, loads)
    for parts, join in (
        (composite.slope_parts(tree, *arguments), composite.join_slopes),
        (
            composite.curvature_parts(tree, weights(seed, tree), *arguments),
            composite.join_curvature,
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
    for matrix in composite.curvature(
        tree, ca.SX.sym("multipliers", tree.dof), *symbolic(tree, loads)[2]
    )[:4]:
        assert not (stored(matrix) & unrelated(tree)).any()


# Closed forms of the two-link arm

GRAVITY, FORCE = 9.8062, 10.0  # m/s2, N (Xiang et al. 2009, example 2)
ARM, LIFTED = two_link(gravity=GRAVITY), (Load(point="tip", force=(0, -FORCE, 0)),)


def closed_form(motion):
    """Torques and their derivatives by motion, (2, 7), of Xiang, Arora & Abdel-Malek (2009),
    appendix 1, eqs. 69-82."""
    t1, t2, v1, v2, a1, a2 = motion
    far = LENGTH / 2
    outer, product, c, s = INERTIA + MASS * far**2, MASS * LENGTH * far, np.cos(t2), np.sin(t2)
    weight = np.array(
        [
            MASS * GRAVITY * far + (MASS * GRAVITY + FORCE) * LENGTH,
            MASS * GRAVITY * far + FORCE * LENGTH,
        ]
    )
    fall = weight * np.sin((t1, t1 + t2))
    inertia = np.array(
        [
            [2 * outer + MASS * LENGTH**2 + 2 * product * c, outer + product * c],
            [outer + product * c, outer],
        ]
    )
    held = weight * np.cos((t1, t1 + t2))
    torques = (
        inertia @ (a1, a2)
        + product * s * np.array([-2 * v1 * v2 - v2**2, v1**2])
        + (held[0] + held[1], held[1])
    )
    by_q = [
        [-fall[0] - fall[1], -product * (s * (2 * a1 + a2) + c * (2 * v1 * v2 + v2**2)) - fall[1]],
        [-fall[1], product * (c * v1**2 - s * a1) - fall[1]],
    ]
    by_qd = 2 * product * s * np.array([[-v2, -v1 - v2], [v1, 0]])
    return np.column_stack([torques, by_q, by_qd, inertia])


def states(number):
    """Random motions of the arm, (6, number)."""
    return np.random.default_rng(7).uniform(-3, 3, (6, number))


def of_the_arm(recursion, motions):
    """Values (2, columns, number) of a function of the arm's motion at many motions (6, number)."""
    x, _, (q, qd, qdd, _) = symbolic(ARM, ())
    values = valued([x], recursion(ARM, q, qd, qdd, LIFTED), motions)
    return values.reshape(2, motions.shape[1], -1).swapaxes(1, 2)


@pytest.mark.parametrize("name", METHODS)
def test_every_formulation_and_its_derivative_obey_the_closed_form(name):
    def by_casadi(tree, *motion):
        symbols = [ca.SX.sym(what, 2) for what in ("q", "qd", "qdd")]
        torques = METHODS[name].inverse(tree, *symbols, motion[3])
        graph = ca.Function(
            "graph", symbols, [ca.horzcat(torques, ca.jacobian(torques, ca.vertcat(*symbols)))]
        )
        return graph(*motion[:3])

    expected = np.stack([closed_form(motion) for motion in states(30).T], axis=-1)
    assert_close(of_the_arm(by_casadi, states(30)), expected, 1e-13)


@every_recursion
def test_every_recursion_obeys_the_closed_form(name):
    expected = np.stack([closed_form(motion)[:, 1:] for motion in states(30).T], axis=-1)
    assert_close(
        of_the_arm(lambda *motion: ca.horzcat(*RECURSIONS[name](*motion)), states(30)),
        expected,
        1e-13,
    )


@cache
def optimal_motion():
    """The motion of example 2 at 101 instants, (6, 101)."""
    solution = solve(two_link_lift(points=22)).require()
    t = np.linspace(0, solution.duration, 101)
    return np.vstack([solution.q(t), solution.qd(t), solution.qdd(t)])


@every_recursion
def test_figure_14_sensitivities_at_the_optimum_equal_the_closed_form(name):
    """Xiang et al. (2009) see a close match; the entries reach 5.8, their differences stay below
    1e-12."""
    expected = np.stack([closed_form(motion)[:, 1:] for motion in optimal_motion().T], axis=-1)
    found = of_the_arm(lambda *motion: ca.horzcat(*RECURSIONS[name](*motion)), optimal_motion())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
