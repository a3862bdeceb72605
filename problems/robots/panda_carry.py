"""A Panda carries a cup from a table to a shelf and keeps it upright: seven joints, five asked.

The arm comes from its public URDF file, with the limits there; its fingers are closed about the
cup.
"""

from math import pi, radians

from ocp import (
    BSpline,
    Problem,
    Task,
    at_rest,
    dynamic_effort,
    fixed,
    from_posture,
    limits,
    pose_at_end,
    pose_at_start,
    smoothness,
    solid,
    upright,
    with_link,
    with_locked_joints,
)
from ocp.cli import main
from ocp.mechanics import Visual, rotate_x, translate
from ocp.models.public import public_robot

ENDS = TABLE, SHELF = (0.5, -0.35, 0.2), (0.35, 0.45, 0.6)  # m
STRAIGHT = "x", "y", "z", "about x", "about y"  # how a cup stands, turned any way
FILE, RADIUS, HEIGHT, SLAB = "panda_description/urdf/panda.urdf", 0.035, 0.1, (0.3, 0.3, 0.02)  # m


def problem(
    duration: float = 1.2, tilt: float = 1.0, mass: float = 0.4, points: int = 20
) -> Problem:
    """J has the squares of torques by their limits and of accelerations.

    `duration`: of the motion (s); `tilt`: of the cup's axis ahead and aside, at most (deg);
    `mass`: of the cup (kg); `points`: control points per joint. 10 rad/s2 count as 1.
    """
    arm = with_locked_joints(public_robot(FILE), {"panda_finger_joint1": RADIUS})
    cup = solid("cylinder", mass, (RADIUS, HEIGHT), colour=(0.8, 0.3, 0.2, 1.0))
    arm = with_link(arm, fixed("cup", "panda_hand_tcp"), cup)
    return Problem(
        tree=arm,
        motion=BSpline(points=points, degree=5),
        duration=duration,
        objective=dynamic_effort(arm) + smoothness(arm, turn=10.0),
        constraints=(
            pose_at_start(arm, "cup", translate(*TABLE) @ rotate_x(pi), rows=STRAIGHT),
            pose_at_end(arm, "cup", translate(*SHELF) @ rotate_x(pi), rows=STRAIGHT),
            at_rest(arm),
            upright(arm, "cup", radians(tilt)),
            limits(arm, hull=True),
        ),
        scenery=[Visual(kind="box", size=SLAB, pose=translate(x, y, z - 0.06)) for x, y, z in ENDS],
    )


TASK = Task(problem, method=from_posture((0.0, -pi / 4, 0.0, -3 * pi / 4, 0.0, pi / 2, pi / 4)))

if __name__ == "__main__":
    main(TASK)
