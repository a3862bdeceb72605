"""Problem -> NLP: control points and duration as variables, the statement's functions at instants of the spline as rows.

Variables x are the duration (if free) and then the control points, joint by joint for each control point. Equalities are asked for at the
Greville abscissae, one instant per control point, and inequalities at equal steps through every segment, because an equality sampled more
densely than the motion has freedom cannot hold. A row that bounds a single variable becomes a bound of that variable.

Where torques and ground wrenches are variables too, one set per node, the law of motion binds them at the nodes: the rows are sparser and
simpler than those of torques expressed by the motion, which for bodies on the ground makes the solve several times faster.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import casadi as ca
import numpy as np

from ocp.dynamics import AUTO, CHOICES, settled
from ocp.dynamics.automatic import published
from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation
from ocp.mechanics.structure import structure
from ocp.motion.mesh import MESHES, Mesh, abscissae, transfer
from ocp.motion.spline import QUADRATURES, BSpline, greville, quadrature
from ocp.problem.statement import Problem
from ocp.solvers.nlp import NLP
from ocp.transcription.collocation import FORMS, laws, meshed, stage_group
from ocp.transcription.compiled import NoCompiler, compile_function
from ocp.transcription.guess import straight_guess
from ocp.transcription.kernels import column, function, joined_symbols, kernel, symbols
from ocp.transcription.loop_laws import loosened
from ocp.transcription.rows import Box, Group
from ocp.transcription.shooting import Reduction, reduced
from ocp.transcription.sparse import Block, assemble, assemble_hessian
from ocp.transcription.variables import (
    Layout,
    free_duration,
    grid,
    join,
    lifted_layout,
    motion_map,
    motion_width,
    split,
)

TORQUES = ("auto", "explicit", "variables")
COARSE = 12  # control points of the first guess where no spline is stated
METHODS, PASSIVE = ("spline", *MESHES), ("constrained", "integrated")
PROVIDERS = {
    "recursive": lambda formulation: COMPOSITE,
    "published": published,
    "ad": lambda formulation: None,
    "solver": lambda formulation: None,
    "auto": lambda formulation: None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """How a problem becomes an NLP; "auto" dynamics and derivatives are newton_euler and recursive, for flexible links book and ad.

    `dynamics`: a Formulation or its name. `derivatives` of the torques: "recursive", by the composite recursion in the ground frame;
    "published", the first ones by the formulation's own recursion; or "ad", by automatic differentiation: always of kernels of one instant,
    assembled sparsely and handed to the solver; or "solver", all left to the solver's front end, for comparison. `nodes`: steps per segment
    at whose ends inequalities hold. `quadrature`: "gauss", "trapezoid" or "simpson"; `panels`: points (gauss) or panels per segment, by
    default degree + 1 points or as many panels as `nodes`. `torques`: "explicit", expressed by the motion, ground wrenches in two passes;
    "variables", with the ground wrenches, at the nodes, where integrals of them then are sums (trapezoid); "auto" is "variables" where there
    is a ground. `passive` joints: "constrained", zero torque at as many instants as the spline's accelerations have freedom, or "integrated",
    their motion following from that of the others in `nodes` Runge-Kutta steps per segment; the solver then differentiates that.

    `method`: "spline", the problem's own motion; or direct collocation on `intervals` equal steps, torques then being variables at its
    stages, where all constraints hold: "hermite-simpson", or "radau" with `order` stages each; `form` of its law of motion: "implicit", by
    inverse dynamics, or "explicit", by forward dynamics. `compiled`: kernels as machine code, where the system has a C compiler;
    otherwise they run on CasADi's virtual machine, and the Solution's statistics say why.
    """

    dynamics: Formulation = AUTO
    derivatives: str = "auto"
    nodes: int = 4
    quadrature: str = "gauss"
    panels: int | None = None
    torques: str = "auto"
    compiled: bool = False
    passive: str = "constrained"
    method: str = "spline"
    intervals: int = 30
    order: int = 3
    form: str = "implicit"

    def __post_init__(self):
        if not isinstance(self.dynamics, Formulation):
            if self.dynamics not in CHOICES:
                raise ValueError(
                    f"dynamics: expected one of {', '.join(CHOICES)} or a Formulation, got {self.dynamics!r}"
                )
            object.__setattr__(self, "dynamics", CHOICES[self.dynamics])
        for what, value, known in (
            ("derivatives", self.derivatives, tuple(PROVIDERS)),
            ("quadrature", self.quadrature, QUADRATURES),
            ("torques", self.torques, TORQUES),
            ("passive", self.passive, PASSIVE),
            ("method", self.method, METHODS),
            ("form", self.form, FORMS),
        ):
            if value not in known:
                raise ValueError(f"{what}: expected one of {', '.join(known)}, got {value!r}")
        PROVIDERS[self.derivatives](
            self.dynamics
        )  # a formulation without sensitivities of its own is refused here
        if self.compiled and self.derivatives == "solver":
            raise ValueError(
                "compiled: a solver cannot differentiate machine code; use derivatives 'recursive' or 'ad'"
            )
        for what in ("nodes", "panels", "intervals", "order"):
            value = getattr(self, what)
            if what == "panels" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{what}: expected a whole number of at least 1, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribed:
    """A problem's NLP and the way back: the layout of its variables, the groups of constraints and where their rows went, who asked for each
    bound of a variable, the objective's terms as blocks and as a function of x, and `kernels`(), which says how the kernels run. Where its
    states are collocated, the problem has a Mesh for the stated `motion`."""

    problem: Problem
    transcription: Transcription
    motion: BSpline | Mesh
    layout: Layout
    nlp: NLP
    groups: tuple
    rows: tuple
    asked: dict
    goals: tuple
    terms: ca.Function
    kernels: Callable
    reduction: Reduction | None = None

    @property
    def guess(self):
        """The first guess of x, that of the whole motion: the straightest motion, and feet that share the weight."""
        if not isinstance(self.problem.motion, Mesh):
            return straight_guess(self.layout, self.groups)
        motion = self.motion if isinstance(self.motion, BSpline) else BSpline(points=COARSE)
        plan = transcribe(replace(self.problem, motion=motion), Transcription(derivatives="ad"))
        points, duration, _ = split(plan.layout, plan.guess)
        return join(self.layout, transfer(motion, points, self.problem.motion), duration)

    def expand(self, unknowns):
        """Return x of the whole motion from the unknowns of the NLP."""
        return (
            unknowns
            if self.reduction is None
            else np.array(self.reduction.expand(unknowns)).ravel()
        )


def transcribe(problem, transcription=Transcription()):
    """Return the Transcribed problem; raise ValueError naming constraint, joint and instant for bad sizes or contradictory bounds."""
    transcription = settled(problem.tree, transcription)
    finish, kernels = _finish(transcription)
    motion, problem = problem.motion, _stated(problem, transcription)
    lifted = lifts(problem, transcription)
    nodes = grid(problem, transcription.nodes)
    nodes = (
        problem.motion.nodes
        if isinstance(problem.motion, Mesh)
        else nodes[:-1]
        if problem.cyclic
        else nodes
    )
    layout = lifted_layout(problem, nodes) if lifted else Layout(problem=problem)
    inputs = symbols(
        problem,
        transcription.dynamics,
        PROVIDERS[transcription.derivatives](transcription.dynamics),
        finish,
        "variables" if lifted else None,
    )
    groups = tuple(_groups(problem, transcription, layout, inputs))
    box = Box(layout)
    blocks, rows, limits, count = [], [], [(np.empty(0), np.empty(0))], 0
    for group in groups:
        found, row = box.take(group, count)
        rows += found
        limits.append(_limits(group, row))
        count += len(limits[-1][0])
        if (row >= 0).any():
            blocks.append(
                Block(
                    kernel=group.kernel,
                    s=group.s,
                    matrix=group.matrix,
                    target=row,
                    weight=np.ones(row.shape),
                )
            )
    goals = tuple(_goals(problem, transcription, layout, inputs))
    g_lower, g_upper = (np.concatenate([pair[side] for pair in limits]) for side in (0, 1))
    x = ca.MX.sym("x", layout.size)
    terms = assemble(goals, layout.size, len(problem.objective.terms))[0](x)
    nlp, reduction = (
        _nlp(problem, transcription, goals, blocks, box.lower, box.upper, g_lower, g_upper),
        None,
    )
    if _integrates(problem, transcription):
        nlp, reduction = reduced(layout, nlp, transcription.nodes)
    return Transcribed(
        problem=problem,
        transcription=transcription,
        motion=motion,
        layout=layout,
        kernels=kernels,
        groups=groups,
        rows=tuple(rows),
        asked=box.asked,
        goals=goals,
        terms=function("terms", [x], [terms], ["x"], ["terms"]),
        nlp=nlp,
        reduction=reduction,
    )


def lifts(problem, transcription):
    """Tell whether torques, forces of cut joints and ground wrenches are variables; raise ValueError naming loops that do not let them."""
    tree, free = problem.tree, not structure(problem.tree).determined
    chosen = (
        transcription.torques == "variables"
        or transcription.torques == "auto"
        and (problem.ground is not None or free)
    )
    if isinstance(problem.motion, Mesh) or not tree.loops:
        return chosen or isinstance(problem.motion, Mesh)
    names = ", ".join(loop.name for loop in tree.loops)
    if free and not chosen:
        raise ValueError(
            f"torques 'explicit': around loops {names} the drives can work against each other; take 'variables'"
        )
    if chosen and len(structure(tree).passive) > len(structure(tree).cuts):
        raise ValueError(
            f"torques 'variables': loops {names} leave {len(structure(tree).passive) - len(structure(tree).cuts)} passive joints free; take 'explicit'"
        )
    return chosen


def _integrates(problem, transcription):
    return (
        transcription.passive == "integrated"
        and transcription.method == "spline"
        and bool(structure(problem.tree).passive)
    )


def _stated(problem, transcription):
    """Return the problem with the kind of motion that the transcription's method asks for."""
    if transcription.method != "spline":
        return meshed(problem, transcription.method, transcription.intervals, transcription.order)
    if isinstance(problem.motion, Mesh):
        raise ValueError(
            f"method 'spline': the problem's motion is the mesh of {problem.motion.method!r}; expected a BSpline"
        )
    return problem


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


def instants(problem, transcription, when, equal, lifted=()):
    """Return the instants at which rows of a constraint hold; those on lifted quantities hold at the nodes where these are variables."""
    if when in ("start", "end", "ends", "joined"):
        return {"start": (0.0,), "end": (1.0,), "ends": (0.0, 1.0), "joined": (0.0,)}[when]
    if isinstance(problem.motion, Mesh) and when in ("path", "hull"):
        return tuple(
            (problem.motion.nodes if equal or len(lifted) else problem.motion.positions).tolist()
        )
    if when == "hull":
        return tuple(greville(problem.motion)[: -1 if problem.cyclic else None].tolist())
    s = (
        lifted
        if len(lifted)
        else abscissae(problem.motion, 0)
        if equal
        else grid(problem, transcription.nodes)
    )
    if when == "path":
        return tuple(s.tolist())
    inside = set(s[when.holds(s)].tolist())
    if not len(lifted) and not equal:
        inside |= {
            end
            for end in (when.start, when.end)
            if when.holds(end) and not np.isclose(s, end, atol=1e-9).any()
        }
    return tuple(sorted(inside if inside or len(lifted) else {(when.start + when.end) / 2}))


def _check_end(problem, what, on_lifted):
    """Raise ValueError if something asks for lifted quantities at the end of a cycle, which has none of its own."""
    if problem.cyclic and on_lifted:
        raise ValueError(
            f"{what}: a cycle has torques and ground wrenches at its start, which stand for those of its end too"
        )


def _groups(problem, transcription, layout, inputs):
    """Yield the constraints' rows gathered by what they hold at; rows with equal and with unequal bounds have instants of their own."""
    lifted, gathered = bool(len(layout.nodes)), {}
    joined, integrated = None, _integrates(problem, transcription)
    own = laws(problem, lifted, transcription.form, integrated)
    names = [mine.name for mine, _ in own] + ["stages"] * isinstance(problem.motion, Mesh)
    stated = loosened(problem) if integrated else problem.requirements
    for constraint, law, holds in (
        *((mine, False, None) for mine in stated),
        *((mine, True, s) for mine, s in own),
    ):
        what = f"constraint {constraint.name!r}"
        if not law and constraint.name in names:
            raise ValueError(f"{what}: the name is that of the law of motion")
        if constraint.when == "joined":
            joined = joined or joined_symbols(
                problem, transcription.dynamics, inputs.finish, "variables" if lifted else None
            )
            stack = column(what, constraint.function(*joined.at))
            _check_end(
                problem,
                what,
                ca.depends_on(stack, joined.y[layout.width + motion_width(problem) :]),
            )
        else:
            stack = column(what, constraint.function(inputs.at))
        lower, upper = constraint.bounds(stack.shape[0])
        on_nodes = np.full(stack.shape[0], law and holds is None)
        if lifted and constraint.when != "joined" and not law:
            on_nodes = _moved(stack, inputs, problem)
            _check_end(problem, what, constraint.when in ("end", "ends") and on_nodes.any())
        for equal, wanted in (
            (True, lower == upper),
            (False, (lower < upper) & (np.isfinite(lower) | np.isfinite(upper))),
        ):
            for bound in (False, True):
                numbers = np.nonzero(wanted & (on_nodes == bound))[0].tolist()
                if numbers:
                    s = (
                        holds
                        or (
                            instants(
                                problem,
                                transcription,
                                constraint.when,
                                equal,
                                layout.nodes if bound else (),
                            ),
                        )
                        * stack.shape[0]
                    )
                    kind = constraint.when if isinstance(constraint.when, str) else "path"
                    kind = "path" if kind == "hull" and isinstance(problem.motion, Mesh) else kind
                    if not any(s) and not (constraint.when.open_start and constraint.when.open_end):
                        raise ValueError(
                            f"{what}: no node lies between s = {constraint.when.start:g} and {constraint.when.end:g}, where it "
                            "holds for torques or ground wrenches; take more nodes"
                        )
                    for mine, there in _placed(numbers, s):
                        gathered.setdefault((kind, equal, bound, law), []).append(
                            (constraint, mine, stack[mine], there)
                        )
    if isinstance(problem.motion, Mesh):
        yield stage_group(layout, inputs.finish)
    for (kind, *_), members in gathered.items():
        yield _group(layout, joined if kind == "joined" else inputs, kind, members)


def _placed(numbers, instants):
    """Yield (numbers of rows, instants) for rows with the same instants; none for an open span that lies between two nodes."""
    together = {}
    for number in numbers:
        together.setdefault(tuple(instants[number]), []).append(number)
    yield from ((mine, s) for s, mine in together.items() if s)


def _moved(stack, inputs, problem):
    """Tell which rows depend on lifted quantities; those of the law of motion do through what stands for inverse dynamics."""
    pattern = ca.jacobian_sparsity(stack, inputs.y)
    rows, columns = (np.array(index, dtype=int) for index in pattern.get_triplet())
    moved = np.zeros(stack.shape[0], dtype=bool)
    moved[rows[columns >= motion_width(problem)]] = True
    if inputs.torque is not None:
        moved |= np.array(ca.which_depends(stack, inputs.torque.symbol, 1, True), dtype=bool)
    return moved


def _group(layout, inputs, kind, members):
    s = sorted({instant for *_, instants in members for instant in instants})
    owners = tuple(
        (constraint, number) for constraint, numbers, *_ in members for number in numbers
    )
    asked = np.array([np.isin(s, instants) for _, numbers, _, instants in members for _ in numbers])
    made = kernel(inputs, ca.vertcat(*[stack for _, _, stack, _ in members]))
    if kind == "hull":
        first = free_duration(layout.problem)
        sound = made.linear.copy()
        sound[
            made.rows[(made.columns < first) | (made.columns >= first + layout.problem.tree.dof)]
        ] = False
        if not sound.all():
            raise ValueError(
                f"constraint {owners[int(np.argmin(sound))][0].name!r}: when 'hull': expected a function linear in q alone"
            )
    matrix = motion_map(layout, (0.0, 1.0) if kind == "joined" else s, hull=kind == "hull")
    return Group(kernel=made, s=np.array(s), matrix=matrix, owners=owners, asked=asked)


def _goals(problem, transcription, layout, inputs):
    """Return one block per objective term, whose assembled row is the term's value, unweighted."""
    mesh = isinstance(problem.motion, Mesh)
    panels = transcription.panels or (
        problem.motion.degree + 1 if transcription.quadrature == "gauss" else transcription.nodes
    )
    rule = (
        (problem.motion.nodes, problem.motion.weights)
        if mesh
        else quadrature(problem.motion, transcription.quadrature, panels)
    )
    blocks = []
    for number, (_, term) in enumerate(problem.objective.terms):
        stack = column(f"objective {term.name!r}", term.function(inputs.at))
        if term.kind != "squares" and stack.shape[0] != 1:
            raise ValueError(
                f"objective {term.name!r}: expected a scalar, got {stack.shape[0]} rows"
            )
        on_nodes = len(layout.nodes) and _moved(stack, inputs, problem).any()
        _check_end(problem, f"objective {term.name!r}", on_nodes and term.kind == "end")
        if term.kind == "integral":
            stack = inputs.at.T * stack
        s, weight = (layout.nodes, _trapezoid(layout.nodes)) if on_nodes and not mesh else rule
        s, weight = (np.ones(1), np.ones(1)) if term.kind == "end" else (s, weight)
        goal = kernel(inputs, stack, squares=term.kind == "squares")
        blocks.append(
            Block(
                kernel=goal,
                s=s,
                matrix=motion_map(layout, s),
                target=np.full((1, len(s)), number),
                weight=weight[None, :],
            )
        )
    return blocks


def _trapezoid(s):
    """Return the weights of the trapezoid rule; where the end is left out as the image of the start, the start counts for both."""
    step = np.diff(s, append=1.0)
    weight = (step + np.append(0.0, step[:-1])) / 2
    weight[0] += step[-1] / 2
    return weight


def _nlp(problem, transcription, goals, blocks, lower, upper, g_lower, g_upper):
    size, rows, count = len(lower), len(g_lower), len(problem.objective.terms)
    weights = ca.DM([weight for weight, _ in problem.objective.terms])
    x, p, lam_f, lam_g = (
        ca.MX.sym("x", size),
        ca.MX.sym("p", 0),
        ca.MX.sym("lam_f"),
        ca.MX.sym("lam_g", rows),
    )
    (term_values, term_slopes), (values, slopes) = (
        assemble(goals, size, count),
        assemble(blocks, size, rows),
    )
    f, g = ca.dot(weights, term_values(x)), values(x)
    bounds = {
        "lower": lower,
        "upper": upper,
        "g_lower": g_lower,
        "g_upper": g_upper,
        "objective": function("f", [x], [f], ["x"], ["f"]),
        "constraints": function("g", [x], [g], ["x"], ["g"]),
    }
    if transcription.derivatives == "solver":
        return NLP(**bounds)

    @cache
    def hessian(kind):
        curvature = assemble_hessian(goals, size, count, kind)(x, lam_f * weights)
        curvature += assemble_hessian(blocks, size, rows, kind)(x, lam_g)
        return function(
            "hess_lag",
            [x, p, lam_f, lam_g],
            [curvature],
            ["x", "p", "lam_f", "lam_g"],
            ["triu_hess_gamma_x_x"],
        )

    return NLP(
        gradient=function(
            "grad_f",
            [x, p],
            [f, ca.densify(term_slopes(x).T @ weights)],
            ["x", "p"],
            ["f", "grad_f_x"],
        ),
        jacobian=function("jac_g", [x, p], [g, slopes(x)], ["x", "p"], ["g", "jac_g_x"]),
        hessian=hessian,
        **bounds,
    )
