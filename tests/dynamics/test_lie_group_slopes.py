"""Derivatives of the Lie-group recursions."""

import casadi as ca
import numpy as np
from lie_group_cases import assert_close, by_newton_and_euler, case, split, symbols
from random_trees import over

from ocp.dynamics.formulations import lie_group


@over(range(8))
def test_sensitivity_of_inverse_dynamics_agrees_with_newton_and_euler(seed):
    c = case(seed)
    for actual, expected in zip(
        lie_group.LIE_GROUP.sensitivity(c.tree, c.q, c.qd, c.qdd, c.loads),
        by_newton_and_euler(seed),
    ):
        assert_close(actual, expected, 1e-11)


@over(range(8))
def test_hybrid_sensitivity_equals_automatic_differentiation(seed):
    c, inputs = case(seed), symbols(case(seed).tree)
    outputs = lie_group.hybrid(c.tree, *inputs, c.active, c.loads)
    slopes = ca.Function(
        "slopes", inputs, [ca.jacobian(y, x) for y in outputs for x in inputs]
    ).call([c.q, c.qd, c.known])
    actual = lie_group.hybrid_sensitivity(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    for block, expected in zip((*actual[0], *actual[1]), slopes):
        assert_close(block, expected, 1e-9)


@over(range(8))
def test_hybrid_sensitivity_obeys_the_differentiated_equations_of_newton_and_euler(seed):
    """M dqdd/dx + dtau/dx at fixed qdd = dtau/dx; qdd of an active joint and tau of a passive one
    change with nothing but themselves."""
    c, n = case(seed), case(seed).tree.dof
    by_q, by_qd, mass = by_newton_and_euler(seed)
    rates, torques = lie_group.hybrid_sensitivity(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    for part, rate, torque in zip(
        (by_q, by_qd, np.zeros((n, n))), map(np.array, rates), map(np.array, torques)
    ):
        terms = np.stack([mass @ rate, part, -torque])
        np.testing.assert_allclose(terms.sum(axis=0), 0, atol=1e-8 * np.abs(terms).max(initial=0))
    active, passive = split(c)
    for parts, rows in ((rates, active), (torques, passive)):
        for slope, expected in zip(parts, (0 * by_q, 0 * by_q, np.eye(n))):
            assert (np.array(slope)[rows] == expected[rows]).all()


@over(range(6))
def test_hybrid_sensitivity_is_the_limit_of_differences(seed):
    """Richardson's extrapolation of central differences along a random direction."""
    c, rng = case(seed, largest=6), np.random.default_rng(seed)
    base, ways = np.array(ca.horzcat(c.q, c.qd, c.known)).T, rng.standard_normal((3, c.tree.dof))
    at = lambda step: (
        np.array(
            ca.horzcat(
                *lie_group.hybrid(c.tree, *map(ca.DM, base + step * ways), c.active, c.loads)
            )
        ).T
    )
    slope = lambda step: (at(step) - at(-step)) / (2 * step)
    third = lambda step: (4 * slope(step / 2) - slope(step)) / 3
    expected = (16 * third(1e-3 / 2) - third(1e-3)) / 15
    actual = lie_group.hybrid_sensitivity(c.tree, c.q, c.qd, c.known, c.active, c.loads)
    for parts, rate in zip(actual, expected):
        assert_close(sum(np.array(part) @ way for part, way in zip(parts, ways)), rate, 1e-8)
