"""Backends of kernels: machine code assembled here or by a compiler, or the virtual machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.codegen.assembler import NoMachineCode, unsupported_reason
from ocp.codegen.function_map import Graph, assembled_map, map_function
from ocp.codegen.linear_maps import Sums
from ocp.solvers import NoCompiler
from ocp.solvers.progress import say
from ocp.transcription.kernels.inputs import PendingKernel

BEGUN = time.time()
AGE = 1.0  # s before BEGUN: a source that changed later may not be what was imported
ASSEMBLED, COMPILED, VIRTUAL = "assembled", "compiled", "virtual"
WINGS = (
    "mechanics",
    "dynamics",
    "motion",
    "problem",
    "transcription",
    "codegen",
)  # that make graphs


class KernelBackend:
    """What makes machine code of `kernels`, and says how they run.

    After the first trouble it leaves them as they are. `differentiated` says by what inverse
    dynamics is differentiated; "" where graphs are not known by the values that they are of, since
    a formulation is somebody's own. The virtual machine has so many `threads`. Machine code is made
    where that pays, or `always`.
    """

    scalar = True  # a compiler is given scalar graphs

    def __init__(
        self, kernels: str, differentiated: str = "", threads: int = 1, *, always: bool = False
    ) -> None:
        self.kernels, self.differentiated, self.threads = kernels, differentiated, threads
        self.always = always
        self.trouble: str | None = None
        self.count, self.any = 0, False
        if kernels == ASSEMBLED:
            self.trouble = unsupported_reason() or None

    def __call__(
        self, name: str, build: Callable[[], Graph], follows: Callable[[], str]
    ) -> PendingKernel:
        """Return the getter of the function of a Graph of that name, as machine code if that can be
        had, and the Graph's pattern; `build`() builds it, and `follows`() is a text of all that it
        follows from."""
        from ocp.codegen.compiler.compiled import begin_compile  # loads when asked for

        begun = self._begin(begin_compile, name, build, self._key(name, follows))
        if begun is not None:
            return PendingFunction(self, begun, build), begun.pattern
        graph = build()
        return lambda: graph.function, graph.pattern

    @property
    def quick(self) -> bool:
        """Whether functions of one instant are not machine code yet, and many of them are."""
        return self.kernels == ASSEMBLED and self.trouble is None

    def map_over(self, function: ca.Function, count: int) -> ca.Function:
        """Return a function of one instant at so many."""
        make = partial(assembled_map, always=self.always)
        made = self._awaitable(partial, make, function, count)() if self.quick else None
        self.any = self.any or made is not None
        return made or map_function(function, count, self.threads)

    def scatter(
        self, given: Sequence, wheres: Sequence[np.ndarray], count: int
    ) -> Callable[[], ca.Function | None]:
        """Begin to make what puts products in their places, as `scattering` does; return what waits
        for it, and gives None where that is left to the virtual machine."""
        if self.kernels == COMPILED:
            from ocp.codegen.compiler.scatter import compile_scatter  # loads when asked for

            return self._awaitable(compile_scatter, given, wheres, count)
        from ocp.codegen.assembler import program_kernels

        make = partial(program_kernels.assemble_scatter, always=self.always)
        return self._awaitable(lambda: partial(make, given, wheres, count))

    def gather_sums(
        self, functions: Mapping[str, Sums]
    ) -> Callable[[], Mapping[str, ca.Function] | None]:
        """Begin to make constant sums, as `summing` does; return what waits for them, and gives
        none where these are left to the virtual machine."""
        if self.kernels == COMPILED:
            from ocp.codegen.compiler.sparse_matvec import compile_sums  # loads when asked for

            return self._awaitable(compile_sums, functions)
        from ocp.codegen.assembler import program_kernels

        make = partial(program_kernels.assemble_sums, always=self.always)
        return self._awaitable(lambda: partial(make, functions))

    def _awaitable(self, begin: Callable, *what: object) -> Callable[[], Any]:
        begun = self._begin(begin, *what)

        @cache
        def result() -> Any:
            try:
                return begun() if begun and self.trouble is None else None
            except (NoCompiler, NoMachineCode) as reason:
                self.trouble = str(reason)
            return None

        return result

    def _begin(self, make: Callable, *what: object) -> Any:
        if self.trouble is None:
            self.count += 1
            if self.kernels == COMPILED:
                say(f"compiles kernels, the {self.count}. of them")
            try:
                return make(*what)
            except NoCompiler as reason:
                self.trouble = str(reason)
        return None

    def words(self) -> str:
        """Return the words on how kernels run."""
        if self.kernels == VIRTUAL:
            return "virtual machine" + f" on {self.threads} threads" * (self.threads > 1)
        few = None if self.any or self.kernels == COMPILED else "few instructions"
        reason = self.trouble or few
        return self.kernels if reason is None else f"virtual machine: {reason}"

    def _key(self, name: str, follows: Callable[[], str]) -> str | None:
        if not self.differentiated or not sources():
            return None
        return chr(0).join((name, self.differentiated, sources(), follows()))


class PendingFunction:
    """A function that is being compiled; called, it waits and gives it."""

    def __init__(self, backend: KernelBackend, begun: Any, build: Callable[[], Graph]) -> None:
        self.backend, self.begun, self.build = backend, begun, build
        self.function: ca.Function | None = None

    def __call__(self) -> ca.Function:
        if self.function is None:
            try:
                self.function = self.begun.result()
            except NoCompiler as reason:
                self.backend.trouble = str(reason)
                self.function = self.begun.function or self.build().function
            del self.begun, self.build  # which hold graphs
        return cast(ca.Function, self.function)


@cache
def sources() -> str:
    """Return a hash of the sources that graphs are made by, "" where these are not to be had or may
    have changed since they were imported."""
    import hashlib  # which few programs need

    folder, known = Path(__file__).parents[2], hashlib.sha256()
    files = [file for wing in WINGS for file in sorted((folder / wing).rglob("*.py"))]
    for file in files:
        if file.stat().st_mtime > BEGUN - AGE:
            return ""
        known.update(file.read_bytes())
    return known.hexdigest() if files else ""
