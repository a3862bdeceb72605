"""Stays that the motion closes by itself, solved from loose ones: their leak is driven down, each
time from the last answer."""

from dataclasses import replace
from typing import Any

from ocp.mechanics.checks import positive
from ocp.problem.statement import Problem
from ocp.progress import say
from ocp.solution.solution import Solution
from ocp.solution.solving import solve
from ocp.solution.starts import Guess
from ocp.solvers.minimizing import Solver
from ocp.transcription.transcribe import Transcription

LOOSE = 100.0  # J: the first leak
FACTOR = 10.0  # by which leaks shrink


def tighten(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    loose: float = LOOSE,
    **settings: Any,
) -> Solution:
    """Return the Solution of a problem whose stays find out when they close.

    They begin with a leak of `loose` (J) and end with their own, a tenth of the last one each time
    (Scholtes 2001). Which of many orders of closing and opening comes out depends on the start, and
    is a local optimum; prescribe it (`Stay.closed`) to make the motion exact. Further `settings`
    are those of `solve`; iterations of all rounds are added up. Raises ValueError for a tree
    without such stays.
    """
    stays = [stay for stay in problem.tree.stays if stay.closed is None]
    if not stays:
        raise ValueError("tighten: the tree has no stays that the motion is to close")
    leak = positive("tighten: loose (J)", loose)
    iterations: list[int] = []
    while leak > min(stay.leak for stay in stays):
        say(f"tightens stays to {leak:g} J")
        guess = solve(_with(problem, leak), transcription, solver, guess=guess, **settings)
        iterations.append(int(guess.statistics.get("iterations", 0)))
        leak /= FACTOR
    solution = solve(problem, transcription, solver, guess=guess, **settings)
    iterations.append(int(solution.statistics.get("iterations", 0)))
    kept = {"tightening": iterations, "iterations": sum(iterations)}
    return replace(solution, statistics=dict(solution.statistics) | kept)


def _with(problem: Problem, leak: float) -> Problem:
    """Return the problem with stays that leak so much, if that is more than they do."""
    stays = [replace(stay, leak=max(leak, stay.leak)) for stay in problem.tree.stays]
    return replace(problem, tree=replace(problem.tree, stays=tuple(stays)))
