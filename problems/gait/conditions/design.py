"""Which conditions are walked in, and the study that walks in them all.

They are those by which Afschrift et al. (2025) judge predicted gaits: speed, slope, crouch, and
masses worn on trunk, waist, thighs, shanks and feet. Times and lengths of steps are found.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ocp.problems.gait.conditions.measuring import measured
from ocp.problems.gait.statement import SPEED, problem
from ocp.problems.gait.walking import walk

from ocp import Solver, Spline, Transcription
from ocp.studies import Study, carry_out, cell, content_of, recipe

AXES = ("speed", "slope", "crouch", "load")
USUAL = {"speed": SPEED, "slope": 0.0, "crouch": 0.0, "load": ""}
# Of a segment: the objective of the usual walk is off its integral by 4 % with 4, by 1.4 % with 6
# and by 0.9 % with 8, since torques bend between nodes just after the strike
NODES = 12
SIGNS = {"speed": "", "slope": "+", "crouch": ""}  # of values in names
# Away from the usual walk, m/s and deg, each condition from the one before it
BRANCHES = (
    ("speed", (1.0, 0.8, 0.6)),
    ("speed", (1.4, 1.6, 1.8, 2.0)),
    ("slope", (-5.0, -8.0)),
    ("slope", (5.0, 8.0)),
    ("crouch", (20.0, 35.0)),
)
# kg, those of legs on each side: the heavier ones of Browning et al. (2007), and a trunk's
LOADS = ("trunk=16", "waist=16", "thigh=4", "thigh=8", "shank=2", "shank=4", "foot=2", "foot=4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition: the `value` on one of the AXES, all others as in the usual walk, whose axis is
    "usual". It is solved from the one `before` it, that from standing."""

    axis: str
    value: Any
    before: "Condition | None" = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what is asked of the problem."""
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
    """Yield the usual walk, and the others along BRANCHES and with LOADS."""
    usual = Condition(axis="usual", value=SPEED)
    yield usual
    for axis, values in (*BRANCHES, *(("load", (load,)) for load in LOADS)):
        last = usual
        for value in values:
            last = Condition(axis=axis, value=value, before=last)
            yield last


CONDITIONS = tuple(_conditions())


def chosen(axes: Collection[str]) -> tuple[Condition, ...]:
    """Return the conditions of some AXES, and the usual walk."""
    return tuple(each for each in CONDITIONS if each.axis in {"usual", *axes})


def swept(conditions: Sequence[Condition], nodes: int = NODES, **options: Any) -> Study:
    """Walk in conditions and return the Study, its cells in their order.

    Those that others start from must stand before these; what fails so starts from standing.
    `nodes` of a segment; `options` are those of `carry_out`: file, workers, watch, retry, seconds.
    """
    settled = Transcription(method=Spline(nodes=nodes))
    way = recipe(problem, settled, Solver(), method=walk, measure=measured)
    plan: list[Any] = []
    places: dict[str, int] = {}
    for k, each in enumerate(conditions):
        start = None if each.before is None else places[each.before.name]
        near = None if start is None else plan[start][0]
        content = content_of(way, each.arguments)
        plan.append((cell(each.arguments, content, near), start))
        places[each.name] = k
    return carry_out(plan, **options)
