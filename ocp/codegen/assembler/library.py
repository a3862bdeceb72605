"""Functions of CasADi as machine code that is made here."""

import ctypes
import os
import platform
import struct
import sys
from functools import cache

import casadi as ca

from ocp.codegen.assembler import trial
from ocp.codegen.assembler.batch_loop import LANES, mapped
from ocp.codegen.assembler.casadi_reader import instructions_of
from ocp.codegen.assembler.elf import NAME, Names, NoMachineCode, load_function
from ocp.codegen.assembler.emitter import Text
from ocp.codegen.assembler.encoding import body, memory_of
from ocp.codegen.assembler.ir import FUNCTIONS, known, steps_of
from ocp.codegen.assembler.matrices import steps_of_matrices
from ocp.codegen.compiler.shared_library import processor


@cache
def unsupported_reason() -> str:
    """Return why this machine does not run what is made here, or does not let it be loaded; "" if
    it does."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or struct.calcsize("P") != 8:
        return f"kernels are assembled on Linux and x86-64 alone, not on {platform.platform()}"
    if "avx" not in processor().split() or not hasattr(os, "memfd_create"):
        return "kernels are assembled for processors with AVX alone"
    try:
        return trial.difference(assemble_map)
    except NoMachineCode as reason:
        return str(reason)


def assemble_map(function: ca.Function, count: int) -> ca.Function | None:
    """Return a `function` at `count` instants, of all that it takes and gives a column each, as
    machine code; None if it has an operation that there is no code for, or takes or gives what is
    no dense column.

    Raises Unable where the system does not let it be loaded.
    """
    sides = _patterns(function)
    if not all(each.is_dense() and each.is_column() for side in sides for each in side):
        return None
    inputs, outputs = ([ca.Sparsity.dense(each.nnz(), count) for each in side] for side in sides)
    return _made(function, inputs, outputs, count)


def assemble_function(function: ca.Function) -> ca.Function:
    """Return a function as machine code, of the same inputs and outputs, by the same names. It is
    evaluated as at four instants, of which there is one.

    Raises Unable with the reason if that cannot be had.
    """
    if unsupported_reason():
        raise NoMachineCode(unsupported_reason())
    names = function.name(), function.name_in(), function.name_out()
    inputs, outputs = _patterns(function)
    made = _made(function, inputs, outputs, 1, names)
    if made is None:
        raise NoMachineCode(
            f"function {names[0]!r}: has an operation that there is no machine code for"
        )
    return made


def _patterns(function):
    """Return the patterns of a function's inputs, and of its outputs."""
    return (
        [function.sparsity_in(k) for k in range(function.n_in())],
        [function.sparsity_out(k) for k in range(function.n_out())],
    )


def _made(function, inputs, outputs, count, names: Names = (NAME, (), ())):
    """Return a function of these patterns at so many instants, None if it has an operation that
    there is no code for."""
    steps = _steps(function)
    if steps is None:
        return None
    sizes = [each.nnz() // count for each in inputs], [each.nnz() // count for each in outputs]
    text = Text()
    memory, size = memory_of(steps, sizes)
    (code,) = body(steps, memory, addresses())
    mapped(text, NAME, code, sizes, count)
    text.table("constants", steps.constants.repeat(LANES).tobytes())
    text.table("nothing", bytes(8 * max(sizes[0], default=0)))
    return load_function(text, inputs, outputs, LANES * size, names)


def _steps(function):
    """Return the Steps of a function, None if it has an operation that there is no code for."""
    if function.is_a("MXFunction"):
        steps = steps_of_matrices(function)
        if steps is not None:
            return steps
        try:
            function = function.expand()
        except RuntimeError:  # it has what is no graph
            return None
    instructions = instructions_of(function)
    return steps_of(instructions) if known(instructions) else None


@cache
def addresses() -> tuple[int, ...]:
    """Return where the functions of the C library are in this process.

    Raises Unable where that is another one than glibc.
    """
    try:
        library = ctypes.CDLL("libm.so.6")
    except OSError as error:
        raise NoMachineCode(f"no C library as glibc's: {error}") from None
    found = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in FUNCTIONS)
    return tuple(each or 0 for each in found)
