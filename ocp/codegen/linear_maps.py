"""Constant linear maps of an NLP's derivatives: sparse sums, and scattered products of blocks.

These records say what is computed; `compiler` writes it in C, `assembler` as machine code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

Shape = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Product:
    """Products of small dense matrices whose entries are scattered into a sparse derivative.

    At every instant values `nonzero` (n,) of kernels go to `place` (n,) of a block of `shape`
    (pairs, slots); those of one place are summed. Blocks are multiplied by `weight` (instants,
    slots, K) and summed over each of the `runs` ((start, end), ...). The results go to `row` and
    `column` (runs, K, pairs), -1 for nowhere, times `factor`.
    """

    nonzero: np.ndarray
    place: np.ndarray
    shape: Shape
    weight: np.ndarray
    runs: Sequence[tuple[int, int]]
    row: np.ndarray
    column: np.ndarray
    factor: np.ndarray

    def __repr__(self) -> str:
        return f"Product({self.shape[0]} pairs, {self.shape[1]} slots, {len(self.runs)} runs)"


GivenProducts = tuple[Sequence[Product], Sequence[Shape]]  # products, shapes of their values
Given = Sequence[GivenProducts]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Placement:
    """Places of products in a sparse matrix.

    `given` are ((products, shapes of the values), ...); its nonzeros are at `keys` (count,),
    counted column by column; results of each product go to those of numbers `wheres` (runs, K,
    pairs), -1 for nowhere; `plain` ones have no factors.
    """

    given: Given
    keys: np.ndarray
    wheres: Sequence[np.ndarray]
    plain: bool

    @property
    def makes(self) -> tuple[Given, Sequence[np.ndarray], int]:
        """Arguments of the makers of machine code."""
        return self.given, self.wheres, len(self.keys)


class BlockProduct(NamedTuple):
    """A Product with the tables that a loop needs.

    Value `source` (n,) of all, its `entry` (n,) at an instant, goes to `place` (n,) of a block
    whose columns are `stride` apart; it is copied there if it comes `first` (n,), else added.
    Results are in stretches (k, 3): place among a run's results, place that it goes to, and length;
    those of run r are `ends[r]` to `ends[r + 1]`. The longest run has so many instants.
    """

    product: Product
    stride: int
    source: np.ndarray
    entry: np.ndarray
    place: np.ndarray
    first: np.ndarray
    stretches: np.ndarray
    ends: np.ndarray
    longest: int

    @property
    def columns(self) -> int:
        """Number of columns K of the weights."""
        return self.product.weight.shape[2]


def block_products(given: Given, targets: Sequence[np.ndarray], lanes: int) -> list[BlockProduct]:
    """Return the products with their tables; strides are multiples of `lanes`.

    `targets` (runs, K, pairs) are the nonzeros that results of each product go to, -1 for nowhere.
    """
    made: list[BlockProduct] = []
    offset = 0
    for products, shapes in given:
        sizes = np.array([rows for rows, _ in shapes])
        ends = np.cumsum(sizes)
        for product in products:
            target = targets[len(made)]
            stride = -(-product.shape[0] // lanes) * lanes
            kernel = np.searchsorted(ends, product.nonzero, side="right")
            slot, pair = np.divmod(product.place, product.shape[0])
            first = np.zeros(len(kernel), dtype=bool)
            first[np.unique(product.place, return_index=True)[1]] = True
            run, stretches = _stretches(target, stride)
            made.append(
                BlockProduct(
                    product=product,
                    stride=stride,
                    source=kernel + offset,
                    entry=product.nonzero - (ends - sizes)[kernel],
                    place=slot * stride + pair,
                    first=first,
                    stretches=stretches,
                    ends=np.searchsorted(run, np.arange(len(target) + 1)),
                    longest=max(end - start for start, end in product.runs),
                )
            )
        offset += len(shapes)
    return made


def are_disjoint(targets: Sequence[np.ndarray], count: int) -> bool:
    """Tell whether results fill each of the `count` nonzeros once, so that none is added to."""
    every = np.concatenate([np.ravel(each) for each in targets])
    return np.count_nonzero(every >= 0) == count


def _stretches(target: np.ndarray, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the runs (k,) and (from, to, length) of neighbours that go to neighbouring places."""
    there = target >= 0
    joined = there[..., 1:] & there[..., :-1] & (target[..., 1:] == target[..., :-1] + 1)
    begin, end = there.copy(), there.copy()
    begin[..., 1:] &= ~joined
    end[..., :-1] &= ~joined
    run, column, pair = np.nonzero(begin)
    length = np.nonzero(end)[2] - pair + 1
    return run, np.transpose([column * stride + pair, target[begin], length])


class SumPart(NamedTuple):
    """A constant sparse matrix times input `vector`, added to `result` unless it is the `first`.

    Row i has entries `starts[i]` to `starts[i + 1]` of `places` in the vector and of `weights`.
    """

    name: str
    result: int
    vector: int
    first: bool
    rows: int
    starts: np.ndarray
    places: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sums:
    """A function of matrices of given `shapes` whose `results` are sums of constant products.

    A result is (shape, parts), a part (number of an input, constant matrix that multiplies it).
    """

    shapes: Sequence[Shape]
    results: Sequence[tuple[Shape, Sequence[tuple[int, ca.DM]]]]

    def __repr__(self) -> str:
        return f"Sums({len(self.results)} of {len(self.shapes)})"

    def parts(self) -> Iterator[SumPart]:
        """Yield the parts of all results, by rows."""
        for result, (_, parts) in enumerate(self.results):
            for number, (vector, matrix) in enumerate(parts):
                transposed = matrix.T  # CasADi stores columns, sums go by rows
                yield SumPart(
                    name=f"{result}_{number}",
                    result=result,
                    vector=vector,
                    first=number == 0,
                    rows=matrix.shape[0],
                    starts=np.array(transposed.sparsity().colind()),
                    places=np.array(transposed.sparsity().row()),
                    weights=np.array(transposed.nonzeros()),
                )
