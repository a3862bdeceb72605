"""Parts of the search of our interior point: filter, refined steps, corrections, and its words."""

import casadi as ca
import numpy as np
import pytest
from stated_programs import stated

from ocp.interior_point.condensed_systems import row_space
from ocp.interior_point.filter import LESS_PHI, LESS_THETA, Filter, Trial, is_sufficient
from ocp.interior_point.interior_point import REFINED, Search, SearchResult, Settings
from ocp.interior_point.iterate import Point, fraction_to_boundary, residuals
from ocp.interior_point.system_and_initial_point import initial_point
from ocp.solvers import NLP, Solver, minimize
from ocp.solvers.solver_backend import Start

OURS = Solver(plugin="structured")
INF = np.inf


def circle():
    """Maratos (1978): a circle, on which full steps raise objective and violation."""
    x = ca.SX.sym("x", 2)
    return NLP(
        lower=np.full(2, -INF),
        upper=np.full(2, INF),
        g_lower=np.zeros(1),
        g_upper=np.zeros(1),
        objective=ca.Function("f", [x], [2 * (ca.sumsqr(x) - 1) - x[0]]),
        constraints=ca.Function("g", [x], [ca.sumsqr(x) - 1]),
    )


def search_at(nlp, start):
    """A search whose linear system is that of its first point, and the point."""
    stage, v = stated(nlp, start)
    search = Search(stage, Settings(), lambda point: False)
    point = initial_point(stage, Start(x=np.array(start)), v)
    search.filter.begin(point.theta)
    stage.linearise(point.v, point.y, point.derivatives)
    return search, point


def test_a_step_that_its_slacks_alone_make_worse_is_taken_with_slacks_at_their_rows():
    x = ca.SX.sym("x")
    bent = NLP(
        lower=np.array([-INF]),
        upper=np.array([INF]),
        g_lower=np.array([0.0, -200.0]),
        g_upper=np.array([0.0, 200.0]),
        objective=ca.Function("f", [x], [x**2]),
        constraints=ca.Function("g", [x], [ca.vertcat(x - 1, 100 * x * (1 - x))]),
    )
    search, point = search_at(bent, [0.0])
    assert search._factorise(point)
    dv, dy = search._direction(point, point.values)
    assert search._trial(point.v + dv).theta > 50 * point.theta
    assert search._follow_rows(point, (dv, dy)) is None  # as where feasibility is restored
    search.follow = search.stage.program.with_slacks_at_rows
    found = search._follow_rows(point, (dv, dy))
    assert found.v == pytest.approx([1.0, 0.0], abs=1e-6)
    assert found.theta < 1e-6 * point.theta
    search.filter.largest = -1.0  # which admits nothing
    assert search._follow_rows(point, (dv, dy)) is None


def test_a_filter_admits_what_is_better_than_a_point_by_a_margin_alone():
    kept, theta, phi = Filter(), 1e-2, 3.0
    kept.begin(theta)
    kept.add(theta, phi)
    worse = 2 * phi
    for share, admitted in ((0.5, False), (2.0, True)):
        nearer = Trial(theta=(1 - share * LESS_THETA) * theta, phi=worse)
        lower = Trial(theta=2 * theta, phi=phi - share * LESS_PHI * theta)
        assert kept.admits(nearer) is admitted
        assert kept.admits(lower) is admitted


def test_a_step_is_taken_that_is_better_than_its_start_by_a_margin_alone():
    kept, here = Filter(), Trial(theta=1e-2, phi=3.0)
    kept.begin(1.0)
    for share, taken in ((0.5, False), (2.0, True)):
        nearer = Trial(theta=(1 - share * LESS_THETA) * here.theta, phi=4.0)
        lower = Trial(theta=2 * here.theta, phi=here.phi - share * LESS_PHI * here.theta)
        assert is_sufficient(here, nearer, 1.0, 1.0, kept) is taken
        assert is_sufficient(here, lower, 1.0, 1.0, kept) is taken


@pytest.mark.parametrize("phi", [0.03, 3.0, 300.0])
def test_what_rounding_of_terms_near_one_may_leave_is_no_rise(phi):
    kept, here, noise = Filter(), Trial(theta=0.0, phi=phi), np.finfo(float).eps * max(1.0, phi)
    kept.begin(0.0)
    kept.add(0.0, phi)
    for share, taken in ((5, True), (20, False)):
        trial = Trial(theta=0.0, phi=phi + share * noise)
        assert is_sufficient(here, trial, -1e-14, 1.0, kept) is taken


def test_margins_are_those_of_the_paper():
    assert (LESS_THETA, LESS_PHI) == (1e-5, 1e-8)  # Waechter & Biegler (2006), section 4


@pytest.mark.parametrize("error", [1e-2, 1e-4])
def test_steps_of_an_inexact_factorisation_are_refined(error):
    search, point = search_at(circle(), (0.8, 0.7))
    assert search._factorise(point)
    solve, stage = search.stage.solve, search.stage
    stage.solve = lambda a, b: tuple((1 + error) * each for each in solve(a, b))
    dv, dy = search._direction(point, point.values)
    a = -(point.barrier_slope(search.mu) + stage.jacobian_t_times(point.derivatives, point.y))
    left_a = (
        a
        - stage.hessian_times(dv)
        - search.diagonal * dv
        - stage.jacobian_t_times(point.derivatives, dy)
    )
    left_b = -point.values - stage.jacobian_times(point.derivatives, dv)
    left = max(np.abs(left_a).max(), np.abs(left_b).max())
    assert left <= 10 * REFINED * max(np.abs(a).max(), np.abs(point.values).max())


def test_a_full_step_is_corrected_where_curvature_raises_the_violation():
    search, point = search_at(circle(), (0.8, 0.6))
    point = Point.at(search.stage, point.v, np.array([-1.5]), point.z_lower, point.z_upper)
    search.stage.linearise(point.v, point.y, point.derivatives)
    assert search._factorise(point)
    dv, dy = search._direction(point, point.values)
    full = search._trial(point.v + dv)
    assert full.theta > point.theta + 0.1 and full.phi > point.f
    found = search._line_search(point, (dv, dy))
    assert found is not None
    assert np.linalg.norm(found.v - point.v) > 0.9 * np.linalg.norm(dv)
    assert found.theta < 0.3 * full.theta


def crowded(seed):
    """A random program of bent rows that are limited on both sides, some equal."""
    rng = np.random.default_rng(seed)
    x, rows, root = ca.SX.sym("x", 8), rng.normal(size=(12, 8)), rng.normal(size=(8, 8))
    middle = rng.normal(size=12)
    wide = np.where(np.arange(12) < 2, 0.0, 1.0)
    return NLP(
        lower=np.full(8, -9.0),
        upper=np.full(8, 9.0),
        g_lower=middle - wide,
        g_upper=middle + wide,
        objective=ca.Function("f", [x], [ca.sumsqr(ca.DM(root) @ x) / 2]),
        constraints=ca.Function("g", [x], [ca.DM(rows) @ x + 0.1 * ca.sumsqr(x)]),
    )


def test_a_corrected_step_is_longer_and_leaves_less_violation_than_the_step_itself_could():
    taken = 0
    for seed in range(40):
        search, point = search_at(crowded(seed), np.zeros(8))
        assert search._factorise(point)
        search.left = residuals(point)
        dv, dy = search._direction(point, point.values)
        lengths = fraction_to_boundary(point, dv, search.mu, search._tau())
        here = Trial(theta=point.theta, phi=point.barrier(search.mu))
        found = search._complementarity_correction(point, here, (dv, dy), *lengths)
        if found is None:
            continue
        taken += 1
        assert found.theta <= (1 - lengths[0]) * point.theta
        assert (found.below > 0).all() and (found.above > 0).all()
        assert (found.z_lower >= 0).all() and (found.z_upper >= 0).all()
    assert taken >= 5


def test_multipliers_of_dependent_rows_are_the_least_that_do():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(3, 7))
    rows = np.vstack([rows, rng.normal(size=(2, 3)) @ rows])
    own = row_space(rows)
    assert own.back.shape == (3, 5) and len(own.along(np.ones(7))) == 4
    pull = rows.T @ rng.normal(size=5)
    y = own.multipliers(pull)
    np.testing.assert_allclose(rows.T @ y, pull, atol=1e-12)
    np.testing.assert_allclose(y, np.linalg.lstsq(rows.T, pull, rcond=1e-10)[0], atol=1e-12)
    right = rows @ rng.normal(size=7)
    np.testing.assert_allclose(rows @ own.least_solution(right), right, atol=1e-12)


@pytest.mark.parametrize(("own", "every", "size"), [(2, 5, 7), (20, 40, 50)])
def test_systems_with_dependent_rows_are_solved_at_once(own, every, size):
    """Without refinement, and with multipliers, where right-hand sides agree with the rows: by
    elimination where variables are in few rows, otherwise in the core."""
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(own, size))
    rows = np.vstack([rows, rng.normal(size=(every - own, own)) @ rows])
    x = ca.SX.sym("x", size)
    nlp = NLP(
        lower=np.full(size, -INF),
        upper=np.full(size, INF),
        g_lower=np.zeros(every),
        g_upper=np.zeros(every),
        objective=ca.Function("f", [x], [ca.sumsqr(x)]),
        constraints=ca.Function("g", [x], [ca.DM(rows) @ x]),
    )
    search, point = search_at(nlp, np.ones(size))
    stage = search.stage
    assert search._factorise(point)
    a, step = rng.normal(size=(2, size))
    b = stage.jacobian_times(point.derivatives, step)
    dv, dy = stage.solve(a, b)
    pulled = (
        stage.hessian_times(dv)
        + search.diagonal * dv
        + stage.jacobian_t_times(point.derivatives, dy)
    )
    np.testing.assert_allclose(pulled, a, atol=1e-11)
    np.testing.assert_allclose(stage.jacobian_times(point.derivatives, dv), b, atol=1e-11)


def test_a_slope_that_leads_uphill_ends_without_success():
    """Since no step along it lowers the objective."""
    x, p = ca.SX.sym("x"), ca.SX.sym("p", 0)
    f = (x - 1) ** 2
    nlp = NLP(
        lower=np.array([-INF]),
        upper=np.array([INF]),
        g_lower=np.zeros(0),
        g_upper=np.zeros(0),
        objective=ca.Function("f", [x], [f]),
        constraints=ca.Function("g", [x], [ca.SX(0, 1)]),
        gradient=ca.Function("grad_f", [x, p], [f, -2 * (x - 1)]),
        jacobian=ca.Function("jac_g", [x, p], [ca.SX(0, 1), ca.SX(0, 1)]),
    )
    outcome = minimize(nlp, OURS, np.array([3.0]))
    assert (outcome.status, outcome.success) == ("Search_Direction_Becomes_Too_Small", False)


STATUSES = [
    *("Search_Direction_Becomes_Too_Small", "Restoration_Failed", "Diverging_Iterates"),
    *("Infeasible_Problem_Detected", "Invalid_Number_Detected", "Maximum_Iterations_Exceeded"),
    *("Maximum_WallTime_Exceeded", "User_Requested_Stop"),
]


@pytest.mark.parametrize("status", STATUSES)
def test_no_end_but_at_an_optimum_is_a_success(monkeypatch, status):
    def run(search, point):
        return SearchResult(point=point, status=status)

    monkeypatch.setattr(Search, "search_from", run)
    outcome = minimize(circle(), OURS, np.array([0.0, 1.0]))
    assert (outcome.status, outcome.success) == (status, False)
