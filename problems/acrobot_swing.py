"""The acrobot swings up with the least effort of its elbow.

Sohl & Bobrow (2001), section 5.2, with Spong's parameters and exact ends.
"""

from math import pi

from ocp.models.acrobot import acrobot
from ocp.problems.swinging import VIEWS, swing

from ocp import BSpline, Problem, Task, at_end, at_start, effort
from ocp.cli import main


def problem(
    start: float = -1.0, duration: float = 3.0, points: int = 180, degree: int = 5
) -> Problem:
    """`start`: angle of the shoulder from the horizontal (rad), -1.0 or -1.3 in the paper;
    `duration`: of the motion (s); `points`: control points per joint; `degree`: of the spline.
    """
    robot = acrobot()
    return Problem(
        tree=robot,
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        objective=0.5 * effort(robot, ("elbow",)),
        constraints=(
            at_start(robot, q=(start, 0.0), qd=0.0),
            at_end(robot, q=(pi / 2, 0.0), qd=0.0),
        ),
    )


TASK = Task(problem, method=swing, views=VIEWS)

if __name__ == "__main__":
    main(TASK)
