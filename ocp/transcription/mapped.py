"""Functions of one instant at many: one after another, or at once where machine code knows how."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import casadi as ca

AT_ONCE: WeakKeyDictionary[ca.Function, Callable[[int], ca.Function]] = WeakKeyDictionary()


def mapped(function: ca.Function, count: int) -> ca.Function:
    """Return a `function` of one instant at `count` of them: of all that it takes and gives, a
    column each.

    Machine code that is evaluated at several instants at once says so in AT_ONCE.
    """
    return AT_ONCE.get(function, function.map)(count)
