"""Selection of the equalities that are eliminated: small blocks with variables of their own.

They are found from the pattern alone: variables in few rows are light; light ones and their rows
fall apart into blocks; a block's rows are solved for as many variables, those with the largest
pivots. What is left is light in its turn. Rows that no block owns stay in the core.
"""

from dataclasses import dataclass

import numpy as np

from ocp.index_sets import distinct

LIGHT = (1, 2, 4, 8, 16, 32)  # rows that a light variable is in at most, tried one after another
BLOCK = 40  # rows of a block at most
PIVOT = 1e-5  # least pivot of a row in its block, of rows scaled to 1; else it stays in the core


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Square blocks of one size: `rows` that are solved for variables `columns`, (blocks, size)."""

    rows: np.ndarray
    columns: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Elimination:
    """Levels of Blocks in the order of solving: none needs a variable of a later level.

    `rest` are the rows of the core, `free` its variables.
    """

    levels: tuple[tuple[Blocks, ...], ...]
    rest: np.ndarray
    free: np.ndarray


def eliminate(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> Elimination:
    """Return the Elimination of sparse equalities.

    The pattern decides what is possible, values only choose pivots: a zero may be another number at
    the next point.

    Args:
        rows, columns, values: entries.
        shape: rows and variables (m, n).
    """
    m, n = shape
    left, refused = np.ones(m, dtype=bool), np.zeros(m, dtype=bool)
    levels = []
    for light in LIGHT:
        while True:
            within = (left & ~refused)[rows]
            own = np.bincount(columns[within], minlength=n) <= light
            within &= own[columns]
            blocks, without = _level(rows[within], columns[within], values[within])
            if light > LIGHT[0]:
                refused[without] = True
            if not blocks:
                break
            levels.append(blocks)
            for each in blocks:
                left[each.rows] = False
    free = np.ones(n, dtype=bool)
    for blocks in levels:
        for each in blocks:
            free[each.columns] = False
    return Elimination(
        levels=tuple(levels[::-1]), rest=np.flatnonzero(left), free=np.flatnonzero(free)
    )


def _level(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[tuple[Blocks, ...], list[int]]:
    """Return the Blocks of light variables by their size, and the rows without a pivot in their
    block."""
    if not len(rows):
        return (), []
    label = _labels(rows, columns)
    members = np.bincount(label[distinct(rows)[0]], minlength=len(label))
    alone = members[label[rows]] == 1
    single, without = _single(rows[alone], columns[alone], values[alone])
    found = {1: [single]} if len(single[0]) else {}
    order = np.flatnonzero(~alone)
    order = order[np.argsort(label[rows[order]], kind="stable")]
    ends = np.flatnonzero(np.diff(label[rows[order]])) + 1
    for part in np.split(order, ends) if len(order) else ():
        own = distinct(rows[part])[0]
        if len(own) > BLOCK:
            continue
        solved, by = _pivots(rows[part], columns[part], values[part])
        if len(solved):
            found.setdefault(len(solved), []).append((solved[None], by[None]))
        without += sorted({*own.tolist()} - {*solved.tolist()})
    alike = (zip(*found[size]) for size in sorted(found))
    return tuple(
        Blocks(rows=np.concatenate(of_rows), columns=np.concatenate(of_columns))
        for of_rows, of_columns in alike
    ), without


def _single(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], list[int]]:
    """Return rows and variables (blocks, 1) of blocks of one row, the variable with its largest
    entry, and the rows without one."""
    order = np.lexsort((np.abs(values), rows))
    last = order[np.flatnonzero(np.diff(rows[order], append=-1))]
    zero = values[last] == 0
    kept = last[~zero]
    return (rows[kept, None], columns[kept, None]), rows[last[zero]].tolist()


def _labels(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return for every row the least row of its connected component."""
    label = np.arange(rows.max() + 1)
    while True:  # the least label of neighbours, until nothing changes
        of_column = np.full(columns.max() + 1, len(label))
        np.minimum.at(of_column, columns, label[rows])
        new = label.copy()
        np.minimum.at(new, rows, of_column[columns])
        new = np.minimum(new, new[new])
        if np.array_equal(new, label):
            return label
        label = new


def _pivots(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and variables (size,) of the block that complete pivoting finds in a component,
    none if there are no pivots."""
    (own, row), (light, column) = distinct(rows), distinct(columns)
    part = np.zeros((len(own), len(light)))
    part[row, column] = values
    part /= np.maximum(np.abs(part).max(axis=1, keepdims=True), np.finfo(float).tiny)
    paired: list[tuple[int, int]] = []
    for _ in range(min(part.shape)):
        i, j = divmod(int(np.argmax(np.abs(part))), part.shape[1])
        if abs(part[i, j]) < PIVOT:
            break
        paired.append((i, j))
        part -= np.outer(part[:, j] / part[i, j], part[i])
        part[i], part[:, j] = 0.0, 0.0
    pairs = np.array(paired, dtype=int).reshape(-1, 2)
    return own[pairs[:, 0]], light[pairs[:, 1]]
