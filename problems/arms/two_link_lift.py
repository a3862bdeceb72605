"""Two-link arm lifting a load against gravity, time and effort mixed.

Xiang et al. (2009), example 2.
"""

from ocp import (
    BSpline,
    Load,
    Parameter,
    Problem,
    Published,
    Task,
    at_end,
    at_start,
    mixed_criterion,
    torque_limits,
)
from ocp.cli import main
from ocp.models.arms.two_link import two_link


def problem(
    u: float = 0.01,
    load: float = 10.0,
    gravity: float = 9.8062,
    torque: float = 10.0,
    points: int = 22,
) -> Problem:
    """`u`: weight of effort against time, 0 to 1; `load`: downward force at the tip (N); `gravity`:
    its strength (m/s2); `torque`: limit at both joints (N m); `points`: control points per joint.
    """
    arm = two_link(torque=torque, gravity=gravity)
    return Problem(
        tree=arm,
        motion=BSpline(points=points),
        duration=(0.1, 5.0),
        objective=mixed_criterion(u),
        constraints=(
            at_start(arm, q=(1.32, -2.37), qd=0.0),
            at_end(arm, q=(2.80, -2.37), qd=0.0),
            torque_limits(arm),
        ),
        loads=(Load(point="tip", force=(0.0, -load, 0.0)),),
    )


PUBLISHED = (
    Published(
        quantity="T (s)",
        value=0.520,
        within=0.0015,
        source="Xiang et al. 2009, example 2",
        optimum=0.51886,
        ours=lambda solution: solution.duration,
        remark="J = 0.844878 at the true optimum; T is flat there",
    ),
)

OPEN = (
    Parameter("u", 0.01, lower=0.0, upper=1.0),
    Parameter("load", 10.0, "N"),
    Parameter("gravity", 9.8062, "m/s2"),
    Parameter("torque", 10.0, "N m", lower=0.1),
)
TASK = Task(problem, published=PUBLISHED, parameters=OPEN)

if __name__ == "__main__":
    main(TASK)
