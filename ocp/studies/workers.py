"""Where the cells of a study run: worker processes of our own, any executor of concurrent.futures, or this process; and what comes home.

The only home of process pools. A worker that dies costs nothing but its cell, and that only when it dies twice.
"""

import os
import signal
import threading
import time
from collections import deque
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, replace

import numpy as np

from ocp.studies.cells import STOPPED, lost, run
from ocp.studies.database import FAILED, FIELDS, SOLVED, Cell, Outbox

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


class EngineError(RuntimeError):
    """Raised when an executor breaks down, or worker processes cannot start; finished cells are in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a study stands: cells `done` of the `total`, `failed` ones among them, s `elapsed` and `remaining`, and the `cell` just done."""

    done: int
    total: int
    failed: int
    elapsed: float
    remaining: float
    cell: Cell


class Run:
    """A study under way: what is ready, what runs, what could not be written yet."""

    def __init__(self, plan, ledger, engine, watch, known):
        self.ledger, self.engine, self.watch, self.begin, self.finished = (
            ledger,
            engine,
            watch,
            time.perf_counter(),
            0,
        )
        self.cells = {one.id: one for one, _ in plan}
        self.before = {one.id: None if near is None else plan[near][0].id for one, near in plan}
        self.status = {key: known[key].status for key in self.cells if key in known}
        self.ready, self.running, self.suspects = deque(), {}, deque()
        self.retried, self.queued, self.outbox = (
            set(),
            set(self.status),
            Outbox(ledger, self.cells.values()),
        )
        self._queue()

    def all(self):
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

    def _queue(self):
        """Make ready every cell whose neighbour is done."""
        for key, seed in self.before.items() if len(self.queued) < len(self.before) else ():
            if key not in self.queued and (seed is None or seed in self.status):
                self.queued.add(key)
                self.ready.append(key)

    def _fill(self):
        """Hand out cells; a suspect, one that ran when a worker died, runs alone, so that the guilty one is known."""
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

    def _submit(self, keys):
        """Hand out the first of the keys, and tell whether the engine took it."""
        try:
            future = self.engine.submit(run, self.cells[keys[0]].content, self._seed(keys[0]))
        except BrokenExecutor:
            if not self.running:
                self.engine.renew()
            return False
        self.running[future] = keys.popleft()
        return True

    def _seed(self, key):
        """Return arguments and archive of the nearest ancestor that was solved, or None."""
        seed = self.before[key]
        while seed is not None and self.status[seed] != SOLVED:
            seed = self.before[seed]
        return (
            None
            if seed is None
            else (self.cells[seed].content["arguments"], self.ledger.archive(seed))
        )

    def _collect(self):
        """Take what has come home; where an executor broke down, all of it."""
        if not self.running:
            return
        missing, broken = [], False
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        while done:
            for future in done:
                key = self.running.pop(future)
                try:
                    result = future.result()
                except CancelledError:
                    raise EngineError(
                        f"the executor cancelled its work; finished cells are in {self.ledger.path}"
                    ) from None
                except (
                    Exception
                ) as error:  # of the engine: what goes wrong in a cell is part of its result
                    missing.append((key, error))
                    broken = broken or isinstance(error, BrokenExecutor)
                else:
                    self._home(key, result)
            done = wait(self.running).done if broken and self.running else ()
        if broken:
            self.engine.renew()
        for key, error in missing:
            self._again(key, error)

    def _again(self, key, error):
        """Give a cell that did not come back its second chance, or mark it failed."""
        if key in self.retried:
            self._home(key, lost(f"its worker process died twice: {type(error).__name__}: {error}"))
        elif self.engine.own:
            self.suspects.append(key)
        else:
            self.retried.add(key)
            self.ready.append(key)

    def _home(self, key, result):
        if result["status"] == STOPPED:
            raise KeyboardInterrupt
        self.outbox.send(key, result)
        self.status[key], self.finished = result["status"], self.finished + 1
        self._queue()
        if self.watch is not None:
            elapsed, done = time.perf_counter() - self.begin, len(self.status)
            found = {name: result[name] for name in FIELDS}
            self.watch(
                Progress(
                    done=done,
                    total=len(self.cells),
                    failed=sum(status == FAILED for status in self.status.values()),
                    elapsed=elapsed,
                    remaining=elapsed / self.finished * (len(self.cells) - done),
                    cell=replace(self.cells[key], **found),
                )
            )


class Engine:
    """Where cells run: an executor that was given, worker processes of our own (None: one per processor), or, with 0, this very process.

    Raises ValueError for anything else.
    """

    def __init__(self, executor=None, workers=None):
        if executor is not None and not isinstance(executor, Executor):
            raise ValueError(
                f"executor: expected an Executor of concurrent.futures, got {type(executor).__name__}"
            )
        if workers is not None and (
            isinstance(workers, bool) or not isinstance(workers, int) or workers < 0
        ):
            raise ValueError(f"workers: expected a whole number of at least 0, got {workers!r}")
        workers = processors() if workers is None else workers
        self.own, self.workers = executor is None and workers > 0, workers
        self.pool = executor if executor is not None else None if workers else _Here()
        self.width = np.inf if executor is not None else max(workers, 1)
        self.probe, self.before = None, {}

    def __enter__(self):
        if self.own:
            self.before = {name: os.environ.get(name) for name in ONE_THREAD}
            os.environ.update(ONE_THREAD)  # processes inherit it, before they import anything
            self._start()
        return self

    def __exit__(self, *_):
        if self.own:
            self.pool.shutdown(cancel_futures=True)
            for name, value in self.before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    def submit(self, *task):
        """Hand out a task and return its Future."""
        return self.pool.submit(*task)

    def renew(self):
        """Replace a pool that broke; raise EngineError if it is not ours, or if it never ran."""
        if not self.own:
            raise EngineError(
                "the executor broke down; finished cells are kept, and the same command resumes the study"
            )
        self.pool.shutdown()
        if self.probe.exception() is not None:
            raise EngineError(
                "worker processes cannot start; they say why above. A script that begins a study needs the line "
                "`if __name__ == '__main__':` before it"
            )
        self._start()

    def abandon(self, futures):
        """Give up what is under way."""
        for future in futures:
            future.cancel()
        if self.own:
            for process in list((getattr(self.pool, "_processes", None) or {}).values()):
                process.terminate()

    def _start(self):
        import multiprocessing  # loads with the first pool
        from concurrent.futures import ProcessPoolExecutor

        spawning = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(
            self.workers, mp_context=spawning, initializer=_begin_worker
        )
        self.probe = self.pool.submit(os.getpid)


class _Here(Executor):
    """An executor that does everything at once, in this process."""

    def submit(self, function, /, *arguments, **more):
        """Do it, and return the finished Future."""
        future = Future()
        future.set_result(function(*arguments, **more))
        return future


def _begin_worker():
    """Leave Ctrl-C to the parent process, and end with it, whatever ends it."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    from multiprocessing import parent_process

    threading.Thread(target=_follow, args=(parent_process(),), daemon=True).start()


def _follow(parent):
    parent.join()
    os._exit(1)


def processors():
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
