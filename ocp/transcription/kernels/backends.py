"""What kernels run on: machine code that is assembled here or by a compiler, or CasADi's virtual
machine."""

import time
from functools import cache, partial
from pathlib import Path

from ocp.codegen.assembler import NoMachineCode, unsupported_reason
from ocp.codegen.mapped import map_function
from ocp.progress import say
from ocp.solvers import NoCompiler

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
    a formulation is somebody's own. The virtual machine has so many `threads`.
    """

    scalar = True  # a compiler is given scalar graphs

    def __init__(self, kernels, differentiated="", threads=1):
        self.kernels, self.trouble, self.count, self.any = kernels, None, 0, False
        self.differentiated, self.threads = differentiated, threads
        if kernels == ASSEMBLED and unsupported_reason():
            self.trouble = unsupported_reason()

    def __call__(self, name, build, follows):
        """Return what gives the function of a Graph of that name, as machine code if that can be
        had, and the Graph's pattern; `build`() builds it, and `follows`() is a text that says all
        that it follows from."""
        from ocp.codegen.compiler.compiled import begin_compile  # loads when asked for

        begun = self._made(begin_compile, name, build, self._statement(name, follows))
        if begun is not None:
            return PendingFunction(self, begun, build), begun.pattern
        graph = build()
        return lambda: graph.function, graph.pattern

    @property
    def quick(self):
        """Whether functions of one instant are not machine code yet, and many of them are."""
        return self.kernels == ASSEMBLED and self.trouble is None

    def map_over(self, function, count):
        """Return a function of one instant at so many."""
        made = map_function(function, count, self.threads, assembled=self.quick)
        self.any = self.any or made.class_name() == "External"
        return made

    def scatter(self, given, wheres, count):
        """Begin to make what puts products in their places, as `scattering` does; return what waits
        for it, and gives None where that is left to the virtual machine."""
        if self.kernels == COMPILED:
            from ocp.codegen.compiler.scatter import compile_scatter  # loads when asked for

            return self._waited(compile_scatter, given, wheres, count)
        from ocp.codegen.assembler import program_kernels

        return self._waited(lambda: partial(program_kernels.assemble_scatter, given, wheres, count))

    def gather_sums(self, functions):
        """Begin to make constant sums, as `summing` does; return what waits for them, and gives
        none where these are left to the virtual machine."""
        if self.kernels == COMPILED:
            from ocp.codegen.compiler.sparse_matvec import compile_sums  # loads when asked for

            return self._waited(compile_sums, functions)
        from ocp.codegen.assembler import program_kernels

        return self._waited(lambda: partial(program_kernels.assemble_sums, functions))

    def _waited(self, begin, *what):
        begun = self._made(begin, *what) if self.kernels != VIRTUAL else None

        @cache
        def result():
            try:
                return begun() if begun and self.trouble is None else None
            except (NoCompiler, NoMachineCode) as reason:
                self.trouble = str(reason)
            return None

        return result

    def _made(self, make, *what):
        if self.trouble is None:
            self.count += 1
            if self.kernels == COMPILED:
                say(f"compiles kernels, the {self.count}. of them")
            try:
                return make(*what)
            except NoCompiler as reason:
                self.trouble = str(reason)
        return None

    def words(self):
        """Return how kernels run."""
        if self.kernels == VIRTUAL:
            return "virtual machine" + f" on {self.threads} threads" * (self.threads > 1)
        few = None if self.any or self.kernels == COMPILED else "few instructions"
        reason = self.trouble or few
        return self.kernels if reason is None else f"virtual machine: {reason}"

    def _statement(self, name, follows):
        if not self.differentiated or not sources():
            return None
        return chr(0).join((name, self.differentiated, sources(), follows()))


class PendingFunction:
    """A function that is being compiled; called, it waits and gives it."""

    def __init__(self, finish, begun, build):
        self.finish, self.begun, self.build, self.function = finish, begun, build, None

    def __call__(self):
        if self.function is None:
            try:
                self.function = self.begun.result()
            except NoCompiler as reason:
                self.finish.trouble = str(reason)
                self.function = self.begun.built or self.build().function
            self.begun = self.build = None
        return self.function


@cache
def sources():
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
