"""Designs of studies: which combinations of parameters to try, as plain lists of dictionaries; and which cell is whose neighbour."""

import itertools
from collections.abc import Mapping

import numpy as np


def grid(over):
    """Return every combination of {name: values}, the last name running fastest; what is no list of values is the same in all."""
    names, columns = _columns(over)
    return [dict(zip(names, row)) for row in itertools.product(*columns)]


def zipped(over):
    """Return the combinations of {name: values} taken side by side; what is no list of values is the same in all."""
    names, columns = _columns(over)
    lengths = {len(column) for name, column in zip(names, columns) if _is_list(over[name])}
    if len(lengths) > 1:
        told = ", ".join(
            f"{name} {len(column)}" for name, column in zip(names, columns) if _is_list(over[name])
        )
        raise ValueError(f"zipped: expected equally many values of each parameter, got {told}")
    count = max(lengths, default=1)
    return [
        dict(zip(names, row))
        for row in zip(
            *(
                column if _is_list(over[name]) else column * count
                for name, column in zip(names, columns)
            )
        )
    ]


def latin_hypercube(over, count, seed=0):
    """Return `count` combinations with each {name: (low, high)} in `count` equal bands, one value in every band (McKay et al. 1979).

    Two whole numbers as bounds give whole numbers; what is no pair is the same in all. The same seed gives the same design.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(
            f"latin hypercube: expected a whole number of cells of at least 1, got {count!r}"
        )
    rng, columns = np.random.default_rng(seed), {}
    for name, bounds in over.items():
        if not _is_list(bounds):
            columns[name] = [bounds] * count
            continue
        bounds = list(bounds)
        if len(bounds) != 2 or not all(map(_is_number, bounds)) or not bounds[0] <= bounds[1]:
            raise ValueError(
                f"latin hypercube: {name}: expected a lower and an upper bound, got {bounds}"
            )
        share = (rng.permutation(count) + rng.random(count)) / count
        low, high = bounds
        whole = all(isinstance(bound, (int, np.integer)) for bound in bounds)
        columns[name] = (
            [int(value) for value in low + np.floor(share * (high - low + 1))]
            if whole
            else [float(value) for value in low + share * (high - low)]
        )
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def design(over):
    """Return the combinations that `over` stands for: a grid of a mapping, a list of dictionaries as it is.

    Raises ValueError for none, or for dictionaries of different names.
    """
    cells = grid(over) if isinstance(over, Mapping) else [dict(cell) for cell in over]
    if not cells:
        raise ValueError("study: no cells: expected at least one combination of parameters")
    odd = next((cell for cell in cells if set(cell) != set(cells[0])), None)
    if odd is not None:
        raise ValueError(
            f"study: expected the parameters {', '.join(cells[0]) or 'none'} in every cell, got {', '.join(odd) or 'none'} in one"
        )
    return cells


def neighbours(cells):
    """Return for each cell the index of the nearest earlier one, None for the first.

    Distances count each number in shares of its range, and 1 for anything else that differs; of equally near ones the first is taken, so
    that a grid becomes one row of cells, from each of which a column starts.
    """
    if not cells:
        return []
    parts = []
    for name in cells[0]:
        values = [cell[name] for cell in cells]
        if all(map(_is_number, values)):
            line = np.array(values, dtype=float)[:, None]
            parts.append(line / (np.ptp(line) or 1.0))
        else:
            texts = list(map(repr, values))
            parts.append(
                np.array([[text == kind for kind in sorted(set(texts))] for text in texts])
                / np.sqrt(2)
            )
    place = np.hstack(parts) if parts else np.zeros((len(cells), 1))
    return [
        None
        if k == 0
        else int(np.argmin(np.round(np.linalg.norm(place[:k] - place[k], axis=1), 9)))
        for k in range(len(cells))
    ]


def _columns(over):
    columns = [list(values) if _is_list(values) else [values] for values in over.values()]
    empty = [name for name, column in zip(over, columns) if not column]
    if empty:
        raise ValueError(f"study: {empty[0]}: expected at least one value")
    return list(over), columns


def _is_list(values):
    return isinstance(values, (list, tuple, range, np.ndarray))


def _is_number(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
