"""Costs of a study for the process that hands out its cells: claims, writes, waiting.

Workers are played by an executor that solves the first cell and has that result come home for each
of the others, one after the other, as results of many workers do.
"""

import cProfile
import pickle
import pstats
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from sqlite3 import connect
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ocp.problems.arms.two_link_time import problem
from ocp.studies import sweep

POINTS = 14  # control points of the cells' problem
TORQUES = 8.0, 12.0  # N m: between which cells lie
SQLITE = ("execute", "executemany", "commit")  # of the data base, by the names of its methods
COMMITS = 50  # of one row each, of which the median counts


class Replayed(Executor):
    """An executor that does the first task itself and has its result for all others, which come
    home one at a time: the next once `taken` is told."""

    def __init__(self) -> None:
        self.seconds, self.result = 0.0, None
        self.waiting: SimpleQueue[Future | None] = SimpleQueue()
        self.turns = threading.Semaphore(1)
        self.thread = threading.Thread(target=self._answer, daemon=True)
        self.thread.start()

    def submit(self, function: Callable, /, *arguments: Any, **named: Any) -> Future:
        """Return the Future of a result that comes home in its turn."""
        if self.result is None:
            begin = time.process_time()
            self.result = function(*arguments, **named)
            self.seconds = time.process_time() - begin
        future: Future = Future()
        self.waiting.put(future)
        return future

    def taken(self, _: Any) -> None:
        """Let the next result come home."""
        self.turns.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the thread."""
        self.waiting.put(None)
        self.turns.release()
        self.thread.join()

    def _answer(self) -> None:
        while (future := self.waiting.get()) is not None:
            self.turns.acquire()
            future.set_result(self.result)


def coordinated(cells: int) -> dict[str, Any]:
    """Return the cost of a cell, of so many, for the process that hands them out: `coordinator`, ms
    of the processor, of that in the `database` and in `waiting` for results; `clock`, ms until the
    next one; `commit`, ms of the clock until a row is on the disk; the `bytes` of a result, and of
    the `file`; `cell`, ms of the processor for its solve.

    Shares are those of a profile in a second run, whose own time is left out.
    """
    with TemporaryDirectory() as folder:
        spent, clock, worker = _run(cells, Path(folder) / "study.sqlite")
        size = (Path(folder) / "study.sqlite").stat().st_size
        profile = cProfile.Profile()
        profile.enable()
        _run(cells, Path(folder) / "profiled.sqlite")
        profile.disable()
    shares = _shares(pstats.Stats(profile))
    each = 1e3 / cells
    return {
        "coordinator": each * spent,
        "clock": each * clock,
        "database": each * spent * shares["database"],
        "waiting": each * spent * shares["waiting"],
        "commit": 1e3 * committed(),
        "bytes": len(pickle.dumps(worker.result)),
        "file": size / cells,
        "cell": 1e3 * worker.seconds,
    }


def _run(cells: int, path: Path) -> tuple[float, float, Replayed]:
    """Return processor and clock seconds of a study beside its one solve, and its executor."""
    low, high = TORQUES
    torques = [low + (high - low) * k / cells for k in range(cells)]
    with Replayed() as worker:
        begin, clock = time.process_time(), time.perf_counter()
        over = {"torque": torques, "points": [POINTS]}
        sweep(problem, over, executor=worker, file=path, watch=worker.taken)
        spent = time.process_time() - begin - worker.seconds
        return spent, time.perf_counter() - clock - worker.seconds, worker


def committed() -> float:
    """Return the clock's seconds until a row is on the disk, as study files are written: the median
    of some, each a transaction."""
    with TemporaryDirectory() as folder, closing(connect(Path(folder) / "rows.sqlite")) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("CREATE TABLE rows (number INTEGER)")
        seconds = []
        for number in range(COMMITS):
            begin = time.perf_counter()
            with file:
                file.execute("INSERT INTO rows VALUES (?)", (number,))
            seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds))


def _shares(stats: Any) -> dict[str, float]:
    """Return the shares of a profile's time: in the data base, and waiting for results."""
    total, shares = stats.total_tt, {"database": 0.0, "waiting": 0.0}
    for (file, _, name), (_, _, own, whole, _) in stats.stats.items():
        if file == "~" and "sqlite3" in name and any(f"'{each}'" in name for each in SQLITE):
            shares["database"] += own / total
        if name == "wait" and "futures" in file:
            shares["waiting"] += whole / total
    return shares
