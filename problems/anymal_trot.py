"""ANYmal C trots: half a cycle of least squared torque, its footholds and its pace found.

The robot comes from its public URDF file and floats by three slides and a quaternion. Two feet on a
diagonal stand while the others swing, strike, and the mirror image goes on from there; the speed is
given.
"""

from dataclasses import replace

import casadi as ca
import numpy as np
from ocp.models.public import public_robot
from ocp.problems.public_robots import clear, exchanged, solved_standing

from ocp import (
    BSpline,
    Ground,
    Parameter,
    Point,
    Problem,
    Task,
    Tree,
    friction,
    integral,
    joint_limits,
    path,
    point_contact,
    torque_limits,
    unilateral,
    velocity_limits,
)
from ocp.cli import main
from ocp.problem import unit_length

STANDING, STRIKING = ("LF_FOOT", "RH_FOOT"), ("RF_FOOT", "LH_FOOT")
UP = (0.0, 0.0, 1.0)
FRONT, SIDE, HEIGHT = 0.46, 0.3, 0.54  # m: where feet rest, and the trunk stands
LEGS = ((0.0, 0.4, -0.8), (0.0, 0.4, -0.8), (0.0, -0.4, 0.8), (0.0, -0.4, 0.8))  # rad, LF RF LH RH
FORE, HIND = (-2.5, -0.3), (0.3, 2.5)  # rad, assumed: knees bend toward the middle
KNEES = {"LF_KFE": FORE, "RF_KFE": FORE, "LH_KFE": HIND, "RH_KFE": HIND}
SIDES, FLIPS = (("LF", "RF"), ("LH", "RH")), ("HAA",)
POSTURE = (0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0, *np.ravel(LEGS))


def anymal() -> Tree:
    """Return the robot with its feet as points."""
    tree = public_robot(
        "anymal_c_simple_description/urdf/anymal.urdf", base="free", repair="balance"
    )
    joints = [
        replace(joint, position=KNEES.get(joint.name, joint.position)) for joint in tree.joints
    ]
    points = [Point(name=foot, link=foot) for foot in (*STANDING, *STRIKING)]
    return replace(tree, joints=joints, points=points)


def problem(speed: float = 0.5, grip: float = 0.6, lift: float = 0.05, points: int = 18) -> Problem:
    """`speed`: of the trot (m/s); `grip`: coefficient of friction; `lift`: height of swinging feet
    halfway (m); `points`: control points per joint."""
    tree = anymal()
    step = Parameter("step", 0.4 * speed, "m", 0.05, 0.8, free=True)
    ground = Ground(
        feet=[
            point_contact(tree, foot, at=(_near(foot, x, "x"), _near(foot, y, "y"), 0.0))
            for foot, x, y in zip(STANDING, (FRONT, -FRONT), (SIDE, -SIDE))
        ]
    )
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=5),
        duration=(0.2, 0.8),
        ground=ground,
        symmetry=exchanged(tree, SIDES, FLIPS, step),
        objective=integral("effort per metre", lambda at: ca.sumsqr(at.tau) / step),
        constraints=(
            unilateral(tree, ground),
            friction(tree, ground, coefficient=grip),
            joint_limits(tree, hull=True),
            torque_limits(tree),
            velocity_limits(tree),
            clear(STRIKING, lift),
            unit_length(tree, "base"),
            path("begins at 0", lambda at: at.q[0], lower=0.0, upper=0.0, when="start"),
            path("speed", lambda at: step - speed * at.T, lower=0.0, upper=0.0, when="end"),
        ),
    )


def _near(foot: str, place: float, axis: str) -> Parameter:
    """Return the sought coordinate of a foothold."""
    return Parameter(f"{foot}_{axis}", place, "m", place - 0.2, place + 0.2, free=True)


TASK = Task(problem, method=solved_standing(lambda tree: POSTURE))

if __name__ == "__main__":
    main(TASK)
