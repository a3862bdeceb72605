"""A study under way: which cell is handed out next, and what comes home.

Cells are claimed in the study's file before they are handed out, so that several processes share
one study. A worker that dies costs nothing but its cell, and that only when it dies twice.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ocp.studies.branches import Plan, further
from ocp.studies.cells import STOPPED, Result, Seed, lost, run
from ocp.studies.claims import Heartbeat, new_owner, retire
from ocp.studies.database import Ledger, is_settled, renew
from ocp.studies.processes import EngineError, Overran
from ocp.studies.rescue import Outbox
from ocp.studies.rows import FAILED, FIELDS, SOLVED, Cell, StudyFileError
from ocp.studies.workers import Engine

LOOK = 0.5  # s: between looks at what other processes have done


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
    """A study under way: what is ready, what runs, what others do, what could not be written yet.

    `known`: cells of the file; those of them that are `settled` are not run.
    """

    def __init__(
        self,
        plan: Sequence[tuple[Cell, int | None]],
        ledger: Ledger,
        engine: Engine,
        watch: Callable[[Progress], Any] | None,
        known: Mapping[str, Cell],
        settled: Mapping[str, Cell],
    ) -> None:
        self.ledger, self.engine, self.watch = ledger, engine, watch
        self.owner = new_owner()
        self.begin, self.finished, self.looked = time.perf_counter(), 0, time.perf_counter()
        self.cells = {one.id: one for one, _ in plan}
        self.before = {one.id: None if near is None else plan[near][0].id for one, near in plan}
        self.stale = {key: one.finished for key, one in known.items() if key not in settled}
        self.status = {key: settled[key].status for key in self.cells if key in settled}
        self.ready: deque[str] = deque()
        self.elsewhere: deque[str] = deque()
        self.running: dict[Future, str] = {}
        self.retried: set[str] = set()
        self.queued = set(self.status)
        self.outbox = Outbox(ledger, self.cells.values())
        self._queue()

    def all(self) -> None:
        """Run all that is to be run, or wait for other processes that do."""
        try:
            with Heartbeat(self._renew):
                while self.ready or self.elsewhere or self.running or self.outbox.trouble:
                    if self.outbox.trouble and not self.running:
                        self.outbox.flush()
                        if self.outbox.trouble:
                            raise self.outbox.trouble
                    self._fill()
                    self._collect()
                    self._look()
        except BaseException:
            self.engine.abandon(self.running)
            self.outbox.rescue()
            raise
        finally:
            retire(self.owner)
            self._give_up()

    def _renew(self) -> None:
        """Renew the leases; called in a thread of its own."""
        with suppress(StudyFileError):  # there is another beat
            renew(self.ledger.path, self.owner)

    def _give_up(self) -> None:
        with suppress(StudyFileError):  # claims of an owner that is no more are void
            self.ledger.release(self.owner)

    def _queue(self) -> None:
        """Make ready every cell whose neighbour is done."""
        for key, seed in self.before.items() if len(self.queued) < len(self.before) else ():
            if key not in self.queued and (seed is None or seed in self.status):
                self.queued.add(key)
                self.ready.append(key)

    def _fill(self) -> None:
        """Claim cells and hand them out."""
        while self.ready and not self.outbox.trouble and len(self.running) < self.engine.width:
            self._begin(self.ready.popleft())

    def _begin(self, key: str) -> None:
        """Claim a cell and hand it out; one that another process has, or has done, is its."""
        cell = self.ledger.claim(key, self.owner, self.stale.get(key, ""))
        if cell is None:
            self.elsewhere.append(key)
        elif is_settled(cell, self.stale.get(key, "")):
            self._settle(key, cell)
        else:
            self._submit(key)

    def _submit(self, key: str) -> None:
        try:
            future = self.engine.submit(run, self.cells[key].content, self._seed(key))
        except BrokenExecutor:
            raise _broken() from None
        self.running[future] = key

    def _look(self) -> None:
        """Look, now and then, at the cells that other processes have claimed."""
        now = time.perf_counter()
        if not self.elsewhere or self.outbox.trouble or now < self.looked + LOOK:
            return
        self.looked = now
        for _ in range(len(self.elsewhere)):
            if len(self.running) >= self.engine.width:
                return
            self._begin(self.elsewhere.popleft())

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
        """Take what has come home."""
        if not self.running:
            if self.elsewhere and not self.ready:
                time.sleep(LOOK / 5)
            return
        done, _ = wait(self.running, LOOK if self.elsewhere else None, FIRST_COMPLETED)
        for future in done:
            self._take(self.running.pop(future), future)

    def _take(self, key: str, future: Future) -> None:
        """Take a cell's result; what goes wrong in a cell is part of that.

        One that did not come back has a second chance.
        """
        try:
            result = future.result()
        except EngineError:
            raise
        except CancelledError:
            raise EngineError(
                f"the executor cancelled its work; finished cells are in {self.ledger.path}"
            ) from None
        except BrokenExecutor:
            raise _broken() from None
        except Overran as error:
            result = lost(str(error)) | {"seconds": self.engine.seconds}
        except Exception as error:
            if key not in self.retried:
                self.retried.add(key)
                self._submit(key)
                return
            result = lost(f"its worker process died twice: {type(error).__name__}: {error}")
        self._home(key, result)

    def _home(self, key: str, result: Result) -> None:
        if result["status"] == STOPPED:
            raise KeyboardInterrupt
        self.outbox.send(key, result)
        self._settle(key, replace(self.cells[key], **{name: result[name] for name in FIELDS}))

    def _settle(self, key: str, cell: Cell) -> None:
        """Count a cell that is done, here or elsewhere."""
        self.status[key], self.finished = cell.status, self.finished + 1
        self._queue()
        if self.watch is not None:
            own = replace(cell, parameters=self.cells[key].parameters)
            self.watch(self._progress(own))

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


def run_all(
    plan: Plan,
    ledger: Ledger,
    engine: Engine,
    watch: Callable[[Progress], Any] | None,
    retry: bool,
    branches: bool,
) -> tuple[Plan, dict[str, Cell], list[Cell]]:
    """Run the cells of a plan and, where `branches` are kept, what follows from them.

    Return all that was planned, {id: Cell} of the file, and the cells that were damaged.
    """
    every, anew = list(plan), list(plan)
    gone: list[Cell] = []
    with engine:
        while anew:
            ledger.plan([one for one, _ in anew])
            gone += ledger.forget([one for one, _ in anew])
            known = ledger.cells()
            settled = {
                key: one
                for key, one in known.items()
                if one.solved or (one.status == FAILED and not retry)
            }
            if any(one.id not in settled for one, _ in every):
                Run(every, ledger, engine, watch, known, settled).all()
                known = ledger.cells()
            anew, retry = further(every, known) if branches else [], False
            every += anew
    return every, known, gone


def _broken() -> EngineError:
    return EngineError(
        "the executor broke down; finished cells are kept, and the same command resumes the study"
    )
