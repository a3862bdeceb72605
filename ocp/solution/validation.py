"""Validation of solutions passed as arguments."""

from collections.abc import Mapping

from ocp.mechanics.values.validation import check_type, describe_value
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.transcription.transcription_settings import Transcription

FIELDS: tuple[tuple, ...] = (  # of a Solution, and what they are
    ("problem", Problem),
    ("transcription", Transcription),
    ("objective", int, float),
    ("duration", int, float),
    ("status", str),
    ("multipliers", Mapping),
    ("statistics", Mapping),
)


def check_solution(what: str, solution: object) -> None:
    """Raise ValueError naming what was asked for of something that is no Solution,
    or of one with a field of a wrong kind."""
    if not isinstance(solution, Solution):
        hint = "; solve it first" if isinstance(solution, Problem) else ""
        raise ValueError(f"{what}: expected a Solution, got {describe_value(solution)}{hint}")
    for name, *kinds in FIELDS:
        check_type(f"{what}: {name} of the solution", getattr(solution, name), *kinds)
