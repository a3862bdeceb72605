"""Derivatives of optima by parameters: closed forms, re-solves, and what has no derivative."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from whole_graphs import program_of

from ocp.solvers import Iterate, Solver, minimize
from ocp.solvers.linear_algebra.saddle_point import factorise
from ocp.solvers.nlp import own_residual
from ocp.solvers.optimum.active_set import find_optimum, tighten
from ocp.solvers.optimum.central_path import path_slopes
from ocp.solvers.optimum.optimum_sensitivity import BoundSlopes, sensitivity, unmoved_bounds

INF = np.inf


def program(objective, rows, lower, upper, g_lower=(), g_upper=()):
    """The program of functions of x with exact derivatives."""
    x = ca.SX.sym("x", len(lower))
    sides = {"lower": lower, "upper": upper, "g_lower": g_lower, "g_upper": g_upper}
    return program_of(x, objective(x), ca.densify(ca.vertcat(ca.SX(0, 1), *rows(x))), **sides)


def point_of(nlp, start=None):
    """The tightened point of a program."""
    outcome = minimize(nlp, Solver(), np.zeros(len(nlp.lower)) if start is None else start)
    assert outcome.success
    names = ("x", "g", "x_multipliers", "g_multipliers")
    return tighten(nlp, Iterate(**{name: getattr(outcome, name) for name in names}))


def derivatives(nlp, parameters, bounds=None, start=None):
    """The sensitivity of a program's optimum."""
    return sensitivity(find_optimum(nlp, point_of(nlp, start)), parameters, bounds)


def test_a_projection_moves_as_its_closed_form_says():
    nlp = program(  # (x0 - p)^2 + (x1 - 2 p)^2 with x0 + x1 = p: x = (0, p), J = 2 p^2
        lambda x: (x[0] - x[2]) ** 2 + (x[1] - 2 * x[2]) ** 2,
        lambda x: [x[0] + x[1] - x[2]],
        lower=[-INF, -INF, 1.5],
        upper=[INF, INF, 1.5],
        g_lower=[0.0],
        g_upper=[0.0],
    )
    slope = derivatives(nlp, [2])
    np.testing.assert_allclose(slope.optimum.point.x, [0.0, 1.5, 1.5], atol=1e-12)
    np.testing.assert_allclose(slope.objective, [6.0], rtol=1e-12)
    np.testing.assert_allclose(slope.x[:, 0], [0.0, 1.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(slope.g_multipliers, [[2.0]], rtol=1e-12)
    np.testing.assert_allclose(slope.x_multipliers[:, 0], [0.0, 0.0, -4.0], atol=1e-12)
    assert np.isinf(slope.reach).all() and slope.weak == ("",)


def bounded(p):
    """(x0 - 1)^2 + (x1 - 1)^2 with x0 <= p / 2 and x0 + x1 >= 3 p: a bound and a row that move."""
    return program(
        lambda x: (x[0] - 1) ** 2 + (x[1] - 1) ** 2,
        lambda x: [x[0] + x[1]],
        lower=[-INF, -INF, p],
        upper=[p / 2, INF, p],
        g_lower=[3 * p],
        g_upper=[INF],
    )


def test_bounds_move_the_optimum_that_leans_on_them():
    nlp = bounded(1.0)  # x = (p / 2, 5 p / 2), J = (p / 2 - 1)^2 + (5 p / 2 - 1)^2
    bounds = unmoved_bounds(nlp, 1)
    moving = replace(bounds, upper=np.array([[0.5], [0.0], [0.0]]), g_lower=np.array([[3.0]]))
    slope = derivatives(nlp, [2], moving)
    np.testing.assert_allclose(slope.objective, [7.0], rtol=1e-10)
    np.testing.assert_allclose(slope.x[:, 0], [0.5, 2.5, 1.0], rtol=1e-10)
    np.testing.assert_allclose(slope.g_multipliers, [[-5.0]], rtol=1e-10)  # -2 (x1 - 1)
    np.testing.assert_allclose(slope.x_multipliers[0], [4.0], rtol=1e-10)  # 2 (1 - x0) + 2 (x1 - 1)
    np.testing.assert_allclose(slope.objective, [7.0], rtol=1e-10)
    np.testing.assert_allclose(slope.reach, [[0.6], [INF]], rtol=1e-9)  # where the row lets go
    assert slope.limiting[0, 0] == "row 0"
    assert derivatives(nlp, [2]).objective == pytest.approx([0.0], abs=1e-10)


def curved(p, seed=3, size=12):
    """A program with curved objective and rows, some active, in which p and q are everywhere."""
    rng = np.random.default_rng(seed)
    factor, pull, rows = (ca.DM(rng.normal(size=(k, size))) for k in (size, 1, 6))

    def objective(x):
        y, a, b = x[:size], x[size], x[size + 1]
        return ca.sumsqr(factor @ y - a * pull.T) + b * ca.sum1(ca.exp(y)) + a * b * y[0]

    def constraints(x):
        y, a, b = x[:size], x[size], x[size + 1]
        return [rows[:2, :] @ y + ca.sin(y[:2]) - a * b, rows[2:, :] @ (y + 0.1 * y**2) - b]

    return program(
        objective,
        constraints,
        lower=[*[-0.4] * size, *p],
        upper=[*[0.3] * size, *p],
        g_lower=[0.0, 0.0, *[-INF] * 4],
        g_upper=[0.0, 0.0, *[-0.5] * 4],
    )


@pytest.fixture(scope="module")
def slope_of_curved():
    return derivatives(curved((1.0, 0.6)), [12, 13])


@pytest.mark.parametrize("number", [0, 1])
def test_derivatives_are_those_of_central_differences_of_solves(slope_of_curved, number):
    slope, step = slope_of_curved, 1e-4
    at = slope.optimum
    assert np.count_nonzero(at.held_x[:12]) >= 2 and np.count_nonzero(at.held_g[2:]) >= 1
    assert (slope.reach > step).all()
    points = []
    for sign in (1, -1):
        p = np.array([1.0, 0.6]) + sign * step * np.eye(2)[number]
        points.append(find_optimum(curved(p), point_of(curved(p))).point)
    for name in ("x", "x_multipliers", "g_multipliers"):
        ahead, behind = (getattr(each, name) for each in points)
        measured = (ahead - behind) / (2 * step)
        np.testing.assert_allclose(getattr(slope, name)[:, number], measured, rtol=1e-5, atol=1e-6)
    objective = at.nlp.objective
    measured = float(objective(points[0].x) - objective(points[1].x)) / (2 * step)
    assert slope.objective[number] == pytest.approx(measured, rel=1e-7)


def test_the_reach_ends_where_the_active_set_changes(slope_of_curved):
    slope = slope_of_curved
    side = int(np.argmin(slope.reach[:, 0]))
    step = (-1, 1)[side] * slope.reach[side, 0]
    held = []
    for share in (0.8, 1.3):
        nlp = curved((1.0 + share * step, 0.6))
        near = find_optimum(nlp, point_of(nlp))
        held.append(np.append(near.held_x[:12], near.held_g))
    there = np.append(slope.optimum.held_x[:12], slope.optimum.held_g)
    assert (held[0] == there).all() and (held[1] != there).sum() == 1


def test_an_optimum_is_met_to_rounding():
    nlp = curved((1.0, 0.6))
    assert own_residual(nlp, find_optimum(nlp, point_of(nlp)).point) < 1e-12


def leaning(p):
    """(x0 - p)^2 with x0 <= 1."""
    return program(lambda x: (x[0] - x[1]) ** 2, lambda x: [], lower=[-INF, p], upper=[1.0, p])


def test_a_bound_that_is_about_to_hold_is_named():
    slope = derivatives(leaning(0.9), [1])
    np.testing.assert_allclose(slope.reach, [[INF], [0.1]], rtol=1e-9)
    assert slope.limiting[1, 0] == "variable 0" and slope.weak == ("",)
    at = Iterate(x=np.ones(2), g=np.zeros(0), x_multipliers=np.zeros(2), g_multipliers=np.zeros(0))
    assert sensitivity(find_optimum(leaning(1.0), at), [1]).weak == ("variable 0",)


def test_a_bound_that_a_rough_point_seems_to_lean_on_lets_go():
    leans = {"x_multipliers": np.array([1e-3, 0.0]), "g_multipliers": np.zeros(0)}
    near = find_optimum(
        leaning(0.999), Iterate(x=np.array([0.9995, 0.999]), g=np.zeros(0), **leans)
    )
    np.testing.assert_allclose(near.point.x[0], 0.999, rtol=1e-14)
    assert near.held_x[0] == 0


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (lambda x: (x[0] + x[1] - x[2]) ** 2, "not strict: .* variable [01], variable [01]"),
        (lambda x: x[0] ** 2 - x[1] ** 2, "no minimum"),
        (lambda x: x[0] ** 2 + (x[1] - 1) ** 2, "no optimum: its first-order residual is 2"),
    ],
)
def test_what_is_no_strict_minimum_has_no_derivative(objective, message):
    free, fixed = [-INF, -INF, 0.0], [INF, INF, 0.0]
    nlp = program(objective, lambda x: [], lower=free, upper=fixed)
    none = np.zeros(0)
    at = Iterate(x=np.zeros(3), g=none, x_multipliers=np.zeros(3), g_multipliers=none)
    with pytest.raises(ValueError, match=message):
        sensitivity(find_optimum(nlp, at), [2])


def twice(second):
    """x0^2 + x1^2 with x0 = p stated twice, the second time as 2 x0 = 2 + second (p - 1)."""
    return program(
        lambda x: x[0] ** 2 + x[1] ** 2,
        lambda x: [x[0] - x[2], 2 * x[0] - second * (x[2] - 1), x[1]],
        lower=[-INF, -INF, 1.0],
        upper=[INF, INF, 1.0],
        g_lower=[0.0, 2.0, -1.0],
        g_upper=[0.0, 2.0, 1.0],
    )


def test_rows_that_say_the_same_move_together_or_are_named():
    together = derivatives(twice(2.0), [2])
    np.testing.assert_allclose(together.x[:, 0], [1.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(together.objective, [2.0], rtol=1e-9)
    with pytest.raises(ValueError, match=r"variable 2: active rows .* moved apart: row [01], row"):
        derivatives(twice(3.0), [2])


def test_rows_that_say_the_same_share_no_reach():
    nlp = program(  # x0^2 with x0 >= p stated as a bound and as a row
        lambda x: x[0] ** 2,
        lambda x: [x[0] - x[1]],
        lower=[1.0, 1.0],
        upper=[INF, 1.0],
        g_lower=[0.0],
        g_upper=[INF],
    )
    moving = replace(unmoved_bounds(nlp, 1), lower=np.array([[1.0], [0.0]]))
    for share in (0.0, 0.3, 1.0):
        parts = {"x_multipliers": np.array([-2.0 * share, 0.0]), "x": np.ones(2)}
        at = Iterate(g=np.zeros(1), g_multipliers=np.array([-2.0 * (1.0 - share)]), **parts)
        slope = sensitivity(find_optimum(nlp, at), [1], moving)
        np.testing.assert_allclose(slope.x[:, 0], 1.0, rtol=1e-9)
        assert slope.weak == ("",)


def test_only_fixed_variables_are_parameters_and_derivatives_are_needed():
    nlp = leaning(0.9)
    near = find_optimum(nlp, point_of(nlp))
    with pytest.raises(ValueError, match="variable 0: expected a fixed variable"):
        sensitivity(near, [0])
    with pytest.raises(ValueError, match="expected a program with exact derivatives"):
        find_optimum(replace(nlp, hessian=None), near.point)


def test_slopes_of_bounds_have_the_shapes_of_the_program():
    slopes = unmoved_bounds(bounded(1.0), 2)
    assert isinstance(slopes, BoundSlopes) and slopes.upper.shape == (3, 2)
    assert slopes.g_lower.shape == (1, 2)


def test_a_saddle_point_is_solved_whatever_its_units_and_however_near_to_singular():
    rng = np.random.default_rng(1)
    factor, rows = rng.normal(size=(9, 9)), rng.normal(size=(4, 9))
    units = 10.0 ** rng.integers(-4, 5, size=9)
    rows[3] = rows[2] + 1e-6 * rows[3]  # nearly twice the same
    hessian, rows = (factor + factor.T + 12 * np.eye(9)) * np.outer(units, units), rows * units
    system = factorise(ca.DM(hessian), ca.DM(rows))
    whole = np.block([[hessian, rows.T], [rows, np.zeros((4, 4))]])
    exact = np.append(rng.normal(size=9) / units, rng.normal(size=4))[:, None]
    solved, residual = system.solve(whole @ exact)
    assert system.convex and residual[0] < 1e-11 and system.loose() is None
    np.testing.assert_allclose(solved[:9], exact[:9], rtol=1e-5)


def test_a_chain_of_a_thousand_variables_moves_as_a_straight_line():
    size = 1000  # of springs, from 0 to p, each as long as every other: x_k = p k / (size + 1)

    def energy(x):
        return ca.sumsqr(ca.diff(ca.vertcat(0, x)))

    nlp = program(energy, lambda x: [], lower=[*[-INF] * size, 2.0], upper=[*[INF] * size, 2.0])
    slope = derivatives(nlp, [size], start=np.append(np.zeros(size), 2.0))
    straight = np.arange(1, size + 2) / (size + 1)
    np.testing.assert_allclose(slope.x[:, 0], straight, rtol=1e-9)
    np.testing.assert_allclose(slope.objective, [4.0 / (size + 1)], rtol=1e-9)


def on_path(nlp, parameters):
    """The slopes of a program's central path at a solver's point."""
    outcome = minimize(nlp, Solver(), np.zeros(len(nlp.lower)))
    assert outcome.success
    names = ("x", "g", "x_multipliers", "g_multipliers")
    point = Iterate(**{name: getattr(outcome, name) for name in names})
    return path_slopes(nlp, point, parameters)


def test_the_central_path_has_the_slopes_reach_and_sides_of_a_clear_active_set(slope_of_curved):
    path, near = on_path(curved((1.0, 0.6)), [12, 13]), slope_of_curved.optimum
    np.testing.assert_allclose(path.x, slope_of_curved.x, atol=1e-5)
    np.testing.assert_allclose(path.reach, slope_of_curved.reach.min(axis=0), rtol=1e-4)
    equal = np.append(near.nlp.lower == near.nlp.upper, near.nlp.g_lower == near.nlp.g_upper)
    sides = np.where(equal, 0, np.append(near.held_x, near.held_g))
    assert path.sides.tolist() == sides.tolist()


def test_the_central_path_has_slopes_where_active_rows_nearly_depend_on_each_other():
    nlp = program(  # x0 is pushed onto three rows at once, 1e-10 apart, and follows p
        lambda x: (x[0] - 3) ** 2 + (x[1] - x[0]) ** 2,
        lambda x: [x[0] - x[2], 2 * (x[0] - x[2]), x[0] - x[2] + 1e-6 * (x[1] - x[2])],
        lower=[-INF, -INF, 1.0],
        upper=[INF, INF, 1.0],
        g_lower=[-INF] * 3,
        g_upper=[0.0, 1e-10, 1e-10],
    )
    path = on_path(nlp, [2])
    np.testing.assert_allclose(path.x[:, 0], [1.0, 1.0, 1.0], atol=1e-5)


def test_a_bound_about_to_be_left_is_named_on_the_central_path():
    nlp = program(  # (x - p)^2 with x <= 1 = p
        lambda x: (x[0] - x[1]) ** 2,
        lambda x: [],
        lower=[-INF, 1.0],
        upper=[1.0, 1.0],
    )
    path = on_path(nlp, [1])
    assert 0.1 < path.x[0, 0] < 0.9  # 1 below, 0 above
    assert path.reach[0] < 1e-3


def test_the_central_path_refuses_what_moves_at_no_cost():
    nlp = program(
        lambda x: (x[0] - x[2]) ** 2,
        lambda x: [],
        lower=[-INF, -1.0, 1.0],
        upper=[INF, 1.0, 1.0],
    )
    with pytest.raises(ValueError, match="not strict.*variable 1"):
        on_path(nlp, [2])
