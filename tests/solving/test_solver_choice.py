"""Solver that "auto" takes: from counts alone, with a reason, and IPOPT where ours gives way."""

from dataclasses import replace

import pytest

import ocp
from ocp import Parameter, Solver, prepare, solve
from ocp.problems.arms.two_link_lift import problem
from ocp.solvers import Unsuited
from ocp.solvers.minimize import CUT_SHORT
from ocp.solving import solver_attempts
from ocp.solving.solver_attempts import choose_solver, search_seconds
from ocp.transcription.transcribe import transcribe

WALK = {"variables": 1800, "equalities": 1444, "inequalities": 1231} | {
    "slopes": 170_090,
    "curvatures": 72_622,
}
ARM = {"variables": 41, "equalities": 4, "inequalities": 154, "slopes": 1318} | {"curvatures": 351}


@pytest.fixture(scope="module")
def lift():
    return transcribe(problem(points=10))


@pytest.fixture
def ours(monkeypatch):
    """Calls from Python cost nothing: ours is chosen for the least of programs."""
    monkeypatch.setattr(solver_attempts, "CALLS", 0.0)
    monkeypatch.setattr(solver_attempts, "SETUP", 0.0)
    monkeypatch.setattr(solver_attempts, "ENTRY", 1.0)


def test_large_systems_with_a_small_null_space_are_for_ours_and_small_ones_for_ipopt():
    own, ipopt = search_seconds(**WALK)
    assert own < ipopt
    own, ipopt = search_seconds(**ARM)
    assert own > 2 * ipopt


def test_a_wide_null_space_costs_no_more_than_sparse_factors():
    moved = WALK | {"equalities": 0, "inequalities": WALK["equalities"] + WALK["inequalities"]}
    (narrow, ipopt), (wide, same) = search_seconds(**WALK), search_seconds(**moved)
    assert narrow < wide < narrow + ipopt and same == ipopt


def test_the_choice_says_its_reason_in_the_report(lift, ours):
    solution = solve(problem(points=10)).require()
    assert solution.statistics["plugin"] == "structured"
    _, reason = choose_solver(lift.nlp, Solver())
    assert solution.statistics["choice"] == reason and reason in ocp.summary(solution)
    nlp = lift.nlp
    variables, slopes = sum(nlp.lower < nlp.upper), nlp.jacobian.nnz_out(1)
    assert f"{variables} variables, " in reason and f"{slopes} slopes, " in reason


def test_without_auto_nothing_is_chosen(lift, ours):
    told = Solver(plugin="ipopt")
    assert choose_solver(lift.nlp, told) == (told, "")


@pytest.mark.parametrize(
    ("solver", "reason"),
    [
        (Solver(hessian="lbfgs"), "exact derivatives"),
        (Solver(options={"linear_solver": "mumps"}), "linear_solver"),
    ],
)
def test_what_ours_does_not_know_is_for_ipopt(lift, ours, solver, reason):
    chosen, words = choose_solver(lift.nlp, solver)
    assert chosen is solver and reason in words


def test_a_plan_of_parameters_is_ours_too_and_then_nothing_is_predicted(ours):
    time = Parameter("time", 1.0, "s", lower=0.5, upper=2.0)
    plan = prepare(replace(problem(points=10), duration=time))
    chosen, _ = choose_solver(plan.transcribed.nlp, Solver())
    assert chosen.name == "structured"
    near = plan.solve(plan.solve().require(), time=1.02).require()
    assert near.statistics["plugin"] == "structured"
    assert near.statistics["prediction_iterations"] == 0


def test_a_program_that_is_not_for_ours_is_solved_by_ipopt(monkeypatch, ours):
    def refuse(*_):
        raise Unsuited("its core is too large")

    monkeypatch.setattr("ocp.interior_point.system_and_initial_point.choose_system", refuse)
    solution = solve(problem(points=10)).require()
    assert solution.statistics["plugin"] == "ipopt"
    assert solution.statistics["attempts"] == ["Solve_Succeeded"]
    with pytest.raises(Unsuited, match="too large"):
        solve(problem(points=10), solver=Solver(plugin="structured"))


def test_where_ours_takes_too_long_ipopt_begins_anew_within_the_limits_of_the_user(
    monkeypatch, ours
):
    monkeypatch.setattr(solver_attempts, "LONGEST", 3)
    alone = solve(problem(points=10), solver=Solver(plugin="ipopt")).require()
    both = solve(problem(points=10)).require()
    assert both.statistics["attempts"] == [CUT_SHORT, "Solve_Succeeded"]
    assert both.statistics["iterations"] == 3 + alone.statistics["iterations"]
    assert both.objective == alone.objective
    few = solve(problem(points=10), solver=Solver(options={"max_iter": 5}))
    assert not few.success and few.statistics["iterations"] == 5
