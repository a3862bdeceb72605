"""The same study on worker processes of this computer and on a Dask cluster of two named nodes, and
what the cluster's parts cost."""

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ocp.problems.arms.two_link_time import problem
from ocp.studies import sweep

TORQUES, POINTS = np.linspace(8.0, 12.0, 24).round(6).tolist(), 22  # N m; control points
NODES = ("node-a", "node-b")
TASKS, MEGABYTE, ROUNDS = 300, 10**6, 20  # empty tasks; bytes of large results, and how many
READY = 60.0  # s that a scheduler or a node has to come up
NEEDS = "needs Dask: pip install 'ocp-motion[cluster]'"


def on_processes(workers: int) -> dict[str, Any]:
    """Return the cost of a study of 24 cells on so many worker processes: see `_swept`; `workers`,
    the seconds of the processor of all of these, their starts included."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "study.sqlite"
        return _swept(workers=workers, file=file, before=_children())


def on_cluster(count: int) -> dict[str, Any]:
    """Return the cost of the same study on a cluster of so many nodes, each a worker process with a
    name of its own, and that of the cluster.

    In seconds of the processor, `start` is what a node takes until it is there, `first` until it
    can begin a cell; in ms, `scheduler`, `client` and `node` are what a task without work takes of
    each, and `megabyte` what a megabyte on its way back takes of all three. Raises ValueError where
    Dask is not there.
    """
    with TemporaryDirectory() as folder, cluster(NODES[:count], Path(folder)) as client:
        started = client.run(time.process_time)
        client.run(_ready)
        ready = client.run(time.process_time)
        costs = _costs(client)
        before = sum(client.run(time.process_time).values())
        row = _swept(executor=client.get_executor(), file=Path(folder) / "study.sqlite")
        row["workers"] = sum(client.run(time.process_time).values()) - before
        known = client.scheduler_info()["workers"].values()
        row["nodes"] = sorted(str(each["name"]) for each in known)
    start, first = (float(np.mean(list(each.values()))) for each in (started, ready))
    return row | {"start": start, "first": first} | costs


def _swept(before: float | None = None, **where: Any) -> dict[str, Any]:
    """Return the cost of the study, in seconds of the processor: `own` of this process, and that of
    the `workers`, of which `before` was spent earlier; and the sum of objectives, `solved` cells
    and the `clock` (s)."""
    begin, clock = time.process_time(), time.perf_counter()
    study = sweep(problem, {"torque": TORQUES, "points": [POINTS]}, **where)
    row = {"own": time.process_time() - begin, "clock": time.perf_counter() - clock}
    if before is not None:
        row["workers"] = _children() - before
    total = sum(cell.objective or 0.0 for cell in study.cells)
    return row | {"objective": float(total), "solved": len(study.solved), "cells": len(study.cells)}


def _children() -> float:
    """Return the seconds of the processor of the processes that this one has ended."""
    times = os.times()
    return times.children_user + times.children_system


def _ready() -> None:
    """Do what a worker does before its first cell: load what states and solves it."""
    problem(points=POINTS)
    importlib.import_module("ocp.studies.solve_cell")


def _costs(client: Any) -> dict[str, float]:
    """Return the time of scheduler, client and nodes for tasks, and for megabytes (ms)."""
    nothing = _spent(client, _nothing, range(TASKS))
    heavy = _spent(client, _bytes, [MEGABYTE + k for k in range(ROUNDS)])
    own = 1e3 * sum(heavy.values()) / ROUNDS - 1e3 * sum(nothing.values()) / TASKS
    row = {name: 1e3 * seconds / TASKS for name, seconds in nothing.items()}
    return row | {"megabyte": own - 1e3 * _making()}


def _spent(client: Any, function: Any, arguments: Any) -> dict[str, float]:
    """Return the seconds of the processor that tasks take of each part of a cluster."""
    before = _so_far(client)
    client.gather([client.submit(function, each, pure=False) for each in arguments])
    after = _so_far(client)
    return {name: after[name] - before[name] for name in after}


def _so_far(client: Any) -> dict[str, float]:
    return {
        "scheduler": client.run_on_scheduler(time.process_time),
        "node": sum(client.run(time.process_time).values()),
        "client": time.process_time(),
    }


def _making() -> float:
    """Return the seconds of the processor that making a megabyte takes."""
    begin = time.process_time()
    for _ in range(ROUNDS):
        _bytes(MEGABYTE)
    return (time.process_time() - begin) / ROUNDS


def _nothing(number: int) -> int:
    return number


def _bytes(count: int) -> bytes:
    return os.urandom(count)


@contextmanager
def cluster(names: Any, folder: Path) -> Iterator[Any]:
    """Yield a client of a scheduler with a worker process for each name, on addresses of this
    computer; end them all.

    Raises ValueError where Dask is not there.
    """
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise ValueError(NEEDS) from None
    told = folder / "scheduler.json"
    general = ["--scheduler-file", str(told)]
    with ExitStack() as stack:
        begin = partial(_process, folder=folder)
        plain = ["--no-dashboard", "--host", "127.0.0.1"]
        stack.enter_context(begin("scheduler", [*general, *plain, "--port", "0"]))
        for name in names:
            own = [
                "--name",
                name,
                "--nthreads",
                "1",
                "--no-nanny",
                "--local-directory",
                str(folder),
            ]
            stack.enter_context(begin("worker", [*general, "--no-dashboard", *own]))
        start = time.perf_counter()
        while not told.exists():
            if time.perf_counter() > start + READY:
                raise ValueError("the scheduler did not come up")
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(told), timeout=READY) as client:
            client.wait_for_workers(len(names), timeout=READY)
            yield client


@contextmanager
def _process(kind: str, flags: list[str], folder: Path) -> Iterator[Any]:
    """Have a scheduler or a worker of Dask run as long as the context is open."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *flags]
    with open(folder / f"{kind}-{len(flags)}-{os.urandom(4).hex()}.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
