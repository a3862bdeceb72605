"""Equalities that follow from others are found, and a program without them ends."""

import casadi as ca
import numpy as np
import pytest
from whole_graphs import program_of

from ocp.solvers import Solver, independent_rows, minimize, violation, with_rows


def program(constraints, lower, upper, fixed=()):
    """The squared distance from (1, 2, 3) under constraints of x (3,)."""
    x, least, most = ca.MX.sym("x", 3), np.full(3, -np.inf), np.full(3, np.inf)
    for k in fixed:
        least[k] = most[k] = 0.5
    f, sides = ca.sumsqr(x - ca.DM([1, 2, 3])) / 2, {"g_lower": lower, "g_upper": upper}
    return program_of(x, f, constraints(x), lower=least, upper=most, **sides)


def test_rows_that_follow_from_those_before_are_left_out():
    nlp = program(
        lambda x: ca.vertcat(x[0] + x[1], x[1] - x[2], x[0] + x[2], 2 * x[0] + 2 * x[1], x[0]),
        (1, 0, 1, 2, -9),
        (1, 0, 1, 2, 9),
    )
    assert independent_rows(nlp, np.ones(3)).tolist() == [0, 1, 4]
    only = program(lambda x: ca.vertcat(x[0], x[0] + x[1]), (0.5, 1), (0.5, 1), fixed=(0,))
    assert independent_rows(only, np.ones(3)).tolist() == [1]  # the first moves nothing


def test_rows_that_nearly_follow_are_left_out_where_that_is_asked():
    nlp = program(lambda x: ca.vertcat(x[0], x[0] + 1e-4 * x[1], x[2]), (1, 1, 1), (1, 1, 1))
    assert independent_rows(nlp, np.ones(3)).tolist() == [0, 1, 2]
    assert independent_rows(nlp, np.ones(3), 1e-3).tolist() == [0, 2]


@pytest.mark.parametrize("shift", [0.0, 0.1], ids=["consistent", "contradictory"])
def test_rows_left_out_hold_where_they_do_not_contradict(shift):
    nlp = program(
        lambda x: ca.vertcat(x[0] + x[1], 2 * x[0] + 2 * x[1]), (1, 2 + shift), (1, 2 + shift)
    )
    kept = independent_rows(nlp, np.ones(3))
    outcome = minimize(with_rows(nlp, kept), Solver(), np.ones(3))
    assert outcome.success and np.allclose(outcome.x, (0, 1, 3), atol=1e-7)
    missed = violation(np.array(nlp.constraints(outcome.x)).ravel(), nlp.g_lower, nlp.g_upper)
    assert missed.max() == pytest.approx(shift, abs=1e-7)
