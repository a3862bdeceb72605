"""The optimum of a program with other numbers, as the quadratic model at the old one foretells."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from whole_graphs import program_of

from ocp.solvers import Solver, minimize
from ocp.solvers.optimum.predicted_optimum import predict_optimum

INF = np.inf


def pushed(p, bend=0.0):
    """(x0 - p)^2 + (x1 + 0.5)^2 + bend x0^4 with x0 <= 1 and x0 + x1 >= 0."""
    x = ca.SX.sym("x", 2)
    f = (x[0] - p) ** 2 + (x[1] + 0.5) ** 2 + bend * x[0] ** 4
    return program_of(x, f, x[0] + x[1], upper=[1.0, INF], g_upper=INF)


def optimum_of(nlp):
    outcome = minimize(nlp, Solver(), np.zeros(2))
    assert outcome.success
    return {name: getattr(outcome, name) for name in ("x", "x_multipliers", "g_multipliers")}


@pytest.mark.parametrize("p", [-2.0, 0.9, 1.4, 5.0])
def test_bounds_and_rows_become_active_and_let_go(p):
    ahead = predict_optimum(pushed(p), **optimum_of(pushed(0.2)))
    exact = optimum_of(pushed(p))
    np.testing.assert_allclose(ahead.x, exact["x"], atol=1e-3)
    np.testing.assert_allclose(ahead.x_multipliers, exact["x_multipliers"], atol=1e-3)
    np.testing.assert_allclose(ahead.g_multipliers, exact["g_multipliers"], atol=1e-3)


def test_a_model_is_off_by_the_second_order():
    begin = optimum_of(pushed(0.7, bend=1.0))
    off = []
    for change in (0.2, 0.1):
        there = pushed(0.7 + change, bend=1.0)
        ahead = predict_optimum(there, **begin)
        off.append(np.abs(ahead.x - optimum_of(there)["x"]).max())
    assert 2.5 < off[0] / off[1] < 6


def test_the_solver_goes_on_from_there_in_few_iterations():
    there, begin = pushed(1.4, bend=1.0), optimum_of(pushed(0.2, bend=1.0))
    ahead = predict_optimum(there, **begin)
    solver = Solver(options=ahead.options)
    multipliers = {"x_multipliers": ahead.x_multipliers, "g_multipliers": ahead.g_multipliers}
    outcome = minimize(there, solver, ahead.x, **multipliers)
    assert outcome.success and outcome.iterations <= 5
    assert outcome.f == pytest.approx(minimize(there, Solver(), begin["x"]).f, abs=1e-7)
    assert 0 < ahead.iterations <= 12


def test_a_model_without_an_optimum_predicts_nothing():
    below = replace(pushed(0.9), upper=np.array([1.0, 1.0]), g_lower=np.array([5.0]))
    assert predict_optimum(below, **optimum_of(pushed(0.2))) is None


def test_the_model_is_set_up_once():
    nlp, begin = pushed(0.5), optimum_of(pushed(0.4))
    predict_optimum(nlp, **begin)
    made = dict(nlp.made)
    predict_optimum(replace(nlp, upper=np.array([0.2, INF])), **begin)
    assert made and nlp.made == made
