"""Kernels at many instants, assembled over the variables of the NLP.

All instants of a block together are Y = M x, constant M holding the spline bases, so derivatives
over x are J M and the sum of M' H M, with J and H those of kernels. M is dense in blocks of few
inputs and few variables (`units`): their products are those of small dense matrices, and go to
their places by lists of these. The solver is given all that; letting it differentiate the mapped
graph costs many times more.
"""

import casadi as ca
import numpy as np

from ocp.records import dataclass
from ocp.transcription.instants import mapped
from ocp.transcription.kernels import Kernel
from ocp.transcription.placed import placed
from ocp.transcription.products import curvatures, slopes
from ocp.transcription.triplets import matrix_of
from ocp.transcription.units import units_of


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Block:
    """A kernel at several instants: `s` (N,), the map M (N * width, variables) as `matrix`, and for
    every value where it goes.

    `target` (m, N) is the row of the assembled vector, -1 for nowhere; values meant for the same
    row are summed with `weight` (m, N).
    """

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    target: np.ndarray
    weight: np.ndarray

    def __repr__(self) -> str:
        return f"Block({self.kernel!r} at {len(self.s)} instants)"


class Taken:
    """What kernels take of x at all instants, (width, N) of each block: blocks that take the same
    share it. `values` keeps those of blocks whose slopes were asked for, as these give both.
    Kernels are evaluated by so many `threads`."""

    def __init__(self, x: ca.MX, threads: int = 1):
        self.x, self.threads = x, threads
        self.values: dict[int, ca.MX] = {}
        self.known: list[tuple[Block, ca.MX]] = []

    def __call__(self, block: Block) -> ca.MX:
        for other, inputs in self.known:
            if _same(block, other):
                return inputs
        inputs = ca.reshape(block.matrix @ self.x, block.kernel.width, len(block.s))
        self.known.append((block, inputs))
        return inputs


def assemble(blocks, variables, rows, library=None):
    """Return (values, jacobian) over all blocks as functions of what is Taken of x: MX (rows,), and
    MX (rows, variables) sparse, which a `library` of machine code may put in place (`placed`)."""

    def values(taken):
        total = ca.MX(rows, 1)
        for block in blocks:
            scatter = matrix_of(
                rows,
                block.target.size,
                block.target.T.ravel(),
                np.arange(block.target.size),
                block.weight.T.ravel(),
            )
            total += scatter @ ca.vec(_values(block, taken))
        return ca.densify(total)

    def jacobian(taken):
        given = []
        for block in blocks:
            products = list(slopes(block, units_of(block.matrix, block.kernel.width)))
            given.append((products, [_slopes(block, taken)]))
        return placed(given, (rows, variables), library)

    return values, jacobian


def assemble_gradient(blocks, variables):
    """Return gradient(Taken of x, weights (blocks,)) of the weighted sum of blocks of one value
    each, MX (variables,): what one constant matrix makes of the few slopes of each."""

    def gradient(taken, weights):
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


def assemble_hessian(summands, variables, kind, library=None):
    """Return hessian(Taken of x, multipliers) over all blocks: MX (variables, variables), upper
    triangle.

    `summands` are ((blocks, number of rows that they are assembled to), ...), and there are as many
    columns of multipliers of these rows; `library` as of `assemble`.
    """

    def hessian(taken, *multipliers):
        given = []
        curved = [
            (block, block.kernel.hessian(kind), rows, own)
            for (blocks, rows), own in zip(summands, multipliers)
            for block in blocks
        ]
        for members in _alike([each for each in curved if len(each[1][1])]):
            first = members[0][0]
            units = units_of(first.matrix, first.kernel.width)
            values = [
                _evaluate(block, function, taken, _local(block, rows, own))[0]
                for block, (function, _, _), rows, own in members
            ]
            given.append((list(curvatures([each[1][1:] for each in members], units)), values))
        return placed(given, (variables, variables), library)

    return hessian


def _alike(curved):
    """Return lists of those whose blocks' inputs are the same, at the same instants."""
    together: list[list] = []
    for each in curved:
        for others in together:
            if _same(each[0], others[0][0]):
                others.append(each)
                break
        else:
            together.append([each])
    return together


def _same(block, other):
    """Tell whether two blocks take the same of x, at the same instants."""
    if not np.array_equal(block.s, other.s) or block.kernel.width != other.kernel.width:
        return False
    one, two = block.matrix, other.matrix
    return one.sparsity() == two.sparsity() and np.array_equal(one.nonzeros(), two.nonzeros())


def _local(block, rows, multipliers):
    """Return the multipliers (m, N) of a block's values, of those of the assembled rows."""
    spread = matrix_of(
        block.target.size,
        rows,
        np.arange(block.target.size),
        block.target.T.ravel(),
        block.weight.T.ravel(),
    )
    return ca.reshape(spread @ multipliers, block.kernel.size, len(block.s))


def _values(block, taken):
    if id(block) not in taken.values:
        taken.values[id(block)] = _evaluate(block, block.kernel.values, taken)[0]
    return taken.values[id(block)]


def _slopes(block, taken):
    slopes_there, taken.values[id(block)] = _evaluate(block, block.kernel.jacobian, taken)
    return slopes_there


def _evaluate(block, kernel_function, taken, *more):
    arguments = [taken(block), ca.DM(block.s).T, *more]
    return mapped(kernel_function, len(block.s), taken.threads).call(arguments)


def expand(matrix, lines):
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
