"""Problem -> NLP: control points and duration as variables, the statement's functions at instants of the spline as rows.

Variables x are the duration (if free) and then the control points, joint by joint for each control point. Equalities are asked for at the
Greville abscissae, one instant per control point, and inequalities at equal steps through every segment, because an equality sampled more
densely than the motion has freedom cannot hold. A row that bounds a single variable becomes a bound of that variable.
"""
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np

from ocp.assembly import Block, assemble, assemble_hessian
from ocp.compiled import NoCompiler, compile_function
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.automatic import published
from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation
from ocp.graph import column, function, kernel, symbols
from ocp.layout import free_duration, motion_map, variables
from ocp.nlp import NLP
from ocp.problem import Problem
from ocp.rows import Box, Group, linear_rows
from ocp.spline import QUADRATURES, basis, greville, quadrature, sample

PROVIDERS = {"recursive": lambda formulation: COMPOSITE, "published": published, "ad": lambda formulation: None,
             "solver": lambda formulation: None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """How a problem becomes an NLP.

    `dynamics`: a Formulation or its name. `derivatives` of the torques: "recursive", by the composite recursion in the ground frame;
    "published", the first ones by the formulation's own recursion; or "ad", by automatic differentiation: always of kernels of one instant,
    assembled sparsely and handed to the solver; or "solver", all left to the solver's front end, for comparison. `nodes`: steps per segment
    at whose ends inequalities hold. `quadrature`: "gauss", "trapezoid" or "simpson"; `panels`: points (gauss) or panels per segment, by
    default degree + 1 points or as many panels as `nodes`. `compiled`: kernels as machine code, where the system has a C compiler;
    otherwise they run on CasADi's virtual machine, and the Solution's statistics say why.
    """

    dynamics: Formulation = FORMULATIONS["newton_euler"]
    derivatives: str = "recursive"
    nodes: int = 4
    quadrature: str = "gauss"
    panels: int | None = None
    compiled: bool = False

    def __post_init__(self):
        if not isinstance(self.dynamics, Formulation):
            if self.dynamics not in FORMULATIONS:
                raise ValueError(f"dynamics: expected one of {', '.join(FORMULATIONS)} or a Formulation, got {self.dynamics!r}")
            object.__setattr__(self, "dynamics", FORMULATIONS[self.dynamics])
        for what, value, known in (("derivatives", self.derivatives, tuple(PROVIDERS)), ("quadrature", self.quadrature, QUADRATURES)):
            if value not in known:
                raise ValueError(f"{what}: expected one of {', '.join(known)}, got {value!r}")
        PROVIDERS[self.derivatives](self.dynamics)     # a formulation without sensitivities of its own is refused here
        if self.compiled and self.derivatives == "solver":
            raise ValueError("compiled: a solver cannot differentiate machine code; use derivatives 'recursive' or 'ad'")
        for what in ("nodes", "panels"):
            value = getattr(self, what)
            if what == "panels" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{what}: expected a whole number of at least 1, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribed:
    """A problem's NLP and the way back: the groups of constraints and where their rows went, who asked for each bound of a variable,
    the objective's terms as blocks and as a function of x, the first guess, and `kernels`(), which
    says how the kernels run."""

    problem: Problem
    transcription: Transcription
    nlp: NLP
    groups: tuple
    rows: tuple
    asked: dict
    goals: tuple
    terms: ca.Function
    guess: np.ndarray
    kernels: Callable


def transcribe(problem, transcription=Transcription()):
    """Return the Transcribed problem; raise ValueError naming constraint, joint and instant for bad sizes or contradictory bounds."""
    finish, kernels = _finish(transcription)
    inputs = symbols(problem, transcription.dynamics, PROVIDERS[transcription.derivatives](transcription.dynamics), finish)
    groups = tuple(_groups(problem, transcription, inputs))
    box = Box(problem)
    blocks, rows, limits, count = [], [], [(np.empty(0), np.empty(0))], 0
    for group in groups:
        found, row = box.take(group, count)
        rows += found
        limits.append(_limits(group, row))
        count += len(limits[-1][0])
        if (row >= 0).any():
            blocks.append(_block(problem, group.kernel, group.s, row, np.ones(row.shape)))
    goals = tuple(_goals(problem, transcription, inputs))
    g_lower, g_upper = (np.concatenate([pair[side] for pair in limits]) for side in (0, 1))
    x = ca.MX.sym("x", variables(problem))
    terms = assemble(goals, variables(problem), len(problem.objective.terms))[0](x)
    return Transcribed(
        problem=problem, transcription=transcription, kernels=kernels, groups=groups, rows=tuple(rows), asked=box.asked, goals=goals,
        terms=function("terms", [x], [terms], ["x"], ["terms"]), guess=_straight_guess(problem, groups),
        nlp=_nlp(problem, transcription, goals, blocks, box.lower, box.upper, g_lower, g_upper))


def _finish(transcription):
    """Return what finishes kernels (None leaves them to the virtual machine), and a function that says how they run."""
    if not transcription.compiled:
        return None, lambda: "virtual machine"
    troubles = []

    def finish(kernel_function):
        if not troubles:
            try:
                return compile_function(kernel_function)
            except NoCompiler as reason:
                troubles.append(str(reason))
        return kernel_function

    return finish, lambda: f"virtual machine: {troubles[0]}" if troubles else "compiled"


def _limits(group, row):
    """Return (lower, upper) of the group's rows that are in g, in their order there."""
    kept = np.nonzero(row.T.ravel() >= 0)[0] % len(group.owners)
    lower = np.array([constraint.lower_of(number) for constraint, number in group.owners])
    upper = np.array([constraint.upper_of(number) for constraint, number in group.owners])
    return lower[kept], upper[kept]


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


def _groups(problem, transcription, inputs):
    """Yield the constraints' rows gathered by their instants; rows with equal and with unequal bounds have instants of their own."""
    gathered = {}
    for constraint in problem.constraints:
        stack = column(f"constraint {constraint.name!r}", constraint.function(inputs.at))
        lower, upper = constraint.bounds(stack.shape[0])
        for equal, wanted in ((True, lower == upper), (False, (lower < upper) & (np.isfinite(lower) | np.isfinite(upper)))):
            numbers = np.nonzero(wanted)[0].tolist()
            if numbers:
                instants = _instants(problem, transcription, constraint.when, equal)
                gathered.setdefault(instants, []).append((constraint, numbers, stack[numbers]))
    for instants, members in gathered.items():
        owners = tuple((constraint, number) for constraint, numbers, _ in members for number in numbers)
        yield Group(kernel=kernel(inputs, ca.vertcat(*[stack for _, _, stack in members])), s=np.array(instants), owners=owners)


def _block(problem, kernel, s, target, weight):
    matrix, offset = motion_map(problem, s)
    return Block(kernel=kernel, s=s, matrix=matrix, offset=offset, target=target, weight=weight)


def _goals(problem, transcription, inputs):
    """Return one block per objective term, whose assembled row is the term's value, unweighted."""
    panels = transcription.panels or (problem.motion.degree + 1 if transcription.quadrature == "gauss" else transcription.nodes)
    instants, weights = quadrature(problem.motion, transcription.quadrature, panels)
    blocks = []
    for number, (_, term) in enumerate(problem.objective.terms):
        stack = column(f"objective {term.name!r}", term.function(inputs.at))
        if term.kind != "squares" and stack.shape[0] != 1:
            raise ValueError(f"objective {term.name!r}: expected a scalar, got {stack.shape[0]} rows")
        if term.kind == "integral":
            stack = inputs.at.T * stack
        places = np.array([1.0]) if term.kind == "end" else instants
        weight = np.ones((1, 1)) if term.kind == "end" else weights[None, :]
        goal = kernel(inputs, stack, squares=term.kind == "squares")
        blocks.append(_block(problem, goal, places, np.full((1, len(places)), number), weight))
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

    @cache
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
