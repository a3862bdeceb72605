"""Matrix kernels as machine code: assembled (sparse_kernels, tile_kernels), or compiled from C."""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocp.codegen.assembler import CodeMemory, is_fused, new_code, unsupported_reason
from ocp.codegen.compiler.shared_library import NoCompiler, begin_load
from ocp.interior_point.kernels.sparse_kernels import (
    cholesky_solve,
    column_sums,
    sparse_matvec,
    write_functions,
)
from ocp.interior_point.kernels.sparse_products import Sparse
from ocp.interior_point.kernels.tall_matrices import (
    TILE,
    BlockSubstitution,
    Cholesky,
    Engine,
    SparseTimesTall,
    Tall,
    TallProduct,
    group_rows,
)
from ocp.interior_point.kernels.tile_kernels import (
    block_substitution,
    sparse_times_tall,
    tall_product,
)

Function = Callable[..., Any]
Library = ctypes.CDLL | SimpleNamespace  # functions by name
FUNCTIONS = (
    sparse_times_tall,
    tall_product,
    block_substitution,
    sparse_matvec,
    column_sums,
    cholesky_solve,
)
FLAGS = ("-O3", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math")


@cache
def fastest_engine() -> Engine:
    """Return kernels of assembled machine code; else compiled ones; else numpy's."""
    if not unsupported_reason() and is_fused():
        code = write_functions(new_code(), FUNCTIONS)
        places = {function.__name__: code.labels[function.__name__] for function in FUNCTIONS}
        return NativeEngine(CodeMemory(code.to_bytes()).functions(places))
    return compiled_engine()


def compiled_engine() -> Engine:
    """Return kernels compiled from C, or numpy's if there is no compiler."""
    text = resources.files(__package__).joinpath("tall.c").read_text()
    try:
        return NativeEngine(begin_load("tall", {"tall.c": text}, _load, flags=FLAGS)())
    except NoCompiler:
        return Engine()


class NativeEngine(Engine):
    """Makers of kernels by a library of machine code."""

    def __init__(self, library: Library) -> None:
        library.block_substitution.restype = ctypes.c_double
        super().__init__(
            sparse_times_tall=partial(NativeSparseTimesTall, library.sparse_times_tall),
            block_substitution=partial(NativeBlockSubstitution, library.block_substitution),
            tall_product=partial(NativeTallProduct, library.tall_product),
            sparse=partial(NativeSparse, library=library),
            cholesky=partial(NativeCholesky, library.cholesky_solve),
        )


class Arguments:
    """Arguments of a machine-code function as 64-bit numbers: integers, and arrays' addresses.

    Arrays are kept alive; None is a place that `with_arrays` fills.
    """

    def __init__(self, *arguments: int | np.ndarray | None) -> None:
        self.kept = arguments
        numbers = [each if isinstance(each, int) else address_of(each) for each in arguments]
        self.numbers = (ctypes.c_longlong * len(numbers))(*numbers)

    def with_arrays(self, arrays: Mapping[int, np.ndarray | None]) -> ctypes.Array:
        """Return the arguments with other arrays in some places, for a call at once."""
        for place, array in arrays.items():
            self.numbers[place] = address_of(array)
        return self.numbers


def address_of(array: np.ndarray | None) -> int:
    """Return an array's address; the array must be kept as long as that is used."""
    if array is None:
        return 0
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))  # in a quarter of the time
    except (TypeError, ValueError):  # of read-only arrays and empty ones
        return array.__array_interface__["data"][0]


def as_integers(numbers: ArrayLike) -> np.ndarray:
    """Return integers as machine code takes them."""
    return np.ascontiguousarray(numbers, dtype=np.intc)


def tile_lists(tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each row's tiles in a list, and the list, of a mask (rows,
    tiles)."""
    first = np.concatenate([[0], np.cumsum(tiles.sum(axis=1))])
    return as_integers(first), as_integers(np.nonzero(tiles)[1])


class NativeSparseTimesTall(SparseTimesTall):
    """Rows of a sparse matrix times a tall one, by machine code."""

    def __init__(self, function: Function, *arguments: Any) -> None:
        self.function = function
        super().__init__(*arguments)

    def _prepare(self, at: np.ndarray, columns: np.ndarray, entries: np.ndarray) -> None:
        # Rows with few tiles come first within a row, so that loops of one length follow each other
        tiles = self.tall.tiles.sum(axis=1)[columns]
        order = np.lexsort((columns, tiles, at))
        count = len(self.result.array)
        start = np.searchsorted(at[order], np.arange(count + 1))
        lists = [as_integers(each) for each in (start, entries[order], columns[order])]
        tall, out = self.tall.array, self.result.array
        first, tile = tile_lists(self.tall.tiles)
        own = tile_lists(self.result.tiles)
        self.arguments = Arguments(
            count, *lists, None, first, tile, tall, self.tall.width, *own, out
        )

    def times(self, values: np.ndarray) -> Tall:
        """Return the product with entries `values`."""
        values = np.ascontiguousarray(values, dtype=float)
        self.function(self.arguments.with_arrays({4: values}))
        return self.result


class NativeBlockSubstitution(BlockSubstitution):
    """Substitution of blocks by machine code."""

    def __init__(self, function: Function, *arguments: Any) -> None:
        self.function = function
        super().__init__(*arguments)

    def _prepare(self) -> None:
        first, tile = tile_lists(self.tall.tiles)
        places = as_integers(self.rows), as_integers(self.columns)
        rest = self.along.array, self.tall.width, first, tile, self.tall.array
        self.arguments = Arguments(*self.rows.shape, *places, None, *rest)

    def apply(self, inverses: np.ndarray) -> float:
        """As of BlockSubstitution."""
        inverses = np.ascontiguousarray(inverses)
        return self.function(self.arguments.with_arrays({4: inverses}))


class NativeTallProduct(TallProduct):
    """Products of tall matrices by machine code."""

    def __init__(self, function: Function, *arguments: Any) -> None:
        self.function = function
        super().__init__(*arguments)

    def _prepare(self) -> None:
        groups = group_rows(self.left.tiles[self.rows] | self.right.tiles[self.right_rows])
        self.order = groups.order
        left, right = self.rows[self.order], self.right_rows[self.order]
        sizes = [len(each) for each in groups.tiles]
        first = np.cumsum([0, *sizes])
        tile = np.concatenate(groups.tiles) if groups.tiles else np.zeros(0)
        parts = groups.begin, left, right, first, tile
        begin, one, other, first, tile = (as_integers(each) for each in parts)
        most = max((s * c for s, c in zip(sizes, np.diff(groups.begin))), default=0)
        work = np.zeros(2 * TILE * int(most) + TILE)
        lists = begin, one, other, None, first, tile
        matrices = self.left.array, self.right.array, self.left.width
        self.arguments = Arguments(len(sizes), *lists, *matrices, int(self.symmetric), work, None)

    def add(self, core: np.ndarray, weights: np.ndarray | None = None) -> None:
        """As of TallProduct; of a symmetric product only the lower triangle."""
        chosen = None if weights is None else np.ascontiguousarray(weights[self.order], float)
        self.function(self.arguments.with_arrays({4: chosen, 12: core}))


@dataclass(frozen=True, kw_only=True)
class NativeSparse(Sparse):
    """Sparse matrix whose products with vectors are machine code."""

    library: Library

    @cached_property
    def start(self) -> np.ndarray | None:
        """Where the entries of each column begin, None if they are not sorted by columns."""
        if (np.diff(self.columns) < 0).any():
            return None
        return as_integers(np.searchsorted(self.columns, np.arange(self.shape[1] + 1)))

    @cached_property
    def arguments(self) -> tuple[Arguments, Arguments]:
        """Arguments of products, and of those with the transpose, but for the numbers."""
        rows, columns = as_integers(self.rows), as_integers(self.columns)
        times = Arguments(len(rows), rows, columns, None, None, None)
        if self.start is None:
            return times, Arguments(len(rows), columns, rows, None, None, None)
        return times, Arguments(self.shape[1], self.start, rows, None, None, None)

    def times(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """As of Sparse."""
        return self._call(self.library.sparse_matvec, self.arguments[0], values, x, self.shape[0])

    def transposed_times(self, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """As of Sparse."""
        sorted_ = self.start is not None  # then sums of columns need no scattered additions
        function = self.library.column_sums if sorted_ else self.library.sparse_matvec
        return self._call(function, self.arguments[1], values, y, self.shape[1])

    def _call(
        self, function: Function, arguments: Arguments, values: np.ndarray, x: np.ndarray, size: int
    ) -> np.ndarray:
        out = np.zeros(size)
        values, x = np.ascontiguousarray(values, float), np.ascontiguousarray(x, float)
        function(arguments.with_arrays({3: values, 4: x, 5: out}))
        return out


class NativeCholesky(Cholesky):
    """Cholesky factor with solves by machine code."""

    def __init__(self, function: Function, core: np.ndarray) -> None:
        super().__init__(core)
        self.function = function

    def solve(self, right: np.ndarray) -> np.ndarray:
        """As of Cholesky."""
        out = np.array(right, dtype=float)
        self.function(Arguments(len(out), self.lower, out).with_arrays({}))
        return out


def _load(library: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(library))
