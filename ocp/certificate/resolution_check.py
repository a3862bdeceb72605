"""Resolution check: does the certificate of a motion hold between its nodes?

The solver's kernels are evaluated on the certificate's dense grid, for about the cost of one
iteration. Rows that they know are judged as the certificate judges them. The certificate's own
measures decide where kernels know less, for instance what a missed law of motion leads to.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ocp.certificate.checks.energy import energy_error
from ocp.certificate.merged_violations import violations
from ocp.certificate.row_violations import Violation, violations_between_nodes
from ocp.dynamics.catalogue import is_comparable
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.validation import plain_amount
from ocp.motion.quadrature import quadrature
from ocp.problem.constraint import Constraint, Span, bound_excess
from ocp.problem.reserved_names import DYNAMICS, PASSIVE, RESTING, TOUCHING
from ocp.problem.statement import Problem
from ocp.solution.objective_values import LEAST, dense_terms
from ocp.solution.solution import Solution
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.kernels import Kernel, evaluate
from ocp.transcription.kernels.time_derivatives import rate_map
from ocp.transcription.row_requests import certificate_grid
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import duration_at, free_duration, motion_map, motion_width

COARSE = 0.01  # the tolerance to which a certificate is to hold
DOUBT = 4e-3  # less of what is only estimated is passed without the certificate's own measures
LAWS = (DYNAMICS, PASSIVE)
POINTS = 4  # of Gauss's rule on a segment, at which missed laws are looked at
MORE = 3  # points that a finer quadrature has more in each segment
ROWS, MOTION, OBJECTIVE = "rows", "motion", "objective"  # what the certificate is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Largest fault between the nodes: `share` relative as in a certificate, and its `words`."""

    share: float
    words: Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Motion:
    """The motion of the variables `x` (variables,) of a program, which lasts `T` (s); torques that
    are variables at nodes, and nothing else is, are those of inverse dynamics between them, if they
    `follow` from it."""

    transcribed: TranscribedPhase
    x: np.ndarray
    T: float
    follow: bool

    @property
    def problem(self) -> Problem:
        """The problem of the motion."""
        return self.transcribed.problem

    def inputs(self, s: np.ndarray) -> np.ndarray:
        """Return the inputs (width, N) of kernels at instants s (N,)."""
        key = "map", s.tobytes()  # for other values of parameters it is the same
        if key not in self.transcribed.made:
            self.transcribed.made[key] = motion_map(self.transcribed.layout, s)
        y = np.array(self.transcribed.made[key](self.x))
        if self.follow:
            rows = self.lifted
            known = np.delete(y, np.arange(rows.start, rows.stop), axis=0)
            y[rows] = evaluate(self.transcribed.drive_efforts, known, s)
        return y

    @property
    def lifted(self) -> slice:
        """Where what is lifted stands in the inputs of kernels."""
        first = motion_width(self.transcribed.layout.problem)
        return slice(first, first + len(self.transcribed.layout.place))

    def known_at_nodes_only(self, kernel: Kernel) -> np.ndarray:
        """Tell which rows (m,) depend on variables that are known at nodes alone."""
        blind = np.zeros(kernel.size, dtype=bool)
        if not (self.problem.motion.collocated or self.follow):
            rows = self.lifted
            at_nodes = (kernel.columns >= rows.start) & (kernel.columns < rows.stop)
            blind[kernel.rows[at_nodes]] = True
        return blind

    def groups(self) -> Iterator[tuple[Group, np.ndarray]]:
        """Yield the groups of rows along the path, and which rows are (m,)."""
        for group in self.transcribed.groups:
            along = np.array([_along(owner) for owner, _ in group.owners])
            if group.kernel.width == self.transcribed.layout.width and along.any():
                yield group, along


def coarseness(
    transcribed: TranscribedPhase, x: np.ndarray, solution: Solution, whole: float = 0.0
) -> str:
    """Return in words how far a motion misses its constraints and laws between the nodes; "" if its
    basis is fine enough.

    Args:
        transcribed: the program.
        x: its variables (variables,).
        solution: the same motion.
        whole: objective of the whole motion, to which a phase's error is relative where larger.
    """
    layout, exact = transcribed.layout, solution.formulation.approximation is None
    torques_alone = len(layout.place) == len(structure(solution.problem.tree).drives)
    look = Motion(
        transcribed=transcribed,
        x=x,
        T=duration_at(layout, x),
        follow=exact and torques_alone and layout.lifts and not solution.problem.motion.collocated,
    )
    gaps, doubts = _row_gaps(look)
    doubts |= _law_doubts(look) | _objective_doubts(look, whole)
    if max((gap.share for gap in gaps), default=0.0) <= COARSE:
        gaps = list(_certificate_gaps(solution, transcribed, doubts, whole))
    worst = max(gaps, key=lambda gap: gap.share, default=None)
    if worst is None or worst.share <= COARSE:
        return ""
    return f"the mesh is too coarse: between its nodes {worst.words()}; {refinement_advice(COARSE)}"


def refinement_advice(tolerance: float) -> str:
    """Return the advice for a basis that is too coarse."""
    return (
        f"next: solve(problem, refine={tolerance:g}), on the command line --refine {tolerance:g}, "
        "or more points or nodes"
    )


def _along(constraint: Constraint) -> bool:
    if constraint.name in (TOUCHING, RESTING):  # which jump where a stay closes, a point touches
        return False
    return isinstance(constraint.when, Span) or constraint.when == "path"


def _row_gaps(look: Motion) -> tuple[list[Gap], set[str]]:
    """Return the gaps of rows that kernels know as a certificate does, and what it is to say."""
    gaps: list[Gap] = []
    doubts: set[str] = set()
    problem, method = look.problem, look.transcribed.transcription.method
    s = certificate_grid(problem, method.grid(problem), method.steps, problem.requirements)
    y = look.inputs(s)
    for group, along in look.groups():
        blind = along & look.known_at_nodes_only(group.kernel)
        doubts |= {ROWS} if blind.any() else set()
        known = np.flatnonzero(along & ~blind).tolist()
        values = evaluate(group.kernel.values, y, s) if known else ()
        for row in known:
            constraint, number = group.owners[row]
            gap = _gap(look, group.owners[row], s, values[row])
            if constraint.name == DYNAMICS:  # by the torques that it needs
                continue
            if gap.share > COARSE and (constraint.sizes or _is_zero_row(constraint, number)):
                doubts.add(ROWS)  # it counts by other sizes than its bounds
            else:
                gaps.append(gap)
    return gaps, doubts


def _is_zero_row(constraint: Constraint, number: int) -> bool:
    """Tell whether a row is to vanish."""
    return (constraint.lower_of(number), constraint.upper_of(number)) == (0.0, 0.0)


def _gap(look: Motion, owner: tuple[Constraint, int], s: np.ndarray, values: np.ndarray) -> Gap:
    """Return the Gap of one row."""
    constraint, number = owner
    inside = (
        constraint.when.holds(s) if isinstance(constraint.when, Span) else np.full(len(s), True)
    )
    amounts, relative = bound_excess(
        values, constraint.lower_of(number), constraint.upper_of(number)
    )
    k = int(np.argmax(np.where(inside, relative, -1.0)))
    share = float(relative[k])

    def words() -> str:
        amount, unit = plain_amount(float(amounts[k]), constraint.unit(number))
        row = f"{constraint.name} ({constraint.label(number)})"
        off = f"{row} is off by {amount:.3g} {unit}".rstrip()
        return f"{off}, {_times(share)}, at t = {s[k] * look.T:.3g} s"

    return Gap(share=share, words=words)


def _law_doubts(look: Motion) -> set[str]:
    """Return the measures that a certificate must take because laws of motion are missed.

    Forces f that a law lacks are accelerations M^-1 f, by which every segment ends (e, v) off the
    plan. They gather e + v (T - t), as in `Deviations`.
    """
    problem, layout = look.problem, look.transcribed.layout
    n, first = problem.tree.dof, motion_width(problem) - problem.tree.dof
    s, weights = quadrature(problem.motion, "gauss", POINTS)
    names = [joint.name for joint in problem.tree.moving]
    fixed = not free_duration(layout.problem) and layout.timed is None  # else q'' is by s
    for group, along in look.groups():
        law = [k for k, (owner, _) in enumerate(group.owners) if along[k] and owner.name in LAWS]
        if not law or look.known_at_nodes_only(group.kernel)[law].any():
            continue
        y = look.inputs(s)
        forces = evaluate(group.kernel.values, y, s)[law]
        mass = _slopes(group.kernel, y, s, first, n)[:, law]
        sizes = np.abs(mass) @ np.abs(y[first : first + n]).T[:, :, None]
        share = np.abs(forces).max(axis=1) / np.maximum(sizes[:, :, 0].max(axis=0), LEAST)
        moved = [names.index(group.owners[k][0].label(group.owners[k][1])) for k in law]
        if structure(problem.tree).closed or not np.isfinite(mass).all():
            gathered = np.inf if share.max() > DOUBT else 0.0
        else:
            own = mass[:, :, moved]
            off = (np.linalg.pinv(own) @ forces.T[:, :, None])[:, :, 0]
            gathered = _accumulated_error(problem, off * (look.T**2 if fixed else 1.0), s, weights)
        if share.max() > DOUBT or gathered > DOUBT:
            return {ROWS, MOTION, OBJECTIVE}
    return set()


def _slopes(kernel: Kernel, y: np.ndarray, s: np.ndarray, first: int, count: int) -> np.ndarray:
    """Return d rows / d inputs (N, m, count) of a kernel, of the inputs from `first` on."""
    chosen = (kernel.columns >= first) & (kernel.columns < first + count)
    slopes = np.zeros((len(s), kernel.size, count))
    values = evaluate(kernel.jacobian, y, s)[chosen]
    slopes[:, kernel.rows[chosen], kernel.columns[chosen] - first] = values.T
    return slopes


def _accumulated_error(
    problem: Problem, off: np.ndarray, s: np.ndarray, weights: np.ndarray
) -> float:
    """Return the gathered error of accelerations `off` (N, k) over the motion, as `Deviations` has
    it.
    """
    ends = np.repeat(problem.motion.breaks[1:], POINTS)
    rates, places = (
        (off * lever[:, None]).reshape(-1, POINTS, off.shape[1]).sum(axis=1)
        for lever in (weights, weights * (ends - s))
    )
    left = 1.0 - problem.motion.breaks[1:, None]
    return float((np.abs(places) + np.abs(rates) * left).sum(axis=0).max())


def _objective_doubts(look: Motion, whole: float) -> set[str]:
    """Return whether a certificate must integrate the objective, because a finer quadrature changes
    it.
    """
    transcribed, motion = look.transcribed, look.problem.motion
    terms, change = look.problem.objective.terms, 0.0
    values = np.array(transcribed.terms(look.x)).ravel()
    cuts = look.problem.ground.switches if look.problem.ground else ()
    s, weights = quadrature(motion, "gauss", motion.degree + 1 + MORE, cuts)
    y = look.inputs(s)
    for block, (weight, term), value in zip(transcribed.objective_blocks, terms, values):
        if term.at_end or term.instants:
            continue
        if look.known_at_nodes_only(block.kernel).any():
            return {OBJECTIVE}
        plain = block.kernel.width == len(y)
        known = y if plain else rate_map(transcribed.layout, s)(look.x)
        running = evaluate(block.kernel.values, known, s)
        change += float(weight) * float(weights @ running[0] - value)
    total = float(sum(weight * value for (weight, _), value in zip(terms, values)))
    share = abs(change) / max(abs(total), whole, LEAST)
    return set() if share <= DOUBT else {OBJECTIVE}


def _certificate_gaps(
    solution: Solution, transcribed: TranscribedPhase, doubts: set[str], whole: float
) -> Iterator[Gap]:
    """Yield the certificate's own measures of everything in doubt."""
    from ocp.certificate.checks.replay_motion import (
        deviations,  # simulators load when one is needed
    )

    if ROWS in doubts and solution.problem.motion.collocated:
        yield from map(_violation_gap, violations(solution).values())
    elif ROWS in doubts:  # what a program on splines asks at its nodes its solver has met
        yield from map(_violation_gap, violations_between_nodes(solution, transcribed))
    if MOTION in doubts:
        far = deviations(solution).error
        words = f"laws of motion are missed, which leads {far:.2g} rad or m astray"
        yield Gap(share=far if np.isfinite(far) else np.inf, words=lambda: words)
    if MOTION in doubts and is_comparable(solution.formulation):
        work = energy_error(solution)
        share = work if np.isfinite(work) else np.inf
        yield Gap(share=share, words=lambda: f"work and energy differ by {_times(work)}")
    if OBJECTIVE in doubts and solution.problem.objective.terms:
        weights = [float(weight) for weight, _ in solution.problem.objective.terms]
        dense = float(np.dot(weights, dense_terms(solution, transcribed)))
        error = abs(solution.objective - dense) / max(abs(dense), whole, LEAST)
        changed = f"the objective changes by {_times(error)}, to {dense:.6g}"
        yield Gap(share=error if np.isfinite(error) else np.inf, words=lambda: changed)


def _violation_gap(worst: Violation) -> Gap:
    off = f"{worst.name} ({worst.label}) is off by {worst.dense:.3g} {worst.unit}".rstrip()
    words = f"{off}, {_times(worst.relative)}, at t = {worst.time:.3g} s"
    return Gap(share=worst.relative, words=lambda: words)


def _times(share: float) -> str:
    if share < COARSE:
        return f"{100 * share:.2g}%"
    return f"{share:.0%}" if share < 10 else f"{share:.3g} times its size"
