"""Kernels as machine code: C that CasADi generates, compiled and kept.

A scalar graph is folded and not optimized: it compiles five times sooner than by -O1, and takes a
tenth longer. As many are compiled at once as there are cores, while others are still being built.
"""

import inspect
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import casadi as ca

from ocp.solvers.machine_code import code_of, loaded
from ocp.transcription import folding
from ocp.transcription.kernels import Graph

PLAIN = ("-O0", "-fPIC", "-shared")
OPTIMIZED = ("-O1", "-fPIC", "-shared")
PATTERN = "pattern"  # of a matrix, in its library: a function that takes one


class Compiling(NamedTuple):
    """A Graph on its way to machine code: its `pattern`, its function as it was built, None where
    it was not, and as machine code, for which `result`() waits; it raises NoCompiler with the
    reason if that cannot be had."""

    pattern: ca.Sparsity
    built: ca.Function | None
    result: Callable[[], ca.Function]


def compile_function(function: ca.Function) -> ca.Function:
    """Return the function as loaded machine code.

    Raises NoCompiler with the reason if that cannot be had.
    """
    return compiling(function.name(), lambda: Graph(function)).result()


def compiling(name: str, build: Callable[[], Graph], statement: str | None = None) -> Compiling:
    """Return the Compiling of the Graph, of a function of that name, that `build`() builds.

    Without a `statement`, a text that says all that the graph follows from, a library is known by
    the graph; with one by that, and nothing is built where it is kept. Raises NoCompiler with the
    reason if it cannot be had.
    """
    graph = None if statement else build()
    made_of = (
        [statement] if graph is None else [graph.function.serialize(), graph.pattern.serialize()]
    )
    scalar = graph is None or _scalar(graph.function)
    code = code_of(name, (*made_of, *_versions()), PLAIN if scalar else OPTIMIZED)
    load = partial(_load, name)
    kept = code.kept(load)
    if kept is not None:
        return Compiling(kept.pattern, None, lambda: kept.function)
    graph = graph or build()
    text = generate(*graph)
    work = code.begun({"kernel.c": folding.folded(text) if scalar else text})
    return Compiling(graph.pattern, graph.function, lambda: loaded(load, work.result()).function)


def generate(function: ca.Function, pattern: ca.Sparsity = ca.Sparsity(0, 0)) -> str:
    """Return the C text of a function, and of one that takes a matrix of that pattern."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    generator.add(ca.Function(PATTERN, [ca.SX.sym("entries", pattern)], []))
    return generator.dump()


def _scalar(function: ca.Function) -> bool:
    return function.is_a("SXFunction")


def _load(name: str, library: Path) -> Graph:
    code = ca.Importer(str(library), "dll")
    return Graph(ca.external(name, code), ca.external(PATTERN, code).sparsity_in(0))


@cache
def _versions() -> tuple[str, ...]:
    return ca.CasadiMeta.version(), inspect.getsource(folding)
