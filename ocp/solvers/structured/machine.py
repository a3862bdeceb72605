"""The products of the interior point as machine code (tall.c), where there is a C compiler."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ocp.solvers.machine_code import NoCompiler, load_compiled
from ocp.solvers.structured.products import Sparse
from ocp.solvers.structured.tall import (
    TILE,
    Crossed,
    Engine,
    Factor,
    Multiplied,
    Taken,
    Tall,
    groups_of,
)

Function = Callable[..., Any]
FLAGS = ("-O3", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math")


@cache
def engine() -> Engine:
    """Return what makes products: machine code, compiled once and kept, or numpy where there is no
    compiler."""
    text = resources.files(__package__).joinpath("tall.c").read_text()
    try:
        return Machine(load_compiled("tall", {"tall.c": text}, _load, flags=FLAGS))
    except NoCompiler:
        return Engine()


class Machine(Engine):
    """What makes products by a library of machine code."""

    def __init__(self, library: ctypes.CDLL):
        self.library = library
        library.taken.restype = ctypes.c_double

    def multiplied(
        self,
        wanted: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        entries: np.ndarray,
        tall: Tall,
    ) -> Multiplied:
        """As of an Engine."""
        made = MultipliedThere(wanted, rows, columns, entries, tall)
        made.function = self.library.multiplied
        return made

    def taken(self, rows: np.ndarray, columns: np.ndarray, along: Tall, tall: Tall) -> Taken:
        """As of an Engine."""
        made = TakenThere(rows, columns, along, tall)
        made.function = self.library.taken
        return made

    def crossed(
        self,
        left: Tall,
        rows: np.ndarray,
        right: Tall | None = None,
        right_rows: np.ndarray | None = None,
    ) -> Crossed:
        """As of an Engine."""
        made = CrossedThere(left, rows, right, right_rows)
        made.function = self.library.crossed
        return made

    def sparse(self, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Sparse:
        """As of an Engine."""
        return SparseThere(rows=rows, columns=columns, shape=shape, library=self.library)

    def factor(self, core: np.ndarray) -> Factor:
        """As of an Engine."""
        return FactorThere(np.linalg.cholesky(core), self.library.solved)


class MultipliedThere(Multiplied):
    """Rows of a sparse matrix times a tall one, by machine code."""

    function: Function

    def _prepare(self, at: np.ndarray, columns: np.ndarray, entries: np.ndarray) -> None:
        order = np.argsort(at, kind="stable")
        count = len(self.result.array)
        start = np.searchsorted(at[order], np.arange(count + 1))
        self.kept = [whole(each) for each in (start, entries[order], columns[order])]
        self.lists = [*lists(self.tall.tiles), *lists(self.result.tiles)]
        first, tile, own_first, own_tile = map(at_of, self.lists)
        begin, entry, column = map(at_of, self.kept)
        width, out = ctypes.c_long(self.tall.width), at_of(self.result.array)
        self.head = count, begin, entry, column
        self.tail = first, tile, at_of(self.tall.array), width, own_first, own_tile, out

    def times(self, values: np.ndarray) -> Tall:
        """Return the product with entries `values`."""
        values = np.ascontiguousarray(values, dtype=float)
        self.function(*self.head, at_of(values), *self.tail)
        return self.result


class TakenThere(Taken):
    """What blocks take along, by machine code."""

    function: Function

    def _prepare(self) -> None:
        first, tile = lists(self.tall.tiles)
        self.kept = whole(self.rows), whole(self.columns), first, tile
        row, column, first_at, tile_at = map(at_of, self.kept)
        width, blocks = ctypes.c_long(self.tall.width), self.rows.shape
        self.head = *blocks, row, column
        self.tail = at_of(self.along.array), width, first_at, tile_at, at_of(self.tall.array)

    def put(self, inverses: np.ndarray) -> float:
        """As of Taken."""
        inverses = np.ascontiguousarray(inverses)
        return self.function(*self.head, at_of(inverses), *self.tail)


class CrossedThere(Crossed):
    """Products of tall matrices by machine code."""

    function: Function

    def _prepare(self) -> None:
        groups = groups_of(self.left.tiles[self.rows] | self.right.tiles[self.right_rows])
        self.order = groups.order
        left, right = self.rows[self.order], self.right_rows[self.order]
        sizes = [len(each) for each in groups.tiles]
        first = np.cumsum([0, *sizes])
        tile = np.concatenate(groups.tiles) if groups.tiles else np.zeros(0)
        parts = groups.begin, left, right, first, tile
        self.kept = [whole(each) for each in parts]
        most = max((s * c for s, c in zip(sizes, np.diff(groups.begin))), default=0)
        self.work = np.zeros(2 * TILE * int(most) + TILE)
        begin, one, other, first_at, tile_at = map(at_of, self.kept)
        self.head = len(sizes), begin, one, other
        self.tail = (
            first_at,
            tile_at,
            at_of(self.left.array),
            at_of(self.right.array),
            ctypes.c_long(self.left.width),
            int(self.symmetric),
            at_of(self.work),
        )

    def add(self, core: np.ndarray, weights: np.ndarray | None = None) -> None:
        """As of Crossed; of a symmetric product only what is below the diagonal and on it."""
        chosen = None if weights is None else np.ascontiguousarray(weights[self.order], float)
        weight = None if chosen is None else at_of(chosen)
        self.function(*self.head, weight, *self.tail, at_of(core))


@dataclass(frozen=True, kw_only=True)
class SparseThere(Sparse):
    """A sparse matrix whose products with vectors are machine code."""

    library: ctypes.CDLL

    @cached_property
    def indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns as the machine code takes them."""
        return whole(self.rows), whole(self.columns)

    @cached_property
    def start(self) -> np.ndarray | None:
        """Where the entries of each column begin, None where they are not one after the other."""
        if (np.diff(self.columns) < 0).any():
            return None
        return whole(np.searchsorted(self.columns, np.arange(self.shape[1] + 1)))

    def times(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """As of Sparse."""
        return self._gathered(*self.indices, values, x, self.shape[0])

    def transposed(self, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """As of Sparse."""
        if self.start is None:
            return self._gathered(*self.indices[::-1], values, y, self.shape[1])
        out, y = np.empty(self.shape[1]), np.ascontiguousarray(y, float)
        values = np.ascontiguousarray(values, float)
        arrays = self.start, self.indices[0], values, y, out
        self.library.summed(ctypes.c_long(self.shape[1]), *map(at_of, arrays))
        return out

    def _gathered(self, to, of, values, x, size):
        out = np.zeros(size)
        values, x = (np.ascontiguousarray(each, float) for each in (values, x))
        self.library.gathered(ctypes.c_long(len(to)), *map(at_of, (to, of, values, x, out)))
        return out


class FactorThere(Factor):
    """A Cholesky factor with solves by machine code."""

    def __init__(self, lower: np.ndarray, function: Function):
        super().__init__(np.ascontiguousarray(lower))
        self.function = function

    def solve(self, right: np.ndarray) -> np.ndarray:
        """As of Factor."""
        out = np.array(right, dtype=float)
        self.function(ctypes.c_long(len(out)), at_of(self.lower), at_of(out))
        return out


def whole(numbers) -> np.ndarray:
    """Return whole numbers as the machine code takes them."""
    return np.ascontiguousarray(numbers, dtype=np.intc)


def at_of(array: np.ndarray) -> ctypes.c_void_p:
    """Return where an array's numbers are; it must be kept as long as that is used."""
    return ctypes.c_void_p(array.__array_interface__["data"][0])


def lists(tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tiles of each row one after the other: where each row's begin, and they."""
    first = np.concatenate([[0], np.cumsum(tiles.sum(axis=1))])
    return whole(first), whole(np.nonzero(tiles)[1])


def _load(library: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(library))
