"""Validation of the arguments of `solve`."""

import numpy as np

from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import (
    check_callable,
    check_records,
    check_type,
    describe_value,
)
from ocp.problem.statement import Problem
from ocp.solvers.minimize import Solver
from ocp.solving.ladder import Attempt
from ocp.transcription.methods import Method
from ocp.transcription.settings import Transcription


def check_solve(
    problem: object, transcription: object, solver: object, watch: object, attempts: object
) -> None:
    """Raise ValueError naming the argument of `solve` that is of a wrong kind."""
    if not isinstance(problem, Problem):
        hint = "; call it, what it returns is the problem" if callable(problem) else ""
        raise ValueError(f"problem: expected a Problem, got {describe_value(problem)}{hint}")
    if not isinstance(transcription, Transcription):
        raise ValueError(
            f"transcription: expected a Transcription, got {describe_value(transcription)}"
            f"{_hint(transcription)}"
        )
    check_type("solver", solver, Solver)
    if watch is not None:
        check_callable("watch", watch)
    if not hasattr(attempts, "__next__"):  # which would be used up
        check_records("attempts", attempts, Attempt)


def check_seconds(what: str, value: Numbers) -> None:
    """Raise ValueError naming a deadline that is no number; infinity is none, and one that has
    passed may be negative."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or np.isnan(value):
        raise ValueError(
            f"{what}: expected a number (s), inf for no deadline, got {describe_value(value)}"
        )


def _hint(given: object) -> str:
    if isinstance(given, Solver):
        return "; a solver is given by name: solve(problem, solver=...)"
    if isinstance(given, Method):
        return "; a method is one part of it: Transcription(method=...)"
    return ""
