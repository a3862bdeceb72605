"""A ladder of attempts at one problem shares the user's limits of iterations and time."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import LADDER, Attempt, Guess, Solver, prepare, solve
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.solving.solver_attempts import select_attempts
from ocp.solving.starts.warm_start import start

HOPELESS = {"diverging_iterates_tol": 1e-3}  # any motion is called diverging
THREE = (Attempt(options=HOPELESS), Attempt(options=HOPELESS, feasible_first=True), Attempt())


@pytest.fixture(scope="module")
def statement():
    return fastest(points=8)


def test_attempts_follow_one_another_until_one_succeeds(statement):
    solution = solve(statement, attempts=(*THREE, Attempt(options=HOPELESS)))
    assert solution.success
    assert solution.statistics["attempts"] == ["Diverging_Iterates"] * 2 + ["Solve_Succeeded"]
    assert "diverging_iterates_tol" not in solution.statistics["options"]
    assert solution.objective == pytest.approx(solve(statement).objective, rel=1e-12)


@pytest.mark.parametrize("first", [False, True])
def test_all_attempts_and_stages_together_keep_to_the_iterations_of_the_user(statement, first):
    solver = Solver(options={"max_iter": 7})
    attempts = (Attempt(options=HOPELESS), *(Attempt(feasible_first=first),) * 2)
    solution = solve(statement, solver=solver, attempts=attempts)
    assert solution.statistics["iterations"] == 7 and len(solution.statistics["attempts"]) == 2
    assert solution.status == "Maximum_Iterations_Exceeded"
    assert solution.statistics["options"]["max_iter"] == 7


def test_no_attempt_begins_after_the_time_of_the_user(statement):
    for limit in ("max_wall_time", "max_cpu_time"):
        solver = Solver(options={limit: 1e-3})
        solution = solve(statement, solver=solver, attempts=[Attempt(), Attempt(), Attempt()])
        assert len(solution.statistics["attempts"]) == 1 and not solution.success
        assert solution.statistics["solve_seconds"] < 0.5


def test_limits_of_an_attempt_are_its_own_and_give_way_to_those_of_the_user(statement):
    attempts = [Attempt(options={"max_iter": 2}), Attempt(options={"max_iter": 3})]
    assert solve(statement, attempts=attempts).statistics["iterations"] == 5
    solver = Solver(options={"max_iter": 4})
    assert solve(statement, solver=solver, attempts=attempts).statistics["iterations"] == 4


def test_options_are_for_ipopt_and_other_plugins_make_the_first_attempt_without(statement):
    solver = Solver(plugin="sqpmethod", options={"max_iter": 3, "qpsol": "qrqp"})
    solution = solve(statement, solver=replace(solver, hessian="gauss-newton"), attempts=THREE[:2])
    assert len(solution.statistics["attempts"]) == 1
    assert "diverging_iterates_tol" not in solution.statistics["options"]


def test_our_interior_point_takes_the_options_that_it_shares_with_ipopt(statement):
    loose = {"tol": 1e-2, "mumps_pivtol": 1e-4}
    attempts = (
        Attempt(options=loose),
        Attempt(options={"tol": 1e-2}),
        Attempt(options={"tol": 1e-7}),
    )
    solver = Solver(plugin="structured", options={"max_iter": 400})
    kept = select_attempts((*attempts, replace(attempts[0], feasible_first=True)), solver)
    assert [dict(each.options) for each in kept] == [{"tol": 1e-2}, {"tol": 1e-7}, {"tol": 1e-2}]
    assert [each.feasible_first for each in kept] == [False, False, True]
    assert select_attempts(attempts, Solver()) == attempts
    solution = solve(statement, solver=solver, attempts=attempts[:1])
    assert solution.success and solution.statistics["options"] == {"tol": 1e-2, "max_iter": 400}


def test_a_plan_given_to_another_solver_makes_attempts_as_that_one_does(statement):
    plan = prepare(statement, attempts=[Attempt(options={"mumps_pivtol": 1e-4})])
    ours = replace(plan, solver=Solver(plugin="structured")).solve()
    assert ours.objective == pytest.approx(plan.solve().objective, rel=1e-7)


def test_an_attempt_may_have_a_start_of_its_own(statement):
    bent = Guess(q=np.zeros((2, 2)), duration=3.0)
    solver = Solver(options={"max_iter": 0})
    solution = solve(statement, solver=solver, attempts=[Attempt(guess=bent)])
    assert solution.duration == pytest.approx(3.0)


def test_an_interrupt_ends_the_climb(statement):
    import os
    import signal

    def interrupt(iteration):
        if iteration.number == 1:
            os.kill(os.getpid(), signal.SIGINT)

    for first in (False, True):
        attempts = [Attempt(feasible_first=first), Attempt()]
        solution = solve(statement, watch=interrupt, attempts=attempts)
        assert solution.statistics["attempts"] == ["User_Requested_Stop"]
        assert len(solution.statistics["stages"]) == 1
        assert solution.objective == pytest.approx(solution.duration)


def test_a_ladder_has_attempts(statement):
    with pytest.raises(ValueError, match="attempts: expected Attempt records, at least one"):
        solve(statement, attempts=())


def test_a_start_that_attempts_share_is_made_once(statement, monkeypatch):
    made = []

    def counted(*arguments):
        made.append(arguments)
        return start(*arguments)

    monkeypatch.setattr("ocp.solving.plan.start", counted)
    solve(statement, attempts=LADDER)
    solve(statement, attempts=(Attempt(), Attempt(guess=Guess(duration=0.5)), Attempt()))
    assert len(LADDER) > 2 and len(made) == 1 + 2
