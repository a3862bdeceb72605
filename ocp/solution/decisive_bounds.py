"""Bounds of the duration and of free parameters at which an optimum lies."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ocp.mechanics.values.parameters import Parameter
from ocp.problem.reserved_names import DURATION

NEAR = 1e-6  # of the range, or of the bound where the range has no end: nearer is at the bound


def duration_bounds(bounds: tuple[float, float], duration: float) -> Iterator[str]:
    """Yield in words at which of its bounds (s) a free duration lies; of a given one nothing."""
    lower, upper = bounds
    if lower < upper:
        yield from _bounds_reached(DURATION, duration, lower, upper, "s")


def parameter_bounds(
    sought: Iterable[Parameter], values: Mapping[Parameter, float]
) -> Iterator[str]:
    """Yield in words at which of their bounds parameters lie that were sought."""
    for each in sought:
        name = f"parameter {each.name}"
        yield from _bounds_reached(name, values[each], each.lower, each.upper, each.unit)


def _bounds_reached(
    name: str, value: float, lower: float, upper: float, unit: str
) -> Iterator[str]:
    for side, bound in (("lower", lower), ("upper", upper)):
        size = upper - lower if np.isfinite(upper - lower) else max(1.0, abs(bound))
        if abs(value - bound) <= NEAR * size:
            amount = f"{bound:.6g} {unit}".rstrip()
            yield f"{name} is at its {side} bound, {amount}, which decides the answer"
