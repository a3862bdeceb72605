"""The comparison of transcriptions: it prints what is measured, and a missed claim as missed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ocp import solve
from ocp.certificate import replay
from ocp.problems.benchmarks.motions import compare_transcriptions
from ocp.problems.benchmarks.motions.compare_transcriptions import (
    CASES,
    SAME,
    agreement,
    near_print,
    run,
)
from ocp.problems.benchmarks.refinement import GOAL, RADAU, refined
from ocp.problems.swing_ups.cart_pole_swing import problem as swing


@pytest.fixture(scope="module")
def row():
    """The cart's swing by Radau collocation, refined from a mesh that is too coarse."""
    return refined(swing(), RADAU, 8, None)


def test_a_size_is_refined_until_the_cost_settles_and_the_control_reaches_the_goal(row):
    assert row.settled and len(row.sizes) > 1 and row.sizes[0] == 8 and max(row.end) <= GOAL
    assert row.solution.problem.motion.intervals == row.sizes[-1]
    method = replace(row.solution.transcription.method, intervals=3 * row.sizes[-1])
    fine = replace(row.solution.transcription, method=method)
    finer = solve(swing(), fine, guess=row.solution).require()
    assert row.solution.objective == pytest.approx(finer.objective, rel=SAME)


def test_the_end_of_a_simulation_has_rates_too(row):
    states, solution = replay(row.solution), row.solution
    t = solution.problem.motion.breaks * solution.duration
    assert states.shape == (4, len(t)) and np.array_equal(states[:, 0], np.zeros(4))
    assert np.abs(states[2:] - solution.qd(t)).max() <= GOAL
    assert np.abs(states[:2, -1] - [1.0, np.pi]).max() == pytest.approx(row.end[0])


def test_a_claim_that_does_not_hold_is_missed(row):
    dear = replace(row.solution, objective=row.solution.objective * (1 + 2 * SAME))
    unsettled, missing = replace(row, settled=False), replace(row, end=(0.0, 2 * GOAL))
    for other, expected in (
        (row, [True, True]),
        (replace(row, solution=dear), [False, True]),
        (unsettled, [False, True]),
        (missing, [True, False]),
    ):
        assert [holds for holds, _ in agreement("cart", [row, other])] == expected


@pytest.mark.commands
def test_the_command_measures_the_cart_by_every_transcription(capsys):
    small = ["--starts", "1", "--points", "36", "--intervals", "15", "--workers", "0"]
    assert run(["cart_pole_swing", *small]) == 0
    text = capsys.readouterr().out
    ways = [line.split("|")[1].strip() for line in text.splitlines() if line.count("|") == 10]
    assert ways[2:] == ["B-spline", "Hermite-Simpson", "Radau, order 5", "B-spline, integrated"]
    assert "starts on a coarse mesh: 1, of which 1 converge, to 1 optima" in text
    assert "MISSED" not in text and text.count("holds: ") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["pendulum"],
            "unknown problem 'pendulum'; expected some of cart_pole_swing, acrobot_swing",
        ),
        (["--starts", "0"], "--starts: expected at least 1, got 0"),
        (["--points", "4"], "--points: expected at least 20, got 4"),
        (["--workers", "-1"], "--workers: expected at least 0, got -1"),
    ],
)
def test_bad_arguments_are_named(arguments, message, capsys):
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_the_rods_optimum_is_the_one_nearest_to_the_print():
    optima = [type("Optimum", (), {"objective": cost})() for cost in (8.2, 10.1, 11.1)]
    assert near_print(optima).objective == 10.1
    assert list(CASES["two_link_effort"].chosen.values()) == [near_print]


def test_the_claim_on_two_rods_tells_both_printed_costs():
    row = SimpleNamespace(solution=SimpleNamespace(objective=10.2))
    holds, text = compare_transcriptions.effort_pair([row], [SimpleNamespace(objective=10.1)])
    assert holds and "-> 10.2000, printed 73.57 -> 9.9; lowest of the starts 10.1" in text
