"""Tall matrices with numbers in a few tiles of columns, and what is multiplied with them, in numpy.

A basis of the null space is one, and so is what sparse rows make of it. Which entries may be other
than zero is known beforehand.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ocp.interior_point.kernels.products import Sparse, pieces

TILE = 8  # columns
THIN = 4  # entries of a row that is multiplied by itself at most, not in dense pieces
ROWS, MASKS = 96, 300  # of a group at most; sets of tiles that are compared with one another
BESIDE = 1.5  # rows that the beginning and the end of a product with a pair of tiles are worth


class Tall:
    """A matrix (rows, `width`), the width made up to whole tiles: `array`, and `support`, of the
    same shape, where it may be other than zero."""

    def __init__(self, support: np.ndarray):
        rows, width = support.shape
        self.width = -(-width // TILE) * TILE
        self.support: np.ndarray = np.zeros((rows, self.width), dtype=bool)
        self.support[:, :width] = support
        self.array: np.ndarray = np.zeros((rows, self.width))

    @cached_property
    def tiles(self) -> np.ndarray:
        """Which tiles of each row may hold numbers (rows, tiles)."""
        tiles = self.support.reshape(len(self.support), self.width // TILE, TILE)
        return np.any(tiles, axis=2, keepdims=True)[..., 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Rows of tall matrices that are multiplied together: `order` (rows,) of what they are among
    those wanted, where each group `begin`s (groups + 1,), and the `tiles` of each."""

    order: np.ndarray
    begin: tuple[int, ...]
    tiles: tuple[np.ndarray, ...]


def support_of(count: int, at: np.ndarray, columns: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return where so many rows, with entries in rows `at` and `columns`, times a matrix with that
    `support` may be other than zero."""
    reached = np.zeros((count, support.shape[1]), dtype=bool)
    if len(at):
        order = np.argsort(at, kind="stable")
        begin = np.flatnonzero(np.diff(at[order], prepend=-1))
        present = at[order][begin]
        packed = np.packbits(support, axis=1)[columns[order]]
        joined = np.unpackbits(np.bitwise_or.reduceat(packed, begin), axis=1)
        reached[present] = joined[:, : support.shape[1]]
    return reached


class Multiplied:
    """Rows `wanted` of a sparse matrix, whose `entries` stand at `rows`, `columns`, times a tall
    one: `result`, which `times` makes."""

    def __init__(
        self,
        wanted: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        entries: np.ndarray,
        tall: Tall,
    ):
        place = np.full(max(np.max(wanted, initial=0), np.max(rows, initial=0)) + 1, -1)
        place[wanted] = np.arange(len(wanted))
        kept = place[rows] >= 0
        at, columns, entries = place[rows[kept]], columns[kept], entries[kept]
        self.tall = tall
        self.result = Tall(support_of(len(wanted), at, columns, tall.support))
        self._prepare(at, columns, entries)

    def _prepare(self, at: np.ndarray, columns: np.ndarray, entries: np.ndarray) -> None:
        support, width = self.tall.support, self.tall.width
        counts = support.sum(axis=1)
        thin = counts[columns] <= THIN
        row, column = np.nonzero(support)
        begin = np.searchsorted(row, np.arange(len(support)))
        few = np.flatnonzero(thin)
        repeated = np.repeat(few, counts[columns[few]])
        within = np.arange(len(repeated)) - np.repeat(
            np.cumsum(counts[columns[few]]) - counts[columns[few]], counts[columns[few]]
        )
        reached = column[begin[columns[repeated]] + within]
        self.entry = entries[repeated]
        self.source = columns[repeated] * width + reached
        self.target = at[repeated] * width + reached
        wanted = np.arange(len(self.result.array))
        self.thick = pieces(wanted, at[~thin], columns[~thin], entries[~thin], width)

    def times(self, values: np.ndarray) -> Tall:
        """Return the product with entries `values`."""
        array = self.result.array
        given = values[self.entry] * self.tall.array.reshape(-1)[self.source]
        total = np.bincount(self.target, weights=given, minlength=array.size)
        array[:] = total.reshape(array.shape)
        if self.thick.pieces:
            array[self.thick.order] += self.thick.times(values, self.tall.array)
        return self.result


class Taken:
    """What variables of blocks (blocks, size) that are solved for take along: in `columns` of a
    tall matrix what stands in `rows` of another."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, along: Tall, tall: Tall):
        self.rows, self.columns, self.along, self.tall = rows, columns, along, tall
        self._prepare()

    def _prepare(self) -> None:
        """Make tables, where there are any."""

    def put(self, inverses: np.ndarray) -> float:
        """Put them there, by the blocks' inverses (blocks, size, size); return the largest."""
        Z, along = self.tall.array, self.along.array
        if self.rows.shape[1] == 1:
            taken = -inverses.reshape(-1, 1) * along[self.rows[:, 0]]
            Z[self.columns[:, 0]] = taken
        else:
            taken = -(inverses @ along[self.rows])
            Z[self.columns] = taken
        return float(max(np.max(taken, initial=0.0), -np.min(taken, initial=0.0)))


class Crossed:
    """Rows of a tall matrix, transposed, times as many rows of another, or times themselves with
    weights."""

    def __init__(
        self,
        left: Tall,
        rows: np.ndarray,
        right: Tall | None = None,
        right_rows: np.ndarray | None = None,
    ):
        self.left, self.rows = left, rows
        self.right = left if right is None else right
        self.right_rows = rows if right_rows is None else right_rows
        self.symmetric = right is None
        self._prepare()

    def _prepare(self) -> None:
        """Make tables, where there are any."""

    def add(self, core: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add the product with `weights` (rows,) to a core (width, width), which stays symmetric
        where a matrix is multiplied with itself."""
        left = self.left.array[self.rows]
        if not self.symmetric:
            core += left.T @ self.right.array[self.right_rows]
            return
        assert weights is not None
        for sign in (1.0, -1.0):
            chosen = sign * weights > 0
            if chosen.any():
                scaled = np.sqrt(sign * weights[chosen])[:, None] * left[chosen]
                core += sign * (scaled.T @ scaled)


def groups_of(tiles: np.ndarray) -> Groups:
    """Return Groups of rows with numbers in so many tiles (rows, tiles): those of the same tiles,
    and two such groups as one as long as a product with the tiles of both takes less."""
    rows = np.flatnonzero(tiles.any(axis=1))
    packed = np.packbits(tiles[rows], axis=1)
    alike: dict[bytes, list[int]] = {}
    for row, mask in zip(rows.tolist(), packed):
        alike.setdefault(mask.tobytes(), []).append(row)
    order: list[int] = []
    begin, kept = [0], []
    masks = sorted(alike)
    for first in range(0, len(masks), MASKS):
        members = [alike[mask] for mask in masks[first : first + MASKS]]
        for joined, mask in _joined(members, tiles[[each[0] for each in members]]):
            for start in range(0, len(joined), ROWS):
                order += joined[start : start + ROWS]
                begin.append(len(order))
                kept.append(np.flatnonzero(mask))
    return Groups(order=np.array(order, dtype=int), begin=tuple(begin), tiles=tuple(kept))


def _joined(members: list[list[int]], masks: np.ndarray) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield rows that are multiplied together, and their tiles, of groups of rows with masks: the
    two that gain most by it become one, until none do."""
    members, masks = list(members), masks.astype(float)
    rows, size = np.array([len(each) for each in members], dtype=float), masks.sum(axis=1)
    alone, alive = _cost(rows, size), np.ones(len(members), dtype=bool)
    both = size[:, None] + size - masks @ masks.T
    gain = alone[:, None] + alone - _cost(rows[:, None] + rows, both)
    np.fill_diagonal(gain, -np.inf)
    while len(members) > 1:
        one, other = divmod(int(np.argmax(gain)), len(members))
        if gain[one, other] <= 0.0:
            break
        masks[one] = np.maximum(masks[one], masks[other])
        rows[one], size[one] = rows[one] + rows[other], masks[one].sum()
        members[one], alive[other] = members[one] + members[other], False
        alone[one] = _cost(rows[one], size[one])
        own = alone[one] + alone - _cost(rows[one] + rows, size[one] + size - masks @ masks[one])
        own[~alive], own[one] = -np.inf, -np.inf
        gain[one], gain[:, one], gain[other], gain[:, other] = own, own, -np.inf, -np.inf
    for number in np.flatnonzero(alive):
        yield members[number], masks[number] > 0.0


def _cost(rows, size):
    """Return what products of so many rows with so many tiles take, in pairs of tiles of a row."""
    return (rows + BESIDE) * size * (size + 1) / 2


class Factor:
    """A `core`, of which what is below the diagonal and on it counts, by its Cholesky factor, a
    `lower` triangle.

    Raises LinAlgError where it is not positive definite.
    """

    def __init__(self, core: np.ndarray):
        self.lower = np.ascontiguousarray(np.linalg.cholesky(core))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution of right-hand sides (size,)."""
        inverse = self._inverse
        return inverse.T @ (inverse @ right)

    @cached_property
    def _inverse(self) -> np.ndarray:
        return inverse_of_triangle(self.lower)


TRIANGLE = 48  # rows of a triangle that is inverted at once


def inverse_of_triangle(lower: np.ndarray) -> np.ndarray:
    """Return the inverse of a lower triangle, by halves."""
    size = len(lower)
    if size <= TRIANGLE:
        return np.tril(np.linalg.inv(lower))
    half = size // 2
    out = np.zeros_like(lower)
    out[:half, :half] = inverse_of_triangle(lower[:half, :half])
    out[half:, half:] = inverse_of_triangle(lower[half:, half:])
    out[half:, :half] = -out[half:, half:] @ (lower[half:, :half] @ out[:half, :half])
    return out


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What makes products, by the classes of this module or others like them: here numpy."""

    multiplied: Callable[..., Multiplied] = Multiplied
    taken: Callable[..., Taken] = Taken
    crossed: Callable[..., Crossed] = Crossed
    sparse: Callable[..., Sparse] = Sparse
    factor: Callable[..., Factor] = Factor
