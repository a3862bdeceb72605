"""Second-order conditions by numbers: minima, saddles and rows that follow from others."""

import casadi as ca
import numpy as np
import pytest
from whole_graphs import program_of

from ocp.solvers import NLP, Iterate, curvature


def program(f, g=(), g_lower=(), g_upper=(), size=2, lower=-np.inf, upper=np.inf):
    x = ca.MX.sym("x", size)
    rows = ca.vertcat(*(row(x) for row in g)) if g else ca.MX(0, 1)
    sides = {"lower": lower, "upper": upper, "g_lower": g_lower, "g_upper": g_upper}
    return program_of(x, f(x), rows, **sides)


def at(nlp, x, x_multipliers=(0.0, 0.0), g_multipliers=()):
    g = np.array(nlp.constraints(x)).ravel()
    return Iterate(
        x=np.array(x, dtype=float),
        g=g,
        x_multipliers=np.array(x_multipliers, dtype=float),
        g_multipliers=np.array(g_multipliers, dtype=float),
    )


def test_a_saddle_falls_along_its_steepest_way():
    nlp = program(lambda x: x[0] ** 2 - x[1] ** 2)
    bend = curvature(nlp, at(nlp, (0.0, 0.0)))
    np.testing.assert_allclose(bend.eigenvalues, [-2.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(np.abs(bend.steepest), [0.0, 1.0], atol=1e-12)
    assert not bend.strict


def test_a_row_that_holds_the_way_down_makes_a_saddle_a_minimum():
    nlp = program(lambda x: x[0] ** 2 - x[1] ** 2, [lambda x: x[1]], [0.0], [0.0])
    bend = curvature(nlp, at(nlp, (0.0, 0.0), g_multipliers=[0.0]))
    np.testing.assert_allclose(bend.eigenvalues, [2.0], atol=1e-12)
    assert bend.strict and (bend.rows, bend.rank, bend.equalities) == (1, 1, 1)


def test_the_curvature_of_rows_counts_by_their_multipliers():
    # least x1 on the circle of radius 1: at (0, -1), bent by the circle alone
    nlp = program(lambda x: x[1], [lambda x: ca.dot(x, x)], [1.0], [1.0])
    bend = curvature(nlp, at(nlp, (0.0, -1.0), g_multipliers=[0.5]))
    np.testing.assert_allclose(bend.eigenvalues, [1.0], atol=1e-12)
    top = curvature(nlp, at(nlp, (0.0, 1.0), g_multipliers=[-0.5]))
    np.testing.assert_allclose(top.eigenvalues, [-1.0], atol=1e-12)


def test_rows_that_follow_from_others_are_counted():
    rows = [lambda x: x[0] + x[1], lambda x: 2 * x[0] + 2 * x[1]]
    nlp = program(lambda x: ca.dot(x, x), rows, [0.0, 0.0], [0.0, 0.0])
    bend = curvature(nlp, at(nlp, (0.0, 0.0), g_multipliers=[0.0, 0.0]))
    assert (bend.rows, bend.rank, bend.dependent) == (2, 1, 1)
    assert bend.strict


def test_bounds_hold_and_one_without_a_multiplier_leaves_a_doubt():
    nlp = program(lambda x: x[1] - x[0] ** 2 + x[1] ** 2, lower=[0.0, 0.0], upper=[0.0, 9.0])
    bend = curvature(nlp, at(nlp, (0.0, 0.0), x_multipliers=[0.0, -1.0]))
    assert bend.at_bounds == 2 and bend.strict and not len(bend.eigenvalues)
    assert not curvature(nlp, at(nlp, (0.0, 0.0))).strict


def test_a_program_without_derivatives_is_refused():
    nlp = program(lambda x: ca.dot(x, x))
    bare = NLP(
        lower=nlp.lower,
        upper=nlp.upper,
        g_lower=nlp.g_lower,
        g_upper=nlp.g_upper,
        objective=nlp.objective,
        constraints=nlp.constraints,
    )
    with pytest.raises(ValueError, match="curvature: expected a program with exact derivatives"):
        curvature(bare, at(bare, (0.0, 0.0)))
