"""Constraint violations of one motion, row by row.

Rows are evaluated where the program asked for them and on a dense grid in between, each relative
to its own bound.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from types import MappingProxyType

import numpy as np

from ocp.certificate.checks.formulation_error import with_exact_dynamics
from ocp.dynamics.formulation_record import Formulation
from ocp.index_sets import is_in
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import plain_amount, unit_of
from ocp.problem.constraint import Constraint, Moment, Span, bound_excess
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import DURATION, DYNAMICS, REACH, RESTING, TOUCHING
from ocp.problem.statement import Problem
from ocp.solution.sampling import stack_functions, traces
from ocp.solution.solution import Solution, kept_values, kernel_inputs, lifted_kind
from ocp.transcription.kernels.motion_traces import trace, trace_cancelled
from ocp.transcription.kernels.row_values import RowValues, row_values
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import formulation_range, laws, passive_measure
from ocp.transcription.row_requests import certificate_grid
from ocp.transcription.transcribe_phase import TranscribedPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Worst violation of one constraint, in the row that is worst relative to its own bound.

    Attributes:
        name, unit: of the constraint.
        nodes: at the instants where the program asked for it, in the unit of the worst row there.
        dense: on the dense grid with these among it, in `unit`.
        relative: the latter over the violated bound, absolute for bounds below 1; inf for nan.
        label: name of the row.
        time: s.
    """

    name: str
    unit: str
    nodes: float
    dense: float
    relative: float
    label: str
    time: float


# The last motions: a solve's check of its mesh, its report and its certificate ask for the same.
_LAST: deque[tuple[tuple, tuple, dict]] = deque(maxlen=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The row and the instant s at which a constraint is worst, relative to the bound there."""

    number: int = 0
    s: float = 0.0
    amount: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of a constraint at instants s (N,): `values` (N,) and the bounds they are to keep.

    Violations count relative to the bound, or to `scale` where one is given, of all or each (N,).
    """

    number: int
    s: np.ndarray
    values: np.ndarray
    lower: float
    upper: float
    scale: float | np.ndarray | None = None


def motion_violations(solution: Solution) -> dict[str, Violation]:
    """Return {name: Violation} of every constraint of a motion, and of its tree's own laws.

    - Rows that must vanish along the motion, as the acceleration of a standing foot, count relative
      to the terms that cancel in them.
    - Stays may close and contacts touch between nodes: their rest counts at the nodes alone.
    - Rows whose bound is part of their function count relative to its `sizes`, as strength.
    - A free duration counts by its bounds.
    - Where torques are variables, "dynamics" is their distance from the torques that the motion
      needs (N m or N), relative to the largest such torque at that joint, or for passive joints to
      the inertial forces that cancel, or to the weight of a body.
    - Plans by an approximate formulation count with exact mechanics, and by its range besides.
    """
    kept = _kept_of(solution)
    if "table" not in kept:
        kept["table"] = _measure(solution)
    return dict(kept["table"])


def violations_between_nodes(solution: Solution, program: TranscribedPhase) -> Iterator[Violation]:
    """Yield the Violations of a motion on splines between its nodes, those of a solved `program`
    being known at them; of that the graphs are kept for other values of its parameters."""
    rows = _dense_rows(solution, program)
    for constraint in rows.constraints:
        dense = rows.lines(constraint)
        yield _violation(constraint, dense, dense, solution.duration)


def _kept_of(solution: Solution) -> dict:
    """Return the numbers known of a motion, where it is one of the last."""
    stated = solution.problem, solution.transcription
    arrays = solution.points, solution.nodes, solution.lifted
    motion: tuple = (solution.duration, *map(np.copy, arrays))
    for known, numbers, kept in tuple(_LAST):
        same = all(np.array_equal(a, b) for a, b in zip(numbers, motion))
        if same and all(map(is_, known, stated)):
            return kept
    _LAST.append((stated, motion, {}))
    return _LAST[-1][-1]


def _measure(solution: Solution) -> dict[str, Violation]:
    """Return the table of `motion_violations`."""
    rows, planned = _dense_rows(solution), solution
    solution = with_exact_dynamics(solution)
    at_nodes = _at_nodes(solution)
    if formulation_range(planned.problem.tree, planned.formulation):
        at_nodes |= _of_reach(planned)
    table = {}
    for constraint in rows.constraints:
        nodes = [_line(row, rows) for row in at_nodes.get(constraint.name, ())]
        dense = rows.lines(constraint) if _judged_between(constraint) else nodes
        table[constraint.name] = _violation(constraint, nodes, dense, solution.duration)
    return (
        table
        | _duration_violation(solution)
        | _torque_violation(solution, at_nodes.get(DYNAMICS, ()), rows.s)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseRows:
    """Rows of a motion's `constraints` at the instants s (N,) of the dense grid: their `values`
    {name: (m, N)}, and {name: {number: scale}} of those that are not relative to their bounds."""

    constraints: tuple[Constraint, ...]
    s: np.ndarray
    values: Mapping[str, np.ndarray]
    scales: Mapping[str, Mapping[int, float | np.ndarray]]

    def lines(self, constraint: Constraint) -> list[Line]:
        """Return the rows of a constraint where it holds; none of one that holds at nodes alone."""
        if not _judged_between(constraint):
            return []
        chosen = _within(constraint.when, self.s)
        scales = {
            number: np.broadcast_to(scale, self.s.shape)[chosen]
            for number, scale in self.scales.get(constraint.name, {}).items()
        }
        values = self.values[constraint.name][:, chosen]
        return list(_lines(constraint, self.s[chosen], values, scales))


def _judged_between(constraint: Constraint) -> bool:
    """Tell whether a constraint has rows between the nodes: not of both ends, nor of stays that
    close and contacts that touch there."""
    return constraint.when != "joined" and constraint.name not in (TOUCHING, RESTING)


def _judged(problem: Problem, formulation: Formulation) -> tuple[Constraint, ...]:
    """Return the constraints of a motion and the laws of its tree, but for dynamics."""
    stated = (*laws(problem, problem.motion.collocated), *rigid_contact_laws(problem))
    known = formulation_range(problem.tree, formulation)
    return (*problem.requirements, *known, *(law for law, _ in stated if law.name != DYNAMICS))


def _dense_rows(solution: Solution, program: TranscribedPhase | None = None) -> DenseRows:
    """Return the DenseRows of a motion, whose graphs an open `program` keeps."""
    kept = _kept_of(solution)
    if "dense" not in kept:
        constraints, exact = _judged(solution.problem, solution.formulation), solution
        if solution.formulation.approximation is not None:
            exact, program = with_exact_dynamics(solution), None
        problem, method = solution.problem, solution.transcription.method
        s = certificate_grid(problem, method.grid(problem), method.steps, constraints)
        between = [each for each in constraints if _judged_between(each)]
        zero = [each for each in constraints if _has_zero_rows(each)]
        values = _rows_between(exact, between, s, program)
        sizes = _stated_sizes(exact, between, s, values)
        kept["dense"] = DenseRows(
            constraints=constraints,
            s=s,
            values=values,
            scales={**_cancellation_scales(exact, zero, s, program), **sizes},
        )
    return kept["dense"]


def _rows_between(
    solution: Solution,
    asked: Sequence[Constraint],
    s: np.ndarray,
    program: TranscribedPhase | None,
    cancelled: bool = False,
) -> dict[str, np.ndarray]:
    """Return {name: (m, N)} of what is asked at instants s (N,), or of how much cancels in it.

    An open `program` states its constraints itself; laws are those of the motion's numbers.
    """
    if not asked:
        return {}
    names = [each.name for each in asked]
    make = trace_cancelled if cancelled else trace
    kept: dict = {} if program is None else program.made
    counts: list[int] = kept.setdefault((*names, "counts"), [])

    def stack(problem: Problem) -> Callable[[Instant], Matrix]:
        stated = {each.name: each.function for each in problem.requirements}
        wanted = {each.name: stated.get(each.name, each.function) for each in asked}
        return stack_functions(wanted, counts)

    values = kept_values(solution, s, (*names, make.__name__), stack, program, make)
    return dict(zip(names, np.split(values, np.cumsum(counts)[:-1])))


def dense_violation(
    constraint: Constraint, s: np.ndarray, values: np.ndarray, duration: float
) -> Violation:
    """Return the Violation of a constraint whose rows have `values` (m, N) at instants s (N,)."""
    lines = list(_lines(constraint, s, values))
    return _violation(constraint, lines, lines, duration)


def worst_of(lines: Iterable[Line]) -> Worst:
    """Return the Worst of rows; of no violation at all the first row at the start."""
    worst = Worst()
    for line in lines:
        amounts, relative = bound_excess(line.values, line.lower, line.upper)
        if line.scale is not None:
            relative = np.where(np.isnan(amounts), np.inf, amounts / line.scale)
        if not len(relative):
            continue
        k = int(np.argmax(relative))
        if relative[k] > worst.relative:
            worst = Worst(
                number=line.number,
                s=float(line.s[k]),
                amount=float(amounts[k]),
                relative=float(relative[k]),
            )
    return worst


def _at_nodes(solution: Solution) -> dict[str, list[RowValues]]:
    """Return the rows that the program asked for, by the names of their constraints."""
    rows: dict[str, list[RowValues]] = {}
    transcription, problem = solution.transcription, solution.problem
    for row in row_values(
        problem, transcription, solution.points, solution.duration, solution.lifted
    ):
        rows.setdefault(row.constraint.name, []).append(row)
    return rows


def _of_reach(solution: Solution) -> dict[str, list[RowValues]]:
    """Return the rows that keep a motion where its approximate formulation is known."""
    return {REACH: _at_nodes(solution).get(REACH, [])}


def _within(when: str | Span | Moment, s: np.ndarray) -> np.ndarray:
    """Tell at which of the instants s a constraint holds."""
    if isinstance(when, Span):
        holds = when.holds(s)
        return holds if holds.any() else s == (when.start + when.end) / 2
    ends = {"start": (0.0,), "end": (1.0,), "ends": (0.0, 1.0)}
    return is_in(s, ends[when]) if when in ends else np.full(len(s), True)


def _cancellation_scales(
    solution: Solution,
    vanishing: Sequence[Constraint],
    s: np.ndarray,
    program: TranscribedPhase | None,
) -> dict[str, dict[int, float]]:
    """Return {name: {number: scale}} of the rows along the motion that are to vanish.

    A bound of zero has no size. By the accelerations, or rates, that such a row is made of it is
    judged instead: by what cancels of them at most in its instants, and at least by 1.
    """
    every = _rows_between(solution, vanishing, s, program, cancelled=True)
    return {
        each.name: {
            number: max(1.0, float(np.nan_to_num(line[_within(each.when, s)], posinf=0.0).max()))
            for number, (line, *bounds) in enumerate(
                zip(every[each.name], *each.bounds(len(every[each.name])))
            )
            if bounds == [0.0, 0.0]
        }
        for each in vanishing
    }


def _stated_sizes(
    solution: Solution,
    constraints: Sequence[Constraint],
    s: np.ndarray,
    values: Mapping[str, np.ndarray],
) -> dict[str, dict[int, np.ndarray]]:
    """Return {name: {number: scales (N,)}} of those constraints that state their sizes; raise
    ValueError naming one whose sizes have other rows than its `values` (m, N)."""
    stated = {
        each.name: replace(each, name=f"{each.name} sizes", function=each.sizes)
        for each in constraints
        if each.sizes is not None
    }
    found, scales = _rows_between(solution, list(stated.values()), s, None), {}
    for name, each in stated.items():
        rows, count = found[each.name], len(values[name])
        if len(rows) != count:
            raise ValueError(
                f"constraint {name!r}: its function has {count} rows, its sizes {len(rows)}"
            )
        scales[name] = dict(enumerate(np.maximum(1.0, rows)))
    return scales


def _has_zero_rows(constraint: Constraint) -> bool:
    """Tell whether a constraint has rows that are to vanish all along a path."""
    if not (isinstance(constraint.when, Span) or constraint.when == "path"):
        return False
    if constraint.name in (TOUCHING, RESTING):
        return False
    zero = [np.any(np.equal(bound, 0.0)) for bound in (constraint.lower, constraint.upper)]
    return all(zero)


def _line(row: RowValues, rows: DenseRows) -> Line:
    scale = rows.scales.get(row.constraint.name, {}).get(row.number)
    if isinstance(scale, np.ndarray):
        scale = np.interp(row.s, rows.s, scale)  # of which nodes are a part
    lower, upper = row.constraint.lower_of(row.number), row.constraint.upper_of(row.number)
    return Line(
        number=row.number, s=row.s, values=row.values, lower=lower, upper=upper, scale=scale
    )


def _lines(
    constraint: Constraint,
    s: np.ndarray,
    values: np.ndarray,
    scales: Mapping[int, float | np.ndarray] = MappingProxyType({}),
) -> Iterator[Line]:
    """Yield the rows (m, N) of a constraint, those numbered in `scales` by these."""
    for number, (line, lower, upper) in enumerate(zip(values, *constraint.bounds(len(values)))):
        scale = scales.get(number)
        yield Line(number=number, s=s, values=line, lower=lower, upper=upper, scale=scale)


def _violation(
    constraint: Constraint, nodes: Iterable[Line], dense: Iterable[Line], duration: float
) -> Violation:
    """Return the Violation of a constraint from its rows at both."""
    at_nodes, between = worst_of(nodes), worst_of(dense)
    if constraint.when != "hull":  # whose points lie off the curve
        between = max(between, at_nodes, key=lambda worst: worst.relative)
    dense_amount, unit = plain_amount(between.amount, constraint.unit(between.number))
    return Violation(
        name=constraint.name,
        unit=unit,
        nodes=plain_amount(at_nodes.amount, constraint.unit(at_nodes.number))[0],
        dense=dense_amount,
        relative=between.relative,
        label=constraint.label(between.number),
        time=between.s * duration,
    )


def _duration_violation(solution: Solution) -> dict[str, Violation]:
    """Return the Violation of the bounds of a free duration, by its name; of a given one none."""
    lower, upper = solution.problem.duration
    if lower == upper:
        return {}
    bounds = Constraint(
        name=DURATION, function=lambda at: at.T, lower=lower, upper=upper, labels=("T",), units="s"
    )
    value, end = np.array([solution.duration]), np.ones(1)
    lines = list(_lines(bounds, end, value[None, :]))
    return {DURATION: _violation(bounds, lines, lines, solution.duration)}


def _torque_violation(
    solution: Solution, at_nodes: Iterable[RowValues], s: np.ndarray
) -> dict[str, Violation]:
    """Return the Violation of torques as reported against those that the motion needs.

    Torques at nodes are compared there, polynomials also in between; none where torques follow.
    """
    problem, rows = solution.problem, list(at_nodes)
    if not rows:
        return {}
    law, weight = rows[0].constraint, body_weight(problem.tree)
    joints = [problem.tree.coordinate(label) for label in law.labels]
    needed = traces(
        solution, {"needed": lambda at: at.required_torques[joints]}, s * solution.duration
    )
    scales = law_scales(problem.tree, joints, needed["needed"])
    undriven = np.flatnonzero(np.isin(joints, structure(problem.tree).passive))
    if len(undriven):
        rows_of = [joints[row] for row in undriven]
        traced = trace_cancelled(
            problem,
            solution.formulation,
            lambda at: at.required_torques[rows_of],
            lifted_kind(solution),
        )
        sizes = np.nan_to_num(traced(kernel_inputs(solution, s), s).max(axis=1), posinf=0.0)
        scales[undriven] = np.maximum(scales[undriven], sizes)
    in_units = Constraint(
        name=DYNAMICS,
        function=law.function,
        lower=0.0,
        upper=0.0,
        labels=law.labels,
        units=tuple(unit_of(problem.tree.moving[joint], "tau") for joint in joints),
    )

    def gaps(number: int, when: np.ndarray, values: np.ndarray) -> Line:
        gap, scale = values * weight, float(scales[number])
        return Line(number=number, s=when, values=gap, lower=0.0, upper=0.0, scale=scale)

    nodes = [gaps(row.number, row.s, row.values) for row in rows]
    dense = nodes
    if problem.motion.collocated:
        between = traces(solution, {"gap": law.function}, s * solution.duration)["gap"]
        dense = [gaps(number, s, line) for number, line in enumerate(between)]
    return {DYNAMICS: _violation(in_units, nodes, dense, solution.duration)}


def law_scales(tree: Tree, rows: Sequence[int], torques: np.ndarray) -> np.ndarray:
    """Return in what the law of motion counts at coordinates `rows` (N or N m), of `torques`
    (rows, N): the largest there, at least 1, or where nothing drives it the passive measure, since
    none is needed there."""
    peaks = np.nan_to_num(np.abs(torques).max(axis=1), posinf=1.0)
    passive = np.isin(rows, structure(tree).passive)
    return np.where(passive, passive_measure(tree), np.maximum(1.0, peaks))
