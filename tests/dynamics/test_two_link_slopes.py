"""Torques of the two-link arm and their derivatives, against the closed forms of Xiang, Arora &
Abdel-Malek (2009)."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from slope_cases import METHODS, RECURSIONS, assert_close, every_recursion, symbolic, valued

from ocp import Load, solve
from ocp.models.arms.two_link import INERTIA, LENGTH, MASS, two_link
from ocp.problems.arms.two_link_lift import problem as two_link_lift

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
    moments = weight * np.cos((t1, t1 + t2))
    torques = (
        inertia @ (a1, a2)
        + product * s * np.array([-2 * v1 * v2 - v2**2, v1**2])
        + (moments[0] + moments[1], moments[1])
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
    actual = of_the_arm(lambda *motion: ca.horzcat(*RECURSIONS[name](*motion)), optimal_motion())
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)
