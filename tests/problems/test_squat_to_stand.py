"""Squat to stand of a leg and a trunk, by torques and by muscles (Dembia et al. 2020)."""

import numpy as np
import pytest

from ocp import HermiteSimpson, Solver, Transcription, prepare, solve, verify
from ocp.models.human.squat_leg import CROSSED, KNEE_SLIDES, MUSCLES, leg_paths
from ocp.problems.human.squat_to_stand import TASK, problem

MOCO = 0.660979  # by MocoCasADiSolver of OpenSim 4.6 on 25 intervals, its tolerances at 1e-4


def test_torques_are_those_of_moco():
    """Within 0.01 % of what Moco finds (0.5 % asked)."""
    settings = Transcription(method=HermiteSimpson(intervals=25))
    solution = solve(problem(torques=True), settings)
    assert solution.success
    assert solution.objective == pytest.approx(MOCO, rel=1e-4)


def test_nine_muscles_stand_up_from_a_straight_guess():
    """Certified at 1e-2."""
    solution = TASK.method(problem(), TASK.transcription, Solver())
    verify(solution).require(1e-2)
    assert solution.objective == pytest.approx(1.7346, rel=1e-3)
    rows = TASK.views.report(solution)["muscles"]
    assert set(rows) == set(MUSCLES) and rows["glut_max2"]["activation"] > 0.9
    assert len(TASK.views.lines({"muscles": rows})) == 9


def test_paths_are_polynomials_close_to_their_wraps():
    for name, path in leg_paths().items():
        assert path.joints == CROSSED[name] and path.rms < 1e-4
    assert np.shape(KNEE_SLIDES) == (2, 13)


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ValueError, match="time"):
        problem(time=-1.0)
    assert prepare(problem(torques=True)).problem.tree.dof == 3
