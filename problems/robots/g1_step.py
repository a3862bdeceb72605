"""A Unitree G1 walks: one step of least effort on a flat sole, which its mirror image continues.

The robot comes from its public URDF file, with the limits there, and floats by three slides and a
quaternion. One foot stands while the other swings and comes to rest flat on the ground, without a
strike; then the feet change roles at once.
"""

from math import radians

import numpy as np

from ocp import (
    BSpline,
    Problem,
    Task,
    clearance,
    contact_limits,
    dynamic_effort,
    footholds,
    from_posture,
    limits,
    mirror_symmetry,
    pose_along,
    smoothness,
    unit_length,
    with_limits,
    with_locked_joints,
)
from ocp.cli import main
from ocp.models.public import public_robot
from ocp.problem import INSIDE

SOLES = "left_ankle_roll_link", "right_ankle_roll_link"
STIFF = dict.fromkeys(("waist_roll", "waist_pitch", "shoulder_yaw", "wrist"), 0.0)  # rad
ARMS = {"left_shoulder_roll": 0.15, "right_shoulder_roll": -0.15, "elbow": 1.0}  # rad


def problem(speed: float = 0.5, step: float = 0.25, tilt: float = 5.0, points: int = 20) -> Problem:
    """`speed`: of the walk (m/s); `step`: way from foot to foot (m); `tilt`: of the
    pelvis, at most (deg); `points`: control points per joint.

    Assumed: soles 0.2 m apart that swing 0.05 m high, knees bent by 0.2 rad at least, friction of
    0.6 and about the vertical of 0.03 m times the force; 100 rad/s2 count as 1.
    """
    tree = public_robot("g1_description/urdf/g1_29dof_rev_1_0.urdf", base="free", soles=SOLES)
    tree = with_limits(with_locked_joints(tree, STIFF | ARMS), position={"knee": (0.2, None)})
    ground = footholds(tree, {SOLES[0]: (0.0, 0.1)})
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=5),
        duration=step / speed,
        ground=ground,
        symmetry=mirror_symmetry(tree, shift={"base_x": step}, qdd=False),
        objective=dynamic_effort(tree) + smoothness(tree, tree.driven, turn=100.0),
        constraints=(
            contact_limits(tree, ground, coefficient=0.6, torsion=0.03),
            limits(tree),
            pose_along(tree, "pelvis", np.eye(4), turn=radians(tilt), rows=("about x", "about y")),
            clearance(tree, SOLES[1], 0.05, when=INSIDE),
            unit_length(tree, "base"),
        ),
    )


TASK = Task(problem, method=from_posture({"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35}))

if __name__ == "__main__":
    main(TASK)
