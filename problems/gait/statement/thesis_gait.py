"""The gait of the thesis beside what the thesis prints of it (Barman 2020, chapter V)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ocp import Guess, Objective, Problem, Solution, Solver, Transcription, solve
from ocp.problems.gait.report.step_report import gait_report, report_lines
from ocp.problems.gait.solve_step import together, walk
from ocp.problems.gait.statement.active_constraints import Activity, activity
from ocp.problems.gait.statement.constraint_families import family_of
from ocp.solvers import INTERRUPTED
from ocp.solving import PLAIN, budget, with_stage

TOLERANCE = 1e-3  # of optimality and feasibility (Barman 2020, section 5.2)
EASED = "snopt"  # meets torque limits last
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "ipopt": {"tol": TOLERANCE},
    "structured": {"tol": TOLERANCE},
    "snopt": {
        "Major optimality tolerance": TOLERANCE,
        "Major feasibility tolerance": TOLERANCE,
        "Hessian full memory": "",  # of few unknowns: ten updates forget too much
    },
}
CLOSER = {  # in place of these, where all constraints are met
    "snopt": {  # in whose metric 1e-3 leaves 2 % of the effort
        "Major optimality tolerance": 1e-5,
        "Major feasibility tolerance": 1e-6,
    },
}


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
    effort counts.

    SNOPT leaves the torque limits out until the effort is least without them: with them the simplex
    method of its first quadratic program takes tens of thousands of steps, and all its quadratic
    programs have twice the rows. From there it goes on with all of them, more closely.
    """
    options, closer = OPTIONS.get(solver.name, {}), CLOSER.get(solver.name, {})
    last = replace(solver, options={**options, **closer, **solver.options})
    solver = replace(solver, options={**options, **solver.options})
    if not (feasible and solver.name == EASED):
        return walk(problem, transcription, solver, guess=guess, watch=watch, feasible=feasible)
    start = Guess(q=np.zeros((problem.tree.dof, 2))) if guess is None else guess
    eased = _without_torque_limits(problem)
    stages = (
        (replace(eased, objective=Objective(terms=())), "a motion without torque limits", solver),
        (eased, "without torque limits", solver),
        (problem, "with torque limits", last),
    )
    statistics: Mapping[str, Any] = {}
    for stage, word, limits in stages:
        if statistics:
            seconds = statistics["solve_seconds"]
            limits = budget(solver).after(statistics["iterations"], seconds, seconds).limit(limits)
        seen = with_stage(watch, word)
        solution = solve(stage, transcription, limits, guess=start, watch=seen, attempts=PLAIN)
        statistics = (
            together(statistics, solution.statistics) if statistics else solution.statistics
        )
        start = replace(solution, multipliers={})
        if solution.status == INTERRUPTED:
            break
    return replace(solution, problem=problem, statistics=statistics)


def _without_torque_limits(problem: Problem) -> Problem:
    """Return a problem that asks for all its constraints but those on torques."""
    kept = (each for each in problem.constraints if family_of(each.name) != "torques")
    return replace(problem, constraints=tuple(kept))


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
