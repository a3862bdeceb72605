"""The gait of the thesis beside what the thesis prints of it (Barman 2020, chapter V)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from ocp.problems.gait.activity import Activity, activity
from ocp.problems.gait.report import gait_report, report_lines
from ocp.problems.gait.walking import walk

from ocp import Problem, Solution, Solver, Transcription

TOLERANCE = 1e-3  # of optimality and feasibility (Barman 2020, section 5.2)
TOLERANCES = {
    "ipopt": ("tol",),
    "snopt": ("Major optimality tolerance", "Major feasibility tolerance"),
}
BETWEEN = ("height", "place", "slip", "slip_speed", "strike_speed", "zmp")


def predict(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    feasible: bool = True,
) -> Solution:
    """Solve a gait as the thesis does: to a tolerance of 1e-3, unless the solver's options say
    otherwise; `feasible`: find a motion that meets the constraints, J = constant, before the
    effort counts."""
    stated = dict.fromkeys(TOLERANCES.get(solver.name, ()), TOLERANCE)
    solver = replace(solver, options=stated | dict(solver.options))
    return walk(problem, transcription, solver, guess=guess, watch=watch, feasible=feasible)


def total(solution: Solution) -> Activity:
    """Return the Activity of all families together."""
    return sum(activity(solution).values(), Activity())


def literal_report(solution: Solution) -> dict[str, Any]:
    """Return the report of a step, and how many constraints are active of each family."""
    counts = activity(solution)
    return gait_report(solution) | {
        "activity": {name: asdict(count) for name, count in counts.items()},
        "active": sum(count.active for count in counts.values()),
    }


def literal_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as lines of text."""
    counts = {name: Activity(**count) for name, count in report["activity"].items()}
    families = ", ".join(f"{name} {one.active} of {one.rows}" for name, one in counts.items())
    equal = sum(one.equalities for one in counts.values())
    words = f"{report['active']}, {equal} of them equalities: {families}"
    return [*report_lines(report), f"{'active constraints':<28}{words}"]
