"""Barrier parameter chosen for each step: its model, the place of its minimum, and progress."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from stated_programs import stated

from ocp import solve
from ocp.interior_point.barrier import (
    CENTRED,
    FIXED,
    SECTION,
    Progress,
    best_centring,
    least_by_sections,
    mean_product,
    quality_function,
)
from ocp.interior_point.interior_point import (
    BLOCKED,
    COLLAPSED,
    IMPRECISE,
    SHORT,
    TAU,
    Search,
    Settings,
)
from ocp.interior_point.iterate import fraction_to_boundary, residuals, step_bound_multipliers
from ocp.interior_point.sparse_systems import Augmented
from ocp.interior_point.system_and_initial_point import initial_point
from ocp.problems.swing_ups import cart_pole_swing
from ocp.solvers import NLP, Solver, fronts
from ocp.solvers.solver_backend import Start


def bounded(rng, size=7):
    """A convex program of curved rows, each variable with one bound, two, or none."""
    x, root = ca.SX.sym("x", size), rng.normal(size=(size, size))
    curved = ca.vertcat(ca.sumsqr(x) - size, ca.DM(rng.normal(size=(2, size))) @ x)
    inf = np.full(size, np.inf)
    return NLP(
        lower=np.where(rng.random(size) < 0.7, -rng.uniform(0.5, 2, size), -inf),
        upper=np.where(rng.random(size) < 0.7, rng.uniform(0.5, 2, size), inf),
        g_lower=np.array([0.0, -1.0, -np.inf]),
        g_upper=np.array([0.0, 1.0, 0.5]),
        objective=ca.Function(
            "f", [x], [ca.sumsqr(ca.DM(root) @ x - ca.DM(rng.normal(size=size)))]
        ),
        constraints=ca.Function("g", [x], [curved]),
    )


def begun(rng, nlp=None, **settings):
    """A search that has factorised at a random first point, and that point."""
    nlp = nlp or bounded(rng)
    start = Start(x=rng.normal(size=len(nlp.lower)))
    stage, v = stated(nlp, start.x)
    search = Search(stage, Settings(adaptive=True, **settings), lambda point: False)
    point = initial_point(stage, start, v)
    spread = rng.uniform(0.1, 3.0, size=(2, len(v)))
    point = replace(point, z_lower=point.z_lower * spread[0], z_upper=point.z_upper * spread[1])
    search.filter.begin(point.theta)
    assert search._termination_status(point) == ""
    search._update_barrier(point)
    stage.linearise(point.v, point.y, point.derivatives)
    assert search._factorise(point)
    return search, point


@pytest.mark.parametrize("seed", range(10))
def test_the_quality_is_the_linear_models_squared_residual_after_a_step(seed):
    rng = np.random.default_rng(seed)
    search, point = begun(rng)
    average, sigma = mean_product(residuals(point)), float(10.0 ** rng.uniform(-3, 1))
    steps = []
    for mu in (0.0, sigma * average):
        search.mu = mu
        steps.append(search._direction(point, point.values)[0])
    affine, whole = steps
    quality = quality_function(point, affine, (whole - affine) / sigma, average, TAU)
    length, z_length = fraction_to_boundary(point, whole, sigma * average, TAU)
    z_lower, z_upper = step_bound_multipliers(point, whole, sigma * average, z_length)
    below, above = point.stage.bounds.distances(point.v + length * whole)
    lower, upper = np.isfinite(below), np.isfinite(above)
    products = np.concatenate([z_lower[lower] * below[lower], z_upper[upper] * above[upper]])
    slope = point.derivatives.gradient + point.z
    slope = slope + point.stage.jacobian_t_times(point.derivatives, point.y)
    expected = (
        (1 - z_length) ** 2 * np.mean(slope**2)
        + (1 - length) ** 2 * np.mean(point.values**2)
        + np.mean(products**2)
    )
    assert quality(sigma) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_a_free_step_is_newtons_for_the_parameter_that_it_chooses(seed):
    search, point = begun(np.random.default_rng(seed))
    free = search._free_direction(point)
    newton = search._direction(point, point.values)
    for own, other in zip(free, newton):
        assert own == pytest.approx(other, abs=1e-8 * max(1.0, np.abs(other).max()))
    average = mean_product(residuals(point))
    assert CENTRED[0] * average <= search.mu <= CENTRED[1] * average


@pytest.mark.parametrize("place", [2e-5, 0.3, 0.995, 1.02, 40.0])
def test_the_least_quality_is_found_below_and_above_one(place):
    found = best_centring(lambda sigma: np.log(sigma / place) ** 2, 1e-12, 1e6)
    assert found == pytest.approx(place, rel=0.2)


def test_golden_sections_end_close_by():
    found = least_by_sections(lambda sigma: np.log(sigma / 0.9) ** 2, 0.5, 1.0)
    assert found == pytest.approx(0.9, rel=2 * SECTION)


def test_sigma_keeps_to_limits_of_the_barrier_parameter():
    falling, rising = (lambda sigma: -sigma), (lambda sigma: sigma)
    assert best_centring(falling, 1e-3, 7.0) == pytest.approx(7.0, rel=SECTION)
    assert best_centring(falling, 1e-3, 0.5) == pytest.approx(0.5, rel=SECTION)
    assert best_centring(rising, 1e-3, 7.0) == pytest.approx(1e-3, rel=SECTION)
    assert best_centring(rising, 2.0, 7.0) == pytest.approx(2.0, rel=SECTION)
    assert best_centring(rising, 300.0, 700.0) == 300.0


def test_progress_lowers_objective_or_violation_of_each_former_point():
    _, point = begun(np.random.default_rng(3))
    progress, theta = Progress(), point.theta
    progress.add(point)
    assert not progress.admits(point, 1.0)
    assert progress.admits(replace(point, f=point.f - 1e-3), 1.0)
    assert not progress.admits(replace(point, f=point.f - 1e-6), 1.0)
    assert progress.admits(replace(point, f=point.f - 1e-6), 1e-3)
    better = replace(point, f=point.f + 1.0, values=0.5 * point.values)
    assert progress.admits(better, 1.0)
    progress.add(better)
    progress.add(replace(point, f=point.f - 1.0, values=0.4 * point.values))
    assert progress.pairs == [(point.f - 1.0, pytest.approx(0.4 * theta))]


def test_the_monotone_rule_takes_over_without_progress_until_there_is_some():
    search, point = begun(np.random.default_rng(4))
    average = mean_product(residuals(point))
    search._update_barrier(point)  # the point itself is no progress
    assert not search.free and search.mu == pytest.approx(FIXED * average)
    search._update_barrier(replace(point, f=point.f - 1.0))
    assert search.free


def test_it_takes_over_after_short_steps_until_its_problem_is_solved():
    search, point = begun(np.random.default_rng(5))
    zero = np.zeros_like(point.v), np.zeros_like(point.y)
    for _ in range(BLOCKED):
        search._next_point(point, point.v, 0.5 * SHORT, zero, 1.0)
    search._update_barrier(replace(point, f=point.f - 1.0))
    assert not search.free
    search.mu = 1e-6 * residuals(point).error(0.0)
    search._update_barrier(replace(point, f=point.f - 2.0))
    assert not search.free
    search.mu = 10.0 * residuals(point).error(0.0)  # solved well enough
    search._update_barrier(replace(point, f=point.f - 3.0))
    assert search.free


def test_short_steps_of_the_monotone_rule_end_in_restoration():
    search, point = begun(np.random.default_rng(5))
    zero, found = (np.zeros_like(point.v), np.zeros_like(point.y)), replace(point, f=0.0)
    search.restore = lambda search: found
    for free in (True, False):
        search.free = free
        for _ in range(BLOCKED):
            assert not search._is_stalled(point)
            search._next_point(point, point.v, 0.5 * SHORT, zero, 1.0)
    assert search._is_stalled(point)
    assert not search._is_stalled(replace(point, values=0.0 * point.values))  # feasible
    assert search._restore(point) is found
    assert not search._is_stalled(point)


def test_a_parameter_that_fell_while_curvature_was_shifted_is_raised_to_where_that_began():
    search, point = begun(np.random.default_rng(8))
    better = iter(range(1, 99))
    before = mean_product(residuals(point))
    search.regularized = 0.0
    search._update_barrier(replace(point, f=point.f - next(better)))
    search.left = replace(search.left, products=1e-9 * search.left.products)
    search.regularized, search.mu = 1.0, search._least_mu()
    for _ in range(COLLAPSED - 1):
        search._update_barrier(replace(point, f=point.f - next(better)))
        assert search.free
    search._update_barrier(replace(point, f=point.f - next(better)))
    assert not search.free and search.mu == pytest.approx(FIXED * before)
    search.left = replace(search.left, rows=1e3)
    search._update_barrier(replace(point, f=point.f - next(better)))
    assert not search.free  # until this parameter's problem is solved


def test_a_parameter_that_collapsed_now_and_then_is_left_alone():
    search, point = begun(np.random.default_rng(9))
    for better in range(3 * COLLAPSED):
        apart = better % COLLAPSED == 0
        search.regularized, search.mu = 1.0, search._least_mu() * (1e3 if apart else 1.0)
        search._update_barrier(replace(point, f=point.f - 1.0 - better))
        assert search.free


def test_a_small_parameter_without_shifts_is_left_alone():
    search, point = begun(np.random.default_rng(9))
    search.regularized, search.mu = 0.0, search._least_mu()
    for better in range(2 * COLLAPSED):
        search._update_barrier(replace(point, f=point.f - 1.0 - better))
        assert search.free


def test_a_swing_up_takes_a_third_of_the_monotone_rules_iterations():
    problem, settings = cart_pole_swing.TASK.problem(), cart_pole_swing.TASK.transcription
    adaptive, monotone = (
        solve(problem, settings, Solver(plugin="structured", options={"mu_strategy": rule}))
        for rule in ("adaptive", "monotone")
    )
    assert adaptive.require().objective == pytest.approx(monotone.require().objective, rel=1e-7)
    assert adaptive.statistics["iterations"] < monotone.statistics["iterations"] / 3


@pytest.mark.skipif(not fronts.available(), reason="sparse factors need a C compiler")
def test_steps_that_refinement_cannot_mend_are_taken_by_sparse_factors():
    search, point = begun(np.random.default_rng(6))
    rng, solve_well = np.random.default_rng(7), search.stage.solve

    def solve_badly(a, b):
        return tuple(each * rng.normal(size=each.shape) for each in solve_well(a, b))

    search.stage.solve = solve_badly
    search._step(point)
    assert search.imprecise and not isinstance(search.stage.system, Augmented)
    search.left = replace(search.left, stationarity=0.0, rows=1e-3, products=np.zeros(1))
    found = search._step(point)
    assert isinstance(search.stage.system, Augmented) and not search.imprecise
    assert found is not None and found.theta < point.theta
    assert not search.stage.sharpen(point.derivatives)
    assert IMPRECISE < 1e-3
