"""Assembled kernels: sparse products with vectors, and solves with a Cholesky factor.

They are those of tall.c; those over tiles are in tile_kernels.py. Each function takes one block of
64-bit numbers, its arguments in the order of tall.c.
"""

from collections.abc import Callable, Sequence

from ocp.codegen.assembler.instructions import (
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R15,
    RAX,
    RCX,
    RDI,
    RDX,
    RSI,
    At,
    Code,
    at,
)
from ocp.codegen.assembler.ir import ADD, DIV, MUL, SUB, XOR

HALVES = 0, 32  # bytes from the beginning of eight numbers to each vector of four
Write = Callable[[Code], None]  # writes a function at a label of its name


def write_functions(code: Code, functions: Sequence[Write]) -> Code:
    """Return the machine code with functions in it."""
    for write in functions:
        write(code)
    return code


def argument(number: int) -> At:
    """Return the address of an argument in memory."""
    return at(RDI, offset=8 * number)


def sparse_matvec(c: Code) -> None:
    """out[to[k]] += values[k] x[from[k]]: count, to, from, values, x, out."""
    c.prologue("sparse_matvec")
    for place, register in ((1, R8), (2, R9), (3, R10), (4, R11), (5, R12)):
        c.mov(register, argument(place))
    c.mov_constant(RCX, 0)
    with c.loop("gathered_entry", RCX, argument(0)):
        c.movsxd(RAX, at(R9, RCX, 4))
        c.load_scalar(0, at(R10, RCX, 8))
        c.scalar_op(MUL, 0, 0, at(R11, RAX, 8))
        c.movsxd(RAX, at(R8, RCX, 4))
        c.scalar_op(ADD, 0, 0, at(R12, RAX, 8))
        c.store_scalar(at(R12, RAX, 8), 0)
    c.epilogue()


def column_sums(c: Code) -> None:
    """out[c] = the sum of values[k] x[from[k]], k of start[c] to start[c + 1]: count, start, from,
    values, x, out."""
    c.prologue("column_sums")
    for place, register in ((1, R8), (2, R9), (3, R10), (4, R11), (5, R12)):
        c.mov(register, argument(place))

    def add_term(number: int) -> None:
        """Add a product to one of four sums, which do not wait for each other."""
        c.movsxd(RAX, at(R9, RCX, 4, 4 * number))
        c.load_scalar(4, at(R10, RCX, 8, 8 * number))
        c.scalar_op(MUL, 4, 4, at(R11, RAX, 8))
        c.scalar_op(ADD, number, number, 4)

    c.mov_constant(RSI, 0)
    with c.loop("summed_row", RSI, argument(0)):
        c.movsxd(RCX, at(R8, RSI, 4))
        c.movsxd(RDX, at(R8, RSI, 4, 4))
        c.lea(R15, at(RDX, offset=-3))
        for number in range(4):
            c.vector_op(XOR, number, number, number)
        c.label("summed_four")
        c.cmp(RCX, R15)
        c.jump("summed_rest", "not less")
        for number in range(4):
            add_term(number)
        c.add_constant(RCX, 4)
        c.jump("summed_four")
        c.label("summed_rest")
        with c.loop("summed_one", RCX, RDX):
            add_term(0)
        c.scalar_op(ADD, 0, 0, 1)
        c.scalar_op(ADD, 2, 2, 3)
        c.scalar_op(ADD, 0, 0, 2)
        c.store_scalar(at(R12, RSI, 8), 0)
    c.epilogue()


def cholesky_solve(c: Code) -> None:
    """x becomes the solution of L L' x of a lower triangle L: size, lower, x."""
    c.prologue("cholesky_solve")
    for place, register in ((0, R12), (1, R8), (2, R11)):
        c.mov(register, argument(place))
    c.mov(R13, R12)
    c.shl(R13, 3)
    c.mov_constant(RSI, 0)
    with c.loop("solved_row", RSI, R12):
        for number in range(2):
            c.vector_op(XOR, number, number, number)
        c.load_scalar(4, at(R11, RSI, 8))
        c.mov_constant(RCX, 0)
        c.lea(R15, at(RSI, offset=-7))
        c.label("solved_eight")
        c.cmp(RCX, R15)
        c.jump("solved_few", "not less")
        for half, far in enumerate(HALVES):
            c.load_vector(2 + half, at(R8, RCX, 8, far))
            c.multiply_add(half, 2 + half, at(R11, RCX, 8, far))
        c.add_constant(RCX, 8)
        c.jump("solved_eight")
        c.label("solved_few")
        with c.loop("solved_one", RCX, RSI):
            c.load_scalar(5, at(R8, RCX, 8))
            c.scalar_op(MUL, 5, 5, at(R11, RCX, 8))
            c.scalar_op(SUB, 4, 4, 5)
        c.vector_op(ADD, 0, 0, 1)
        c.high_half(1, 0)
        c.vector_op(ADD, 0, 0, 1)
        c.second_number(1, 0)
        c.scalar_op(ADD, 0, 0, 1)
        c.scalar_op(SUB, 4, 4, 0)
        c.scalar_op(DIV, 4, 4, at(R8, RSI, 8))
        c.store_scalar(at(R11, RSI, 8), 4)
        c.add(R8, R13)
    _solve_transposed(c)
    c.epilogue()


def _solve_transposed(c: Code) -> None:
    """Solve with the transposed triangle, from the last row, which ends at r8, to the first."""
    c.mov(RSI, R12)
    c.label("solved_up")
    c.add_constant(RSI, -1)
    c.mov_constant(RAX, 0)
    c.cmp(RSI, RAX)
    c.jump("solved_all", "less")
    c.sub(R8, R13)
    c.load_scalar(0, at(R11, RSI, 8))
    c.scalar_op(DIV, 0, 0, at(R8, RSI, 8))
    c.store_scalar(at(R11, RSI, 8), 0)
    c.broadcast(0, at(R11, RSI, 8))
    c.mov_constant(RCX, 0)
    c.lea(R15, at(RSI, offset=-3))
    c.label("solved_four")
    c.cmp(RCX, R15)
    c.jump("solved_last", "not less")
    c.load_vector(1, at(R11, RCX, 8))
    c.multiply_add(1, 0, at(R8, RCX, 8), minus=True)
    c.store_vector(at(R11, RCX, 8), 1)
    c.add_constant(RCX, 4)
    c.jump("solved_four")
    c.label("solved_last")
    with c.loop("solved_each", RCX, RSI):
        c.load_scalar(1, at(R8, RCX, 8))
        c.scalar_op(MUL, 1, 1, 0)
        c.load_scalar(2, at(R11, RCX, 8))
        c.scalar_op(SUB, 2, 2, 1)
        c.store_scalar(at(R11, RCX, 8), 2)
    c.jump("solved_up")
    c.label("solved_all")
