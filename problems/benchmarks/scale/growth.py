"""Exponents of growth: slopes of logarithms over logarithms by least squares."""

from collections.abc import Sequence

import numpy as np


def exponent(
    sizes: Sequence[float], values: Sequence[float], within: tuple[float, float] = (0.0, np.inf)
) -> float:
    """Return p of value = c size**p, fitted by least squares on logarithms to sizes `within` a
    range; not a number where fewer than two sizes are.

    Raises ValueError for a size or value there that is not positive, and for unequal counts.
    """
    x, y = np.asarray(sizes, dtype=float), np.asarray(values, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"exponent: expected as many values as sizes, got {y.size} and {x.size}")
    chosen = (x >= within[0]) & (x <= within[1])
    x, y = x[chosen], y[chosen]
    if (x <= 0).any() or (y <= 0).any():
        raise ValueError("exponent: expected positive sizes and values")
    if len(np.unique(x)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
