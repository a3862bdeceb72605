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

from ocp.studies.continuation import Chain, Plan, solves_to_repeat
from ocp.studies.solve_cell import STOPPED, Seed, lost_result, run_cell
from ocp.studies.store.cell_leases import Heartbeat, new_owner, retire
from ocp.studies.store.database import Ledger, renew
from ocp.studies.store.outdated_cells import enter_cells
from ocp.studies.store.row_format import FAILED, FIELDS, SOLVED, Cell, StudyFileError, is_settled
from ocp.studies.store.unsaved_cells import Outbox
from ocp.studies.worker_processes import EngineError, Overran
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


class Route:
    """All that is planned of a study, and from where each cell starts, {id: id or None}.

    Beside a plan there may be a chain, whose cells are planned when it is known where they start.
    """

    def __init__(self, plan: Plan, chain: Chain | None = None) -> None:
        self.plan: Plan = []
        self.cells: dict[str, Cell] = {}
        self.before: dict[str, str | None] = {}
        self.chain, self.begun = chain, dict[int, Cell]()
        self.add(plan)

    def add(self, plan: Plan) -> None:
        """Add cells with the places, in all that is planned, of those from which they start."""
        self.plan += plan
        for one, near in plan:
            self.cells[one.id] = one
            self.before[one.id] = None if near is None else self.plan[near][0].id

    def onward(self, known: Mapping[str, Cell]) -> list[Cell]:
        """Plan, and return, what of the chain can begin now that some cells are known."""
        if self.chain is None or len(self.begun) == len(self.chain.cells):
            return []
        links = self.chain.onward(self.begun, known)
        rows = {one.id: row for row, (one, _) in enumerate(self.plan)}
        for k, (one, near) in links.items():
            self.begun[k] = one
            self.add([(one, None if near is None else rows[self.begun[near].id])])
            rows[one.id] = len(self.plan) - 1
        return [one for one, _ in links.values()]

    @property
    def total(self) -> int:
        """How many cells there will be at least."""
        return len(self.cells) + (len(self.chain.cells) - len(self.begun) if self.chain else 0)


class Run:
    """A study under way: what is ready, what runs, what others do, what could not be written yet.

    `known`: cells of the file; those of them that are `settled` are not run.
    """

    def __init__(
        self,
        route: "Route",
        ledger: Ledger,
        engine: Engine,
        watch: Callable[[Progress], object] | None,
        known: Mapping[str, Cell],
        settled: Mapping[str, Cell],
    ) -> None:
        self.ledger, self.engine, self.watch = ledger, engine, watch
        self.owner = new_owner()
        self.begin, self.finished, self.looked = time.perf_counter(), 0, time.perf_counter()
        self.route, self.cells, self.before = route, route.cells, route.before
        self.stale = {key: one.finished for key, one in known.items() if key not in settled}
        self.done = {key: settled[key] for key in self.cells if key in settled}
        self.ready: deque[str] = deque()
        self.elsewhere: deque[str] = deque()
        self.running: dict[Future, str] = {}
        self.retried: set[str] = set()
        self.queued = set(self.done)
        self.outbox = Outbox(ledger, self.cells)
        self._queue()

    def all(self) -> None:
        """Run all that is to be run, or wait for other processes that do."""
        try:
            with Heartbeat(self._renew):
                while self._is_left():
                    if self.outbox.trouble and not self.running:
                        self.outbox.flush()
                        if self.outbox.trouble:
                            raise self.outbox.trouble
                    while (
                        self.ready
                        and not self.outbox.trouble
                        and len(self.running) < self.engine.width
                    ):
                        self._begin(self.ready.popleft())
                    self._collect()
                    self._look()
        except BaseException:
            self.engine.abandon(self.running)
            self.outbox.rescue()
            raise
        finally:
            retire(self.owner)
            self._give_up()

    def _is_left(self) -> bool:
        """Tell whether there is anything left to do, once what can begin now is planned."""
        if not self.outbox.trouble:
            begun = self.route.onward(self.done)
            if begun:
                enter_cells(self.ledger, begun)
                self._queue()
        return bool(self.ready or self.elsewhere or self.running or self.outbox.trouble)

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
            if key not in self.queued and (seed is None or seed in self.done):
                self.queued.add(key)
                self.ready.append(key)

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
            content, seed = self.cells[key].content, self._seed_of(key)
            future = self.engine.submit(run_cell, content, seed, self.engine.own)
        except BrokenExecutor:
            raise _broken_executor() from None
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

    def _seed_of(self, key: str) -> Seed | None:
        """Return arguments and archive of the nearest ancestor that was solved, or None."""
        seed = self.before[key]
        while seed is not None and self.done[seed].status != SOLVED:
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
            raise _broken_executor() from None
        except Overran as error:
            result = lost_result(str(error)) | {"seconds": self.engine.seconds}
        except Exception as error:
            if key not in self.retried:
                self.retried.add(key)
                self._submit(key)
                return
            result = lost_result(f"its worker process died twice: {type(error).__name__}: {error}")
        if result["status"] == STOPPED:
            raise KeyboardInterrupt
        self.outbox.send(key, result)
        self._settle(key, replace(self.cells[key], **{name: result[name] for name in FIELDS}))

    def _settle(self, key: str, cell: Cell) -> None:
        """Count a cell that is done, here or elsewhere."""
        self.done[key], self.finished = cell, self.finished + 1
        self._queue()
        if self.watch is not None:
            own = replace(cell, parameters=self.cells[key].parameters)
            elapsed, done = time.perf_counter() - self.begin, len(self.done)
            progress = Progress(
                done=done,
                total=self.route.total,
                failed=sum(one.status == FAILED for one in self.done.values()),
                elapsed=elapsed,
                remaining=elapsed / self.finished * (self.route.total - done),
                cell=own,
            )
            self.watch(progress)


def run_all(
    route: Route,
    ledger: Ledger,
    engine: Engine,
    watch: Callable[[Progress], object] | None,
    retry: bool,
    branches: bool,
) -> tuple[dict[str, Cell], list[Cell]]:
    """Run the cells of a route and, where `branches` are kept, what follows from them, which is
    added to it.

    Return {id: Cell} of the file, and the cells that were damaged.
    """
    gone: list[Cell] = []
    anew = list(route.cells.values())
    with engine:
        while True:
            known, settled, damaged = _enter_cells(route, anew, ledger, retry)
            gone += damaged
            if any(key not in settled for key in route.cells):
                Run(route, ledger, engine, watch, known, settled).all()
                known = ledger.cells()
            more = solves_to_repeat(route.plan, known) if branches else []
            if not more:
                return known, gone
            route.add(more)
            anew, retry = [one for one, _ in more], False


def _enter_cells(
    route: Route, anew: Sequence[Cell], ledger: Ledger, retry: bool
) -> tuple[dict[str, Cell], dict[str, Cell], list[Cell]]:
    """Enter new cells of a route in the file, and what its chain adds to them.

    Return {id: Cell} of the file, of what is settled there, and cells that were damaged.
    """
    gone: list[Cell] = []
    while True:
        enter_cells(ledger, anew)
        gone += ledger.forget(anew)
        known = ledger.cells()
        settled = {
            key: one
            for key, one in known.items()
            if one.solved or (one.status == FAILED and not retry)
        }
        anew = route.onward(settled)
        if not anew:
            return known, settled, gone


def _broken_executor() -> EngineError:
    return EngineError(
        "the executor broke down; finished cells are kept, and the same command resumes the study"
    )
