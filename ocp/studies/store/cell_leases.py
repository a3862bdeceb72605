"""Claims of processes on the cells of a shared study, each with a lease that is renewed.

A claim is void when its lease is over, or when its process is no more, if that was one of this
computer. An owner is a text: the computer, the process by number and time of birth, a token.
"""

import os
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path

LEASE = 60.0  # s: what an owner that is not heard of keeps its claims
BEAT = 10.0  # s: between renewals
ACTIVE: set[str] = set()  # owners of this process that are at work


def new_owner() -> str:
    """Return an owner of claims for a run of this process; it is at work until `retire`."""
    pid = os.getpid()
    owner = f"{_computer()} {pid} {_process_birth(pid)} {secrets.token_hex(8)}"
    ACTIVE.add(owner)
    return owner


def retire(owner: str) -> None:
    """End the work of an owner: its claims are void."""
    ACTIVE.discard(owner)


def is_alive(owner: str) -> bool:
    """Tell whether an owner may still be at work; one of another computer may be."""
    parts = owner.split(" ")
    if len(parts) != 4 or parts[0] != _computer() or not parts[1].isdecimal():
        return True
    if int(parts[1]) == os.getpid():
        return owner in ACTIVE
    return _process_birth(int(parts[1])) == parts[2]


class Heartbeat:
    """A thread that calls `renew` every BEAT seconds, as long as it is open."""

    def __init__(self, renew: Callable[[], None]) -> None:
        self.renew, self.end = renew, threading.Event()
        self.thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Heartbeat":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end.set()
        self.thread.join()

    def _beat(self) -> None:
        while not self.end.wait(BEAT):
            self.renew()


def _computer() -> str:
    """Return a name for the computer, and for the numbers of processes that are known on it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()}/{space}".replace(" ", "-")


def _process_birth(pid: int) -> str:
    """Return when a process began, "" where that is not told, "ended" if it is no more."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, *rest = text.rpartition(")")[2].split()
        return "ended" if state in "ZX" else rest[18]
    except OSError:
        pass
    if Path("/proc/self/stat").exists() or os.name != "posix":
        return "ended" if os.name == "posix" else ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "ended"
    except OSError:
        pass
    return ""
