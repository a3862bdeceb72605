"""CasADi functions compiled from the C that CasADi generates, and cached as libraries.

Scalar graphs are folded, evaluate several instants at once, and are not optimized: they compile ten
to thirty times sooner than with -O1, and take up to twice as long to run. Where a compiler has no
vector types they are folded alone. As many compilers run at once as there are cores, while the
next graphs are still being built.
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
from ocp.codegen.compiler.shared_library import (
    NATIVE,
    Code,
    NoCompiler,
    library_code,
    load_library,
    processor,
)
from ocp.codegen.compiler.simd import vectorize
from ocp.codegen.compiler.statement_folding import fold_statements
from ocp.codegen.function_map import BATCHED, Graph

PLAIN = ("-O0", "-fPIC", "-shared")
VECTORS = (*PLAIN, "-ffp-contract=off", "-Wno-psabi")
OPTIMIZED = ("-O1", "-fPIC", "-shared")
PATTERN = "pattern"  # a function in each library that takes the matrix
INSTANTS, MAPPED = "instants", "mapped"  # functions in a library: see lanes.c
READING = threading.Lock()  # held while a library has been told the number of instants
Rewrite = Callable[[str, ca.Function], str | None]  # of C text, None if it is not as expected


class PendingLibrary(NamedTuple):
    """A Graph that is being compiled: its `pattern`, its `function` unless a cached library saved
    building it, and `result`(), which waits for the compiled function or raises NoCompiler."""

    pattern: ca.Sparsity
    function: ca.Function | None
    result: Callable[[], ca.Function]


def compile_function(function: ca.Function) -> ca.Function:
    """Return the function as compiled machine code, evaluated at one instant after another.

    Raises NoCompiler with the reason if there is no compiler, or it fails.
    """
    return begin_compile(function.name(), lambda: Graph(function), at_once=False).result()


def begin_compile(
    name: str, build: Callable[[], Graph], statement: str | None = None, *, at_once: bool = True
) -> PendingLibrary:
    """Begin to compile a graph unless its library is cached.

    Args:
        name: of the graph's function.
        build: builds the graph.
        statement: text of all that the graph follows from. With it a cached library is found
            without building the graph; else it is known by the graph itself.
        at_once: evaluate several instants at once.

    Raises:
        NoCompiler: with the reason.
    """
    graph = None if statement else build()
    known_by = (
        [statement] if graph is None else [graph.function.serialize(), graph.pattern.serialize()]
    )
    codes = [
        (library_code(name, (*known_by, *_versions()), flags), rewrite)
        for flags, rewrite in _ways(graph is None or graph.function.is_a("SXFunction"), at_once)
    ]
    load = partial(_load, name)
    for code, _ in codes:
        cached = code.load_cached(load)
        if cached is not None:
            return PendingLibrary(cached.pattern, None, partial(getattr, cached, "function"))
    graph = graph or build()
    written = generate_c(*graph)
    texts = ((code, rewrite(written, graph.function)) for code, rewrite in codes)
    ways = [(code, text) for code, text in texts if text is not None]
    return PendingLibrary(graph.pattern, graph.function, _start(ways, load))


def _ways(scalar: bool, at_once: bool) -> Sequence[tuple[tuple[str, ...], Rewrite]]:
    """Return flags and text of every way to compile a graph, the best first."""
    if not scalar:
        return [(OPTIMIZED, lambda text, _: text)]
    alone = PLAIN, lambda text, _: fold_statements(text)
    native = (NATIVE,) if processor() else ()
    return [((*VECTORS, *native), vectorize), alone] if at_once else [alone]


def _start(
    ways: Sequence[tuple[Code, str]], load: Callable[[Path], Graph]
) -> Callable[[], ca.Function]:
    """Start the first way, and return what waits for the function of the first that works."""
    (code, text), *others = ways
    build = code.start({"kernel.c": text})

    def result() -> ca.Function:
        try:
            return load_library(load, build.result()).function
        except NoCompiler:
            if not others:
                raise
            return _start(others, load)()

    return result


def generate_c(function: ca.Function, pattern: ca.Sparsity = ca.Sparsity(0, 0)) -> str:
    """Return the C text of a function, and of one that takes a matrix of that pattern."""
    generator = ca.CodeGenerator(function.name())
    generator.add(function)
    generator.add(ca.Function(PATTERN, [ca.SX.sym("entries", pattern)], []))
    return generator.dump()


def _load(name: str, library: Path) -> Graph:
    code = ca.Importer(str(library), "dll")
    function = ca.external(name, code)
    if code.has_function(MAPPED):
        BATCHED[function] = partial(_map_compiled, code, function.n_in())
    return Graph(function, ca.external(PATTERN, code).sparsity_in(0))


def _map_compiled(code: ca.Importer, inputs: int, count: int) -> ca.Function:
    """Return the function of a library at so many instants."""
    with READING:  # CasADi reads the sizes when it loads, and they are the library's own
        ca.external(INSTANTS, code)(count)
        mapped = ca.external(MAPPED, code)
    symbols = [ca.MX.sym(f"i{k}", mapped.sparsity_in(k)) for k in range(inputs)]
    results = mapped.call([*symbols, ca.DM(count)])
    return ca.Function(MAPPED, symbols, results, {"always_inline": True})


@cache
def _versions() -> tuple[str, ...]:
    """Return texts that change whenever the same graph would be compiled otherwise."""
    written = resources.files(__package__).joinpath("lanes.c").read_text()
    return ca.CasadiMeta.version(), *map(inspect.getsource, (statement_folding, simd)), written
