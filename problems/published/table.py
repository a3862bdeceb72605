"""All rows, paper by paper."""

from collections.abc import Iterator

from ocp.problems.published import barman, book, hollerbach, sohl, xiang
from ocp.problems.published.row import Row
from ocp.problems.published.solved import task_rows

ROWS = {
    "xiang": xiang.ROWS,
    "hollerbach": hollerbach.ROWS,
    "book": book.ROWS,
    "barman": barman.ROWS,
    "sohl": sohl.ROWS,
}  # of each paper, beside those that come with the tasks


def rows(paper: str = "", slow: bool = True) -> Iterator[Row]:
    """Yield the rows of a paper, or of all; without `slow` those that take seconds at most.

    Numbers of the gallery's tasks come first. Raises ValueError naming the papers for an unknown
    one.
    """
    if paper and paper not in ROWS:
        raise ValueError(f"paper: expected one of {', '.join(ROWS)}, got {paper!r}")
    known = list(task_rows())
    for name, own in ROWS.items():
        if paper in ("", name):
            for row in (*(row for row in known if row.source.lower().startswith(name)), *own):
                if slow or not row.slow:
                    yield row
