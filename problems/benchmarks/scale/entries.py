"""All rows of the benchmark by name, and what measures one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ocp.problems.benchmarks.scale.cases.programs import STEPS, Case, cases, human_walk
from ocp.problems.benchmarks.scale.cluster import on_cluster, on_processes
from ocp.problems.benchmarks.scale.coordinator import coordinated
from ocp.problems.benchmarks.scale.measured import measured, walked

Row = dict[str, Any]
PARTS = ("chains", "steps", "points", "humans", "largest", "studies", "cluster")
CELLS, WORKERS = (100, 400, 1600), (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row: the `part` it belongs to, its `line`, its `size` there, and what measures it."""

    part: str
    line: str
    size: int
    measure: Callable[[], Row]

    @property
    def name(self) -> str:
        """Its name among all rows."""
        return f"{self.part}: {self.line}: {self.size}"


def entries() -> Iterator[Entry]:
    """Yield all rows, part by part."""
    for part, line, size, case in cases():
        yield Entry(part=part, line=line, size=size, measure=partial(_program, case))
    for count in STEPS:
        way = partial(_walked, count)
        yield Entry(part="steps", line="human, by way of one step", size=count, measure=way)
    for cells in CELLS:
        one = partial(coordinated, cells)
        yield Entry(part="studies", line="handing out cells", size=cells, measure=one)
    for workers in WORKERS:
        one = partial(on_processes, workers)
        yield Entry(part="cluster", line="processes", size=workers, measure=one)
    yield Entry(part="cluster", line="Dask, nodes", size=2, measure=partial(on_cluster, 2))


def chosen(beginnings: Sequence[str] = (), largest: float = float("inf")) -> list[Entry]:
    """Return the rows whose names begin so, as "chains" or "chains: star", or all, of sizes up to
    the `largest`.

    Raises ValueError naming a beginning that no row has.
    """
    known = sorted(entries(), key=lambda each: PARTS.index(each.part))
    for beginning in beginnings:
        if not any(each.name.startswith(beginning) for each in known):
            raise ValueError(
                f"only: expected some of {', '.join(PARTS)}, or beginnings of rows, "
                f"got {beginning!r}"
            )
    asked = tuple(beginnings) or ("",)
    return [each for each in known if each.name.startswith(asked) and each.size <= largest]


def measure(name: str) -> Row:
    """Return the row of a name, measured in this process.

    Raises ValueError for a name that no row has.
    """
    known: Mapping[str, Entry] = {each.name: each for each in entries()}
    if name not in known:
        raise ValueError(f"row {name!r}: there is none of this name")
    return known[name].measure()


def _walked(count: int) -> Row:
    return walked(human_walk(count).problem)


def _program(case: Callable[[], Case]) -> Row:
    return measured(case())
