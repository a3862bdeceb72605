"""The null space of equalities by elimination: a basis, and both kinds of solves with it."""

from dataclasses import dataclass

import numpy as np

from ocp.interior_point.elimination import Block, Elimination
from ocp.interior_point.kernels.products import Sparse
from ocp.interior_point.kernels.tall_matrices import Engine, Multiplied, Taken, Tall, support_of

GROWTH = 1e4  # of a variable that is solved for, beside the free ones
PROBES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Bunch:
    """Blocks of a level of one size: `rows`, `columns` (blocks, size), and where the `entries` of
    their matrices stand among (blocks, size, size): `places`."""

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

    def solved(self, values: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which blocks are regular, and their solutions (blocks, size, width) for the rows
        of right-hand sides (m, width)."""
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
    """A level of an elimination: its `bunches`, the `wanted` rows of its blocks, the `own` entries
    in their variables, and the `others` as a Sparse matrix (m, n) of `entries`."""

    bunches: tuple[Bunch, ...]
    wanted: np.ndarray
    others: Sparse
    entries: np.ndarray
    own: np.ndarray

    def times(self, engine: Engine, tall: Tall) -> Multiplied:
        """Return the others times a tall matrix, ready to be made."""
        others = self.others
        return engine.multiplied(self.wanted, others.rows, others.columns, self.entries, tall)

    def reach(self, support: np.ndarray) -> None:
        """Tell in the `support` (n, width) of a basis what the level's variables take along."""
        place = np.zeros(self.others.shape[0], dtype=int)
        place[self.wanted] = np.arange(len(self.wanted))
        at = place[self.others.rows]
        along = support_of(len(self.wanted), at, self.others.columns, support)
        for bunch in self.bunches:
            support[bunch.columns] = along[place[bunch.rows]].any(axis=1, keepdims=True)


def level(blocks: tuple[Block, ...], matrix: Sparse, engine: Engine) -> Level:
    """Return a Level of Blocks of a matrix."""
    m, n = matrix.shape
    owner_of_row, owner_of_column = np.full(m, -1), np.full(n, -2)
    for number, block in enumerate(blocks):
        owner_of_row[block.rows], owner_of_column[block.columns] = number, number
    entry = np.flatnonzero(owner_of_row[matrix.rows] >= 0)
    own = owner_of_row[matrix.rows[entry]] == owner_of_column[matrix.columns[entry]]
    other = entry[~own]
    return Level(
        bunches=tuple(_bunches(blocks, matrix, entry[own])),
        wanted=np.concatenate([block.rows for block in blocks]),
        others=engine.sparse(
            rows=matrix.rows[other], columns=matrix.columns[other], shape=matrix.shape
        ),
        entries=other,
        own=entry[own],
    )


def _bunches(blocks: tuple[Block, ...], matrix: Sparse, own: np.ndarray) -> list[Bunch]:
    found = []
    for size in sorted({len(block.rows) for block in blocks}):
        alike = [block for block in blocks if len(block.rows) == size]
        rows = np.array([block.rows for block in alike])
        columns = np.array([block.columns for block in alike])
        row_place, column_place = np.full(matrix.shape[0], -1), np.full(matrix.shape[1], -1)
        row_place[rows.ravel()] = np.arange(rows.size)
        column_place[columns.ravel()] = np.arange(columns.size)
        entries = own[row_place[matrix.rows[own]] >= 0]
        column = column_place[matrix.columns[entries]] % size
        places = row_place[matrix.rows[entries]] * size + column
        found.append(Bunch(rows=rows, columns=columns, entries=entries, places=places))
    return found


def tame(elimination: Elimination, matrix: Sparse, values: np.ndarray) -> Elimination:
    """Return an elimination without the blocks whose variables move by more than so much when free
    ones do, by scattered ones: a chain of blocks may multiply what each of them magnifies.

    Their rows are the core's again.
    """
    x = scattered(matrix.shape[1], PROBES)
    free, rest = [elimination.free], [elimination.rest]
    levels = []
    for blocks in elimination.levels:
        each = level(blocks, matrix, Engine())
        entries = values[each.entries]
        moved = np.stack([each.others.times(entries, probe) for probe in x.T], axis=1)
        kept = []
        for bunch in each.bunches:
            taken, along = bunch.solved(values, moved)
            size = np.sqrt(np.mean(along**2, axis=2)).max(axis=1)
            tame_ones = taken & (size <= GROWTH)
            x[bunch.columns[tame_ones]] = along[tame_ones]
            kept += [
                Block(rows=rows, columns=columns)
                for rows, columns in zip(bunch.rows[tame_ones], bunch.columns[tame_ones])
            ]
            free.append(bunch.columns[~tame_ones].ravel())
            rest.append(bunch.rows[~tame_ones].ravel())
        if kept:
            levels.append(tuple(kept))
    return Elimination(
        levels=tuple(levels), rest=np.sort(np.concatenate(rest)), free=np.sort(np.concatenate(free))
    )


def scattered(count: int, columns: int) -> np.ndarray:
    """Return numbers (count, columns) of mean zero and variance one, without a pattern: fractions
    of the squares' multiples of irrational numbers (Weyl 1916)."""
    squares = np.arange(1.0, count + 1)[:, None] ** 2
    roots = np.sqrt([2.0, 3.0, 5.0, 7.0][:columns])
    return np.sqrt(3.0) * (2.0 * (squares * roots % 1.0) - 1.0)


class Basis:
    """The null space of the eliminated rows for the values that it was made of last.

    `tall`, Z (n, free): the identity for free variables, what they take along for the others.
    """

    def __init__(self, elimination: Elimination, matrix: Sparse, engine: Engine):
        self.matrix, self.free, self.rest = matrix, elimination.free, elimination.rest
        self.levels = [level(blocks, matrix, engine) for blocks in elimination.levels]
        support = np.zeros((matrix.shape[1], len(self.free)), dtype=bool)
        support[self.free, np.arange(len(self.free))] = True
        for each in self.levels:
            each.reach(support)
        self.tall = Tall(support)
        self.Z = self.tall.array[:, : len(self.free)]
        self.Z[self.free, np.arange(len(self.free))] = 1.0
        self.products = [each.times(engine, self.tall) for each in self.levels]
        self.taken = [
            self._taken(engine, each, product.result)
            for each, product in zip(self.levels, self.products)
        ]
        basic = np.ones(matrix.shape[1], dtype=bool)
        basic[self.free] = False
        self.basic = np.flatnonzero(basic)
        self._kept: list[np.ndarray | None] = [None] * len(self.levels)
        self._others = [np.zeros(len(each.entries)) for each in self.levels]
        self._inverses: list[list[np.ndarray]] = [[] for _ in self.levels]
        self._largest = [0.0] * len(self.levels)

    def make(self, values: np.ndarray) -> None:
        """Make the basis for entries `values`; raise LinAlgError where a block is singular.

        Levels whose entries are those of the last time, like all before them, stay.
        """
        changed = False
        for number, each in enumerate(self.levels):
            own, others = values[each.own], values[each.entries]
            kept, left = self._kept[number], self._others[number]
            same = kept is not None and np.array_equal(own, kept) and np.array_equal(others, left)
            if same and not changed:
                continue
            changed, self._kept[number], self._others[number] = True, None, others
            inverses = [bunch.inverses(values) for bunch in each.bunches]
            self.products[number].times(values)
            taken = zip(self.taken[number], inverses)
            self._largest[number] = max(each.put(inverse) for each, inverse in taken)
            self._inverses[number], self._kept[number] = inverses, own

    @property
    def largest(self) -> float:
        """The largest number of Z, but for the identity; not a number where one is none."""
        return float(np.max(self._largest, initial=0.0))

    def _taken(self, engine: Engine, own: Level, along: Tall) -> list[Taken]:
        place = np.zeros(self.matrix.shape[0], dtype=int)
        place[own.wanted] = np.arange(len(own.wanted))
        return [
            engine.taken(place[bunch.rows], bunch.columns, along, self.tall)
            for bunch in own.bunches
        ]

    def particular(self, right: np.ndarray) -> np.ndarray:
        """Return x (n,) that meets the eliminated rows, A x = right (m,), without the free ones."""
        x = np.zeros(self.matrix.shape[1])
        for each, others, inverses in zip(self.levels, self._others, self._inverses):
            left = right - each.others.times(others, x)
            for bunch, inverse in zip(each.bunches, inverses):
                x[bunch.columns] = np.einsum("bij,bj->bi", inverse, left[bunch.rows])
        return x

    def multipliers(self, right: np.ndarray) -> np.ndarray:
        """Return y (m,) of the eliminated rows, zero elsewhere, with which A' y is as `right` (n,)
        in the variables that they were solved for."""
        y, right = np.zeros(self.matrix.shape[0]), right.copy()
        back = zip(self.levels[::-1], self._others[::-1], self._inverses[::-1])
        for each, others, inverses in back:
            part = np.zeros(len(y))
            for bunch, inverse in zip(each.bunches, inverses):
                part[bunch.rows] = np.einsum("bji,bj->bi", inverse, right[bunch.columns])
            right -= each.others.transposed(others, part)
            y += part
        return y
