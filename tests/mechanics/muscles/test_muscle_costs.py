"""Muscles cost few instructions: those that their page tells."""

from itertools import product

import casadi as ca
import numpy as np
import pytest
from calf_leg import GASTROCNEMIUS, LEG

from ocp.mechanics import State
from ocp.mechanics.muscles import (
    PolynomialPath,
    active_force,
    force_velocity,
    passive_force,
)


def instructions(x, value):
    """Instructions of a value, with its gradient, and with its Hessian too."""
    hessian, gradient = ca.hessian(value, x)
    parts = ([value], [value, gradient], [value, gradient, hessian])
    return tuple(ca.Function("cost", [x], ca.cse(each)).n_instructions() for each in parts)


def test_the_force_of_a_fibre_with_its_derivatives():
    x = ca.SX.sym("x", 3)  # length, velocity, activation
    active = x[2] * active_force(x[0]) * force_velocity(x[1])
    assert instructions(x, active + passive_force(x[0]) + 0.01 * x[1]) == (67, 112, 243)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, (18, 29, 51)), (2, (64, 112, 205)), (3, (170, 305, 562)), (4, (381, 688, 1266))],
)
def test_polynomials_of_order_five(count, expected):
    exponents = [each for each in product(range(6), repeat=count) if sum(each) <= 5]
    coefficients = np.random.default_rng(0).normal(size=len(exponents))
    path = PolynomialPath(
        joints=tuple("abcd"[:count]), exponents=exponents, coefficients=coefficients
    )
    x = ca.SX.sym("x", count)
    assert instructions(x, path.polynomial(x)) == expected


def test_a_path_over_two_cylinders():
    q = ca.SX.sym("q", 2)
    state = State(tree=LEG, q=q)
    parts = [GASTROCNEMIUS.length(state), *GASTROCNEMIUS.slope(state).values()]
    assert ca.Function("cost", [q], ca.cse(parts)).n_instructions() <= 2232
