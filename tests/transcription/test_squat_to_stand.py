"""Squat to stand of a leg and a trunk, by torques and by muscles (Dembia et al. 2020)."""

import pytest
from squat_leg import squat_leg

from ocp import (
    BSpline,
    Guess,
    HermiteSimpson,
    Problem,
    Transcription,
    at_end,
    at_start,
    joint_limits,
    solve,
    squares,
    torque_limits,
    verify,
)
from ocp.problem import muscle_effort

SQUAT = {"ankle": -0.5, "knee": -2.0, "hip": -2.0}
MOCO = 0.660979  # by MocoCasADiSolver of OpenSim 4.6 on 25 intervals, its tolerances at 1e-4


def stand_up(tree, objective, *more, start=0.0):
    ends = at_start(tree, q=SQUAT, qd=start), at_end(tree, q=0.0, qd=0.0)
    return Problem(
        tree=tree,
        motion=BSpline(points=20),
        duration=1.0,
        objective=objective,
        constraints=(*ends, joint_limits(tree), *more),
    )


def test_torques_are_those_of_moco():
    """Within 0.01 % of what Moco finds (0.5 % asked)."""
    tree = squat_leg()
    effort = squares("effort", lambda at: at.tau / 150.0)
    problem = stand_up(tree, effort, torque_limits(tree))
    solution = solve(problem, Transcription(method=HermiteSimpson(intervals=25)))
    assert solution.success
    assert solution.objective == pytest.approx(MOCO, rel=1e-4)


def test_nine_muscles_stand_up_from_a_straight_guess():
    """Certified at 1e-2. As Moco's example has it, active curves are wide and fibres soft."""
    tree = squat_leg(0.0, width=1.5, fibre_strain=3.0)
    forces = [joint.name for joint in tree.moving if joint.name.endswith(".force")]
    still = dict.fromkeys(("ankle", "knee", "hip", *forces), 0.0)
    problem = stand_up(tree, muscle_effort(tree), start=still)
    straight = Guess(q=[[-0.5, 0.0], [-2.0, 0.0], [-2.0, 0.0]])
    solution = solve(problem, Transcription(method=HermiteSimpson(intervals=70)), guess=straight)
    verify(solution).require(1e-2)
    assert solution.objective == pytest.approx(1.7345, rel=1e-3)
