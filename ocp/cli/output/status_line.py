"""Status line of a running command, on standard error."""

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from ocp.solvers.progress import listen

PATIENCE = {True: 0.3, False: 1.0}  # s of silence before something is said, on a terminal or not
GROWTH = 2.0  # of the patience with each line that stays
CLEAR = "\r\x1b[K"  # of a terminal: empties the line


class Steps:
    """Status line of a command: a listener of progress that prints after a while of silence.

    On a terminal it is one line that changes and vanishes in the end; elsewhere lines, each after
    twice the `patience` (s) of the last, by a `clock` (s). Without a stream it prints nothing.
    """

    def __init__(
        self,
        name: str,
        stream: TextIO | None,
        patience: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self.stream, self.patience, self.clock = name, stream, patience, clock
        self.lock, self.timer = threading.Lock(), threading.Timer(0, lambda: None)
        self.words, self.last = "", clock()
        self.rewrites = stream is not None and stream.isatty()
        self.standing = False  # a line of ours on the terminal
        self.lines = 0  # that stay

    def __call__(self, words: str) -> None:
        """Take a new step, and print it after a while."""
        self.timer.cancel()
        left = self._take(words)
        if left <= 0:
            self.tell()
        elif self.stream is not None:
            self.timer = threading.Timer(left, self.tell)
            self.timer.daemon = True
            self.timer.start()

    def update(self, words: str) -> None:
        """Take the progress of a step: printed when it is time, and by then perhaps a newer one."""
        if self._take(words) <= 0:
            self.tell()

    def _take(self, words: str) -> float:
        """Keep the words and return the time (s) until they may be printed."""
        if self.stream is None:
            return float("inf")
        with self.lock:
            self.words = words
            return self.last + self.patience - self.clock()

    def tell(self) -> None:
        """Print the step, unless something was printed meanwhile."""
        with self.lock:
            if not self.words or self.clock() - self.last < 0.9 * self.patience:
                return
            line = f"{self.name}: {self.words} ..."
            with suppress(OSError, ValueError):  # a stream that takes nothing is not our matter
                if self.rewrites:
                    print(f"{CLEAR}{line}", end="", file=self.stream, flush=True)
                    self.standing = True
                else:
                    self.patience *= GROWTH
                    self.lines += 1
                    print(line, file=self.stream, flush=True)
            self.words, self.last = "", self.clock()

    def clear(self) -> None:
        """Clear the line and wait anew: something else is printed."""
        self.timer.cancel()
        with self.lock:
            if self.standing:
                with suppress(OSError, ValueError):
                    print(CLEAR, end="", file=self.stream, flush=True)
            self.words, self.last, self.standing = "", self.clock(), False


@contextmanager
def status_line(name: str, *, silent: bool = False) -> Iterator[Steps]:
    """Print on standard error steps that take a while, unless `silent`, and warnings in a line
    each."""
    stream = None if silent else sys.stderr
    steps = Steps(name, stream, PATIENCE[stream is not None and stream.isatty()])
    with warnings.catch_warnings(), listen(steps):

        def show(message: object, *_: object, **__: object) -> None:
            steps.clear()
            with suppress(OSError):
                print(f"{steps.name}: warning: {message}", file=sys.stderr)

        warnings.showwarning = show
        try:
            yield steps
        finally:
            steps.clear()
