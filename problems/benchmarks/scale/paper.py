"""A model on paper of a study on many workers: how many cells a second, and what limits them.

Each part of a study takes so long for a cell: workers their solve, the cluster's scheduler two
messages and the result's way through it, and the process that hands out cells its own work and two
transactions, a claim and a result, each on the disk before the next one begins. The slowest part
sets the pace: a bottleneck bound (Denning & Buzen 1978).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
COMMITS = 2  # transactions of a cell: its claim, and its result
MEGABYTE = 1e6  # bytes
WORKERS, MANY = 1000, 10_000  # of a large study, and its cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What a cell costs each part (s): the `coordinator`'s processor, a `commit` to its disk, the
    `scheduler`, the `client` and the `node` of a task without work; a `megabyte` on its way; a
    worker's `start` until it can begin; and the bytes of a `result` and in the `file`."""

    coordinator: float
    commit: float
    scheduler: float
    client: float
    node: float
    megabyte: float
    start: float
    result: float
    file: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Cells a second (1/s) that `workers`, the `scheduler` and the coordinator, `hands`, allow; the
    number of workers that are busy at most, and by which part they are held up."""

    workers: float
    scheduler: float
    hands: float
    busy: float
    limit: str

    @property
    def cells(self) -> float:
        """Cells a second that come of it all."""
        return min(self.workers, self.scheduler, self.hands)


def constants_of(handed: Row, cluster: Row) -> Constants:
    """Return the Constants of a row of `coordinated` and of one of `on_cluster`."""
    return Constants(
        coordinator=handed["coordinator"] / 1e3,
        commit=handed["commit"] / 1e3,
        scheduler=cluster["scheduler"] / 1e3,
        client=cluster["client"] / 1e3,
        node=cluster["node"] / 1e3,
        megabyte=cluster["megabyte"] / 1e3,
        start=cluster["first"],
        result=handed["bytes"],
        file=handed["file"],
    )


def pace(known: Constants, cell: float, workers: int, together: int = 1) -> Pace:
    """Return the Pace of cells that take `cell` (s) on so many workers, where the coordinator
    writes so many of them `together`, in one transaction."""
    way = known.megabyte * known.result / MEGABYTE / 2  # of both ends of it
    hands = known.coordinator + known.client + way + COMMITS * known.commit / together
    rates = {
        "workers": workers / (cell + known.node),
        "scheduler": 1.0 / (known.scheduler + way),
        "hands": 1.0 / hands,
    }
    limit = min(rates, key=lambda name: rates[name])
    busy = min(float(workers), rates[limit] * (cell + known.node))
    return Pace(**rates, busy=busy, limit=limit)


def lines(known: Constants, cells: Mapping[str, float]) -> Sequence[tuple[str, ...]]:
    """Return lines on kinds of cells, {name: what one takes (s)}, on a thousand workers: as it is,
    and written a hundred together."""
    found = []
    for name, cell in cells.items():
        for together in (1, 100):
            one = pace(known, cell, WORKERS, together)
            numbers = f"{one.workers:.0f}", f"{one.scheduler:.0f}", f"{one.hands:.0f}"
            hours = known.start + MANY / one.cells
            rest = f"{one.busy:.0f}", one.limit, f"{hours:.0f}"
            found.append((name, f"{cell:.3g}", str(together), *numbers, *rest))
    return found


HEADER: tuple[str, ...] = (
    "cell",
    "s",
    "written together",
    "workers' 1/s",
    "scheduler's 1/s",
    "hands' 1/s",
)
HEADER += ("workers busy", "limited by", f"s for {MANY} cells")
