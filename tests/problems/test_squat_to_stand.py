"""Squat to stand of a leg and a trunk, by torques and by muscles (Dembia et al. 2020)."""

import casadi as ca
import numpy as np
import pytest

from ocp import HermiteSimpson, Solver, Transcription, describe, prepare, solve, verify
from ocp.mechanics.elements.generalized_forces import State
from ocp.models.human.muscles.squat_leg import CROSSED, KNEE_SLIDES, MUSCLES, leg_paths, squat_leg
from ocp.problems.human.squat_to_stand import TASK, problem

MOCO = 0.229299  # by MocoCasADiSolver of OpenSim 4.6 on 25 intervals, its tolerances at 1e-4


def test_torques_are_those_of_moco():
    """Within 0.05 % of what Moco finds (0.5 % asked)."""
    settings = Transcription(method=HermiteSimpson(intervals=25))
    solution = solve(problem(torques=True), settings)
    assert solution.success
    assert solution.objective == pytest.approx(MOCO, rel=5e-4)


@pytest.mark.commands
def test_nine_muscles_stand_up_from_a_straight_guess():
    """Certified at 1e-2."""
    solution = TASK.method(problem(), TASK.transcription, Solver())
    verify(solution).require(1e-2)
    assert solution.objective == pytest.approx(1.7346, rel=1e-3)
    rows = describe(solution)["muscles"]
    assert set(rows) == set(MUSCLES) and rows["glut_max2"]["activation"] > 0.9
    assert (
        0.1
        < sum(row["work"] for row in rows.values()) / sum(row["energy"] for row in rows.values())
        < 0.6
    )


def test_paths_are_polynomials_close_to_their_wraps():
    for name, path in leg_paths().items():
        assert path.joints == CROSSED[name] and path.rms < 1e-4
    assert np.shape(KNEE_SLIDES) == (2, 13)


def test_muscles_are_drawn_along_courses_as_long_as_their_paths():
    tree = squat_leg()
    for muscle in tree.elements:
        for q in np.random.default_rng(0).uniform((-0.5, -2, -2), (0.7, 0, 0.5), (20, 3)):
            state = State(tree=tree, q=ca.DM([*q, *tree.neutral[3:]]))
            length = float(muscle.course.length(state))
            assert length == pytest.approx(float(muscle.path.length(state)), abs=1e-3)


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ValueError, match="time"):
        problem(time=-1.0)
    assert prepare(problem(torques=True)).problem.tree.dof == 3
