"""The instructions of a scalar graph as arrays.

CasADi tells them one at a time, which takes as long as to build the graph. They stand one after
another in what it serializes too, where they are looked for by the first few; if they are not found
there just as they are told, they are asked for one at a time.
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

ASKED = 12  # instructions that are asked for, first and last ones, to find the others between them
LETTER, WORD = (
    ord("a"),
    4,
)  # a nibble is a letter from a on, the lower one first; numbers of instructions are 4 bytes


class Instructions(NamedTuple):
    """What a scalar graph does: `op` (n,), and `first`, `second`, `third` (n,) as CasADi has them:
    results and operands by their places in its memory, inputs and outputs by number and entry.

    `constants` (n,) are the numbers of those that bring one, 0 elsewhere.
    """

    op: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    constants: np.ndarray


def instructions_of(function: ca.Function) -> Instructions:
    """Return the instructions of a scalar function."""
    count = function.n_instructions()
    table = _found(function, count)
    if table is None:
        table = np.array([_asked(function, k) for k in range(count)], dtype=np.int32)
        table = table.reshape(count, 4)
    op, first, second, third = np.ascontiguousarray(table.T)
    bits = np.ascontiguousarray(table[:, 2:]).view(np.float64)[:, 0]
    return Instructions(op, first, second, third, np.where(op == ca.OP_CONST, bits, 0.0))


def _asked(function, k):
    """Return one instruction as it stands in what CasADi serializes."""
    op = function.instruction_id(k)
    given, taken = function.instruction_output(k), function.instruction_input(k)
    if op == ca.OP_CONST:
        words = np.array([function.instruction_constant(k)]).view(np.int32)
        return op, given[0], *words
    if op in (ca.OP_INPUT, ca.OP_OUTPUT):
        return (op, given[0], *taken) if op == ca.OP_INPUT else (op, given[0], taken[0], given[1])
    first = taken[:1] or [0]
    return op, (given or [0])[0], *first, *(taken[1:2] or first)


def _found(function, count):
    """Return the table (count, 4) of instructions out of what CasADi serializes, None where they do
    not stand there as they are told."""
    if count < 2 * ASKED:
        return None
    text = np.frombuffer(function.serialize().encode("latin-1"), dtype=np.uint8)
    ends = [
        np.array([_asked(function, k) for k in some], dtype=np.int32)
        for some in (range(ASKED), range(count - ASKED, count))
    ]
    first, last = map(_written, ends)
    size = count * 4 * WORD * 2
    at = text.tobytes().find(first)
    if at < 0 or text[at : at + size].tobytes()[-len(last) :] != last:
        return None
    nibbles = text[at : at + size] - LETTER
    return ((nibbles[1::2] << 4) | nibbles[0::2]).view(np.int32).reshape(count, 4)


def _written(table):
    """Return a table of numbers as CasADi serializes it."""
    data = np.frombuffer(np.ascontiguousarray(table).tobytes(), dtype=np.uint8)
    return (np.column_stack([data & 15, data >> 4]).ravel() + LETTER).astype(np.uint8).tobytes()
