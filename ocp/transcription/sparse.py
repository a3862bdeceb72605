"""Kernels at many instants, assembled over the variables of the NLP by one constant sparse matrix
per derivative.

All instants of a block together are Y = M x, constant M holding the spline bases, so the
derivatives over x are constant sparse matrices times the nonzeros of the kernels' derivatives. The
solver is given these; letting it differentiate the mapped graph costs many times more.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.transcription.distinct import distinct
from ocp.transcription.kernels import Kernel

TABLE = 50_000_000  # entries of a matrix up to which a table of them all sorts its nonzeros


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


def assemble(blocks, variables, rows):
    """Return (values, jacobian) over all blocks as functions of a symbol x: MX (rows,), and MX
    (rows, variables) sparse."""

    def values(x):
        total = ca.MX(rows, 1)
        for block in blocks:
            scatter = _matrix(
                rows,
                block.target.size,
                block.target.T.ravel(),
                np.arange(block.target.size),
                block.weight.T.ravel(),
            )
            total += scatter @ ca.vec(_evaluate(block, block.kernel.values, x))
        return ca.densify(total)

    def jacobian(x):
        parts, entries, offset = [], [], 0
        for block in blocks:
            entries.append(_jacobian_entries(block, offset))
            parts.append(ca.vec(_evaluate(block, block.kernel.jacobian, x)))
            offset += len(block.kernel.rows) * len(block.s)
        return _gather(entries, parts, offset, (rows, variables))

    return values, jacobian


def assemble_hessian(blocks, variables, rows, kind):
    """Return hessian(x, multipliers of the assembled rows) over all blocks: MX (variables,
    variables), upper triangle."""

    def hessian(x, multipliers):
        parts, entries, offset = [], [], 0
        for block in blocks:
            function, above, right = block.kernel.hessian(kind)
            if len(above) == 0:
                continue
            spread = _matrix(
                block.target.size,
                rows,
                np.arange(block.target.size),
                block.target.T.ravel(),
                block.weight.T.ravel(),
            )
            local = ca.reshape(spread @ multipliers, block.kernel.size, len(block.s))
            values = _evaluate(block, function, x, local)
            for chosen, weight, (row, column, factor) in _pulled_back(block, above, right):
                source = offset + np.arange(row.size).reshape(row.shape, order="F")
                kept = factor.nonzero()
                entries.append((row[kept], column[kept], source[kept], factor[kept]))
                parts.append(ca.vec(values[chosen.tolist(), :] @ weight))
                offset += row.size
        return _gather(entries, parts, offset, (variables, variables))

    return hessian


def _evaluate(block, kernel_function, x, *more):
    count = len(block.s)
    inputs = ca.reshape(block.matrix @ x, block.kernel.width, count)
    return kernel_function.map(count)(inputs, ca.DM(block.s).T, *more)


def _jacobian_entries(block, offset):
    """Return (row, column, source, weight) of every product of a kernel nonzero with an entry of
    M."""
    rows, columns = block.kernel.rows, block.kernel.columns
    source, instants = (
        np.arange(len(rows) * len(block.s)),
        np.repeat(np.arange(len(block.s)), len(rows)),
    )
    kernel_row = np.tile(rows, len(block.s))
    picked, variable, value = expand(
        block.matrix, instants * block.kernel.width + np.tile(columns, len(block.s))
    )
    target, weight = block.target[kernel_row, instants], block.weight[kernel_row, instants]
    keep = target[picked] >= 0
    picked, variable, value = picked[keep], variable[keep], value[keep]
    return target[picked], variable, source[picked] + offset, weight[picked] * value


def _pulled_back(block, above, right):
    """Yield M' H M, upper triangle, in parts: which kernel nonzeros, at (above, right) of each
    upper triangle, a constant (N, pairs) that their values (.., N) are multiplied by, and for each
    product the row, the column and a factor, 0 where it belongs to the lower triangle.

    The sum over the instants comes first: inputs of one family depend alike on variables of their
    own, so their pairs share the weights.
    """
    family, coefficients, variables = _families(block)
    kinds = family[above] * len(coefficients) + family[right]
    for kind in distinct(kinds)[0]:
        chosen, (first, second) = np.nonzero(kinds == kind)[0], divmod(kind, len(coefficients))
        one, other, weight = _products(coefficients[first], coefficients[second])
        if not len(one):
            continue
        row, column = (
            np.array([variables[k] for k in side[chosen]])[:, which]
            for side, which in ((above, one), (right, other))
        )
        factor = np.where(
            (above == right)[chosen][:, None], row <= column, 1 + (row == column)
        ).astype(float)
        yield chosen, weight, (np.minimum(row, column), np.maximum(row, column), factor)


def _products(first, second):
    """Return the pairs of columns, one of each matrix, (N, a) and (N, b), that are not apart at
    every instant, and their products as a sparse DM (N, pairs)."""
    (instant, one), counts, other = (
        np.nonzero(first),
        np.count_nonzero(second, axis=1),
        np.nonzero(second)[1],
    )
    many, start = counts[instant], (np.cumsum(counts) - counts)[instant]
    each = np.repeat(np.arange(len(instant)), many)
    partner = other[np.arange(len(each)) + np.repeat(start - np.cumsum(many) + many, many)]
    at, mine = instant[each], one[each]
    pairs, index = distinct(mine * second.shape[1] + partner)
    return *np.divmod(pairs, second.shape[1]), _matrix(
        len(first), len(pairs), at, index, first[at, mine] * second[at, partner]
    )


def _families(block):
    """Return the family of each of the kernel's inputs, of each family the coefficients (N,
    variables) that make such an input at every instant, and of each input the variables they belong
    to."""
    line, variable = (np.array(index) for index in block.matrix.sparsity().get_triplet())
    instant, which = np.divmod(line, block.kernel.width)
    order, value = np.argsort(which, kind="stable"), np.array(block.matrix.nonzeros())
    known, family, variables = {}, [], []
    for mine in np.split(order, np.cumsum(np.bincount(which, minlength=block.kernel.width))[:-1]):
        fresh = np.diff(variable[mine], prepend=-1) > 0
        coefficients = np.zeros((len(block.s), fresh.sum()))
        coefficients[instant[mine], np.cumsum(fresh) - 1] = value[mine]
        family.append(
            known.setdefault(
                (coefficients.shape, coefficients.tobytes()), (len(known), coefficients)
            )[0]
        )
        variables.append(variable[mine][fresh])
    return np.array(family), [coefficients for _, coefficients in known.values()], variables


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


def _gather(entries, parts, sources, shape):
    """Return the sparse matrix whose nonzeros are one constant matrix times the stacked parts."""
    if not entries:
        return ca.MX(*shape)
    row, column, source, weight = (
        np.concatenate([entry[k] for entry in entries]) for k in range(4)
    )
    places, index = _ranked(column * shape[0] + row, shape[0] * shape[1])
    return ca.MX(
        _pattern(shape, places),
        _matrix(len(places), sources, index, source, weight) @ ca.vertcat(*parts),
    )


def _ranked(keys, limit):
    """Return the distinct keys in order, and the number of each key among them.

    Keys are below `limit`.
    """
    if limit > TABLE:
        return distinct(keys)
    there = np.zeros(limit, dtype=bool)
    there[keys] = True
    return np.nonzero(there)[0], (np.cumsum(there, dtype=np.int32) - 1)[keys]


def _pattern(shape, places):
    """Return the sparsity with entries at places, counted column by column and in order."""
    column, row = np.divmod(places, shape[0])
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=shape[1]))])
    return ca.Sparsity(*shape, start.tolist(), row.tolist())


def _matrix(rows, columns, row, column, value):
    """Return a sparse DM from triplets, duplicates summed; rows or columns of -1 are left out."""
    keep = (row >= 0) & (column >= 0)
    key, value = (column * rows + row)[keep], value[keep]
    order = np.argsort(key, kind="stable")  # quick, since keys come in nearly this order
    key = key[order]
    first = np.nonzero(np.diff(key, prepend=-1))[0]
    sums = np.add.reduceat(value[order], first) if len(first) else value
    return ca.DM(_pattern((rows, columns), key[first]), sums)
