"""Functions of one instant at many: one after another, or several at once by machine code."""

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca

from ocp.codegen.assembler import NoMachineCode, assemble_map

THREADED = 100_000  # instructions at all instants from which on threads gain more than they cost
ASSEMBLED = 100_000  # likewise, from which on machine code does, for a few instants at least
FEW = 8
AT_ONCE: WeakKeyDictionary[ca.Function, Callable[[int], ca.Function]] = WeakKeyDictionary()
MADE: WeakKeyDictionary[ca.Function, dict[int, ca.Function | None]] = WeakKeyDictionary()


class Graph(NamedTuple):
    """A `function`, and the `pattern` of the matrix whose entries it gives, if it is of one."""

    function: ca.Function
    pattern: ca.Sparsity = ca.Sparsity(0, 0)


def map_function(
    function: ca.Function, count: int, threads: int = 1, *, assembled: bool = False
) -> ca.Function:
    """Return a `function` of one instant at `count` of them: of all that it takes and gives, a
    column each. It is `assembled` where that pays; the virtual machine has so many `threads` for
    them, where that does: each takes neighbouring instants.

    Machine code that is evaluated at several instants at once says so in AT_ONCE.
    """
    if function in AT_ONCE:
        return AT_ONCE[function](count)
    made = _assembled(function, count) if assembled and count >= FEW else None
    if made is not None:
        return made
    if min(threads, count) > 1 and _length(function, count) >= THREADED:
        return function.map(count, "thread", min(threads, count))
    return function.map(count)


def _assembled(function, count):
    """Return a function at so many instants as machine code, None where that does not pay or cannot
    be had."""
    known = MADE.setdefault(function, {})
    if count not in known:
        known[count] = None
        if _length(function, count) >= ASSEMBLED:
            known[count] = _or_none(function, count)
    return known[count]


def _or_none(function, count):
    try:
        return assemble_map(function, count)
    except NoMachineCode:
        return None


def _length(function, count):
    """Return how many instructions a function is at so many instants; loops are many."""
    if function.is_a("MXFunction"):
        return max(THREADED, ASSEMBLED)
    return count * function.n_instructions() if function.is_a("SXFunction") else 0
