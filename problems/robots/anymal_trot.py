"""ANYmal C trots: half a cycle of least squared torque, its footholds and its pace found.

The robot comes from its public URDF file and floats by three slides and a quaternion. Two feet on a
diagonal stand while the others swing, strike, and the mirror image goes on from there; the speed is
given.
"""

import casadi as ca

from ocp import (
    BSpline,
    Parameter,
    Problem,
    Task,
    at_start,
    clearance,
    contact_limits,
    footholds,
    from_posture,
    integral,
    limits,
    mirror_symmetry,
    unit_length,
    with_limits,
)
from ocp.cli import main
from ocp.models.public import public_robot

FILE = "anymal_c_simple_description/urdf/anymal.urdf"
KNEES = {"F_KFE": (-2.5, -0.3), "H_KFE": (0.3, 2.5)}  # rad, assumed: they bend toward the middle
FEET = {"LF_FOOT": (0.46, 0.3), "RH_FOOT": (-0.46, -0.3)}  # m: where the search for them begins
LEGS = {"F_HFE": 0.4, "F_KFE": -0.8, "H_HFE": -0.4, "H_KFE": 0.8}  # rad: likewise


def problem(speed: float = 0.5, grip: float = 0.6, lift: float = 0.05, points: int = 18) -> Problem:
    """`speed`: of the trot (m/s); `grip`: coefficient of friction; `lift`: height of swinging feet
    halfway (m); `points`: control points per joint."""
    tree = with_limits(public_robot(FILE, base="free", repair="balance"), position=KNEES)
    step = Parameter("step", 0.4 * speed, "m", 0.05, 0.8, free=True)
    ground = footholds(tree, FEET, within=0.2)
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=5),
        duration=step / speed,
        ground=ground,
        symmetry=mirror_symmetry(tree, shift={"base_x": step}, qdd=False),
        objective=integral("effort per metre", lambda at: ca.sumsqr(at.tau) / step),
        constraints=(
            contact_limits(tree, ground, coefficient=grip),
            limits(tree, hull=True),
            clearance(tree, ("RF_FOOT", "LH_FOOT"), lift),
            unit_length(tree, "base"),
            at_start(tree, q={"base_x": 0.0}),
        ),
    )


TASK = Task(problem, method=from_posture(LEGS))

if __name__ == "__main__":
    main(TASK)
