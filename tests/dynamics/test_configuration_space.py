"""The configuration space method: equal torques, Christoffel symbols, and tables that converge as
interpolation promises."""

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_loads, random_motion, random_tree

from ocp.dynamics.formulations import newton_euler
from ocp.dynamics.formulations.configuration_space import (
    coriolis,
    dense,
    gravity_vector,
    inertia_matrix,
    inverse,
)
from ocp.models.arms.pr import pr
from ocp.models.arms.two_link import INERTIA, LENGTH, MASS, two_link

KINDS = ("revolute", "prismatic", "screw", "fixed")


def mechanism(seed, largest=6):
    """A random tree of 1 to `largest` joints, its root of each kind in turn, a motion of it, and up
    to three loads."""
    rng, first = np.random.default_rng(seed), seed % len(KINDS)
    tree = random_tree(rng, int(rng.integers(1, largest + 1)), kinds=KINDS[first:] + KINDS[:first])
    return tree, *random_motion(rng, tree), random_loads(rng, tree, seed // len(KINDS) % 4)


def close(actual, expected, tolerance=1e-10):
    """Compare relative to the largest entry."""
    expected = np.array(ca.DM(expected)) if not isinstance(expected, np.ndarray) else expected
    np.testing.assert_allclose(
        np.array(actual),
        expected,
        rtol=0,
        atol=tolerance * max(np.abs(expected).max(initial=0), 1e-300),
    )


@over(range(8))
def test_torques_agree_with_newton_and_euler(seed):
    tree, q, qd, qdd, loads = mechanism(seed)
    motion = [ca.DM(part) for part in (q, qd, qdd)]
    close(inverse(tree, *motion, loads), newton_euler.inverse(tree, *motion, loads))


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_the_same_code_takes_every_kind_of_expression(kind):
    tree, *motion, loads = mechanism(9)
    symbols = [kind.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    close(
        ca.Function("tau", symbols, [inverse(tree, *symbols, loads)])(*motion),
        newton_euler.inverse(tree, *map(ca.DM, motion), loads),
    )


@over(range(12))
def test_the_inertia_matrix_is_symmetric_and_the_slope_of_the_torques(seed):
    tree, q, qd, *_ = mechanism(seed)
    matrix, symbols = np.array(inertia_matrix(tree, ca.DM(q))), ca.SX.sym("qdd", tree.dof)
    assert np.array_equal(matrix, matrix.T)
    close(
        matrix,
        ca.evalf(ca.jacobian(newton_euler.inverse(tree, ca.DM(q), ca.DM(qd), symbols), symbols)),
    )


@over(range(12))
def test_the_gravity_vector_holds_the_tree_at_rest(seed):
    tree, q, *_ = mechanism(seed)
    close(
        gravity_vector(tree, ca.DM(q)),
        newton_euler.inverse(tree, ca.DM(q), *[ca.DM.zeros(tree.dof)] * 2),
    )


@over(range(12))
def test_coriolis_coefficients_are_christoffel_symbols_and_so_make_a_skew_matrix(seed):
    """C_ijk from M by automatic differentiation; and M' - 2 C with C_ij = sum_k C_ijk qd_k is skew,
    so that C does no work on its own."""
    tree, q, qd, *_ = mechanism(seed)
    n = tree.dof
    symbols = ca.SX.sym("q", n)
    slope = ca.jacobian(ca.vec(ca.densify(ca.SX(inertia_matrix(tree, symbols)))), symbols)
    by = np.array(ca.evalf(ca.substitute(slope, symbols, ca.DM(q)))).reshape(
        (n, n, n), order="F"
    )  # dM_ij/dq_k
    expected = (by + by.transpose(0, 2, 1) - by.transpose(2, 0, 1)) / 2
    actual = np.array(
        [np.array(ca.densify(matrix)) for matrix in coriolis(tree, ca.DM(q))]
    ).reshape(n, n, n)
    assert np.array_equal(actual, actual.transpose(0, 2, 1))
    close(actual, expected, 1e-11)
    skew = by @ qd - 2 * actual @ qd
    assert np.abs(skew + skew.T).max(initial=0) <= 1e-11 * max(np.abs(by).max(initial=0), 1e-300)


def test_the_two_link_arm_obeys_its_closed_form():
    """Xiang, Arora & Abdel-Malek (2009), eqs. 69, 70, sorted by accelerations and rates."""
    g, (t1, t2) = 9.8062, (0.7, -1.9)
    arm, half, outer = two_link(gravity=g), LENGTH / 2, INERTIA + MASS * LENGTH**2 / 4
    mixed, bend = outer + MASS * LENGTH * half * np.cos(t2), MASS * LENGTH * half * np.sin(t2)
    far = MASS * g * half * np.cos(t1 + t2)
    close(
        inertia_matrix(arm, ca.DM([t1, t2])),
        np.array([[2 * mixed + MASS * LENGTH**2, mixed], [mixed, outer]]),
        1e-14,
    )
    close(
        ca.horzcat(*map(ca.densify, coriolis(arm, ca.DM([t1, t2])))),
        np.array([[0, -bend, bend, 0], [-bend, -bend, 0, 0]]),
        1e-14,
    )
    close(
        gravity_vector(arm, ca.DM([t1, t2])),
        np.array([[MASS * g * (half + LENGTH) * np.cos(t1) + far], [far]]),
        1e-14,
    )


def test_the_sliding_arm_obeys_its_closed_form():
    """F = 2 m a - m l (sin a2 + cos v2^2), tau = (I + m l^2) a2 - m l sin a, with l = L / 2 and the
    angle from the slide (Barman 2020)."""
    c, s, l, m = np.cos(0.4), np.sin(0.4), LENGTH / 2, MASS
    close(
        inertia_matrix(pr(), ca.DM([0.3, 0.4])),
        np.array([[2 * m, -m * l * s], [-m * l * s, INERTIA + m * l**2]]),
        1e-14,
    )
    close(
        ca.horzcat(*map(ca.densify, coriolis(pr(), ca.DM([0.3, 0.4])))),
        np.array([[0, 0, 0, 0], [0, -m * l * c, 0, 0]]),
        1e-14,
    )


def test_the_dense_graph_gives_the_torques():
    tree, q, qd, qdd, _ = mechanism(4)
    place, (inputs, tau) = ca.DM(q), dense(tree.dof)
    given = [
        gravity_vector(tree, place),
        inertia_matrix(tree, place),
        *coriolis(tree, place),
        qd,
        qdd,
    ]
    close(
        ca.Function("tau", inputs, [tau]).call(given)[0],
        newton_euler.inverse(tree, place, ca.DM(qd), ca.DM(qdd)),
    )
