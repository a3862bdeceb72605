"""CasADi functions as assembled machine code, of one instant or of many."""

from collections.abc import Sequence
from functools import cache

import casadi as ca

from ocp.codegen.assembler import self_test
from ocp.codegen.assembler.batch_loop import write_map
from ocp.codegen.assembler.casadi_reader import read_instructions
from ocp.codegen.assembler.executable_memory import NAME, Names, NoMachineCode
from ocp.codegen.assembler.ir import Operations, Steps, is_supported, steps_of
from ocp.codegen.assembler.matrix_graphs import steps_of_matrices
from ocp.codegen.assembler.this_machine import (
    Assembled,
    library_addresses,
    load_function,
    new_code,
)
from ocp.codegen.kept_results import Parts, recall


@cache
def unsupported_reason() -> str:
    """Return why this machine cannot run or load assembled code, "" if it can.

    That it can is kept on disk, where the same sources, versions and processor passed the test.
    """
    try:
        recall("tested", (), _pass_self_test)
    except NoMachineCode as reason:
        return str(reason)
    return ""


def _pass_self_test() -> Parts:
    """Return nothing, or raise NoMachineCode."""
    reason = self_test_reason()
    if reason:
        raise NoMachineCode(reason)
    return {}


def self_test_reason() -> str:
    """Return the reason that `unsupported_reason` gives, from the test itself."""
    try:
        return self_test.difference(assemble_map)
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
    assembled = map_code(function, count)
    return assembled and load_function(*assembled)


def map_code(function: ca.Function, count: int) -> Assembled | None:
    """Return the code of `assemble_map`, None where that returns None."""
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
    assembled = _assemble(function, *_patterns(function), 1, names)
    if assembled is None:
        raise NoMachineCode(f"function {names[0]!r}: has an operation without machine code")
    return load_function(*assembled)


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
) -> Assembled | None:
    """Return the code of a function of these patterns at `count` instants, None without any."""
    code = new_code()
    steps = steps_of_function(function, code.special)
    if steps is None:
        return None
    sizes = [each.nnz() // count for each in inputs], [each.nnz() // count for each in outputs]
    room = write_map(code, NAME, steps, sizes, count, library_addresses())
    return Assembled(code, inputs, outputs, room, names)


def steps_of_function(function: ca.Function, special: Operations) -> Steps | None:
    """Return the Steps of a function, None if an operation is not supported.

    The `special` ones are those of `steps_of`.
    """
    if function.is_a("MXFunction"):
        steps = steps_of_matrices(function, special)
        if steps is not None:
            return steps
        try:
            function = function.expand()
        except RuntimeError:  # it calls functions that are no graphs
            return None
    instructions = read_instructions(function)
    return steps_of(instructions, special) if is_supported(instructions) else None
