"""Null space of eliminated equalities: its basis, particular solutions, and multipliers."""

from dataclasses import dataclass

import numpy as np

from ocp.interior_point.elimination import Blocks, Elimination
from ocp.interior_point.kernels.sparse_products import Sparse
from ocp.interior_point.kernels.tall_matrices import (
    BlockSubstitution,
    Engine,
    SparseTimesTall,
    Tall,
    product_support,
)

GROWTH = 1e4  # of a variable that is solved for, relative to the free ones
PROBES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockBatch:
    """Blocks of a level of one size: `rows`, `columns` (blocks, size), and the `entries` of their
    matrices with their `places` in (blocks, size, size)."""

    rows: np.ndarray
    columns: np.ndarray
    entries: np.ndarray
    places: np.ndarray

    def matrices(self, values: np.ndarray) -> np.ndarray:
        """Return the matrices (blocks, size, size)."""
        blocks, size = self.rows.shape
        matrices = np.zeros(blocks * size * size)
        matrices[self.places] = values[self.entries]
        return matrices.reshape(blocks, size, size)

    def solve(self, values: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which blocks are regular, and solutions (blocks, size, width) for right-hand sides
        (m, width)."""
        matrices = self.matrices(values)
        regular = np.linalg.matrix_rank(matrices) == self.rows.shape[1]
        matrices[~regular] = np.eye(self.rows.shape[1])
        return regular, np.linalg.solve(matrices, right[self.rows])

    def inverses(self, values: np.ndarray) -> np.ndarray:
        """Return the inverses (blocks, size, size); raise LinAlgError for a singular one."""
        matrices = self.matrices(values)
        if matrices.shape[1] > 1:
            return np.linalg.inv(matrices)
        if not matrices.all():
            raise np.linalg.LinAlgError("a pivot is zero")
        return 1.0 / matrices


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Level of an elimination: `batches` of blocks, all `wanted` rows, entries `own` of the blocks,
    and `others` of their rows as a Sparse matrix (m, n) of `entries`."""

    batches: tuple[BlockBatch, ...]
    wanted: np.ndarray
    others: Sparse
    entries: np.ndarray
    own: np.ndarray

    def row_places(self) -> np.ndarray:
        """Return the places (m,) of rows among the wanted ones."""
        place = np.zeros(self.others.shape[0], dtype=int)
        place[self.wanted] = np.arange(len(self.wanted))
        return place

    def moderate_blocks(self, values: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
        """Return for each batch the mask (blocks,) of regular blocks whose variables stay below
        GROWTH.

        `x` (n, probes) are values of all variables. Those of these blocks are set.
        """
        entries = values[self.entries]
        moved = np.stack([self.others.times(entries, probe) for probe in x.T], axis=1)
        masks = []
        for batch in self.batches:
            regular, along = batch.solve(values, moved)
            size = np.sqrt(np.mean(along**2, axis=2)).max(axis=1)
            small = regular & (size <= GROWTH)
            x[batch.columns[small]] = along[small]
            masks.append(small)
        return masks

    def extend_support(self, support: np.ndarray) -> None:
        """Set the rows of the level's variables in the `support` (n, width) of a basis."""
        place = self.row_places()
        at = place[self.others.rows]
        along = product_support(len(self.wanted), at, self.others.columns, support)
        for batch in self.batches:
            support[batch.columns] = along[place[batch.rows]].any(axis=1, keepdims=True)


def make_level(blocks: tuple[Blocks, ...], matrix: Sparse, engine: Engine) -> Level:
    """Return the Level of some Blocks of a matrix."""
    m, n = matrix.shape
    owner_of_row, owner_of_column = np.full(m, -1), np.full(n, -2)
    first = 0
    for each in blocks:
        number = first + np.arange(len(each.rows))[:, None]
        owner_of_row[each.rows], owner_of_column[each.columns] = number, number
        first += len(each.rows)
    entry = np.flatnonzero(owner_of_row[matrix.rows] >= 0)
    own = owner_of_row[matrix.rows[entry]] == owner_of_column[matrix.columns[entry]]
    other = entry[~own]
    return Level(
        batches=tuple(_bunches(blocks, matrix, entry[own])),
        wanted=np.concatenate([each.rows.ravel() for each in blocks]),
        others=engine.sparse(
            rows=matrix.rows[other], columns=matrix.columns[other], shape=matrix.shape
        ),
        entries=other,
        own=entry[own],
    )


def _bunches(blocks: tuple[Blocks, ...], matrix: Sparse, own: np.ndarray) -> list[BlockBatch]:
    found = []
    for each in blocks:
        rows, columns = each.rows, each.columns
        size = rows.shape[1]
        row_place, column_place = np.full(matrix.shape[0], -1), np.full(matrix.shape[1], -1)
        row_place[rows.ravel()] = np.arange(rows.size)
        column_place[columns.ravel()] = np.arange(columns.size)
        entries = own[row_place[matrix.rows[own]] >= 0]
        column = column_place[matrix.columns[entries]] % size
        places = row_place[matrix.rows[entries]] * size + column
        found.append(BlockBatch(rows=rows, columns=columns, entries=entries, places=places))
    return found


def drop_growing_blocks(
    elimination: Elimination, matrix: Sparse, values: np.ndarray
) -> Elimination:
    """Return an elimination without the blocks whose variables grow beyond GROWTH.

    Growth is that for free variables without a pattern and of size one: a chain of blocks
    multiplies the growth of each. Rows of blocks left out go back to the core.
    """
    x = probe_vectors(matrix.shape[1], PROBES)
    free, rest = [elimination.free], [elimination.rest]
    levels = []
    for blocks in elimination.levels:
        each, kept = make_level(blocks, matrix, Engine()), []
        for batch, small in zip(each.batches, each.moderate_blocks(values, x)):
            if small.any():
                kept.append(Blocks(rows=batch.rows[small], columns=batch.columns[small]))
            free.append(batch.columns[~small].ravel())
            rest.append(batch.rows[~small].ravel())
        if kept:
            levels.append(tuple(kept))
    return Elimination(
        levels=tuple(levels), rest=np.sort(np.concatenate(rest)), free=np.sort(np.concatenate(free))
    )


def is_moderate(basis: "Basis", values: np.ndarray) -> bool:
    """Tell whether none of a basis' variables grows beyond GROWTH at entries `values`, measured as
    `drop_growing_blocks` does."""
    x = probe_vectors(basis.matrix.shape[1], PROBES)
    return all(small.all() for each in basis.levels for small in each.moderate_blocks(values, x))


def probe_vectors(count: int, columns: int) -> np.ndarray:
    """Return numbers (count, columns) of mean zero and variance one, without a pattern.

    They are fractional parts of squares times irrational numbers (Weyl 1916).
    """
    squares = np.arange(1.0, count + 1)[:, None] ** 2
    roots = np.sqrt([2.0, 3.0, 5.0, 7.0][:columns])
    return np.sqrt(3.0) * (2.0 * (squares * roots % 1.0) - 1.0)


class Basis:
    """Basis Z (n, free) of the null space of the eliminated rows, `tall`, at the last values.

    Its rows are the identity for free variables.
    """

    def __init__(self, elimination: Elimination, matrix: Sparse, engine: Engine) -> None:
        self.elimination, self.matrix = elimination, matrix
        self.free, self.rest = elimination.free, elimination.rest
        self.levels = [make_level(blocks, matrix, engine) for blocks in elimination.levels]
        support = np.zeros((matrix.shape[1], len(self.free)), dtype=bool)
        support[self.free, np.arange(len(self.free))] = True
        for each in self.levels:
            each.extend_support(support)
        self.tall = Tall(support)
        self.Z = self.tall.array[:, : len(self.free)]
        self.Z[self.free, np.arange(len(self.free))] = 1.0
        self.products: list[SparseTimesTall] = []
        self.substitutions: list[list[BlockSubstitution]] = []
        for each in self.levels:
            others, place = each.others, each.row_places()
            product = engine.sparse_times_tall(
                each.wanted, others.rows, others.columns, each.entries, self.tall
            )
            self.products.append(product)
            self.substitutions.append(
                [
                    engine.block_substitution(
                        place[batch.rows], batch.columns, product.result, self.tall
                    )
                    for batch in each.batches
                ]
            )
        basic = np.ones(matrix.shape[1], dtype=bool)
        basic[self.free] = False
        self.basic = np.flatnonzero(basic)
        self._kept: list[np.ndarray | None] = [None] * len(self.levels)
        self._others = [np.zeros(len(each.entries)) for each in self.levels]
        self._inverses: list[list[np.ndarray]] = [[] for _ in self.levels]
        self._largest = [0.0] * len(self.levels)
        columns, rows = np.nonzero(support.T)
        self.entries = engine.sparse(rows=rows, columns=columns, shape=support.shape)
        self._places = rows * self.tall.width + columns
        self._numbers = self.tall.array.reshape(-1)[self._places]

    def update(self, values: np.ndarray) -> None:
        """Compute the basis for entries `values`; raise LinAlgError for a singular block.

        Levels are kept while their entries, and those of all levels before, have not changed.
        """
        changed = False
        for number, each in enumerate(self.levels):
            own, others = values[each.own], values[each.entries]
            kept, left = self._kept[number], self._others[number]
            same = kept is not None and np.array_equal(own, kept) and np.array_equal(others, left)
            if same and not changed:
                continue
            changed, self._kept[number], self._others[number] = True, None, others
            inverses = [batch.inverses(values) for batch in each.batches]
            self.products[number].times(values)
            pairs = zip(self.substitutions[number], inverses)
            self._largest[number] = max(part.apply(inverse) for part, inverse in pairs)
            self._inverses[number], self._kept[number] = inverses, own
        if changed:
            self._numbers = self.tall.array.reshape(-1)[self._places]

    @property
    def largest(self) -> float:
        """Largest number of Z without the identity; not a number if one is none."""
        return float(np.max(self._largest, initial=0.0))

    def times(self, free: np.ndarray) -> np.ndarray:
        """Return Z u (n,) of free variables u (free,)."""
        return self.entries.times(self._numbers, free)

    def transposed_times(self, x: np.ndarray) -> np.ndarray:
        """Return Z' x (free,), x (n,): more precisely than by multipliers of ill-conditioned
        blocks."""
        return self.entries.transposed_times(self._numbers, x)

    def particular(self, right: np.ndarray) -> np.ndarray:
        """Return x (n,) with A x = right (m,) in the eliminated rows, free variables zero."""
        x = np.zeros(self.matrix.shape[1])
        for each, others, inverses in zip(self.levels, self._others, self._inverses):
            left = right - each.others.times(others, x)
            for batch, inverse in zip(each.batches, inverses):
                x[batch.columns] = np.einsum("bij,bj->bi", inverse, left[batch.rows])
        return x

    def multipliers(self, right: np.ndarray) -> np.ndarray:
        """Return y (m,) of the eliminated rows with A' y = right (n,) in their variables."""
        y, right = np.zeros(self.matrix.shape[0]), right.copy()
        back = zip(self.levels[::-1], self._others[::-1], self._inverses[::-1])
        for each, others, inverses in back:
            part = np.zeros(len(y))
            for batch, inverse in zip(each.batches, inverses):
                part[batch.rows] = np.einsum("bji,bj->bi", inverse, right[batch.columns])
            right -= each.others.transposed_times(others, part)
            y += part
        return y
