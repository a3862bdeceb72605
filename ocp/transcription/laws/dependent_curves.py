"""Curves of dependent coordinates, on which rigid contacts, closed loops and the laws of passive
joints and of elements' states hold everywhere.

A spline meets a nonlinear law g(q) = 0 at as many instants as it has freedom, and strays between
them by as much as it is coarse. Of the coordinates that a law couples as many depend on the others
as it has independent rows (coordinate partitioning: Wehage & Haug 1982). Joints that nothing drives
and no contact bears, as the root of a body in flight, follow from the others by the law of motion,
tendons that stretch by their equilibrium with fibres. These get knots of their own while the law
holds, enough to follow from the others all along; the others keep the statement's curve. Where a
contact begins or ends accelerations go on, and no more.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import choose_bearing_rows, structure
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.validation import positive_integer
from ocp.motion.spline import ALIKE, BSpline, spline_of_curves, spline_with_knots
from ocp.problem.contact.ground import Ground
from ocp.problem.contact.transmitted_wrenches import passive_rows
from ocp.problem.phases.phase_problems import with_bases
from ocp.problem.statement import Problem
from ocp.transcription.laws.contact_laws import Hold, hold_places, independent_holds

DEGREE = 5  # of curves that follow others: their accelerations are cubic
KEPT = 2  # derivatives that go on where a contact begins or ends
SAMPLES = 20  # postures that tell which coordinates bear a contact best
REACH = 1.0  # rad or m: of coordinates without limits in these postures
TINY = 1e-12
PIECES = 64  # of a motion: steps of walking then keep within a micron and a tenth of a mm a second

Span = tuple[float, float]


def with_dependent_curves(problem: Problem, pieces: int = PIECES) -> Problem:
    """Return the problem on a basis on which its rigid contacts, closed loops and the laws of its
    passive joints hold everywhere.

    Args:
        problem: on a BSpline with given knots, whose curve all other coordinates keep, or in phases
            of which some are.
        pieces: of the whole motion, or of a phase, one of which is the longest between two knots of
            coordinates that depend on the others. Between knots these are off by the sixth power of
            that.

    Raises:
        ValueError: without a BSpline, where nothing makes coordinates depend on others, and for
            fewer pieces than the motion has segments, which are none of their own.
    """
    spans = {name: dependent_spans(part) for name, part in problem.parts.items()}
    if not any(spans.values()):
        raise ValueError(
            "with_dependent_curves: no rigid contact, closed loop, passive joint or tendon stated"
        )
    return with_bases(
        problem,
        [
            _with_curves(part, spans[name], pieces) if spans[name] else part.motion
            for name, part in problem.parts.items()
        ],
    )


def _with_curves(problem: Problem, spans: dict[int, tuple[Span, ...]], pieces: int) -> BSpline:
    """Return the basis of a motion with curves of the coordinates that depend on others."""
    motion = problem.motion
    if not isinstance(motion, BSpline) or motion.moving or motion.curves:
        raise ValueError(f"motion: expected a BSpline on given knots, got {motion!r}")
    if positive_integer("pieces", pieces) < motion.segments:
        raise ValueError(
            f"pieces: expected at least {motion.segments}, as many as the motion has segments, so "
            f"that coordinates that follow others have knots of their own, got {pieces}"
        )
    degree = max(DEGREE, motion.degree)
    inner = [float(s) for s in motion.inner or motion.breaks[1:-1]]
    own = {s: inner.count(s) + degree - motion.degree for s in inner}
    times = _knots(own, spans, degree, pieces)
    curves = [motion] * problem.tree.dof
    for row, held in spans.items():
        kept = dict.fromkeys(own, 1)
        for start, end in held:
            kept |= {s: most for s, most in times.items() if start < s < end}
            kept |= {s: degree - KEPT for s in (start, end) if 0 < s < 1}
        curves[row] = spline_with_knots(degree, Counter(kept).elements())
    return spline_of_curves(curves, degree)


def dependent_spans(problem: Problem) -> dict[int, tuple[Span, ...]]:
    """Return {row of q: the parts of the motion over which that coordinate depends on others}, by
    closed loops and laws of passive joints and states all along, by rigid contacts while they
    hold."""
    tree, ground = problem.tree, problem.ground
    shape = structure(tree)
    loops = choose_bearing_rows(tree, shape.passive) or ()
    whole = loops if shape.closed else passive_rows(tree, ground)
    found: dict[int, list[Span]] = {row: [(0.0, 1.0)] for row in whole}
    number, place = nominal((tree, ground))
    holds = [] if ground is None else independent_holds(number, place)
    if not holds:
        return {row: tuple(spans) for row, spans in found.items()}
    slopes = _slopes(number, place, holds)
    felt = np.any([np.abs(slope) > TINY for slope in slopes], axis=0)
    names = np.array([hold.foot for hold in holds])
    moved = {name: felt[names == name].any(axis=0) for name in names.tolist()}
    for foot in place.feet:
        others = [reach for name, reach in moved.items() if name != foot.name]
        shared = np.any([np.zeros(number.dof, dtype=bool), *others], axis=0)
        for index, support in enumerate(foot.supports):
            span = float(support.when[0]), float(support.when[1])
            rows = [k for k in np.flatnonzero(names == foot.name) if holds[k].number == index]
            taken = [row for row, spans in found.items() if any(_overlap(span, s) for s in spans)]
            for row in _bearing(foot.name, [slope[rows] for slope in slopes], shared, taken):
                found.setdefault(row, []).append(span)
    return {row: tuple(sorted(spans)) for row, spans in found.items()}


def _overlap(span: Span, other: Span) -> bool:
    return min(span[1], other[1]) - max(span[0], other[0]) > ALIKE


def _bearing(
    name: str, rests: Sequence[np.ndarray], shared: np.ndarray, taken: Sequence[int]
) -> list[int]:
    """Return as many coordinates as a contact has rows, those first that move these most in the
    posture where they move them least, and `shared` ones, which move other contacts too, last.

    Raises ValueError where too few are left beside those `taken`.
    """
    chosen: list[int] = []
    for _ in range(len(rests[0])):
        lengths = np.array([np.linalg.norm(rest, axis=0) for rest in rests])
        least = lengths.min(axis=0)
        least[[*taken, *chosen]] = 0.0
        own = np.where(shared, 0.0, least)
        best = int(np.argmax(own if own.max() > TINY else least))
        if not least[best] > TINY:
            raise ValueError(
                f"contact {name!r}: too few coordinates move it that no other contact or loop needs"
            )
        chosen.append(best)
        for rest, length in zip(rests, lengths[:, best]):
            along = rest[:, best] / length
            rest -= np.outer(along, along @ rest)
    return chosen


def _slopes(tree: Tree, ground: Ground, holds: Sequence[Hold]) -> list[np.ndarray]:
    """Return the gradients (rows, n) of rows of contacts in many postures."""
    q = ca.SX.sym("q", tree.dof)
    rows = hold_places(tree, ground, holds, q)
    slope = ca.Function("slope", [q], [ca.jacobian(rows, q)], ["q"], ["slope"])
    return [np.array(slope(posture)) for posture in _postures(tree)]


def _postures(tree: Tree) -> Iterable[np.ndarray]:
    """Return postures (n,) at random within the limits of the joints."""
    limits = np.array([np.broadcast_to(joint.position, 2) for joint in tree.moving], dtype=float)
    lower, upper = np.clip(limits, -REACH, REACH).T
    return np.random.default_rng(0).uniform(lower, upper, (SAMPLES, tree.dof))


def _knots(
    own: dict[float, int], spans: dict[int, tuple[Span, ...]], degree: int, pieces: int
) -> dict[float, int]:
    """Return {inner knot: how often} of the whole basis: those of the statement, the ends of all
    spans, and between two of these others no farther apart than a piece."""
    ends = {s for held in spans.values() for span in held for s in span if 0 < s < 1}
    known = dict(own) | {s: max(degree - KEPT, own.get(s, 0)) for s in ends}
    edges = sorted({0.0, *known, 1.0})
    for a, b in pairwise(edges):
        if b - a > ALIKE and any(x <= a and b <= y for held in spans.values() for x, y in held):
            count = int(np.ceil((b - a) * pieces - ALIKE))
            known |= dict.fromkeys(np.linspace(a, b, count + 1)[1:-1].tolist(), 1)
    return dict(sorted(known.items()))
