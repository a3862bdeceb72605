"""Designs of studies: which combinations of parameters to try, and which cell is whose neighbour.

A design is a plain list of dictionaries.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ocp.solving.parameter_values import nearest_row, range_shares
from ocp.studies.store.argument_flags import Arguments, Keywords

Values = Arguments
Cells = list[Keywords]


def grid(over: Values) -> Cells:
    """Return every combination of {name: values}, the last name running fastest.

    What is no list of values is the same in all.
    """
    names, columns = _columns(over)
    return [dict(zip(names, row)) for row in itertools.product(*columns)]


def side_by_side(over: Values) -> Cells:
    """Return the combinations of {name: values} taken side by side.

    What is no list of values is the same in all. Raises ValueError for lists of different lengths.
    """
    names, columns = _columns(over)
    lengths = {name: len(column) for name, column in zip(names, columns) if _is_list(over[name])}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"zipped: expected equally many values of each parameter, got {counts}")
    count = max(lengths.values(), default=1)
    columns = [
        column if name in lengths else column * count for name, column in zip(names, columns)
    ]
    return [dict(zip(names, row)) for row in zip(*columns)]


def latin_hypercube(over: Values, count: int, seed: int = 0) -> Cells:
    """Return `count` combinations with one value in each of `count` equal bands of every parameter.

    `over`: {name: (low, high)}; two whole numbers as bounds give whole numbers; what is no pair is
    the same in all (McKay et al. 1979). The same seed gives the same design. Raises ValueError.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(
            f"latin hypercube: expected a whole number of cells of at least 1, got {count!r}"
        )
    rng = np.random.default_rng(seed)
    columns = {
        name: _latin_values(name, list(bounds), count, rng)
        if _is_list(bounds)
        else [bounds] * count
        for name, bounds in over.items()
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def design(over: Values | Iterable[Values]) -> Cells:
    """Return the combinations that `over` stands for: a grid of a mapping, a list as it is.

    Raises ValueError for none, or for dictionaries of different names.
    """
    cells = grid(over) if isinstance(over, Mapping) else [dict(cell) for cell in over]
    if not cells:
        raise ValueError("study: no cells: expected at least one combination of parameters")
    odd = next((cell for cell in cells if set(cell) != set(cells[0])), None)
    if odd is not None:
        wanted, given = ", ".join(cells[0]) or "none", ", ".join(odd) or "none"
        raise ValueError(
            f"study: expected the parameters {wanted} in every cell, got {given} in one"
        )
    return cells


def order_outwards(cells: Sequence[Values]) -> tuple[list[int], list[int | None]]:
    """Return the order of cells from the middle of a design outwards, and for each cell the index
    of the nearest one before it, None for the first.

    Distances count each number in shares of its range, and 1 for anything else that differs: to the
    middle they are added, between cells straight; of equally near ones the first is taken.
    """
    columns = [_coordinates([cell[name] for cell in cells]) for name in cells[0]] if cells else []
    places = np.hstack(columns) if columns else np.zeros((len(cells), 1))
    if not len(places):
        return [], []
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    first = int(np.argmin(np.round(np.abs(places - middle).sum(axis=1), 9)))
    order = np.argsort(np.round(np.abs(places - places[first]).sum(axis=1), 9), kind="stable")
    near: list[int | None] = [None] * len(places)
    for number, k in enumerate(order.tolist()):
        near[k] = nearest_row(places, k, sorted(order[:number].tolist())) if number else None
    return order.tolist(), near


def is_number(value: object) -> bool:
    """Tell whether a value of a parameter is a number."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _latin_values(name: str, bounds: list, count: int, rng: np.random.Generator) -> list:
    """Return a value in each band between two bounds, shuffled."""
    if len(bounds) != 2 or not all(map(is_number, bounds)) or not bounds[0] <= bounds[1]:
        raise ValueError(
            f"latin hypercube: {name}: expected a lower and an upper bound, got {bounds}"
        )
    low, high = bounds
    share = (rng.permutation(count) + rng.random(count)) / count
    if all(isinstance(bound, (int, np.integer)) for bound in bounds):
        return [int(value) for value in low + np.floor(share * (high - low + 1))]
    return [float(value) for value in low + share * (high - low)]


def _coordinates(values: list) -> np.ndarray:
    """Return numbers in shares of their range (cells, 1), or a column for each word."""
    if all(map(is_number, values)):
        return range_shares(np.array(values, dtype=float)[:, None])
    texts = list(map(repr, values))
    kinds = sorted(set(texts))
    return np.array([[text == kind for kind in kinds] for text in texts]) / np.sqrt(2)


def _columns(over: Values) -> tuple[list[str], list[list]]:
    columns = [list(values) if _is_list(values) else [values] for values in over.values()]
    empty = next((name for name, column in zip(over, columns) if not column), None)
    if empty is not None:
        raise ValueError(f"study: {empty}: expected at least one value")
    return list(over), columns


def _is_list(values: object) -> bool:
    return isinstance(values, (list, tuple, range, np.ndarray))
