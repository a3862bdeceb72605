"""Problem -> NLP: control points and duration as variables, the statement's functions at instants of the spline as rows.

Variables x are the duration (if free) and then the control points, joint by joint for each control point. Equalities are asked for at the
Greville abscissae, one instant per control point, and inequalities at equal steps through every segment, because an equality sampled more
densely than the motion has freedom cannot hold. A row that bounds a single variable becomes a bound of that variable.
"""
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS
from ocp.dynamics.formulation import Formulation
from ocp.graph import Block, Kernel, assemble, assemble_hessian, column, evaluate, function, kernel, symbols
from ocp.nlp import NLP
from ocp.problem import Problem
from ocp.spline import QUADRATURES, basis, greville, quadrature, sample

DERIVATIVES = ("ad", "solver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """How a problem becomes an NLP.

    `dynamics`: a Formulation or its name. `derivatives`: "ad", automatic differentiation of the kernels of one instant, assembled sparsely
    and handed to the solver; or "solver", left to the solver's front end, for comparison. `nodes`: steps per segment at whose ends
    inequalities hold. `quadrature`: "gauss", "trapezoid" or "simpson"; `panels`: points (gauss) or panels per segment, by default
    degree + 1 points or as many panels as `nodes`.
    """

    dynamics: Formulation = FORMULATIONS["newton_euler"]
    derivatives: str = "ad"
    nodes: int = 4
    quadrature: str = "gauss"
    panels: int | None = None

    def __post_init__(self):
        if not isinstance(self.dynamics, Formulation):
            if self.dynamics not in FORMULATIONS:
                raise ValueError(f"dynamics: expected one of {', '.join(FORMULATIONS)} or a Formulation, got {self.dynamics!r}")
            object.__setattr__(self, "dynamics", FORMULATIONS[self.dynamics])
        for what, value, known in (("derivatives", self.derivatives, DERIVATIVES), ("quadrature", self.quadrature, QUADRATURES)):
            if value not in known:
                raise ValueError(f"{what}: expected one of {', '.join(known)}, got {value!r}")
        for what in ("nodes", "panels"):
            value = getattr(self, what)
            if what == "panels" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{what}: expected a whole number of at least 1, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Where a constraint went: its instants `s` (N,), row `numbers` of the constraint (m,), and (m, N) each the row of g or -1, the
    bounded variable or -1, and the coefficient of that variable."""

    name: str
    s: np.ndarray
    numbers: np.ndarray
    row: np.ndarray
    variable: np.ndarray
    coefficient: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribed:
    """A problem's NLP and the way back: constraints by name to rows, objective terms, and the first guess."""

    problem: Problem
    transcription: Transcription
    nlp: NLP
    rows: tuple
    terms: ca.Function
    guess: np.ndarray
    groups: tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Constraints evaluated at the same instants: their kernel, and `owners`: for each row of the kernel (constraint, its row)."""

    kernel: Kernel
    s: np.ndarray
    owners: tuple


def transcribe(problem, transcription=Transcription()):
    """Return the Transcribed problem; raise ValueError naming constraint, joint and instant for bad sizes or contradictory bounds."""
    y, s, at = symbols(problem, transcription.dynamics.inverse)
    groups = tuple(_groups(problem, transcription, y, s, at))
    box = _Box(problem)
    blocks, rows, limits, count = [], [], [(np.empty(0), np.empty(0))], 0
    for group in groups:
        row, variable, coefficient = box.take(group, count)
        rows += _rows_by_name(group, row, variable, coefficient)
        bounds = [np.repeat([[getattr(constraint, side)(number)] for constraint, number in group.owners], len(group.s), axis=1)
                  for side in ("lower_of", "upper_of")]
        limits.append(tuple(side.T[row.T >= 0] for side in bounds))
        count += len(limits[-1][0])
        if (row >= 0).any():
            blocks.append(_block(problem, group.kernel, group.s, row, np.ones(row.shape)))
    goals = _goals(problem, transcription, y, s, at)
    g_lower, g_upper = (np.concatenate([pair[side] for pair in limits]) for side in (0, 1))
    x = ca.MX.sym("x", variables(problem))
    terms = assemble(goals, variables(problem), len(problem.objective.terms))[0](x)
    return Transcribed(
        problem=problem, transcription=transcription, rows=tuple(rows), groups=groups, terms=function("terms", [x], [terms], ["x"], ["terms"]),
        nlp=_nlp(problem, transcription, goals, blocks, box.lower, box.upper, g_lower, g_upper), guess=_straight_guess(problem, groups))


def free_duration(problem):
    """Tell whether the duration is a variable."""
    return problem.duration[0] < problem.duration[1]


def variables(problem):
    """Number of variables of the NLP."""
    return free_duration(problem) + problem.tree.dof * problem.motion.points


def split(problem, x):
    """Return (control points (n, points), duration) from the NLP's variables x."""
    duration = float(x[0]) if free_duration(problem) else problem.duration[0]
    return np.reshape(x[free_duration(problem):], (problem.tree.dof, -1), order="F"), duration


def join(problem, control_points, duration):
    """Return the NLP's variables x from control points (n, points) and the duration."""
    return np.concatenate([[duration] if free_duration(problem) else [], np.ravel(control_points, order="F")])


def kernel_inputs(problem, control_points, duration, s):
    """Return y (3 n + 1, N), what kernels take at the instants s: T, q, dq/ds, d2q/ds2."""
    curve = [control_points @ basis(problem.motion, s, order).T for order in range(3)]
    return np.vstack([np.full((1, len(s)), duration), *curve])


def motion_map(problem, s):
    """Return (M, m) with the kernel inputs of all instants stacked = M x + m."""
    n, points, free = problem.tree.dof, problem.motion.points, free_duration(problem)
    width, count = 3 * n + 1, len(s)
    stack = np.stack([basis(problem.motion, s, order) for order in range(3)])            # (3, N, points)
    order, at, point = np.nonzero(stack)
    joint = np.arange(n)
    row = (at * width + 1 + order * n)[:, None] + joint
    column = (free + point * n)[:, None] + joint
    value = np.repeat(stack[order, at, point][:, None], n, axis=1)
    row, column, value = row.ravel(), column.ravel(), value.ravel()
    offset = np.zeros(width * count)
    if free:
        row = np.concatenate([np.arange(count) * width, row])
        column, value = np.concatenate([np.zeros(count, dtype=int), column]), np.concatenate([np.ones(count), value])
    else:
        offset[::width] = problem.duration[0]
    return ca.DM.triplet(row.tolist(), column.tolist(), ca.DM(value), width * count, variables(problem)), offset


def _instants(problem, transcription, when, equal):
    if when in ("start", "end", "ends"):
        return {"start": (0.0,), "end": (1.0,), "ends": (0.0, 1.0)}[when]
    s = greville(problem.motion) if equal else sample(problem.motion, transcription.nodes)
    if when == "path":
        return tuple(s.tolist())
    a, b = when
    inside = {a, b} if not equal else set()
    inside |= {value for value in s.tolist() if a <= value <= b}
    return tuple(sorted(inside or {(a + b) / 2}))


def _groups(problem, transcription, y, s, at):
    """Yield the constraints' rows gathered by their instants; rows with equal and with unequal bounds have instants of their own."""
    gathered = {}
    for constraint in problem.constraints:
        stack = column(f"constraint {constraint.name!r}", constraint.function(at))
        lower, upper = constraint.bounds(stack.shape[0])
        for equal, wanted in ((True, lower == upper), (False, (lower < upper) & (np.isfinite(lower) | np.isfinite(upper)))):
            numbers = np.nonzero(wanted)[0].tolist()
            if numbers:
                instants = _instants(problem, transcription, constraint.when, equal)
                gathered.setdefault(instants, []).append((constraint, numbers, stack[numbers]))
    for instants, members in gathered.items():
        owners = tuple((constraint, number) for constraint, numbers, _ in members for number in numbers)
        yield Group(kernel=kernel(y, s, ca.vertcat(*[stack for _, _, stack in members])), s=np.array(instants), owners=owners)


class _Box:
    """Bounds of the variables, and who asked for them: rows linear in a single variable go here instead of to g."""

    def __init__(self, problem):
        size = variables(problem)
        self.problem, self.lower, self.upper = problem, np.full(size, -np.inf), np.full(size, np.inf)
        self.asked = {}
        if free_duration(problem):
            self.lower[0], self.upper[0] = problem.duration
            self.asked[0, "lower"] = self.asked[0, "upper"] = "duration"

    def take(self, group, count):
        """Return (m, N) arrays: the row of g, from `count` on, or -1; the bounded variable or -1; its coefficient."""
        lines, constant = linear_rows(self.problem, group)
        row = np.full((len(group.owners), len(group.s)), -1)
        variable, coefficient = row.copy(), np.zeros(row.shape)
        for (k, number), line in sorted(lines.items()):
            places = np.nonzero(np.abs(line) > 1e-12 * max(np.abs(line).max(), 1e-300))[0]
            if len(places) == 1:
                variable[number, k], coefficient[number, k] = places[0], line[places[0]]
                self._bound(places[0], line[places[0]], constant[number, k], *group.owners[number], group.s[k])
        row.T[variable.T < 0] = count + np.arange((variable < 0).sum())
        return row, variable, coefficient

    def _bound(self, variable, coefficient, constant, constraint, number, s):
        who = f"{constraint.name} ({constraint.label(number)}, s = {s:.3g})"
        sides = sorted((bound - constant) / coefficient for bound in (constraint.lower_of(number), constraint.upper_of(number)))
        if sides[0] > self.lower[variable]:
            self.lower[variable], self.asked[variable, "lower"] = sides[0], who
        if sides[1] < self.upper[variable]:
            self.upper[variable], self.asked[variable, "upper"] = sides[1], who
        lower, upper = self.lower[variable], self.upper[variable]
        if lower > upper + 1e-12 * max(1.0, abs(upper)):
            raise ValueError(f"contradictory bounds: {self.asked[variable, 'lower']} asks for at least {lower:g}, "
                             f"{self.asked[variable, 'upper']} for at most {upper:g}")
        self.lower[variable] = min(lower, upper)


def linear_rows(problem, group):
    """Return {(instant, kernel row): coefficients over x} of the rows linear in x, and the constants (m, N) left when x = 0."""
    if not group.kernel.linear.any():
        return {}, None
    matrix, offset = motion_map(problem, group.s)
    x = np.zeros(variables(problem))
    x[:free_duration(problem)] = 1.0
    count, width = len(group.s), group.kernel.width
    y = np.reshape(np.array(matrix @ x).ravel() + offset, (width, count), order="F")
    values, slopes = evaluate(group.kernel.values, y, group.s), evaluate(group.kernel.jacobian, y, group.s)
    dense, lines, constant = np.array(matrix).reshape(count, width, -1), {}, values.copy()
    for k in range(count):
        for number in np.nonzero(group.kernel.linear)[0]:
            mine = group.kernel.rows == number
            line = slopes[mine, k] @ dense[k, group.kernel.columns[mine]]
            lines[k, number] = line
            constant[number, k] -= line @ x
    return lines, constant


def _rows_by_name(group, row, variable, coefficient):
    names = [constraint.name for constraint, _ in group.owners]
    for name in dict.fromkeys(names):
        mine = [k for k, other in enumerate(names) if other == name]
        yield Rows(name=name, s=group.s, numbers=np.array([group.owners[k][1] for k in mine]), row=row[mine],
                   variable=variable[mine], coefficient=coefficient[mine])


def _block(problem, kernel, s, target, weight):
    matrix, offset = motion_map(problem, s)
    return Block(kernel=kernel, s=s, matrix=matrix, offset=offset, target=target, weight=weight)


def _goals(problem, transcription, y, s, at):
    """Return one block per objective term, whose assembled row is the term's value, unweighted."""
    panels = transcription.panels or (problem.motion.degree + 1 if transcription.quadrature == "gauss" else transcription.nodes)
    instants, weights = quadrature(problem.motion, transcription.quadrature, panels)
    blocks = []
    for number, (_, term) in enumerate(problem.objective.terms):
        stack = column(f"objective {term.name!r}", term.function(at))
        if term.kind != "squares" and stack.shape[0] != 1:
            raise ValueError(f"objective {term.name!r}: expected a scalar, got {stack.shape[0]} rows")
        if term.kind == "integral":
            stack = at.T * stack
        places = np.array([1.0]) if term.kind == "end" else instants
        weight = np.ones((1, 1)) if term.kind == "end" else weights[None, :]
        blocks.append(_block(problem, kernel(y, s, stack, squares=term.kind == "squares"), places, np.full((1, len(places)), number), weight))
    return blocks


def _nlp(problem, transcription, goals, blocks, lower, upper, g_lower, g_upper):
    size, rows, count = len(lower), len(g_lower), len(problem.objective.terms)
    weights = ca.DM([weight for weight, _ in problem.objective.terms])
    x, p, lam_f, lam_g = ca.MX.sym("x", size), ca.MX.sym("p", 0), ca.MX.sym("lam_f"), ca.MX.sym("lam_g", rows)
    (term_values, term_slopes), (values, slopes) = assemble(goals, size, count), assemble(blocks, size, rows)
    f, g = ca.dot(weights, term_values(x)), values(x)
    bounds = {"lower": lower, "upper": upper, "g_lower": g_lower, "g_upper": g_upper,
              "objective": function("f", [x], [f], ["x"], ["f"]), "constraints": function("g", [x], [g], ["x"], ["g"])}
    if transcription.derivatives == "solver":
        return NLP(**bounds)

    def hessian(kind):
        curvature = assemble_hessian(goals, size, count, kind)(x, lam_f * weights)
        curvature += assemble_hessian(blocks, size, rows, kind)(x, lam_g)
        return function("hess_lag", [x, p, lam_f, lam_g], [curvature], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"])

    return NLP(
        gradient=function("grad_f", [x, p], [f, ca.densify(term_slopes(x).T @ weights)], ["x", "p"], ["f", "grad_f_x"]),
        jacobian=function("jac_g", [x, p], [g, slopes(x)], ["x", "p"], ["g", "jac_g_x"]), hessian=hessian, **bounds)


def _straight_guess(problem, groups):
    """Return the motion of least integral |dq/ds|^2 that meets the linear equalities, and the geometric mean of the duration's bounds."""
    n, points, free = problem.tree.dof, problem.motion.points, free_duration(problem)
    s, weight = quadrature(problem.motion, "gauss", problem.motion.degree)
    slope = basis(problem.motion, s, 1)
    stiffness = np.kron(slope.T @ (weight[:, None] * slope) + 1e-9 * np.eye(points), np.eye(n))
    lines, values = [], []
    for group in groups:
        found, constant = linear_rows(problem, group)
        for (k, number), line in found.items():
            constraint, row = group.owners[number]
            if constraint.lower_of(row) == constraint.upper_of(row):
                lines.append(line[free:])
                values.append(constraint.lower_of(row) - constant[number, k])
    lines = np.reshape(lines, (-1, n * points))
    system = np.block([[stiffness, lines.T], [lines, np.zeros((len(lines), len(lines)))]])
    solution = np.linalg.lstsq(system, np.concatenate([np.zeros(n * points), values]), rcond=None)[0]
    return np.concatenate([[np.sqrt(np.prod(problem.duration))] if free else [], solution[:n * points]])
