"""Scalar graphs whose instructions of one kind stand together, for CasADi's virtual machine.

The virtual machine jumps to the code of each instruction's kind, and a processor foresees that only
where kinds repeat: in long runs of one kind an instruction takes about half the time. CasADi orders
instructions depth first, and takes another order only with the text of a function. So that text is
written anew here, in an order that respects what depends on what; where it is not as expected, or
the numbers are not the same to the last bit, the function stays as it is.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

SIZE = 16  # bytes of an instruction: four integers, or two and a number
FRONT = 4  # instructions by which their place in the text is known
UNDIFFERENTIATED = {"enable_forward": False, "enable_reverse": False, "enable_jacobian": False}
ZERO = ord("a")  # the letter of the half of a byte that is zero, in a function's text


class Instructions(NamedTuple):
    """What a virtual machine does, one after the other: integers (n, 4), which are `kinds`, where a
    result goes, and where two operands are; and of each the two (or no) instructions before it that
    it takes them from."""

    codes: np.ndarray
    sources: list[tuple[int, ...]]


def group_instructions(function: ca.Function) -> ca.Function:
    """Return the function with its instructions in runs of one kind; the same numbers come sooner.

    It cannot be differentiated, and CasADi says so where that is tried. What is no scalar graph, or
    calls others, is returned as it is. To group ten thousand instructions takes about 20 ms.
    """
    if not function.is_a("SXFunction") or function.has_free() or not function.n_instructions():
        return function
    plain = _in_own_places(function)
    text = _bytes_of(plain.serialize())
    start = _start(plain, text)
    found = None if start is None else _instructions(text, start, plain.n_instructions())
    if found is None:
        return function
    again = _placed(found, list(_order(found)))
    whole = text[:start] + again.tobytes() + text[start + again.nbytes :]
    try:
        grouped = ca.Function.deserialize(_text_of(whole))
    except RuntimeError:
        return function
    return grouped if _same(function, grouped) else function


def _in_own_places(function):
    """Return the function with a place for every result, and without derivatives."""
    inputs = [function.sx_in(k) for k in range(function.n_in())]
    usual = [float(function.default_in(k)) for k in range(function.n_in())]
    options = {"live_variables": False, "default_in": usual, **UNDIFFERENTIATED}
    names = function.name_in(), function.name_out()
    return ca.Function(function.name(), inputs, function.call(inputs), *names, options)


def _bytes_of(text):
    halves = np.frombuffer(text.encode(), dtype=np.uint8) - ZERO
    return (halves[::2] | halves[1::2] << 4).tobytes()


def _text_of(content):
    """Return the text of bytes, two letters each, the lower half first."""
    whole = np.frombuffer(content, dtype=np.uint8)
    halves = np.column_stack([whole & 15, whole >> 4]).ravel() + ZERO
    return halves.astype(np.uint8).tobytes().decode()


def _start(function, text):
    """Return where a function's instructions stand in its text, or None if that is not certain."""
    front = b"".join(_packed(function, k) for k in range(min(FRONT, function.n_instructions())))
    start = text.find(front)
    return start if start >= 0 and text.find(front, start + 1) < 0 else None


def _packed(function, k):
    """Return an instruction as a function's text has it."""
    kind = function.instruction_id(k)
    to, of = function.instruction_output(k), function.instruction_input(k)
    if kind == ca.OP_CONST:
        return struct.pack("<iid", kind, to[0], function.instruction_constant(k))
    if kind == ca.OP_OUTPUT:
        return struct.pack("<4i", kind, to[0], of[0], to[1])
    return struct.pack("<4i", kind, to[0], of[0], of[-1])


def _instructions(text, start, count):
    """Return the Instructions in a text, or None if these are none, or call functions."""
    if len(text) < start + SIZE * count:
        return None
    codes = np.frombuffer(text, dtype="<i4", count=4 * count, offset=start).reshape(count, 4)
    kinds, to, operand = codes[:, 0], codes[:, 1], codes[:, 2]
    gives = kinds != ca.OP_OUTPUT
    taking = ~np.isin(kinds, (ca.OP_CONST, ca.OP_INPUT))
    by_place = np.flatnonzero(gives)
    operands = np.where(gives[:, None], codes[:, 2:], operand[:, None])[taking]
    sound = (
        np.array_equal(to[gives], np.arange(len(by_place)))
        and ((operands >= 0) & (operands < len(by_place))).all()
        and (kinds <= ca.OP_OUTPUT).all()
    )
    if not sound:
        return None
    sources: list[tuple[int, ...]] = [()] * count
    for k, pair in zip(np.flatnonzero(taking).tolist(), by_place[operands].tolist()):
        sources[k] = tuple(pair)
    return Instructions(codes, sources)


def _order(found: Instructions) -> Iterator[int]:
    """Yield all instructions, as many of a kind in turn as there are; the kind that comes next is
    that of an instruction on which most others wait in a row."""
    kinds, sources = found.codes[:, 0].tolist(), found.sources
    users: list[list[int]] = [[] for _ in kinds]
    for k, pair in enumerate(sources):
        for source in set(pair):
            users[source].append(k)
    heights, waits = _heights(users), [len(set(pair)) for pair in sources]
    ready: dict[int, list[int]] = {}
    for k, wait in enumerate(waits):
        if not wait:
            ready.setdefault(kinds[k], []).append(k)
    while ready:
        kind = max(ready, key=lambda each: max(heights[k] for k in ready[each]))
        run = ready.pop(kind)
        for k in run:  # which grows meanwhile
            yield k
            for user in users[k]:
                waits[user] -= 1
                if not waits[user]:
                    others = run if kinds[user] == kind else ready.setdefault(kinds[user], [])
                    others.append(user)


def _heights(users: Sequence[Sequence[int]]) -> list[int]:
    """Return of every instruction how many others wait for it in a row."""
    heights = [0] * len(users)
    for k in reversed(range(len(users))):
        heights[k] = max((1 + heights[user] for user in users[k]), default=0)
    return heights


def _placed(found: Instructions, order: Sequence[int]) -> np.ndarray:
    """Return the instructions in that order, (n, 4), with results in the places of others that
    nothing waits for any more."""
    codes, sources = found.codes[order].tolist(), found.sources
    left = np.bincount([source for pair in sources for source in pair], minlength=len(order))
    uses, place, free, size = left.tolist(), [0] * len(order), [], 0
    for code, k in zip(codes, order):
        pair = sources[k]
        for source in pair:
            uses[source] -= 1
            if not uses[source]:
                free.append(place[source])
        if code[0] == ca.OP_OUTPUT:
            code[2] = place[pair[0]]
            continue
        size += not free
        code[1] = place[k] = free.pop() if free else size - 1
        if pair:
            code[2:] = (place[source] for source in pair)
    return np.array(codes, dtype="<i4")


def _same(one, other):
    """Tell whether two functions give the same numbers to the last bit."""
    rng = np.random.default_rng(0)
    place = [
        ca.DM(one.sparsity_in(k), rng.uniform(-1, 1, one.nnz_in(k))) for k in range(one.n_in())
    ]
    return all(
        np.array_equal(first.nonzeros(), second.nonzeros(), equal_nan=True)
        for first, second in zip(one.call(place), other.call(place), strict=True)
    )
