"""A UR5 reaches past a ball in least time, its torques, speeds and jerks limited.

The arm comes from its public URDF file. Its maker states torques and speeds; the limit of jerk is
assumed, and so are the spheres that bound its parts.
"""

from math import pi

from ocp import (
    BSpline,
    Parameter,
    Problem,
    Task,
    at_rest,
    at_start,
    duration,
    limits,
    off_sphere,
    pose_at_end,
    with_limits,
)
from ocp.cli import main
from ocp.mechanics import Visual, rotate_x, translate
from ocp.models.public import public_robot

BALL, GOAL = (0.62, 0.1, 0.28), (0.36, 0.63, 0.19)  # m
PARTS = {"forearm_link": 0.08, "wrist_1_link": 0.08, "tool0": 0.05}  # m: radii
REACHED = "x", "y", "z", "about x", "about y"  # turned any way about the tool's own axis


def problem(
    torque: float = 1.0, jerk: float = 200.0, ball: float = 0.15, points: int = 30, degree: int = 3
) -> Problem:
    """`torque`: limits used, as a part of the maker's; `jerk`: limit of all joints (rad/s3,
    assumed); `ball`: radius of the obstacle (m); `points`: control points per joint; `degree`: of
    the spline, of which the jerk is constant between knots at 3. The goal is open (m)."""
    arm = public_robot("ur_description/urdf/ur5_robot.urdf")
    arm = with_limits(arm, strength=torque, jerk=jerk)
    goal = [Parameter(f"goal_{axis}", place, "m") for axis, place in zip("xyz", GOAL)]
    return Problem(
        tree=arm,
        motion=BSpline(points=points, degree=degree),
        duration=(0.2, 5.0),
        objective=duration(),
        constraints=(
            at_start(arm, q=(-0.9, -1.2, 1.5, -1.9, -1.57, 0.0)),  # rad: the tool down
            at_rest(arm),
            pose_at_end(arm, "tool0", translate(*goal) @ rotate_x(pi), rows=REACHED),
            limits(arm),
            off_sphere("off the ball", BALL, ball, PARTS),
        ),
        scenery=(Visual(kind="sphere", size=(ball,), pose=translate(*BALL)),),
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
