"""Functions of one instant mapped over many: one by one, in threads, or several at once."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ocp.codegen.assembler import NoMachineCode, assemble_map, image_of, map_code

THREADED = 100_000  # instructions at all instants from which on threads gain more than they cost
ASSEMBLED = 20_000  # likewise for machine code, from FEW instants on
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
    if assembled:
        with suppress(NoMachineCode):
            made = assembled_map(function, count)
            if made is not None:
                return made
    if min(threads, count) > 1 and _length(function, count) >= THREADED:
        return function.map(count, "thread", min(threads, count))
    return function.map(count)


def assembled_map(function: ca.Function, count: int, *, always: bool = False) -> ca.Function | None:
    """Return a function of one instant at so many as machine code, None if that does not pay and
    is not to be made `always`, and of FEW instants.

    Raises NoMachineCode if the system does not load it.
    """
    if not _pays(function, count, always):
        return None
    known = _ASSEMBLED.setdefault(function, {})
    if count not in known:
        known[count] = assemble_map(function, count)
    return known[count]


def map_image(function: ca.Function, count: int, *, always: bool = False) -> dict[str, np.ndarray]:
    """Return the machine code of `assembled_map` as arrays that can be kept, none where that
    returns None."""
    assembled = map_code(function, count) if _pays(function, count, always) else None
    return {} if assembled is None else image_of(assembled)


def _pays(function: ca.Function, count: int, always: bool) -> bool:
    return count >= FEW and _length(function, count) >= (1 if always else ASSEMBLED)


def _length(function: ca.Function, count: int) -> int:
    """Return the number of instructions at all instants; graphs of matrices count as long."""
    if function.is_a("MXFunction"):
        return max(THREADED, ASSEMBLED)
    return count * function.n_instructions() if function.is_a("SXFunction") else 0
