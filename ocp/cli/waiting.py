"""What a command is doing while nothing else is printed, on standard error."""

import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from ocp.progress import listening

PATIENCE = {True: 0.5, False: 2.0}  # s of silence before something is said, on a terminal or not


class Steps:
    """Says what is done once nothing was said for a while: a listener of `ocp.progress`.

    Without a stream it says nothing.
    """

    def __init__(self, name: str, stream: TextIO | None, patience: float) -> None:
        self.name, self.stream, self.patience = name, stream, patience
        self.lock, self.timer = threading.Lock(), threading.Timer(0, lambda: None)
        self.words, self.last = "", time.monotonic()

    def __call__(self, words: str) -> None:
        """Take what is done from now on."""
        self.timer.cancel()
        if self.stream is None:
            return
        with self.lock:
            self.words = words
            left = self.last + self.patience - time.monotonic()
        if left <= 0:
            self.tell()
            return
        self.timer = threading.Timer(left, self.tell)
        self.timer.daemon = True
        self.timer.start()

    def tell(self) -> None:
        """Print what is done, unless something was printed meanwhile."""
        with self.lock:
            if not self.words or time.monotonic() - self.last < 0.9 * self.patience:
                return
            with suppress(OSError, ValueError):  # a stream that takes nothing is not our matter
                print(f"{self.name}: {self.words} ...", file=self.stream, flush=True)
            self.words, self.last = "", time.monotonic()

    def heard(self) -> None:
        """Be silent: something else was printed."""
        self.timer.cancel()
        with self.lock:
            self.words, self.last = "", time.monotonic()


@contextmanager
def waited(name: str, *, silent: bool = False) -> Iterator[Steps]:
    """Say on standard error what takes its time, and warnings in a line each.

    With `silent` only the warnings.
    """
    stream = None if silent else sys.stderr
    steps = Steps(name, stream, PATIENCE[stream is not None and stream.isatty()])
    with warnings.catch_warnings(), listening(steps):
        warnings.showwarning = _shown(name)
        try:
            yield steps
        finally:
            steps.heard()


def _shown(name: str) -> Any:
    def show(message: Any, *_: Any, **__: Any) -> None:
        with suppress(OSError):
            print(f"{name}: warning: {message}", file=sys.stderr)

    return show
