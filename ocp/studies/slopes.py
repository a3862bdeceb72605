"""Slopes of an optimum's objective by the parameters that were given, from its multipliers alone.

With the active set held, dJ/dp is the slope of the Lagrangian by p (Fiacco 1976): here a difference
over a small step, of the program's own functions and of its bounds.
"""

import numpy as np

from ocp.solution.solution import Solution
from ocp.solution.starts import start
from ocp.solvers.nlp import NLP
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
    for name, value in values.items():
        step = STEP * max(1.0, abs(value))
        step = step if value + step <= _upper(plan.parameters, name) else -step
        there = plan.at(values | {name: value + step})
        x = begin.x.copy()
        x[there.layout.parameters] = list(there.layout.values.values())
        known[name] = (_lagrangian(there, x, *multipliers) - height) / step
    return known
