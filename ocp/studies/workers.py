"""Engines that run the cells of a study: worker processes, any executor, or this process."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

from ocp.mechanics.values.types import Numbers
from ocp.studies.worker_processes import BEGINNING, ONE_THREAD, Processes, check_beginning


class Engine:
    """Where cells run: an executor that was given, or so many worker processes of our own.

    Workers None are one per processor, 0 this very process. `seconds` limit each cell, which only
    processes of our own can be held to. Raises ValueError for anything else.
    """

    def __init__(
        self,
        executor: Executor | None = None,
        workers: int | None = None,
        seconds: float | None = None,
    ) -> None:
        if executor is not None and not isinstance(executor, Executor):
            kind = type(executor).__name__
            raise ValueError(f"executor: expected an Executor of concurrent.futures, got {kind}")
        if workers is not None and (
            isinstance(workers, bool) or not isinstance(workers, int) or workers < 0
        ):
            raise ValueError(f"workers: expected a whole number of at least 0, got {workers!r}")
        workers = processors() if workers is None else workers
        self.own, self.workers = executor is None and workers > 0, workers
        if seconds is not None:
            _check_seconds(seconds, self.own)
        self.seconds = seconds
        self.pool: Any = _Here() if executor is None else executor  # processes start on entering
        self.width = np.inf if executor is not None else max(workers, 1)
        self.before: dict[str, str | None] = {}
        check_beginning()

    def __enter__(self) -> "Engine":
        if self.own:
            settings = {**ONE_THREAD, BEGINNING: "yes"}
            self.before = {name: os.environ.get(name) for name in settings}
            os.environ.update(settings)  # processes inherit it, before they import anything
            self.pool = Processes(self.workers, self.seconds)
        return self

    def __exit__(self, *_: object) -> None:
        if self.own:
            self.pool.shutdown(cancel_futures=True)
            for name, value in self.before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def submit(self, *task: object) -> Future:
        """Hand out a task and return its Future."""
        return self.pool.submit(*task)

    def abandon(self, futures: Iterable[Future]) -> None:
        """Give up what is under way."""
        for future in futures:
            future.cancel()
        if self.own:
            self.pool.shutdown(cancel_futures=True)


class _Here(Executor):
    """An executor that does everything at once, in this process."""

    def submit(self, function: Callable, /, *arguments: object, **named: object) -> Future:
        """Do it, and return the finished Future."""
        future: Future = Future()
        future.set_result(function(*arguments, **named))
        return future


def _check_seconds(seconds: Numbers, own: bool) -> None:
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not 0 < seconds < np.inf:
        raise ValueError(f"seconds: expected a positive number, got {seconds!r}")
    if not own:
        raise ValueError(
            "seconds: only worker processes can be stopped: expected workers of at least 1 and no "
            "executor"
        )


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
