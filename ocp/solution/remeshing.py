"""Where a finished motion is too coarse, and the basis that is finer there.

An error is what a certificate would find in a segment, over its tolerance: rows beyond their bounds
and laws unmet between the nodes, the distance to a simulation of the segment, and what a finer
quadrature adds to the objective. Segments with errors above 1 are split into as many parts as the
order of the basis asks for (de Boor 1978, chapter XII; Betts 2010, section 4.7); where torques jump
from one limit to the other, the knots are multiplied (for bang-bang control: Liu, Hager & Rao
2015).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ocp.mechanics.zero_moment import body_weight
from ocp.motion.basis import Basis
from ocp.motion.quadrature import quadrature
from ocp.motion.spline import APART, SIDE, BSpline
from ocp.problem.names import DYNAMICS, PASSIVE
from ocp.problem.statement import Constraint, Span
from ocp.solution.replaying import segment_defects
from ocp.solution.sampling import traces
from ocp.solution.solution import Solution
from ocp.solvers.nlp import violation
from ocp.transcription.laws import laws
from ocp.transcription.requests import looked_at

DEGREE = 5  # of refined splines: the least that follows a bound closely between knots
LOOKS = 12  # steps per segment at which errors are looked for
MARGIN = 0.5  # of the tolerance: what a split segment aims at
MOST = 4  # parts of one segment in a round
FAR = 100.0  # tolerances: where an error says little of how many parts it takes, two are made
NEAR_BOUND = 0.02  # of the way between two bounds: a row is at one
BRACKET = 8.0  # parts of a segment: a jump is enclosed by one of them on either side
FINEST = 2e-4  # of the motion: shorter segments are not split
SHARP = 1e-3  # of the motion: a bracket so narrow becomes one multiple knot
TORQUES = "torques of joints"
GROSS = 0.1  # of the largest torque: a law missed by more is not kept at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A finished motion looked at: errors of its segments over the tolerance (segments,).

    `jumps` of rows from bound to bound are (s, length of the segment it is in); a `gross` one is no
    motion of its tree at all.
    """

    errors: np.ndarray
    jumps: tuple[tuple[float, float], ...]
    gross: bool


def look(solution: Solution, tolerance: float) -> Look:
    """Return the Look at a solution."""
    problem, motion = solution.problem, solution.problem.motion
    law = [constraint for constraint, _ in laws(problem, motion.collocated)]
    rows = [each for each in problem.requirements if _along(each)]
    s = looked_at(problem, LOOKS)
    wanted = {each.name: each.function for each in (*rows, *law)}
    wanted[TORQUES] = lambda at: at.tau
    values = traces(solution, wanted, s * solution.duration)
    errors = segment_defects(solution) * motion.segments
    for constraint in (*rows, *law):
        excess = _excess(constraint, s, values[constraint.name])
        errors = np.maximum(errors, _by_segment(motion.breaks, s, excess))
    return Look(
        errors=np.maximum(errors, _unintegrated(solution)) / tolerance,
        jumps=tuple(_jumps(rows, motion, s, values)),
        gross=_missed(solution, law, values) > GROSS,
    )


def _along(constraint: Constraint) -> bool:
    return isinstance(constraint.when, Span) or constraint.when in ("path", "hull")


def _excess(constraint: Constraint, s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how far the worst row is beyond its bounds (N,), relative to those above 1."""
    lower, upper = (side[:, None] for side in constraint.bounds(len(values)))
    amounts = np.asarray(violation(values, lower, upper))
    bound = np.abs(np.where(values > upper, upper, lower))
    amounts = amounts / np.maximum(1.0, np.where(np.isfinite(bound), bound, 1.0))
    worst = np.where(np.isnan(amounts), np.inf, amounts).max(axis=0)
    return worst * constraint.when.holds(s) if isinstance(constraint.when, Span) else worst


def _by_segment(breaks: np.ndarray, s: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Return the largest of amounts (N,) at instants s in each segment, ends in both."""
    largest = np.zeros(len(breaks) - 1)
    for side in ("left", "right"):
        segment = np.clip(np.searchsorted(breaks, s, side=side) - 1, 0, len(largest) - 1)
        np.maximum.at(largest, segment, amounts)
    return largest


def _missed(solution: Solution, law: list[Constraint], values: Mapping[str, np.ndarray]) -> float:
    """Return by how much the law of motion is missed at most, of the largest torque."""
    units = {DYNAMICS: body_weight(solution.problem.tree), PASSIVE: 1.0}
    names = [each.name for each in law if each.name in units]
    gaps = [np.abs(values[name]).max() * units[name] for name in names]
    largest = np.abs(values[TORQUES]).max(initial=0.0)
    return float(max(gaps, default=0.0) / max(largest, 1e-12))


def _unintegrated(solution: Solution) -> np.ndarray:
    """Return what finer quadrature adds to the objective in each segment (segments,).

    It is relative to the share of a segment in the whole.
    """
    motion, terms = solution.problem.motion, solution.problem.objective.terms
    running = {
        f"{number}": term.function
        for number, (_, term) in enumerate(terms)
        if term.kind in ("integral", "squares")
    }
    if not running:
        return np.zeros(motion.segments)
    sums = []
    for count in (motion.degree + 1, motion.degree + 4):
        s, weights = quadrature(motion, "gauss", count)
        values = traces(solution, running, s * solution.duration)
        total = np.zeros(len(s))
        for name, rows in values.items():
            weight, term = terms[int(name)]
            total += weight * (rows**2).sum(axis=0) if term.kind == "squares" else weight * rows[0]
        sums.append((total * weights * solution.duration).reshape(motion.segments, -1).sum(axis=1))
    scale = max(abs(solution.objective), np.abs(sums[1]).sum(), 1e-12)
    return np.abs(sums[1] - sums[0]) * motion.segments / scale


def _jumps(
    rows: list[Constraint], motion: Basis, s: np.ndarray, values: Mapping[str, np.ndarray]
) -> Iterator[tuple[float, float]]:
    """Yield where a row goes from one of its bounds to the other within two segments.

    Where it does so at a multiple knot, nothing is left to do.
    """
    for constraint in rows:
        lower, upper = constraint.bounds(len(values[constraint.name]))
        for row in np.nonzero(np.isfinite(upper - lower) & (lower < upper))[0]:
            share = (values[constraint.name][row] - lower[row]) / (upper[row] - lower[row])
            at_bound = (share > 1 - NEAR_BOUND).astype(int) - (share < NEAR_BOUND)
            places = np.nonzero(at_bound)[0]
            turns = np.nonzero(at_bound[places[:-1]] * at_bound[places[1:]] < 0)[0]
            for first, last in zip(places[turns], places[turns + 1]):
                rising = np.sign(share[last] - share[first])
                line = slice(first, last + 1)
                middle = np.interp(0.5 * rising, rising * share[line], s[line])
                width = _width(motion, middle)
                if 2 * SIDE < s[last] - s[first] <= 2 * width:
                    yield float(middle), width


def _width(motion: Basis, s: float) -> float:
    """Return the length of the segment that an instant is in."""
    breaks = motion.breaks
    k = int(np.clip(np.searchsorted(breaks, s, side="right") - 1, 0, motion.segments - 1))
    return float(breaks[k + 1] - breaks[k])


def split(breaks: np.ndarray, errors: np.ndarray, order: int) -> np.ndarray:
    """Return the instants (k,) that split segments with errors above 1, and their neighbours.

    An error falls with the power `order` of the length. Neighbours are halved, because splines
    follow best where lengths change little from one segment to the next.
    """
    large = np.where(np.isfinite(errors), errors, np.inf)
    parts = np.where(large > 1, np.ceil((np.minimum(large, FAR) / MARGIN) ** (1 / order)), 1)
    parts = np.where(large > FAR, 2, np.clip(parts, 1, MOST)).astype(int)
    beside = np.convolve(large > 1, (1, 1, 1), mode="same") > 0
    parts = np.where(beside, np.maximum(parts, 2), parts)
    widths = np.diff(breaks)
    return np.concatenate(
        [np.empty(0)]
        + [
            start + width * np.arange(1, count) / count
            for start, width, count in zip(breaks, widths, parts)
            if width / count > FINEST
        ]
    )


def finer_spline(
    motion: BSpline,
    more: np.ndarray,
    jumps: tuple[tuple[float, float], ...],
    torn: np.ndarray,
    least: int = DEGREE,
) -> BSpline:
    """Return the spline with more knots, and multiple ones where accelerations jump.

    Around a jump (s, length) of a row multiple knots stand on either side, and one alone where it
    is known closely; those that stood about for it are gone. Where loads are `torn` there is one.
    The degree is `least` or more.
    """
    degree = max(motion.degree, least)
    full = degree - 1
    knots = Counter(motion.inner or motion.breaks[1:-1].tolist())
    knots = Counter({s: full if s in motion.jumps else count for s, count in knots.items()})
    knots.update(dict.fromkeys(_apart(more, knots), 1))
    for middle, width in jumps:
        for s in [s for s in knots if abs(s - middle) < 1.5 * width]:
            if s in motion.jumps or abs(s - middle) < width / 2:
                del knots[s]
        reach = width / BRACKET
        sides = (middle,) if reach < SHARP else (middle - reach, middle + reach)
        knots.update(dict.fromkeys(_apart(np.array(sides), knots), full))
    for s in torn:
        near = min(knots, key=lambda knot: abs(knot - s), default=np.inf)
        knots.pop(near if abs(near - s) < APART else None, None)
        knots[float(s)] = full
    inner = tuple(sorted(knots.elements()))
    return BSpline(points=len(inner) + degree + 1, degree=degree, inner=inner)


def finer_mesh(
    breaks: np.ndarray, more: np.ndarray, jumps: tuple[tuple[float, float], ...]
) -> tuple[float, ...]:
    """Return where the intervals of a finer mesh meet.

    Jumps are enclosed by the ends of an interval, and one alone where they are known closely.
    """
    knots = Counter(breaks[1:-1].tolist())
    knots.update(dict.fromkeys(_apart(more, knots), 1))
    for middle, width in jumps:
        reach = width / BRACKET
        sharp = reach < SHARP
        for s in [s for s in knots if abs(s - middle) < (width if sharp else reach)]:
            del knots[s]
        sides = (middle,) if sharp else (middle - reach, middle + reach)
        knots.update(dict.fromkeys(_apart(np.array(sides), knots), 1))
    return tuple(sorted(knots))


def _apart(instants: np.ndarray, knots: Mapping[float, int]) -> list[float]:
    """Return those instants that lie inside the motion and apart from knots and from each other."""
    kept: list[float] = []
    for s in np.asarray(instants, dtype=float).tolist():
        others = (0.0, 1.0, *knots, *kept)
        if 0 < s < 1 and min(abs(s - other) for other in others) > 10 * APART:
            kept.append(s)
    return kept
