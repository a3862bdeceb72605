"""A sweep of the gait on plans, beside the same sweep in which every cell is built anew.

Speeds of walking by lengths of the step, on worker processes: on one plan per worker, from the
middle outwards, each cell from its neighbour; then what steps up solved again, until the lowest
branch is kept; and as a problem without parameters is swept, every cell stated and built by itself
and solved from standing.
Seconds are the clock's and, of all processes together, the processors', in one run. `--check` then
solves every cell again from each of its neighbours, which finds out whether any of them leads
lower.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ocp import Task
from ocp.cli import DONE, FAILED, exit_status
from ocp.problems.benchmarks import program_parser
from ocp.problems.gait import TASK
from ocp.solvers import Solver
from ocp.studies import (
    SLIGHT,
    Study,
    carry_out,
    cell,
    chain_design,
    content_of,
    grid,
    lines_of,
    markdown,
    open_study,
    recipe,
    sweep,
)

SPEEDS, STEPS = (0.8, 1.6), (0.5, 0.65)  # m/s, m: ends of a sweep
COUNT, WORKERS = 8, 2
HEADER = ("sweep", "cells", "solved", "solves", "iterations", "seconds", "ratio", "CPU s", "ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A study that was solved, and what it took: of the clock and of all processors (s).

    `solves` are those of all its cells, also of those that came out higher than others.
    """

    name: str
    study: Study
    solves: int
    iterations: int
    seconds: float
    processors: float


def timed(name: str, solved: Callable[..., Study]) -> Timed:
    """Solve a sweep, and return what it took."""
    done: list[int] = []

    def count(progress: Any) -> None:
        done.append(progress.cell.statistics.get("iterations") or 0)

    begin, spent = time.perf_counter(), _processors()
    swept = solved(watch=count)
    return Timed(
        name=name,
        study=swept,
        solves=len(done),
        iterations=sum(done),
        seconds=time.perf_counter() - begin,
        processors=_processors() - spent,
    )


def _processors() -> float:
    """Return the processor seconds of this process and of those that it has ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def compared(task: Task, over: Any, workers: int, folder: Path) -> tuple[Timed, Timed, Timed]:
    """Return a sweep on plans, another with the lowest branch kept, and the same with every cell
    built anew; each begins with nothing."""
    alone, plan = replace(task, parameters=()), chain_design(recipe(task, None, Solver()), over)
    ways: dict[str, Callable[..., Study]] = {
        "on plans, from neighbours": partial(carry_out, plan),
        "and the lowest branch kept": partial(sweep, task, over, chain=True),
        "built anew per cell": partial(sweep, alone, over),
    }
    once, kept, anew = (
        timed(name, partial(way, workers=workers, file=folder / f"{number}.sqlite"))
        for number, (name, way) in enumerate(ways.items())
    )
    return once, kept, anew


def lowered(task: Task, done: Study, workers: int) -> list[tuple[Any, Any, float]]:
    """Return (cell, its neighbour, by how much lower, relative) of a chained sweep where a solve
    from a neighbour's solution ends lower than what counts."""
    way = recipe(task, None, Solver())
    plan: list[Any] = [(one, None) for one in done.cells]
    lines = lines_of([one.parameters for one in done.cells])
    pairs = [pair for each in lines.values() for line in each for pair in pairwise(line)]
    pairs += [pair[::-1] for pair in pairs]
    for a, b in pairs:
        near, other = done.cells[a], done.cells[b]
        plan.append((cell(other.parameters, content_of(way, other.parameters), near), a))
    carry_out(plan, file=done.path, workers=workers)
    known = {one.id: one for one in open_study(done.path).cells}
    found = []
    for (a, b), (asked, _) in zip(pairs, plan[len(done.cells) :]):
        one, own = known[asked.id], done.cells[b].objective
        if one.solved and own is not None and one.objective < own - SLIGHT * abs(own):
            near = done.cells[a].parameters
            found.append((done.cells[b].parameters, near, 1.0 - one.objective / own))
    return found


def table(swept: Sequence[Timed]) -> str:
    """Return the table of sweeps' times beside the last one's, which builds every cell."""
    rows, alone = [], swept[-1]
    for one in swept:
        rows.append(
            (
                one.name,
                str(len(one.study.cells)),
                str(len(one.study.solved)),
                str(one.solves),
                str(one.iterations),
                f"{one.seconds:.1f}",
                f"{one.seconds / alone.seconds:.2f}",
                f"{one.processors:.1f}",
                f"{one.processors / alone.processors:.2f}",
            )
        )
    return markdown("", HEADER, rows)


def differences(planned: Timed, alone: Timed) -> str:
    """Return a line on how the objectives of both sweeps differ."""
    shares = [
        one.objective / other.objective - 1.0
        for one, other in zip(planned.study.cells, alone.study.cells)
        if one.solved and other.solved
    ]
    lower = sum(share < -SLIGHT for share in shares)
    higher = sum(share > SLIGHT for share in shares)
    return (
        f"on plans {lower} cells are lower, by up to {-100 * min(shares):.2f} %, {higher} higher, "
        f"by up to {100 * max(shares):.2f} %"
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison that the command line asks for and return the exit status."""
    flags = _parser().parse_args(arguments)
    over = grid(
        {
            "speed": _spaced(SPEEDS, flags.count),
            "step": _spaced(STEPS, flags.count),
            "objective": "effort",
        }
    )
    with TemporaryDirectory() as folder:
        once, planned, alone = compared(TASK, over, flags.workers, Path(folder))
        print(table((once, planned, alone)))
        print(differences(planned, alone), flush=True)
        for one in (*planned.study.failed, *alone.study.failed):
            print(f"{one.parameters}: {one.reason.splitlines()[0]}")
        found = lowered(TASK, planned.study, flags.workers) if flags.check else []
        if flags.check:
            above = len({repr(one) for one, _, _ in found})
            print(f"{above} cells are above the branch of a neighbour")
        for one, near, share in found:
            print(f"{one}: {100 * share:.4f} % lower from {near}")
    return FAILED if planned.study.failed or found else DONE


def _spaced(ends: tuple[float, float], count: int) -> list[float]:
    """Return so many numbers from one end to the other, rounded as one would type them."""
    low, high = ends
    return [round(low + (high - low) * k / max(count - 1, 1), 6) for k in range(count)]


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("compare_sweeps", __doc__)
    words = "speeds, and steps each (default: 8)"
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help=words)
    words = "processes (default: 2)"
    parser.add_argument("--workers", type=int, default=WORKERS, metavar="N", help=words)
    words = "solve every cell again from each of its neighbours"
    parser.add_argument("--check", action="store_true", help=words)
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))
