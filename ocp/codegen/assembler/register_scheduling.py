"""Steps in the registers of a processor: which of their operands are there, and which in memory.

Step k leaves its result in register k modulo `registers`, so the next steps find it there, unless a
C library function is called between; later ones load it from memory, where it is stored only if
one of them does. This needs no register allocation. Memory is at rbx: inputs, outputs and results;
constants are at rbp, below them the addresses of the C library's functions. The bytes of each
instruction are those of the processor's Code.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ocp.codegen.assembler.emitter import WIDTH, Sizes
from ocp.codegen.assembler.instructions import RBP, RBX, Code, Group, Operations
from ocp.codegen.assembler.ir import (
    ADD,
    AND,
    CALL,
    FUNCTIONS,
    FUSE,
    MUL,
    OR,
    PAIR,
    SQRT,
    XOR,
    Steps,
)

COMMUTE = ADD, MUL, AND, OR, XOR, PAIR
LIBRARY = -8 * len(FUNCTIONS)  # place of their addresses at rbp
Operand = tuple[np.ndarray, np.ndarray]  # values, and whether each is in its register


class Memory(NamedTuple):
    """Addresses of values (steps, constants, inputs): `offset` from `base`, RBX or RBP; and the
    offsets from RBX of `outputs` (k,)."""

    base: np.ndarray
    offset: np.ndarray
    outputs: np.ndarray


def memory_of(steps: Steps, sizes: Sizes) -> tuple[Memory, int]:
    """Return the Memory of a graph's steps at four instants, and its size in vectors of four.

    Inputs come first, then outputs, then results by CasADi's places.
    """
    count, constants = len(steps.code), len(steps.constants)
    starts = np.concatenate([[0], np.cumsum([*sizes[0], *sizes[1]])]).astype(int)
    results = int(starts[-1])
    number, entry = steps.inputs.T
    base = np.full(count + constants + len(number), RBX)
    base[count : count + constants] = RBP
    places = results + steps.place, np.arange(constants), starts[number] + entry
    number, entry = steps.outputs.T
    outputs = starts[len(sizes[0]) + number] + entry
    memory = Memory(base, WIDTH * np.concatenate(places), WIDTH * outputs)
    return memory, results + 1 + int(steps.place.max(initial=0))


class Rows:
    """Instructions of any length, sorted by key at the end."""

    def __init__(self) -> None:
        self.keys: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []

    def add(self, keys: np.ndarray, groups: Iterable[Group]) -> None:
        """Add instructions for some of the keys, of byte columns: arrays, or one number for all."""
        for which, columns in groups:
            rows = np.empty((len(which), len(columns)), dtype=np.uint8)
            for number, column in enumerate(columns):
                rows[:, number] = column
            self.keys.append(keys[which])
            self.rows.append(rows)

    def parts(self, ends: np.ndarray) -> list[bytes]:
        """Return the machine code, cut before each of these keys."""
        keys = np.concatenate(self.keys)
        lengths = np.concatenate([np.full(len(rows), rows.shape[1]) for rows in self.rows])
        order = np.argsort(keys, kind="stable")
        starts = np.empty(len(keys), dtype=int)
        until = np.cumsum(lengths[order])
        starts[order] = until - lengths[order]
        text = np.empty(int(lengths.sum()), dtype=np.uint8)
        begin = 0
        for rows in self.rows:
            own = starts[begin : begin + len(rows)]
            text[own[:, None] + np.arange(rows.shape[1])] = rows
            begin += len(rows)
        cuts = np.searchsorted(keys[order], ends)
        places = [0, *(int(until[cut - 1]) if cut else 0 for cut in cuts), len(text)]
        return [text[start:end].tobytes() for start, end in pairwise(places)]


def body(code: Code, steps: Steps, memory: Memory, cuts: ArrayLike = ()) -> list[bytes]:
    """Return the machine code of all steps at four instants, cut before some of them.

    Keys are four times a step's number, plus 0 for loads before it, 1 for itself, 2 and 3 for its
    stores.
    """
    rows = Rows()
    number = np.arange(len(steps.code)) + (steps.code == PAIR)  # whose operands the next step uses
    call = steps.code >= CALL
    near_x, near_y = (
        _in_register(number, each, call, code.registers) & ~call for each in (steps.x, steps.y)
    )
    x, y = steps.x.copy(), steps.y.copy()
    swapped = ~near_x & near_y & np.isin(steps.code, COMMUTE)  # the first must be in a register
    x[swapped], y[swapped] = steps.y[swapped], steps.x[swapped]
    near_x, near_y = near_x | swapped, near_y & ~swapped
    _add_operations(code, rows, steps, memory, (x, near_x), (y, near_y))
    at = np.flatnonzero(call)
    places = [(memory.base[values], memory.offset[values]) for values in (at, x[at], y[at])]
    rows.add(4 * at + 1, code.calls(LIBRARY + 8 * (steps.code[at] - CALL), places))
    _add_stores(code, rows, steps, memory, (x, near_x), (y, near_y))
    return rows.parts(4 * np.asarray(cuts, dtype=int))


def _in_register(
    number: np.ndarray, source: np.ndarray, call: np.ndarray, registers: int
) -> np.ndarray:
    """Tell which steps find a value in its register."""
    own = source < len(call)
    maker = np.where(own, source, 0)
    before = np.concatenate([[0], np.cumsum(call)])
    quiet = before[number + 1] == before[maker]  # no call in between
    return own & (number - maker < registers) & quiet


def _add_operations(
    code: Code, rows: Rows, steps: Steps, memory: Memory, x: Operand, y: Operand
) -> None:
    """Add all but calls; a first operand in memory is loaded into the result's register."""
    (x_value, near_x), (y_value, near_y) = x, y
    plain = steps.code < CALL
    result = np.arange(len(steps.code)) % code.registers
    single = steps.code == SQRT
    far = np.flatnonzero(plain & ~near_x & ~single)
    source = x_value[far]
    rows.add(4 * far, code.moves(False, result[far], (memory.base[source], memory.offset[source])))
    first = np.where(near_x, x_value % code.registers, result)
    same = (x_value == y_value) & ~single  # squares and doubles
    second = np.where(same, first, y_value % code.registers)
    at = np.flatnonzero(plain & (steps.code != PAIR))
    own = at - (steps.code[at] == FUSE)  # where the second operand is told
    operations = Operations(
        code=steps.code[at],
        condition=steps.condition[at],
        result=result[at],
        first=first[at],
        second=second[own],
        far=~(near_y | same)[own],
        memory=(memory.base[y_value[own]], memory.offset[y_value[own]]),
        third=first[own],
    )
    rows.add(4 * at + 1, code.operations(operations))


def _add_stores(
    code: Code, rows: Rows, steps: Steps, memory: Memory, x: Operand, y: Operand
) -> None:
    """Add stores of results that later steps load, and of outputs."""
    count, call = len(steps.code), steps.code >= CALL
    loaded = np.zeros(len(memory.base), dtype=bool)
    for source, near in (x, y):
        loaded[source[~near]] = True
    kept = np.flatnonzero(loaded[:count] & ~call)
    place = memory.base[kept], memory.offset[kept]
    rows.add(4 * kept + 2, code.moves(True, kept % code.registers, place))
    made = ~np.append(call, True)[np.minimum(steps.results, count)]  # by steps that are no calls
    given, to = steps.results[made], memory.outputs[made]
    place = np.full(len(to), RBX), to
    rows.add(4 * given + 3, code.moves(True, given % code.registers, place))
    given, to = steps.results[~made], memory.outputs[~made]
    # Results of calls are copied right after them: later another may have their place
    keys = np.where(given < count, 4 * given + 2, 4 * count)
    order = np.arange(len(keys)) / (1 + len(keys))
    none = np.zeros(len(keys), dtype=int)
    place = memory.base[given], memory.offset[given]
    rows.add(keys + order, code.moves(False, none, place))
    rows.add(keys + order, code.moves(True, none, (np.full(len(to), RBX), to)))
