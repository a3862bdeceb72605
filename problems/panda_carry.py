"""A Panda carries a cup from a table to a shelf and keeps it upright: seven joints, five asked.

The arm comes from its public URDF file, with the limits there; its fingers are closed about the
cup.
"""

from dataclasses import replace
from math import pi, radians, sin

from ocp.models.public import public_robot
from ocp.problems.public_robots import solved_standing

from ocp import (
    BSpline,
    Link,
    Point,
    Problem,
    Task,
    at_end,
    at_start,
    dynamic_effort,
    fixed,
    joint_limits,
    path,
    pose_at_end,
    pose_at_start,
    smoothness,
    torque_limits,
    velocity_limits,
)
from ocp.cli import main
from ocp.mechanics import Visual, locked, rotate_x, translate

TABLE, SHELF = (0.5, -0.35, 0.2), (0.35, 0.45, 0.6)  # m
STRAIGHT = "x", "y", "z", "about x", "about y"  # how a cup stands, turned any way
READY = (0.0, -pi / 4, 0.0, -3 * pi / 4, 0.0, pi / 2, pi / 4)  # rad
RADIUS, HEIGHT = 0.035, 0.1  # m


def problem(
    duration: float = 1.2,
    tilt: float = 1.0,
    mass: float = 0.4,
    turn: float = 10.0,
    points: int = 20,
) -> Problem:
    """J has the squares of torques by their limits and of accelerations.

    `duration`: of the motion (s); `tilt`: of the cup's axis ahead and aside, at most (deg);
    `mass`: of the cup (kg); `turn`: acceleration of a joint that counts as 1 (rad/s2); `points`:
    control points per joint.
    """
    arm = locked(public_robot("panda_description/urdf/panda.urdf"), {"panda_finger_joint1": RADIUS})
    arm = replace(
        arm,
        links=(*arm.links, _cup(mass)),
        joints=(*arm.joints, fixed("cup", "panda_hand_tcp")),
        points=(Point(name="cup", link="cup"),),
    )
    lean = sin(radians(tilt))
    return Problem(
        tree=arm,
        motion=BSpline(points=points, degree=5),
        duration=duration,
        objective=dynamic_effort(arm) + smoothness(arm, turn=turn),
        constraints=(
            pose_at_start(arm, "cup", translate(*TABLE) @ rotate_x(pi), rows=STRAIGHT),
            pose_at_end(arm, "cup", translate(*SHELF) @ rotate_x(pi), rows=STRAIGHT),
            at_start(arm, qd=0.0, qdd=0.0),
            at_end(arm, qd=0.0, qdd=0.0),
            path(
                "upright",
                lambda at: at.pose("cup")[:2, 2],
                lower=-lean,
                upper=lean,
                labels=("ahead", "aside"),
            ),
            joint_limits(arm, hull=True),
            velocity_limits(arm),
            torque_limits(arm),
        ),
        scenery=[
            Visual(kind="box", size=(0.3, 0.3, 0.02), pose=translate(x, y, z - HEIGHT / 2 - 0.01))
            for x, y, z in (TABLE, SHELF)
        ],
    )


def _cup(mass: float) -> Link:
    """Return a full cylinder of that mass (kg) about the link's frame."""
    across = mass * (3 * RADIUS**2 + HEIGHT**2) / 12
    moments = (across, 0, 0), (0, across, 0), (0, 0, mass * RADIUS**2 / 2)
    look = Visual(kind="cylinder", size=(RADIUS, HEIGHT), colour=(0.8, 0.3, 0.2, 1.0))
    return Link(mass=mass, inertia=moments, visuals=(look,))


TASK = Task(problem, method=solved_standing(lambda tree: READY))

if __name__ == "__main__":
    main(TASK)
