"""Functions of one instant mapped over many: one by one, in threads, or several at once."""

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca

from ocp.codegen.assembler import NoMachineCode, assemble_map

THREADED = 100_000  # instructions at all instants from which on threads gain more than they cost
ASSEMBLED = 100_000  # likewise for machine code, from FEW instants on
FEW = 8
# Compiled functions that evaluate several instants at once: each gives itself at so many of them
BATCHED: WeakKeyDictionary[ca.Function, Callable[[int], ca.Function]] = WeakKeyDictionary()
_ASSEMBLED: WeakKeyDictionary[ca.Function, dict[int, ca.Function | None]] = WeakKeyDictionary()


class Graph(NamedTuple):
    """A `function`, and the `pattern` of the matrix whose entries it gives, if it is of one."""

    function: ca.Function
    pattern: ca.Sparsity = ca.Sparsity(0, 0)


def map_function(
    function: ca.Function, count: int, threads: int = 1, *, assembled: bool = False
) -> ca.Function:
    """Return a function of one instant as one of many: columns of each input and output.

    Args:
        function: of one instant.
        count: number of instants.
        threads: of CasADi's virtual machine, each for neighbouring instants, if that pays.
        assembled: make machine code if that pays.
    """
    if function in BATCHED:
        return BATCHED[function](count)
    length = _length(function, count)
    if assembled and count >= FEW and length >= ASSEMBLED:
        known = _ASSEMBLED.setdefault(function, {})
        if count not in known:
            try:
                known[count] = assemble_map(function, count)
            except NoMachineCode:
                known[count] = None
        made = known[count]
        if made is not None:
            return made
    if min(threads, count) > 1 and length >= THREADED:
        return function.map(count, "thread", min(threads, count))
    return function.map(count)


def _length(function: ca.Function, count: int) -> int:
    """Return the number of instructions at all instants; graphs of matrices count as long."""
    if function.is_a("MXFunction"):
        return max(THREADED, ASSEMBLED)
    return count * function.n_instructions() if function.is_a("SXFunction") else 0
