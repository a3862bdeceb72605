"""What a run says of its solution: its report, the command's arguments, what was published."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ocp.report import report
from ocp.solution.solution import Solution
from ocp.studies.task import Task

if TYPE_CHECKING:
    from ocp.certificate.verification import Verification


def describe(
    task: Task,
    arguments: Mapping[str, Any],
    solution: Solution,
    certificate: "Verification | None" = None,
    tolerance: float | None = None,
) -> dict[str, Any]:
    """Return the report of a solution of task.problem(**arguments) as plain data for JSON, with
    the verdict of its certificate at a tolerance."""
    return {
        "problem": task.name,
        "arguments": arguments,
        **report.describe(solution, certificate, tolerance),
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


def summary(said: Mapping[str, Any]) -> str:
    """Return a report in a line."""
    return (
        f"{said['problem']}: {report.status_words(said)}, objective {said['objective']:.8g}, "
        f"duration {said['duration']:.6g} s, {said['iterations']} iterations, "
        f"{said['solve_seconds']:.3g} s"
        + "".join(f", {verdict}" for _, verdict in report.verdict_lines(said["verification"]))
    )


def block(said: Mapping[str, Any]) -> str:
    """Return the text of a report: arguments, all that the solution says, what was published."""
    arguments = [
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in said["arguments"].items()
        if value not in (None, "")
    ]
    _, *lines = report.report_lines(said)  # the command tells the problem by its name and arguments
    entries = [("problem", " ".join([said["problem"], *arguments])), *lines]
    for name, entry in said["published"].items():
        optimum = "" if entry["optimum"] is None else f", true optimum {entry['optimum']:g}"
        text = f"{name}: {entry['value']:g}, ours {entry['ours']:.6g}{optimum}; {entry['remark']}"
        entries.append(("published", text))
    return report.align(entries)
