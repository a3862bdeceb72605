"""Parameter values by name, and distances between sets of values."""

from collections.abc import Mapping, Sequence

import numpy as np

from ocp.mechanics.values.parameters import Parameter
from ocp.spelling import suggestion


def values_of(
    parameters: Sequence[Parameter], given: Mapping[str, float]
) -> dict[Parameter, float]:
    """Return the value of every parameter: of those `given` by name that, of others their own.

    Raises ValueError for an unknown name, listing the known ones, and for a value that is no number
    within the parameter's bounds.
    """
    known = {each.name: each for each in parameters}
    for name in given:
        if name not in known:
            raise ValueError(
                f"parameter {name!r}: the problem has no such parameter{suggestion(name, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
    return {
        each: each.check(given[name]) if name in given else each.value
        for name, each in known.items()
    }


def range_shares(numbers: np.ndarray) -> np.ndarray:
    """Return columns of numbers (sets, columns) in shares of their ranges."""
    ranges = np.ptp(numbers, axis=0)
    return numbers / np.where(ranges > 0.0, ranges, 1.0)


def nearest_row(places: np.ndarray, k: int, others: Sequence[int]) -> int:
    """Return the one of `others` whose row of places (sets, columns) is nearest to row k, the first
    of equally near ones.
    """
    distances = np.linalg.norm(places[list(others)] - places[k], axis=1)
    return others[int(np.argmin(np.round(distances, 9)))]
