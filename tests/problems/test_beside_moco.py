"""Commands that put OpenSim Moco beside the package: what they ask of it, and how they wait."""

import sys
from pathlib import Path

import pytest

from ocp import HermiteSimpson, Radau, Solver, Transcription, solve
from ocp.problems.benchmarks.muscles import compare_squat, compare_walk
from ocp.problems.benchmarks.muscles.moco import answer_of, run
from ocp.problems.human import muscle_walk, squat_to_stand

MODEL = Path("none.osim")
WAITING = """
import pathlib, time
file = pathlib.Path("delete_this_to_stop_optimization_1")
file.touch()
while file.exists():
    time.sleep(0.01)
print("stopped")
"""


def test_a_solve_of_mocos_is_stopped_at_its_limit(tmp_path):
    done = run((sys.executable, "-c", WAITING), tmp_path, limit=0.0)
    assert done.printed.strip() == "stopped" and 0 < done.seconds < 10


def test_a_script_without_an_answer_is_an_error():
    with pytest.raises(RuntimeError, match="none: .*none.py"):
        answer_of("none", {})


def test_moco_is_asked_for_the_squat_that_is_ours():
    squat = solve(
        squat_to_stand.problem(torques=True), Transcription(method=HermiteSimpson(intervals=5))
    )
    asked = compare_squat.request(squat, MODEL)
    assert asked["coordinates"]["knee_angle_r"] == (300.0, (-2.0, 0.0), -2.0, 0.0)
    assert asked["coordinates"]["ankle_angle_r"] == (150.0, (-0.5, 0.7), -0.5, 0.0)
    assert asked["duration"] == 1.0


def test_moco_is_given_our_step_to_follow_within_our_bounds():
    walk = muscle_walk.problem()
    begun = solve(
        walk,
        Transcription(method=Radau(intervals=4)),
        Solver(options={"max_iter": 0}),
        guess=muscle_walk.cold_guess(walk),
    )
    asked = compare_walk.request(begun, MODEL)
    assert asked["motion"].keys() == asked["bounds"].keys() == compare_walk.COORDINATES.keys()
    assert asked["times"][-1] == begun.duration and asked["bounds"]["knee_angle_l"] == (-1.35, 0.02)
    way = asked["motion"]["pelvis_tx"]
    assert way[0] == pytest.approx(0.0, abs=1e-6) and way[-1] == pytest.approx(0.65, abs=1e-6)
    hip = begun.q([0.0])[walk.tree.coordinate("hip_l"), 0]
    assert asked["motion"]["hip_flexion_l"][0] == pytest.approx(hip)
