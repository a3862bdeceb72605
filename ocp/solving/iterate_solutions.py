"""Iterates of a running solve as Solutions, for watchers."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ocp.solution.solution import Solution
from ocp.solvers.budget import Watch
from ocp.solvers.minimize import Outcome
from ocp.solvers.nlp import Iterate
from ocp.solvers.progress import Iteration
from ocp.solving.solution_from_outcome import solution_of
from ocp.transcription.transcribe import Transcribed

UNDER_WAY = "under way"


def with_motions(transcribed: Transcribed, watch: Watch) -> Watch:
    """Return a watcher that shows `watch` each iteration with its motion."""

    def show(iteration: Iteration) -> object:
        known = iteration.iterate
        if iteration.stage or known is None or len(known.x) != len(transcribed.nlp.lower):
            return watch(iteration)
        motion = partial(_motion, transcribed, iteration, known)
        return watch(replace(iteration, motion=motion))

    return show


def _motion(transcribed: Transcribed, iteration: Iteration, known: Iterate) -> Solution:
    """Return the motion at an iteration as a Solution."""
    reached = iteration.objective, iteration.number, iteration.seconds
    return unfinished_motion(transcribed, known, UNDER_WAY, *reached, {})


def unfinished_motion(
    transcribed: Transcribed,
    known: Iterate,
    status: str,
    objective: float,
    iterations: int,
    seconds: float,
    facts: Mapping[str, object],
) -> Solution:
    """Return the motion at an iterate that is no optimum, as a Solution of that status.

    Args:
        transcribed: the program.
        known: the iterate.
        status: in words.
        objective: at the iterate.
        iterations: taken so far.
        seconds: of the search so far.
        facts: statistics.
    """
    outcome = Outcome(
        x=known.x,
        f=objective,
        g=known.g,
        x_multipliers=known.x_multipliers,
        g_multipliers=known.g_multipliers,
        status=status,
        success=False,
        iterations=iterations,
        history=(),
        build_seconds=0.0,
        solve_seconds=seconds,
    )
    return solution_of(transcribed, outcome, facts, None)
