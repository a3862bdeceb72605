"""Steps as instructions of x86-64: `vop register, register, register or memory`, four numbers each.

Step k leaves its result in register k modulo RING, so it is there for the RING - 1 steps after it,
unless a function of the C library is called between; who takes it later finds it in memory, where
it is stored only if somebody does. Memory is at rbx: inputs, outputs and results; constants are at
rbp. (Intel, Software developer's manual, volume 2, 2.3: the VEX prefix.)
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ocp.codegen.assembler.emitter import WIDTH, Sizes
from ocp.codegen.assembler.ir import ADD, AND, CALL, COMPARE, MUL, OR, SQRT, XOR, Steps

RING = 16  # registers
COMMUTE = ADD, MUL, AND, OR, XOR
LOAD, STORE = 0x10, 0x11
RBX, RBP = 3, 5


class Memory(NamedTuple):
    """Where values are, of all steps and then the others: at an `offset` (values,) from a `base`
    (values,), RBX or RBP; and at which offsets from RBX `outputs` (k,) are put."""

    base: np.ndarray
    offset: np.ndarray
    outputs: np.ndarray


def memory_of(steps: Steps, sizes: Sizes) -> tuple[Memory, int]:
    """Return the Memory of a graph's steps at four instants, and how many times four numbers it has
    at rbx: inputs, outputs, and then results by CasADi's places. Constants are at rbp."""
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
    """Instructions of any length, in the order of their keys."""

    def __init__(self):
        self.keys, self.rows = [], []

    def add(self, keys, columns):
        """Add rows of `columns` of bytes, each an array or a number, the same for all."""
        rows = np.empty((len(keys), len(columns)), dtype=np.uint8)
        for number, column in enumerate(columns):
            rows[:, number] = column
        self.keys.append(keys)
        self.rows.append(rows)

    def text(self, ends: Any) -> list[bytes]:
        """Return all, one after another, cut before each of these keys, and in the end."""
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


def body(steps: Steps, memory: Memory, addresses: Sequence[int], cuts: Any = ()) -> list[bytes]:
    """Return the machine code of all steps at four instants, cut before some of them; `addresses`
    are those of the C library's functions, which the code at r12 calls."""
    rows, count = Rows(), len(steps.code)
    number = np.arange(count)
    call = steps.code >= CALL
    near_x, near_y = (_near(number, each, call) & ~call for each in (steps.x, steps.y))
    x, y = steps.x.copy(), steps.y.copy()
    turned = ~near_x & near_y & np.isin(steps.code, COMMUTE)
    x[turned], y[turned] = steps.y[turned], steps.x[turned]
    near_x, near_y = near_x | turned, near_y & ~turned
    _operations(rows, steps, memory, (x, near_x), (y, near_y))
    _calls(rows, steps, memory, addresses)
    _stores(rows, steps, memory, (x, near_x), (y, near_y))
    return rows.text(4 * np.asarray(cuts, dtype=int))


def _near(number, source, call):
    """Tell which steps find a value in its register."""
    count = len(call)
    own = source < count
    maker = np.where(own, source, 0)
    before = np.concatenate([[0], np.cumsum(call)])
    quiet = before[number + 1] == before[maker]
    return own & (number - maker < RING) & quiet


def _operations(rows, steps, memory, x, y):
    """Add all that is no call; a first operand that is in memory is loaded into the result's own
    register."""
    (x, near_x), (y, near_y) = x, y
    count, plain = len(steps.code), steps.code < CALL
    result = np.arange(count) % RING
    single = steps.code == SQRT
    far = np.flatnonzero(plain & ~near_x & ~single)
    _moved(rows, 4 * far, LOAD, result[far], (memory.base[x[far]], memory.offset[x[far]]))
    held = np.where(near_x, x % RING, result)
    same = (x == y) & ~single  # squares and doubles
    near = near_y | same
    second = np.where(same, held, y % RING)
    first = np.where(single, 0, held)
    keys, code = 4 * np.arange(count) + 1, steps.code & 0xFF
    for compares in (False, True):
        own = plain & ((steps.code == COMPARE) == compares)
        for chosen, high in ((own & near, True), (own & near, False)):
            at = np.flatnonzero(chosen & ((second > 7) == high))
            columns = _prefix(result[at], first[at], high)
            more = [steps.asked[at]] if compares else []
            modrm = 0xC0 | (result[at] & 7) << 3 | second[at] & 7
            rows.add(keys[at], [*columns, code[at], modrm, *more])
        at = np.flatnonzero(own & ~near)
        where = _at(result[at], memory.base[y[at]], memory.offset[y[at]])
        more = [steps.asked[at]] if compares else []
        rows.add(keys[at], [*_prefix(result[at], first[at], False), code[at], *where, *more])


def _calls(rows, steps, memory, addresses):
    """Add calls: the function's address in rax, where the result goes in r13, operands in r14 and
    r15, and then what stands at r12."""
    at = np.flatnonzero(steps.code >= CALL)
    address = np.array(addresses, dtype=np.uint64)[steps.code[at] - CALL] if len(at) else []
    columns = [0x48, 0xB8, *_bytes(address, np.uint64)]
    places = memory.base[at], memory.offset[at]
    taken = [(memory.base[each[at]], memory.offset[each[at]]) for each in (steps.x, steps.y)]
    for register, (base, offset) in zip((5, 6, 7), (places, *taken)):
        columns += [0x4C, 0x8D, *_at(register, base, offset)]  # lea
    rows.add(4 * at + 1, [*columns, 0x41, 0xFF, 0xD4])  # call r12


def _stores(rows, steps, memory, x, y):
    """Add stores of what is taken from memory, and of outputs."""
    count, call = len(steps.code), steps.code >= CALL
    kept = np.zeros(len(memory.base), dtype=bool)
    for source, near in (x, y):
        kept[source[~near]] = True
    kept = np.flatnonzero(kept[:count] & ~call)
    _moved(rows, 4 * kept + 2, STORE, kept % RING, (memory.base[kept], memory.offset[kept]))
    made = ~np.append(call, True)[np.minimum(steps.given, count)]  # by steps that are no calls
    given, to = steps.given[made], memory.outputs[made]
    _moved(rows, 4 * given + 3, STORE, given % RING, (np.full(len(to), RBX), to))
    given, to = steps.given[~made], memory.outputs[~made]
    # What calls give is taken right after them: later another may have its place
    keys = np.where(given < count, 4 * given + 2, 4 * count)
    order = np.arange(len(keys)) / (1 + len(keys))
    _moved(rows, keys + order, LOAD, 0, (memory.base[given], memory.offset[given]))
    _moved(rows, keys + order, STORE, 0, (np.full(len(to), RBX), to))


def _moved(rows, keys, opcode, register, place):
    register = np.broadcast_to(register, len(keys))
    rows.add(keys, [*_prefix(register, 0, False), opcode, *_at(register, *place)])


def _prefix(register, first, high):
    """Return the VEX prefix of an instruction of four numbers, with a result's register, that of
    its first operand (0 for none) and whether the second one's is a high one."""
    reg, low = np.asarray(register), (15 - np.asarray(first)) << 3 | 0b101
    if high:
        return [0xC4, np.where(reg > 7, 0x41, 0xC1), low]
    return [0xC5, np.where(reg > 7, 0, 0x80) | low]


def _at(register, base, offset):
    """Return the bytes that name a register and memory at base and offset."""
    return [0x80 | (np.asarray(register) & 7) << 3 | base, *_bytes(offset, np.int32)]


def _bytes(values, kind):
    data = np.ascontiguousarray(values, dtype=kind)
    return list(data.view(np.uint8).reshape(len(data), data.itemsize).T)
