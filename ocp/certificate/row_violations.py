"""Constraint violations of one motion, row by row.

Rows are evaluated where the program asked for them and on a dense grid in between, each relative
to its own bound.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.certificate.checks.formulation_error import with_exact_dynamics
from ocp.index_sets import distinct, is_in
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.structure import structure
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.units import plain_amount, unit_of
from ocp.problem.constraint import Constraint, Span
from ocp.problem.reserved_names import DURATION, DYNAMICS, REACH, RESTING, TOUCHING
from ocp.problem.statement import Problem
from ocp.solution.sampling import DENSER, stack_functions, traces
from ocp.solution.solution import Solution, kernel_inputs, lifted_kind
from ocp.transcription.kernels.row_values import RowValues, row_values
from ocp.transcription.kernels.traces import trace_cancelled
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import formulation_range, laws, passive_measure
from ocp.transcription.methods import Method
from ocp.transcription.requests import dense_grid


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


# The last tables: a solve's check of its mesh, its report and its certificate ask for the same one.
_LAST: deque[tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Violation]]] = deque(maxlen=8)


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

    Violations count relative to the bound, or to `scale` where one is given.
    """

    number: int
    s: np.ndarray
    values: np.ndarray
    lower: float
    upper: float
    scale: float | None = None


def motion_violations(solution: Solution) -> dict[str, Violation]:
    """Return {name: Violation} of every constraint of a motion, and of its tree's own laws.

    - Rows that must vanish along the motion, as the acceleration of a standing foot, count relative
      to the terms that cancel in them.
    - Stays may close and contacts touch between nodes: their rest counts at the nodes alone.
    - A free duration counts by its bounds.
    - Where torques are variables, "dynamics" is their distance from the torques that the motion
      needs (N m or N), relative to the largest such torque at that joint, or for passive joints to
      the inertial forces that cancel, or to the weight of a body.
    - Plans by an approximate formulation count with exact mechanics, and by its range besides.
    """
    stated = solution.problem, solution.transcription
    arrays = solution.points, solution.nodes, solution.lifted
    motion: tuple[Any, ...] = (solution.duration, *map(np.copy, arrays))
    for known, numbers, table in tuple(_LAST):
        same = all(np.array_equal(a, b) for a, b in zip(numbers, motion))
        if same and all(map(is_, known, stated)):
            return dict(table)
    table = _measure(solution)
    _LAST.append((stated, motion, table))
    return dict(table)


def _measure(solution: Solution) -> dict[str, Violation]:
    """Return the table of `motion_violations`."""
    problem, duration = solution.problem, solution.duration
    stated = [
        law for law, _ in (*laws(problem, problem.motion.collocated), *rigid_contact_laws(problem))
    ]
    known = formulation_range(problem.tree, solution.formulation)
    constraints = (*problem.requirements, *known, *(law for law in stated if law.name != DYNAMICS))
    planned, solution = solution, with_exact_dynamics(solution)
    at_nodes = _at_nodes(solution) | (_of_reach(planned) if known else {})
    along = {each.name: each.function for each in constraints if each.when != "joined"}
    s = certificate_grid(problem, solution.transcription.method, constraints)
    values = traces(solution, along, s * duration)
    sizes = _cancellation_scales(solution, constraints, s)
    table = {}
    for constraint in constraints:
        scales = sizes.get(constraint.name, {})
        nodes = [_line(row, scales.get(row.number)) for row in at_nodes.get(constraint.name, ())]
        if constraint.when == "joined" or constraint.name in (TOUCHING, RESTING):
            dense = nodes
        else:
            chosen = _within(constraint.when, s)
            dense = list(_lines(constraint, s[chosen], values[constraint.name][:, chosen], scales))
        table[constraint.name] = _violation(constraint, nodes, dense, duration)
    return (
        table
        | _duration_violation(solution)
        | _torque_violation(solution, at_nodes.get(DYNAMICS, ()), s)
    )


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


def bound_excess(values: np.ndarray, lower: float, upper: float) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much values (N,) lie out of bounds, and that over max(1, |bound|).

    Not a number is so in the first and infinite in the second.
    """
    below = np.full(len(values), -np.inf) if np.isneginf(lower) else lower - values
    above = np.full(len(values), -np.inf) if np.isposinf(upper) else values - upper
    amounts = np.where(np.isnan(values), np.nan, np.maximum(0.0, np.maximum(below, above)))
    bound = np.where(above > below, upper, lower)
    with np.errstate(invalid="ignore"):
        relative = amounts / np.maximum(1.0, np.where(amounts > 0, np.abs(bound), 1.0))
    return amounts, np.where(np.isnan(relative), np.inf, relative)


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


def certificate_grid(
    problem: Problem, method: Method, constraints: Iterable[Constraint]
) -> np.ndarray:
    """Return the instants of the dense grid, with the nodes and the ends of spans among them."""
    grids = [dense_grid(problem, DENSER * method.steps), method.grid(problem), np.array([0.0, 1.0])]
    for constraint in constraints:
        when = constraint.when
        if isinstance(when, Span):
            grids.append(np.array([when.start, (when.start + when.end) / 2, when.end]))
    return distinct(np.concatenate(grids))[0]


def _within(when: Any, s: np.ndarray) -> np.ndarray:
    """Tell at which of the instants s a constraint holds."""
    if isinstance(when, Span):
        holds = when.holds(s)
        return holds if holds.any() else s == (when.start + when.end) / 2
    ends = {"start": (0.0,), "end": (1.0,), "ends": (0.0, 1.0)}
    return is_in(s, ends[when]) if when in ends else np.full(len(s), True)


def _cancellation_scales(
    solution: Solution, constraints: Iterable[Constraint], s: np.ndarray
) -> dict[str, dict[int, float]]:
    """Return {name: {number: scale}} of the rows along the motion that are to vanish.

    A bound of zero has no size. By the accelerations, or rates, that such a row is made of it is
    judged instead: by what cancels of them at most in its instants, and at least by 1.
    """
    vanishing = {each.name: each for each in constraints if _has_zero_rows(each)}
    if not vanishing:
        return {}
    counts: list[int] = []
    rows = stack_functions({name: each.function for name, each in vanishing.items()}, counts)
    traced = trace_cancelled(solution.problem, solution.formulation, rows, lifted_kind(solution))
    every = np.split(traced(kernel_inputs(solution, s), s), np.cumsum(counts)[:-1])
    return {
        name: {
            number: max(1.0, float(np.nan_to_num(line[_within(each.when, s)], posinf=0.0).max()))
            for number, (line, *bounds) in enumerate(zip(sizes, *each.bounds(len(sizes))))
            if bounds == [0.0, 0.0]
        }
        for (name, each), sizes in zip(vanishing.items(), every)
    }


def _has_zero_rows(constraint: Constraint) -> bool:
    """Tell whether a constraint has rows that are to vanish all along a path."""
    if not (isinstance(constraint.when, Span) or constraint.when == "path"):
        return False
    if constraint.name in (TOUCHING, RESTING):
        return False
    zero = [np.any(np.equal(bound, 0.0)) for bound in (constraint.lower, constraint.upper)]
    return all(zero)


def _line(row: RowValues, scale: float | None) -> Line:
    lower, upper = row.constraint.lower_of(row.number), row.constraint.upper_of(row.number)
    return Line(
        number=row.number, s=row.s, values=row.values, lower=lower, upper=upper, scale=scale
    )


def _lines(
    constraint: Constraint,
    s: np.ndarray,
    values: np.ndarray,
    scales: Mapping[int, float] = MappingProxyType({}),
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
