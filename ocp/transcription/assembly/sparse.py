"""Kernels at many instants, assembled over the variables of the NLP.

All instants of a block together are Y = M x, constant M holding the spline bases, so derivatives
over x are J M and the sum of M' H M, with J and H those of kernels. M is dense in blocks of few
inputs and few variables (`units`): their products are those of small dense matrices, and go to
their places by lists of these. The solver is given all that; letting it differentiate the mapped
graph costs many times more.
"""

from collections.abc import Callable, Sequence
from functools import cache

import casadi as ca
import numpy as np

from ocp.transcription.assembly.block_products import curvatures, slopes
from ocp.transcription.assembly.blocks import Block
from ocp.transcription.assembly.gather import (
    MULTIPLIERS,
    VALUES,
    GatheredInputs,
    same_inputs,
    spread_matrix,
)
from ocp.transcription.assembly.scatter_gather import Library, matrix_of, scatter_products
from ocp.transcription.variables.variable_units import units_of


def assemble(
    blocks: Sequence[Block], variables: int, rows: int, library: Library | None = None
) -> tuple[Callable[[GatheredInputs], ca.MX], Callable[[GatheredInputs], ca.MX]]:
    """Return (values, jacobian) over all blocks as functions of what is Taken of x: MX (rows,), and
    MX (rows, variables) sparse, which a `library` of machine code may put in place (`placed`)."""

    def values(taken: GatheredInputs) -> ca.MX:
        together = taken.of(blocks[0]) if blocks else None
        summed = together.function(VALUES) if together else None
        if summed is not None:
            return summed(*(_values(block, taken) for block in blocks))
        total = ca.MX(rows, 1)
        for block in blocks:
            total += spread_matrix(block, rows) @ ca.vec(_values(block, taken))
        return ca.densify(total)

    @cache
    def scatter_function() -> Callable[[Sequence], ca.MX]:
        given = [
            (
                list(slopes(block, units_of(block.matrix, block.kernel.width))),
                [(len(block.kernel.columns), len(block.s))],
            )
            for block in blocks
        ]
        return scatter_products(given, (rows, variables), library)

    def jacobian(taken: GatheredInputs) -> ca.MX:
        return scatter_function()([[_slopes(block, taken)] for block in blocks])

    if library is not None:
        scatter_function()  # is compiled while kernels are
    return values, jacobian


def assemble_gradient(
    blocks: Sequence[Block], variables: int
) -> Callable[[GatheredInputs, ca.MX], ca.MX]:
    """Return gradient(Taken of x, weights (blocks,)) of the weighted sum of blocks of one value
    each, MX (variables,): what one constant matrix makes of the few slopes of each."""

    def gradient(taken: GatheredInputs, weights: ca.MX) -> ca.MX:
        total = ca.MX.zeros(variables)
        for number, block in enumerate(blocks):
            count, width = len(block.s), block.kernel.width
            slopes_of_it = np.arange(count * len(block.kernel.columns))
            entry = np.arange(count)[:, None] * width + block.kernel.columns
            size = len(slopes_of_it)
            weight = np.repeat(block.weight[0], len(block.kernel.columns))
            spread = matrix_of(count * width, size, entry.ravel(), slopes_of_it, weight)
            slope = ca.vec(_slopes(block, taken))
            total += weights[number] * ((block.matrix.T @ spread) @ slope)
        return total

    return gradient


def assemble_hessian(
    summands: Sequence[tuple[Sequence[Block], int]],
    variables: int,
    kind: str,
    library: Library | None = None,
) -> Callable[..., ca.MX]:
    """Return hessian(Taken of x, multipliers) over all blocks: MX (variables, variables), upper
    triangle.

    `summands` are ((blocks, number of rows that they are assembled to), ...), and there are as many
    columns of multipliers of these rows; `library` as of `assemble`.
    """

    def hessian(taken: GatheredInputs, *multipliers: ca.MX) -> ca.MX:
        curved = [
            (block, block.kernel.hessian(kind), rows, own)
            for (blocks, rows), own in zip(summands, multipliers)
            for block in blocks
        ]
        alike = _with_same_inputs([each for each in curved if len(each[1][1])])
        given = []
        for members in alike:
            first = members[0][0]
            units = units_of(first.matrix, first.kernel.width)
            products = list(curvatures([each[1][1:] for each in members], units))
            given.append((products, [(len(each[1][1]), len(first.s)) for each in members]))
        put = scatter_products(given, (variables, variables), library)
        return put(
            [
                [
                    _evaluate(block, function, taken, _block_multipliers(block, rows, own, taken))[
                        0
                    ]
                    for block, (function, _, _), rows, own in members
                ]
                for members in alike
            ]
        )

    return hessian


def _with_same_inputs(curved: Sequence[tuple]) -> list[list]:
    """Return lists of those whose blocks' inputs are the same, at the same instants."""
    together: list[list] = []
    for each in curved:
        for others in together:
            if same_inputs(each[0], others[0][0]):
                others.append(each)
                break
        else:
            together.append([each])
    return together


def _block_multipliers(block: Block, rows: int, multipliers: ca.MX, taken: GatheredInputs) -> ca.MX:
    """Return the multipliers (m, N) of a block's values, of those of the assembled rows."""
    together = taken.of(block)
    handed = together.function(MULTIPLIERS) if together else None
    if together is not None and handed is not None:
        number = next(k for k, each in enumerate(together.blocks) if each is block)
        return handed.call([multipliers])[number]
    own = spread_matrix(block, rows).T @ multipliers
    return ca.reshape(own, block.kernel.size, len(block.s))


def _values(block: Block, taken: GatheredInputs) -> ca.MX:
    if id(block) not in taken.values:
        taken.values[id(block)] = _evaluate(block, block.kernel.values, taken)[0]
    return taken.values[id(block)]


def _slopes(block: Block, taken: GatheredInputs) -> ca.MX:
    slopes_there, taken.values[id(block)] = _evaluate(block, block.kernel.jacobian, taken)
    return slopes_there


def _evaluate(
    block: Block, kernel_function: ca.Function, taken: GatheredInputs, *more: ca.MX
) -> list[ca.MX]:
    arguments = [taken(block), ca.DM(block.s).T, *more]
    return taken.at(kernel_function, len(block.s)).call(arguments)


def line_entries(matrix: ca.DM, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every entry of the given lines of a sparse matrix, the position in `lines`, the
    column and the value."""
    transposed = matrix.T
    start, column = (
        np.array(transposed.sparsity().colind()),
        np.array(transposed.sparsity().row(), dtype=int),
    )
    counts = start[lines + 1] - start[lines]
    picked = np.repeat(np.arange(len(lines)), counts)
    within = np.arange(len(picked)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = np.repeat(start[lines], counts) + within
    return picked, column[entry], np.array(transposed.nonzeros())[entry]
