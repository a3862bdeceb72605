"""Sparse matrices of numbers from triplets."""

import casadi as ca
import numpy as np


def pattern_of(shape: tuple[int, int], places: np.ndarray) -> ca.Sparsity:
    """Return the sparsity of a `shape` with entries at places, counted column by column and in
    order."""
    column, row = np.divmod(places, shape[0])
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=shape[1]))])
    return ca.Sparsity(*shape, start.tolist(), row.tolist())


def matrix_of(
    rows: int, columns: int, row: np.ndarray, column: np.ndarray, value: np.ndarray
) -> ca.DM:
    """Return a sparse DM from triplets, duplicates summed; rows or columns of -1 are left out.

    One with more columns than rows is made by its rows: CasADi takes lists, a number per column.
    """
    if columns > rows:
        return matrix_of(columns, rows, column, row, value).T
    keep = (row >= 0) & (column >= 0)
    key, value = (column * rows + row)[keep], value[keep]
    order = np.argsort(key, kind="stable")  # quick, since keys come in nearly this order
    key = key[order]
    first = np.nonzero(np.diff(key, prepend=-1))[0]
    sums = np.add.reduceat(value[order], first) if len(first) else value
    return ca.DM(pattern_of((rows, columns), key[first]), sums)
