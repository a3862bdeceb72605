"""Every published number beside ours, as one table."""

import sys
from collections.abc import Iterator

from ocp import Published, Task, solve
from ocp.cli import ended
from ocp.cli.listing import tasks
from ocp.studies import markdown
from ocp.transcription import transcription_of

HEADER = ("problem", "paper", "quantity", "printed", "ours", "true optimum", "remark")


def rows() -> Iterator[tuple[str, ...]]:
    """Yield one line of strings per published number, each solved anew."""
    for name, task, published in _entries():
        statement = task.problem(**published.arguments)
        solution = solve(statement, transcription_of(published.settings)).require()
        said = [*published.arguments.items(), *published.settings.items()]
        yield (
            " ".join([f"`{name}`", *(f"`--{key} {value}`" for key, value in said)]),
            published.source,
            published.quantity,
            f"{published.value:.4g}",
            f"{published.ours(solution):.4f}",
            "" if published.optimum is None else f"{published.optimum:.5f}",
            published.remark,
        )


def _entries() -> Iterator[tuple[str, Task, Published]]:
    """Yield (problem, task, number) of all printed numbers that ours can be compared with."""
    for name, task in tasks().items():
        for published in task.published:
            if published.comparable:
                yield name, task, published


def table() -> str:
    """Return the table in Markdown."""
    return markdown("", HEADER, rows(), padded=False).rstrip()


def run() -> int:
    """Print the table and return the exit status."""
    print(table())
    return 0


if __name__ == "__main__":
    sys.exit(ended(run))
