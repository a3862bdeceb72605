"""How the problems with many local optima are solved.

The best of several random starts on a coarse mesh begins the solve proper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ocp import PLAIN, BSpline, Guess, Problem, Radau, Solution, Solver, Transcription, Views, solve
from ocp.mechanics import structure
from ocp.progress import say
from ocp.solvers import INTERRUPTED
from ocp.studies import wandering

COARSE = Transcription(method=Radau(intervals=40, order=4))
QUICK = Solver(options={"max_iter": 300})
SPREAD = 1.5  # rad or m: how far starts wander
ROUGH = 60  # control points of the straight motion from which starts wander off, for any finer one


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
        guess = wandering(statement, transcription, number, seed=seed, spread=spread)
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
