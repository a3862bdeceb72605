"""What tall.c does as machine code that is made here: loops over entries, and solves with a
triangle; those over tiles are in tiles.py.

Each function takes one block of 64-bit numbers, its arguments in the order of tall.c.
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
    Code,
    at,
)
from ocp.codegen.assembler.ir import ADD, DIV, MUL, SUB, XOR

HALVES = 0, 32
Write = Callable[[Code], None]  # of a function, at a label of its name


def written(functions: Sequence[Write]) -> Code:
    """Return the code of functions."""
    code = Code()
    for write in functions:
        write(code)
    return code


class Loop:
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


def argument(number):
    """Return where an argument is."""
    return at(RDI, offset=8 * number)


def gathered(c: Code) -> None:
    """out[to[k]] += values[k] x[from[k]]: count, to, from, values, x, out."""
    c.function("gathered")
    for place, register in ((1, R8), (2, R9), (3, R10), (4, R11), (5, R12)):
        c.move(register, argument(place))
    c.set(RCX, 0)
    with Loop(c, "gathered_entry", RCX, argument(0)):
        c.number(RAX, at(R9, RCX, 4))
        c.load_one(0, at(R10, RCX, 8))
        c.combine_one(MUL, 0, 0, at(R11, RAX, 8))
        c.number(RAX, at(R8, RCX, 4))
        c.combine_one(ADD, 0, 0, at(R12, RAX, 8))
        c.store_one(at(R12, RAX, 8), 0)
    c.done()


def summed(c: Code) -> None:
    """out[c] = the sum of values[k] x[from[k]], k of start[c] to start[c + 1]: count, start, from,
    values, x, out."""
    c.function("summed")
    for place, register in ((1, R8), (2, R9), (3, R10), (4, R11), (5, R12)):
        c.move(register, argument(place))

    def term(number):
        c.number(RAX, at(R9, RCX, 4, 4 * number))
        c.load_one(4, at(R10, RCX, 8, 8 * number))
        c.combine_one(MUL, 4, 4, at(R11, RAX, 8))
        c.combine_one(ADD, number, number, 4)

    c.set(RSI, 0)
    with Loop(c, "summed_row", RSI, argument(0)):
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
        with Loop(c, "summed_one", RCX, RDX):
            term(0)
        c.combine_one(ADD, 0, 0, 1)
        c.combine_one(ADD, 2, 2, 3)
        c.combine_one(ADD, 0, 0, 2)
        c.store_one(at(R12, RSI, 8), 0)
    c.done()


def solved(c: Code) -> None:
    """x becomes the solution of L L' x of a lower triangle L: size, lower, x."""
    c.function("solved")
    for place, register in ((0, R12), (1, R8), (2, R11)):
        c.move(register, argument(place))
    c.move(R13, R12)
    c.shift(R13, 3)
    c.set(RSI, 0)
    with Loop(c, "solved_row", RSI, R12):
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
        with Loop(c, "solved_one", RCX, RSI):
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
    with Loop(c, "solved_each", RCX, RSI):
        c.load_one(1, at(R8, RCX, 8))
        c.combine_one(MUL, 1, 1, 0)
        c.load_one(2, at(R11, RCX, 8))
        c.combine_one(SUB, 2, 2, 1)
        c.store_one(at(R11, RCX, 8), 2)
    c.jump("solved_up")
    c.mark("solved_all")
