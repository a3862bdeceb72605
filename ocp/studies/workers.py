"""Where the cells of a study run, and what comes home.

That is in worker processes of our own, in any executor of concurrent.futures, or in this process. A
worker that dies costs nothing but its cell, and that only when it dies twice.
"""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp.studies.cells import STOPPED, Result, Seed, lost, run
from ocp.studies.database import FAILED, FIELDS, SOLVED, Cell, Ledger, Outbox

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class EngineError(RuntimeError):
    """Raised when an executor breaks down, or processes cannot start; finished cells are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a study stands: cells `done` of the `total`, `failed` ones among them.

    `elapsed` and `remaining` in s, and the `cell` just done.
    """

    done: int
    total: int
    failed: int
    elapsed: float
    remaining: float
    cell: Cell


class Run:
    """A study under way: what is ready, what runs, what could not be written yet."""

    def __init__(
        self,
        plan: Sequence[tuple[Cell, int | None]],
        ledger: Ledger,
        engine: "Engine",
        watch: Callable[[Progress], Any] | None,
        known: Mapping[str, Cell],
    ) -> None:
        self.ledger, self.engine, self.watch = ledger, engine, watch
        self.begin, self.finished = time.perf_counter(), 0
        self.cells = {one.id: one for one, _ in plan}
        self.before = {one.id: None if near is None else plan[near][0].id for one, near in plan}
        self.status = {key: known[key].status for key in self.cells if key in known}
        self.ready: deque[str] = deque()
        self.suspects: deque[str] = deque()
        self.running: dict[Future, str] = {}
        self.retried: set[str] = set()
        self.queued = set(self.status)
        self.outbox = Outbox(ledger, self.cells.values())
        self._queue()

    def all(self) -> None:
        """Run all that is to be run."""
        try:
            while self.ready or self.suspects or self.running or self.outbox.trouble:
                if self.outbox.trouble and not self.running:
                    self.outbox.flush()
                    if self.outbox.trouble:
                        raise self.outbox.trouble
                self._fill()
                self._collect()
        except BaseException:
            self.engine.abandon(self.running)
            self.outbox.rescue()
            raise

    def _queue(self) -> None:
        """Make ready every cell whose neighbour is done."""
        for key, seed in self.before.items() if len(self.queued) < len(self.before) else ():
            if key not in self.queued and (seed is None or seed in self.status):
                self.queued.add(key)
                self.ready.append(key)

    def _fill(self) -> None:
        """Hand out cells; a suspect, which ran when a worker died, runs alone, to be known."""
        if self.outbox.trouble:
            return
        if self.suspects:
            if not self.running:
                self.retried.add(self.suspects[0])
                self._submit(self.suspects)
            return
        while self.ready and len(self.running) < self.engine.width:
            if not self._submit(self.ready):
                return

    def _submit(self, keys: deque[str]) -> bool:
        """Hand out the first of the keys, and tell whether the engine took it."""
        try:
            future = self.engine.submit(run, self.cells[keys[0]].content, self._seed(keys[0]))
        except BrokenExecutor:
            if not self.running:
                self.engine.renew()
            return False
        self.running[future] = keys.popleft()
        return True

    def _seed(self, key: str) -> Seed | None:
        """Return arguments and archive of the nearest ancestor that was solved, or None."""
        seed = self.before[key]
        while seed is not None and self.status[seed] != SOLVED:
            seed = self.before[seed]
        archive = None if seed is None else self.ledger.archive(seed)
        if seed is None or archive is None:
            return None
        return self.cells[seed].content["arguments"], archive

    def _collect(self) -> None:
        """Take what has come home; where an executor broke down, all of it."""
        if not self.running:
            return
        missing: list[tuple[str, Exception]] = []
        broken = False
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        while done:
            for future in done:
                key = self.running.pop(future)
                trouble = self._take(key, future)
                if trouble is not None:
                    missing.append((key, trouble))
                    broken = broken or isinstance(trouble, BrokenExecutor)
            done = wait(self.running).done if broken and self.running else set()
        if broken:
            self.engine.renew()
        for key, trouble in missing:
            self._again(key, trouble)

    def _take(self, key: str, future: Future) -> Exception | None:
        """Take a cell's result, or return what went wrong in the engine.

        What goes wrong in a cell is part of its result.
        """
        try:
            result = future.result()
        except CancelledError:
            raise EngineError(
                f"the executor cancelled its work; finished cells are in {self.ledger.path}"
            ) from None
        except Exception as error:
            return error
        self._home(key, result)
        return None

    def _again(self, key: str, error: Exception) -> None:
        """Give a cell that did not come back its second chance, or mark it failed."""
        if key in self.retried:
            self._home(key, lost(f"its worker process died twice: {type(error).__name__}: {error}"))
        elif self.engine.own:
            self.suspects.append(key)
        else:
            self.retried.add(key)
            self.ready.append(key)

    def _home(self, key: str, result: Result) -> None:
        if result["status"] == STOPPED:
            raise KeyboardInterrupt
        self.outbox.send(key, result)
        self.status[key], self.finished = result["status"], self.finished + 1
        self._queue()
        if self.watch is not None:
            cell = replace(self.cells[key], **{name: result[name] for name in FIELDS})
            self.watch(self._progress(cell))

    def _progress(self, cell: Cell) -> Progress:
        elapsed, done = time.perf_counter() - self.begin, len(self.status)
        return Progress(
            done=done,
            total=len(self.cells),
            failed=sum(status == FAILED for status in self.status.values()),
            elapsed=elapsed,
            remaining=elapsed / self.finished * (len(self.cells) - done),
            cell=cell,
        )


class Engine:
    """Where cells run: an executor that was given, or so many worker processes of our own.

    Workers None are one per processor, 0 this very process. Raises ValueError for anything else.
    """

    def __init__(self, executor: Executor | None = None, workers: int | None = None) -> None:
        if executor is not None and not isinstance(executor, Executor):
            kind = type(executor).__name__
            raise ValueError(f"executor: expected an Executor of concurrent.futures, got {kind}")
        if workers is not None and (
            isinstance(workers, bool) or not isinstance(workers, int) or workers < 0
        ):
            raise ValueError(f"workers: expected a whole number of at least 0, got {workers!r}")
        workers = processors() if workers is None else workers
        self.own, self.workers = executor is None and workers > 0, workers
        self.pool: Any = _Here() if executor is None else executor  # processes start on entering
        self.width = np.inf if executor is not None else max(workers, 1)
        self.probe: Future | None = None
        self.before: dict[str, str | None] = {}

    def __enter__(self) -> "Engine":
        if self.own:
            self.before = {name: os.environ.get(name) for name in ONE_THREAD}
            os.environ.update(ONE_THREAD)  # processes inherit it, before they import anything
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.own:
            self.pool.shutdown(cancel_futures=True)
            for name, value in self.before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def submit(self, *task: Any) -> Future:
        """Hand out a task and return its Future."""
        return self.pool.submit(*task)

    def renew(self) -> None:
        """Replace a pool that broke; raise EngineError if it is not ours, or if it never ran."""
        if not self.own:
            raise EngineError(
                "the executor broke down; finished cells are kept, and the same command resumes "
                "the study"
            )
        self.pool.shutdown()
        if self.probe is not None and self.probe.exception() is not None:
            raise EngineError(
                "worker processes cannot start; they say why above. A script that begins a study "
                "needs `if __name__ == '__main__':` before it"
            )
        self._start()

    def abandon(self, futures: Iterable[Future]) -> None:
        """Give up what is under way."""
        for future in futures:
            future.cancel()
        if self.own:
            for process in list((getattr(self.pool, "_processes", None) or {}).values()):
                process.terminate()

    def _start(self) -> None:
        import multiprocessing  # loads with the first pool
        from concurrent.futures import ProcessPoolExecutor

        spawning = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(
            self.workers, mp_context=spawning, initializer=_begin_worker
        )
        self.probe = self.pool.submit(os.getpid)


class _Here(Executor):
    """An executor that does everything at once, in this process."""

    def submit(self, function: Callable, /, *arguments: Any, **named: Any) -> Future:
        """Do it, and return the finished Future."""
        future: Future = Future()
        future.set_result(function(*arguments, **named))
        return future


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent process, and end with it, whatever ends it."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    from multiprocessing import parent_process

    threading.Thread(target=_follow, args=(parent_process(),), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
