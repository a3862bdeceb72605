"""What the Hessian leaves in the null space of the eliminated rows.

Off the diagonal each entry is put in one row: of a free variable where it has one, for then the
product with the basis stands in the core at once; the fewest others are multiplied by the basis.
"""

import numpy as np

from ocp.index_sets import distinct
from ocp.interior_point.kernels.products import Sparse, added
from ocp.interior_point.kernels.tall_matrices import Engine
from ocp.interior_point.nullspace import Basis

THIN = 4  # entries of a row of the basis that counts as sparse


class Curves:
    """The Hessian W (n, n), its upper triangle as a Sparse pattern, on a Basis."""

    def __init__(self, upper: Sparse, basis: Basis, engine: Engine):
        self.on = np.flatnonzero(upper.rows == upper.columns)
        self.beside = np.flatnonzero(upper.rows != upper.columns)
        self.places, self.variables = upper.rows[self.on], upper.shape[0]
        count = basis.tall.support.sum(axis=1)
        sparse = count <= THIN
        rows, columns = _oriented(upper.rows[self.beside], upper.columns[self.beside], sparse)
        wanted = distinct(rows)[0]
        self.rows = engine.multiplied(wanted, rows, columns, self.beside, basis.tall)
        few, many = np.flatnonzero(sparse[wanted]), np.flatnonzero(~sparse[wanted])
        place, column = np.nonzero(basis.tall.support[wanted[few]])
        self.width = len(basis.free)
        self.basis, self.entries = basis, wanted[few[place]] * basis.tall.width + column
        across, every = np.arange(basis.tall.width), np.arange(len(column))
        self.few = engine.multiplied(across, column, few[place], every, self.rows.result)
        self.many = engine.crossed(basis.tall, wanted[many], self.rows.result, many)

    def diagonal(self, bends: np.ndarray) -> np.ndarray:
        """Return the diagonal (n,) of W with entries `bends`."""
        return added(self.places, bends[self.on], self.variables)

    def curved(self, bends: np.ndarray) -> np.ndarray:
        """Return Z' (W - its diagonal) Z."""
        self.rows.times(bends)
        half = self.few.times(self.basis.tall.array.reshape(-1)[self.entries]).array.copy()
        self.many.add(half)
        half = half[: self.width, : self.width]
        return half + half.T


def _oriented(
    rows: np.ndarray, columns: np.ndarray, sparse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of entries, each of which may stand on either side of the diagonal:
    in a `sparse` row where there is one, else in the one that more of them share."""
    shared = np.bincount(rows, minlength=len(sparse)) + np.bincount(columns, minlength=len(sparse))
    rank = np.where(sparse, shared.max(initial=0) + 1 + shared, shared)
    turned = rank[columns] > rank[rows]
    return np.where(turned, columns, rows), np.where(turned, rows, columns)
