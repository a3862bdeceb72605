"""The products of the interior point as machine code: made here (loops.py), or of tall.c where
there is a C compiler."""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ocp.codegen.assembler import elf_image, load_image, unsupported_reason
from ocp.codegen.compiler.shared_library import NoCompiler, begin_load, processor
from ocp.interior_point.kernels.loops import gathered, solved, summed, written
from ocp.interior_point.kernels.products import Sparse
from ocp.interior_point.kernels.tall_matrices import (
    TILE,
    Crossed,
    Engine,
    Factor,
    Multiplied,
    Taken,
    Tall,
    groups_of,
)
from ocp.interior_point.kernels.tiles import crossed, multiplied, taken

Function = Callable[..., Any]
FUNCTIONS = multiplied, crossed, taken, gathered, summed, solved
FLAGS = ("-O3", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math")


@cache
def fastest_engine() -> Engine:
    """Return what makes products: machine code made here, elsewhere compiled once and kept, or
    numpy where there is no compiler either."""
    if not unsupported_reason() and "fma" in processor().split():
        names = [function.__name__ for function in FUNCTIONS]
        return Machine(load_image(elf_image(written(FUNCTIONS), dict(zip(names, names))), _load))
    return compiled_engine()


def compiled_engine() -> Engine:
    """Return what makes products by a compiler's machine code, numpy where there is none."""
    text = resources.files(__package__).joinpath("tall.c").read_text()
    try:
        return Machine(begin_load("tall", {"tall.c": text}, _load, flags=FLAGS)())
    except NoCompiler:
        return Engine()


class Machine(Engine):
    """What makes products by a library of machine code."""

    def __init__(self, library: ctypes.CDLL):
        library.taken.restype = ctypes.c_double
        super().__init__(
            multiplied=partial(MultipliedThere, library.multiplied),
            taken=partial(TakenThere, library.taken),
            crossed=partial(CrossedThere, library.crossed),
            sparse=partial(SparseThere, library=library),
            factor=partial(FactorThere, library.solved),
        )


class MultipliedThere(Multiplied):
    """Rows of a sparse matrix times a tall one, by machine code."""

    def __init__(self, function: Function, *what: Any):
        self.function = function
        super().__init__(*what)

    def _prepare(self, at: np.ndarray, columns: np.ndarray, entries: np.ndarray) -> None:
        tiles = self.tall.tiles.sum(axis=1)[columns]
        order = np.lexsort((columns, tiles, at))
        count = len(self.result.array)
        start = np.searchsorted(at[order], np.arange(count + 1))
        self.kept = [whole(each) for each in (start, entries[order], columns[order])]
        self.lists = [*lists(self.tall.tiles), *lists(self.result.tiles)]
        first, tile, *own = self.lists
        tall, out = self.tall.array, self.result.array
        self.block = Block(count, *self.kept, None, first, tile, tall, self.tall.width, *own, out)

    def times(self, values: np.ndarray) -> Tall:
        """Return the product with entries `values`."""
        values = np.ascontiguousarray(values, dtype=float)
        self.function(self.block.with_arrays({4: values}))
        return self.result


class TakenThere(Taken):
    """What blocks take along, by machine code."""

    def __init__(self, function: Function, *what: Any):
        self.function = function
        super().__init__(*what)

    def _prepare(self) -> None:
        first, tile = lists(self.tall.tiles)
        places = whole(self.rows), whole(self.columns)
        rest = self.along.array, self.tall.width, first, tile, self.tall.array
        self.block = Block(*self.rows.shape, *places, None, *rest)

    def put(self, inverses: np.ndarray) -> float:
        """As of Taken."""
        inverses = np.ascontiguousarray(inverses)
        return self.function(self.block.with_arrays({4: inverses}))


class CrossedThere(Crossed):
    """Products of tall matrices by machine code."""

    def __init__(self, function: Function, *what: Any):
        self.function = function
        super().__init__(*what)

    def _prepare(self) -> None:
        groups = groups_of(self.left.tiles[self.rows] | self.right.tiles[self.right_rows])
        self.order = groups.order
        left, right = self.rows[self.order], self.right_rows[self.order]
        sizes = [len(each) for each in groups.tiles]
        first = np.cumsum([0, *sizes])
        tile = np.concatenate(groups.tiles) if groups.tiles else np.zeros(0)
        parts = groups.begin, left, right, first, tile
        begin, one, other, first, tile = (whole(each) for each in parts)
        most = max((s * c for s, c in zip(sizes, np.diff(groups.begin))), default=0)
        self.work = np.zeros(2 * TILE * int(most) + TILE)
        matrices = self.left.array, self.right.array, self.left.width
        lists_of = begin, one, other, None, first, tile
        self.block = Block(len(sizes), *lists_of, *matrices, int(self.symmetric), self.work, None)

    def add(self, core: np.ndarray, weights: np.ndarray | None = None) -> None:
        """As of Crossed; of a symmetric product only what is below the diagonal and on it."""
        chosen = None if weights is None else np.ascontiguousarray(weights[self.order], float)
        self.function(self.block.with_arrays({4: chosen, 12: core}))


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

    @cached_property
    def blocks(self) -> tuple["Block", "Block"]:
        """The arguments of products, and of those with the transpose, but for the numbers."""
        to, of = self.indices
        times = Block(len(to), to, of, None, None, None)
        if self.start is None:
            return times, Block(len(to), of, to, None, None, None)
        return times, Block(self.shape[1], self.start, to, None, None, None)

    def times(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """As of Sparse."""
        return self._made(self.library.gathered, self.blocks[0], values, x, np.zeros(self.shape[0]))

    def transposed(self, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """As of Sparse."""
        way = self.library.gathered if self.start is None else self.library.summed
        return self._made(way, self.blocks[1], values, y, np.zeros(self.shape[1]))

    def _made(self, function, block, values, x, out):
        values, x = np.ascontiguousarray(values, float), np.ascontiguousarray(x, float)
        function(block.with_arrays({3: values, 4: x, 5: out}))
        return out


class FactorThere(Factor):
    """A Cholesky factor with solves by machine code."""

    def __init__(self, function: Function, core: np.ndarray):
        super().__init__(core)
        self.function = function

    def solve(self, right: np.ndarray) -> np.ndarray:
        """As of Factor."""
        out = np.array(right, dtype=float)
        self.function(Block(len(out), self.lower, out).with_arrays({}))
        return out


def whole(numbers) -> np.ndarray:
    """Return whole numbers as the machine code takes them."""
    return np.ascontiguousarray(numbers, dtype=np.intc)


class Block:
    """A function's arguments, as it takes them: whole numbers, arrays, which are kept, and None."""

    def __init__(self, *arguments: int | np.ndarray | None):
        self.kept = arguments
        numbers = [each if isinstance(each, int) else at_of(each) for each in arguments]
        self.numbers = (ctypes.c_longlong * len(numbers))(*numbers)

    def with_arrays(self, arrays: Mapping[int, np.ndarray | None]) -> ctypes.Array:
        """Return the arguments, with other arrays in some places, for a call at once."""
        for place, array in arrays.items():
            self.numbers[place] = at_of(array)
        return self.numbers


def at_of(array: np.ndarray | None) -> int:
    """Return where an array's numbers are; it must be kept as long as that is used."""
    return 0 if array is None else array.__array_interface__["data"][0]


def lists(tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tiles of each row one after the other: where each row's begin, and they."""
    first = np.concatenate([[0], np.cumsum(tiles.sum(axis=1))])
    return whole(first), whole(np.nonzero(tiles)[1])


def _load(library: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(library))
