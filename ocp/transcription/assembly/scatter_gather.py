"""Inputs of kernels gathered from the variables; products of kernels summed and scattered to their
places in sparse matrices; such matrices of numbers from triplets.

CasADi's own operations do it, or machine code where kernels run as such.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

import casadi as ca
import numpy as np

from ocp.codegen.function_map import map_function
from ocp.codegen.linear_maps import GivenProducts, Placement, Product, Sums
from ocp.index_sets import distinct
from ocp.transcription.assembly.chain_rule_products import Block
from ocp.transcription.kernels.kernel_backends import KernelBackend

TABLE = 50_000_000  # entries of a matrix up to which a table of them all sorts its nonzeros
BLOCK = 128  # entries that are numbered together, at most what a byte counts
# (what gives a Placement, all that it follows from) -> keys, what waits for its machine code
Library = Callable[
    [Callable[[], Placement], Sequence], tuple[np.ndarray, Callable[[], ca.Function | None]]
]


def scatter_products(
    given: Callable[[], Sequence[GivenProducts]],
    shape: tuple,
    library: Library | None = None,
    known_by: Sequence = (),
) -> Callable:
    """Return the function of lists of `values` (nonzeros, N) of each kernel that gives the sparse
    matrix of that shape that sums their Products.

    Args:
        given: gives ((products, shapes of the values), ...).
        shape: of the matrix.
        library: makes machine code of a Placement, or keeps it.
        known_by: all that `given` follows from, as `digest` takes it.
    """

    placement = cache(lambda: _place_products(given(), shape))
    keys, begun = library(placement, (*known_by, shape)) if library else (placement().keys, None)
    pattern = pattern_of(shape, keys)

    def scatter(values: Sequence[Sequence[ca.MX]]) -> ca.MX:
        if not len(keys):
            return ca.MX(*shape)
        function = begun() if begun else None
        if function is not None:
            return ca.MX(pattern, function(*(each for own in values for each in own)))
        placed = placement()
        pairs = [(products, own) for (products, _), own in zip(placed.given, values)]
        return ca.MX(pattern, _sum_products(pairs, placed.wheres, len(keys), placed.plain))

    return scatter


def _place_products(given: Sequence[GivenProducts], shape: tuple) -> Placement:
    products = [product for each, _ in given for product in each]
    if not products:
        return Placement(given=given, keys=np.zeros(0, dtype=int), wheres=(), plain=False)
    row, column, factor = (
        np.concatenate([getattr(each, name).ravel() for each in products])
        for name in ("row", "column", "factor")
    )
    source = np.nonzero((row >= 0) & (column >= 0))[0]
    keys, index = _rank_keys(column[source] * shape[0] + row[source], shape[0] * shape[1])
    where = np.full(len(row), -1)
    where[source] = index
    ends = np.cumsum([each.row.size for each in products])
    wheres = [
        np.reshape(part, each.row.shape) for part, each in zip(np.split(where, ends[:-1]), products)
    ]
    plain = bool((factor[source] == 1).all())
    return Placement(given=given, keys=keys, wheres=wheres, plain=plain)


def _sum_products(
    given: Iterable[tuple[Sequence[Product], Sequence[ca.MX]]],
    wheres: Sequence[np.ndarray],
    count: int,
    plain: bool,
) -> ca.MX:
    """Return the nonzeros (count,), of products that go to the places `wheres` (runs, K, pairs)
    of each among them; `plain` ones have no factors."""
    numbers, places, factors, rest = [], [], [], iter(wheres)
    for products, values in given:
        for product, chosen in zip(products, _select_entries(products, values)):
            where = next(rest)
            for runs, part in _multiply(product, chosen):
                numbers.append(part)
                places.append(where[runs].ravel())
                factors.append(product.factor[runs].ravel())
    place = np.concatenate(places)
    source, every = np.nonzero(place >= 0)[0], ca.vertcat(*numbers)
    if plain and len(source) == count:
        order = np.empty(count, dtype=int)
        order[place[source]] = source
        return every[order.tolist()]
    factor = np.concatenate(factors)[source]
    return matrix_of(count, len(place), place[source], source, factor) @ every


def _select_entries(products: Sequence[Product], values: Sequence[ca.MX]) -> Sequence[ca.MX]:
    """Return the entries of `values` (nonzeros, N) of kernels that every product takes, (pairs *
    slots, N)."""
    nonzeros = [ca.MX.sym("nonzeros", each.shape[0]) for each in values]
    every, parts = ca.vertcat(*nonzeros, 0), []
    for product in products:
        size = product.shape[0] * product.shape[1]
        first = np.full(size, every.shape[0] - 1)
        first[product.place[::-1]] = product.nonzero[::-1]
        part = every[first.tolist()]
        more = first[product.place] != product.nonzero
        if more.any():
            place, nonzero = product.place[more], product.nonzero[more]
            rest = matrix_of(size, every.shape[0], place, nonzero, np.ones(len(place)))
            part = ca.mac(rest, every, part)
        parts.append(part)
    return ca.Function("chosen", nonzeros, parts).map(values[0].shape[1]).call(values)


def _multiply(product: Product, numbers: ca.MX) -> Iterator[tuple[np.ndarray, ca.MX]]:
    """Yield (runs, MX column of what these give) of a product of numbers (pairs * slots, N), for
    runs of one length together."""
    start, end = np.array(product.runs).T
    (pairs, slots), last = product.shape, product.weight.shape[2]
    for length in distinct(end - start)[0]:
        runs = np.nonzero(end - start == length)[0]
        columns = (start[runs][:, None] + np.arange(length)).ravel()
        weight, inner = product.weight[columns].reshape(-1, last), slots * length
        part = numbers if len(columns) == numbers.shape[1] else numbers[:, columns.tolist()]
        if inner > 1 or last > 1 or (weight != 1).any():
            stacked = weight.reshape(len(runs), inner, last).transpose(1, 0, 2)
            left = ca.MX.sym("numbers", pairs * slots, length)
            right = ca.MX.sym("weights", inner, last)
            summed = ca.reshape(left, pairs, inner) @ right
            multiply = ca.Function("multiply", [left, right], [summed]).map(len(runs))
            part = multiply(part, ca.DM(stacked.reshape(inner, -1)))
        yield runs, ca.vec(part)


def _rank_keys(keys: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys in order, and the number of each key among them.

    Keys are below `limit`.
    """
    if limit > TABLE:
        return distinct(keys)
    there = np.zeros((limit // BLOCK + 1, BLOCK), dtype=bool)
    there.ravel()[keys] = True
    inside = np.cumsum(there, axis=1, dtype=np.uint8)  # of its block
    before = np.cumsum(np.append(0, inside[:-1, -1]), dtype=int)
    return np.flatnonzero(there), before[keys // BLOCK] + inside.ravel()[keys] - 1


def pattern_of(shape: tuple[int, int], places: np.ndarray) -> ca.Sparsity:
    """Return the sparsity of a `shape` with entries at places, counted column by column and in
    order."""
    column, row = np.divmod(places, shape[0])
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=shape[1]))])
    return ca.Sparsity(*shape, start.tolist(), row.tolist())


def matrix_of(
    rows: int, columns: int, row: np.ndarray, column: np.ndarray, value: np.ndarray
) -> ca.DM:
    """Return a sparse DM from triplets, duplicates summed; rows or columns of -1 are left out.

    One with more columns than rows is made by its rows: CasADi takes lists, a number per column.
    """
    if columns > rows:
        return matrix_of(columns, rows, column, row, value).T
    keep = (row >= 0) & (column >= 0)
    key, value = (column * rows + row)[keep], value[keep]
    order = np.argsort(key, kind="stable")  # quick, since keys come in nearly this order
    key = key[order]
    first = np.nonzero(np.diff(key, prepend=-1))[0]
    sums = np.add.reduceat(value[order], first) if len(first) else value
    return ca.DM(pattern_of((rows, columns), key[first]), sums)


INPUTS, VALUES, MULTIPLIERS = "inputs", "values", "multipliers"


class GatheredInputs:
    """What kernels take of x at all instants, (width, N) of each block: blocks that take the same
    share it. `values` keeps those of blocks whose slopes were asked for, as these give both.
    `at`(function, count) evaluates kernels; `gathering` are the Gathering of several blocks, with
    which it takes getters of functions."""

    def __init__(
        self, x: ca.MX, at: Callable = map_function, gathering: Sequence["Gathering"] = ()
    ) -> None:
        self.x, self.at, self.gathering = x, at, gathering
        self.values: dict[int, ca.MX] = {}
        self.known: list[tuple[Block, ca.MX]] = []

    def __call__(self, block: Block) -> ca.MX:
        for other, inputs in self.known:
            if same_inputs(block, other):
                return inputs
        together = self.of(block)
        gather = together.function(INPUTS) if together else None
        if together and gather is not None:
            self.known += zip(together.distinct, gather.call([self.x]))
            return self(block)
        own = ca.reshape(block.matrix @ self.x, block.kernel.width, len(block.s))
        self.known.append((block, own))
        return own

    def of(self, block: Block) -> "Gathering | None":
        """Return the Gathering that a block is in."""
        for each in self.gathering:
            if any(block is other for other in each.blocks):
                return each
        return None


class Gathering:
    """`blocks` that are assembled to so many `rows`, with the functions of machine code that gather
    what they take of x, sum up their values and hand them their multipliers."""

    def __init__(self, blocks: Sequence, rows: int, machine: KernelBackend | None = None) -> None:
        self.blocks = blocks
        self.distinct: list[Block] = []
        for block in blocks:
            if not any(same_inputs(block, other) for other in self.distinct):
                self.distinct.append(block)
        self.begun: Callable[[], Mapping[str, ca.Function] | None] = lambda: None
        if machine is not None and blocks:
            known_by = [rows, *(block.digest for block in blocks)]
            self.begun = machine.gather_sums(partial(self._functions, rows), known_by)

    def function(self, name: str) -> ca.Function | None:
        """Return one of the functions, None where there is no machine code."""
        functions = self.begun()
        return None if functions is None else functions[name]

    def _functions(self, rows: int) -> dict[str, Sums]:
        sizes = [(each.kernel.size, len(each.s)) for each in self.blocks]
        width = self.distinct[0].matrix.shape[1]
        inputs = [((each.kernel.width, len(each.s)), [(0, each.matrix)]) for each in self.distinct]
        spread = [spread_matrix(each, rows) for each in self.blocks]
        handed = [(size, [(0, each.T)]) for size, each in zip(sizes, spread)]
        return {
            INPUTS: Sums(shapes=[(width, 1)], results=inputs),
            VALUES: Sums(shapes=sizes, results=[((rows, 1), list(enumerate(spread)))]),
            MULTIPLIERS: Sums(shapes=[(rows, 1)], results=handed),
        }


def same_inputs(block: Block, other: Block) -> bool:
    """Tell whether two blocks take the same of x, at the same instants."""
    if block is other:
        return True
    if not np.array_equal(block.s, other.s) or block.kernel.width != other.kernel.width:
        return False
    one, two = block.matrix, other.matrix
    if one is two:
        return True
    return one.sparsity() == two.sparsity() and np.array_equal(one.nonzeros(), two.nonzeros())


def spread_matrix(block: Block, rows: int) -> ca.DM:
    """Return the matrix (rows, m * N) that sums the values of a block up to the rows."""
    return matrix_of(
        rows,
        block.target.size,
        block.target.T.ravel(),
        np.arange(block.target.size),
        block.weight.T.ravel(),
    )


def line_entries(matrix: ca.DM, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every entry of the given lines of a sparse matrix, the position in `lines`, the
    column and the value."""
    transposed = matrix.T
    start, column = (
        np.array(transposed.sparsity().colind()),
        np.array(transposed.sparsity().row(), dtype=int),
    )
    counts = start[lines + 1] - start[lines]
    picked = np.repeat(np.arange(len(lines)), counts)
    within = np.arange(len(picked)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = np.repeat(start[lines], counts) + within
    return picked, column[entry], np.array(transposed.nonzeros())[entry]
