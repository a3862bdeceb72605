"""Blocks of rows on a motion and on unknowns beside it, or on several motions."""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.transcription.assembly.chain_rule_products import Block
from ocp.transcription.kernels.instant_symbols import Inputs
from ocp.transcription.kernels.kernels import make_kernel
from ocp.transcription.variables.layout import Layout, motion_map


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Inputs of a kernel: a column `symbol`, and as triplets its values at N instants, one after
    the other, over the variables."""

    symbol: Matrix
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray


def motion_part(symbol: Matrix, layout: Layout, s: np.ndarray, columns: np.ndarray) -> Part:
    """Return the inputs of a motion at instants s, whose variables stand at `columns`."""
    moved = motion_map(layout, s)
    value = moved.value / moved.divisor[moved.row % len(moved.divisor)]
    return Part(symbol=symbol, row=moved.row, column=columns[moved.column], value=value)


def variable_part(symbol: Matrix, places: np.ndarray) -> Part:
    """Return inputs that are the variables at `places` (N, ..) themselves."""
    return Part(
        symbol=symbol,
        row=np.arange(places.size),
        column=places.ravel(),
        value=np.ones(places.size),
    )


def zero_part(symbol: Matrix) -> Part:
    """Return inputs that are zero."""
    none = np.empty(0, dtype=int)
    return Part(symbol=symbol, row=none, column=none, value=np.empty(0))


def stacked_block(
    inputs: Inputs, stack: Matrix, parts: Sequence[Part], s: np.ndarray, size: int, first: int
) -> Block:
    """Return the Block of expressions at instants s, whose rows begin at row `first`.

    Args:
        inputs: symbol of s, and the Instant that the first part is of.
        stack: the expressions, a column in the symbols of the parts.
        parts: the inputs.
        s: instants (N,).
        size: number of variables.
        first: row of the first expression at the first instant; all of an instant follow each
            other.
    """
    y = ca.vertcat(*(each.symbol for each in parts))
    width, begin = y.shape[0], 0
    rows = []
    for each in parts:
        narrow = max(each.symbol.shape[0], 1)
        rows.append(each.row // narrow * width + begin + each.row % narrow)
        begin += each.symbol.shape[0]
    row = np.concatenate(rows).tolist()
    column = np.concatenate([each.column for each in parts]).tolist()
    value = ca.DM(np.concatenate([each.value for each in parts]))
    count = stack.shape[0]
    return Block(
        kernel=make_kernel(Inputs(y=y, s=inputs.s, at=inputs.at), ca.SX(ca.densify(stack))),
        s=s,
        matrix=ca.DM.triplet(row, column, value, width * len(s), size),
        target=first + np.arange(count * len(s)).reshape(len(s), count).T,
        weight=np.ones((count, len(s))),
    )


def summed_block(block: Block, number: int) -> Block:
    """Return a Block of one expression whose values are all summed in row `number`."""
    return Block(
        kernel=block.kernel,
        s=block.s,
        matrix=block.matrix,
        target=np.full((1, len(block.s)), number),
        weight=np.ones((1, len(block.s))),
    )
