"""What is kept of a solver's way.

Every iterate that it shows, the best of them, and whether the user wants it to stop.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from ocp.pickling import portable
from ocp.solvers.nlp import NLP, Iterate, violation

FEASIBLE = 1e-6  # an interrupted solve prefers the best objective among iterates this feasible


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One iteration as it happens.

    Number, objective, largest violation of any bound, seconds since the start, and of which `stage`
    where a solve has several. While it happens a `watch` sees the `iterate` too, and in a solve of
    a problem may ask for the `motion`() that it is, a Solution that is none yet; in stages that
    solve other programs there is none.
    """

    number: int
    objective: float
    violation: float
    seconds: float
    stage: str = ""
    iterate: Iterate | None = field(default=None, repr=False, compare=False)
    motion: Callable[[], Any] | None = field(default=None, repr=False, compare=False)


class Record:
    """What is kept of the iterates that a solver shows: the history, and the best of them.

    The solver is to stop after `most` iterations, and before one that may end after `seconds`. It
    shows the first iterate and every so-manyth, `step`, from there on. What a watch raises stops it
    too, and is kept as `raised`: solvers written in other languages lose an exception.
    """

    def __init__(
        self,
        nlp: NLP,
        watch: Callable[[Iteration], Any] | None = None,
        most: int | None = None,
        seconds: float = np.inf,
        step: int = 1,
    ):
        self.step = step
        self.nlp, self.watch, self.begin = nlp, watch, time.perf_counter()
        self.most, self.seconds, self.full = most, seconds, False
        self.history: list[Iteration] = []
        self.best: Iterate | None = None
        self.interrupted = False
        self.raised: BaseException | None = None
        self._rank = (True, np.inf)

    def see(self, f: float, iterate: Iterate) -> bool:
        """Take an iterate with its objective; tell whether the solver is to stop."""
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
        """Keep an iterate with its objective if it is the best; return its violation."""
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
        """Tell whether no more iterations are allowed, or the next would end too late.

        It may take as long as the slowest so far.
        """
        if self.most is not None and last.number >= self.most:
            return True
        if np.isinf(self.seconds):
            return False
        ends = [0.0, *(iteration.seconds for iteration in self.history)]
        return bool(last.seconds + np.max(np.diff(ends)) > self.seconds)


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """While active, no Ctrl-C is lost.

    CasADi drops a KeyboardInterrupt that comes while it reads its arguments; it is raised at the
    end then. Only the main thread can hear it, and only where nobody else listens.
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
    """While active, Ctrl-C asks the solver to stop at its next iterate instead of raising.

    Only the main thread can hear it.
    """

    def __init__(self, record: Record):
        self.record = record

    def __enter__(self) -> None:
        self.hears = threading.current_thread() is threading.main_thread()
        if self.hears:
            self.previous = signal.signal(signal.SIGINT, self.stop)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Take the signal."""
        self.record.interrupted = True

    def __exit__(self, *_: object) -> None:
        if self.hears:
            signal.signal(signal.SIGINT, self.previous)
