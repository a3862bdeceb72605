"""Rigid contacts as a law of motion: their pins rest exactly in their places.

Rows of a pin hold where the basis has freedom for them, as those of closed loops do. Of all rows
that hold at a time only the independent ones are asked for, of each other and of what the statement
prescribes at the ends of the motion: a sole whose heel and height of toe are held has no row left
for the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from types import EllipsisType
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.kinematics import positions
from ocp.mechanics.kinematics.loop_assembly import closed_configurations
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, matrix, nominal, parameters_of
from ocp.mechanics.values.types import Matrix
from ocp.motion.basis import Basis
from ocp.motion.spline import ALIKE, BSpline
from ocp.problem.constraint import Constraint, Span
from ocp.problem.contact.ground import Ground, Support
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import CONTACTS
from ocp.problem.statement import Problem
from ocp.transcription.kernels.motion_traces import ByIdentity
from ocp.transcription.laws.loop_boundaries import OFF, PER, dependent_rows, prescribed_by
from ocp.transcription.laws.unilateral_laws import closing_instants
from ocp.transcription.parameters.open_parameters import is_sought

AXES = "xyz"
NEW = 1e-6  # part of a row's gradient beside those before it, from which it says something new
STEPS = 60  # of the search for a posture that stands
START = 0.5  # rad or m: spread of the postures from which it starts
TRIES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A row of a rigid contact: of support `number` of a foot, pin `pin`, a global `axis`."""

    foot: str
    number: int
    pin: int
    axis: int

    def support(self, ground: Ground) -> Support:
        """Return the support that holds."""
        return ground.foot(self.foot).supports[self.number]

    def point(self, ground: Ground) -> str:
        """Return the name of the point that is held."""
        return self.support(ground).pins[self.pin].point

    def target(self, ground: Ground) -> Number:
        """Return the coordinate (m) at which it is held."""
        return self.support(ground).pins[self.pin].target[self.axis]


def _gaps(holds: Sequence[Hold], level: int, at: Instant) -> Matrix:
    """Return the distances (m) of points from their places, their rates or their accelerations."""
    ground: Any = at.ground
    moved = (at.position, at.velocity, at.acceleration)[level]
    points = {name: moved(name) for name in dict.fromkeys(hold.point(ground) for hold in holds)}
    rows = (points[hold.point(ground)][hold.axis] for hold in holds)
    if level:
        return ca.vertcat(*rows)
    return ca.vertcat(*(row - matrix(hold.target(ground)) for row, hold in zip(rows, holds)))


def rigid_contact_laws(
    problem: Problem,
    statement: Problem | None = None,
    free: Iterable[str] = (),
    met: frozenset = frozenset(),
) -> tuple[tuple[Constraint, tuple], ...]:
    """Return the laws of rigid contacts, ((Constraint, instants of every row), ..).

    The `statement` leaves open what the `problem` has numbers for; parameters named in `free` are
    sought. What is `met` {(level, Hold)} at the start by the phase before is not asked for. Raises
    ValueError naming a contact that is out of reach, one that the statement keeps from its place,
    and one whose place is sought without bounds.
    """
    if problem.ground is None or not rigid_holds(problem.ground):
        return ()
    open_ground: Any = problem.ground if statement is None else statement.ground
    roving = frozenset(_holds_sought(open_ground, tuple(free)))
    return _rigid_laws(ByIdentity(problem), roving, met)


@lru_cache(maxsize=16)
def _rigid_laws(same: ByIdentity, roving: frozenset, met: frozenset) -> tuple:
    problem = same.value
    ground, motion = problem.ground, problem.motion
    holds = independent_holds(problem.tree, ground, roving)
    implied = _implied_by_ends(problem, holds, roving) | {(level, 0, hold) for level, hold in met}
    implied |= _implied_by_supports(problem.tree, ground, holds, roving)
    stated = []
    for foot, number in dict.fromkeys((hold.foot, hold.number) for hold in holds):
        rows = [hold for hold in holds if (hold.foot, hold.number) == (foot, number)]
        span = ground.foot(foot).supports[number].when
        for level in range(3):
            instants = tuple(
                _instants(motion, level, span, _at_ends(implied, hold)) for hold in rows
            )
            if level < 2 or any(instants):
                name = f"{CONTACTS[level]}.{foot}" + (f".{number + 1}" if number else "")
                stated.append((_law(name, ground, rows, level, span), instants))
    return tuple(stated)


def _law(
    name: str, ground: Ground, rows: Sequence[Hold], level: int, span: tuple[float, float]
) -> Constraint:
    """Return the law that a level of rows vanishes over a span."""
    return Constraint(
        name=name,
        function=lambda at: _gaps(rows, level, at),
        lower=0.0,
        upper=0.0,
        when=Span(start=span[0], end=span[1]),
        labels=tuple(f"{hold.point(ground)}.{AXES[hold.axis]}" for hold in rows),
        units="m" + PER[level],
    )


def _instants(
    motion: Basis, level: int, span: tuple[float, float], known: tuple[frozenset, frozenset]
) -> tuple[float, ...]:
    """Return the instants at which a row's derivative of that level is to vanish.

    Over a whole spline they are those of closed loops: places at the Greville abscissae, with the
    rates of both ends for the second and the second last. Against places alone, or one place and
    the rates, the curve slips least in between, and phases meet at rest. Where coordinates have
    curves of their own they are those of the part of the spline between both ends of the span.
    """
    if asks_accelerations(motion) and not motion.collocated:
        start, end = span
        part = _part_of_spline(cast(BSpline, motion), start, end)
        return tuple((start + (end - start) * part.closing(level, known)).tolist())
    if motion.collocated or tuple(span) != (0.0, 1.0):
        return tuple(closing_instants(motion, level, span, known, ends_first=True))
    return tuple(motion.closing(level, known).tolist())


def _part_of_spline(motion: BSpline, start: float, end: float) -> BSpline:
    """Return the spline that a motion's is between two instants."""
    inside = [s for s in motion.inner if start + ALIKE < s < end - ALIKE]
    inner = tuple((s - start) / (end - start) for s in inside)
    return BSpline(points=len(inner) + motion.degree + 1, degree=motion.degree, inner=inner)


def asks_accelerations(motion: Basis) -> bool:
    """Tell whether contacts ask for accelerations at the ends of the motion: on meshes, and where
    coordinates have curves of their own."""
    return motion.collocated or bool(motion.curves)


def rigid_holds(ground: Ground) -> list[Hold]:
    """Return all rows that rigid supports could hold."""
    return [
        Hold(foot=foot.name, number=number, pin=k, axis=AXES.index(axis))
        for foot in ground.feet
        for number, support in enumerate(foot.supports)
        if support.rigid
        for k, pin in enumerate(support.pins)
        for axis in pin.axes
    ]


def _holds_sought(ground: Ground, free: tuple[str, ...]) -> Iterator[Hold]:
    """Yield the rows whose place is sought; raise ValueError for one without bounds."""
    for hold in rigid_holds(ground):
        target = hold.target(ground)
        places = [each for each in parameters_of(target) if is_sought(each, free)]
        for each in places:
            if not np.isfinite([each.lower, each.upper]).all():
                raise ValueError(
                    f"contact {hold.foot!r}: its place along {AXES[hold.axis]} follows parameter "
                    f"{each.name!r}, which is free without bounds; give lower and upper (m)"
                )
        if places:
            yield hold


def independent_holds(tree: Tree, ground: Ground, roving: frozenset = frozenset()) -> list[Hold]:
    """Return the rows that say something new, of those that hold at the same time.

    Of every pin first those that say most. Raises ValueError naming a contact out of reach.
    """
    holds = rigid_holds(ground)
    chosen: list[Hold] = []
    number, place = nominal((tree, ground))
    for s in ground.instants:
        there = [hold for hold in holds if _holds(hold.support(ground), s)]
        if not there:
            continue
        slopes = _posture_slopes(number, place, there, [hold in roving for hold in there])
        kept = [hold in chosen for hold in there]
        chosen += [there[k] for k in _independent_rows(slopes, there, kept)]
    return [hold for hold in holds if hold in chosen]


def _implied_by_supports(
    tree: Tree, ground: Ground, holds: list[Hold], roving: frozenset
) -> frozenset:
    """Return (level, 0, row) of rows that hold at their support's start already, since they follow
    from those of the support before it."""
    number, place = nominal((tree, ground))
    implied = set()
    for foot in ground.feet:
        for k, (before, after) in enumerate(pairwise(foot.supports)):
            first = [each for each in holds if (each.foot, each.number) == (foot.name, k)]
            then = [each for each in holds if (each.foot, each.number) == (foot.name, k + 1)]
            if after.when[0] - before.when[1] > ALIKE or not (first and then):
                continue
            both = [*first, *then]
            slopes = _posture_slopes(number, place, both, [hold in roving for hold in both])
            base = np.empty((0, slopes.shape[1]))
            for row in slopes[: len(first)]:
                base = _add_direction(base, row)
            for hold, row in zip(then, slopes[len(first) :]):
                if not np.linalg.norm(_rest(base, row)) > NEW * np.linalg.norm(row):
                    implied |= {(level, 0, hold) for level in range(3)}
    return frozenset(implied)


def _holds(support: Support, s: float) -> bool:
    return bool(support.when[0] - 1e-9 <= s <= support.when[1] + 1e-9)


def _posture_slopes(
    tree: Tree, ground: Ground, holds: list[Hold], roving: list[bool]
) -> np.ndarray:
    """Return the gradients (rows, n) of rows at a posture in which all are met that can be.

    Raises ValueError naming the contact that is farthest from its place if none is.
    """
    q = ca.SX.sym("q", tree.dof)
    targets = ca.vertcat(*(hold.target(ground) for hold in holds))
    gaps = hold_places(tree, ground, holds, q) - targets
    look = ca.Function("stand", [q], [gaps, ca.jacobian(gaps, q)], ["q"], ["gaps", "slopes"])
    firm = ~np.array(roving)
    best, slopes = search_posture(look, tree, firm)
    worst = int(np.argmax(np.abs(best) * firm))
    if firm.any() and not np.abs(best[firm]).max() < OFF:
        hold = holds[worst]
        raise ValueError(
            f"contact {hold.foot!r}: point {hold.point(ground)!r} cannot be at "
            f"{AXES[hold.axis]} = {hold.target(ground):.4g} m with all that stands at that time; "
            f"the nearest is {abs(best[worst]):.4g} m off"
        )
    return slopes


def hold_places(tree: Tree, ground: Ground, holds: Sequence[Hold], q: ca.SX) -> ca.SX:
    """Return the places (rows, m) of the points that rows hold, each along its row's axis."""
    names = [hold.point(ground) for hold in holds]
    places = positions(tree, q, names)
    return ca.vertcat(*(place[hold.axis] for place, hold in zip(places, holds)))


def search_posture(
    look: ca.Function, tree: Tree, firm: np.ndarray | EllipsisType = ...
) -> tuple[np.ndarray, np.ndarray]:
    """Return values (m,) and gradients (m, n) of rows at a posture in which the `firm` ones, by
    default all, are as small as they get from any of several starts; `look`(q) gives both."""
    best, slopes = np.full(look.size1_out(0), np.inf), np.empty((look.size1_out(0), tree.dof))
    for start in _starts(tree):
        values, here = _search(look, start)
        if np.abs(values[firm]).max(initial=0.0) < np.abs(best[firm]).max(initial=0.0):
            best, slopes = values, here
        if np.abs(best).max() < OFF:
            break
    return best, slopes


def _starts(tree: Tree) -> Iterator[np.ndarray]:
    """Yield postures (n,) from which a search starts."""
    rng = np.random.default_rng(0)
    yield np.full(tree.dof, 0.1)
    yield from (np.array(q).ravel() for q in closed_configurations(tree))
    for _ in range(TRIES):
        yield rng.uniform(-START, START, tree.dof)


def _search(look: ca.Function, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and gradients of rows where they are as small as they get near q."""
    for _ in range(STEPS):
        values, slopes = (np.array(part) for part in look(q))
        step = np.linalg.lstsq(slopes, -values, rcond=1e-10)[0].ravel()
        if np.abs(step).max() < 1e-12:
            break
        q = q + step * min(1.0, START / np.abs(step).max())
    values, slopes = (np.array(part) for part in look(q))
    return values.ravel(), slopes


def _independent_rows(slopes: np.ndarray, holds: list[Hold], kept: list[bool]) -> Iterator[int]:
    """Yield the numbers of rows that say something new beside the `kept` ones, pin by pin."""
    base = np.empty((0, slopes.shape[1]))
    for k in np.flatnonzero(kept):
        base = _add_direction(base, slopes[k])
    pins = [(hold.foot, hold.number, hold.pin) for hold in holds]
    for pin in dict.fromkeys(pins):
        left = [k for k, other in enumerate(pins) if other == pin and not kept[k]]
        while left:
            rests = [np.linalg.norm(_rest(base, slopes[k])) for k in left]
            best = int(np.argmax(rests))
            if not rests[best] > NEW * max(float(np.linalg.norm(slopes)), 1e-9):
                break
            base = _add_direction(base, slopes[left[best]])
            yield left.pop(best)


def _rest(base: np.ndarray, row: np.ndarray) -> np.ndarray:
    rest = row - base.T @ (base @ row)
    return rest - base.T @ (base @ rest)


def _add_direction(base: np.ndarray, row: np.ndarray) -> np.ndarray:
    rest = _rest(base, row)
    size = np.linalg.norm(rest)
    return np.vstack([base, rest / size]) if size > 0 else base


def _implied_by_ends(problem: Problem, holds: list[Hold], roving: frozenset) -> frozenset:
    """Return (level, end, row) of rows that follow from what the statement prescribes at the ends
    of the motion.

    Raises ValueError naming a contact that it keeps from its place.
    """
    T: float = np.sqrt(np.prod(nominal(problem.duration)))
    ground: Any = problem.ground
    asked = [
        (level, end, hold)
        for hold in holds
        for end in (0, 1)
        for level in range(3 if asks_accelerations(problem.motion) else 2)  # others do not ask
        if level or hold not in roving  # rates do not depend on where it is
        if hold.support(ground).when[end] == end
    ]
    made: dict = {}

    def gap(at: Instant, level: int, end: int, number: int) -> Matrix:
        if (level, end) not in made:
            made[level, end] = T**level * _gaps(holds, level, at)
        return made[level, end][number]

    functions = [
        (end, partial(gap, level=level, end=end, number=holds.index(hold)))
        for level, end, hold in asked
    ]
    known = dependent_rows(problem, functions) if asked else {}
    for row, found in known.items():
        level, end, hold = asked[row]
        if abs(found.value) > OFF:
            what = ("a gap", "a rate", "an acceleration")[level]
            size = f"{found.value / T**level:.4g} m{PER[level]}"
            raise ValueError(
                f"contact {hold.foot!r}: what the constraints prescribe at the "
                f"{('start', 'end')[end]} leaves {what} of {size} "
                f"of point {hold.point(ground)!r} along {AXES[hold.axis]}"
                f"{prescribed_by(problem, found.sources)}"
            )
    return frozenset(asked[row] for row in known)


def _at_ends(implied: frozenset, row: Hold) -> tuple[frozenset, frozenset]:
    """Return the levels of a row that are implied at the start and at the end."""
    start, end = (
        frozenset(level for level, where, hold in implied if (where, hold) == (side, row))
        for side in (0, 1)
    )
    return start, end
