"""A trunk with two driven legs swings up with the least effort.

Sohl & Bobrow (2001), section 5.3, with parameters of our own and exact ends.
"""

from math import pi

from ocp.models.branched_acrobot import branched_acrobot
from ocp.problems.swinging import VIEWS, swing

from ocp import BSpline, Problem, Task, at_end, at_start, effort
from ocp.cli import main


def problem(
    start: float = -1.0, duration: float = 3.0, points: int = 360, degree: int = 5
) -> Problem:
    """`start`: angle of the trunk from the horizontal (rad); `duration`: of the motion (s);
    `points`: control points per joint; `degree`: of the spline.
    """
    robot = branched_acrobot()
    return Problem(
        tree=robot,
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        objective=0.5 * effort(robot, ("left", "right")),
        constraints=(
            at_start(robot, q=(start, 0.0, 0.0), qd=0.0),
            at_end(robot, q=(pi / 2, 0.0, 0.0), qd=0.0),
        ),
    )


TASK = Task(problem, method=swing, views=VIEWS)

if __name__ == "__main__":
    main(TASK)
