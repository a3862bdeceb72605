"""Sparse matrices in numpy: products with vectors, and with tall matrices by dense pieces."""

from dataclasses import dataclass

import numpy as np

from ocp.index_sets import distinct

PIECE = 32  # rows of a dense piece


@dataclass(frozen=True, kw_only=True)
class Sparse:
    """Pattern of a matrix: `rows`, `columns` (entries,) and `shape`."""

    rows: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]

    def times(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the product (rows,) of the matrix with entries `values` and x (columns,)."""
        return accumulate(self.rows, values * x[self.columns], self.shape[0])

    def transposed_times(self, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the product (columns,) of the transpose and y (rows,)."""
        return accumulate(self.columns, values * y[self.rows], self.shape[1])


def accumulate(places: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Return the sums (size,) of values that share a place."""
    return np.bincount(places, weights=values, minlength=size).astype(float, copy=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Dense `matrix` of a few `rows` of a sparse matrix and the `columns` that they have, whose
    `entries` stand at `places` of the flattened matrix."""

    rows: np.ndarray
    columns: np.ndarray
    entries: np.ndarray
    places: np.ndarray
    matrix: np.ndarray

    def times(self, values: np.ndarray, tall: np.ndarray) -> np.ndarray:
        """Return the product (rows, width) with a tall matrix (columns of all, width)."""
        self.matrix.reshape(-1)[self.places] = values[self.entries]
        return self.matrix @ tall[self.columns]


def dense_pieces(rows: np.ndarray, columns: np.ndarray, entries: np.ndarray) -> list[Piece]:
    """Return Pieces of a sparse matrix whose `entries` stand at `rows`, `columns`.

    Rows are sorted by the middle of their columns, so that those of a piece share many.
    """
    found: list[Piece] = []
    if not len(rows):
        return found
    own, row = distinct(rows)
    middles = np.bincount(row, weights=columns) / np.bincount(row)
    rank = np.empty(len(own), dtype=int)
    rank[np.argsort(middles, kind="stable")] = np.arange(len(own))
    for first in range(0, len(own), PIECE):
        inside = np.flatnonzero((rank[row] >= first) & (rank[row] < first + PIECE))
        span, column = distinct(columns[inside])
        members = own[np.argsort(rank)[first : first + PIECE]]
        matrix = np.zeros((len(members), len(span)))
        places = (rank[row[inside]] - first) * len(span) + column
        found.append(
            Piece(
                rows=members,
                columns=span,
                entries=entries[inside],
                places=places,
                matrix=matrix,
            )
        )
    return found
