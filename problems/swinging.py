"""How the problems with many local optima are solved: the best of several random starts on a coarse mesh begins the solve proper."""

from dataclasses import replace

from ocp import Solver, Transcription, Views
from ocp.mechanics.structure import structure
from ocp.solution import solve
from ocp.studies import wandering
from ocp.transcription.methods import Radau

COARSE, QUICK, SPREAD = (
    Transcription(method=Radau(intervals=40, order=4)),
    Solver(options={"max_iter": 300}),
    1.5,
)
ROUGH = 60  # control points of the straight motion from which starts wander off, for any finer one


def swing(
    statement,
    transcription=Transcription(),
    solver=Solver(),
    *,
    guess=None,
    watch=None,
    starts: int = 16,
    seed: int = 0,
    spread: float = SPREAD,
):
    """Solve from the best of several starts, whose objectives the statistics keep.

    `starts`: first guesses tried, with passive joints on a coarse mesh, the first of them straight; with 1, or a guess, none; `seed`: of
    the others, which are random; `spread`: how far they wander off the straight one (rad or m).
    """
    found = []
    if guess is None and starts > 1:
        coarse, rough = (
            (COARSE, replace(statement, motion=replace(statement.motion, points=ROUGH)))
            if structure(statement.tree).passive
            else (transcription, statement)
        )
        for number in range(starts):
            found.append(
                solve(
                    rough,
                    coarse,
                    QUICK,
                    guess=wandering(rough, coarse, number, seed=seed, spread=spread),
                )
            )
        guess = min(
            (solution for solution in found if solution.success),
            key=lambda solution: solution.objective,
            default=None,
        )
    solution = solve(statement, transcription, solver, guess=guess, watch=watch)
    costs = sorted(solution.objective for solution in found if solution.success)
    return replace(solution, statistics=dict(solution.statistics) | {"starts": costs})


def report(solution):
    """Return the objectives of all starts, best first."""
    return {"starts": solution.statistics["starts"]} if solution.statistics.get("starts") else {}


def lines(found):
    """Return the report's text."""
    return (
        f"{'starts':<22}{len(found['starts'])} converged: "
        + ", ".join(f"{cost:.5g}" for cost in found["starts"]),
    )


VIEWS = Views(report=report, lines=lines)
