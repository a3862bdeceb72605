"""Scalar graphs whose constants are shared where only rounding tells them apart.

The last bits of a tree's numbers are those of a processor's linear algebra and sines. Whether two
constants that are equal in mathematics are one node of a graph, and whether one that cancels is a
zero, hangs on them, and so does what `casadi.cse` finds to be a repetition.
"""

from collections.abc import Sequence

import casadi as ca
import numpy as np

ROUNDING = 1e-14  # of the largest constant: a difference that may be rounding alone


def share_constants(function: ca.Function, inputs: Sequence[ca.SX]) -> ca.SX:
    """Return the output of a scalar graph at `inputs`, its constants shared as `round_constants`
    has them: for counting, not for computing."""
    count = function.n_instructions()
    codes = [function.instruction_id(k) for k in range(count)]
    places = [k for k, code in enumerate(codes) if code == ca.OP_CONST]
    constants = round_constants(np.array([function.instruction_constant(k) for k in places]))
    shared = dict(zip(places, constants.tolist()))
    entries = [symbols.nonzeros() for symbols in inputs]
    work: dict[int, ca.SX] = {}
    column = [ca.SX()] * function.nnz_out(0)
    for k, code in enumerate(codes):
        operands, results = function.instruction_input(k), function.instruction_output(k)
        if code == ca.OP_OUTPUT:
            column[results[1]] = work[operands[0]]
        elif code == ca.OP_INPUT:
            work[results[0]] = ca.SX(entries[operands[0]][operands[1]])
        elif code == ca.OP_CONST:
            work[results[0]] = ca.SX(shared[k])
        elif len(operands) == 1:
            work[results[0]] = ca.SX.unary(code, work[operands[0]])
        else:
            work[results[0]] = ca.SX.binary(code, *(work[place] for place in operands))
    return ca.vertcat(*column)


def round_constants(values: np.ndarray) -> np.ndarray:
    """Return numbers with one in place of those that differ by rounding of the largest: a whole one
    if it is among them, otherwise the least."""
    noise = ROUNDING * np.abs(values).max(initial=0.0)
    whole = np.round(values)
    values = np.where(np.abs(values - whole) <= noise, whole, values)
    ordered, index = np.unique(values, return_inverse=True)
    first = np.diff(ordered, prepend=-np.inf) > noise
    return ordered[first][np.cumsum(first) - 1][index]
