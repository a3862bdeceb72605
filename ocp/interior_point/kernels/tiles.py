"""What tall.c does with tiles of eight columns, as machine code that is made here: products of
sparse matrices with tall ones, and of tall ones with each other."""

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
from ocp.interior_point.kernels.loops import HALVES, Loop, argument

TILE = 64  # bytes: eight numbers, two registers
HALF = 4  # rows of a tile whose sums are in registers


def multiplied(c: Code) -> None:
    """Rows of a sparse matrix times a tall one: rows, start, entry, column, values, first, tile,
    tall, width, own_first, own_tile, out."""
    c.function("multiplied", room=1)
    for place, register in ((2, R9), (3, R10), (4, R11), (5, RBX), (6, RBP), (7, R12), (11, R14)):
        c.move(register, argument(place))
    c.move(R13, argument(8))
    c.shift(R13, 3)
    c.set(RSI, 0)
    with Loop(c, "multiplied_row", RSI, argument(0)):
        c.move(RAX, argument(9))
        c.number(RCX, at(RAX, RSI, 4))
        c.number(RDX, at(RAX, RSI, 4, 4))
        c.move(RAX, argument(10))
        c.combine(XOR, 0, 0, 0)
        with Loop(c, "multiplied_none", RCX, RDX):
            c.number(R15, at(RAX, RCX, 4))
            c.shift(R15, 6)
            for far in HALVES:
                c.store(at(R14, R15, 1, far), 0)
        c.move(RAX, argument(1))
        c.number(RCX, at(RAX, RSI, 4))
        c.number(RDX, at(RAX, RSI, 4, 4))
        c.move(at(RSP), RDX)
        with Loop(c, "multiplied_entry", RCX, at(RSP)):
            c.number(RAX, at(R9, RCX, 4))
            c.spread(1, at(R11, RAX, 8))
            c.number(RDX, at(R10, RCX, 4))
            c.move(RAX, RDX)
            c.times(RAX, R13)
            c.plus(RAX, R12)
            c.number(R15, at(RBX, RDX, 4))
            c.number(RDX, at(RBX, RDX, 4, 4))
            with Loop(c, "multiplied_tile", R15, RDX):
                c.number(R8, at(RBP, R15, 4))
                c.shift(R8, 6)
                for half, far in enumerate(HALVES):
                    c.load(2 + half, at(R14, R8, 1, far))
                    c.add_product(2 + half, 1, at(RAX, R8, 1, far))
                    c.store(at(R14, R8, 1, far), 2 + half)
        c.plus(R14, R13)
    c.done()


COUNT, TILES, OWN, ONE, OTHER, ROW, END = (at(RSP, offset=8 * k) for k in range(7))


def crossed(c: Code) -> None:
    """A product of tall matrices added to a core: groups, begin, left_row, right_row, weight,
    first, tile, left, right, width, symmetric, work, core."""
    c.function("crossed", room=7)
    c.move(R13, argument(9))
    c.shift(R13, 3)
    c.set(R14, 0)
    c.set(RSI, 0)
    with Loop(c, "crossed_group", RSI, argument(0)):
        _group(c)
        c.move(R11, ONE)
        _side(c, "crossed_left", rows=2, matrix=7, weight=4)
        _side(c, "crossed_right", rows=3, matrix=8, weight=None)
        c.set(R15, 0)
        with Loop(c, "crossed_above", R15, TILES):
            c.move(RAX, TILES)
            c.compare(R14, argument(10))
            c.jump("crossed_whole", "zero")
            c.address(RAX, at(R15, offset=1))
            c.mark("crossed_whole")
            c.move(END, RAX)
            c.set(RBX, 0)
            with Loop(c, "crossed_beside", RBX, END):
                _tiles(c)
    c.done()
    _packed(c)


def _group(c):
    """Find a group's rows and tiles, and room for them."""
    c.move(RAX, argument(1))
    c.number(RCX, at(RAX, RSI, 4))
    c.number(RDX, at(RAX, RSI, 4, 4))
    c.minus(RDX, RCX)
    c.move(ROW, RCX)
    c.move(COUNT, RDX)
    c.move(RAX, argument(5))
    c.number(R8, at(RAX, RSI, 4))
    c.number(R9, at(RAX, RSI, 4, 4))
    c.minus(R9, R8)
    c.move(TILES, R9)
    c.move(RAX, argument(6))
    c.address(RAX, at(RAX, R8, 4))
    c.move(OWN, RAX)
    c.move(RAX, argument(11))
    c.move(ONE, RAX)
    c.times(R9, RDX)
    c.shift(R9, 6)
    c.plus(R9, RAX)
    c.move(OTHER, R9)


def _side(c, name, *, rows, matrix, weight):
    """Pack the group's rows of a matrix, tile after tile, at R11."""
    c.set(R15, 0)
    with Loop(c, name, R15, TILES):
        c.move(RAX, OWN)
        c.number(R10, at(RAX, R15, 4))
        c.shift(R10, 6)
        c.plus(R10, argument(matrix))
        c.move(RCX, ROW)
        c.move(R8, argument(rows))
        c.address(R8, at(R8, RCX, 4))
        c.move(R9, R14)
        if weight is not None:
            c.move(R9, argument(weight))
            c.compare(R9, R14)
            c.jump(f"{name}_plain", "zero")
            c.address(R9, at(R9, RCX, 8))
            c.mark(f"{name}_plain")
        c.to("E8", "packed")  # call
        # it uses rax, rcx and rdx


def _packed(c):
    """Add the routine that packs a tile of rows: of numbers at r8, from r10 on, to r11, with
    weights at r9 unless that is zero; rsp has the place of the call, too."""
    c.mark("packed")
    c.move(RDX, at(RSP, offset=8 + COUNT.offset))
    c.set(RCX, 0)
    with Loop(c, "packed_row", RCX, RDX):
        c.number(RAX, at(R8, RCX, 4))
        c.times(RAX, R13)
        for half, far in enumerate(HALVES):
            c.load(half, at(R10, RAX, 1, far))
        c.compare(R9, R14)
        c.jump("packed_plain", "zero")
        c.spread(2, at(R9, RCX, 8))
        for half in range(2):
            c.combine(MUL, half, half, 2)
        c.mark("packed_plain")
        for half, far in enumerate(HALVES):
            c.store(at(R11, offset=far), half)
        c.more(R11, TILE)
    c.add("C3")  # ret


def _tiles(c):
    """Add the product of a pair of tiles, r15 of the left ones and rbx of the right ones."""
    c.move(RAX, OWN)
    c.number(R10, at(RAX, R15, 4))
    c.shift(R10, 3)
    c.times(R10, R13)
    c.number(RCX, at(RAX, RBX, 4))
    c.shift(RCX, 6)
    c.plus(R10, RCX)
    c.plus(R10, argument(12))
    for half, far in enumerate(HALVES):
        for number in range(2 * HALF):
            c.combine(XOR, number, number, number)
        for register, index, side in ((R9, R15, ONE), (R11, RBX, OTHER)):
            c.move(register, index)
            c.times(register, COUNT)
            c.shift(register, 6)
            c.plus(register, side)
        c.move(RDX, COUNT)
        name = f"crossed_product_{half}"
        c.mark(name)
        for side, beyond in enumerate(HALVES):
            c.load(8 + side, at(R11, offset=beyond))
        for row in range(HALF):
            c.spread(10 + row, at(R9, offset=far + 8 * row))
            for side in range(2):
                c.add_product(2 * row + side, 10 + row, 8 + side)
        c.more(R9, TILE)
        c.more(R11, TILE)
        c.more(RDX, -1)
        c.jump(name, "not zero")
        for row in range(HALF):
            for side, beyond in enumerate(HALVES):
                c.combine(ADD, 2 * row + side, 2 * row + side, at(R10, offset=beyond))
                c.store(at(R10, offset=beyond), 2 * row + side)
            c.plus(R10, R13)


def taken(c: Code) -> None:
    """Rows of a tall matrix: less the inverse of a block times rows of another; the largest number
    that it puts: blocks, size, row, column, inverse, from, width, first, tile, tall."""
    c.function("taken", room=1)
    c.move(R13, argument(6))
    c.shift(R13, 3)
    c.move(RAX, argument(0))
    c.times(RAX, argument(1))
    c.move(at(RSP), RAX)
    c.combine(XOR, 15, 15, 15)
    c.set(RSI, 0)
    c.mark("taken_block")
    c.compare(RSI, at(RSP))
    c.jump("taken_end", "not less")
    c.move(RAX, argument(2))
    c.address(R8, at(RAX, RSI, 4))
    c.set(R15, 0)
    with Loop(c, "taken_row", R15, argument(1)):
        c.address(RAX, at(RSI, R15))
        c.move(RCX, argument(3))
        c.number(RDX, at(RCX, RAX, 4))
        c.times(RAX, argument(1))
        c.move(RBX, argument(4))
        c.address(RBX, at(RBX, RAX, 8))
        c.move(R12, RDX)
        c.times(R12, R13)
        c.plus(R12, argument(9))
        c.move(RAX, argument(7))
        c.number(R9, at(RAX, RDX, 4))
        c.number(R10, at(RAX, RDX, 4, 4))
        with Loop(c, "taken_tile", R9, R10):
            _taken_tile(c)
    c.plus(RSI, argument(1))
    c.jump("taken_block")
    c.mark("taken_end")
    c.upper(1, 15)
    c.combine(MAX, 15, 15, 1)
    c.second(1, 15)
    c.combine_one(MAX, 0, 15, 1)
    c.done()


def _taken_tile(c):
    """Put one tile of a row."""
    c.move(RAX, argument(8))
    c.number(R11, at(RAX, R9, 4))
    c.shift(R11, 6)
    for half in range(2):
        c.combine(XOR, half, half, half)
    c.set(RCX, 0)
    with Loop(c, "taken_sum", RCX, argument(1)):
        c.number(RAX, at(R8, RCX, 4))
        c.times(RAX, R13)
        c.plus(RAX, R11)
        c.plus(RAX, argument(5))
        c.spread(2, at(RBX, RCX, 8))
        for half, far in enumerate(HALVES):
            c.add_product(half, 2, at(RAX, offset=far), minus=True)
    c.combine(XOR, 3, 3, 3)
    for half, far in enumerate(HALVES):
        c.store(at(R12, R11, 1, far), half)
        c.combine(SUB, 4, 3, half)
        c.combine(MAX, 4, 4, half)
        c.combine(MAX, 15, 4, 15)  # which stays where that is no number
