"""Mesh errors of a finished motion, and the finer basis.

An error is what a certificate would find in a segment, over its tolerance: rows beyond their bounds
and laws unmet between the nodes, the distance to a simulation of the segment, and the change of the
objective by a finer quadrature. Segments with errors above 1 are split into as many parts as the
order of the basis asks for (de Boor 1978, chapter XII; Betts 2010, section 4.7). Knots are
multiplied where torques jump from one limit to the other (Liu, Hager & Rao 2015).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ocp.certificate.checks.replay_motion import segment_defects
from ocp.certificate.row_violations import law_scales
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.motion.quadrature import quadrature
from ocp.motion.spline import APART, BSpline, spline_with_knots
from ocp.problem.constraint import Constraint, Span
from ocp.problem.reserved_names import DYNAMICS, PASSIVE
from ocp.problem.statement import Problem
from ocp.solution.sampling import stack_functions, traces
from ocp.solution.solution import Solution, lifted_kind
from ocp.solvers.nlp import violation
from ocp.solving.refinement.bang_bang import BRACKET, SHARP, Jump, find_jumps
from ocp.transcription.kernels.motion_traces import trace
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import laws, passive_measure
from ocp.transcription.row_requests import dense_grid

DEGREE = 5  # of refined splines: the least that follows a bound closely between knots
LOOKS = 12  # steps per segment at which errors are looked for
MARGIN = 0.5  # of the tolerance: what a split segment aims at
MOST = 4  # parts of one segment in a round
FAR = 100.0  # tolerances: where an error says little of how many parts it takes, two are made
FEW = 8  # segments: fewer halves say little of what a finer basis changes
FINEST = 2e-4  # of the motion: shorter segments are not split
TORQUES = "torques of joints"
GROSS = 0.1  # of the largest torque: a law missed by more in most segments is not kept at all


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshErrors:
    """A finished motion looked at: errors of its segments over the tolerance (segments,), of `laws`
    of motion and of `rows` and the objective.

    `jumps` of rows from bound to bound are those that no multiple knot stands at; a `gross` one is
    no motion of its tree at all.
    """

    laws: np.ndarray
    rows: np.ndarray
    jumps: tuple[Jump, ...]
    gross: bool

    @property
    def errors(self) -> np.ndarray:
        """The larger of both errors of each segment (segments,)."""
        return np.maximum(self.laws, self.rows)

    @property
    def open_jumps(self) -> tuple[Jump, ...]:
        """The jumps that have errors about them."""
        return tuple(jump for jump in self.jumps if not jump.placed)


def mesh_errors(solution: Solution, tolerance: float) -> MeshErrors:
    """Return the errors of a solution: those of torques that are known at nodes alone count to its
    rows, which are asked for there too."""
    problem, motion = solution.problem, solution.problem.motion
    stated = (*laws(problem, motion.collocated), *rigid_contact_laws(problem))
    law = [constraint for constraint, _ in stated]
    rows = [each for each in problem.requirements if _along(each)]
    s = dense_grid(problem, LOOKS)
    wanted = {each.name: each.function for each in (*rows, *law)}
    wanted[TORQUES] = lambda at: at.tau
    values = traces(solution, wanted, s * solution.duration)
    stated_laws = {each.name for each in law} - {DYNAMICS}
    missed, passed = segment_defects(solution) * motion.segments, _quadrature_errors(solution)
    for constraint in (*rows, *law):
        excess = _excess(constraint, s, _scaled_rows(problem, constraint, values))
        found = _by_segment(motion.breaks, s, excess)
        if constraint.name in stated_laws:
            missed = np.maximum(missed, found)
        else:
            passed = np.maximum(passed, found)
    seen = MeshErrors(
        laws=missed / tolerance,
        rows=passed / tolerance,
        jumps=(),
        gross=_law_gap(solution, law, s, values) > GROSS,
    )
    jumps = find_jumps(rows, motion, s, values, seen.errors)
    return seen if jumps and _asks_rates(solution, rows) else replace(seen, jumps=jumps)


def _asks_rates(solution: Solution, rows: list[Constraint]) -> bool:
    """Tell whether anything asks for rates, which are there only where nothing jumps."""
    asked = [each.function for each in rows]
    asked += [term.function for _, term in solution.problem.objective.terms]
    wanted = stack_functions({str(number): function for number, function in enumerate(asked)})
    return trace(solution.problem, solution.formulation, wanted, lifted_kind(solution)).rated


def _along(constraint: Constraint) -> bool:
    return isinstance(constraint.when, Span) or constraint.when in ("path", "hull")


def _scaled_rows(
    problem: Problem, constraint: Constraint, values: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the rows of a constraint, those of the law by inverse dynamics relative to what
    certificates judge them by."""
    own = values[constraint.name]
    if constraint.name != DYNAMICS:
        return own
    joints = [problem.tree.coordinate(label) for label in constraint.labels]
    scales = law_scales(problem.tree, joints, values[TORQUES][joints])
    return own * body_weight(problem.tree) / scales[:, None]


def _excess(constraint: Constraint, s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the excess of the worst row over its bounds (N,), relative to those above 1."""
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


def _law_gap(
    solution: Solution, law: list[Constraint], s: np.ndarray, values: Mapping[str, np.ndarray]
) -> float:
    """Return by how much the law of motion is missed in most segments, of the largest torque.

    Where forces rise within a segment or two, as of what touches, these alone are too long.
    """
    tree, breaks = solution.problem.tree, solution.problem.motion.breaks
    units = {DYNAMICS: body_weight(tree), PASSIVE: passive_measure(tree)}
    names = [each.name for each in law if each.name in units]
    gaps = np.zeros(len(breaks) - 1)
    for name in names:
        largest = np.abs(values[name]).max(axis=0, initial=0.0) * units[name]
        gaps = np.maximum(gaps, _by_segment(breaks, s, largest))
    peak = np.abs(values[TORQUES]).max(initial=0.0)
    return float(np.median(gaps) / max(peak, 1e-12))


def _quadrature_errors(solution: Solution) -> np.ndarray:
    """Return the change of the objective by a finer quadrature in each segment (segments,),
    relative to a segment's share in the whole.
    """
    problem = solution.problem
    motion, terms = problem.motion, problem.objective.terms
    cuts = problem.ground.switches if problem.ground else ()
    running = {
        f"{number}": term.function
        for number, (_, term) in enumerate(terms)
        if term.kind in ("integral", "squares")
    }
    if not running:
        return np.zeros(motion.segments)
    sums = []
    for count in (motion.degree + 1, motion.degree + 4):
        s, weights = quadrature(motion, "gauss", count, cuts)
        values = traces(solution, running, s * solution.duration)
        total = np.zeros(len(s))
        for name, rows in values.items():
            weight, term = terms[int(name)]
            total += weight * (rows**2).sum(axis=0) if term.kind == "squares" else weight * rows[0]
        segment = np.searchsorted(motion.breaks, s, side="right") - 1
        amounts = total * weights * solution.duration
        sums.append(np.bincount(segment, weights=amounts, minlength=motion.segments))
    scale = max(abs(solution.objective), np.abs(sums[1]).sum(), 1e-12)
    return np.abs(sums[1] - sums[0]) * motion.segments / scale


def split_instants(breaks: np.ndarray, errors: np.ndarray, order: int) -> np.ndarray:
    """Return the instants (k,) that split segments with errors above 1, and their neighbours.

    An error falls with the power `order` of the length. Neighbours are halved, because splines
    follow best where lengths change little from one segment to the next.
    """
    large = np.where(np.isfinite(errors), errors, np.inf)
    parts = np.where(large > 1, np.ceil((np.minimum(large, FAR) / MARGIN) ** (1 / order)), 1)
    parts = np.where(large > FAR, 2, np.clip(parts, 1, MOST)).astype(int)
    beside = np.convolve(large > 1, (1, 1, 1))[1:-1] > 0
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


def worst_middles(breaks: np.ndarray, errors: np.ndarray, times: float) -> np.ndarray:
    """Return the middles (k,) of so many segments, those of largest errors, that they are `times`
    as many, and at least FEW."""
    count = max(int(np.ceil((times - 1) * len(errors))), FEW)
    worst = np.argsort(-errors, kind="stable")[:count]
    return (breaks[worst] + breaks[worst + 1]) / 2


def finer_spline(
    motion: BSpline,
    more: np.ndarray,
    jumps: tuple[Jump, ...],
    torn: np.ndarray,
    least: int = DEGREE,
) -> BSpline:
    """Return the spline with more knots, and multiple ones where accelerations jump.

    Around a jump of a row multiple knots stand on either side, and one alone where it is known;
    those that stood for it before are gone. Where loads are `torn` there is one. The degree is
    `least` or more.
    """
    degree = max(motion.degree, least)
    full = degree - 1
    knots = Counter(motion.inner or motion.breaks[1:-1].tolist())
    knots = Counter({s: full if s in motion.jumps else count for s, count in knots.items()})
    knots.update(dict.fromkeys(_separate(more, knots), 1))
    for jump in jumps:
        for s in [s for s in knots if abs(s - jump.s) < jump.clearance]:
            if s in jump.stood or s not in motion.jumps:
                del knots[s]
        for s in jump.stood:
            knots.pop(s, None)
    for jump in jumps:
        sides = (jump.s - jump.reach, jump.s + jump.reach) if jump.reach else (jump.s,)
        knots.update(dict.fromkeys(_separate(np.array(sides), knots), full))
    for s in torn:
        near = min(knots, key=lambda knot: abs(knot - s), default=np.inf)
        knots.pop(near if abs(near - s) < APART else None, None)
        knots[float(s)] = full
    return spline_with_knots(degree, knots.elements())


def finer_mesh(breaks: np.ndarray, more: np.ndarray, jumps: tuple[Jump, ...]) -> tuple[float, ...]:
    """Return the inner ends of the intervals of a finer mesh.

    An interval encloses each jump; one end stands alone where the jump is known closely.
    """
    knots = Counter(breaks[1:-1].tolist())
    knots.update(dict.fromkeys(_separate(more, knots), 1))
    for jump in jumps:
        middle, reach, width = jump.s, jump.width / BRACKET, jump.width
        sharp = reach < SHARP
        for s in [s for s in knots if abs(s - middle) < (width if sharp else reach)]:
            del knots[s]
        sides = (middle,) if sharp else (middle - reach, middle + reach)
        knots.update(dict.fromkeys(_separate(np.array(sides), knots), 1))
    return tuple(sorted(knots))


def _separate(instants: np.ndarray, knots: Mapping[float, int]) -> list[float]:
    """Return the instants that lie inside the motion and apart from knots and from each other."""
    kept: list[float] = []
    for s in np.asarray(instants, dtype=float).tolist():
        others = (0.0, 1.0, *knots, *kept)
        if 0 < s < 1 and min(abs(s - other) for other in others) > 10 * APART:
            kept.append(s)
    return kept
