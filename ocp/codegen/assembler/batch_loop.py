"""Loop of a graph's code over many instants, four at a time.

Inputs of four instants are interleaved, the graph runs once on vectors, and outputs are put back;
the last batch is filled up with the very last instant.

Registers: rbx inputs, outputs and results of four instants; rbp constants; r12 the routine that
calls a function of the C library four times. The batch's first instant is kept at rsp + 16.
"""

from collections.abc import Sequence

import numpy as np

from ocp.codegen.assembler.emitter import WIDTH, Sizes
from ocp.codegen.assembler.instructions import (
    R8,
    R12,
    R13,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    RSP,
    Code,
    at,
)
from ocp.codegen.assembler.ir import Steps
from ocp.codegen.assembler.register_scheduling import body, memory_of

LANES = 4
ADDRESSES = "library"  # label of the addresses of the C library's functions
FIRST = at(RSP, offset=16)


def write_map(
    c: Code, label: str, steps: Steps, sizes: Sizes, count: int, library: Sequence[int]
) -> int:
    """Write a CasADi function at many instants, and the routines that it calls.

    Args:
        c: machine code so far.
        label: name of the function.
        steps: steps of the graph at one instant.
        sizes: entries per instant of each input and output.
        count: number of instants.
        library: addresses of the C library's FUNCTIONS.

    Returns:
        The numbers that it uses at rbx.
    """
    memory, room = memory_of(steps, sizes)
    _write_interleave(c)
    _write_scatter(c)
    c.write_library_call("library_call")
    c.begin_function(label)
    c.mov_constant(RAX, 0)
    c.mov(FIRST, RAX)
    c.address(RBP, "constants")
    c.address(R12, "library_call")
    c.label("next_batch")
    place = 0
    for number, size in enumerate(sizes[0]):
        c.load_input(number)
        _call(c, "interleave", place, size, count)
        place += size
    c.emit(b"".join(body(c, steps, memory)))
    for number, size in enumerate(sizes[1]):
        c.load_output(number)
        c.mov(RSI, RDI)
        _call(c, "scatter", place, size, count)
        place += size
    c.mov(RAX, FIRST)
    c.add_constant(RAX, LANES)
    c.mov(FIRST, RAX)
    c.mov_constant(RCX, count)
    c.cmp(RAX, RCX)
    c.jump("next_batch", "less")
    c.end_function()
    c.table(ADDRESSES, np.array(library, dtype=np.uint64).tobytes())  # ends where constants begin
    c.table("constants", steps.constants.repeat(LANES).tobytes())
    c.table("nothing", bytes(8 * max(sizes[0], default=0)))
    return LANES * room


def _call(c: Code, label: str, place: int, size: int, count: int) -> None:
    """Call a routine for `size` entries of four instants, in memory from `place` on."""
    c.lea(RDI, at(RBX, offset=WIDTH * place))
    c.mov_constant(RDX, size)
    c.mov_constant(RCX, count - 1)
    c.mov(RAX, FIRST)
    c.call(label)


def _write_interleave(c: Code) -> None:
    """Write the routine that copies rdx entries of four instants from rsi side by side to rdi.

    The first of them is rax, the very last one rcx. An absent input counts as zeros.
    """
    c.label("interleave")
    c.mov(R13, RDX)  # from one instant to the next
    c.test(RSI)
    c.jump("there", "not zero")
    c.address(RSI, "nothing")
    c.mov_constant(R13, 0)
    c.label("there")
    _write_pointers(c)
    with c.loop("interleaved", RAX, RDX):
        for lane in range(LANES):
            c.mov(RCX, at(R8 + lane, RAX, 8))
            c.mov(at(RDI, offset=8 * lane), RCX)
        c.add_constant(RDI, WIDTH)
    c.ret()


def _write_scatter(c: Code) -> None:
    """Write the routine that copies rdx interleaved entries at rdi to four instants at rsi."""
    c.label("scatter")
    c.test(RSI)
    c.jump("absent", "zero")  # nobody wants this output
    c.mov(R13, RDX)
    _write_pointers(c)
    with c.loop("scattered", RAX, RDX):
        for lane in range(LANES):
            c.mov(RCX, at(RDI, offset=8 * lane))
            c.mov(at(R8 + lane, RAX, 8), RCX)
        c.add_constant(RDI, WIDTH)
    c.label("absent")
    c.ret()


def _write_pointers(c: Code) -> None:
    """Point r8 to r11 to the batch's instants, none beyond the last one; rax is zero then."""
    for lane in range(LANES):
        pointer, inside = R8 + lane, f"inside{lane}_{c.size}"
        c.lea(pointer, at(RAX, offset=lane))
        c.cmp(pointer, RCX)
        c.jump(inside, "less")
        c.mov(pointer, RCX)
        c.label(inside)
        c.imul(pointer, R13)
        c.lea(pointer, at(RSI, pointer, 8))
    c.mov_constant(RAX, 0)
