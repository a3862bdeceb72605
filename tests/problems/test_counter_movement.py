"""A jump with a counter-movement: it begins upright, without arms that swing."""

from types import SimpleNamespace

import numpy as np
import pytest

from ocp import Solver
from ocp.mechanics import center_of_mass
from ocp.problems.human import counter_movement
from ocp.problems.human.counter_movement import TASK, coarser, leap, motions, problem
from ocp.problems.human.jump import STANDING, report


def test_it_begins_and_ends_upright_with_arms_that_hang():
    stated = problem(points=7, intervals=6)
    names = [joint.name for joint in stated.tree.moving]
    assert "shoulder" not in names
    ends = [each for each in stated.constraints if each.name in ("at_start.q", "at_end.q")]
    assert len(ends) == 2
    for each in ends:
        np.testing.assert_allclose(each.lower, [STANDING[name] for name in names])
    upright = np.array([STANDING[name] for name in names])
    assert float(center_of_mass(stated.tree, upright)[1]) == pytest.approx(1.005, abs=0.05)
    assert "shoulder" in [joint.name for joint in problem(arms=True).tree.moving]


def test_torques_lag_behind_what_excites_them():
    def weights(lag):
        push = problem(lag=lag, points=7, intervals=6).phases[0]
        return [weight for weight, term in push.objective.terms if "rate" in term.name]

    assert weights(0.1) == pytest.approx([1e-8])
    assert weights(0.2) == pytest.approx([4e-8])
    with pytest.raises(ValueError, match="lag: expected a number of at least 0"):
        problem(lag=-0.1)


def test_a_jump_is_solved_on_half_the_points_first_and_crouches_before_it_leaves():
    stated = problem(lag=0.2, points=7, intervals=6)
    solution = leap(stated, TASK.transcription, Solver()).require(coarse=True)
    first = solution.statistics["halved"]
    assert solution.statistics["iterations"] > first["iterations"] > 0
    assert motions(solution.problem) == motions(stated)
    jump = report(solution)["jump"]
    assert jump["crouches"] > 0.25 and 0.25 < jump["height"] < 0.35
    assert jump["height"] == pytest.approx(jump["raised"] + jump["rises"], abs=1e-8)


def test_half_the_points_are_no_fewer_than_a_jump_takes():
    stated = problem(points=16, intervals=15)
    push, toes, flight, stand = motions(coarser(stated))
    assert (push.points, toes.points, flight.intervals, stand.points) == (8, 12, 7, 7)
    least = coarser(coarser(stated))
    assert motions(coarser(least)) == motions(least)


def test_a_jump_that_half_the_points_do_not_lead_to_is_solved_at_once(monkeypatch):
    asked = []

    def failing(statement, transcription, solver, **settings):
        asked.append(motions(statement))
        spent = {"iterations": 3, "solve_seconds": 0.1}
        return SimpleNamespace(success=False, status="stuck", statistics=spent)

    monkeypatch.setattr(counter_movement, "solve", failing)
    stated = problem(points=7, intervals=6)
    assert not leap(stated, TASK.transcription, Solver()).success
    assert asked == [motions(coarser(stated)), motions(stated)]
