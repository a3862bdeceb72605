"""How a run is solved: from standing, by way of a step whose phases last as usual."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from ocp.problems.gait.walking import TUNED, together
from ocp.problems.running.statement import begun

from ocp import Attempt, Guess, Problem, Solution, Solver, Transcription, solve
from ocp.solution import budget, staged

COARSE = 8  # control points per joint and phase of the first stage
MIDDLE = 16  # those of the second at most
WAYPOINTS = 25  # of each phase, from which the second begins
FIRST = TUNED | {"max_iter": 300}
SECOND = TUNED | {"max_iter": 400, "mu_init": 1e-2}
LAST = TUNED | {"max_iter": 200, "mu_init": 1e-6}


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
    effort is that of excitation, on coarse splines and then on the problem's own. Statistics are of
    all; a stage that fails is returned.
    """
    if guess is not None:
        attempts = (Attempt(options=LAST if isinstance(guess, Solution) else SECOND),)
        given: dict[str, Any] = {"guess": guess, "attempts": attempts, "watch": watch}
        return solve(problem, transcription, solver, **given, **settings)
    still = Guess(q=np.zeros((problem.tree.dof, 2)))
    stages: tuple[tuple[str, Problem, dict[str, Any]], ...] = (
        ("durations as usual", begun(problem, COARSE), FIRST),
        ("coarse splines", coarser(problem, MIDDLE), SECOND),
        ("", problem, LAST),
    )
    solution: Solution | None = None
    start: Any = still
    left = solver
    for name, stage, options in stages:
        given = {"attempts": (Attempt(options=options),), "watch": staged(watch, name)}
        last = settings if stage is problem else {}
        now = solve(stage, transcription, left, guess=start, **given, **last)
        if not now.success:
            return now
        spent = now.statistics
        if solution is not None:
            now = replace(now, statistics=together(solution.statistics, spent))
        solution, start = now, waypoints(now) if name == stages[0][0] else without(now)
        used = solution.statistics
        left = budget(solver).after(used["iterations"], *[used["solve_seconds"]] * 2).limit(solver)
    return cast(Solution, solution)


def coarser(problem: Problem, points: int) -> Problem:
    """Return a run on at most that many control points per joint and phase."""

    def fewer(motion: Any) -> Any:
        return replace(motion, points=min(points, motion.points))

    return replace(problem, phases=[replace(p, motion=fewer(p.motion)) for p in problem.phases])


def without(solution: Solution) -> Solution:
    """Return a solution without its multipliers, which are of other rows on other splines."""
    return replace(solution, multipliers={})


def waypoints(solution: Solution) -> dict[str, Guess]:
    """Return the motion of each phase of a solution as guesses."""
    return {
        name: Guess(q=phase.q(phase.times(WAYPOINTS)), duration=phase.duration)
        for name, phase in solution.phases.items()
    }
