"""A leg and a trunk stand up from a squat, by nine muscles or by torques (Dembia et al. 2020).

The foot stays on the ground; ankle, knee and hip begin bent and at rest and end upright after one
second. What is least is the squared excitation of muscles, or the squared share of torques. As
Moco's example has it, active curves are half as wide again and fibres soft, since muscles of gait
are short in a squat; five of nine tendons stretch, and begin in equilibrium.
"""

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from ocp import (
    BSpline,
    Constraint,
    HermiteSimpson,
    Problem,
    Task,
    Transcription,
    at_end,
    at_start,
    joint_limits,
    squares,
    torque_limits,
)
from ocp.cli import main
from ocp.mechanics import positive
from ocp.models.human.muscles.squat_leg import squat_leg
from ocp.problem import muscle_effort, muscle_outputs

SQUAT = {"ankle": -0.5, "knee": -2.0, "hip": -2.0}  # rad
STRONGEST = (150.0, 300.0, 150.0)  # N m, of ankle, knee and hip in the muscles' place, as there
WIDTH, STRAIN = 1.5, 3.0  # of Moco's example
INTERVALS = 70  # of the mesh: tendons settle within some ms


def problem(torques: bool = False, time: float = 1.0) -> Problem:
    """`torques`: move the joints, in the place of muscles; `time`: from squat to stand (s)."""
    positive("time", time)
    if torques:
        tree = squat_leg(STRONGEST)
        objective = squares("effort", lambda at: at.tau / ca.DM(STRONGEST))
        more: tuple[Constraint, ...] = (torque_limits(tree),)
        outputs: Mapping[str, Callable[..., Any]] = {}
    else:
        tree = squat_leg(width=WIDTH, fibre_strain=STRAIN)
        objective = muscle_effort(tree)
        more, outputs = (), muscle_outputs(tree)
    rates = {joint.name: 0.0 for joint in tree.moving if not joint.name.endswith(".activation")}
    return Problem(
        tree=tree,
        motion=BSpline(points=20),
        duration=time,
        objective=objective,
        constraints=(
            at_start(tree, q=SQUAT, qd=rates),
            at_end(tree, q=0.0, qd=0.0),
            joint_limits(tree),
            *more,
        ),
        outputs=outputs,
    )


TASK = Task(
    problem,
    transcription=Transcription(method=HermiteSimpson(intervals=INTERVALS)),
)

if __name__ == "__main__":
    main(TASK)
