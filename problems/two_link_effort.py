"""Two rods rise from horizontal to vertical with the least effort.

Sohl & Bobrow (2001), section 5.1, with parameters of our own.
"""

from math import pi

from ocp.models.two_rods import two_rods
from ocp.problems.swinging import VIEWS, swing

from ocp import BSpline, Problem, Published, Solver, Task, at_end, at_start, effort
from ocp.cli import main
from ocp.solution import solve


def problem(duration: float = 1.8, points: int = 24) -> Problem:
    """`duration`: of the motion (s); `points`: control points per joint."""
    arm = two_rods()
    return Problem(
        tree=arm,
        motion=BSpline(points=points),
        duration=duration,
        objective=0.5 * effort(),
        constraints=(at_start(arm, q=0.0, qd=0.0), at_end(arm, q=(pi / 2, 0.0), qd=0.0)),
    )


def straight_cost(duration=1.8):
    """Return the cost (N2 m2 s) of the straight path to the goal as one cubic polynomial."""
    return solve(
        problem(duration=duration, points=4), solver=Solver(options={"max_iter": 0})
    ).objective


PUBLISHED = (
    Published(
        quantity="J of the first path (N2 m2 s)",
        value=73.57,
        source="Sohl & Bobrow 2001, section 5.1",
        ours=lambda solution: straight_cost(solution.duration),
        remark="no parameters printed; straight cubic path, quintic 71",
        comparable=False,
    ),
    Published(
        quantity="J (N2 m2 s)",
        value=9.9,
        source="Sohl & Bobrow 2001, section 5.1",
        ours=lambda solution: solution.objective,
        remark="swinging down and folding, as described; with more splits 10.0909, and rarer "
        "optima lie lower",
        comparable=False,
    ),
)

TASK = Task(problem, method=swing, views=VIEWS, published=PUBLISHED)

if __name__ == "__main__":
    main(TASK)
