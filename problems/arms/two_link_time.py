"""Two-link arm, rest to rest in minimum time under torque limits.

Xiang et al. (2009), example 1; Barman (2020), section 4.1. The plane is horizontal, so that gravity
loads the joints and not their torques.
"""

from ocp import (
    BSpline,
    Parameter,
    Problem,
    Published,
    Task,
    at_end,
    at_start,
    duration,
    torque_limits,
)
from ocp.cli import main
from ocp.models.arms.two_link import two_link

GRAVITY = 9.81  # m/s2, across the plane


def problem(torque: float = 10.0, points: int = 22) -> Problem:
    """`torque`: limit at both joints (N m); `points`: control points per joint."""
    arm = two_link(torque=torque, across=GRAVITY)
    return Problem(
        tree=arm,
        motion=BSpline(points=points),
        duration=(0.1, 5.0),
        objective=duration(),
        constraints=(
            at_start(arm, q=(0.0, -2.0), qd=0.0),
            at_end(arm, q=(1.0, -1.0), qd=0.0),
            torque_limits(arm),
        ),
    )


FASTEST = 0.3918545  # s: bang-bang solution by shooting on the maximum principle
AT_KNOTS = {"nodes": 1, "quadrature": "trapezoid"}
PUBLISHED = (
    Published(
        quantity="T (s)",
        value=0.3934,
        within=0.004,
        source="Xiang et al. 2009, example 1",
        optimum=FASTEST,
        settings=AT_KNOTS,
        ours=lambda solution: solution.duration,
        remark="bounds at the knots; the print lies nearest to 21 points with denser bounds",
    ),
    Published(
        quantity="T (s)",
        value=0.392,
        within=0.001,
        source="Barman 2020, section 4.1",
        optimum=FASTEST,
        settings=AT_KNOTS,
        ours=lambda solution: solution.duration,
        remark="bounds at the knots",
    ),
)

OPEN = (Parameter("torque", 10.0, "N m", lower=0.1),)
TASK = Task(problem, published=PUBLISHED, parameters=OPEN)

if __name__ == "__main__":
    main(TASK)
