"""A UR5 reaches past a ball in least time, its torques, speeds and jerks limited.

The arm comes from its public URDF file. Its maker states torques and speeds; the limit of jerk is
assumed, and so are the spheres that bound its parts.
"""

from dataclasses import replace
from math import inf, pi

import casadi as ca
from ocp.models.public import public_robot, with_limits

from ocp import (
    BSpline,
    Point,
    Problem,
    Task,
    at_end,
    at_start,
    duration,
    jerk_limits,
    joint_limits,
    path,
    pose_at_end,
    torque_limits,
    velocity_limits,
)
from ocp.cli import main
from ocp.mechanics import Visual, rotate_x, translate

START = (-0.9, -1.2, 1.5, -1.9, -1.57, 0.0)  # rad: the tool down, to the right of the ball
BALL, GOAL = (0.62, 0.1, 0.28), (0.36, 0.63, 0.19)  # m
PARTS = {"elbow": 0.08, "wrist": 0.08, "tool": 0.05}  # m: radii
LINKS = {"elbow": "forearm_link", "wrist": "wrist_1_link", "tool": "tool0"}


def problem(
    torque: float = 1.0,
    jerk: float = 200.0,
    ball: float = 0.15,
    points: int = 30,
    degree: int = 3,
) -> Problem:
    """`torque`: limits used, as a part of the maker's; `jerk`: limit of all joints (rad/s3,
    assumed); `ball`: radius of the obstacle (m); `points`: control points per joint; `degree`: of
    the spline, of which the jerk is constant between knots at 3."""
    arm = with_limits(public_robot("ur_description/urdf/ur5_robot.urdf"), torque=torque, jerk=jerk)
    arm = replace(arm, points=[Point(name=name, link=link) for name, link in LINKS.items()])
    down = translate(*GOAL) @ rotate_x(pi)
    return Problem(
        tree=arm,
        motion=BSpline(points=points, degree=degree),
        duration=(0.2, 5.0),
        objective=duration(),
        constraints=(
            at_start(arm, q=START, qd=0.0, qdd=0.0),
            pose_at_end(arm, "tool", down, rows=("x", "y", "z", "about x", "about y")),
            at_end(arm, qd=0.0, qdd=0.0),
            joint_limits(arm),
            velocity_limits(arm),
            torque_limits(arm),
            jerk_limits(arm),
            path(
                "off the ball",
                lambda at: ca.vertcat(
                    *(ca.sumsqr(at.position(part) - ca.DM(BALL)) for part in PARTS)
                ),
                lower=[(ball + radius) ** 2 for radius in PARTS.values()],
                upper=inf,
                labels=tuple(PARTS),
                units="m2",
            ),
        ),
        scenery=(Visual(kind="sphere", size=(ball,), pose=translate(*BALL)),),
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
