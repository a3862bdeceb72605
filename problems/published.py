"""Every published number beside ours, as one table."""

import importlib
import sys

from ocp.problems.__main__ import gallery

from ocp.solution.solving import solve
from ocp.transcription.transcribe import transcription_of

HEADER = ("problem", "paper", "quantity", "printed", "ours", "true optimum", "remark")


def rows():
    """Yield one line of strings per published number, each solved anew."""
    for name in gallery():
        module = None if name == "published" else importlib.import_module(f"problems.{name}")
        task = getattr(module, "TASK", None)
        for entry in (one for one in task.published if one.comparable) if task else ():
            solution = solve(
                task.problem(**entry.arguments), transcription_of(entry.settings)
            ).require()
            flags = [
                f"--{key} {value}"
                for key, value in [*entry.arguments.items(), *entry.settings.items()]
            ]
            yield (
                " ".join([f"`{name}`", *(f"`{flag}`" for flag in flags)]),
                entry.source,
                entry.quantity,
                f"{entry.value:.4g}",
                f"{entry.ours(solution):.4f}",
                "" if entry.optimum is None else f"{entry.optimum:.5f}",
                entry.remark,
            )


def table():
    """Return the table in Markdown."""
    lines = [HEADER, ("---",) * len(HEADER), *rows()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    print(table())
    sys.exit(0)
