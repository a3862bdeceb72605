"""Jumps of rows from one bound to the other, as in bang-bang controls.

A smooth curve replaces a jump by one of the same impulse: the jump is where it leaves the row's
integral unchanged. The row's shape between its bounds says little, since all shapes of one impulse
serve alike between two knots. (Bang-bang control on moving knots: Liu, Hager & Rao 2015)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ocp.motion.basis import Basis
from ocp.motion.spline import SIDE, BSpline
from ocp.problem.constraint import Constraint

SMEARED = 3.0  # segments: what a spline needs to go from bound to bound
NEAR_BOUND = 0.02  # of the way between two bounds: a row is at one
BRACKET = 8.0  # parts of a segment: a jump is first enclosed by one of them on either side
SHARP = 1e-3  # of the motion: what is known so closely needs no enclosing
MOST = 0.5  # of the way between two bounds: a row that goes more at a knot jumps there
PLACED = 1e-3  # of a segment: a multiple knot so near stands where the jump is


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """A jump at `s` of a row, in segments between `start` and `end`, the longest of length `width`.

    The row goes most of its way at the multiple `knot`, if there is one. The jump is known to
    `reach`, 0 where multiple knots stand about it already: those that `stood` for it. It is
    `placed` where there are no errors about these.
    """

    s: float
    start: float
    end: float
    width: float
    knot: float | None = None
    placed: bool = False
    reach: float = 0.0
    stood: tuple[float, ...] = ()

    @property
    def is_smooth(self) -> bool:
        """Whether no knot has struck it yet: a smooth curve stands for it."""
        return self.knot is None and len(self.stood) != 1

    @property
    def clearance(self) -> float:
        """Distance within which single knots are removed: half a segment, or twice the move of its
        knot.
        """
        return self.width / 2 if self.knot is None else 2 * abs(self.s - self.knot)


def find_jumps(
    rows: list[Constraint],
    motion: Basis,
    s: np.ndarray,
    values: Mapping[str, np.ndarray],
    errors: np.ndarray,
) -> tuple[Jump, ...]:
    """Return the Jumps of rows, whose `values` are known at instants s, that no multiple knot
    stands at.

    `errors` (segments,) are over the tolerance. Of jumps that are nearly one, the first is taken.
    """
    every: list[Jump] = []
    for jump in (jump for row in rows for jump in _jumps(row, motion, s, values[row.name])):
        if all(abs(jump.s - other.s) > jump.width / BRACKET for other in every):
            every.append(jump)
    owned: dict[float, list[float]] = {jump.s: [] for jump in every}
    for knot in motion.jumps.tolist() if every and isinstance(motion, BSpline) else ():
        owned[min(owned, key=lambda place: abs(place - knot))].append(knot)
    return tuple(
        _with_knots(jump, motion, owned[jump.s], errors)
        for jump in every
        if jump.knot is None or abs(jump.knot - jump.s) > PLACED * jump.width
    )


def _with_knots(jump: Jump, motion: Basis, owned: list[float], errors: np.ndarray) -> Jump:
    """Return the Jump with the multiple knots that stood for it, the nearest of which it is."""
    about = (motion.breaks[:-1] >= jump.start) & (motion.breaks[1:] <= jump.end)
    stood = tuple(knot for knot in owned if jump.start <= knot <= jump.end)
    reach = jump.width / BRACKET
    return replace(
        jump,
        placed=(jump.knot is not None or bool(stood)) and not (errors[about] > 1).any(),
        reach=0.0 if stood or reach < SHARP else reach,
        stood=stood,
    )


def _jumps(
    constraint: Constraint, motion: Basis, s: np.ndarray, values: np.ndarray
) -> Iterator[Jump]:
    """Yield the Jumps of a row from one of its bounds to the other, in SMEARED segments at most."""
    lower, upper = constraint.bounds(len(values))
    for row in np.nonzero(np.isfinite(upper - lower) & (lower < upper))[0]:
        share = (values[row] - lower[row]) / (upper[row] - lower[row])
        at_bound = (share > 1 - NEAR_BOUND).astype(int) - (share < NEAR_BOUND)
        places = np.nonzero(at_bound)[0]
        turns = np.nonzero(at_bound[places[:-1]] * at_bound[places[1:]] < 0)[0]
        for first, last in zip(places[turns], places[turns + 1]):
            done = share if share[last] > share[first] else 1 - share
            line = slice(first, last + 1)
            knot = _multiple_knot(s[line], done[line])
            ends = _segment_ends(motion.breaks, s[first], s[last], knot)
            width = float(np.diff(ends).max())
            if s[last] - s[first] <= SMEARED * width:
                line = _jump_samples(motion.breaks, s, at_bound, first, last)
                place = float(s[line][-1] - np.trapezoid(done[line], s[line]))
                yield Jump(s=place, start=ends[0], end=ends[-1], width=width, knot=knot)


def _multiple_knot(s: np.ndarray, done: np.ndarray) -> float | None:
    """Return the knot at which a row goes most of its way."""
    steps = np.where(np.diff(s) < 2 * SIDE, np.diff(done), 0.0)
    return float(s[1:][steps.argmax()]) if steps.max() > MOST else None


def _segment_ends(breaks: np.ndarray, start: float, end: float, knot: float | None) -> np.ndarray:
    """Return the ends of the segments between two instants, and of those beside a knot."""
    inside = (start + 2 * SIDE, max(start, end - 2 * SIDE))
    if knot is not None:
        inside = (min(inside[0], knot - SIDE), max(inside[1], knot))
    first, last = np.searchsorted(breaks, inside, side="right") - 1
    return breaks[max(first, 0) : min(last, len(breaks) - 2) + 2]


def _jump_samples(
    breaks: np.ndarray, s: np.ndarray, at_bound: np.ndarray, first: int, last: int
) -> slice:
    """Return the instants from where a row is at one bound to where it leaves the other, in the
    segments that it jumps in: at the bounds it overshoots what it lacks between them."""
    start = breaks[max(np.searchsorted(breaks, s[first] + SIDE / 2) - 1, 0)]
    end = breaks[min(np.searchsorted(breaks, s[last], side="right"), len(breaks) - 1)]
    while first and s[first - 1] >= start and at_bound[first - 1] == at_bound[first]:
        first -= 1
    while last + 1 < len(s) and s[last + 1] < end and at_bound[last + 1] == at_bound[last]:
        last += 1
    return slice(first, last + 1)
