"""Upright end states of swing-ups, and solution of problems with many local optima.

The best of several random starts on a coarse mesh begins the solve proper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import pi
from typing import Any, Literal, TypeAlias

from ocp import (
    PLAIN,
    BSpline,
    Guess,
    Problem,
    Radau,
    Solution,
    Solver,
    Transcription,
    Tree,
    Views,
    at_end,
    at_start,
    effort,
    solve,
)
from ocp.mechanics import structure
from ocp.problem import final
from ocp.solvers import INTERRUPTED, say
from ocp.studies import random_guess

COARSE = Transcription(method=Radau(intervals=40, order=4))
QUICK = Solver(options={"max_iter": 300})
SPREAD = 1.5  # rad or m: how far starts wander
ROUGH = 60  # control points of the straight motion from which starts wander off, for any finer one

PENALTY = 1000.0  # c1, c2: the paper prints none; so the ends are met to a tenth of a radian
Ends: TypeAlias = Literal["exact", "penalty"]


def upright(
    robot: Tree,
    motion: BSpline,
    duration: float,
    start: float,
    ends: Ends,
    weights: Mapping[str, float | None],
) -> Problem:
    """Return the swing-up of a robot from q1 = `start` (rad) to the vertical.

        J = c1 (q1(T) - pi/2)^2 + c2 q1'(T)^2 + 1/2 integral of the squared torques

    (Sohl & Bobrow 2001, eq. 83), the driven joints at rest at both ends; with exact `ends` the
    passive one is held to the vertical instead, and the `weights` c1 (N2 m2 s/rad2) and c2 (N2 m2
    s3/rad2) are None. Raises ValueError for a weight without penalties, or below zero.
    """
    passive, *driven = (joint.name for joint in robot.moving)
    still = dict.fromkeys(driven, 0.0)
    cost = 0.5 * effort(robot, driven)
    if ends == "exact":
        end = at_end(robot, q={passive: pi / 2} | still, qd=0.0)
    else:
        end = at_end(robot, q=still, qd=still)
    terms = {
        "c1": final("angle", lambda at: (at.q[0] - pi / 2) ** 2),
        "c2": final("rate", lambda at: at.qd[0] ** 2),
    }
    for name, term in terms.items():
        weight = weights[name]
        if ends == "exact" and weight is not None:
            raise ValueError(f"{name}: a weight of ends 'penalty', got it with ends 'exact'")
        weight = PENALTY if weight is None else weight
        if not weight >= 0:
            raise ValueError(f"{name}: expected a weight of at least 0, got {weight:g}")
        cost = cost if ends == "exact" else cost + weight * term
    begin = at_start(robot, q={passive: start} | still, qd=0.0)
    return Problem(
        tree=robot, motion=motion, duration=duration, objective=cost, constraints=(begin, end)
    )


def swing(
    statement: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    refine: float | None = None,
    starts: int = 16,
    seed: int = 0,
    spread: float = SPREAD,
    **settings: Any,
) -> Solution:
    """Solve from the best of several starts, whose objectives the statistics keep.

    `guess`, `refine` and further `settings`, as `watch`, are those of `solve`.
    `starts`: first guesses tried, with passive joints on a coarse mesh, the first of them straight;
    with 1, or a guess, none; `seed`: of the others, which are random; `spread`: how far they wander
    off the straight one (rad or m).
    """
    tried: list[Solution] = []
    if guess is None and starts > 1:
        tried = wander(statement, transcription, starts, seed, spread)
        guess = tried[0] if tried else None
    solution = solve(statement, transcription, solver, guess=guess, refine=refine, **settings)
    costs = [one.objective for one in tried]
    return replace(solution, statistics=dict(solution.statistics) | {"starts": costs})


def wander(
    statement: Problem, transcription: Transcription, starts: int, seed: int, spread: float
) -> list[Solution]:
    """Return the solutions from several starts that converged, best first.

    Ctrl-C in one of them ends them all: it raises KeyboardInterrupt.
    """
    if structure(statement.tree).passive:
        transcription = COARSE
        degree = statement.motion.degree
        statement = replace(statement, motion=BSpline(points=ROUGH, degree=degree))
    solutions = []
    for number in range(starts):
        say(f"tries start {number + 1} of {starts}")
        guess = random_guess(statement, transcription, number, seed=seed, spread=spread)
        solutions.append(solve(statement, transcription, QUICK, guess=guess, attempts=PLAIN))
        if solutions[-1].status == INTERRUPTED:
            raise KeyboardInterrupt
    return sorted((one for one in solutions if one.success), key=lambda one: one.objective)


def report(solution: Solution) -> dict[str, Sequence[float]]:
    """Return the objectives of all starts, best first."""
    return {"starts": solution.statistics["starts"]} if solution.statistics.get("starts") else {}


def lines(data: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """Return the report's text."""
    costs = ", ".join(f"{cost:.5g}" for cost in data["starts"])
    return (f"{'starts':<22}{len(data['starts'])} converged: {costs}",)


VIEWS = Views(report=report, lines=lines)
