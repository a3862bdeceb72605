"""Report of a solution: plain data for JSON, and the block of text that a paper needs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from ocp.certificate.certificate_lines import (
    certificate_lines,
    convergence_lines,
    verdict_lines,
    violation_lines,
)
from ocp.certificate.checks.convergence import KEPT
from ocp.certificate.checks.formulation_error import with_exact_dynamics
from ocp.certificate.merged_violations import violations
from ocp.certificate.unconstrained_limits import unasked_limits, unasked_words
from ocp.certificate.verification import Verification, certificate_data, violations_data
from ocp.problem.statement import Problem
from ocp.report.mechanism_report import (
    Report,
    coordinate_counts,
    coordinate_words,
    element_lines,
    elements_data,
    loop_lines,
    loops_data,
    stays_data,
)
from ocp.report.muscle_report import muscle_lines, muscles_data
from ocp.report.phase_report import (
    impacts_data,
    method_words,
    phase_lines,
    phases_data,
    phases_statement,
    tree_words,
)
from ocp.solution.objective_values import dense_objective
from ocp.solution.solution import Solution
from ocp.solution.strength_reserves import (
    reserve_lines,
    reserves,
    reserves_data,
    reserves_from_data,
)
from ocp.solvers.nlp import Option
from ocp.storage.atomic_files import versions
from ocp.text_tables import Line, align
from ocp.transcription.variables.layout import free_knots

COUNTS = ("variables", "constraints", "jacobian_nonzeros", "hessian_nonzeros", "iterations")
SECONDS = ("build_seconds", "solve_seconds", "total_seconds")
TOGETHER = 3.0  # times the spacing: free knots that are so near stand together


def describe(
    solution: Solution, certificate: Verification | None = None, tolerance: float | None = None
) -> dict[str, Option]:
    """Return the report of a solution as plain data: status, objective, sizes, settings,
    violations.

    Args:
        solution: a Solution.
        certificate: its Verification, whose numbers are reported too.
        tolerance: of the certificate's verdict; by default the tightest that it passes.
    """
    statistics = solution.statistics
    worst = violations(solution) if certificate is None else certificate.violations
    left = reserves(with_exact_dynamics(solution)) if certificate is None else certificate.reserves
    return {
        "status": solution.status,
        "success": solution.success,
        "coarse": statistics.get("coarse", ""),
        "at_bounds": list(statistics.get("at_bounds", [])),
        "beyond_limits": unasked_words(unasked_limits(solution)),
        "objective": solution.objective,
        "integral": _objective_of(solution, certificate),
        "objective_terms": {
            term: {"weight": weight, "value": value} for term, weight, value in solution.terms
        },
        "parameters": _parameters(solution),
        "duration": solution.duration,
        "phases": phases_data(solution),
        "impacts": impacts_data(solution),
        **{key: statistics[key] for key in (*COUNTS, *SECONDS)},
        "coordinates": coordinate_counts(solution.problem.tree),
        "statement": statement_words(solution.problem),
        "knots": free_knots_data(solution.problem),
        "solver": _settings(solution),
        "versions": versions(),
        "violations": violations_data(worst),
        "verification": None if certificate is None else certificate_data(certificate, tolerance),
        "loops": loops_data(solution),
        "stays": stays_data(solution),
        "elements": elements_data(solution),
        "muscles": muscles_data(solution),
        "reserves": reserves_data(left),
        "refinement": statistics.get("refinement", []),
        KEPT: statistics.get(KEPT),
        "outputs": output_ranges(solution),
    }


def status_words(report: Report) -> str:
    """Return the status in the solver's words, and that a mesh is too coarse."""
    return report["status"] + (f", but {report['coarse']}" if report["coarse"] else "")


def report_lines(report: Report) -> list[Line]:
    """Return (label, text) of a report's data, in reading order."""
    verification = report["verification"]
    return [
        ("statement", report["statement"]),
        ("status", status_words(report)),
        *verdict_lines(verification),
        ("objective", f"{report['objective']:.9g}{_integral(report['integral'])}"),
        *(
            (f"  {term}", f"{entry['value']:.9g}, weight {entry['weight']:g}")
            for term, entry in report["objective_terms"].items()
        ),
        *(
            ("parameter", f"{name} {entry['value']:.9g} {entry['unit']}, {entry['how']}")
            for name, entry in report["parameters"].items()
        ),
        ("duration", f"{report['duration']:.9g} s"),
        *bound_lines(report["at_bounds"]),
        *limit_lines(report["beyond_limits"]),
        *phase_lines(report),
        *knot_lines(report["knots"], report["duration"]),
        *_settings_lines(report["solver"]),
        *_size_lines(report),
        ("versions", ", ".join(f"{key} {value}" for key, value in report["versions"].items())),
        ("worst violation", "at nodes / on the dense grid"),
        *violation_lines(report["violations"]),
        *([] if verification is None else certificate_lines(verification)),
        *kept_convergence(report),
        *loop_lines(report["loops"]),
        *(("stay", f"{label}: at most {peak}") for label, peak in report["stays"].items()),
        *element_lines(report["elements"]),
        *muscle_lines(report["muscles"]),
        *reserve_lines(reserves_from_data(report["reserves"])),
        *_round_lines(report["refinement"]),
    ]


def _integral(value: float | None) -> str:
    """Return the words for the objective's integral."""
    return "" if value is None else f" (on a fine grid {value:.9g})"


def kept_convergence(report: Report) -> list[Line]:
    """Return the lines on the convergence that a solution keeps, where no certificate says it."""
    verification, known = report["verification"], report[KEPT]
    told = verification is not None and verification[KEPT] is not None
    return [] if told or known is None else [*convergence_lines(known)]


def bound_lines(reached: Sequence[str]) -> list[Line]:
    """Return the line on bounds of the duration and of parameters at which the optimum lies."""
    return [("at a bound", "; ".join(reached))] if reached else []


def limit_lines(exceeded: Sequence[str]) -> list[Line]:
    """Return the lines on joint limits that no constraint asks for and the motion exceeds."""
    return [("beyond a limit", words) for words in exceeded]


def statement_words(problem: Problem) -> str:
    """Return a problem in a line: coordinates, basis, duration, constraints."""
    if not problem.single_phase:
        return phases_statement(problem)
    motion, (least, most) = problem.motion, problem.duration
    duration = f"{least:g} s" if least == most else f"{least:g} to {most:g} s"
    free = ""
    if free_knots(problem):
        free = " on intervals of free lengths" if motion.collocated else " on free knots"
    return (
        f"{tree_words(problem.tree)}, {type(motion).__name__} of {motion.points} points{free}, "
        f"duration {duration}, {len(problem.requirements)} constraints"
    )


def free_knots_data(problem: Problem) -> Report:
    """Return the free knots of a motion as plain data; {} for given knots.

    They are the ends of the segments, the spacing, and `clusters`: (s, count) of knots that stand
    together.
    """
    motion: Any = problem.motion
    if not problem.single_phase or not free_knots(problem):
        return {}
    inner, near = motion.breaks[1:-1], TOGETHER * motion.spacing
    parts = np.split(inner, np.flatnonzero(np.diff(inner) > near) + 1)
    clusters = [(float(part.mean()), len(part)) for part in parts if len(part) > 1]
    return {"breaks": motion.breaks.tolist(), "spacing": motion.spacing, "clusters": clusters}


def _objective_of(solution: Solution, certificate: Verification | None) -> float | None:
    """Return the integral that a solution's objective stands for; None if it is not known."""
    if certificate is not None:
        return certificate.objective
    if solution.missing:
        return None
    return dense_objective(solution)


def _settings(solution: Solution) -> Report:
    """Return the settings of the solve."""
    statistics, transcription = solution.statistics, solution.transcription
    return {
        "plugin": statistics["plugin"],
        "choice": statistics.get("choice", ""),
        "hessian": statistics["hessian"],
        "options": statistics["options"],
        "dynamics": solution.formulation.name,
        "derivatives": transcription.derivatives,
        "method": method_words(solution),
        "settings": asdict(cast(Any, transcription.method)),
        "kernels": statistics["kernels"],
        "warm_start": statistics["warm_start"],
    }


def output_ranges(solution: Solution) -> dict[str, dict[str, list[float]]]:
    """Return the least and the greatest value of each row of the outputs over the motion."""
    t, ranges = solution.times(), {}
    for name in solution.problem.outputs:
        values = solution.output(name, t)
        ranges[name] = {"least": values.min(axis=1).tolist(), "most": values.max(axis=1).tolist()}
    return ranges


def _parameters(solution: Solution) -> dict[str, Report]:
    """Return value and unit of every parameter, and how it came about, "given" or "found"."""
    known = solution.statistics.get("parameters", {})
    return {
        name: {"value": value, "unit": known[name][0], "how": known[name][1]}
        for name, value in solution.parameters.items()
    }


def _settings_lines(solver: Report) -> list[Line]:
    options = "".join(f", {key}={value}" for key, value in solver["options"].items())
    shown = {key: value for key, value in solver["settings"].items() if key != "inner"}
    given = {key: value for key, value in shown.items() if value is not None}
    settings = "".join(f", {key} {value}" for key, value in given.items())
    return [
        (
            "solver",
            f"{solver['plugin']}, {solver['hessian']} Hessian, {solver['dynamics']}, "
            f"derivatives {solver['derivatives']}{settings}{options}",
        ),
        *([("choice", solver["choice"])] if solver["choice"] else []),
        ("method", solver["method"]),
        ("kernels", solver["kernels"]),
    ]


def _size_lines(report: Report) -> list[Line]:
    return [
        (
            "size",
            f"{coordinate_words(report['coordinates'])}, {report['variables']} variables, "
            f"{report['constraints']} constraints, nonzeros "
            f"{report['jacobian_nonzeros']} Jacobian, {report['hessian_nonzeros']} Hessian",
        ),
        ("iterations", str(report["iterations"])),
        ("seconds", f"build {report['build_seconds']:.3g}, solve {report['solve_seconds']:.3g}"),
    ]


def knot_lines(free: Report, duration: float) -> list[Line]:
    """Return the line of where free knots went."""
    if not free:
        return []
    widths, least = np.diff(free["breaks"]), free["spacing"]
    text = (
        f"free: {len(widths)} segments, {widths.min():.4g} to {widths.max():.4g} of the motion "
        f"(spacing {least:g})"
    )
    places = ", ".join(f"{count} at {s * duration:.4g} s" for s, count in free["clusters"])
    return [("knots", f"{text}; together {places}" if places else text)]


def _round_lines(rounds: Sequence[Report]) -> list[Line]:
    """Return the lines of a refinement, one for each of its rounds."""
    return [
        (
            f"round {number}",
            f"{entry['points']} points, {entry['nodes']} nodes, {entry['iterations']} iterations, "
            f"{entry['seconds']:.3g} s: objective {entry['objective']:.9g}, "
            f"defect {entry['defect']:.1e}, {entry['worst']} {entry['excess']:.1e}",
        )
        for number, entry in enumerate(rounds, 1)
    ]


def summary(solution: Solution, certificate: Verification | None = None) -> str:
    """Return the report of a solution as text: status, objective, settings, sizes, violations.

    Args:
        solution: a Solution.
        certificate: its Verification, whose numbers are then told too; its own by default.
    """
    known = solution.verification if certificate is None else certificate
    return align(report_lines(describe(solution, known)))
