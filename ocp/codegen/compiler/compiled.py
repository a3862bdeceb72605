"""Kernels as machine code: C that CasADi generates, compiled and kept.

A scalar graph is folded, evaluated at several instants at once, and not optimized: it compiles ten
to thirty times sooner than by -O1, and takes up to twice as long. Where a compiler has no vectors
it is folded alone. As many are compiled at once as there are cores, while others are still being
built.
"""

import inspect
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import casadi as ca

from ocp.codegen.compiler import simd, statement_folding
from ocp.codegen.compiler.shared_library import NATIVE, NoCompiler, code_of, load_library, processor
from ocp.codegen.compiler.simd import vectorize
from ocp.codegen.compiler.statement_folding import fold_statements
from ocp.codegen.mapped import AT_ONCE, Graph

PLAIN = ("-O0", "-fPIC", "-shared")
LANED = (*PLAIN, "-ffp-contract=off", "-Wno-psabi")
OPTIMIZED = ("-O1", "-fPIC", "-shared")
PATTERN = "pattern"  # of a matrix, in its library: a function that takes one
INSTANTS, MAPPED = "instants", "mapped"  # in a library: see lanes.c
READING = threading.Lock()  # of a library that has been told how many instants there are
Way = tuple[tuple[str, ...], Callable[[str, ca.Function], str | None]]


class PendingKernel(NamedTuple):
    """A Graph on its way to machine code: its `pattern`, its function as it was built, None where
    it was not, and as machine code, for which `result`() waits; it raises NoCompiler with the
    reason if that cannot be had."""

    pattern: ca.Sparsity
    built: ca.Function | None
    result: Callable[[], ca.Function]


def compile_function(function: ca.Function) -> ca.Function:
    """Return the function as loaded machine code, which is evaluated at one instant after another.

    Raises NoCompiler with the reason if that cannot be had.
    """
    return begin_compile(function.name(), lambda: Graph(function), at_once=False).result()


def begin_compile(
    name: str, build: Callable[[], Graph], statement: str | None = None, *, at_once: bool = True
) -> PendingKernel:
    """Return the Compiling of the Graph, of a function of that name, that `build`() builds; unless
    it is to be evaluated at several instants `at_once`, for one alone.

    Without a `statement`, a text that says all that the graph follows from, a library is known by
    the graph; with one by that, and nothing is built where it is kept. Raises NoCompiler with the
    reason if it cannot be had.
    """
    graph = None if statement else build()
    made_of = (
        [statement] if graph is None else [graph.function.serialize(), graph.pattern.serialize()]
    )
    codes = [
        (code_of(name, (*made_of, *_versions()), flags), text)
        for flags, text in _ways(graph is None or _scalar(graph.function), at_once)
    ]
    load = partial(_load, name)
    for code, _ in codes:
        kept = code.kept(load)
        if kept is not None:
            return PendingKernel(kept.pattern, None, partial(_function_of, kept))
    graph = graph or build()
    written = generate_c(*graph)
    texts = ((code, text(written, graph.function)) for code, text in codes)
    ways = [(code, text) for code, text in texts if text is not None]
    return PendingKernel(graph.pattern, graph.function, _begun(ways, load))


def _ways(scalar: bool, at_once: bool) -> Sequence[Way]:
    """Return the flags and what writes the text of every way to compile a graph, the best first."""
    if not scalar:
        return [(OPTIMIZED, _as_written)]
    native = (NATIVE,) if processor() else ()
    alone: Way = PLAIN, _folded
    return [((*LANED, *native), vectorize), alone] if at_once else [alone]


def _as_written(text, function):
    return text


def _folded(text, function):
    return fold_statements(text)


def _function_of(graph):
    return graph.function


def _begun(ways, load):
    """Return what gives the function of the first of the `ways` ((Code, text), ...) that works; the
    first has begun."""
    (code, text), *others = ways
    work = code.begun({"kernel.c": text})

    def result():
        try:
            return load_library(load, work.result()).function
        except NoCompiler:
            if not others:
                raise
            return _begun(others, load)()

    return result


def generate_c(function: ca.Function, pattern: ca.Sparsity = ca.Sparsity(0, 0)) -> str:
    """Return the C text of a function, and of one that takes a matrix of that pattern."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    generator.add(ca.Function(PATTERN, [ca.SX.sym("entries", pattern)], []))
    return generator.dump()


def _scalar(function: ca.Function) -> bool:
    return function.is_a("SXFunction")


def _load(name: str, library: Path) -> Graph:
    code = ca.Importer(str(library), "dll")
    function = ca.external(name, code)
    if code.has_function(MAPPED):
        AT_ONCE[function] = partial(_over, code, function.n_in())
    return Graph(function, ca.external(PATTERN, code).sparsity_in(0))


def _over(code: ca.Importer, inputs: int, count: int) -> ca.Function:
    """Return the function of a library in lanes at so many instants."""
    with READING:
        ca.external(INSTANTS, code)(count)
        mapped = ca.external(MAPPED, code)
    given = [ca.MX.sym(f"i{k}", mapped.sparsity_in(k)) for k in range(inputs)]
    results = mapped.call([*given, ca.DM(count)])
    return ca.Function(MAPPED, given, results, {"always_inline": True})


@cache
def _versions() -> tuple[str, ...]:
    written = resources.files(__package__).joinpath("lanes.c").read_text()
    return ca.CasadiMeta.version(), *map(inspect.getsource, (statement_folding, simd)), written
