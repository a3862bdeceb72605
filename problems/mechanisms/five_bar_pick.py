"""A five-bar mechanism takes a load over a sill in the least time.

The motors of its two cranks are limited.
"""

import casadi as ca
import numpy as np

from ocp import BSpline, Problem, Task, at_end, at_start, duration, effort, path, torque_limits
from ocp.cli import main
from ocp.mechanics import Visual
from ocp.models.mechanisms.five_bar import five_bar, reaching

TABLE = 0.02  # m below pick and place: where the sill stands
SLABS, STONE = 60, (0.55, 0.5, 0.45, 1.0)  # boxes that the sill is drawn of, and their colour
STRAIGHT = 0.2  # sine between the couplers; in line, they would not be held by the cranks


def problem(
    reach: float = 0.30,
    depth: float = 0.35,
    sill: float = 0.10,
    width: float = 0.15,
    payload: float = 0.5,
    torque: float = 6.0,
    u: float = 0.0005,
    gravity: float = 9.81,
    points: int = 60,
    degree: int = 5,
) -> Problem:
    """`reach`: from pick to place, across (m); `depth`: of both below the cranks' pivots (m);
    `sill`: height above both that the hand must clear midway (m); `width`: of it (m);
    `payload`: in the hand (kg); `torque`: limit at both cranks (N m); `u`: weight of effort beside
    the time (1 / (N2 m2)); `gravity`: its strength, down (m/s2); `points`: control points per
    joint; `degree`: of the spline.
    """
    robot = five_bar(payload=payload, torque=torque, gravity=gravity)
    pick, place = (reaching((side * reach / 2, -depth)) for side in (-1, 1))

    def clearance(at):
        x, y, _ = ca.vertsplit(at.position("hand"))
        return y + depth + TABLE - (sill + TABLE) * ca.exp(-((2 * x / width) ** 4))

    def transmission(at):
        left, right = (
            at.frames[robot.link_index(name)][:2, 0] for name in ("left coupler", "right coupler")
        )
        return right[0] * left[1] - right[1] * left[0]

    return Problem(
        scenery=_slabs(sill, width, depth),
        tree=robot,
        motion=BSpline(points=points, degree=degree),
        duration=(0.1, 3.0),
        objective=duration() + u * effort(robot, ("left", "right")),
        constraints=(
            at_start(robot, q=pick, qd=0.0),
            at_end(robot, q=place, qd=0.0),
            torque_limits(robot),
            path("clearance", clearance, lower=0.0, labels=("hand",), units="m"),
            path(
                "transmission", transmission, lower=STRAIGHT, labels=("sine between the couplers",)
            ),
        ),
    )


def _slabs(sill: float, width: float, depth: float) -> list[Visual]:
    """Return the sill as it is drawn, a row of narrow boxes of its height."""
    pitch, thick = 2.2 * width / SLABS, 0.05
    slabs = []
    for k in range(SLABS):
        x, pose = (k - (SLABS - 1) / 2) * pitch, np.eye(4)
        height = (sill + TABLE) * np.exp(-((2 * x / width) ** 4))
        if height > 1e-3 * sill:
            pose[:2, 3] = x, height / 2 - TABLE - depth
            slabs.append(Visual(kind="box", size=(pitch, height, thick), pose=pose, colour=STONE))
    return slabs


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
