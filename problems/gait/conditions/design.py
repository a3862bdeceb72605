"""Walking conditions, and the study that walks in them all.

They are those by which Afschrift et al. (2025) judge predicted gaits: speed, slope, crouch, and
masses worn on trunk, waist, thighs, shanks and feet. Times and lengths of steps are found.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ocp import Solver, Transcription
from ocp.problems.gait.conditions.measuring import measured
from ocp.problems.gait.solve_step import walk
from ocp.problems.gait.statement.step import SPEED, problem
from ocp.studies import Study, sweep

AXES = ("speed", "slope", "crouch", "load")
USUAL = {"speed": SPEED, "slope": 0.0, "crouch": 0.0, "load": ""}
SIGNS = {"speed": "", "slope": "+", "crouch": ""}  # of values in names
SPEEDS = (0.6, 0.8, 1.0, 1.4, 1.6, 1.8, 2.0)  # m/s, beside the usual one
SLOPES = (-8.0, -5.71, 5.71, 8.0)  # deg: 10 % among them
CROUCHES = (20.0, 35.0)  # deg
# kg, those of legs on each side: the heavier ones of Browning et al. (2007), and a trunk's
LOADS = ("trunk=16", "waist=16", "thigh=4", "thigh=8", "shank=2", "shank=4", "foot=2", "foot=4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition: the `value` on one of the AXES, all others as in the usual walk, whose axis is
    "usual"."""

    axis: str
    value: Any

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the problem."""
        own = {} if self.axis == "usual" else {self.axis: self.value}
        return {"free_timing": True, **USUAL, **own}

    @property
    def name(self) -> str:
        """What it is called in tables."""
        if self.axis == "usual":
            return "usual"
        units = {"speed": "m/s", "slope": "deg", "crouch": "deg", "load": "kg"}
        text = self.value if self.axis == "load" else f"{self.value:{SIGNS[self.axis]}g}"
        return f"{self.axis} {text} {units[self.axis]}"


def _conditions() -> Iterator[Condition]:
    """Yield the usual walk, and the others axis after axis."""
    yield Condition(axis="usual", value=SPEED)
    for axis, values in zip(AXES, (SPEEDS, SLOPES, CROUCHES, LOADS)):
        for value in values:
            yield Condition(axis=axis, value=value)


CONDITIONS = tuple(_conditions())


def chosen(axes: Collection[str]) -> tuple[Condition, ...]:
    """Return the conditions of some AXES, and the usual walk."""
    return tuple(each for each in CONDITIONS if each.axis in {"usual", *axes})


def swept(conditions: Sequence[Condition], **options: Any) -> Study:
    """Walk in conditions, each from standing, and return the Study, its cells in their order.

    `options` are those of `sweep`: file, workers, watch, retry, seconds.
    """
    cells = [each.arguments for each in conditions]
    return sweep(
        problem, cells, Transcription(), Solver(), method=walk, measure=measured, **options
    )
