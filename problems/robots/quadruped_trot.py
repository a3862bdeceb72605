"""A planar quadruped trots: half a cycle of least squared torque per metre, its footholds found.

Two feet on a diagonal stand, all are in the air, and the other two strike: the mirror image goes
on from there. Durations of stance and flight, where feet stand and how far a step goes are all
found; the speed is given.
"""

from collections.abc import Sequence
from math import inf

import casadi as ca

from ocp import (
    BSpline,
    Constraint,
    Ground,
    Parameter,
    Phase,
    Problem,
    Task,
    continuous,
    friction,
    impact,
    integral,
    joint_limits,
    path,
    point_contact,
    torque_limits,
    unilateral,
)
from ocp.cli import main
from ocp.mechanics import positive
from ocp.models.walkers.quadruped import FEET, exchanged, quadruped
from ocp.problem import mirror_symmetry

UP = (0.0, 1.0, 0.0)
STANDING, STRIKING = (FEET[0], FEET[3]), (FEET[1], FEET[2])  # diagonals: left fore with right hind


def problem(speed: float = 1.0, grip: float = 0.6, points: int = 28, degree: int = 5) -> Problem:
    """`speed`: of the trot (m/s); `grip`: coefficient of friction; `points`: control points per
    joint and phase; `degree`: of the splines, whose law holds the better between its instants the
    smoother they are."""
    positive("speed", speed)
    tree = quadruped()
    step = Parameter("step", 0.2 * speed, "m", 0.02, 0.8, free=True)
    places = [
        Parameter(name.replace(" ", "_"), at, "m", at - 0.3, at + 0.3, free=True)
        for name, at in zip(STANDING, (0.19, -0.19))
    ]
    ground = Ground(
        feet=[
            point_contact(tree, name, at=(place, 0.0, 0.0)) for name, place in zip(STANDING, places)
        ]
    )
    motion = BSpline(points=points, degree=degree)
    limits = unilateral(tree, ground), friction(tree, ground, coefficient=grip)
    other = mirror_symmetry(tree, exchanged(), [1.0] * tree.dof, shift={"x": step}, qdd=False)
    return Problem(
        tree=tree,
        phases=(
            Phase(
                "stance",
                motion=motion,
                duration=(0.05, 0.4),
                ground=ground,
                constraints=(*limits, clear(STRIKING)),
            ),
            Phase("flight", motion=motion, duration=(0.02, 0.3), constraints=(clear(FEET),)),
        ),
        links=(continuous(), impact(*STRIKING, normal=UP, friction=grip, symmetry=other)),
        constraints=(
            joint_limits(tree),
            torque_limits(tree),
            Constraint(
                name="speed",
                function=lambda T: (step - speed * sum(T.values())) / speed,
                lower=0.0,
                upper=0.0,
                when="durations",
                units="s",
            ),
            path("begins at 0", lambda at: at.q[0], lower=0.0, upper=0.0, when="start"),
        ),
        objective=integral("effort per metre", lambda at: ca.sumsqr(at.tau) / step),
    )


def clear(feet: Sequence[str]) -> Constraint:
    """Keep feet above the ground."""
    return path(
        "clear",
        lambda at: ca.vertcat(*(at.position(foot)[1] for foot in feet)),
        lower=0.0,
        upper=inf,
        labels=tuple(feet),
        units="m",
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
