"""Scalar graphs with instructions of one kind grouped, for CasADi's virtual machine.

The virtual machine jumps to the code of each instruction's kind, and a processor predicts the jump
only where kinds repeat: in long runs an instruction takes about half the time. CasADi orders
instructions depth first, and takes another order only in a serialized function. That is rewritten
here; a function stays as it is if its instructions are not found, or results have other bits.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ocp.codegen.assembler.casadi_reader import bytes_of, find_table, table_at, text_of

UNDIFFERENTIATED = {"enable_forward": False, "enable_reverse": False, "enable_jacobian": False}


class Instructions(NamedTuple):
    """Instructions `codes` (n, 4): kind, place of the result, places of two operands; and for each
    the two (or no) instructions that make its operands."""

    codes: np.ndarray
    sources: list[tuple[int, ...]]


def group_instructions(function: ca.Function) -> ca.Function:
    """Return the function with its instructions in runs of one kind: the same bits, sooner.

    It cannot be differentiated, and CasADi says so where that is tried. A function that is no
    scalar graph, or calls others, is returned unchanged. Ten thousand instructions take 20 ms.
    """
    if not function.is_a("SXFunction") or function.has_free() or not function.n_instructions():
        return function
    plain = _with_own_places(function)
    data = bytes_of(plain.serialize())
    start, count = find_table(plain, data), plain.n_instructions()
    found = None if start is None else _instructions(table_at(data, start, count))
    if start is None or found is None:
        return function
    again = _allocate(found, list(_order(found)))
    try:
        text = text_of(data[:start] + again.tobytes() + data[start + again.nbytes :])
        grouped = ca.Function.deserialize(text)
    except RuntimeError:
        return function
    return grouped if _have_same_bits(function, grouped) else function


def _with_own_places(function: ca.Function) -> ca.Function:
    """Return the function with a place for every result, and without derivatives.

    Where a place is used once, sources of operands are known by their places.
    """
    inputs = [function.sx_in(k) for k in range(function.n_in())]
    defaults = [float(function.default_in(k)) for k in range(function.n_in())]
    options: dict[str, bool | list[float]] = {"live_variables": False, "default_in": defaults}
    names = function.name_in(), function.name_out()
    options |= UNDIFFERENTIATED
    return ca.Function(function.name(), inputs, function.call(inputs), *names, options)


def _instructions(codes: np.ndarray) -> Instructions | None:
    """Return Instructions with their sources, None if they call functions or are none."""
    kinds, result = codes[:, 0], codes[:, 1]
    has_result = kinds != ca.OP_OUTPUT
    has_operands = ~np.isin(kinds, (ca.OP_CONST, ca.OP_INPUT))
    by_place = np.flatnonzero(has_result)
    operands = np.where(has_result[:, None], codes[:, 2:], codes[:, 2:3])[has_operands]
    sound = (
        np.array_equal(result[has_result], np.arange(len(by_place)))
        and ((operands >= 0) & (operands < len(by_place))).all()
        and (kinds <= ca.OP_OUTPUT).all()
    )
    if not sound:
        return None
    sources: list[tuple[int, ...]] = [()] * len(codes)
    for k, pair in zip(np.flatnonzero(has_operands).tolist(), by_place[operands].tolist()):
        sources[k] = tuple(pair)
    return Instructions(codes, sources)


def _order(found: Instructions) -> Iterator[int]:
    """Yield instructions in runs of one kind, as long as there are any of it that may come next.

    The next kind is that of the instruction with the longest chain of others waiting for it, so
    that runs to come are long.
    """
    kinds, sources = found.codes[:, 0].tolist(), found.sources
    users: list[list[int]] = [[] for _ in kinds]
    for k, pair in enumerate(sources):
        for source in set(pair):
            users[source].append(k)
    heights = [0] * len(users)  # how many others wait for an instruction in a row
    for k in reversed(range(len(users))):
        heights[k] = max((1 + heights[user] for user in users[k]), default=0)
    waits = [len(set(pair)) for pair in sources]
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


def _allocate(found: Instructions, order: Sequence[int]) -> np.ndarray:
    """Return the instructions (n, 4) in that order; results reuse places that nothing needs."""
    codes, sources = found.codes[order].tolist(), found.sources
    counts = np.bincount([source for pair in sources for source in pair], minlength=len(order))
    uses, place = counts.tolist(), [0] * len(order)
    free: list[int] = []
    size = 0
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


def _have_same_bits(one: ca.Function, other: ca.Function) -> bool:
    """Tell whether two functions give the same bits at a random point."""
    rng = np.random.default_rng(0)
    patterns = [one.sparsity_in(k) for k in range(one.n_in())]
    point = [ca.DM(pattern, rng.uniform(-1, 1, pattern.nnz())) for pattern in patterns]
    return all(
        np.array_equal(first.nonzeros(), second.nonzeros(), equal_nan=True)
        for first, second in zip(one.call(point), other.call(point), strict=True)
    )
