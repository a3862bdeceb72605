"""The UR5's reach by the least squared torques, as we state it."""

from ocp import BSpline, Problem, at_end, at_start, effort, limits
from ocp.models.public import public_robot

START = (0.0, -1.2, 1.5, -1.9, -1.57, 0.0)  # rad
GOAL = (0.6, -0.8, 1.0, -1.5, -1.27, 0.5)
DURATION = 0.5  # s


def reach() -> Problem:
    """Return the problem: from rest to rest, within the maker's angles, speeds and torques."""
    arm = public_robot("ur_description/urdf/ur5_robot.urdf")
    return Problem(
        tree=arm,
        motion=BSpline(points=20, degree=5),
        duration=DURATION,
        objective=effort(),
        constraints=(at_start(arm, q=START, qd=0.0), at_end(arm, q=GOAL, qd=0.0), limits(arm)),
    )
