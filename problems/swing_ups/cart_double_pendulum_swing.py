"""A cart swings two poles up with the least squared force and ends where it began.

The task of Graichen, Treuer & Zeitz (2007), with parameters of our own.
"""

from math import pi

from ocp import BSpline, Problem, Task, at_end, at_start, effort, joint_limits, torque_limits
from ocp.cli import main
from ocp.models.swing_ups.cart_double_pendulum import cart_double_pendulum


def problem(
    travel: float = 0.0,
    duration: float = 2.0,
    force: float = 20.0,
    points: int = 200,
    degree: int = 5,
) -> Problem:
    """From the straight motion comes a swing of 146.286 N2 s; another one costs 131.516.

    `travel`: of the cart (m); `duration`: of the motion (s); `force`: limit on the cart (N);
    `points`: control points per joint; `degree`: of the spline.
    """
    cart = cart_double_pendulum(force=force)
    return Problem(
        tree=cart,
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        objective=effort(cart, ("cart",)),
        constraints=(
            at_start(cart, q=0.0, qd=0.0),
            at_end(cart, q=(travel, pi, 0.0), qd=0.0),
            joint_limits(cart),
            torque_limits(cart),
        ),
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
