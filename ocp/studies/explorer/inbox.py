"""Requests that reach a worker process: the newest counts, and stops what nobody waits for."""

import _thread
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from types import FrameType

from ocp.studies.store.argument_flags import Keywords

PAUSE = 0.2  # s: from an answer to its certificate
SHORT = 0.3  # s: a solve that takes no longer is not stopped, so that a drag is followed


class Superseded(Exception):
    """Raised within the work for a request when a newer one waits."""


class Inbox:
    """Requests of a `pipe`, read by a thread of their own while the main thread works.

    Requests for files are answered in turn; of others the newest alone.
    """

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.arrived = threading.Condition()
        self.files: deque[Keywords] = deque()
        self.newest: Keywords | None = None
        self.ended = False
        self.open = False  # whether the main thread may be interrupted
        self.heard = False
        signal.signal(signal.SIGINT, self._hear)
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def waits(self) -> bool:
        """Whether there is a newer request, or nobody to answer any more."""
        return self.newest is not None or self.ended

    def take(self) -> Keywords | None:
        """Return the next request, waiting for one; None where there will be no more."""
        with self.arrived:
            self.arrived.wait_for(lambda: self.files or self.newest or self.ended)
            if self.ended:
                return None
            if self.files:
                return self.files.popleft()
            request, self.newest = self.newest, None
            return request

    def check(self, begin: float) -> None:
        """Raise Superseded where work that began at a time (s) has lasted and a newer request
        waits."""
        if self.waits and time.monotonic() - begin > SHORT:
            raise Superseded

    def rest(self) -> None:
        """Leave the processors to whoever draws an answer for PAUSE; raise Superseded as soon as a
        request waits."""
        with self.arrived:
            if self.arrived.wait_for(lambda: self.waits, timeout=PAUSE):
                raise Superseded

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise Superseded within a `with` block of the main thread as soon as a request arrives.

        CasADi may turn what is raised within it into an error of its own, or lose it.
        """
        self.heard = False
        with self.arrived:
            if self.waits:
                raise Superseded
            self.open = True
        try:
            yield
            with self.arrived:
                self.open = False
        except Exception:
            if self.heard:
                raise Superseded from None
            raise
        finally:
            self.open = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        """Handle an interruption; Ctrl-C ends the process that this one works for, and so it."""
        if self.open:
            self.open, self.heard = False, True
            raise Superseded

    def _read(self) -> None:
        while not self.ended:
            try:
                request = self.pipe.recv()
            except (EOFError, OSError):
                request = None
            with self.arrived:
                if request is None:
                    self.ended = True
                elif "make" in request:
                    self.files.append(request)
                else:
                    self.newest = request
                self.arrived.notify_all()
                if self.open:
                    _thread.interrupt_main()
