"""CasADi functions as assembled machine code, of one instant or of many."""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence
from functools import cache

import casadi as ca

from ocp.codegen.assembler import trial
from ocp.codegen.assembler.batch_loop import LANES, write_batch_loop
from ocp.codegen.assembler.casadi_reader import read_instructions
from ocp.codegen.assembler.elf import NAME, Names, NoMachineCode, load_function
from ocp.codegen.assembler.emitter import Text
from ocp.codegen.assembler.encoding import body, memory_of
from ocp.codegen.assembler.ir import FUNCTIONS, Steps, is_supported, steps_of
from ocp.codegen.assembler.matrices import steps_of_matrices
from ocp.codegen.compiler.shared_library import processor


@cache
def unsupported_reason() -> str:
    """Return why this machine cannot run or load assembled code, "" if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or struct.calcsize("P") != 8:
        return f"kernels are assembled on Linux and x86-64 alone, not on {platform.platform()}"
    if "avx" not in processor().split() or not hasattr(os, "memfd_create"):
        return "kernels are assembled for processors with AVX alone"
    try:
        return trial.difference(assemble_map)
    except NoMachineCode as reason:
        return str(reason)


def assemble_map(function: ca.Function, count: int) -> ca.Function | None:
    """Return a function at many instants as machine code, with the bits of `function.map(count)`.

    Args:
        function: a CasADi function whose inputs and outputs are dense columns.
        count: number of instants, the columns of each input and output.

    Returns:
        The machine code, or None if an operation or a pattern is not supported.

    Raises:
        NoMachineCode: the system does not load it.
    """
    sides = _patterns(function)
    if not all(each.is_dense() and each.is_column() for side in sides for each in side):
        return None
    inputs, outputs = ([ca.Sparsity.dense(each.nnz(), count) for each in side] for side in sides)
    return _assemble(function, inputs, outputs, count)


def assemble_function(function: ca.Function) -> ca.Function:
    """Return a function as machine code with the same names, patterns and bits.

    It computes four instants, of which there is one. Raises NoMachineCode with the reason if the
    machine or an operation is not supported.
    """
    if unsupported_reason():
        raise NoMachineCode(unsupported_reason())
    names = function.name(), function.name_in(), function.name_out()
    made = _assemble(function, *_patterns(function), 1, names)
    if made is None:
        raise NoMachineCode(f"function {names[0]!r}: has an operation without machine code")
    return made


def _patterns(function: ca.Function) -> tuple[list[ca.Sparsity], list[ca.Sparsity]]:
    """Return the patterns of a function's inputs, and of its outputs."""
    return (
        [function.sparsity_in(k) for k in range(function.n_in())],
        [function.sparsity_out(k) for k in range(function.n_out())],
    )


def _assemble(
    function: ca.Function,
    inputs: Sequence[ca.Sparsity],
    outputs: Sequence[ca.Sparsity],
    count: int,
    names: Names = (NAME, (), ()),
) -> ca.Function | None:
    """Return a function of these patterns at `count` instants, None if it is not supported."""
    steps = _steps(function)
    if steps is None:
        return None
    sizes = [each.nnz() // count for each in inputs], [each.nnz() // count for each in outputs]
    memory, size = memory_of(steps, sizes)
    (code,) = body(steps, memory, library_addresses())
    text = Text()
    write_batch_loop(text, NAME, code, sizes, count)
    text.table("constants", steps.constants.repeat(LANES).tobytes())
    text.table("nothing", bytes(8 * max(sizes[0], default=0)))
    return load_function(text, inputs, outputs, LANES * size, names)


def _steps(function: ca.Function) -> Steps | None:
    """Return the Steps of a function, None if an operation is not supported."""
    if function.is_a("MXFunction"):
        steps = steps_of_matrices(function)
        if steps is not None:
            return steps
        try:
            function = function.expand()
        except RuntimeError:  # it calls functions that are no graphs
            return None
    instructions = read_instructions(function)
    return steps_of(instructions) if is_supported(instructions) else None


@cache
def library_addresses() -> tuple[int, ...]:
    """Return the addresses of the C library's FUNCTIONS in this process.

    Raises NoMachineCode if the C library is not glibc.
    """
    try:
        library = ctypes.CDLL("libm.so.6")
    except OSError as error:
        raise NoMachineCode(f"no C library as glibc's: {error}") from None
    found = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in FUNCTIONS)
    return tuple(each or 0 for each in found)
