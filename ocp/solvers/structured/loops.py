"""What tall.c does as machine code that is made here: products of sparse matrices with tall ones,
and the solves beside.

Each function takes one block of 64-bit numbers, its arguments in the order of tall.c.
"""

from collections.abc import Callable

from ocp.solvers.assembled.instructions import (
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
    RDI,
    RDX,
    RSI,
    RSP,
    Code,
    at,
)
from ocp.solvers.assembled.steps import ADD, DIV, MAX, MUL, SUB, XOR

TILE = 64  # bytes: eight numbers, two registers
HALVES = 0, 32
HALF = 4  # rows of a tile whose sums are in registers
FUNCTIONS: dict[str, Callable[[Code], None]] = {}


def _named(write):
    FUNCTIONS[write.__name__] = write
    return write


def written() -> Code:
    """Return the code of all functions, at labels of their names."""
    code = Code()
    for write in FUNCTIONS.values():
        write(code)
    return code


class _Loop:
    """A loop of a register from what it is to an end, a register or memory, without it."""

    def __init__(self, code, name, register, end):
        self.code, self.name, self.register, self.end = code, name, register, end

    def __enter__(self):
        self.code.mark(self.name)
        self.code.compare(self.register, self.end)
        self.code.jump(f"{self.name}_end", "not less")

    def __exit__(self, *what):
        self.code.more(self.register, 1)
        self.code.jump(self.name)
        self.code.mark(f"{self.name}_end")


def _argument(number):
    """Return where an argument is."""
    return at(RDI, offset=8 * number)


@_named
def multiplied(c: Code) -> None:
    """Rows of a sparse matrix times a tall one: rows, start, entry, column, values, first, tile,
    tall, width, own_first, own_tile, out."""
    c.function("multiplied", room=1)
    for place, register in ((2, R9), (3, R10), (4, R11), (5, RBX), (6, RBP), (7, R12), (11, R14)):
        c.move(register, _argument(place))
    c.move(R13, _argument(8))
    c.shift(R13, 3)
    c.set(RSI, 0)
    with _Loop(c, "multiplied_row", RSI, _argument(0)):
        c.move(RAX, _argument(9))
        c.number(RCX, at(RAX, RSI, 4))
        c.number(RDX, at(RAX, RSI, 4, 4))
        c.move(RAX, _argument(10))
        c.combine(XOR, 0, 0, 0)
        with _Loop(c, "multiplied_none", RCX, RDX):
            c.number(R15, at(RAX, RCX, 4))
            c.shift(R15, 6)
            for far in HALVES:
                c.store(at(R14, R15, 1, far), 0)
        c.move(RAX, _argument(1))
        c.number(RCX, at(RAX, RSI, 4))
        c.number(RDX, at(RAX, RSI, 4, 4))
        c.move(at(RSP), RDX)
        with _Loop(c, "multiplied_entry", RCX, at(RSP)):
            c.number(RAX, at(R9, RCX, 4))
            c.spread(1, at(R11, RAX, 8))
            c.number(RDX, at(R10, RCX, 4))
            c.move(RAX, RDX)
            c.times(RAX, R13)
            c.plus(RAX, R12)
            c.number(R15, at(RBX, RDX, 4))
            c.number(RDX, at(RBX, RDX, 4, 4))
            with _Loop(c, "multiplied_tile", R15, RDX):
                c.number(R8, at(RBP, R15, 4))
                c.shift(R8, 6)
                for half, far in enumerate(HALVES):
                    c.load(2 + half, at(R14, R8, 1, far))
                    c.add_product(2 + half, 1, at(RAX, R8, 1, far))
                    c.store(at(R14, R8, 1, far), 2 + half)
        c.plus(R14, R13)
    c.done()


COUNT, TILES, OWN, ONE, OTHER, ROW, END = (at(RSP, offset=8 * k) for k in range(7))


@_named
def crossed(c: Code) -> None:
    """A product of tall matrices added to a core: groups, begin, left_row, right_row, weight,
    first, tile, left, right, width, symmetric, work, core."""
    c.function("crossed", room=7)
    c.move(R13, _argument(9))
    c.shift(R13, 3)
    c.set(R14, 0)
    c.set(RSI, 0)
    with _Loop(c, "crossed_group", RSI, _argument(0)):
        _group(c)
        c.move(R11, ONE)
        _side(c, "crossed_left", rows=2, matrix=7, weight=4)
        _side(c, "crossed_right", rows=3, matrix=8, weight=None)
        c.set(R15, 0)
        with _Loop(c, "crossed_above", R15, TILES):
            c.move(RAX, TILES)
            c.compare(R14, _argument(10))
            c.jump("crossed_whole", "zero")
            c.address(RAX, at(R15, offset=1))
            c.mark("crossed_whole")
            c.move(END, RAX)
            c.set(RBX, 0)
            with _Loop(c, "crossed_beside", RBX, END):
                _tiles(c)
    c.done()
    _packed(c)


def _group(c):
    """Find a group's rows and tiles, and room for them."""
    c.move(RAX, _argument(1))
    c.number(RCX, at(RAX, RSI, 4))
    c.number(RDX, at(RAX, RSI, 4, 4))
    c.minus(RDX, RCX)
    c.move(ROW, RCX)
    c.move(COUNT, RDX)
    c.move(RAX, _argument(5))
    c.number(R8, at(RAX, RSI, 4))
    c.number(R9, at(RAX, RSI, 4, 4))
    c.minus(R9, R8)
    c.move(TILES, R9)
    c.move(RAX, _argument(6))
    c.address(RAX, at(RAX, R8, 4))
    c.move(OWN, RAX)
    c.move(RAX, _argument(11))
    c.move(ONE, RAX)
    c.times(R9, RDX)
    c.shift(R9, 6)
    c.plus(R9, RAX)
    c.move(OTHER, R9)


def _side(c, name, *, rows, matrix, weight):
    """Pack the group's rows of a matrix, tile after tile, at R11."""
    c.set(R15, 0)
    with _Loop(c, name, R15, TILES):
        c.move(RAX, OWN)
        c.number(R10, at(RAX, R15, 4))
        c.shift(R10, 6)
        c.plus(R10, _argument(matrix))
        c.move(RCX, ROW)
        c.move(R8, _argument(rows))
        c.address(R8, at(R8, RCX, 4))
        c.move(R9, R14)
        if weight is not None:
            c.move(R9, _argument(weight))
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
    with _Loop(c, "packed_row", RCX, RDX):
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
    c.plus(R10, _argument(12))
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


@_named
def taken(c: Code) -> None:
    """Rows of a tall matrix: less the inverse of a block times rows of another; the largest number
    that it puts: blocks, size, row, column, inverse, from, width, first, tile, tall."""
    c.function("taken", room=1)
    c.move(R13, _argument(6))
    c.shift(R13, 3)
    c.move(RAX, _argument(0))
    c.times(RAX, _argument(1))
    c.move(at(RSP), RAX)
    c.combine(XOR, 15, 15, 15)
    c.set(RSI, 0)
    c.mark("taken_block")
    c.compare(RSI, at(RSP))
    c.jump("taken_end", "not less")
    c.move(RAX, _argument(2))
    c.address(R8, at(RAX, RSI, 4))
    c.set(R15, 0)
    with _Loop(c, "taken_row", R15, _argument(1)):
        c.address(RAX, at(RSI, R15))
        c.move(RCX, _argument(3))
        c.number(RDX, at(RCX, RAX, 4))
        c.times(RAX, _argument(1))
        c.move(RBX, _argument(4))
        c.address(RBX, at(RBX, RAX, 8))
        c.move(R12, RDX)
        c.times(R12, R13)
        c.plus(R12, _argument(9))
        c.move(RAX, _argument(7))
        c.number(R9, at(RAX, RDX, 4))
        c.number(R10, at(RAX, RDX, 4, 4))
        with _Loop(c, "taken_tile", R9, R10):
            _taken_tile(c)
    c.plus(RSI, _argument(1))
    c.jump("taken_block")
    c.mark("taken_end")
    c.upper(1, 15)
    c.combine(MAX, 15, 15, 1)
    c.second(1, 15)
    c.combine_one(MAX, 0, 15, 1)
    c.done()


def _taken_tile(c):
    """Put one tile of a row."""
    c.move(RAX, _argument(8))
    c.number(R11, at(RAX, R9, 4))
    c.shift(R11, 6)
    for half in range(2):
        c.combine(XOR, half, half, half)
    c.set(RCX, 0)
    with _Loop(c, "taken_sum", RCX, _argument(1)):
        c.number(RAX, at(R8, RCX, 4))
        c.times(RAX, R13)
        c.plus(RAX, R11)
        c.plus(RAX, _argument(5))
        c.spread(2, at(RBX, RCX, 8))
        for half, far in enumerate(HALVES):
            c.add_product(half, 2, at(RAX, offset=far), minus=True)
    c.combine(XOR, 3, 3, 3)
    for half, far in enumerate(HALVES):
        c.store(at(R12, R11, 1, far), half)
        c.combine(SUB, 4, 3, half)
        c.combine(MAX, 4, 4, half)
        c.combine(MAX, 15, 4, 15)  # which stays where that is no number


@_named
def gathered(c: Code) -> None:
    """out[to[k]] += values[k] x[from[k]]: count, to, from, values, x, out."""
    c.function("gathered")
    for place, register in ((1, R8), (2, R9), (3, R10), (4, R11), (5, R12)):
        c.move(register, _argument(place))
    c.set(RCX, 0)
    with _Loop(c, "gathered_entry", RCX, _argument(0)):
        c.number(RAX, at(R9, RCX, 4))
        c.load_one(0, at(R10, RCX, 8))
        c.combine_one(MUL, 0, 0, at(R11, RAX, 8))
        c.number(RAX, at(R8, RCX, 4))
        c.combine_one(ADD, 0, 0, at(R12, RAX, 8))
        c.store_one(at(R12, RAX, 8), 0)
    c.done()


@_named
def summed(c: Code) -> None:
    """out[c] = the sum of values[k] x[from[k]], k of start[c] to start[c + 1]: count, start, from,
    values, x, out."""
    c.function("summed")
    for place, register in ((1, R8), (2, R9), (3, R10), (4, R11), (5, R12)):
        c.move(register, _argument(place))

    def term(number):
        c.number(RAX, at(R9, RCX, 4, 4 * number))
        c.load_one(4, at(R10, RCX, 8, 8 * number))
        c.combine_one(MUL, 4, 4, at(R11, RAX, 8))
        c.combine_one(ADD, number, number, 4)

    c.set(RSI, 0)
    with _Loop(c, "summed_row", RSI, _argument(0)):
        c.number(RCX, at(R8, RSI, 4))
        c.number(RDX, at(R8, RSI, 4, 4))
        c.address(R15, at(RDX, offset=-3))
        for number in range(4):
            c.combine(XOR, number, number, number)
        c.mark("summed_four")
        c.compare(RCX, R15)
        c.jump("summed_rest", "not less")
        for number in range(4):
            term(number)
        c.more(RCX, 4)
        c.jump("summed_four")
        c.mark("summed_rest")
        with _Loop(c, "summed_one", RCX, RDX):
            term(0)
        c.combine_one(ADD, 0, 0, 1)
        c.combine_one(ADD, 2, 2, 3)
        c.combine_one(ADD, 0, 0, 2)
        c.store_one(at(R12, RSI, 8), 0)
    c.done()


@_named
def solved(c: Code) -> None:
    """x becomes the solution of L L' x of a lower triangle L: size, lower, x."""
    c.function("solved")
    for place, register in ((0, R12), (1, R8), (2, R11)):
        c.move(register, _argument(place))
    c.move(R13, R12)
    c.shift(R13, 3)
    c.set(RSI, 0)
    with _Loop(c, "solved_row", RSI, R12):
        for number in range(2):
            c.combine(XOR, number, number, number)
        c.load_one(4, at(R11, RSI, 8))
        c.set(RCX, 0)
        c.address(R15, at(RSI, offset=-7))
        c.mark("solved_eight")
        c.compare(RCX, R15)
        c.jump("solved_few", "not less")
        for half, far in enumerate(HALVES):
            c.load(2 + half, at(R8, RCX, 8, far))
            c.add_product(half, 2 + half, at(R11, RCX, 8, far))
        c.more(RCX, 8)
        c.jump("solved_eight")
        c.mark("solved_few")
        with _Loop(c, "solved_one", RCX, RSI):
            c.load_one(5, at(R8, RCX, 8))
            c.combine_one(MUL, 5, 5, at(R11, RCX, 8))
            c.combine_one(SUB, 4, 4, 5)
        c.combine(ADD, 0, 0, 1)
        c.upper(1, 0)
        c.combine(ADD, 0, 0, 1)
        c.second(1, 0)
        c.combine_one(ADD, 0, 0, 1)
        c.combine_one(SUB, 4, 4, 0)
        c.combine_one(DIV, 4, 4, at(R8, RSI, 8))
        c.store_one(at(R11, RSI, 8), 4)
        c.plus(R8, R13)
    _back(c)
    c.done()


def _back(c):
    """Solve with the triangle turned, from the last row, which ends at r8, to the first."""
    c.move(RSI, R12)
    c.mark("solved_up")
    c.more(RSI, -1)
    c.set(RAX, 0)
    c.compare(RSI, RAX)
    c.jump("solved_all", "less")
    c.minus(R8, R13)
    c.load_one(0, at(R11, RSI, 8))
    c.combine_one(DIV, 0, 0, at(R8, RSI, 8))
    c.store_one(at(R11, RSI, 8), 0)
    c.spread(0, at(R11, RSI, 8))
    c.set(RCX, 0)
    c.address(R15, at(RSI, offset=-3))
    c.mark("solved_four")
    c.compare(RCX, R15)
    c.jump("solved_last", "not less")
    c.load(1, at(R11, RCX, 8))
    c.add_product(1, 0, at(R8, RCX, 8), minus=True)
    c.store(at(R11, RCX, 8), 1)
    c.more(RCX, 4)
    c.jump("solved_four")
    c.mark("solved_last")
    with _Loop(c, "solved_each", RCX, RSI):
        c.load_one(1, at(R8, RCX, 8))
        c.combine_one(MUL, 1, 1, 0)
        c.load_one(2, at(R11, RCX, 8))
        c.combine_one(SUB, 2, 2, 1)
        c.store_one(at(R11, RCX, 8), 2)
    c.jump("solved_up")
    c.mark("solved_all")
