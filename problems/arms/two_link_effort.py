"""Two rods rise from horizontal to vertical with the least effort.

Sohl & Bobrow (2001), section 5.1, with parameters of our own; 0.5255 kg and 1.85 s give both of the
printed costs.
"""

from functools import partial
from math import pi

from ocp import BSpline, Problem, Published, Solution, Solver, Task, at_end, at_start, effort
from ocp.cli import main
from ocp.models.arms.two_rods import MASS, two_rods
from ocp.problems.swing_ups.upright_ends import VIEWS, swing
from ocp.solving import solve


def problem(duration: float = 1.8, points: int = 24, mass: float = MASS) -> Problem:
    """`duration`: of the motion (s); `points`: control points per joint; `mass`: of a rod (kg)."""
    arm = two_rods(mass)
    return Problem(
        tree=arm,
        motion=BSpline(points=points),
        duration=duration,
        objective=0.5 * effort(),
        constraints=(at_start(arm, q=0.0, qd=0.0), at_end(arm, q=(pi / 2, 0.0), qd=0.0)),
    )


def straight_cost(duration: float = 1.8, mass: float = MASS) -> float:
    """Return the cost (N2 m2 s) of the straight path to the goal as one cubic polynomial."""
    path = problem(duration, points=4, mass=mass)
    return solve(path, solver=Solver(options={"max_iter": 0})).objective


def first_cost(solution: Solution) -> float:
    """Return the cost (N2 m2 s) of the straight path of a solution's rods in its time."""
    return straight_cost(solution.duration, solution.problem.tree.links[0].mass)


FITTED = {"duration": 1.85, "mass": 0.5255}  # with which both printed costs are met
FITS = "rods and time fitted to both printed costs: two data to two numbers, no evidence for them"


RODS = partial(Published, source="Sohl & Bobrow 2001, section 5.1", comparable=False)
FIRST = partial(RODS, quantity="J of the first path (N2 m2 s)", value=73.57, ours=first_cost)
LAST = partial(RODS, quantity="J (N2 m2 s)", value=9.9, ours=lambda solution: solution.objective)
PUBLISHED = (
    FIRST(remark="no parameters printed; straight cubic path, quintic 71"),
    LAST(
        remark="swinging down and folding, as described; with more splits 10.0909, and rarer "
        "optima lie lower"
    ),
    FIRST(remark=FITS, arguments=FITTED),
    LAST(remark=FITS, arguments=FITTED),
)

TASK = Task(problem, method=swing, views=VIEWS, published=PUBLISHED)

if __name__ == "__main__":
    main(TASK)
