"""The acrobot swings up with the least effort of its elbow.

Sohl & Bobrow (2001), section 5.2, with Spong's parameters; as published it is `sohl_swing`.
"""

from ocp import BSpline, Problem, Task
from ocp.cli import main
from ocp.models.swing_ups.acrobot import acrobot
from ocp.problems.swing_ups.upright_ends import VIEWS, Ends, swing, upright


def problem(
    start: float = -1.0,
    duration: float = 3.0,
    points: int = 180,
    degree: int = 5,
    ends: Ends = "exact",
    c1: float | None = None,
    c2: float | None = None,
) -> Problem:
    """`start`: angle of the shoulder from the horizontal (rad), -1.0 or -1.3 in the paper;
    `duration`: of the motion (s); `points`: control points per joint; `degree`: of the spline;
    `ends`: how the vertical is met, exactly or by penalties on the passive joint's angle and rate
    at the end (eq. 83); `c1`: weight of the former (N2 m2 s/rad2), 1000 if none is given; `c2`: of
    the latter (N2 m2 s3/rad2), likewise.
    """
    motion = BSpline(points=points, degree=degree)
    return upright(acrobot(), motion, duration, start, ends, {"c1": c1, "c2": c2})


TASK = Task(problem, method=swing, views=VIEWS)

if __name__ == "__main__":
    main(TASK)
