"""A Unitree G1 walks: one step of least effort on a flat sole, which its mirror image continues.

The robot comes from its public URDF file, with the limits there, and floats by three slides and a
quaternion. One foot stands while the other swings and comes to rest flat on the ground, without a
strike; then the feet change roles at once.
"""

from dataclasses import replace
from math import radians

import numpy as np
from ocp.models.public import public_robot
from ocp.problems.public_robots import clear, exchanged, solved_standing

from ocp import (
    BSpline,
    Ground,
    Point,
    Problem,
    Task,
    Tree,
    area_contact,
    dynamic_effort,
    friction,
    joint_limits,
    pose_along,
    pressure_inside,
    smoothness,
    torque_limits,
    unilateral,
    velocity_limits,
)
from ocp.cli import main
from ocp.mechanics import locked, position, positive
from ocp.problem import INSIDE, unit_length

# corners of a sole in the ankle's frame (m), below the file's spheres; counter-clockwise from above
CORNERS = {
    "heel right": (-0.05, -0.025, -0.035),
    "toe right": (0.12, -0.03, -0.035),
    "toe left": (0.12, 0.03, -0.035),
    "heel left": (-0.05, 0.025, -0.035),
}
HELD = "waist_roll", "waist_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist"
ARMS = {"elbow": 1.0, "left_shoulder_roll": 0.15, "right_shoulder_roll": -0.15}  # rad
BENT = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35}  # rad: the posture of the guess
UPRIGHT = "about x", "about y"
SIDES, FLIPS = (("left_", "right_"),), ("roll", "yaw")


def g1(bend: float = 0.2) -> Tree:
    """Return the robot, its trunk and arms stiff but for waist yaw and shoulder pitch, with the
    corners of its soles as points; `bend`: of knees, at least (rad)."""
    tree = public_robot("g1_description/urdf/g1_29dof_rev_1_0.urdf", base="free")
    names = [joint.name for joint in tree.moving]
    still = {name: _angle(name, ARMS) for name in names if any(part in name for part in HELD)}
    corners = [
        Point(name=f"{side} {name}", link=f"{side}_ankle_roll_link", position=place)
        for side in ("left", "right")
        for name, place in CORNERS.items()
    ]
    tree = locked(tree, still)
    joints = [
        replace(joint, position=(bend, joint.position[1])) if "knee" in joint.name else joint
        for joint in tree.joints
    ]
    return replace(tree, joints=joints, points=corners)


def _angle(name: str, angles: dict[str, float]) -> float:
    return next((angle for part, angle in angles.items() if part in name), 0.0)


def problem(
    speed: float = 0.5,
    step: float = 0.25,
    width: float = 0.2,
    lift: float = 0.05,
    grip: float = 0.6,
    twist: float = 0.03,
    bend: float = 0.2,
    tilt: float = 5.0,
    turn: float = 100.0,
    points: int = 20,
) -> Problem:
    """`speed`: of the walk (m/s); `step`: way from foot to foot (m); `width`: between the middles
    of soles (m); `lift`: height of the swinging foot halfway, at least (m); `grip`: coefficient of
    friction; `twist`: moment about the vertical by the force of the sole, at most (m); `bend`: of
    knees, at least (rad); `tilt`: of the pelvis, at most (deg); `turn`: acceleration of a joint
    that counts as 1 (rad/s2); `points`: control points per joint."""
    positive("speed", speed)
    positive("step", step)
    tree = g1(bend)
    heel, toe = (np.array(place) for place in list(CORNERS.values())[:2])
    at = (heel[0], width / 2 + heel[1], 0.0)
    sole = [f"left {name}" for name in CORNERS]
    ground = Ground(feet=[area_contact(tree, sole, name="left foot", at=at, along=toe - heel)])
    drives = [joint.name for joint in tree.moving if joint.actuated]
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=5),
        duration=step / speed,
        ground=ground,
        symmetry=exchanged(tree, SIDES, FLIPS, step),
        objective=dynamic_effort(tree) + smoothness(tree, drives, turn=turn),
        constraints=(
            unilateral(tree, ground),
            friction(tree, ground, coefficient=grip, torsion=twist),
            pressure_inside(tree, ground),
            joint_limits(tree),
            velocity_limits(tree),
            torque_limits(tree),
            pose_along(tree, "pelvis", np.eye(4), turn=radians(tilt), rows=UPRIGHT),
            clear([f"right {name}" for name in CORNERS], lift, when=INSIDE),
            unit_length(tree, "base"),
        ),
    )


def standing(tree: Tree) -> np.ndarray:
    """Return q of the robot on bent knees, its soles on the ground."""
    q = np.array([_angle(joint.name, BENT) for joint in tree.moving])
    q[tree.coordinate("base.w")] = 1.0
    x, _, z = np.array(position(tree, q, "left heel left")).ravel()
    q[:3] = CORNERS["heel left"][0] - x, 0.0, -z
    return q


TASK = Task(problem, method=solved_standing(standing))

if __name__ == "__main__":
    main(TASK)
