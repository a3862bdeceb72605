"""Steps as x86-64 AVX instructions, four numbers each: `vop register, register, register/memory`.

Step k leaves its result in register k modulo RING, so the next RING - 1 steps find it there, unless
a C library function is called between; later ones load it from memory, where it is stored only if
one of them does. This needs no register allocation. Memory is at rbx: inputs, outputs and results;
constants are at rbp. (Intel, Software developer's manual, volume 2, 2.3: the VEX prefix.)
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ocp.codegen.assembler.emitter import WIDTH, Sizes
from ocp.codegen.assembler.ir import ADD, AND, CALL, COMPARE, MUL, OR, SQRT, XOR, Steps

RING = 16  # registers
COMMUTE = ADD, MUL, AND, OR, XOR
LOAD, STORE = 0x10, 0x11
RBX, RBP = 3, 5
Operand = tuple[np.ndarray, np.ndarray]  # values, and whether each is in its register
Bytes = Sequence[ArrayLike]  # columns of instructions, one byte each


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

    def add(self, keys: np.ndarray, columns: Bytes) -> None:
        """Add an instruction for each key, of byte columns: arrays, or one number for all."""
        rows = np.empty((len(keys), len(columns)), dtype=np.uint8)
        for number, column in enumerate(columns):
            rows[:, number] = column
        self.keys.append(keys)
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


def body(
    steps: Steps, memory: Memory, addresses: Sequence[int], cuts: ArrayLike = ()
) -> list[bytes]:
    """Return the machine code of all steps at four instants, cut before some of them.

    `addresses` are those of the C library's FUNCTIONS, which the routine at r12 calls. Keys are
    four times a step's number, plus 0 for loads before it, 1 for itself, 2 and 3 for its stores.
    """
    rows, number = Rows(), np.arange(len(steps.code))
    call = steps.code >= CALL
    near_x, near_y = (_in_register(number, each, call) & ~call for each in (steps.x, steps.y))
    x, y = steps.x.copy(), steps.y.copy()
    swapped = ~near_x & near_y & np.isin(steps.code, COMMUTE)  # the first must be in a register
    x[swapped], y[swapped] = steps.y[swapped], steps.x[swapped]
    near_x, near_y = near_x | swapped, near_y & ~swapped
    _add_operations(rows, steps, memory, (x, near_x), (y, near_y))
    _add_calls(rows, steps, memory, addresses)
    _add_stores(rows, steps, memory, (x, near_x), (y, near_y))
    return rows.parts(4 * np.asarray(cuts, dtype=int))


def _in_register(number: np.ndarray, source: np.ndarray, call: np.ndarray) -> np.ndarray:
    """Tell which steps find a value in its register."""
    own = source < len(call)
    maker = np.where(own, source, 0)
    before = np.concatenate([[0], np.cumsum(call)])
    quiet = before[number + 1] == before[maker]  # no call in between
    return own & (number - maker < RING) & quiet


def _add_operations(rows: Rows, steps: Steps, memory: Memory, x: Operand, y: Operand) -> None:
    """Add all but calls; a first operand in memory is loaded into the result's register."""
    (x_value, near_x), (y_value, near_y) = x, y
    count, plain = len(steps.code), steps.code < CALL
    result = np.arange(count) % RING
    single = steps.code == SQRT
    far = np.flatnonzero(plain & ~near_x & ~single)
    source = x_value[far]
    _add_moves(rows, 4 * far, LOAD, result[far], memory.base[source], memory.offset[source])
    held = np.where(near_x, x_value % RING, result)
    same = (x_value == y_value) & ~single  # squares and doubles
    near = near_y | same
    second = np.where(same, held, y_value % RING)
    first = np.where(single, 0, held)
    keys, code = 4 * np.arange(count) + 1, steps.code & 0xFF
    for compares in (False, True):
        own = plain & ((steps.code == COMPARE) == compares)
        for chosen, high in ((own & near, True), (own & near, False)):
            at = np.flatnonzero(chosen & ((second > 7) == high))
            prefix = _vex_prefix(result[at], first[at], high)
            condition = [steps.condition[at]] if compares else []
            modrm = 0xC0 | (result[at] & 7) << 3 | second[at] & 7
            rows.add(keys[at], [*prefix, code[at], modrm, *condition])
        at = np.flatnonzero(own & ~near)
        where = _memory_operand(result[at], memory.base[y_value[at]], memory.offset[y_value[at]])
        prefix = _vex_prefix(result[at], first[at], False)
        condition = [steps.condition[at]] if compares else []
        rows.add(keys[at], [*prefix, code[at], *where, *condition])


def _add_calls(rows: Rows, steps: Steps, memory: Memory, addresses: Sequence[int]) -> None:
    """Add calls of the routine at r12: function in rax, result in r13, operands in r14 and r15."""
    at = np.flatnonzero(steps.code >= CALL)
    address = np.array(addresses, dtype=np.uint64)[steps.code[at] - CALL] if len(at) else at
    columns: list[ArrayLike] = [0x48, 0xB8, *_byte_columns(address, np.uint64)]
    for register, values in zip((5, 6, 7), (at, steps.x[at], steps.y[at])):
        place = _memory_operand(register, memory.base[values], memory.offset[values])
        columns += [0x4C, 0x8D, *place]  # lea
    rows.add(4 * at + 1, [*columns, 0x41, 0xFF, 0xD4])  # call r12


def _add_stores(rows: Rows, steps: Steps, memory: Memory, x: Operand, y: Operand) -> None:
    """Add stores of results that later steps load, and of outputs."""
    count, call = len(steps.code), steps.code >= CALL
    loaded = np.zeros(len(memory.base), dtype=bool)
    for source, near in (x, y):
        loaded[source[~near]] = True
    kept = np.flatnonzero(loaded[:count] & ~call)
    _add_moves(rows, 4 * kept + 2, STORE, kept % RING, memory.base[kept], memory.offset[kept])
    made = ~np.append(call, True)[np.minimum(steps.results, count)]  # by steps that are no calls
    given, to = steps.results[made], memory.outputs[made]
    _add_moves(rows, 4 * given + 3, STORE, given % RING, np.full(len(to), RBX), to)
    given, to = steps.results[~made], memory.outputs[~made]
    # Results of calls are copied right after them: later another may have their place
    keys = np.where(given < count, 4 * given + 2, 4 * count)
    order = np.arange(len(keys)) / (1 + len(keys))
    _add_moves(rows, keys + order, LOAD, 0, memory.base[given], memory.offset[given])
    _add_moves(rows, keys + order, STORE, 0, np.full(len(to), RBX), to)


def _add_moves(
    rows: Rows,
    keys: np.ndarray,
    opcode: int,
    register: ArrayLike,
    base: np.ndarray,
    offset: np.ndarray,
) -> None:
    registers = np.broadcast_to(register, len(keys))
    prefix = _vex_prefix(registers, 0, False)
    rows.add(keys, [*prefix, opcode, *_memory_operand(registers, base, offset)])


def _vex_prefix(register: np.ndarray, first: ArrayLike, high: bool) -> list[ArrayLike]:
    """Return the VEX prefix for a result's register and the first operand's (0 for none).

    `high` tells that the second operand is in a register above 7, which takes a third byte.
    """
    low = (15 - np.asarray(first)) << 3 | 0b101
    if high:
        return [0xC4, np.where(register > 7, 0x41, 0xC1), low]
    return [0xC5, np.where(register > 7, 0, 0x80) | low]


def _memory_operand(register: ArrayLike, base: np.ndarray, offset: np.ndarray) -> list[np.ndarray]:
    """Return the bytes that name a register and the memory at base + offset."""
    return [0x80 | (np.asarray(register) & 7) << 3 | base, *_byte_columns(offset, np.int32)]


def _byte_columns(values: ArrayLike, kind: type) -> list[np.ndarray]:
    data: np.ndarray = np.ascontiguousarray(values, dtype=kind)
    return list(data.view(np.uint8).reshape(len(data), data.itemsize).T)
