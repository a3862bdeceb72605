"""A cart swings its pole up in two seconds with the least squared force (Kelly 2017)."""

from math import pi

from ocp import BSpline, Problem, Task, at_end, at_start, effort, joint_limits, torque_limits
from ocp.cli import main
from ocp.models.swing_ups.cart_pole import cart_pole


def problem(
    travel: float = 1.0,
    duration: float = 2.0,
    force: float = 20.0,
    points: int = 40,
    degree: int = 5,
) -> Problem:
    """From the straight motion comes the textbook's swing, 58.8077 N2 s; one to the other side
    first costs 57.9448.

    `travel`: of the cart (m); `duration`: of the motion (s); `force`: limit on the cart (N);
    `points`: control points per joint; `degree`: of the spline.
    """
    cart = cart_pole(force=force)
    return Problem(
        tree=cart,
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        objective=effort(cart, ("cart",)),
        constraints=(
            at_start(cart, q=0.0, qd=0.0),
            at_end(cart, q=(travel, pi), qd=0.0),
            joint_limits(cart),
            torque_limits(cart),
        ),
    )


TASK = Task(problem)

if __name__ == "__main__":
    main(TASK)
