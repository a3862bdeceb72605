"""A statement in a table: what moves, how long, what is asked, and what is best."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ocp.mechanics.values.validation import shortened
from ocp.notebooks import table
from ocp.problem.constraint import Constraint, Span
from ocp.problem.terms import Objective

if TYPE_CHECKING:
    from ocp.problem.statement import Problem

AT = {"path": "all along", "start": "at the start", "end": "at the end", "ends": "at both ends"}
AT |= {"joined": "at both ends at once", "durations": "of the phases' durations"}
AT |= {"hull": "of every control point"}


def html_of(problem: "Problem") -> str:
    """Return a problem as a table in HTML."""
    return table(_rows(problem), title="Problem")


def _rows(problem: "Problem") -> Iterator[tuple[str, str]]:
    yield "tree", repr(problem.tree)
    if not problem.phases:
        yield from _motion("", problem)
    shared = {each.name for each in problem.requirements}
    for phase, part in zip(problem.phases, problem.parts):
        yield from _motion(f"phase {phase.name}: ", part)
        if phase.objective is not None:
            yield f"phase {phase.name}: minimise", _terms(phase.objective)
        for each in part.requirements:
            if each.name not in shared:
                yield f"phase {phase.name}: constraint {each.name}", _when(each)
    if problem.objective is not None:
        yield "minimise", _terms(problem.objective)
    for each in problem.requirements:
        yield f"constraint {each.name}", _when(each)
    for transition in problem.transitions:
        yield "link", transition.name
    if problem.symmetry is not None:
        yield "symmetry", "the end is the image of the start"
    if problem.loads:
        yield "loads", shortened(", ".join(str(load.point) for load in problem.loads))
    if problem.outputs:
        yield "outputs", shortened(", ".join(problem.outputs))


def _terms(objective: Objective) -> str:
    return " + ".join(f"{weight:g} {term.name}" for weight, term in objective.terms) or "nothing"


def _motion(label: str, problem: "Problem") -> Iterator[tuple[str, str]]:
    motion, (lower, upper) = problem.motion, problem.duration
    yield f"{label}motion", f"{type(motion).__name__} of {motion.points} points"
    lasting = f"{lower:g} s" if lower == upper else f"{lower:g} to {upper:g} s"
    yield f"{label}duration", lasting
    if problem.ground is not None:
        feet = ", ".join(foot.name for foot in problem.ground.feet)
        yield f"{label}ground", f"under {shortened(feet)}"


def _when(each: Constraint) -> str:
    """Return when a constraint holds, and of how many rows, in words."""
    when: Any = each.when
    if isinstance(when, str):
        place = AT.get(when, when)
    elif isinstance(when, Span):
        place = f"from {when.start:g} to {when.end:g} of the motion"
    else:
        place = "at an instant that is open"
    rows = ", ".join(dict.fromkeys(each.labels))
    return f"{place}: {shortened(rows)}" if rows else place
