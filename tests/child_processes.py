"""Children of a program that a test has started: which they are, and that they end."""

import time
from contextlib import suppress
from pathlib import Path


def children_of(program):
    """Numbers of the processes that a program has started and that are there."""
    found: list[str] = []
    for task in Path(f"/proc/{program.pid}/task").iterdir():
        with suppress(OSError):  # a thread that has ended since
            found += (task / "children").read_text().split()
    return found


def wait_for_end(numbers, seconds):
    """Wait until there is none of these processes, so long at most."""
    end = time.monotonic() + seconds
    while any(Path(f"/proc/{number}").exists() for number in numbers):
        assert time.monotonic() < end
        time.sleep(0.1)
