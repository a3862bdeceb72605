"""A motion of one phase, stated as phases: cut at instants, its spline, ground and constraints.

What the whole asks at an instant one phase asks: where two meet, the later one. So the same is
asked of the same curve, with the same integrals, and the optimum is the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import cast

from ocp.mechanics.values.validation import check_type
from ocp.motion.basis import Basis
from ocp.motion.spline import BSpline
from ocp.motion.spline_part import parts_between
from ocp.problem.constraint import Constraint, Moment, Span
from ocp.problem.contact.ground import NEAR, Foot, Ground, Support
from ocp.problem.phases.phases import Duration, Phase, continuous
from ocp.problem.statement import Problem

SWING = (inf, -inf)  # when a foot bears that does not stand


def in_phases(problem: Problem, ends: Mapping[str, float]) -> Problem:
    """Return the same motion in phases {name: where it ends, in s of the whole}, in order; the last
    one ends at 1.

    Functions of Instants see the s and t of their phase. Raises ValueError naming what of the
    problem no phase can have: a free duration, free knots, a mesh, loads that vary in time, an
    instant that is open.
    """
    phases = phases_of(problem, ends)
    return Problem(
        tree=problem.tree,
        phases=phases,
        links=(continuous("q", "qd", "qdd"),) * (len(phases) - 1),
        objective=problem.objective,
        constraints=tuple(each for each in problem.constraints if each.when == "joined"),
        loads=problem.loads,
        symmetry=problem.symmetry,
        outputs=problem.outputs,
        scenery=problem.scenery,
    )


def phases_of(
    problem: Problem,
    ends: Mapping[str, float],
    *,
    motions: Sequence[Basis] = (),
    durations: Sequence[Duration] = (),
    last: bool = True,
) -> tuple[Phase, ...]:
    """Return the phases of `in_phases` alone, which end at `ends` {name: s of the whole}, with what
    the problem asks of them but its loads, its objective and its symmetry.

    Where `motions` and `durations` (s) are given they are those, one of each phase, instead of
    parts of the problem's own. Where another phase goes on after the `last`, what holds at the end
    is asked at the start of that. Raises ValueError as `in_phases`, and for other numbers of them.
    """
    edges = (0.0, *map(float, ends.values()))
    if edges[-1] != 1.0 or any(b - a < NEAR for a, b in pairwise(edges)):
        raise ValueError(
            f"phases: expected where each of them ends, in order, the last at 1, got {dict(ends)!r}"
        )
    if not (motions and durations):
        _check(problem)
        whole, lower = cast(BSpline, problem.motion), problem.duration[0]
        motions = motions or parts_between(whole, edges)
        durations = durations or [(b - a) * lower for a, b in pairwise(edges)]
    for what, given in (("motions", motions), ("durations", durations)):
        if len(given) != len(ends):
            raise ValueError(f"phases: {what}: expected {len(ends)}, one of each, got {len(given)}")
    ground = problem.ground
    return tuple(
        Phase(
            name,
            motion=motion,
            duration=duration,
            ground=None if ground is None else ground_between(ground, a, b),
            constraints=tuple(_within(problem.constraints, a, b, last and b >= 1)),
        )
        for name, (a, b), motion, duration in zip(ends, pairwise(edges), motions, durations)
    )


def _check(problem: Problem) -> None:
    if not check_type("phases: problem", problem, Problem).single_phase:
        raise ValueError("phases: this problem has them already")
    if not isinstance(problem.motion, BSpline) or problem.motion.moving:
        raise ValueError("phases: motion: expected a BSpline on given knots")
    lower, upper = problem.duration
    if lower != upper:
        raise ValueError(
            "phases: duration: parts of one spline keep their shares of a given one; "
            "state phases of free durations with splines of their own"
        )
    for load in problem.loads:
        if load.varies:
            raise ValueError(f"phases: load at {load.point!r}: varies in time, that of the whole")


def _within(
    constraints: Sequence[Constraint], a: float, b: float, last: bool
) -> Iterator[Constraint]:
    """Yield the constraints of the whole between two instants, at the second one itself only in the
    `last` phase of all."""
    ends = {"start": a <= 0, "end": b >= 1, "joined": False, "path": True, "hull": True}
    for each in constraints:
        if isinstance(each.when, Moment):
            raise ValueError(f"phases: constraint {each.name!r}: its instant is open")
        if isinstance(each.when, Span):
            when = _part_of(each.when, a, b, last)
            if when is not None:
                yield replace(each, when=when)
        elif each.when == "ends":
            if a <= 0 or b >= 1:
                yield replace(each, when="start" if a <= 0 else "end")
        elif ends[each.when]:
            yield each


def _part_of(span: Span, a: float, b: float, last: bool) -> Span | None:
    """Return the part of a span between two instants, in the s of that part, without the second one
    unless it is the `last`; None for none."""
    start, end = max(span.start, a), min(span.end, b)
    open_start = span.open_start and span.start >= a - NEAR
    open_end = span.open_end and span.end <= b + NEAR
    if not last and end >= b - NEAR:
        end, open_end = b, True
    single = end - start < NEAR
    if end < start - NEAR or (single and (open_start or open_end)):
        return None
    first, final = (min(max((edge - a) / (b - a), 0.0), 1.0) for edge in (start, end))
    last_one = max(first, final)
    return replace(span, start=first, end=last_one, open_start=open_start, open_end=open_end)


def ground_between(ground: Ground, a: float, b: float) -> Ground:
    """Return the ground between two instants of a motion, over s from 0 to 1; feet that do not
    stand there have no support."""
    return replace(ground, feet=tuple(_foot_between(foot, a, b) for foot in ground.feet))


def _foot_between(foot: Foot, a: float, b: float) -> Foot:
    parts = (_support_between(each, a, b) for each in foot.supports)
    supports = tuple(each for each in parts if each is not None)
    first, last = ((edge - a) / (b - a) for edge in foot.bears)
    bears = (first, last) if supports else SWING
    return replace(foot, supports=supports, bears=bears)


def _support_between(support: Support, a: float, b: float) -> Support | None:
    start, end = max(support.when[0], a), min(support.when[1], b)
    if end - start < NEAR:
        return None
    first, last = (min(max((edge - a) / (b - a), 0.0), 1.0) for edge in (start, end))
    return replace(support, when=(first, last))
