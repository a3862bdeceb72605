"""Slopes of an optimum's objective by the parameters that were given, from its multipliers alone.

With the active set held, dJ/dp is the slope of the Lagrangian by p (Fiacco 1976): here a difference
over a small step, of the program's own functions and of its bounds.
"""

import numpy as np

from ocp.solution.solution import Solution
from ocp.solving.parameter_values import values_of
from ocp.solving.starts.warm_start import start
from ocp.transcription.transcribe import Transcribed

STEP = 1e-5  # of a parameter, over max(1, |value|)


def slopes(solution: Solution) -> dict[str, float]:
    """Return {parameter: dJ/dp} of a solution on a plan, of those that were given; none where the
    solver left no multipliers, or where unknowns of the program are not those of the motion."""
    plan = solution.plan
    if plan is None or not solution.multipliers or plan.transcribed.reduction is not None:
        return {}
    free = {each.name for each in plan.free}
    values = {name: value for name, value in solution.parameters.items() if name not in free}
    here = plan.at(values)
    begin = start(here, solution)
    multipliers = begin.multipliers["x_multipliers"], begin.multipliers["g_multipliers"]
    height, known = _lagrangian(here, begin.x, *multipliers), {}
    upper = {each.name: each.upper for each in plan.parameters}
    for name, value in values.items():
        step = STEP * max(1.0, abs(value))
        step = step if value + step <= upper[name] else -step
        moved = values_of(plan.parameters, values | {name: value + step})
        there = here.at(moved, bounds_alone=True)
        x = begin.x.copy()
        x[there.layout.parameters] = list(there.layout.values.values())
        known[name] = (_lagrangian(there, x, *multipliers) - height) / step
    return known


def _lagrangian(
    transcribed: Transcribed, x: np.ndarray, x_multipliers: np.ndarray, g_multipliers: np.ndarray
) -> float:
    """Return f + y' (g - bounds) - z' bounds at x, each bound the one that its multiplier prices.

    What fixes the parameters is no bound of these.
    """
    nlp = transcribed.nlp
    prices = x_multipliers.copy()
    prices[transcribed.layout.parameters] = 0.0
    gaps = np.array(nlp.constraints(x)).ravel()
    gaps -= _active_bounds(nlp.g_lower, nlp.g_upper, g_multipliers)
    return (
        float(nlp.objective(x))
        + float(g_multipliers @ gaps)
        - float(prices @ _active_bounds(nlp.lower, nlp.upper, prices))
    )


def _active_bounds(lower: np.ndarray, upper: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Return the bounds on the side of the multipliers, zero where there is none."""
    bounds = np.where(multipliers > 0.0, upper, lower)
    return np.where(np.isfinite(bounds), bounds, 0.0)
