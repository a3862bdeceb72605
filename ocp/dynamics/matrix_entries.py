"""Sparse matrices made of their entries, and blocks of rows."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix

Entries: TypeAlias = Mapping[tuple[int, int], Matrix | float]


def sparse_matrix(rows: int, entries: Entries, columns: int | None = None) -> Matrix:
    """Return the sparse matrix of {(i, j): scalar}, square unless `columns` says otherwise.

    Floats of 0 are left out; any other entry is stored, whatever it is.
    """
    places = sorted(
        (place for place, entry in entries.items() if not isinstance(entry, float) or entry),
        key=lambda place: place[::-1],
    )
    values = ca.densify(ca.vertcat(*(entries[place] for place in places)))
    i, j = ([place[axis] for place in places] for axis in (0, 1))
    return type(values)(ca.Sparsity.triplet(rows, columns or rows, i, j), values)


def filled_matrix(n: int, entries: Entries) -> Matrix:
    """Return the matrix (n, n) of {(i, j): scalar}, structurally zero elsewhere and where a scalar
    is."""
    empty = ca.DM(1, 1)
    rows = (ca.horzcat(*(entries.get((i, j), empty) for j in range(n))) for i in range(n))
    return ca.reshape(ca.vertcat(*rows), n, n)


def scattered_matrix(n: int, rows: np.ndarray, columns: np.ndarray, values: Matrix) -> Matrix:
    """Return the sparse matrix (n, n) of a column of values at these places, none of them twice."""
    order = np.lexsort((rows, columns))
    pattern = ca.Sparsity.triplet(n, n, rows[order].tolist(), columns[order].tolist())
    return type(values)(pattern, ca.densify(values)[order.tolist()])


def split_rows(matrix: Matrix, at: int | Sequence[int] = 1) -> tuple[Matrix, ...]:
    """Return blocks of so many rows, or those between the offsets `at`, first and last included."""
    return tuple(ca.vertsplit(matrix, at))
