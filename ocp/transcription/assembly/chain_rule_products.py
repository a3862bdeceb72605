"""J M and M' H M as products of small dense matrices, node by node, where J and H are derivatives
of kernels by their inputs at all instants, and M makes these inputs of variables.

Inputs that depend on the same variables are a unit, as q, qd and qdd of a joint, which depend on
its control points. Units of a kind are made of variables of their own by the same numbers, a dense
block of few instants and few variables after the other. What stands between a row and a unit, or
between two units, is multiplied by the weights with which these follow from their variables. Pairs
of alike units are multiplied by the same weights, so all of them at an instant are one matrix.
Second derivatives are summed over neighbouring instants that know the same variables, in the same
product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from ocp.codegen.kept_results import digest
from ocp.codegen.linear_maps import Product
from ocp.index_sets import distinct
from ocp.transcription.kernels.kernels import Kernel


@dataclass(frozen=True, kw_only=True, repr=False)
class Block:
    """A kernel at several instants: `s` (N,), the map M (N * width, variables) as `matrix`, and for
    every value where it goes.

    `target` (m, N) is the row of the assembled vector, -1 for nowhere; values meant for the same
    row are summed with `weight` (m, N).
    """

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    target: np.ndarray
    weight: np.ndarray

    def __repr__(self) -> str:
        return f"Block({self.kernel!r} at {len(self.s)} instants)"

    @cached_property
    def digest(self) -> bytes:
        """The hash of all but the values of its kernel."""
        kernel = self.kernel
        sizes = np.array([kernel.size, kernel.width])
        own = kernel.rows, kernel.columns, sizes, self.target, self.weight
        return digest(self.s, self.matrix, *own)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Kind:
    """How the `size` inputs of a unit follow from its variables, in runs of instants that know the
    same ones: `run` (N,) of every instant, `local` (runs, K) the variables that it knows among the
    unit's own, -1 for none, and `weight` (N, size, K)."""

    run: np.ndarray
    local: np.ndarray
    weight: np.ndarray

    @property
    def size(self) -> int:
        """The number of inputs of such a unit."""
        return self.weight.shape[1]

    def __repr__(self) -> str:
        return f"Kind({self.size} inputs, {len(self.local)} runs)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Units:
    """The units of a kernel's inputs: of every input (width,) its `unit`, -1 where no variable
    makes it, and its `place` there; the `kind` (units,) of each among `kinds`, and its own
    `variables`."""

    unit: np.ndarray
    place: np.ndarray
    kind: np.ndarray
    kinds: tuple[Kind, ...]
    variables: tuple[np.ndarray, ...]

    def __repr__(self) -> str:
        return f"Units({len(self.variables)} units of {len(self.kinds)} kinds)"

    def variables_of(self, kind: int, members: np.ndarray) -> np.ndarray:
        """Return the variables (members, runs, K) that units of a kind know in its runs, -1 for
        none."""
        local = self.kinds[kind].local
        own = np.array([self.variables[unit] for unit in members])
        return np.hstack([own, np.full((len(own), 1), -1)])[:, local]


def units_of(matrix: ca.DM, width: int) -> Units:
    """Return the Units of the inputs that M (N * width, variables) makes."""
    line, variable = (np.array(index, dtype=int) for index in matrix.sparsity().get_triplet())
    value, count = np.array(matrix.nonzeros()), matrix.shape[0] // width
    instant, entry = np.divmod(line, width)
    unit = _number_units(entry, variable, width, matrix.shape[1])
    order = np.lexsort((variable, entry, instant, unit[entry]))
    instant, entry, variable, value = (each[order] for each in (instant, entry, variable, value))
    number = int(unit.max(initial=-1)) + 1
    ends = np.cumsum(np.bincount(unit[entry], minlength=number)).tolist()
    place, inputs = _within(unit, number)
    owner = np.full(matrix.shape[1], -1)
    owner[variable] = unit[entry]
    local, owned = _within(owner, number)
    places, locals_, kind = place[entry], local[variable], []
    kinds: dict[bytes, tuple[int, Kind]] = {}
    for first, last, made, known in zip([0, *ends], ends, inputs, owned):
        part = slice(first, last)
        parts = instant[part], places[part], locals_[part], value[part]
        key = b"".join(each.tobytes() for each in parts)
        if key not in kinds:
            kinds[key] = len(kinds), _kind(*parts, (count, len(made), len(known)))
        kind.append(kinds[key][0])
    return Units(
        unit=unit,
        place=place,
        kind=np.array(kind, dtype=int),
        kinds=tuple(each for _, each in kinds.values()),
        variables=tuple(owned),
    )


def _within(unit: np.ndarray, count: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the place of everything within its unit (of -1 for none: -1), and what each of the
    `count` units has, in order."""
    order = np.argsort(unit, kind="stable")[np.count_nonzero(unit < 0) :]
    sizes = np.bincount(unit[order], minlength=count)
    starts = np.cumsum(sizes) - sizes
    place = np.full(len(unit), -1)
    place[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return place, np.split(order, starts[1:]) if count else []


def _number_units(entry: np.ndarray, variable: np.ndarray, width: int, size: int) -> np.ndarray:
    """Return the number of the unit of every input (width,), -1 where no variable makes it; inputs
    and variables are joined by what of M is not zero."""
    leader, least = np.arange(width), np.full(size, width)
    while True:
        np.minimum.at(least, variable, leader[entry])
        before = leader.copy()
        np.minimum.at(leader, entry, least[variable])
        if np.array_equal(leader, before):
            break
    unit, made = np.full(width, -1), distinct(entry)[0]
    unit[made] = distinct(leader[made])[1]
    return unit


def _kind(
    instant: np.ndarray,
    place: np.ndarray,
    local: np.ndarray,
    value: np.ndarray,
    shape: tuple[int, int, int],
) -> Kind:
    """Return the Kind of a unit's coefficients, given as triplets; `shape` is the number of
    instants, of inputs and of variables."""
    present = np.zeros((shape[0], shape[2]), dtype=bool)
    present[instant, local] = True
    run, active = _runs(present)
    most = max(map(len, active))
    known = np.array([[*each, *[-1] * (most - len(each))] for each in active], dtype=int)
    at = np.full((len(active), shape[2]), -1)
    for number, each in enumerate(active):
        at[number, each] = np.arange(len(each))
    weight = np.zeros((shape[0], shape[1], most))
    weight[instant, place, at[run[instant], local]] = value
    return Kind(run=run, local=known, weight=weight)


def _runs(present: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Return the run of every instant (N,), and the variables of each run: neighbours go together
    as long as they know no more variables than one of all instants does alone."""
    most = int(present.sum(axis=1).max())
    run = np.zeros(len(present), dtype=int)
    active: list[set[int]] = []
    for number, row in enumerate(present):
        known = set(np.nonzero(row)[0].tolist())
        if active and len(active[-1] | known) <= most:
            active[-1] |= known
        else:
            active.append(known)
        run[number] = len(active) - 1
    return run, [sorted(each) for each in active]


def slopes(block: Block, units: Units) -> Iterator[Product]:
    """Yield the Products of J M: a kernel's rows with all that one unit of inputs depends on."""
    rows, columns = block.kernel.rows, block.kernel.columns
    unit, place = units.unit[columns], units.place[columns]
    runs = [(k, k + 1) for k in range(len(block.s))]
    for number, kind in enumerate(units.kinds):
        nonzero = np.nonzero((unit >= 0) & (units.kind[unit] == number))[0]
        if not len(nonzero):
            continue
        keys, pair = distinct(unit[nonzero] * block.kernel.size + rows[nonzero])
        slots, slot = distinct(place[nonzero])
        member, row = np.divmod(keys, block.kernel.size)  # neighbours go to neighbouring places
        weight = kind.weight[:, slots]
        there = _nonzero_products(pair, slot, weight != 0)
        known = units.variables_of(number, member)[:, kind.run]  # (pairs, N, K)
        column = np.where(there, known.transpose(1, 2, 0), -1)
        target, factor = block.target[row].T[:, None], block.weight[row].T[:, None]
        yield Product(
            nonzero=nonzero,
            place=slot * len(keys) + pair,
            shape=(len(keys), len(slots)),
            weight=weight,
            runs=runs,
            row=np.broadcast_to(target, column.shape),
            column=column,
            factor=np.broadcast_to(factor, column.shape),
        )


def curvatures(
    triangles: Sequence[tuple[np.ndarray, np.ndarray]], units: Units
) -> Iterator[Product]:
    """Yield the Products of the sum of M' H M, upper triangle, where the nonzeros of several H,
    at (above, right) of each upper triangle, stand one after the other: all that two units of
    inputs depend on, or one and itself."""
    above, right = (np.concatenate([each[k] for each in triangles]) for k in range(2))
    first, second = units.unit[above], units.unit[right]
    count, order = len(units.kind), np.argsort(units.kind, kind="stable")
    rank = np.argsort(order)  # of units, those of a kind together
    turned = rank[first] > rank[second]
    above, right = np.where(turned, right, above), np.where(turned, above, right)
    first, second = units.unit[above], units.unit[right]
    group = (units.kind[first] * len(units.kinds) + units.kind[second]) * 2 + (first == second)
    group[(first < 0) | (second < 0)] = -1
    for number in distinct(group[group >= 0])[0]:
        nonzero, same = np.nonzero(group == number)[0], bool(number % 2)
        kinds = np.divmod(number // 2, len(units.kinds))
        one, other = (units.kinds[kind] for kind in kinds)
        keys, pair = distinct(second[nonzero] * count + first[nonzero])
        within = units.place[above[nonzero]] * other.size + units.place[right[nonzero]]
        slots, slot = distinct(within)
        weight = _weight_products(one.weight, other.weight, *np.divmod(slots, other.size), same)
        cuts = (
            np.nonzero(np.diff(one.run) | np.diff(other.run))[0] + 1
        )  # where either changes its run
        runs = list(pairwise([0, *cuts.tolist(), len(one.run)]))
        starts = [start for start, _ in runs]
        there = np.array([(weight[start:end] != 0).any(axis=0) for start, end in runs])
        there = _nonzero_products(pair, slot, there)
        beyond, left = np.divmod(keys, count)
        sides = [
            units.variables_of(kind, member)[:, units.kinds[kind].run[starts]]
            for kind, member in zip(kinds, (left, beyond))
        ]
        row, column = _variable_pairs(sides[0], sides[1], same)
        yield Product(
            nonzero=nonzero,
            place=slot * len(keys) + pair,
            shape=(len(keys), len(slots)),
            weight=weight,
            runs=runs,
            row=np.where(there, np.minimum(row, column), -1),
            column=np.maximum(row, column),
            factor=np.ones(row.shape),
        )


def _nonzero_products(pair: np.ndarray, slot: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the mask of products that are no structural zeros (runs, K, pairs), from the pair and
    slot of every nonzero and the mask of weights `present` (runs, slots, K)."""
    table = np.zeros((present.shape[1], pair.max() + 1))
    table[slot, pair] = 1
    return present.transpose(0, 2, 1) @ table > 0


def _weight_products(
    first: np.ndarray, second: np.ndarray, one: np.ndarray, other: np.ndarray, same: bool
) -> np.ndarray:
    """Return the products (N, slots, K1 * K2) of two weights, (N, .., K1) and (N, .., K2), in
    places `one` and `other` of every slot: for one and the `same` unit what its second derivatives
    in either order are multiplied by, above the diagonal and on it (N, slots, K (K + 1) / 2)."""
    product = first[:, one, :, None] * second[:, other, None, :]
    if same:
        apart = np.not_equal(one, other)[:, None, None]
        product += apart * first[:, other, :, None] * second[:, one, None, :]
    return product.reshape(*product.shape[:2], -1)[
        ..., _upper_entries(first.shape[2], product, same)
    ]


def _variable_pairs(first: np.ndarray, second: np.ndarray, same: bool) -> list[np.ndarray]:
    """Return the variables that meet in products, (runs, .., pairs) twice, of those that either
    side knows (pairs, runs, K); -1 for none."""
    first, second = first[..., :, None], second[..., None, :]
    there = (first >= 0) & (second >= 0)
    sides = (np.where(there, side, -1) for side in (first, second))
    chosen = _upper_entries(first.shape[2], there, same)
    return [side.reshape(*side.shape[:2], -1)[..., chosen].transpose(1, 2, 0) for side in sides]


def _upper_entries(count: int, product: np.ndarray, same: bool) -> slice | np.ndarray:
    """Return which of a product's last two axes, in a row, are kept: of a unit with itself those
    above the diagonal and on it."""
    if not same:
        return slice(None)
    return np.nonzero(np.triu(np.ones((count, count), dtype=bool)).ravel())[0]
