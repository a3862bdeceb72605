"""Reduced Hessian: the Hessian in the null space of the eliminated rows.

Off the diagonal each entry is assigned to one of its two rows. If that is the row of a free
variable, its product with the basis is part of the core at once; as few others as possible are
multiplied by the basis.
"""

from collections.abc import Iterator

import numpy as np

from ocp.index_sets import distinct
from ocp.interior_point.kernels.sparse_products import Sparse, accumulate
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.interior_point.nullspace import Basis

PIECE = 128  # rows and columns
THIN = 4  # nonzeros of a row of the basis that counts as sparse


class ReducedHessian:
    """Reduction of a Hessian W (n, n), given by its `upper` triangle, to a Basis."""

    def __init__(self, upper: Sparse, basis: Basis, engine: Engine) -> None:
        self.on = np.flatnonzero(upper.rows == upper.columns)
        self.beside = np.flatnonzero(upper.rows != upper.columns)
        self.places, self.variables = upper.rows[self.on], upper.shape[0]
        count = basis.tall.support.sum(axis=1)
        sparse = count <= THIN
        rows, columns = _orient(upper.rows[self.beside], upper.columns[self.beside], sparse)
        wanted = distinct(rows)[0]
        self.rows = engine.sparse_times_tall(wanted, rows, columns, self.beside, basis.tall)
        few, many = np.flatnonzero(sparse[wanted]), np.flatnonzero(~sparse[wanted])
        place, column = np.nonzero(basis.tall.support[wanted[few]])
        self.width = len(basis.free)
        self.basis, self.entries = basis, wanted[few[place]] * basis.tall.width + column
        across, every = np.arange(basis.tall.width), np.arange(len(column))
        self.few = engine.sparse_times_tall(across, column, few[place], every, self.rows.result)
        self.many = engine.tall_product(basis.tall, wanted[many], self.rows.result, many)

    def diagonal(self, hessian_entries: np.ndarray) -> np.ndarray:
        """Return the diagonal (n,) of W with entries `hessian_entries`."""
        return accumulate(self.places, hessian_entries[self.on], self.variables)

    def reduce(self, hessian_entries: np.ndarray) -> np.ndarray:
        """Return Z' (W - its diagonal) Z, of which the lower triangle counts."""
        self.rows.times(hessian_entries)
        half = self.few.times(self.basis.tall.array.reshape(-1)[self.entries]).array.copy()
        self.many.add(half)
        half = half[: self.width, : self.width]
        for square, below, above in halves(half):
            below += above
            square += square.T.copy()
        return half


def halves(matrix: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield squares along the diagonal of a square matrix, what is below each, and the transposed
    of what is beside it, of sizes that caches hold."""
    for first in range(0, len(matrix), PIECE):
        own, later = slice(first, first + PIECE), slice(first + PIECE, None)
        yield matrix[own, own], matrix[later, own], matrix[own, later].T


def _orient(
    rows: np.ndarray, columns: np.ndarray, sparse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of entries, mirrored at the diagonal where that is better.

    An entry goes to a `sparse` row if it can, else to the row that more entries share.
    """
    shared = np.bincount(rows, minlength=len(sparse)) + np.bincount(columns, minlength=len(sparse))
    rank = np.where(sparse, shared.max(initial=0) + 1 + shared, shared)
    turned = rank[columns] > rank[rows]
    return np.where(turned, columns, rows), np.where(turned, rows, columns)
