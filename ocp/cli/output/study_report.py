"""Text of a study: its cells, optima, front and progress."""

from collections.abc import Sequence
from typing import TextIO

from ocp.studies.cell_dispatch import Progress
from ocp.studies.pareto_front import Front
from ocp.studies.store.row_format import Cell
from ocp.studies.study import Optimum
from ocp.studies.study_tables import align_columns, column_titles, columns_of, table

SHOWN = ("status", "objective", "duration", "iterations", "seconds")
LISTED = 12  # numbers of starts that a line shows


class ProgressLine:
    """Progress of a study after each cell, in one line of a terminal, else in a line each.

    Nothing where the shell closed the stream, which is then None.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream, self.again = stream, stream is not None and stream.isatty()

    def __call__(self, progress: Progress) -> None:
        if self.stream is None:
            return
        text = progress_text(progress)
        if self.again:
            share = round(20 * progress.done / progress.total)
            end = "\n" if progress.done == progress.total else ""
            self.stream.write(f"\r\033[K[{'#' * share:<20}] {text}{end}")
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()


def progress_text(progress: Progress) -> str:
    """Return the progress of a study, with its last cell."""
    minutes, seconds = divmod(round(progress.remaining), 60)
    parameters = progress.cell.parameters.items()
    cell = ", ".join(f"{name} {word(value)}" for name, value in parameters)
    return (
        f"{progress.done}/{progress.total} cells, {progress.failed} failed, "
        f"{minutes}:{seconds:02d} left; {cell}: {progress.cell.status}"
    )


def cells_text(cells: Sequence[Cell]) -> str:
    """Return a line for each cell: parameters (units in the head), status, numbers, reason."""
    numbers = columns_of(cells, "measured")
    titles = column_titles(cells)
    names = [*columns_of(cells, "parameter"), *SHOWN]
    body = [
        [
            *(word(row[name]) for name in names),
            *(word(row[name], 4) for name in numbers),
            row["reason"],
        ]
        for row in table(cells)
    ]
    reason = "reason" if any(row[-1] for row in body) else ""
    header = [titles.get(name, name) for name in names]
    return align_columns([[*header, *numbers, reason], *body])


def optima_text(optima: Sequence[Optimum], count: int) -> str:
    """Return a line for each local optimum, which some of `count` starts led to."""
    header = ["rank", "objective", "duration", "found", "by starts"]
    body = [
        [
            str(rank),
            word(optimum.objective),
            word(optimum.solution.duration),
            f"{len(optimum.starts)} of {count}",
            ", ".join(
                [*map(str, optimum.starts[:LISTED]), *["..."] * (len(optimum.starts) > LISTED)]
            ),
        ]
        for rank, optimum in enumerate(optima, start=1)
    ]
    return "\n" + align_columns([header, *body])


def front_text(front: Front) -> str:
    """Return a line for each point of a front."""
    body = [
        [
            word(first),
            word(second),
            ", ".join(f"{name} {word(value)}" for name, value in one.parameters.items()),
        ]
        for one, first, second in front.points
    ]
    return f"\nfront of {len(body)} points\n" + align_columns([[*front.names, "cell"], *body])


def word(value: object, digits: int = 8) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
