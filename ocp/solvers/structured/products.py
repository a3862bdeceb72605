"""Products of sparse matrices in numpy: with vectors by entries, with tall ones by dense pieces."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SPEED = 2e10  # multiplications and additions per second of a dense product
CALL = 1.2e-5  # seconds that a piece costs beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparse:
    """Where a matrix has entries: `rows`, `columns` (entries,), its `shape`."""

    rows: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]

    def times(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the product (rows,) of the matrix with entries `values` and x (columns,)."""
        return added(self.rows, values * x[self.columns], self.shape[0])

    def transposed(self, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the product (columns,) of the transpose and y (rows,)."""
        return added(self.columns, values * y[self.rows], self.shape[1])


def added(places: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Return the sums (size,) of values that share a place."""
    return np.bincount(places, weights=values, minlength=size).astype(float, copy=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A dense piece of a few rows: the `rows` that it adds to, the `columns` that it spans, where
    `entries` of the matrix stand in its flattened `dense` array."""

    rows: slice
    columns: slice
    entries: np.ndarray
    places: np.ndarray
    dense: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Some rows of a sparse matrix as dense Pieces: rows `order` of the matrix, in that order.

    A product takes about so many `seconds`.
    """

    order: np.ndarray
    pieces: tuple[Piece, ...]
    seconds: float

    def times(self, values: np.ndarray, tall: np.ndarray) -> np.ndarray:
        """Return the product (rows, width) with a tall matrix (columns, width)."""
        out = np.zeros((len(self.order), tall.shape[1]))
        for piece in self.pieces:
            piece.dense.reshape(-1)[piece.places] = values[piece.entries]
            out[piece.rows] += piece.dense @ tall[piece.columns]
        return out


def pieces(
    wanted: np.ndarray, rows: np.ndarray, columns: np.ndarray, entries: np.ndarray, width: int
) -> Pieces:
    """Return the `wanted` rows of a matrix, whose `entries` stand at `rows`, `columns`, as Pieces
    for tall matrices of so many columns.

    Rows follow each other as wanted or by the middle of their columns, whichever takes less.
    """
    by_row = {row: np.zeros(0, dtype=int) for row in wanted.tolist()}
    order = np.argsort(rows, kind="stable")
    order = order[np.isin(rows[order], wanted)]
    if len(order):
        ends = np.flatnonzero(np.diff(rows[order])) + 1
        by_row |= {int(rows[part[0]]): part for part in np.split(order, ends)}
    middles = [np.median(columns[by_row[row]]) if len(by_row[row]) else 0.0 for row in wanted]
    sorted_rows = wanted[np.argsort(middles, kind="stable")]
    spans = {row: columns[part] for row, part in by_row.items()}
    ways = [(each, _clusters(each.tolist(), spans, width)) for each in (wanted, sorted_rows)]
    chosen, clusters = min(ways, key=lambda way: sum(cost for _, cost in way[1]))
    found, begin = [], 0
    for cluster, _ in clusters:
        of_rows = slice(begin, begin + len(cluster))
        begin += len(cluster)
        found += _dense(cluster, of_rows, by_row, columns, entries, width)
    seconds = sum(cost for _, cost in clusters)
    return Pieces(order=chosen, pieces=tuple(found), seconds=seconds)


def _clusters(
    wanted: Sequence[int], spans: dict[int, np.ndarray], width: int
) -> list[tuple[list[int], float]]:
    """Return rows that go together, and the seconds that each such cluster takes."""
    clusters: list[tuple[list[int], float]] = []
    union = np.zeros(0, dtype=int)
    for row in wanted:
        own = np.unique(spans[row])
        alone = _seconds(1, own, width)
        if clusters:
            cluster, cost = clusters[-1]
            both = np.union1d(union, own)
            joined = _seconds(len(cluster) + 1, both, width)
            if joined <= cost + alone:
                clusters[-1] = [*cluster, row], joined
                union = both
                continue
        clusters.append(([row], alone))
        union = own
    return clusters


def _seconds(rows: int, columns: np.ndarray, width: int) -> float:
    spans = _spans(rows, columns, width)
    return sum(CALL + 2 * rows * (end - begin) * width / SPEED for begin, end in spans)


def _spans(rows: int, columns: np.ndarray, width: int) -> list[tuple[int, int]]:
    """Return (begin, end) of runs of sorted columns, over gaps that cost less than a call."""
    if not len(columns):
        return []
    gap = CALL * SPEED / (2 * rows * width)
    breaks = np.flatnonzero(np.diff(columns) > gap + 1)
    begins = columns[np.append(0, breaks + 1)]
    ends = columns[np.append(breaks, len(columns) - 1)] + 1
    return list(zip(begins.tolist(), ends.tolist()))


def _dense(
    cluster: Sequence[int],
    of_rows: slice,
    by_row: dict[int, np.ndarray],
    columns: np.ndarray,
    entries: np.ndarray,
    width: int,
) -> list[Piece]:
    """Return the Pieces of a cluster of rows."""
    parts = [by_row[row] for row in cluster]
    local = np.repeat(np.arange(len(cluster)), [len(part) for part in parts])
    index = np.concatenate(parts)
    found = []
    for begin, end in _spans(len(cluster), np.unique(columns[index]), width):
        inside = (columns[index] >= begin) & (columns[index] < end)
        places = local[inside] * (end - begin) + columns[index][inside] - begin
        found.append(
            Piece(
                rows=of_rows,
                columns=slice(begin, end),
                entries=entries[index[inside]],
                places=places,
                dense=np.zeros((len(cluster), end - begin)),
            )
        )
    return found
