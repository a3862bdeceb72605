"""Report of a run: that of its solution, the command's arguments, published values beside ours."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ocp.cli.flags import of_function
from ocp.report import report
from ocp.solution.solution import Solution
from ocp.studies.store.argument_flags import Arguments, Keywords
from ocp.studies.task import Report, Task

if TYPE_CHECKING:
    from ocp.certificate.verification import Verification


def describe(
    task: Task,
    arguments: Arguments,
    solution: Solution,
    certificate: "Verification | None" = None,
    tolerance: float | None = None,
) -> Keywords:
    """Return the report of a solution as plain data for JSON.

    Args:
        task: whose problem it is.
        arguments: of the problem, {name: value}.
        solution: of that problem.
        certificate: of the solution, if it was verified.
        tolerance: at which the certificate is judged.
    """
    return {
        "problem": task.name,
        "arguments": arguments,
        "argument_units": {each.name: each.unit for each in of_function(task.problem) if each.unit},
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


def summary(said: Report) -> str:
    """Return a report in a line."""
    return (
        f"{said['problem']}: {report.status_words(said)}, objective {said['objective']:.8g}, "
        f"duration {said['duration']:.6g} s, {said['iterations']} iterations, "
        f"{said['solve_seconds']:.3g} s"
        + "".join(f", {verdict}" for _, verdict in report.verdict_lines(said["verification"]))
    )


def block(said: Report) -> str:
    """Return the text of a whole report: arguments, the solution's own, published values."""
    _, *lines = report.report_lines(said)  # the command tells the problem by its name and arguments
    return report.align([problem_line(said, {}), *lines, *published_lines(said)])


def problem_line(said: Report, defaults: Arguments) -> tuple[str, str]:
    """Return the line of the problem's name and of its arguments that are no `defaults`."""
    units = said["argument_units"]
    words = [
        f"{key}={value:g} {units.get(key, '')}".rstrip()
        if isinstance(value, float)
        else f"{key}={value}"
        for key, value in said["arguments"].items()
        if value not in (None, "") and (key not in defaults or value != defaults[key])
    ]
    return "problem", ", ".join([" ".join([said["problem"], *words[:1]]), *words[1:]])


def published_lines(said: Report) -> Iterator[tuple[str, str]]:
    """Yield a line for each published value, with ours beside it."""
    for name, entry in said["published"].items():
        optimum = "" if entry["optimum"] is None else f", true optimum {entry['optimum']:g}"
        text = f"{name}: {entry['value']:g}, ours {entry['ours']:.6g}{optimum}; {entry['remark']}"
        yield "published", text
