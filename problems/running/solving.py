"""How a run is solved: from standing, by way of a step whose phases last as usual."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from ocp.problems.gait.walking import TUNED, together
from ocp.problems.running.statement import begun

from ocp import Attempt, Guess, Problem, Solution, Solver, Transcription, solve
from ocp.solution import budget, staged

COARSE = 8  # control points per joint and phase of the first stage
WAYPOINTS = 25  # of each phase, from which the second begins
FIRST = TUNED | {"max_iter": 300}
SECOND = TUNED | {"max_iter": 500, "mu_init": 1e-2}


def run(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    **settings: Any,
) -> Solution:
    """Solve a run from the standing posture, q = 0, or from a guess.

    Phases first last as usual, and motion is much smoother; from there durations are found, and
    effort is that of excitation. Statistics are of both; a first stage that fails is returned.
    """
    attempts = (Attempt(options=SECOND),)
    if guess is not None:
        given: dict[str, Any] = {"guess": guess, "attempts": attempts, "watch": watch}
        return solve(problem, transcription, solver, **given, **settings)
    still = Guess(q=np.zeros((problem.tree.dof, 2)))
    first = solve(
        begun(problem, COARSE),
        transcription,
        solver,
        guess=still,
        attempts=(Attempt(options=FIRST),),
        watch=staged(watch, "durations as usual"),
    )
    if not first.success:
        return first
    spent = first.statistics
    left = budget(solver).after(spent["iterations"], spent["solve_seconds"], spent["solve_seconds"])
    given = {"guess": waypoints(first), "attempts": attempts, "watch": watch}
    last = solve(problem, transcription, left.limit(solver), **given, **settings)
    if not last.success:
        return last
    return replace(last, statistics=together(spent, last.statistics))


def waypoints(solution: Solution) -> dict[str, Guess]:
    """Return the motion of each phase of a solution as guesses."""
    return {
        name: Guess(q=phase.q(phase.times(WAYPOINTS)), duration=phase.duration)
        for name, phase in solution.phases.items()
    }
