"""Logs of motions: the format's own reader finds the motion in them to the last bit."""

import re

import casadi as ca
import numpy as np
import pytest

from ocp import load_model, save_motion, solve
from ocp.interchange.robot_logs.mcap import MAGIC
from ocp.interchange.robot_logs.motion_log import motion_log
from ocp.interchange.robot_logs.ros_messages import Writer, definition
from ocp.mechanics.kinematics import kinematics
from ocp.problems.hopping.pogo_hop import problem as hop

TYPES = [
    "sensor_msgs/msg/JointState",
    "tf2_msgs/msg/TFMessage",
    "trajectory_msgs/msg/JointTrajectory",
]


@pytest.fixture(scope="module")
def hopping():
    return solve(hop()).require()


def messages(path):
    """{topic: [(seconds, message)]} by the reader of the format's authors, all checks on."""
    reader = pytest.importorskip("mcap.reader", reason="needs the extra `oracles`")
    decoder = pytest.importorskip("mcap_ros2.decoder", reason="needs the extra `oracles`")
    found = {}
    with open(path, "rb") as stream:
        known = reader.make_reader(
            stream, validate_crcs=True, decoder_factories=[decoder.DecoderFactory()]
        )
        for _, channel, message, content in known.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((1e-9 * message.log_time, content))
        counts = known.get_summary().statistics.channel_message_counts.values()
    assert sorted(counts) == sorted(len(each) for each in found.values())
    return found


def test_joints_are_those_of_the_motion_at_every_sample(quick, tmp_path):
    save_motion(quick, tmp_path / "arm.mcap", rate=50)
    t = quick.times(len(messages(tmp_path / "arm.mcap")["/joint_states"]))
    for k, (time, state) in enumerate(messages(tmp_path / "arm.mcap")["/joint_states"]):
        assert time == pytest.approx(t[k], abs=1e-9) and state.name == ["shoulder", "elbow"]
        np.testing.assert_array_equal(state.position, quick.q(t)[:, k])
        np.testing.assert_array_equal(state.velocity, quick.qd(t)[:, k])
        np.testing.assert_array_equal(state.effort, quick.tau(t)[:, k])


def test_a_trajectory_begins_the_log(quick, tmp_path):
    save_motion(quick, tmp_path / "arm.mcap", rate=50)
    ((time, plan),) = messages(tmp_path / "arm.mcap")["/joint_trajectory"]
    assert time == 0 and plan.joint_names == ["shoulder", "elbow"]
    last = plan.points[-1].time_from_start
    assert last.sec + 1e-9 * last.nanosec == pytest.approx(quick.duration, abs=1e-9)
    t = quick.times(len(plan.points))
    np.testing.assert_array_equal([each.accelerations for each in plan.points], quick.qdd(t).T)


def test_frames_are_where_the_described_robot_has_them(quick, tmp_path):
    save_motion(quick, tmp_path / "arm.mcap", rate=50)
    found = messages(tmp_path / "arm.mcap")
    ((_, description),) = found["/robot_description"]
    (tmp_path / "robot.urdf").write_text(description.data)
    robot = load_model(tmp_path / "robot.urdf")
    t = quick.times(len(found["/tf"]))
    for k in (0, len(t) // 2, len(t) - 1):
        poses = kinematics.poses(robot, ca.DM(quick.q(t)[:, k]))
        places = {each.child_frame_id: each.transform for each in found["/tf"][k][1].transforms}
        for name, pose in zip(robot.link_names, poses):
            if name == "world":
                continue
            place, turn = places[name].translation, places[name].rotation
            np.testing.assert_allclose(
                [place.x, place.y, place.z], pose[:3, 3].full()[:, 0], atol=1e-12
            )
            w, x, y, z = turn.w, turn.x, turn.y, turn.z
            first = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
            np.testing.assert_allclose(first, pose[:3, 0].full()[:, 0], atol=1e-12)


def test_the_wrench_is_what_moves_the_centre_of_mass(hopping, tmp_path):
    save_motion(hopping, tmp_path / "hop.mcap")
    found = messages(tmp_path / "hop.mcap")["/ground/foot"]
    times = hopping.times(len(found))
    step = 1e-4  # s
    (leaves,) = [part.duration for part in list(hopping.parts.values())[:-1]]
    inside = (times > step) & (times < times[-1] - step) & (np.abs(times - leaves) > 2 * step)
    mass = sum(float(link.mass) for link in hopping.problem.tree.links)
    heights = [
        hopping.trace(lambda at: at.center_of_mass[1], times[inside] + shift)[0]
        for shift in (-step, 0.0, step)
    ]
    rising = (heights[0] - 2 * heights[1] + heights[2]) / step**2
    pushes = [each.wrench.force.y for _, each in found]
    np.testing.assert_allclose(
        np.array(pushes)[inside], mass * (rising + 9.81), atol=2e-3 * mass * 9.81
    )


def test_a_log_is_whole_and_says_the_same_again(quick):
    t = quick.times(5)
    log = motion_log(quick, t, {})
    assert log.startswith(MAGIC) and log.endswith(MAGIC) and log == motion_log(quick, t, {})


@pytest.mark.parametrize("kind", TYPES)
def test_a_definition_has_every_type_that_it_names(kind):
    text = definition(kind)
    known = {f"{name}" for name in re.findall(r"^MSG: (\S+)$", text, re.MULTILINE)}
    fields = [
        line.split()[0] for line in text.splitlines() if line and not line.startswith(("=", "MSG"))
    ]
    assert {each.removesuffix("[]") for each in fields if "/" in each} == known


def test_numbers_stand_at_multiples_of_their_size():
    message = Writer()
    message.text("ab")  # four bytes of its length, and three
    message.pack("d", 1.5)
    assert message.content[4:] == b"\x03\0\0\0ab\0" + b"\0" + np.float64(1.5).tobytes()
