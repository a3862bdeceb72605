"""Tall matrices with nonzeros in a few tiles of columns, and products with them, in numpy.

A basis of the null space is one, and so is its product with sparse rows. The pattern of nonzeros is
known beforehand.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ocp.interior_point.kernels.sparse_products import Sparse, dense_pieces

TILE = 8  # columns
THIN = 4  # nonzeros of a row that is multiplied entry by entry, not in pieces
ROWS, MASKS = 96, 300  # rows of a group at most; masks compared with one another
OVERHEAD = 1.5  # of a product with a pair of tiles, in rows


class Tall:
    """Matrix `array` (rows, `width`), the width made up to whole tiles; `support` masks possible
    nonzeros."""

    def __init__(self, support: np.ndarray) -> None:
        rows, width = support.shape
        self.width = -(-width // TILE) * TILE
        self.support: np.ndarray = np.zeros((rows, self.width), dtype=bool)
        self.support[:, :width] = support
        self.array: np.ndarray = np.zeros((rows, self.width))

    @cached_property
    def tiles(self) -> np.ndarray:
        """Mask of the tiles of each row with possible nonzeros (rows, tiles)."""
        tiles = self.support.reshape(len(self.support), self.width // TILE, TILE)
        return np.any(tiles, axis=2, keepdims=True)[..., 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Rows of tall matrices that are multiplied together: their `order` (rows,), where each group
    begins in it, `begin` (groups + 1,), and the `tiles` of each group."""

    order: np.ndarray
    begin: tuple[int, ...]
    tiles: tuple[np.ndarray, ...]


def product_support(
    count: int, at: np.ndarray, columns: np.ndarray, support: np.ndarray
) -> np.ndarray:
    """Return the support of a product of sparse rows with a tall matrix.

    Args:
        count: number of rows.
        at, columns: places of their entries.
        support: of the tall matrix.
    """
    width = support.shape[1]
    reached = np.zeros((count, width), dtype=bool)
    if len(at):
        order = np.argsort(at, kind="stable")
        begin = np.flatnonzero(np.diff(at[order], prepend=-1))
        words = np.zeros((len(support), -(-width // 64)), dtype=np.uint64)  # of 64 columns each
        words.view(np.uint8)[:, : -(-width // 8)] = np.packbits(support, axis=1)
        joined = np.bitwise_or.reduceat(words[columns[order]], begin)
        reached[at[order][begin]] = np.unpackbits(joined.view(np.uint8), axis=1, count=width)
    return reached


class SparseTimesTall:
    """Product of a sparse matrix's rows with a tall matrix: `result`, computed by `times`.

    Args:
        wanted: rows of the sparse matrix.
        rows, columns, entries: places and numbers of its entries; others than wanted are ignored.
        tall: the tall matrix.
    """

    def __init__(
        self,
        wanted: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        entries: np.ndarray,
        tall: Tall,
    ) -> None:
        place = np.full(max(np.max(wanted, initial=0), np.max(rows, initial=0)) + 1, -1)
        place[wanted] = np.arange(len(wanted))
        kept = place[rows] >= 0
        at, columns, entries = place[rows[kept]], columns[kept], entries[kept]
        self.tall = tall
        self.result = Tall(product_support(len(wanted), at, columns, tall.support))
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
        self.pieces = dense_pieces(at[~thin], columns[~thin], entries[~thin])

    def times(self, values: np.ndarray) -> Tall:
        """Return the product with entries `values`."""
        array = self.result.array
        products = values[self.entry] * self.tall.array.reshape(-1)[self.source]
        total = np.bincount(self.target, weights=products, minlength=array.size)
        array[:] = total.reshape(array.shape)
        for piece in self.pieces:
            array[piece.rows] += piece.times(values, self.tall.array)
        return self.result


class BlockSubstitution:
    """Substitution of blocks of variables that are solved for, into rows of a tall matrix.

    Rows `columns` (blocks, size) of `tall` become minus the blocks' inverses times rows `rows` of
    `along`.
    """

    def __init__(self, rows: np.ndarray, columns: np.ndarray, along: Tall, tall: Tall) -> None:
        self.rows, self.columns, self.along, self.tall = rows, columns, along, tall
        self._prepare()

    def _prepare(self) -> None:
        """Make tables, where there are any."""

    def apply(self, inverses: np.ndarray) -> float:
        """Substitute by the blocks' inverses (blocks, size, size); return the largest number."""
        Z, along = self.tall.array, self.along.array
        if self.rows.shape[1] == 1:
            result = -inverses.reshape(-1, 1) * along[self.rows[:, 0]]
            Z[self.columns[:, 0]] = result
        else:
            result = -(inverses @ along[self.rows])
            Z[self.columns] = result
        return float(max(np.max(result, initial=0.0), -np.min(result, initial=0.0)))


class TallProduct:
    """Product L' R of rows of two tall matrices, or L' diag(weights) L of one."""

    def __init__(
        self,
        left: Tall,
        rows: np.ndarray,
        right: Tall | None = None,
        right_rows: np.ndarray | None = None,
    ) -> None:
        self.left, self.rows = left, rows
        self.right = left if right is None else right
        self.right_rows = rows if right_rows is None else right_rows
        self.symmetric = right is None
        self._prepare()

    def _prepare(self) -> None:
        """Make tables, where there are any."""

    def add(self, core: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add the product, of one matrix with `weights` (rows,), to a core (width, width)."""
        left = self.left.array[self.rows]
        if not self.symmetric:
            core += left.T @ self.right.array[self.right_rows]
            return
        assert weights is not None
        for sign in (1.0, -1.0):  # as a square of roots: numpy makes half of a symmetric product
            chosen = sign * weights > 0
            if chosen.any():
                scaled = np.sqrt(sign * weights[chosen])[:, None] * left[chosen]
                core += sign * (scaled.T @ scaled)


def group_rows(tiles: np.ndarray) -> Groups:
    """Return Groups of rows by their masks of tiles (rows, tiles).

    Rows of the same tiles form a group; two groups become one while that makes products cheaper.
    """
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
        for joined, mask in _merge_groups(members, tiles[[each[0] for each in members]]):
            for start in range(0, len(joined), ROWS):
                order += joined[start : start + ROWS]
                begin.append(len(order))
                kept.append(np.flatnonzero(mask))
    return Groups(order=np.array(order, dtype=int), begin=tuple(begin), tiles=tuple(kept))


def _merge_groups(
    members: list[list[int]], masks: np.ndarray
) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield merged groups of rows and their masks of tiles: greedily, the largest gain first."""
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


def _cost(rows: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the cost of products of rows with `size` tiles, in pairs of tiles of a row."""
    return (rows + OVERHEAD) * size * (size + 1) / 2


class Cholesky:
    """Cholesky factor `lower` of a `core`, of which the lower triangle counts.

    Raises LinAlgError if it is not positive definite.
    """

    def __init__(self, core: np.ndarray) -> None:
        self.lower = np.ascontiguousarray(np.linalg.cholesky(core))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution of right-hand sides (size,)."""
        return self.inverse.T @ (self.inverse @ right)

    @cached_property
    def inverse(self) -> np.ndarray:
        """Inverse of the triangle, which several right-hand sides share."""
        return invert_triangle(self.lower)


TRIANGLE = 48  # rows of a triangle that is inverted at once


def invert_triangle(lower: np.ndarray) -> np.ndarray:
    """Return the inverse of a lower triangle, by halves."""
    size = len(lower)
    if size <= TRIANGLE:
        return np.tril(np.linalg.inv(lower))
    half = size // 2
    out = np.zeros_like(lower)
    out[:half, :half] = invert_triangle(lower[:half, :half])
    out[half:, half:] = invert_triangle(lower[half:, half:])
    out[half:, :half] = -out[half:, half:] @ (lower[half:, :half] @ out[:half, :half])
    return out


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Makers of matrix kernels, interchangeable: here those of numpy."""

    sparse_times_tall: Callable[..., SparseTimesTall] = SparseTimesTall
    block_substitution: Callable[..., BlockSubstitution] = BlockSubstitution
    tall_product: Callable[..., TallProduct] = TallProduct
    sparse: Callable[..., Sparse] = Sparse
    cholesky: Callable[..., Cholesky] = Cholesky
