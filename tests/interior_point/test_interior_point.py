"""The interior point of ours finds known optima and IPOPT's, and says so where there are none."""

import signal
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import Solver, Spline, Transcription, solve
from ocp.interior_point import condensed_systems, interior_point_backend
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers import INTERRUPTED, NLP, kkt_residual, minimize
from ocp.solvers.statuses import says_done
from ocp.transcription import transcribe

INF = np.inf
OURS = Solver(plugin="structured")


def program(f, g=lambda x: (), *, size, lower=-INF, upper=INF, least=0.0, most=0.0):
    """Minimise f(x) with rows g(x) within (least, most) each, x within (lower, upper)."""
    x = ca.MX.sym("x", size)
    made = g(x)
    low, high = (np.broadcast_to(np.array(each, float), len(made)) for each in (least, most))
    return NLP(
        lower=np.broadcast_to(np.array(lower, float), size),
        upper=np.broadcast_to(np.array(upper, float), size),
        g_lower=low,
        g_upper=high,
        objective=ca.Function("f", [x], [f(x)]),
        constraints=ca.Function("g", [x], [ca.vertcat(*made) if made else ca.MX(0, 1)]),
    )


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


CASES = {  # Hock & Schittkowski (1981) where numbered: program, start, optimum
    "hs1": (program(rosenbrock, size=2, lower=(-INF, -1.5)), (-2, 1), 0.0),
    "hs6": (
        program(lambda x: (1 - x[0]) ** 2, lambda x: (10 * (x[1] - x[0] ** 2),), size=2),
        (-1.2, 1),
        0.0,
    ),
    "hs7": (
        program(
            lambda x: ca.log(1 + x[0] ** 2) - x[1],
            lambda x: ((1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4,),
            size=2,
        ),
        (2, 2),
        -np.sqrt(3),
    ),
    "hs71": (
        program(
            lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
            lambda x: (x[0] * x[1] * x[2] * x[3], ca.sumsqr(x)),
            size=4,
            lower=1,
            upper=5,
            least=(25, 40),
            most=(INF, 40),
        ),
        (1, 5, 5, 1),
        17.0140173,
    ),
    "no rows and no bounds": (program(rosenbrock, size=2), (-2, 1), 0.0),
    "nothing but fixed variables": (
        program(ca.sumsqr, size=2, lower=(1, 2), upper=(1, 2)),
        (0, 0),
        5.0,
    ),
    "a fixed variable": (
        program(
            lambda x: ca.sumsqr(x - 1),
            lambda x: (ca.sum1(x),),
            size=3,
            lower=(2, -INF, -INF),
            upper=(2, INF, INF),
        ),
        (0, 0, 0),
        9.0,
    ),
    "a row without bounds": (
        program(lambda x: ca.sumsqr(x - 1), lambda x: (x[0] * x[1],), size=2, least=-INF, most=INF),
        (0, 0),
        0.0,
    ),
    "rows that depend on each other": (
        program(
            lambda x: ca.sumsqr(x - 3),
            lambda x: (x[0] + x[1], 2 * x[0] + 2 * x[1]),
            size=2,
            least=(2, 4),
            most=(2, 4),
        ),
        (0, 0),
        8.0,
    ),
    "a row with a very large multiplier": (
        program(lambda x: ca.sumsqr(x - 3), lambda x: (1e-5 * (x[0] + x[1] ** 3 - 2),), size=2),
        (0, 0),
        7.08201659,
    ),
    "curvature that leads away": (
        program(
            lambda x: -x[0] * x[1],
            lambda x: (x[0] + 2 * x[1],),
            size=2,
            lower=0,
            least=-INF,
            most=4,
        ),
        (0.1, 0.1),
        -2.0,
    ),
    "full steps that raise the violation": (  # Maratos (1978)
        program(lambda x: 2 * (ca.sumsqr(x) - 1) - x[0], lambda x: (ca.sumsqr(x) - 1,), size=2),
        (0.8, 0.6),
        -1.0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_known_optimum_is_found_with_its_multipliers(name):
    nlp, start, optimum = CASES[name]
    outcome = minimize(nlp, OURS, np.array(start, float))
    assert outcome.success and outcome.status == "Solve_Succeeded"
    assert outcome.f == pytest.approx(optimum, abs=1e-6)
    assert kkt_residual(nlp, outcome.x, outcome.x_multipliers, outcome.g_multipliers) < 1e-6
    assert len(outcome.history) == outcome.iterations + 1


NONE = {
    "no point within a circle of no size": (
        program(ca.sumsqr, lambda x: (ca.sumsqr(x),), size=2, least=-INF, most=-1.0),
        "Infeasible_Problem_Detected",
    ),
    "rows that contradict each other": (
        program(ca.sumsqr, lambda x: (x[0] + x[1], x[0] + x[1]), size=2, least=(0, 1), most=(0, 1)),
        "Infeasible_Problem_Detected",
    ),
    "bounds that hold a sum down": (
        program(ca.sumsqr, lambda x: (ca.sum1(x),), size=2, lower=0, upper=1, least=3, most=3),
        "Infeasible_Problem_Detected",
    ),
    "a slope without an end": (program(ca.sum1, size=2, lower=(0, -INF)), "Diverging_Iterates"),
    "no number to begin with": (program(lambda x: ca.log(x[0]), size=1), "Invalid_Number_Detected"),
}


@pytest.mark.parametrize("name", NONE)
def test_where_there_is_no_optimum_the_status_says_why(name):
    nlp, status = NONE[name]
    start = np.full(len(nlp.lower), -1.0 if len(nlp.lower) == 1 else 1.0)
    outcome = minimize(nlp, OURS, start)
    assert (outcome.status, outcome.success) == (status, False)
    assert not says_done("structured", status) and says_done("structured", "Solve_Succeeded")


def test_a_start_where_no_step_leads_on_is_left_by_restoration():
    """Every interior point that keeps to linearised rows fails here (Waechter & Biegler 2000)."""
    nlp = program(
        lambda x: x[0],
        lambda x: (x[0] ** 2 - x[1] - 1, x[0] - x[2] - 0.5),
        size=3,
        lower=(-INF, 0, 0),
    )
    outcome = minimize(nlp, OURS, np.array([-2.0, 3.0, 1.0]))
    theirs = minimize(nlp, Solver(), np.array([-2.0, 3.0, 1.0]))
    assert outcome.status == theirs.status
    assert outcome.x == pytest.approx(theirs.x, abs=1e-4)


@pytest.mark.parametrize("torques", ["explicit", "variables"])
def test_a_motion_is_ipopts_in_objective_multipliers_and_residual(torques):
    nlp = transcribe(lift(points=10), Transcription(method=Spline(torques=torques))).nlp
    fine = {"tol": 1e-10}  # where each barrier ends, the objective of 1e-8 differs in digit eight
    ways = Solver(options=fine), Solver(plugin="structured", options=fine)
    theirs, ours = (minimize(nlp, way, np.full(len(nlp.lower), 0.5)) for way in ways)
    assert ours.success and ours.f == pytest.approx(theirs.f, rel=1e-8)
    for of_both in (
        (ours.g_multipliers, theirs.g_multipliers),
        (ours.x_multipliers, theirs.x_multipliers),
    ):
        assert of_both[0] == pytest.approx(of_both[1], abs=1e-4)
    assert kkt_residual(nlp, ours.x, ours.x_multipliers, ours.g_multipliers) < 1e-5


def test_curvature_by_gauss_and_newton_leads_to_the_same_optimum():
    quasi = solve(lift(points=10), solver=Solver(plugin="structured", hessian="gauss-newton"))
    assert quasi.require().objective == pytest.approx(solve(lift(points=10)).objective, rel=1e-7)
    assert quasi.statistics["plugin"] == "structured"


def test_a_warm_start_takes_a_few_iterations():
    way = Solver(plugin="structured")
    cold = solve(lift(points=10), solver=way)
    warm = solve(lift(points=10), solver=way, guess=cold)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)
    assert warm.statistics["iterations"] <= 6 < cold.statistics["iterations"]


def count_calls(monkeypatch, owner, name):
    """A list that grows by a call of a function or class of a module."""
    made, calls = getattr(owner, name), []
    monkeypatch.setattr(owner, name, lambda *a: (calls.append(name), made(*a))[1])
    return calls


def test_a_program_with_other_numbers_in_its_bounds_is_analysed_once(monkeypatch):
    nlp = transcribe(lift(points=8), Transcription()).nlp
    x = np.ones(len(nlp.lower)) * 0.1
    patterns = count_calls(monkeypatch, interior_point_backend, "Patterns")
    eliminations = count_calls(monkeypatch, condensed_systems, "eliminate")
    first = minimize(nlp, OURS, x)
    raised = replace(
        nlp, g_upper=np.where(nlp.g_lower < nlp.g_upper, nlp.g_upper + 0.1, nlp.g_upper)
    )
    second = minimize(raised, OURS, first.x)
    assert first.success and second.success
    assert (len(patterns), len(eliminations)) == (1, 1)
    held = np.where(np.arange(len(x)) == len(x) // 2, first.x, nlp.lower)
    above = np.where(np.arange(len(x)) == len(x) // 2, first.x, nlp.upper)
    assert minimize(replace(nlp, lower=held, upper=above), OURS, first.x).success
    assert (len(patterns), len(eliminations)) == (2, 2)


def test_searches_within_each_other_have_their_own_basis():
    nlp = transcribe(lift(points=8), Transcription()).nlp
    x, within = np.ones(len(nlp.lower)) * 0.1, []
    alone = minimize(nlp, OURS, x)

    def watch(iteration):
        if iteration.number == 3:
            within.append(minimize(nlp, OURS, alone.x))

    beside = minimize(nlp, OURS, x, watch=watch)
    assert within[0].f == pytest.approx(alone.f, rel=1e-4)
    assert (beside.f, beside.iterations) == (alone.f, alone.iterations)


def test_a_coarse_tolerance_is_reached_where_products_with_distances_must_be_small():
    nlp, start, optimum = CASES["hs71"]
    coarse = minimize(nlp, Solver(plugin="structured", options={"tol": 0.1}), np.array(start))
    fine = minimize(nlp, OURS, np.array(start))
    assert coarse.status == "Solve_Succeeded" and coarse.iterations < fine.iterations
    assert coarse.f == pytest.approx(optimum, rel=1e-3)


def test_a_coarse_tolerance_is_reached_where_a_steep_objective_was_scaled_down():
    steep = program(lambda x: 1e5 * (x[0] + (x[1] - 1) ** 2), size=2, lower=0)
    found = minimize(steep, Solver(plugin="structured", options={"tol": 1e-3}), np.ones(2))
    assert found.status == "Solve_Succeeded" and found.iterations < 20
    assert found.f == pytest.approx(0.0, abs=1e-3)


def test_the_barrier_falls_as_low_as_is_asked():
    nlp, start, optimum = CASES["hs71"]
    coarse = {"tol": 1e-3, "mu_strategy": "monotone"}
    usual, lower = (
        minimize(nlp, Solver(plugin="structured", options=coarse | more), np.array(start))
        for more in ({}, {"mu_min": 1e-9})
    )
    assert usual.f - optimum > 4 * (lower.f - optimum) > 0.0


def test_a_step_of_full_length_is_evaluated_with_its_slopes_and_once():
    nlp, start, _ = CASES["hs71"]
    outcome = minimize(nlp, OURS, np.array(start))
    calls = {name: count for name, (count, _) in outcome.calls.items()}
    assert calls["jac_g"] == calls["grad_f"] == outcome.iterations + 2  # and one for the scales
    assert calls["f"] == 0 and calls["g"] <= 2


def test_iterates_of_a_program_with_fixed_variables_evaluate_nothing_anew():
    """Their multipliers of fixed variables follow from derivatives that the search has."""
    nlp, start, _ = CASES["a fixed variable"]
    shown = []
    outcome = minimize(nlp, OURS, np.array(start, float), watch=shown.append)
    calls = {name: count for name, (count, _) in outcome.calls.items()}
    assert calls["jac_g"] == calls["grad_f"] == outcome.iterations + 2  # and one for the scales
    for point in (each.iterate for each in shown):
        slope = 2 * (point.x - 1) + point.g_multipliers  # of f, and of the row times its multiplier
        assert point.x_multipliers[0] == pytest.approx(-slope[0], rel=1e-12)


def test_a_large_core_without_a_compiler_ends_at_once_with_what_to_use(monkeypatch):
    monkeypatch.setattr("ocp.interior_point.condensed_systems.CORE", 3)
    monkeypatch.setattr("ocp.solvers.fronts.available", lambda: False)
    with pytest.raises(ValueError, match=r"a core of \d+ variables: more than 3.*; use IPOPT$"):
        solve(lift(points=10), solver=OURS)


def test_limits_and_interruptions_end_it_with_the_best_iterate():
    nlp, start, _ = CASES["hs71"]
    short = minimize(nlp, Solver(plugin="structured", options={"max_iter": 3}), np.array(start))
    assert short.status == "Maximum_Iterations_Exceeded" and short.iterations == 3
    late = Solver(plugin="structured", options={"max_wall_time": 1e-9})
    assert minimize(nlp, late, np.array(start)).status == "Maximum_WallTime_Exceeded"

    def stop(iteration):
        if iteration.number == 2:
            signal.raise_signal(signal.SIGINT)

    stopped = minimize(nlp, OURS, np.array(start), watch=stop)
    assert (stopped.status, stopped.success) == (INTERRUPTED, False)
    assert len(stopped.history) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mu_oracle": "loqo"}, "it knows mu_strategy, tol, max_iter"),
        ({"mu_strategy": 1}, "expected adaptive or monotone, got 1"),
        ({"tol": "small"}, "expected a number, got 'small'"),
        ({"tol": 0.0}, "expected a positive number, got 0.0"),
    ],
)
def test_options_that_it_does_not_know_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=f"refused by plugin 'structured': {words}"):
        Solver(plugin="structured", options=options)
    with pytest.raises(ValueError, match="'lbfgs': plugin 'structured' has no limited-memory mode"):
        Solver(plugin="structured", hessian="lbfgs")
