"""Walking conditions, and the study that walks in them all.

They are those by which Afschrift et al. (2025) judge predicted gaits: speed, slope, crouch, and
masses worn on trunk, waist, thighs, shanks and feet. Times and lengths of steps are found.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ocp import Attempt, Problem, Solution, Solver, Spline, Transcription
from ocp.problems.gait.conditions.measuring import measured
from ocp.problems.gait.solve_step import NEAR, TUNED, after, walk
from ocp.problems.gait.statement.step import SPEED, problem
from ocp.problems.gait.statement.walking_task import HUMAN
from ocp.solving import with_stage
from ocp.studies import Study, sweep

AXES = ("speed", "slope", "crouch", "load")
USUAL = {"speed": SPEED, "slope": 0.0, "crouch": 0.0, "load": ""}
# Of a segment: the objective of the usual walk is off its integral by 4 % with 4, by 1.4 % with 6
# and by 0.9 % with 8, since torques bend between nodes just after the strike
NODES, FEW = 12, 4
# From what fewer nodes have led to: the barrier begins where that is about as far off
CLOSE = NEAR | {"mu_init": 1e-5}
SIGNS = {"speed": "", "slope": "+", "crouch": ""}  # of values in names
SPEEDS = (0.6, 0.8, 1.0, 1.4, 1.6, 1.8, 2.0)  # m/s, beside the usual one
SLOPES = (-8.0, -5.0, 5.0, 8.0)  # deg
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
        return {"free_timing": True, "objective": HUMAN, **USUAL, **own}

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


def finely(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve a walk by way of one on FEW nodes, which leads near to it, as `walk` does should that
    or the rest fail. Statistics are of both."""
    coarse = replace(transcription, method=replace(transcription.method, nodes=FEW))
    first = walk(problem, coarse, solver, guess=guess, watch=with_stage(watch, "few nodes first"))
    if first.success:
        near: dict[str, Any] = {"guess": replace(first, multipliers={}), "watch": watch}
        near |= {"attempts": (Attempt(options=TUNED | CLOSE),)}
        last = after(first, "few_nodes", problem, transcription, solver, **near)
        if last is not None:
            return last
    return walk(problem, transcription, solver, guess=guess, watch=watch)


def swept(conditions: Sequence[Condition], nodes: int = NODES, **options: Any) -> Study:
    """Walk in conditions, each from standing, and return the Study, its cells in their order.

    `nodes` of a segment; `options` are those of `sweep`: file, workers, watch, retry, seconds.
    """
    settled = Transcription(method=Spline(nodes=nodes))
    cells = [each.arguments for each in conditions]
    return sweep(problem, cells, settled, Solver(), method=finely, measure=measured, **options)
