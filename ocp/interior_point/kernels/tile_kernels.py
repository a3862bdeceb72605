"""Assembled kernels over tiles of eight columns: products with tall matrices, as in tall.c."""

from ocp.codegen.assembler.instructions import (
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    RAX,
    RBP,
    RBX,
    RCX,
    RDX,
    RSI,
    RSP,
    Code,
    at,
)
from ocp.codegen.assembler.ir import ADD, MAX, MUL, SUB, XOR
from ocp.interior_point.kernels.sparse_kernels import HALVES, argument

TILE = 64  # bytes: eight numbers, two registers
HALF = 4  # rows of a tile whose sums are in registers


def sparse_times_tall(c: Code) -> None:
    """Rows of a sparse matrix times a tall one.

    Arguments: rows, start, entry, column, values, first, tile, tall, width, own_first, own_tile,
    out.
    """
    c.prologue("sparse_times_tall", room=1)
    for place, register in ((2, R9), (3, R10), (4, R11), (5, RBX), (6, RBP), (7, R12), (11, R14)):
        c.mov(register, argument(place))
    c.mov(R13, argument(8))
    c.shl(R13, 3)
    c.mov_constant(RSI, 0)
    with c.loop("multiplied_row", RSI, argument(0)):
        c.mov(RAX, argument(9))
        c.movsxd(RCX, at(RAX, RSI, 4))
        c.movsxd(RDX, at(RAX, RSI, 4, 4))
        c.mov(RAX, argument(10))
        c.vector_op(XOR, 0, 0, 0)
        with c.loop("multiplied_none", RCX, RDX):
            c.movsxd(R15, at(RAX, RCX, 4))
            c.shl(R15, 6)
            for far in HALVES:
                c.store_vector(at(R14, R15, 1, far), 0)
        c.mov(RAX, argument(1))
        c.movsxd(RCX, at(RAX, RSI, 4))
        c.movsxd(RDX, at(RAX, RSI, 4, 4))
        c.mov(at(RSP), RDX)
        with c.loop("multiplied_entry", RCX, at(RSP)):
            c.movsxd(RAX, at(R9, RCX, 4))
            c.broadcast(1, at(R11, RAX, 8))
            c.movsxd(RDX, at(R10, RCX, 4))
            c.mov(RAX, RDX)
            c.imul(RAX, R13)
            c.add(RAX, R12)
            c.movsxd(R15, at(RBX, RDX, 4))
            c.movsxd(RDX, at(RBX, RDX, 4, 4))
            with c.loop("multiplied_tile", R15, RDX):
                c.movsxd(R8, at(RBP, R15, 4))
                c.shl(R8, 6)
                for half, far in enumerate(HALVES):
                    c.load_vector(2 + half, at(R14, R8, 1, far))
                    c.multiply_add(2 + half, 1, at(RAX, R8, 1, far))
                    c.store_vector(at(R14, R8, 1, far), 2 + half)
        c.add(R14, R13)
    c.epilogue()


COUNT, TILES, OWN, ONE, OTHER, ROW, END = (at(RSP, offset=8 * k) for k in range(7))


def tall_product(c: Code) -> None:
    """Product of tall matrices, added to a core.

    Arguments: groups, begin, left_row, right_row, weight, first, tile, left, right, width,
    symmetric, work, core.
    """
    c.prologue("tall_product", room=7)
    c.mov(R13, argument(9))
    c.shl(R13, 3)
    c.mov_constant(R14, 0)
    c.mov_constant(RSI, 0)
    with c.loop("crossed_group", RSI, argument(0)):
        _find_group(c)
        c.mov(R11, ONE)
        _pack_matrix(c, "crossed_left", rows=2, matrix=7, weight=4)
        _pack_matrix(c, "crossed_right", rows=3, matrix=8, weight=None)
        c.mov_constant(R15, 0)
        with c.loop("crossed_above", R15, TILES):
            c.mov(RAX, TILES)
            c.cmp(R14, argument(10))
            c.jump("crossed_whole", "zero")
            c.lea(RAX, at(R15, offset=1))
            c.label("crossed_whole")
            c.mov(END, RAX)
            c.mov_constant(RBX, 0)
            with c.loop("crossed_beside", RBX, END):
                _add_tile_product(c)
    c.epilogue()
    _write_pack_tile(c)


def _find_group(c: Code) -> None:
    """Load a group's rows and tiles, and the addresses of its packed matrices."""
    c.mov(RAX, argument(1))
    c.movsxd(RCX, at(RAX, RSI, 4))
    c.movsxd(RDX, at(RAX, RSI, 4, 4))
    c.sub(RDX, RCX)
    c.mov(ROW, RCX)
    c.mov(COUNT, RDX)
    c.mov(RAX, argument(5))
    c.movsxd(R8, at(RAX, RSI, 4))
    c.movsxd(R9, at(RAX, RSI, 4, 4))
    c.sub(R9, R8)
    c.mov(TILES, R9)
    c.mov(RAX, argument(6))
    c.lea(RAX, at(RAX, R8, 4))
    c.mov(OWN, RAX)
    c.mov(RAX, argument(11))
    c.mov(ONE, RAX)
    c.imul(R9, RDX)
    c.shl(R9, 6)
    c.add(R9, RAX)
    c.mov(OTHER, R9)


def _pack_matrix(c: Code, name: str, *, rows: int, matrix: int, weight: int | None) -> None:
    """Pack the group's rows of a matrix, tile after tile, at r11.

    `rows`, `matrix` and `weight` are numbers of arguments.
    """
    c.mov_constant(R15, 0)
    with c.loop(name, R15, TILES):
        c.mov(RAX, OWN)
        c.movsxd(R10, at(RAX, R15, 4))
        c.shl(R10, 6)
        c.add(R10, argument(matrix))
        c.mov(RCX, ROW)
        c.mov(R8, argument(rows))
        c.lea(R8, at(R8, RCX, 4))
        c.mov(R9, R14)
        if weight is not None:
            c.mov(R9, argument(weight))
            c.cmp(R9, R14)
            c.jump(f"{name}_plain", "zero")
            c.lea(R9, at(R9, RCX, 8))
            c.label(f"{name}_plain")
        c.mov(RDX, COUNT)
        c.call("packed")  # which uses rax, rcx and rdx


def _write_pack_tile(c: Code) -> None:
    """Write the routine that packs a tile of the rows at r8 from r10 to r11.

    There are rdx of them; they are multiplied by weights at r9 unless that is zero.
    """
    c.label("packed")
    c.mov_constant(RCX, 0)
    with c.loop("packed_row", RCX, RDX):
        c.movsxd(RAX, at(R8, RCX, 4))
        c.imul(RAX, R13)
        for half, far in enumerate(HALVES):
            c.load_vector(half, at(R10, RAX, 1, far))
        c.cmp(R9, R14)
        c.jump("packed_plain", "zero")
        c.broadcast(2, at(R9, RCX, 8))
        for half in range(2):
            c.vector_op(MUL, half, half, 2)
        c.label("packed_plain")
        for half, far in enumerate(HALVES):
            c.store_vector(at(R11, offset=far), half)
        c.add_constant(R11, TILE)
    c.ret()


def _add_tile_product(c: Code) -> None:
    """Add the product of tile r15 on the left and tile rbx on the right to the core.

    Sums of HALF rows at a time stay in registers.
    """
    c.mov(RAX, OWN)
    c.movsxd(R10, at(RAX, R15, 4))
    c.shl(R10, 3)
    c.imul(R10, R13)
    c.movsxd(RCX, at(RAX, RBX, 4))
    c.shl(RCX, 6)
    c.add(R10, RCX)
    c.add(R10, argument(12))
    for half, far in enumerate(HALVES):
        for number in range(2 * HALF):
            c.vector_op(XOR, number, number, number)
        for register, index, matrix in ((R9, R15, ONE), (R11, RBX, OTHER)):
            c.mov(register, index)
            c.imul(register, COUNT)
            c.shl(register, 6)
            c.add(register, matrix)
        c.mov(RDX, COUNT)
        name = f"crossed_product_{half}"
        c.label(name)
        for side, beyond in enumerate(HALVES):
            c.load_vector(8 + side, at(R11, offset=beyond))
        for row in range(HALF):
            c.broadcast(10 + row, at(R9, offset=far + 8 * row))
            for side in range(2):
                c.multiply_add(2 * row + side, 10 + row, 8 + side)
        c.add_constant(R9, TILE)
        c.add_constant(R11, TILE)
        c.add_constant(RDX, -1)
        c.jump(name, "not zero")
        for row in range(HALF):
            for side, beyond in enumerate(HALVES):
                c.vector_op(ADD, 2 * row + side, 2 * row + side, at(R10, offset=beyond))
                c.store_vector(at(R10, offset=beyond), 2 * row + side)
            c.add(R10, R13)


def block_substitution(c: Code) -> None:
    """Minus inverses of blocks times rows of a tall matrix, into another; returns the largest.

    Arguments: blocks, size, row, column, inverse, from, width, first, tile, tall.
    """
    c.prologue("block_substitution", room=1)
    c.mov(R13, argument(6))
    c.shl(R13, 3)
    c.mov(RAX, argument(0))
    c.imul(RAX, argument(1))
    c.mov(at(RSP), RAX)
    c.vector_op(XOR, 5, 5, 5)
    c.mov_constant(RSI, 0)
    c.label("taken_block")
    c.cmp(RSI, at(RSP))
    c.jump("taken_end", "not less")
    c.mov(RAX, argument(2))
    c.lea(R8, at(RAX, RSI, 4))
    c.mov_constant(R15, 0)
    with c.loop("taken_row", R15, argument(1)):
        c.lea(RAX, at(RSI, R15))
        c.mov(RCX, argument(3))
        c.movsxd(RDX, at(RCX, RAX, 4))
        c.imul(RAX, argument(1))
        c.mov(RBX, argument(4))
        c.lea(RBX, at(RBX, RAX, 8))
        c.mov(R12, RDX)
        c.imul(R12, R13)
        c.add(R12, argument(9))
        c.mov(RAX, argument(7))
        c.movsxd(R9, at(RAX, RDX, 4))
        c.movsxd(R10, at(RAX, RDX, 4, 4))
        with c.loop("taken_tile", R9, R10):
            _substitute_tile(c)
    c.add(RSI, argument(1))
    c.jump("taken_block")
    c.label("taken_end")
    c.high_half(1, 5)
    c.vector_op(MAX, 5, 5, 1)
    c.second_number(1, 5)
    c.scalar_op(MAX, 0, 5, 1)
    c.epilogue()


def _substitute_tile(c: Code) -> None:
    """Compute one tile of a row."""
    c.mov(RAX, argument(8))
    c.movsxd(R11, at(RAX, R9, 4))
    c.shl(R11, 6)
    for half in range(2):
        c.vector_op(XOR, half, half, half)
    c.mov_constant(RCX, 0)
    with c.loop("taken_sum", RCX, argument(1)):
        c.movsxd(RAX, at(R8, RCX, 4))
        c.imul(RAX, R13)
        c.add(RAX, R11)
        c.add(RAX, argument(5))
        c.broadcast(2, at(RBX, RCX, 8))
        for half, far in enumerate(HALVES):
            c.multiply_add(half, 2, at(RAX, offset=far), minus=True)
    c.vector_op(XOR, 3, 3, 3)
    for half, far in enumerate(HALVES):
        c.store_vector(at(R12, R11, 1, far), half)
        c.vector_op(SUB, 4, 3, half)
        c.vector_op(MAX, 4, 4, half)
        c.vector_op(MAX, 5, 4, 5)  # register 5 stays if the other is not a number
