"""The default ladder: what follows a failed attempt, within which bounds, and what it shows."""

import os
import signal

import numpy as np
import pytest

from ocp import PLAIN, Solver, Task, solve
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.benchmarks.motions.compare_ladder import lift
from ocp.solvers.budget import Start
from ocp.solvers.minimize import CUT_SHORT, minimize
from ocp.solving.solver_attempts import (
    ENOUGH,
    MOST,
    WORK,
    iteration_allowance,
    run_attempts,
    select_attempts,
)
from ocp.transcription.transcribe import transcribe

SEED = 12
SWUNG = (9, 63)  # lifts that only a swing brings up


@pytest.fixture(scope="module")
def weak():
    """A lift that no start within reach solves."""
    return lift(11, SEED)


@pytest.fixture(scope="module")
def swung():
    """Lifts that only a swing brings up, solved."""
    return {number: solve(lift(number, SEED)) for number in SWUNG}


@pytest.mark.parametrize("number", SWUNG)
def test_a_lift_that_fails_from_the_straight_motion_is_solved_from_one_that_wanders(swung, number):
    statement = lift(number, SEED)
    solution = swung[number]
    assert solution.success
    infeasible = "Infeasible_Problem_Detected"
    assert solution.statistics["attempts"] == [infeasible, infeasible, "Solve_Succeeded"]
    torque = statement.tree.joints[0].torque[1]
    t = solution.nodes if len(solution.nodes) else solution.times(60)
    assert np.abs(solution.tau(np.clip(t, 0.0, solution.duration))).max() < 1.2 * torque


def test_the_ladder_is_the_same_every_time(swung):
    first, again = swung[63], solve(lift(63, SEED))
    assert first.objective == again.objective and np.array_equal(first.points, again.points)
    assert first.statistics["iterations"] == again.statistics["iterations"]


def test_a_first_attempt_that_succeeds_costs_nothing_more():
    plain, default = solve(fastest(points=8), attempts=PLAIN), solve(fastest(points=8))
    assert plain.objective == default.objective and np.array_equal(plain.points, default.points)
    assert default.statistics["attempts"] == ["Solve_Succeeded"]
    assert default.statistics["iterations"] == plain.statistics["iterations"]
    assert default.statistics["explanation_iterations"] == 0


@pytest.mark.parametrize("most", [0, 40, 130])
def test_all_rungs_and_the_explanation_together_keep_to_the_iterations_of_the_user(weak, most):
    solution = solve(weak, solver=Solver(options={"max_iter": most}))
    statistics = solution.statistics
    assert not solution.success
    assert statistics["iterations"] + statistics["explanation_iterations"] <= most


def test_what_follows_a_first_attempt_is_bounded_by_the_size_of_the_program(weak):
    transcribed = transcribe(weak)
    climbed = run_attempts(
        transcribed, Solver(), select_attempts(PLAIN, Solver()), [Start(x=transcribed.guess)]
    )
    size, (first,) = len(transcribed.nlp.lower), climbed.trials
    assert iteration_allowance(transcribed.nlp, first) == WORK // size <= MOST
    assert ENOUGH <= MOST


def test_every_stage_says_to_a_watcher_what_it_is(weak):
    stages = []
    solve(
        weak, solver=Solver(options={"max_iter": 230}), watch=lambda one: stages.append(one.stage)
    )
    assert list(dict.fromkeys(stages))[:3] == ["", "feasible first", "start 1 of 40"]


def test_an_interrupt_ends_the_search_and_nothing_is_explained(weak):
    def interrupt(iteration):
        if iteration.stage.startswith("start 1") and iteration.number == 2:
            os.kill(os.getpid(), signal.SIGINT)

    solution = solve(weak, watch=interrupt)
    assert solution.status == "User_Requested_Stop" and not solution.success
    assert len(solution.statistics["attempts"]) == 3
    assert solution.statistics["explanation_iterations"] == 0


def test_studies_of_starts_try_each_once():
    from ocp.studies.store.cell_specification import single_attempt

    assert (
        single_attempt(solve) == {"attempts": PLAIN} and single_attempt(lambda problem: None) == {}
    )
    solution = solve(lift(9, SEED), attempts=PLAIN)
    assert len(solution.statistics["attempts"]) == 1 and not solution.success
    assert solution.statistics["explanation_iterations"] == 0


def test_a_minimisation_is_cut_short_after_as_many_iterations_as_its_caller_allows(weak):
    transcribed = transcribe(weak)
    outcome = minimize(transcribed.nlp, Solver(), transcribed.guess, most=7)
    assert outcome.status == CUT_SHORT and not outcome.success and outcome.iterations == 7
    done = minimize(
        transcribe(fastest(points=8)).nlp, Solver(), transcribe(fastest(points=8)).guess
    )
    assert done.success and done.iterations > 7


def test_the_command_line_says_which_stage_its_iterations_are_of(capsys):
    from ocp.cli.commands.run import run_task

    flags = ["--torque", "0.01", "--points", "6", "--option", "max_iter=300", "--details"]
    assert run_task(Task(fastest), flags) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("feasible first") + 1].split()[0] == "iteration"
