"""Multifrontal factorisation for IPOPT's linear systems, in C, loaded in place of HSL's MA27.

It is quicker than MUMPS for small systems with much fill, as those of splines with torques as
variables: the order of elimination and the fronts are found once for a pattern.
"""

import ctypes
from functools import cache
from pathlib import Path

from ocp.codegen.compiler.shared_library import NoCompiler, begin_load

NAME = "fronts"  # as IPOPT's linear_solver
MAIN = "ma27.c"
FLAGS = ("-O3", "-fPIC", "-shared", "-pthread", "-fno-math-errno", "-fno-trapping-math")
SUMS = ("-fno-signed-zeros", "-fassociative-math")  # make vectors of sums


def options() -> dict[str, object]:
    """Return the options with which IPOPT loads it; raise NoCompiler if it cannot be compiled."""
    return {"linear_solver": "ma27", "hsllib": str(library()), "ma27_la_init_factor": 1.0}


def available() -> bool:
    """Tell whether it can be compiled here."""
    try:
        return bool(library())
    except NoCompiler:
        return False


@cache
def library() -> Path:
    """Return the compiled library, made for this processor if the system tells which it is.

    Raises NoCompiler with the reason if it cannot be compiled.
    """
    folder = Path(__file__).parent
    files = sorted(each.name for each in folder.iterdir() if each.name.endswith((".c", ".h")))
    # The first source is compiled, the others are included
    sources = {
        name: folder.joinpath(name).read_text()
        for name in sorted(files, key=lambda each: (each != MAIN, each))
    }
    features = _processor_features()
    if features:
        try:
            return _compile(sources, ("-march=native",), features)
        except NoCompiler:  # the compiler does not know this processor
            pass
    return _compile(sources, (), "")


def _compile(sources: dict[str, str], flags: tuple[str, ...], features: str) -> Path:
    every = (*FLAGS, *SUMS, *flags)
    return begin_load(NAME, sources, _check_loads, flags=every, versions=(features,))()


def _check_loads(path: Path) -> Path:
    ctypes.CDLL(str(path))  # raises OSError if it does not load
    return path


def _processor_features() -> str:
    """Return the features of the processor, "" if unknown: machines may share a cache."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
