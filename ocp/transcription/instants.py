"""Functions of one instant at many: one after another, or at once where machine code knows how."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import casadi as ca

THREADED = 100_000  # instructions at all instants from which on threads gain more than they cost
AT_ONCE: WeakKeyDictionary[ca.Function, Callable[[int], ca.Function]] = WeakKeyDictionary()


def mapped(function: ca.Function, count: int, threads: int = 1) -> ca.Function:
    """Return a `function` of one instant at `count` of them: of all that it takes and gives, a
    column each. The virtual machine has so many `threads` for them, where that pays: each takes
    neighbouring instants.

    Machine code that is evaluated at several instants at once says so in AT_ONCE.
    """
    if function in AT_ONCE:
        return AT_ONCE[function](count)
    if min(threads, count) > 1 and _is_long(function, count):
        return function.map(count, "thread", min(threads, count))
    return function.map(count)


def _is_long(function, count):
    """Tell whether a function at so many instants is a matter of many instructions; loops are."""
    if function.is_a("MXFunction"):
        return True
    return function.is_a("SXFunction") and count * function.n_instructions() >= THREADED
