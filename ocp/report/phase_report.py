"""Report sections on phases and impacts, as plain data and as lines of text."""

from collections.abc import Iterable

import numpy as np

from ocp.certificate.transition_violations import impacts
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import any_nonzero, array
from ocp.problem.contact.ground import feet_of
from ocp.problem.statement import Problem
from ocp.report.mechanism_report import Report
from ocp.solution.solution import Solution
from ocp.text_tables import Line


def phases_data(solution: Solution) -> dict[str, Report]:
    """Return {phase: its duration (s), share of the objective, basis and feet}; {} without
    phases."""
    total = sum(abs(phase.objective) for phase in solution.parts.values())
    return {
        name: {
            "duration": phase.duration,
            "of_duration": phase.duration / solution.duration,
            "objective": phase.objective,
            "of_objective": abs(phase.objective) / total if total else 0.0,
            "basis": basis_words(phase.problem),
            "bears": list(feet_of(phase.problem.ground)),
        }
        for name, phase in solution.parts.items()
        if name
    }


def impacts_data(solution: Solution) -> dict[str, Report]:
    """Return of every impact its time (s), impulses (3, N s) and the energy lost (J)."""
    return {
        each.transition: {
            "time": each.time,
            "impulses": {point: list(push) for point, push in each.impulses.items()},
            "lost": each.lost,
        }
        for each in impacts(solution)
    }


def method_words(solution: Solution) -> str:
    """Return the method in words; of each phase where they differ."""
    words = solution.transcription.method.words
    every = {name: words(part) for name, part in solution.problem.parts.items()}
    if len(set(every.values())) == 1:
        return next(iter(every.values()))
    return "; ".join(f"{name}: {method}" for name, method in every.items())


def basis_words(problem: Problem) -> str:
    """Return the basis of a motion in words."""
    return f"{type(problem.motion).__name__} of {problem.motion.points} points"


def phases_statement(problem: Problem) -> str:
    """Return a problem of phases in a line."""
    parts = []
    for name, part in problem.parts.items():
        least, most = part.duration
        duration = f"{least:g} s" if least == most else f"{least:g} to {most:g} s"
        parts.append(
            f"{name} ({basis_words(part)}, {duration}, {len(part.requirements)} constraints)"
        )
    return f"{tree_words(problem.tree)}, phases {', '.join(parts)}"


def tree_words(tree: Tree) -> str:
    """Return the number of a tree's coordinates, and where it has no weight that."""
    weight = "" if any_nonzero(array(tree.gravity)) else " without gravity"
    return f"{tree.dof} coordinates{weight}"


def phase_lines(report: Report) -> list[Line]:
    """Return the lines of a report on phases and impacts."""
    entries = []
    for name, phase in report["phases"].items():
        bears = f", {', '.join(phase['bears'])} on the ground" if phase["bears"] else ""
        text = (
            f"{name}: {phase['duration']:.6g} s ({phase['of_duration']:.1%}), objective "
            f"{phase['objective']:.6g} ({phase['of_objective']:.1%}), {phase['basis']}{bears}"
        )
        entries.append(("phase", text))
    for name, impact in report["impacts"].items():
        pushes = "; ".join(
            f"{point} {_vector(push)} N s" for point, push in impact["impulses"].items()
        )
        text = f"{name}, t = {impact['time']:.4g} s: {pushes}, {impact['lost']:.6g} J lost"
        entries.append(("impact", text))
    return entries


def _vector(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in np.round(list(values), 12)) + ")"
