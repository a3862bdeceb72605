"""A factorisation of our own for IPOPT's linear systems, in C, which IPOPT loads as its MA27.

It is quicker than MUMPS where a system is small and filled, as those of splines with torques as
variables are: the order of elimination, and which rows go together, are found once for a pattern.
"""

import ctypes
from functools import cache
from pathlib import Path

from ocp.codegen.compiler.shared_library import NoCompiler, begin_load

NAME = "fronts"  # as IPOPT's linear_solver
MAIN = "ma27.c"
FLAGS = ("-O3", "-fPIC", "-shared", "-pthread", "-fno-math-errno", "-fno-trapping-math")
SUMS = ("-fno-signed-zeros", "-fassociative-math")  # so that sums are vectors


def options() -> dict[str, object]:
    """Return the options with which IPOPT loads it.

    Raises NoCompiler with the reason where it cannot be compiled.
    """
    return {"linear_solver": "ma27", "hsllib": str(library()), "ma27_la_init_factor": 1.0}


def available() -> bool:
    """Return whether it can be compiled here."""
    try:
        return bool(library())
    except NoCompiler:
        return False


@cache
def library() -> Path:
    """Return the compiled library, made for this processor where that can be told.

    Raises NoCompiler with the reason if it cannot be had.
    """
    folder = Path(__file__).parent
    files = sorted(each.name for each in folder.iterdir() if each.name.endswith((".c", ".h")))
    sources = {name: folder.joinpath(name).read_text() for name in sorted(files, key=_main_first)}
    processor = _processor()
    if processor:
        try:
            return _made(sources, ("-march=native",), processor)
        except NoCompiler:  # a compiler that does not know this one
            pass
    return _made(sources, (), "")


def _made(sources: dict[str, str], flags: tuple[str, ...], processor: str) -> Path:
    given = (*FLAGS, *SUMS, *flags)
    return begin_load(NAME, sources, _loadable, flags=given, versions=(processor,))()


def _loadable(path: Path) -> Path:
    ctypes.CDLL(str(path))  # raises OSError where it cannot be
    return path


def _main_first(name: str) -> tuple[bool, str]:
    return name != MAIN, name


def _processor() -> str:
    """Return what a processor can do, "" where the system does not tell: a cache may be shared by
    machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
