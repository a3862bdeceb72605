"""Products of sparse matrices in numpy: with vectors by entries, with tall ones by dense pieces."""

from dataclasses import dataclass

import numpy as np

SPEED = 2e10  # multiplications and additions per second of a dense product
CALL = 1.2e-5  # seconds that a piece costs beside


@dataclass(frozen=True, kw_only=True)
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
    place = np.full(max(np.max(wanted, initial=0), np.max(rows, initial=0)) + 1, -1)
    place[wanted] = np.arange(len(wanted))
    rows, columns, entries = (each[place[rows] >= 0] for each in (rows, columns, entries))
    span = np.max(columns, initial=0) + 1
    masks = np.zeros((len(wanted), span + 2), dtype=bool)
    masks[place[rows], columns + 1] = True
    middles = np.bincount(place[rows], weights=columns, minlength=len(wanted))
    middles = middles / np.maximum(1, masks.sum(axis=1))
    orders = np.arange(len(wanted)), np.argsort(middles, kind="stable")
    ways = [(order, _clusters(masks[order], width)) for order in orders]
    order, clusters = min(ways, key=lambda way: sum(cost for _, _, cost in way[1]))
    after = np.empty(len(wanted), dtype=int)
    after[order] = np.arange(len(wanted))
    by_place = np.argsort(after[place[rows]], kind="stable")
    local = after[place[rows]][by_place], columns[by_place], entries[by_place]
    found = [piece for own, mask, _ in clusters for piece in _dense(own, mask, local, width)]
    seconds = sum(cost for _, _, cost in clusters)
    return Pieces(order=wanted[order], pieces=tuple(found), seconds=seconds)


def _clusters(masks: np.ndarray, width: int) -> list[tuple[slice, np.ndarray, float]]:
    """Return rows that go together, the columns of each such cluster, as a mask, and the seconds
    that it takes."""
    clusters: list[tuple[slice, np.ndarray, float]] = []
    for row, own in enumerate(masks):
        alone = _seconds(1, own, width)
        if clusters:
            cluster, mask, cost = clusters[-1]
            both = mask | own
            joined = _seconds(row + 1 - cluster.start, both, width)
            if joined <= cost + alone:
                clusters[-1] = slice(cluster.start, row + 1), both, joined
                continue
        clusters.append((slice(row, row + 1), own, alone))
    return clusters


def _seconds(rows: int, mask: np.ndarray, width: int) -> float:
    edges = (mask[1:] != mask[:-1]).nonzero()[0]
    if not len(edges):
        return 0.0
    gaps = edges[2::2] - edges[1:-1:2]
    wide = gaps[gaps > CALL * SPEED / (2 * rows * width)]
    spanned = int(edges[-1] - edges[0] - wide.sum())
    return float((len(wide) + 1) * CALL + 2 * rows * spanned * width / SPEED)


def _spans(rows: int, mask: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return begins and ends of runs of columns, over gaps that cost less than a call."""
    edges = np.flatnonzero(mask[1:] != mask[:-1])
    begins, ends = edges[::2], edges[1::2]
    apart = begins[1:] - ends[:-1] > CALL * SPEED / (2 * rows * width)
    return begins[np.append(True, apart)[: len(begins)]], ends[np.append(apart, True)[: len(ends)]]


def _dense(
    own: slice,
    mask: np.ndarray,
    local: tuple[np.ndarray, np.ndarray, np.ndarray],
    width: int,
) -> list[Piece]:
    """Return the Pieces of a cluster of rows, of entries that are sorted by rows."""
    rows, columns, entries = local
    begin, end = np.searchsorted(rows, (own.start, own.stop))
    rows, columns, entries = (each[begin:end] for each in (rows, columns, entries))
    count, found = own.stop - own.start, []
    for first, last in zip(*_spans(count, mask, width)):
        inside = (columns >= first) & (columns < last)
        places = (rows[inside] - own.start) * (last - first) + columns[inside] - first
        found.append(
            Piece(
                rows=own,
                columns=slice(first, last),
                entries=entries[inside],
                places=places,
                dense=np.zeros((count, last - first)),
            )
        )
    return found
