"""What a run says of its solution: a report as plain data, and the block of text made of it."""

from collections.abc import Mapping

import numpy as np

from ocp.mechanics.closure import independent
from ocp.mechanics.loops import labels, units
from ocp.mechanics.structure import structure
from ocp.solution.files import versions
from ocp.solution.violations import violations


def describe(task, arguments, solution, certificate=None):
    """Return the report of a solution of task.problem(**arguments) as plain data, ready for JSON."""
    found = certificate.violations if certificate is not None else violations(solution)
    statistics = solution.statistics
    return {
        "problem": task.name,
        "arguments": arguments,
        "status": solution.status,
        "success": solution.success,
        "objective": solution.objective,
        "objective_terms": {
            term: {"weight": weight, "value": value} for term, weight, value in solution.terms
        },
        "duration": solution.duration,
        **{
            key: statistics[key]
            for key in (
                "variables",
                "constraints",
                "jacobian_nonzeros",
                "hessian_nonzeros",
                "iterations",
                "build_seconds",
                "solve_seconds",
                "total_seconds",
            )
        },
        "solver": {
            "plugin": statistics["plugin"],
            "hessian": statistics["hessian"],
            "options": statistics["options"],
            "dynamics": solution.transcription.dynamics.name,
            "derivatives": solution.transcription.derivatives,
            "nodes": solution.transcription.nodes,
            "quadrature": solution.transcription.quadrature,
            "torques": solution.transcription.torques,
            "method": _method(solution),
            "kernels": statistics["kernels"],
            "warm_start": statistics["warm_start"],
        },
        "versions": versions(),
        "violations": {
            v.name: {
                "nodes": v.nodes,
                "dense": v.dense,
                "unit": v.unit,
                "row": v.label,
                "time": v.time,
            }
            for v in found.values()
        },
        "verification": None
        if certificate is None
        else {
            "simulation_drift": certificate.drift,
            "goal_drift": certificate.goal_drift,
            "defect": certificate.defect,
            "energy_error": certificate.energy_error,
            "kkt": certificate.kkt,
        },
        "loops": _loops(solution),
        "published": {
            f"{entry.quantity}, {entry.source}": {
                "value": entry.value,
                "source": entry.source,
                "ours": entry.ours(solution),
                "optimum": entry.optimum,
                "remark": entry.remark,
            }
            for entry in task.numbers(arguments)
        },
    }


def _loops(solution):
    """Return what cut joints pass at most, N or N m, and which of their rows are redundant; nothing for an open tree."""
    tree = solution.problem.tree
    if not tree.loops:
        return {}
    peaks = np.abs(solution.loop_forces(solution.times())).max(axis=1)
    return {
        "forces": {
            label: {"peak": float(peak), "unit": "N" if unit == "m" else "N m"}
            for label, unit, peak in zip(labels(tree), units(tree), peaks)
        },
        "redundant": list(independent(tree).redundant),
    }


def _method(solution):
    """Return the transcription's method in words."""
    transcription = solution.transcription
    if transcription.method == "spline":
        return "spline" + (
            f", passive joints {transcription.passive}"
            if structure(solution.problem.tree).passive
            else ""
        )
    order = f" of order {transcription.order}" if transcription.method == "radau" else ""
    return f"{transcription.method}{order} on {transcription.intervals} intervals, {transcription.form}"


def _finite(value):
    """Return the data with NaN and infinity as null, which is all that JSON has for them."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _summary(report):
    return (
        f"{report['problem']}: {report['status']}, objective {report['objective']:.8g}, duration {report['duration']:.6g} s, "
        f"{report['iterations']} iterations, {report['solve_seconds']:.3g} s"
    )


def _block(report):
    solver, lines = report["solver"], []

    def line(label, text):
        lines.append(f"{label:<22}{text}")

    line(
        "problem",
        " ".join(
            [
                report["problem"],
                *(
                    f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
                    for key, value in report["arguments"].items()
                    if value not in (None, "")
                ),
            ]
        ),
    )
    line("status", report["status"])
    line("objective", f"{report['objective']:.9g}")
    for term, entry in report["objective_terms"].items():
        line(f"  {term}", f"{entry['value']:.9g}, weight {entry['weight']:g}")
    line("duration", f"{report['duration']:.9g} s")
    line(
        "solver",
        f"{solver['plugin']}, {solver['hessian']} Hessian, {solver['dynamics']}, derivatives {solver['derivatives']}, "
        f"nodes {solver['nodes']}, {solver['quadrature']}"
        + "".join(f", {key}={value}" for key, value in solver["options"].items()),
    )
    line("method", solver["method"])
    line("kernels", solver["kernels"])
    line(
        "size",
        f"{report['variables']} variables, {report['constraints']} constraints, nonzeros {report['jacobian_nonzeros']} Jacobian, "
        f"{report['hessian_nonzeros']} Hessian",
    )
    line("iterations", str(report["iterations"]))
    line("seconds", f"build {report['build_seconds']:.3g}, solve {report['solve_seconds']:.3g}")
    line("versions", ", ".join(f"{key} {value}" for key, value in report["versions"].items()))
    line("worst violation", "at nodes / on the dense grid")
    for name, entry in report["violations"].items():
        where = f"  ({entry['row']}, t = {entry['time']:.4g} s)" if entry["dense"] > 0 else ""
        line(f"  {name}", f"{entry['nodes']:.2e} / {entry['dense']:.2e} {entry['unit']}{where}")
    if report["verification"] is not None:
        v = report["verification"]
        kkt = "unknown" if v["kkt"] is None else f"{v['kkt']:.2e}"
        line(
            "forward simulation",
            f"drift {v['simulation_drift']:.2e}, at the end {v['goal_drift']:.2e}, of a segment by itself "
            f"{v['defect']:.2e} rad or m",
        )
        error = v["energy_error"]
        line(
            "energy balance",
            "unknown of a formulation of one's own" if error is None else f"{error:.2e} relative",
        )
        line("first order", f"{kkt} residual")
    for label, entry in report["loops"].get("forces", {}).items():
        line(
            "cut joint",
            f"{label}: "
            + (
                "redundant, passes nothing"
                if label in report["loops"]["redundant"]
                else f"at most {entry['peak']:.4g} {entry['unit']}"
            ),
        )
    for name, entry in report["published"].items():
        optimum = "" if entry["optimum"] is None else f", true optimum {entry['optimum']:g}"
        line(
            "published",
            f"{name}: {entry['value']:g}, ours {entry['ours']:.6g}{optimum}; {entry['remark']}",
        )
    return "\n".join(lines)
