"""Solutions as tables and files: coordinates, torques, ground forces, markers."""

import json
from collections.abc import Sequence
from functools import partial
from math import ceil
from pathlib import Path

import casadi as ca
import numpy as np

from ocp.interchange.robot_logs.motion_log import motion_log
from ocp.interchange.tables.table import Table
from ocp.interchange.tables.write_table import save_table
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import positive, unit_of
from ocp.problem import Instant
from ocp.report.data_frames import ENDINGS
from ocp.solution import Solution
from ocp.solution.validation import check_solution
from ocp.storage import write

RATE = 100.0  # Hz
QUANTITIES = ENDINGS
FAINT = 1e-6  # of the largest force: a fainter one has its point at the origin
AXES = "xyz"


def save_motion(solution: Solution, path: str | Path, *, rate: float = RATE) -> None:
    """Write a motion by its file's ending, whole or not at all.

    .mot: the coordinates, in columns of the joints' names; .sto and .csv: coordinates, rates,
    accelerations and torques as of `motion_table`; .yaml: a JointTrajectory of ROS of the driven
    joints; .mcap: a log of ROS 2, as of `motion_log`.

    Args:
        solution: the motion.
        path: of the file.
        rate: Hz, or a little more, so that both ends are among the times.

    Raises:
        ValueError: another ending.
        OSError: nothing can be written there.
    """
    check_solution("save_motion", solution)
    ending = Path(path).suffix.lower()
    if ending in (".yaml", ".yml"):
        write(path, joint_trajectory(solution, rate=rate))
        return
    if ending == ".mcap":
        t = motion_times(solution, rate)
        wrenches = {foot: wrench for foot, (wrench, _, _) in _wrenches(solution, t).items()}
        write(path, motion_log(solution, t, wrenches))
        return
    if ending not in (".mot", ".sto", ".csv"):
        raise ValueError(
            f"{path}: expected a file that ends in .mot, .sto, .csv, .yaml or .mcap, got {ending!r}"
        )
    wanted = ("q",) if ending == ".mot" else tuple(QUANTITIES)
    save_table(motion_table(solution, rate=rate, quantities=wanted), path)


def save_forces(solution: Solution, path: str | Path, *, rate: float = RATE) -> None:
    """Write the ground forces of a motion, as of `force_table`, to a .mot, .sto or .csv file.

    Args:
        solution: the motion.
        path: of the file.
        rate: Hz, or a little more, so that both ends are among the times.

    Raises:
        ValueError: another ending, or a problem without a ground.
        OSError: nothing can be written there.
    """
    check_solution("save_forces", solution)
    ending = Path(path).suffix.lower()
    if ending not in (".mot", ".sto", ".csv"):
        raise ValueError(f"{path}: expected a file that ends in .mot, .sto or .csv, got {ending!r}")
    save_table(force_table(solution, rate=rate), path)


def motion_table(
    solution: Solution, *, rate: float = RATE, quantities: Sequence[str] = tuple(QUANTITIES)
) -> Table:
    """Return a motion as a Table.

    Args:
        solution: the motion.
        rate: of its equal steps, at least (Hz).
        quantities: some of q, qd, qdd and tau: columns NAME, NAME.rate, NAME.acceleration and
            NAME.torque of every joint, in rad or m, N m or N.
    """
    check_solution("motion_table", solution)
    unknown = [name for name in quantities if name not in QUANTITIES]
    if unknown or not quantities:
        raise ValueError(f"quantities: expected some of q, qd, qdd, tau, got {quantities!r}")
    t, joints = motion_times(solution, rate), solution.problem.tree.moving
    labels = [joint.name + QUANTITIES[what] for what in quantities for joint in joints]
    units = [unit_of(joint, what) for what in quantities for joint in joints]
    values = np.vstack([getattr(solution, what)(t) for what in quantities])
    return Table(t=t, labels=labels, units=units, values=values, source="motion")


def force_table(solution: Solution, *, rate: float = RATE) -> Table:
    """Return the ground forces of a motion as a Table.

    Of every foot the force (N) on it, FOOT_force_vx, vy, vz, the centre of pressure (m),
    FOOT_force_px, .., and the moment about that (N m), FOOT_torque_x, .., in global axes, as
    OpenSim names them. Where there is hardly a force the point is the origin.

    Args:
        solution: the motion.
        rate: of its equal steps, at least (Hz).

    Raises:
        ValueError: the problem has no ground.
    """
    check_solution("force_table", solution)
    t = motion_times(solution, rate)
    labels, units, rows = [], [], []
    wrenches = _wrenches(solution, t)
    if not wrenches:
        raise ValueError("ground forces: this problem has no ground")
    for foot, (wrench, normal, height) in wrenches.items():
        moment, force = wrench[:3], wrench[3:]
        size = np.linalg.norm(wrench[3:], axis=0)
        push = normal @ force
        bears = np.abs(push) > FAINT * max(float(size.max()), FAINT)
        lever = np.cross(normal, moment.T).T + height * force
        point = np.where(bears, lever / np.where(bears, push, 1.0), 0.0)
        rows += [force, point, moment - np.cross(point.T, force.T).T]
        for ending, unit in (("force_v", "N"), ("force_p", "m"), ("torque_", "N m")):
            labels += [f"{foot}_{ending}{axis}" for axis in AXES]
            units += [unit] * 3
    return Table(t=t, labels=labels, units=units, values=np.vstack(rows), source="ground forces")


def _wrenches(solution: Solution, t: np.ndarray) -> dict[str, tuple]:
    """Return {foot: (moment about the origin and force (6, N), normal (3,), height (m))}; zeros
    in phases without the foot."""
    parts = list(solution.parts.values())
    ends = np.cumsum([part.duration for part in parts])
    number = np.minimum(np.searchsorted(ends, t, side="right"), len(parts) - 1)
    known: dict[str, tuple[np.ndarray, np.ndarray, Matrix]] = {}
    for k, part in enumerate(parts):
        ground, here = part.problem.ground, number == k
        if ground is None or not here.any():
            continue
        own = np.clip(t[here] - (ends[k] - part.duration), 0.0, part.duration)
        for foot in ground.feet:
            plane = ground.plane(foot)
            what = np.zeros((6, len(t))), np.array(plane.normal), float(plane.height)
            wrench = known.setdefault(foot.name, what)[0]
            if foot.supports:
                wrench[:, here] = part.trace(partial(_foot_wrench, foot.name), own)
    return known


def _foot_wrench(foot: str, at: Instant) -> Matrix:
    """Return the moment about the origin (N m) and the force (N) on a foot, (6,)."""
    return ca.vertcat(at.reaction.moment(foot), at.reaction.force(foot))


def marker_table(solution: Solution, *, points: Sequence[str] = (), rate: float = RATE) -> Table:
    """Return places (m) along a motion as a Table, columns NAME.x, NAME.y and NAME.z.

    Args:
        solution: the motion.
        points: names of points, by default all of the tree.
        rate: of its equal steps, at least (Hz).
    """
    check_solution("marker_table", solution)
    tree = solution.problem.tree
    names = tuple(points) or tuple(point.name for point in tree.points)
    for name in names:
        tree.point(name)
    t = motion_times(solution, rate)
    places = solution.trace(lambda at: ca.vertcat(*(at.position(name) for name in names)), t)
    labels = [f"{name}.{axis}" for name in names for axis in AXES]
    units = ["m"] * len(labels)
    return Table(t=t, labels=labels, units=units, values=places, source="markers")


def joint_trajectory(solution: Solution, *, joints: Sequence[str] = (), rate: float = RATE) -> str:
    """Return a motion as YAML of a trajectory_msgs/JointTrajectory of ROS 2.

    It has positions (rad or m), velocities, accelerations and effort (N m or N).

    Args:
        solution: the motion.
        joints: names of joints, by default of those that are driven.
        rate: of its equal steps, at least (Hz).
    """
    check_solution("joint_trajectory", solution)
    tree, t = solution.problem.tree, motion_times(solution, rate)
    names = list(joints) or [joint.name for joint in tree.moving if joint.actuated]
    rows = [tree.coordinate(name) for name in names]
    curves = {
        "positions": solution.q(t)[rows],
        "velocities": solution.qd(t)[rows],
        "accelerations": solution.qdd(t)[rows],
        "effort": solution.tau(t)[rows],
    }
    units = ", ".join(unit_of(tree.moving[row], "q") for row in rows)
    lines = [
        f"# trajectory_msgs/JointTrajectory; positions in {units}",
        f"joint_names: {json.dumps(names)}",
        "points:",
    ]
    for k, time in enumerate(t):
        nanoseconds = round(1e9 * float(time))
        lines += [
            f"{'- ' if number == 0 else '  '}{name}: {json.dumps(curve[:, k].tolist())}"
            for number, (name, curve) in enumerate(curves.items())
        ]
        whole, rest = divmod(nanoseconds, 10**9)
        lines.append(f"  time_from_start: {{sec: {whole}, nanosec: {rest}}}")
    return "\n".join(lines) + "\n"


def motion_times(solution: Solution, rate: float) -> np.ndarray:
    """Times (s) of equal steps along a motion, both ends among them.

    Args:
        solution: the motion.
        rate: of the steps, at least (Hz).

    Returns:
        The times (N,).
    """
    steps = max(4, ceil(solution.duration * positive("rate (Hz)", rate) - 1e-9))
    return solution.times(steps + 1)
