"""Motions that were found, in files of other programs."""

import json
import re

import numpy as np
import pytest

from ocp import read_table, save_forces, save_motion, save_table
from ocp.interchange import (
    coordinates,
    force_table,
    joint_trajectory,
    marker_table,
    markers,
    motion_table,
    wrenches,
)
from ocp.problems.arms.two_link_time import problem as fastest


def test_a_motion_file_has_the_coordinates_of_the_motion(quick, tmp_path):
    save_motion(quick, tmp_path / "arm.mot", rate=200)
    read = read_table(tmp_path / "arm.mot")
    assert read.labels == ("shoulder", "elbow") and read.header["inDegrees"] == "no"
    assert read.t[0] == 0 and read.t[-1] == quick.duration and np.diff(read.t).max() <= 1 / 200
    np.testing.assert_array_equal(read.values, quick.q(read.t))
    known = coordinates(read, quick.problem.tree)
    np.testing.assert_array_equal(known.values["elbow"][0], quick.q(read.t)[1])


@pytest.mark.parametrize("ending", [".sto", ".csv"])
def test_states_and_torques_stand_beside_in_other_files(quick, tmp_path, ending):
    save_motion(quick, tmp_path / f"arm{ending}")
    read = read_table(tmp_path / f"arm{ending}")
    np.testing.assert_array_equal(read.column("elbow.torque"), quick.tau(read.t)[1])
    np.testing.assert_array_equal(read.column("elbow.rate"), quick.qd(read.t)[1])
    np.testing.assert_array_equal(read.column("elbow.acceleration"), quick.qdd(read.t)[1])
    assert read.units[::2] == ("rad", "rad/s", "rad/s2", "N m")


def test_forces_follow_a_motion_through_its_phases(hopping, tmp_path):
    save_forces(hopping, tmp_path / "forces.mot")
    read = read_table(tmp_path / "forces.mot")
    stance, t = hopping.phases["stance"], read.t
    push = stance.trace(lambda at: at.reaction.force("foot"), t[t < stance.duration])
    np.testing.assert_allclose(read.column("foot_force_vy")[t < stance.duration], push[1])
    assert not read.column("foot_force_vy")[t > stance.duration].any()
    assert read.units[:9:3] == ("N", "m", "N m")


def test_a_force_at_its_point_is_the_wrench_that_the_ground_gives(hopping):
    table = force_table(hopping)
    seen, stance = wrenches(table), hopping.phases["stance"]
    t = table.t[table.t < stance.duration]
    given = stance.trace(lambda at: at.reaction.total("foot").about_origin, t)
    np.testing.assert_allclose(seen.values["foot"][:3, : len(t)], given, atol=1e-9)


def test_markers_are_the_points_of_the_tree(quick, tmp_path):
    save_table(marker_table(quick, rate=200), tmp_path / "arm.trc")
    seen = markers(read_table(tmp_path / "arm.trc"))
    expected = quick.trace(lambda at: at.position("tip"), seen.t)
    np.testing.assert_array_equal(seen.values["tip"], expected)


def read_trajectory(text):
    """The names and the points of a trajectory, of the YAML that is written."""
    names = json.loads(re.search(r"^joint_names: (.*)$", text, re.MULTILINE)[1])
    points = []
    for block in text.split("\n- ")[1:]:
        lists = {name: json.loads(values) for name, values in re.findall(r"(\w+): (\[.*\])", block)}
        sec, nanosec = re.search(r"\{sec: (\d+), nanosec: (\d+)\}", block).groups()
        points.append(lists | {"time": int(sec) + 1e-9 * int(nanosec)})
    return names, points


def test_a_trajectory_of_ros_has_names_states_efforts_and_times(quick, tmp_path):
    save_motion(quick, tmp_path / "arm.yaml")
    names, points = read_trajectory((tmp_path / "arm.yaml").read_text())
    assert names == ["shoulder", "elbow"]
    t = np.array([point["time"] for point in points])
    np.testing.assert_allclose(t, motion_table(quick).t, atol=1e-9)
    for name, curve in (
        ("positions", quick.q),
        ("velocities", quick.qd),
        ("accelerations", quick.qdd),
        ("effort", quick.tau),
    ):
        expected = curve(motion_table(quick).t).T
        np.testing.assert_array_equal([point[name] for point in points], expected)


def test_a_trajectory_is_of_the_driven_joints_unless_others_are_named(hopping):
    assert read_trajectory(joint_trajectory(hopping))[0] == ["leg"]
    assert read_trajectory(joint_trajectory(hopping, joints=["body"]))[0] == ["body"]


def test_a_trajectory_is_yaml(quick):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    whole = yaml.safe_load(joint_trajectory(quick))
    assert whole["joint_names"] == ["shoulder", "elbow"]
    assert whole["points"][1]["time_from_start"]["sec"] == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda one: save_motion(one, "arm.xls"), "expected a file that ends in .mot, .sto, .csv"),
        (lambda one: save_forces(one, "arm.yaml"), "expected a file that ends in .mot, .sto or"),
        (lambda one: force_table(one), "ground forces: this problem has no ground"),
        (lambda one: motion_table(one, rate=0), r"rate \(Hz\): expected a number above 0"),
        (lambda one: motion_table(one, quantities=("x",)), "expected some of q, qd, qdd, tau"),
        (lambda one: marker_table(one, points=("nose",)), "unknown point 'nose'"),
        (lambda one: joint_trajectory(one, joints=("nose",)), "unknown joint 'nose'"),
    ],
)
def test_what_cannot_be_written_is_refused(quick, make, words):
    with pytest.raises(ValueError, match=words):
        make(quick)


@pytest.mark.parametrize("write", [save_motion, save_forces])
def test_a_problem_in_place_of_its_solution_is_to_be_solved_first(write, tmp_path):
    with pytest.raises(ValueError, match=f"{write.__name__}: expected a Solution.*solve it first"):
        write(fastest(points=12), tmp_path / "arm.mot")
