"""Backends of kernels: machine code assembled here or by a compiler, or the virtual machine."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.codegen.assembler import (
    LIBRARIES,
    NoMachineCode,
    image_of,
    load_image_of,
    unsupported_reason,
)
from ocp.codegen.function_map import Graph, assembled_map, map_function, map_image
from ocp.codegen.kept_results import Parts, is_kept, recall, sources
from ocp.codegen.linear_maps import Placement, Sums
from ocp.solvers import NoCompiler
from ocp.solvers.progress import say
from ocp.transcription.kernels.instant_symbols import PendingKernel

ASSEMBLED, COMPILED, VIRTUAL = "assembled", "compiled", "virtual"
Getter = Callable[[], ca.Function]  # of a kernel's function


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
        from ocp.codegen.compiler.compiled_functions import begin_compile  # loads when asked for

        begun = self._begin(begin_compile, name, build, self._key(name, follows))
        if begun is not None:
            function, pattern = PendingFunction(self, begun, build), begun.pattern
            if pattern.numel() and not pattern.nnz():
                function()  # nobody asks for a matrix of zeros, but its library is to be kept
            return function, pattern
        graph = build()
        return lambda: graph.function, graph.pattern

    @property
    def quick(self) -> bool:
        """Whether functions of one instant are not machine code yet, and many of them are."""
        return self.kernels == ASSEMBLED and self.trouble is None

    @property
    def keeps(self) -> bool:
        """Whether machine code is kept on disk."""
        return self.quick and LIBRARIES and is_kept()

    def map_over(self, kernel: Getter, count: int) -> ca.Function:
        """Return a function of one instant at so many."""
        made = self._awaitable(partial, self._map, kernel, count)() if self.quick else None
        self.any = self.any or made is not None
        return made or map_function(kernel(), count, self.threads)

    def _map(self, kernel: Getter, count: int) -> ca.Function | None:
        """Return a kernel's machine code, kept or made anew."""
        if not isinstance(kernel, KeptKernel):
            return assembled_map(kernel(), count, always=self.always)
        if count not in kernel.maps:
            kernel.maps[count] = self._recall(
                "map",
                (kernel.known_by, count),
                lambda: map_image(kernel(), count, always=self.always),
            )
        return kernel.maps[count]

    def _recall(self, kind: str, known_by: Sequence, make: Callable) -> ca.Function | None:
        parts = recall(kind, (*known_by, self.always), make)
        return load_image_of(parts) if parts else None

    def scatter(
        self, placement: Callable[[], Placement], known_by: Sequence
    ) -> tuple[np.ndarray, Callable[[], ca.Function | None]]:
        """Begin to make what puts products in their places, those of the Placement that is given
        and follows from `known_by`; return the keys of these, and what waits for it, which gives
        None where that is left to the virtual machine."""
        if self.kernels == COMPILED:
            from ocp.codegen.compiler.scatter import compile_scatter  # loads when asked for

            placed = placement()
            plain = placed.plain
            return placed.keys, self._awaitable(compile_scatter, *placed.makes) if plain else no
        from ocp.codegen.assembler import assembled_linear_maps

        if not self.keeps:
            make, placed = (
                partial(assembled_linear_maps.assemble_scatter, always=self.always),
                placement(),
            )
            begun = self._awaitable(lambda: partial(make, *placed.makes)) if placed.plain else no
            return placed.keys, begun

        def parts() -> Parts:
            placed, write = placement(), assembled_linear_maps.scatter_code
            code = write(*placed.makes, always=self.always) if placed.plain else None
            return {"keys": placed.keys, **({} if code is None else image_of(code))}

        kept = recall("scatter", (*known_by, self.always), parts)
        begun = self._awaitable(lambda: partial(load_image_of, kept)) if "image" in kept else no
        return kept["keys"], begun

    def gather_sums(
        self, functions: Callable[[], Mapping[str, Sums]], known_by: Sequence
    ) -> Callable[[], Mapping[str, ca.Function] | None]:
        """Begin to make constant sums, as `summing` does, which are given and follow from
        `known_by`; return what waits for them, and gives none where these are left to the virtual
        machine."""
        if self.kernels == COMPILED:
            from ocp.codegen.compiler.sparse_matvec import compile_sums  # loads when asked for

            return self._awaitable(compile_sums, functions())
        from ocp.codegen.assembler import assembled_linear_maps

        if not self.keeps:
            make = partial(assembled_linear_maps.assemble_sums, always=self.always)
            return self._awaitable(lambda: lambda: make(functions()))

        def parts() -> Parts:
            codes = assembled_linear_maps.sums_code(functions(), always=self.always) or {}
            return {
                f"{part} {name}": array
                for name, code in codes.items()
                for part, array in image_of(code).items()
            }

        def load() -> Mapping[str, ca.Function] | None:
            kept = recall("sums", (*known_by, self.always), parts)
            names = [each.partition(" ")[2] for each in kept if each.startswith("image ")]
            images = {
                name: {part: kept[f"{part} {name}"] for part in ("image", "addresses")}
                for name in names
            }
            return {name: load_image_of(each) for name, each in images.items()} or None

        return self._awaitable(lambda: load)

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


def no() -> None:
    """Return None, as what waits for machine code that is not made."""


class KeptKernel:
    """The getter of a function that is built when it is first called; `known_by` is a text of all
    that it follows from, `maps` its machine code by the number of instants."""

    def __init__(self, build: Callable[[], Graph], known_by: str) -> None:
        self.known_by = known_by
        self.build: Callable[[], Graph] | None = build
        self.function: ca.Function | None = None
        self.maps: dict[int, ca.Function | None] = {}

    def __call__(self) -> ca.Function:
        if self.build is not None:
            self.function, self.build = self.build().function, None
        return cast(ca.Function, self.function)


class KeptKernels:
    """What finishes kernels whose machine code is kept: their patterns are, too, so that graphs are
    built only if somebody asks for them. `differentiated` is as of KernelBackend."""

    scalar = False

    def __init__(self, differentiated: str) -> None:
        self.differentiated = differentiated

    def __call__(
        self, name: str, build: Callable[[], Graph], follows: Callable[[], str]
    ) -> PendingKernel:
        """Return the getter of the function of a Graph of that name, and the Graph's pattern, as a
        Backend does."""
        graph = cache(build)
        known_by = chr(0).join((name, self.differentiated, follows()))

        def parts() -> Parts:
            shape = graph().pattern.shape
            lists = graph().pattern.colind(), graph().pattern.row()
            sides = dict(zip(("starts", "rows"), (np.array(each, dtype=int) for each in lists)))
            return {"shape": np.array(shape), **sides}

        kept = recall("pattern", [known_by], parts)
        starts, rows = (kept[each].tolist() for each in ("starts", "rows"))
        height, width = kept["shape"].tolist()
        return KeptKernel(graph, known_by), ca.Sparsity(height, width, starts, rows)


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
