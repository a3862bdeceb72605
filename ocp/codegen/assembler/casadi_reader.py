"""Instructions of scalar CasADi functions as arrays, read from their serialized form.

Asking CasADi for one instruction at a time takes as long as building the graph. The serialized
function holds them all in a row, where they are found by the first few; whoever uses them falls
back to asking if they are not there as expected.
"""

from collections.abc import Iterable
from typing import NamedTuple

import casadi as ca
import numpy as np

SAMPLE = 12  # first and last instructions that are asked for, to find those between them
LETTER = ord("a")  # a nibble is a letter from a on, the lower one first
BYTES = 16  # of an instruction: four integers, or two and a number


class Instructions(NamedTuple):
    """Instructions of a scalar graph: `op` (n,), and `first`, `second`, `third` (n,) as CasADi has
    them: places of result and operands in its memory, or number and entry of inputs and outputs.

    `constants` (n,) are the numbers of those that bring one, 0 elsewhere.
    """

    op: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    constants: np.ndarray


def read_instructions(function: ca.Function) -> Instructions:
    """Return the instructions of a scalar function."""
    table = serialized_table(function)
    if table is None:
        table = asked_table(function, range(function.n_instructions()))
    op, first, second, third = np.ascontiguousarray(table.T)
    bits = np.ascontiguousarray(table[:, 2:]).view(np.float64)[:, 0]
    return Instructions(op, first, second, third, np.where(op == ca.OP_CONST, bits, 0.0))


def asked_table(function: ca.Function, numbers: Iterable[int]) -> np.ndarray:
    """Return instructions (k, 4) as a serialized function has them, asked for one at a time."""
    rows = []
    for k in numbers:
        op = function.instruction_id(k)
        outputs, inputs = function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_CONST:
            words = np.array([function.instruction_constant(k)]).view(np.int32)
            rows.append((op, outputs[0], *words))
        elif op == ca.OP_INPUT:
            rows.append((op, outputs[0], *inputs))
        elif op == ca.OP_OUTPUT:
            rows.append((op, outputs[0], inputs[0], outputs[1]))
        else:
            first = inputs[:1] or [0]
            rows.append((op, (outputs or [0])[0], *first, *(inputs[1:2] or first)))
    return np.array(rows, dtype=np.int32).reshape(len(rows), 4)


def serialized_table(function: ca.Function) -> np.ndarray | None:
    """Return instructions (n, 4) from a serialized function, None if they are not found there."""
    count = function.n_instructions()
    if count < 2 * SAMPLE:
        return None
    data = bytes_of(function.serialize())
    place = find_table(function, data)
    return None if place is None else table_at(data, place, count)


def find_table(function: ca.Function, data: bytes) -> int | None:
    """Return the place of the first instruction in a serialized function's bytes, None if not
    certain."""
    count = function.n_instructions()
    sample = min(SAMPLE, count)
    first = asked_table(function, range(sample)).tobytes()
    last = asked_table(function, range(count - sample, count)).tobytes()
    place = data.find(first)
    end = place + BYTES * count
    return place if place >= 0 and data[:end].endswith(last) and len(data) >= end else None


def table_at(data: bytes, place: int, count: int) -> np.ndarray:
    """Return `count` instructions (count, 4) that stand at a place of a serialized function."""
    return np.frombuffer(data, dtype="<i4", count=4 * count, offset=place).reshape(count, 4)


def bytes_of(text: str) -> bytes:
    """Return the bytes that CasADi serializes as a text of letters, two for each byte."""
    nibbles = np.frombuffer(text.encode("latin-1"), dtype=np.uint8) - LETTER
    return ((nibbles[1::2] << 4) | nibbles[0::2]).tobytes()
