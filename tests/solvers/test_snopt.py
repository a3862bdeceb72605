"""SNOPT behind the same door as CasADi's solvers, where Drake is installed.

Without it, the way to get it.
"""

import importlib.util
import os
import signal
import sys
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import Solver, Transcription, solve
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.solvers import NLP, kkt_residual, minimize
from ocp.solvers.nlp import with_derivatives
from ocp.solvers.snopt.drake_program import EvaluatedPoint, build_drake_program, group_rows
from ocp.solvers.snopt.objective_metric import objective_metric
from ocp.transcription import transcribe_phase
from ocp.transcription.transcribe import transcribe

needs_drake = pytest.mark.skipif(
    importlib.util.find_spec("pydrake") is None, reason="needs the extra `snopt`"
)


def lines_and_curve():
    """min x0^2 + x1^2 + x2^2 with x0 + x1 + x2 = 3, x0 x1 >= 2, x2 <= 1/2, derivatives left to the
    solver.
    """
    x = ca.MX.sym("x", 3)
    return NLP(
        lower=np.full(3, -np.inf),
        upper=np.array([np.inf, np.inf, 0.5]),
        g_lower=np.array([3.0, 2.0]),
        g_upper=np.array([3.0, np.inf]),
        objective=ca.Function("f", [x], [ca.sumsqr(x)]),
        constraints=ca.Function("g", [x], [ca.vertcat(ca.sum1(x), x[0] * x[1])]),
    )


def test_without_drake_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydrake", None)
    with pytest.raises(
        ValueError,
        match=r"needs Drake: install the extra `snopt` \(pip install 'ocp-motion\[snopt\]'\)",
    ):
        minimize(lines_and_curve(), Solver(plugin="snopt"), np.ones(3))


def test_rows_over_the_same_variables_form_one_group_and_distant_ones_do_not():
    block = ca.DM.ones(30, 40)
    groups = group_rows(ca.diagcat(block, block).sparsity(), np.arange(60))
    assert [(rows.tolist(), columns.tolist()) for rows, columns in groups] == [
        (list(range(30)), list(range(40))),
        (list(range(30, 60)), list(range(40, 80))),
    ]


def test_nonlinear_rows_count_in_sizes_of_their_bounds_as_a_certificate_has_them():
    nlp = transcribe(two_link_lift(), Transcription()).nlp
    point = EvaluatedPoint(nlp, lambda *_: False)
    bounds = np.array([nlp.g_lower, nlp.g_upper], dtype=float).reshape(2, -1)
    sizes = np.abs(np.where(np.isfinite(bounds), bounds, 0.0)).max(axis=0)
    assert point.nonlinear.any() and sizes[point.nonlinear].max() > 1.0
    assert point.unit[point.nonlinear] == pytest.approx(
        1.0 / np.maximum(1.0, sizes[point.nonlinear])
    )
    assert (point.unit[~point.nonlinear] == 1.0).all()


@pytest.mark.parametrize("limits", [(1, 2), (30, 80)])
def test_every_row_is_in_one_group_that_has_all_its_columns(limits):
    rng = np.random.default_rng(limits[0])
    dense = np.zeros((25, 90))
    for row in range(25):
        dense[row, rng.integers(0, 90, rng.integers(*limits))] = 1.0
    groups = group_rows(ca.sparsify(ca.DM(dense)).sparsity(), np.arange(25))
    assert sorted(np.concatenate([rows for rows, _ in groups])) == list(range(25))
    for rows, columns in groups:
        assert set(np.flatnonzero(dense[rows].any(axis=0))) == set(columns)


@needs_drake
def test_linear_and_nonlinear_rows_and_bounds_have_their_multipliers():
    outcome = minimize(lines_and_curve(), Solver(plugin="snopt"), np.array([1.0, 2.0, 0.0]))
    assert outcome.success and outcome.status == "optimality conditions satisfied (SNOPT 1)"
    reference = minimize(lines_and_curve(), Solver(), np.array([1.0, 2.0, 0.0]))
    assert outcome.f == pytest.approx(reference.f, rel=1e-6)
    assert (
        kkt_residual(lines_and_curve(), outcome.x, outcome.x_multipliers, outcome.g_multipliers)
        < 1e-5
    )
    assert np.allclose(outcome.g_multipliers, reference.g_multipliers, atol=1e-4)


@needs_drake
@pytest.mark.parametrize("derivatives", ["recursive", "solver"])
def test_the_lift_has_the_optimum_of_ipopt(derivatives):
    ours = solve(
        two_link_lift(),
        Transcription(derivatives=derivatives),
        Solver(plugin="snopt"),
        certify=True,
    )
    assert ours.success
    assert ours.objective == pytest.approx(solve(two_link_lift()).objective, rel=1e-5)
    assert ours.verification.require(1e-3)
    assert (
        ours.statistics["calls"]["nlp_fg"][0] == ours.statistics["iterations"] == len(ours.history)
    )


@needs_drake
def test_seconds_are_counted_where_they_pass_and_sum_to_the_whole():
    statistics = solve(two_link_lift(points=6), solver=Solver(plugin="snopt")).statistics
    (points, functions), (rounds, bridge) = (
        statistics["calls"][name] for name in ("nlp_fg", "bridge")
    )
    assert points == rounds == statistics["iterations"] and min(functions, bridge) > 0
    assert functions + bridge < statistics["solve_seconds"]


def test_what_passes_while_a_point_is_handed_over_is_the_bridge_s_and_no_more(monkeypatch):
    clock, nlp = iter(range(100)), lines_and_curve()
    monkeypatch.setattr("ocp.solvers.snopt.drake_program.time.perf_counter", lambda: next(clock))
    point = EvaluatedPoint(with_derivatives(nlp), lambda *_: False)  # at 0
    point.move(np.ones(3))  # from 1 to 6, evaluators look at 2 to 5; the deadline is checked at 7
    point.leave()  # at 8
    point.leave()  # at 9
    point.move(np.ones(3))  # at 10: what lies before is the solver's own
    point.leave()  # at 11
    assert point.calls() == {"nlp_fg": (1, 5), "bridge": (1, 4)}


@needs_drake
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"Major optimalty tolerance": 1e-6},
            "option 'Major optimalty tolerance' = 1e-06: refused by plugin 'snopt': "
            "SNOPT does not know it",
        ),
        (
            {"Time limit": 5.0, "Major iterations limit": "many"},
            "option 'Major iterations limit' = 'many': refused by plugin 'snopt': "
            "expected a number",
        ),
    ],
)
def test_a_wrong_option_is_refused_by_name(options, message):
    with pytest.raises(ValueError) as error:
        Solver(plugin="snopt", options=options)
    assert str(error.value).startswith(message)


@needs_drake
def test_options_and_statuses_are_those_of_snopt():
    nlp = transcribe_phase(two_link_lift())
    outcome = minimize(
        nlp.nlp, Solver(plugin="snopt", options={"Major iterations limit": 2}), nlp.guess
    )
    assert not outcome.success and outcome.status == "major iteration limit reached (SNOPT 32)"


@needs_drake
def test_the_time_limit_holds_and_leaves_the_best_point():
    nlp = transcribe_phase(two_link_lift())
    outcome = minimize(nlp.nlp, Solver(plugin="snopt", options={"Time limit": 1e-9}), nlp.guess)
    assert outcome.status == "time limit reached"
    assert not outcome.success
    assert len(outcome.history) == 1


@needs_drake
def test_ctrl_c_returns_the_best_point():
    def interrupt(iteration):
        if iteration.number == 4:
            os.kill(os.getpid(), signal.SIGINT)

    nlp = transcribe_phase(two_link_lift())
    outcome = minimize(nlp.nlp, Solver(plugin="snopt"), nlp.guess, watch=interrupt)
    assert outcome.status == "User_Requested_Stop"
    assert not outcome.success
    assert len(outcome.history) <= 7
    best = min(outcome.history, key=lambda step: step.violation)
    worst = max(0.0, *(nlp.nlp.g_lower - outcome.g), *(outcome.g - nlp.nlp.g_upper))
    assert worst == pytest.approx(best.violation)


@needs_drake
def test_what_a_watch_raises_reaches_the_caller():
    def watch(iteration):
        raise LookupError(f"at {iteration.number}")

    nlp = transcribe_phase(two_link_lift(points=8))
    with pytest.raises(LookupError, match="at 0"):
        minimize(nlp.nlp, Solver(plugin="snopt"), nlp.guess, watch=watch)


def test_a_hessian_that_means_nothing_is_refused():
    with pytest.raises(
        ValueError, match="hessian 'gauss-newton': plugin 'snopt' does not take a Hessian"
    ):
        Solver(plugin="snopt", hessian="gauss-newton")


def stiff_and_soft():
    """A quadratic that bends ten thousand times more along one direction than along another, within
    bounds, and a curve, with derivatives."""
    x = ca.MX.sym("x", 3)
    along = x[0] + 2 * x[1] - x[2], x[0] - x[1], x[2] - 1
    objective = 1e4 * along[0] ** 2 + along[1] ** 2 + (along[2] - 2) ** 2
    row = x[0] * x[0] + x[1] + 0.1 * x[2]
    given = [x, ca.MX.sym("p", 0, 1), ca.MX.sym("lam_f"), ca.MX.sym("lam_g")]
    upper = ca.triu(ca.hessian(given[2] * objective + given[3] * row, x)[0])
    bend = ca.Function("bend", given, [upper])
    return with_derivatives(
        NLP(
            lower=np.array([-np.inf, -1.0, -np.inf]),
            upper=np.array([np.inf, np.inf, 1.5]),
            g_lower=np.array([2.0]),
            g_upper=np.array([np.inf]),
            objective=ca.Function("f", [x], [objective]),
            constraints=ca.Function("g", [x], [row]),
            hessian=lambda kind: bend,
        )
    )


def test_in_its_metric_an_objective_bends_alike_along_all_variables():
    nlp, x = stiff_and_soft(), np.array([1.0, 0.5, 1.0])
    metric = objective_metric(nlp, x)
    y = ca.MX.sym("y", 3)
    curvature = ca.Function("curvature", [y], [ca.hessian(metric.program().objective(y), y)[0]])
    bend = np.array(curvature(metric.start(x)))
    assert bend == pytest.approx(bend[0, 0] * np.eye(3), abs=1e-6 * bend[0, 0])
    assert np.linalg.det(metric.ahead) == pytest.approx(1.0)
    assert metric.ahead @ metric.start(x) == pytest.approx(x)


def test_a_solution_in_the_metric_is_one_of_the_program_with_its_multipliers():
    nlp, x = stiff_and_soft(), np.array([1.0, 0.5, 1.0])
    metric = objective_metric(nlp, x)
    other = replace(metric.program(), gradient=None, jacobian=None)  # left to the solver
    there, own = minimize(other, Solver(), metric.start(x)), minimize(nlp, Solver(), x)
    found = metric.iterate(there)
    assert found.x == pytest.approx(own.x, abs=1e-6) and metric.bounded.tolist() == [1, 2]
    assert found.g == pytest.approx(own.g, abs=1e-6)
    assert kkt_residual(nlp, found.x, found.x_multipliers, found.g_multipliers) < 1e-4


@needs_drake
@pytest.mark.parametrize(
    ("changes", "last"),
    [
        ({}, [True, False, True]),
        ({"upper": np.full(3, np.inf), "g_lower": np.array([2.35])}, [True, False]),
    ],
    ids=["a point breaks them by far", "the end breaks one a little"],
)
def test_rows_far_within_their_bounds_are_left_out_until_they_are_broken(
    changes, last, monkeypatch
):
    """Of a quadratic in its metric, where the curve and bounds are far from its start."""
    nlp, x = replace(stiff_and_soft(), **changes), np.array([2.0, 0.5, 1.0])
    kept = []

    def build(whole, point, *modules):
        kept.append(point.kept.tolist())
        return build_drake_program(whole, point, *modules)

    monkeypatch.setattr("ocp.solvers.snopt.snopt.build_drake_program", build)
    ours, own = minimize(nlp, Solver(plugin="snopt"), x), minimize(nlp, Solver(), x)
    assert kept[0] == [False] * len(last) and kept[-1] == last
    assert ours.success and ours.x == pytest.approx(own.x, abs=1e-4)
    assert kkt_residual(nlp, ours.x, ours.x_multipliers, ours.g_multipliers) < 1e-3


@needs_drake
def test_a_search_that_goes_on_with_rows_that_it_broke_can_be_interrupted(monkeypatch):
    kept = []

    def build(whole, point, *modules):
        kept.append(point.kept.any())
        return build_drake_program(whole, point, *modules)

    def interrupt(_):
        if kept[-1]:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("ocp.solvers.snopt.snopt.build_drake_program", build)
    x = np.array([2.0, 0.5, 1.0])
    outcome = minimize(stiff_and_soft(), Solver(plugin="snopt"), x, watch=interrupt)
    assert kept == [False, True] and outcome.status == "User_Requested_Stop"


def test_rows_of_few_variables_and_objectives_that_do_not_bend_have_no_metric():
    x = ca.MX.sym("x", 8)
    programs = [
        NLP(
            lower=np.zeros(8),
            upper=np.ones(8),
            g_lower=np.zeros(8),
            g_upper=np.ones(8),
            objective=ca.Function("f", [x], [objective]),
            constraints=ca.Function("g", [x], [rows]),
        )
        for objective, rows in ((ca.sumsqr(x), x**2), (ca.sum1(x), ca.sum1(x) * x))
    ]
    assert [objective_metric(with_derivatives(each), np.ones(8)) for each in programs] == [None] * 2
