"""Warm starts: former solutions and waypoints of the user's own."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import Attempt, BSpline, Guess, Problem, Solver, effort, load, solve
from ocp.models.arms.pr import pr
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest


def test_a_solution_is_a_good_start_with_its_multipliers(quick, tmp_path):
    again = solve(fastest(points=12), guess=quick)
    assert again.statistics["warm_start"]
    assert again.duration == pytest.approx(quick.duration, abs=1e-6)
    assert again.statistics["iterations"] <= 3
    ocp.save(quick, tmp_path / "quick.npz")
    assert (
        solve(fastest(points=12), guess=load(tmp_path / "quick.npz")).statistics["iterations"] <= 3
    )


def test_an_attempt_tuned_for_a_cold_start_does_not_undo_a_warm_one(quick):
    """Its barrier would begin far from the solution; what the user asks for still counts."""
    cold = Attempt(options={"mu_init": 0.1, "tol": 1e-7})
    settings = {"guess": quick, "attempts": (cold,)}
    again = solve(fastest(points=12), **settings)
    assert again.success and again.statistics["iterations"] <= 3
    assert again.statistics["options"] == {"tol": 1e-7}
    asked = solve(fastest(points=12), solver=Solver(options={"mu_init": 0.1}), **settings)
    assert asked.statistics["options"] == {"mu_init": 0.1, "tol": 1e-7}
    own = replace(cold, warm=True)
    rough = solve(fastest(points=12), guess=quick, attempts=(own,))
    assert rough.statistics["warm_start"] and rough.statistics["options"] == dict(cold.options)


def test_a_solution_starts_a_finer_one(lifted):
    cold, warm = solve(lift(points=33)), solve(lift(points=33), guess=lifted)
    assert warm.success and warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.history[0].objective == pytest.approx(lifted.objective, rel=1e-2)


def test_a_guess_of_ones_own_is_used():
    start = Guess(q=[[0.0, 0.5, 1.0], [-2.0, -2.5, -1.0]], duration=0.8)
    solution = solve(fastest(points=12), solver=Solver(options={"max_iter": 0}), guess=start)
    assert solution.duration == pytest.approx(0.8)
    assert solution.q(0.4)[1] == pytest.approx(-2.45, abs=0.1)


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (
            Guess(q=[[0.0, 1.0]]),
            r"guess: q: expected waypoints of shape \(2, 2 or more\), got \(1, 2\)",
        ),
        (
            Guess(q=[[0.0, 1.0], [np.nan, 1.0]]),
            "guess: q: joint 'elbow': expected finite waypoints, got nan",
        ),
        ("file.npz", "guess: expected a Solution, a Guess or None, got str"),
    ],
)
def test_a_wrong_guess_is_refused(guess, message):
    with pytest.raises(ValueError, match=message):
        solve(fastest(points=8), guess=guess)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"q": {"shoulder": [0, 1]}}, "guess: q: expected numbers .n, k., a row .*, got dict"),
        ({"q": [[0, 1], [0]]}, "guess: q: expected numbers .n, k., a row .*, got list"),
        ({"duration": 0}, "guess: duration: expected a number above 0, got 0"),
        ({"duration": np.nan}, "guess: duration: expected finite"),
    ],
)
def test_a_guess_of_no_numbers_is_refused_where_it_is_made(fields, message):
    with pytest.raises(ValueError, match=message):
        Guess(**fields)


def test_a_solution_of_another_model_is_no_guess(quick):
    arm = pr()
    with pytest.raises(ValueError, match="guess: belongs to another model"):
        solve(
            Problem(tree=arm, motion=BSpline(points=8), duration=1.0, objective=effort()),
            guess=quick,
        )
