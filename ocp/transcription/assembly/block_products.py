"""J M and M' H M as products of small dense matrices, node by node, where J and H are derivatives
of kernels by their inputs at all instants, and M makes these inputs of variables.

What stands between a row and a unit of inputs (`units`), or between two units, is multiplied by the
weights with which these follow from their variables. Pairs of alike units are multiplied by the
same weights, so all of them at an instant are one matrix. Second derivatives are summed over
neighbouring instants that know the same variables, in the same product.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ocp.codegen.linear_maps import Product
from ocp.index_sets import distinct
from ocp.transcription.assembly.blocks import Block
from ocp.transcription.variables.variable_units import Units, common_runs


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
        runs = common_runs(one, other)
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
