"""A trunk with two driven legs swings up with the least effort.

Sohl & Bobrow (2001), section 5.3, with parameters of our own; as published it is `sohl_swing`.
"""

from ocp import BSpline, Problem, Task
from ocp.cli import main
from ocp.models.swing_ups.branched_acrobot import branched_acrobot
from ocp.problems.swing_ups.upright_ends import VIEWS, Ends, swing, upright


def problem(
    start: float = -1.0,
    duration: float = 3.0,
    points: int = 360,
    degree: int = 5,
    ends: Ends = "exact",
    c1: float | None = None,
    c2: float | None = None,
) -> Problem:
    """`start`: angle of the trunk from the horizontal (rad); `duration`: of the motion (s);
    `points`: control points per joint; `degree`: of the spline; `ends`: how the vertical is met,
    exactly or by penalties on the passive joint's angle and rate at the end (eq. 83); `c1`: weight
    of the former (N2 m2 s/rad2), 1000 if none is given; `c2`: of the latter (N2 m2 s3/rad2),
    likewise.
    """
    motion = BSpline(points=points, degree=degree)
    return upright(branched_acrobot(), motion, duration, start, ends, {"c1": c1, "c2": c2})


TASK = Task(problem, method=swing, views=VIEWS)

if __name__ == "__main__":
    main(TASK)
