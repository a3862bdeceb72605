"""Progress of long work: messages to a listener, a solver's iterates and the best of them, and
interruption by the user.

By default nobody listens.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from ocp.pickling import portable
from ocp.solvers.nlp import NLP, Iterate, violation

FEASIBLE = 1e-6  # an interrupted solve prefers the best objective among iterates this feasible
_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def say(words: str) -> None:
    """Tell the listener which stage begins, in words as "builds graphs"."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(words)


@contextmanager
def listen(listener: Callable[[str], None] | None) -> Iterator[None]:
    """Send progress messages within a `with` block to a listener."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One iteration: number, objective, largest violation of any bound, seconds since the start,
    and the `stage` of a solve that has several.

    While it happens, a `watch` also sees the `iterate`, and in a solve of a problem may ask for its
    `motion`(), a Solution; stages that solve other programs have none.
    """

    number: int
    objective: float
    violation: float
    seconds: float
    stage: str = ""
    iterate: Iterate | None = field(default=None, repr=False, compare=False)
    motion: Callable[[], Any] | None = field(default=None, repr=False, compare=False)


class Record:
    """History of the iterates that a solver shows, and the best of them.

    Args:
        nlp: the program.
        watch: called with every Iteration. What it raises is kept as `raised` and stops the solver,
            as solvers written in other languages lose exceptions.
        most: the solver stops after so many iterations,
        seconds: and before one that may end after so many seconds.
        step: iterations from one that is shown to the next.
    """

    def __init__(
        self,
        nlp: NLP,
        watch: Callable[[Iteration], object] | None = None,
        most: int | None = None,
        seconds: float = np.inf,
        step: int = 1,
    ) -> None:
        self.step = step
        self.nlp, self.watch, self.begin = nlp, watch, time.perf_counter()
        self.most, self.seconds, self.full = most, seconds, False
        self.history: list[Iteration] = []
        self.best: Iterate | None = None
        self.interrupted = False
        self.raised: BaseException | None = None
        self._rank = (True, np.inf)

    def see(self, f: float, iterate: Iterate) -> bool:
        """Record an iterate with its objective; tell whether the solver must stop."""
        iteration = Iteration(
            number=self.step * len(self.history),
            objective=f,
            violation=self.rank(f, iterate),
            seconds=time.perf_counter() - self.begin,
        )
        self.history.append(iteration)
        if self.watch is not None and self.raised is None:
            try:
                self.watch(replace(iteration, iterate=iterate))
            except BaseException as error:
                self.raised = error
        self.full = self._is_full(iteration)
        return self.interrupted or self.full or self.raised is not None

    def rank(self, f: float, iterate: Iterate) -> float:
        """Keep an iterate if it is the best so far; return its violation."""
        nlp = self.nlp
        worst = max(
            np.max(violation(iterate.x, nlp.lower, nlp.upper), initial=0.0),
            np.max(violation(iterate.g, nlp.g_lower, nlp.g_upper), initial=0.0),
        )
        rank = (False, f) if worst <= FEASIBLE else (True, float(worst))
        if rank < self._rank:
            self._rank, self.best = rank, iterate
        return float(worst)

    def _is_full(self, last: Iteration) -> bool:
        """Tell whether no more iterations are allowed, or the slowest so far would end too late."""
        if self.most is not None and last.number >= self.most:
            return True
        if np.isinf(self.seconds):
            return False
        ends = [0.0, *(iteration.seconds for iteration in self.history)]
        return bool(last.seconds + np.max(np.diff(ends)) > self.seconds)


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise every Ctrl-C within a `with` block, at its end at the latest.

    CasADi drops a KeyboardInterrupt that comes while it reads its arguments. Only the main thread
    gets signals, and other handlers are left alone.
    """
    heard = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, hear)
    try:
        yield
    except Exception:
        if heard:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt


class Interruptible:
    """Context in which Ctrl-C stops the solver at its next iterate instead of raising."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __enter__(self) -> None:
        self.hears = threading.current_thread() is threading.main_thread()
        if self.hears:
            self.previous = signal.signal(signal.SIGINT, self.stop)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        self.record.interrupted = True

    def __exit__(self, *_: object) -> None:
        if self.hears:
            signal.signal(signal.SIGINT, self.previous)
