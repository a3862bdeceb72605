"""Bounds of the duration and of free parameters at which an optimum lies."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ocp.mechanics.values.parameters import Parameter, evaluate, nominal, parameters_of
from ocp.problem.parameter_requirements import requirements
from ocp.problem.reserved_names import DURATION
from ocp.problem.statement import Problem

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


def soundness_bounds(
    problem: Problem, sought: Iterable[Parameter], values: Mapping[Parameter, float]
) -> Iterator[str]:
    """Yield in words what parameters that were sought make as small, or as large, as it can be.

    Those are the requirements that a link, a joint or a load has by nature, as a mass of at least
    0, near by their size at the parameters' own values.
    """
    sought = set(sought)
    for name, expression, lower, upper, unit in requirements(problem):
        if sought.intersection(parameters_of(expression)):
            reached = float(evaluate(expression, values))
            size = abs(float(nominal(expression))) or 1.0
            yield from _bounds_reached(name, reached, lower, upper, unit, size)


def _bounds_reached(
    name: str, value: float, lower: float, upper: float, unit: str, least: float = 1.0
) -> Iterator[str]:
    """Yield in words at which of its bounds a value lies; of a range without an end, relative to
    the bound or to the `least` size."""
    for side, bound in (("lower", lower), ("upper", upper)):
        size = upper - lower if np.isfinite(upper - lower) else max(least, abs(bound))
        if np.isfinite(bound) and abs(value - bound) <= NEAR * size:
            amount = f"{bound:.6g} {unit}".rstrip()
            yield f"{name} is at its {side} bound, {amount}, which decides the answer"
