"""Active inequalities of a lift, and the worth of more room."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp import Constraint, Solution
from ocp.mechanics import convex_hull
from ocp.problem import Foot

SLIGHT = 1e-6  # of the largest multiplier: a constraint with less counts as idle


@dataclass(frozen=True, slots=True)
class Step:
    """By how much a bound is moved to tell what it costs: in words, and in the unit of its row."""

    words: str
    size: float


STEPS = {  # by the unit of the row
    "N m": Step("10 N m", 10.0),
    "rad": Step("5 deg", np.radians(5.0)),
    "m": Step("1 mm", 0.001),
    "m/s": Step("10 mm/s", 0.01),
    "weights m": Step("10 mm", 0.01),
    "weights": Step("0.01 weights", 0.01),
    "": Step("0.1", 0.1),
}


@dataclass(frozen=True, slots=True)
class Pressure:
    """A row of an inequality and its multipliers (N,) at times (N,), s."""

    constraint: Constraint
    row: int
    multipliers: np.ndarray
    times: np.ndarray


def active(solution: Solution) -> list[dict[str, Any]]:
    """Return the inequalities that hold the lift back, those worth most first.

    What they are worth is what a step of STEPS at the bound would gain. Each is plain data: the
    constraint, its row, its side, the times (s) between which it presses, and the `gain` of that
    step to first order, in kg of the box or in % of the objective.
    """
    rows = list(_inequalities(solution))
    largest = max((np.abs(each.multipliers).max() for each in rows), default=0.0)
    entries = [entry for each in rows for entry in _entries(solution, each, SLIGHT * largest)]
    return sorted(entries, key=lambda entry: -entry["gain"])


def _inequalities(solution: Solution) -> Iterator[Pressure]:
    for constraint in solution.problem.requirements:
        pressed = solution.multipliers.get(constraint.name)
        for label, line in zip(pressed.labels, pressed.values) if pressed else ():
            row = constraint.labels.index(label)
            if constraint.lower_of(row) < constraint.upper_of(row):
                yield Pressure(constraint, row, line, pressed.s * solution.duration)


def _entries(solution: Solution, pressure: Pressure, slight: float) -> Iterator[dict[str, Any]]:
    """Yield the entries of the sides of a row that press."""
    heavy = [weight for name, weight, _ in solution.terms if name == "mass"]
    scale = 1.0 / heavy[0] if heavy else 100.0 / abs(solution.objective)
    constraint, line = pressure.constraint, pressure.multipliers
    step = STEPS[constraint.unit(pressure.row)]
    for side, pressing in (("upper", line > slight), ("lower", line < -slight)):
        if pressing.any():
            yield {
                "constraint": constraint.name,
                "row": _label(solution, constraint, pressure.row),
                "side": side,
                "from": float(pressure.times[pressing][0]),
                "to": float(pressure.times[pressing][-1]),
                "step": step.words,
                "unit": "kg" if heavy else "%",
                "gain": float(scale * step.size * np.abs(line[pressing]).sum()),
            }


def _label(solution: Solution, constraint: Constraint, row: int) -> str:
    """Return the label of a row; of an edge of a sole also the side to which it faces."""
    kind, _, rest = constraint.name.partition(".")
    feet = {foot.name: foot for foot in solution.problem.ground.feet}
    name = rest.split(".")[0]
    if kind != "pressure" or name not in feet:
        return constraint.label(row)
    return (
        f"{constraint.label(row)}, the {_facing(feet[name], row, solution.problem.ground.normal)}"
    )


def _facing(foot: Foot, edge: int, normal: Any) -> str:
    """Return to which side an edge of a foot's sole faces."""
    corners = convex_hull(foot.supports[0].polygon, normal)
    out = np.cross(corners[(edge + 1) % len(corners)] - corners[edge], normal)
    if abs(out[2]) >= abs(out[0]):
        return "front" if out[2] > 0 else "back"
    return "inner side" if out[0] * foot.center[0] < 0 else "outer side"
