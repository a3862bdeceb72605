"""Motions as MCAP files of messages of ROS 2: joints, frames of links, wrenches, a trajectory."""

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ocp.interchange.robot_logs.mcap import Channel, mcap_bytes
from ocp.interchange.robot_logs.ros_messages import (
    JOINT_STATE,
    JOINT_TRAJECTORY,
    STRING,
    TRANSFORMS,
    WRENCH,
    Writer,
    definition,
)
from ocp.interchange.urdf.writer import ROOT, frames_on_axes, unused_name, urdf_text
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.rotations import quaternion
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import Instant
from ocp.solution import Solution
from ocp.version import DISTRIBUTION, VERSION

AT_ORIGIN = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)  # place and quaternion of a link that is the world


def motion_log(solution: Solution, t: np.ndarray, wrenches: dict[str, np.ndarray]) -> bytes:
    """Return a motion as the content of an MCAP file, which players and viewers of ROS 2 read.

    Its topics are `/joint_states` (all joints: rad or m, and N m or N), `/tf` (every link's frame
    in the world), `/joint_trajectory` (the driven joints, once), `/ground/FOOT` (the wrench on each
    foot about the world's origin), and, of trees that URDF has words for, `/robot_description`.

    Args:
        solution: the motion.
        t: times of its samples (N,) (s).
        wrenches: {foot: moment about the origin (N m) and force (N), (6, N)}.
    """
    tree = solution.problem.tree
    stamps = [round(1e9 * float(time)) for time in t]
    channels = [
        Channel(topic, kind, definition(kind), list(messages))
        for topic, kind, messages in (
            ("/robot_description", STRING, _description(solution)),
            ("/joint_trajectory", JOINT_TRAJECTORY, _trajectory(solution, t, stamps)),
            ("/joint_states", JOINT_STATE, _joint_states(solution, t, stamps)),
            ("/tf", TRANSFORMS, _transforms(solution, frames_on_axes(tree), t, stamps)),
            *(
                (f"/ground/{foot}", WRENCH, _wrenches(wrench, stamps))
                for foot, wrench in wrenches.items()
            ),
        )
    ]
    written = [channel for channel in channels if channel.messages]
    return mcap_bytes(written, f"{DISTRIBUTION} {VERSION}")


def _description(solution: Solution) -> Iterator[tuple[int, bytes]]:
    try:
        text, _ = urdf_text(solution.problem.tree, "robot")
    except ValueError:  # loops, muscles and what else the format has no words for
        return
    message = Writer()
    message.text(text)
    yield 0, message.content


def _trajectory(
    solution: Solution, t: np.ndarray, stamps: list[int]
) -> Iterator[tuple[int, bytes]]:
    moving = solution.problem.tree.moving
    rows = [k for k, joint in enumerate(moving) if joint.actuated]
    if not rows:
        return
    curves = [curve(t)[rows] for curve in (solution.q, solution.qd, solution.qdd, solution.tau)]
    message = Writer()
    message.header(0, ROOT)
    message.texts([moving[k].name for k in rows])
    message.pack("I", len(t))
    for k, stamp in enumerate(stamps):
        for curve in curves:
            message.numbers(curve[:, k])
        message.time(stamp)
    yield 0, message.content


def _joint_states(
    solution: Solution, t: np.ndarray, stamps: list[int]
) -> Iterator[tuple[int, bytes]]:
    names = [joint.name for joint in solution.problem.tree.moving]
    curves = [curve(t) for curve in (solution.q, solution.qd, solution.tau)]
    for k, stamp in enumerate(stamps):
        message = Writer()
        message.header(stamp, ROOT)
        message.texts(names)
        for curve in curves:
            message.numbers(curve[:, k])
        yield stamp, message.content


def _transforms(
    solution: Solution, tree: Tree, t: np.ndarray, stamps: list[int]
) -> Iterator[tuple[int, bytes]]:
    rows = solution.trace(lambda at: _frames(tree, at), t)
    frames = rows.T.reshape(len(t), len(tree.links), 7)
    known = list(tree.link_names)
    still = ROOT in known and np.allclose(frames[:, known.index(ROOT)], AT_ORIGIN, atol=1e-12)
    world = ROOT if still else unused_name(ROOT, known)
    children = [k for k, name in enumerate(known) if name != world]
    for stamp, row in zip(stamps, frames.tolist()):
        message = Writer()
        message.pack("I", len(children))
        for k in children:
            x, y, z, *turn = row[k]
            message.header(stamp, world)
            message.text(known[k])
            message.pack("d", x, y, z, *turn[1:], turn[0])
        yield stamp, message.content


def _frames(tree: Tree, at: Instant) -> Matrix:
    """Return place and quaternion (7,) of every link's frame, in one column."""
    parts = []
    for pose in kinematics.poses(tree, at.q):
        parts += [pose[:3, 3], quaternion(pose[:3, :3])]
    return ca.vertcat(*parts)


def _wrenches(wrench: np.ndarray, stamps: list[int]) -> Iterator[tuple[int, bytes]]:
    for stamp, (mx, my, mz, fx, fy, fz) in zip(stamps, wrench.T):
        message = Writer()
        message.header(stamp, ROOT)
        message.pack("d", fx, fy, fz, mx, my, mz)
        yield stamp, message.content
