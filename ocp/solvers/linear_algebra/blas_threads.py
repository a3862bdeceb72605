"""Threads of numpy's linear algebra, held at one during a search.

The dense matrices of a search have some hundred rows: threads that wait for their shares of these
take more processor time than the work, and much more beside other processes. The number belongs to
the whole process. It is set when the first of several simultaneous searches begins and restored
when the last one ends.
"""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

LIBRARIES = (b"blas", b"mkl_rt", b"blis")  # parts of file names
WHEELS = ("../numpy.libs", ".dylibs")  # folders of numpy's wheels, beside the package
MAPS = Path("/proc/self/maps")  # the files that a process of Linux has loaded
SYMBOLS = (  # functions that get and set the number
    *(
        (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
        for prefix in ("scipy_", "")
        for suffix in ("64_", "")
    ),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
    ("bli_thread_get_num_threads", "bli_thread_set_num_threads"),
)


class Library(NamedTuple):
    """A library of linear algebra: its file, and the functions that get and set its threads."""

    file: str
    threads: Callable[[], int]
    set_threads: Callable[[int], object]


class ThreadHold:
    """Count of searches in this process, and the numbers of threads before the first of them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.searches = 0
        self.before: list[tuple[Library, int]] = []

    def enter(self) -> None:
        """Set every library to one thread, unless another search has done so."""
        with self.lock:
            self.searches += 1
            if self.searches == 1:
                self.before = [(library, library.threads()) for library in libraries()]
                for library, _ in self.before:
                    library.set_threads(1)

    def leave(self) -> None:
        """Restore the number of threads of every library, unless another search goes on."""
        with self.lock:
            self.searches -= 1
            if self.searches == 0:
                for library, count in self.before:
                    library.set_threads(count)


_HOLD = ThreadHold()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the loaded libraries of linear algebra at one thread each within a `with` block."""
    _HOLD.enter()
    try:
        yield
    finally:
        _HOLD.leave()


def libraries() -> list[Library]:
    """Return the loaded libraries of linear algebra whose number of threads can be set."""
    try:
        table = MAPS.read_bytes().splitlines()  # each time: plugins load theirs late
    except OSError:
        table = []  # not Linux, or hidden: those of numpy's wheel are known anyway
    loaded = {line[line.find(b"/") :] for line in table if b"/" in line}
    names = {file: os.path.basename(file) for file in loaded | _of_wheel()}
    files = [file for file in names if any(part in names[file] for part in LIBRARIES)]
    return [library for file in sorted(map(os.fsdecode, files)) for library in _open_library(file)]


@cache
def _of_wheel() -> frozenset[bytes]:
    """Return the files of all libraries in a wheel of numpy."""
    package = Path(np.__file__).parent
    files = (file.resolve() for folder in WHEELS for file in (package / folder).glob("*"))
    return frozenset(map(os.fsencode, files))


@cache
def _open_library(file: str) -> list[Library]:
    """Return a file as a Library, nothing if it has no functions for its threads."""
    try:
        loaded = ctypes.CDLL(file)
    except OSError:
        return []
    for count, set_count in SYMBOLS:
        if hasattr(loaded, count) and hasattr(loaded, set_count):
            return [Library(file, getattr(loaded, count), getattr(loaded, set_count))]
    return []
