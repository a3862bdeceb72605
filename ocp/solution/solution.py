"""Solution record: curves, torques, reactions, multipliers and statistics of a solved problem.

Certificates, files, reports and sensitivities are functions of a solution, in rooms of their own.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, cast

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.dynamics import Formulation, formulation_of
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import describe_value
from ocp.pickling import portable
from ocp.problem.contact.complementarity import touch_size, touches
from ocp.problem.contact.ground import Ground, of_contacts, slots
from ocp.problem.contact.transmitted_wrenches import is_corrected, transmissions
from ocp.problem.instant import Instant
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.answered_program import KeptProgram
from ocp.solvers.progress import Iteration
from ocp.spelling import Named, suggestion
from ocp.text_tables import html_table
from ocp.transcription.kernels.motion_traces import Trace, trace, trace_joined
from ocp.transcription.kernels.time_derivatives import motion_rates
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.transcription_settings import Transcription
from ocp.transcription.variables.interpolation import wrench_interpolation
from ocp.transcription.variables.layout import Layout, free_duration, motion_inputs
from ocp.transcription.variables.named_multipliers import Multipliers

FOUND = "found"  # how a parameter came by its number that was not given
Statistics: TypeAlias = Mapping[str, Any]  # of solves by name: counts, seconds, words, groups


@dataclass(frozen=True, slots=True)
class OfInstant:
    """A `function`(*arguments, Instant) that asks the Instant alone for its tree and its problem,
    so that a plan can keep its graph for all values of the parameters."""

    function: Callable[..., Matrix]
    arguments: tuple[Hashable, ...] = ()

    def __call__(self, at: Instant) -> Matrix:
        return self.function(*self.arguments, at)


POSITIONS, RATES, TORQUES = (OfInstant(attrgetter(name)) for name in ("q", "qd", "tau"))


class NotSolved(RuntimeError):
    """Raised by Solution.require when the solver did not converge, or on too coarse a basis.

    The message says where it stands.
    """


Result = TypeVar("Result", bound="SolveResult")


class SolveResult:
    """A result of a solve: with `success`, and its `explanation` without."""

    __slots__ = ()
    success: bool

    @property
    def explanation(self) -> tuple[str, ...]:
        """Lines on why it is not solved."""
        raise NotImplementedError

    def require(self: Result) -> Result:
        """Return self if it was solved; raise NotSolved with the explanation."""
        if not self.success:
            raise NotSolved("\n".join(self.explanation))
        return self


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Solution:
    """Solution of a problem: control points, duration, and how they came about.

    Times given to the methods are in s, a number or an array (N,). `ocp.summary` returns the
    report.

    Attributes:
        problem: the Problem, with the numbers of its parameters; the `plan` has it open.
        transcription: its Transcription.
        points: control points (n, points); none of a motion of phases.
        duration: s.
        objective, terms: its value, and (name, weight, value) of each term.
        status, success: in the solver's words, and whether it converged.
        multipliers: {constraint: Multipliers}.
        statistics: plain numbers and words.
        nodes, lifted: instants (N,), and (width, N) of torques and ground wrenches that were
            variables.
        history: Iterations.
        explanation: lines on a failure, or on a basis that is too coarse.
        verification: its Verification if it was asked for; files do not keep it.
        parameters: {name: number}, given or found.
        plan: the Plan that it came from; files do not keep it.
        missing: parts of the statement that its file could not hold, without which it cannot be
            certified.
        phases: {name: Solution}, whose times count from their own start.
        impulses: {transition: {point: (3,) N s}} of impacts.
        program: what was solved, kept for certificates in memory alone.
    """

    problem: Problem
    transcription: Transcription
    points: np.ndarray
    duration: float
    objective: float
    terms: tuple[tuple[str, float, float], ...]
    status: str
    success: bool
    multipliers: Mapping[str, Multipliers]
    statistics: Statistics
    nodes: np.ndarray = field(default_factory=lambda: np.empty(0))
    lifted: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    history: tuple[Iteration, ...] = ()
    explanation: tuple[str, ...] = ()
    verification: Any = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    plan: Any = None
    missing: tuple[str, ...] = ()
    phases: Mapping[str, "Solution"] = field(default_factory=dict)
    impulses: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    program: KeptProgram | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.multipliers, Mapping):  # what is none is told where it is used
            named = Named("multipliers", self.multipliers)
            object.__setattr__(self, "multipliers", named)

    @property
    def parts(self) -> Mapping[str, "Solution"]:
        """The motions of the phases {name: Solution}; one without phases is its only one, of no
        name."""
        return self.phases or {"": self}

    @property
    def single_phase(self) -> bool:
        """Tell whether the motion has no phases."""
        return not self.phases

    @property
    def durations(self) -> dict[str, float]:
        """The durations of the phases (s); nothing where there are none."""
        return {name: phase.duration for name, phase in self.phases.items()}

    def q(self, t: ArrayLike) -> np.ndarray:
        """Return the coordinates (n,) or (n, N), rad or m."""
        return self.trace(POSITIONS, t)

    def qd(self, t: ArrayLike) -> np.ndarray:
        """Return the rates (n,) or (n, N), rad/s or m/s."""
        return self.trace(RATES, t)

    def qdd(self, t: ArrayLike) -> np.ndarray:
        """Return the accelerations (n,) or (n, N), rad/s2 or m/s2."""
        return self.trace(lambda at: at.qdd, t)

    def qddd(self, t: ArrayLike) -> np.ndarray:
        """Return the jerks (n,) or (n, N), rad/s3 or m/s3."""
        return self.trace(lambda at: at.qddd, t)

    def tau(self, t: ArrayLike) -> np.ndarray:
        """Return the joint torques or forces (n,) or (n, N), N m or N."""
        return self.trace(TORQUES, t)

    def tau_rate(self, t: ArrayLike) -> np.ndarray:
        """Return the rates of joint torques or forces (n,) or (n, N), N m/s or N/s."""
        return self.trace(lambda at: at.tau_rate, t)

    def loop_forces(self, t: ArrayLike) -> np.ndarray:
        """Return the forces and moments of cut joints on a loop's end, (m,) or (m, N), N and N m.

        The rows are those of `structure(tree).cut_labels`.
        """
        return self.trace(lambda at: at.loop_forces, t)

    def stay_forces(self, t: ArrayLike) -> np.ndarray:
        """Return the forces of the stays' sides, (m,) or (m, N), N and N m.

        The rows are those of `structure(tree).stay_labels`.
        """
        return self.trace(lambda at: at.stay_forces, t)

    def reactions(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return moment and force that each joint passes to its link (N m, N).

        Each is (3, links), or (3, links, N) for N times. In the link's axes, the moment about the
        anchor; see `Instant.reactions`.
        """
        stacked = self.trace(lambda at: ca.vertcat(*at.reactions), t)  # per link 3 and 3
        shape = (6, len(self.problem.tree.joints), *np.shape(t))
        moment_and_force = stacked.reshape(shape, order="F")
        return moment_and_force[:3], moment_and_force[3:]

    def output(self, name: str, t: ArrayLike) -> np.ndarray:
        """Return an output of the problem along the motion, (m,) or (m, N).

        Raises ValueError for an unknown name.
        """
        outputs = self.problem.outputs
        if name not in outputs:
            known = ", ".join(outputs) or "none"
            raise ValueError(
                f"output {name!r}: the problem has no such output{suggestion(name, outputs)}; it "
                f"has {known}"
            )
        return self.trace(outputs[name], t)

    @property
    def formulation(self) -> Formulation:
        """The formulation of inverse dynamics that gave the torques."""
        return cast(Formulation, formulation_of(self.transcription.dynamics, self.problem.tree))

    def trace(self, function: Callable[[Instant], Matrix], t: ArrayLike) -> np.ndarray:
        """Return function(Instant), a vector of m entries, along the motion: (m,) or (m, N).

        Torques are those that the motion needs, or their own polynomials where they have some.
        Ground wrenches at nodes are interpolated in between, linearly where feet share, and
        corrected to balance the motion exactly.

        Raises:
            ValueError: for times outside the motion, or that are no numbers.
        """
        t = _seconds(self.problem, t)
        if self.phases:
            return _trace_phases(self.phases, function, t)
        s = np.atleast_1d(t) / self.duration
        if not ((s >= -1e-9) & (s <= 1 + 1e-9)).all():
            raise ValueError(
                f"time: expected within 0 and {self.duration:g} s, "
                f"got {np.min(t):g} to {np.max(t):g} s"
            )
        s = np.clip(s, 0.0, 1.0)
        values = self._trace_at(function, s)
        return values if np.ndim(t) else values[:, 0]

    def _trace_at(self, function: Callable[[Instant], Matrix], s: np.ndarray) -> np.ndarray:
        """Return function(Instant) at instants (m, N)."""
        if self.plan is None or self.plan.recipe or not isinstance(function, OfInstant):
            traced = trace(self.problem, self.formulation, function, lifted_kind(self))
            return traced(kernel_inputs(self, s, rated=traced.rated), s)
        (program,) = self.plan.transcribed.parts
        return kept_values(self, s, function, lambda _: function, program)

    def trace_ends(self, function: Callable[[Instant, Instant], Matrix]) -> np.ndarray:
        """Return function(Instant at the start, Instant at the end), (m,)."""
        refuse_phases("trace_ends", self.problem)
        ends = kernel_inputs(self, np.array([0.0, 1.0])).T.reshape(-1, 1)
        traced = trace_joined(self.problem, self.formulation, function, lifted_kind(self))
        return traced(ends)

    @property
    def stands(self) -> bool:
        """Tell whether ground wrenches were variables."""
        return self.problem.ground is not None and len(self.nodes) > 0

    def wrenches(self) -> dict[str, np.ndarray]:
        """Return {foot: moment about the origin and force (6, N)} at the nodes (N m, N).

        Raises ValueError if ground wrenches were no variables.
        """
        refuse_phases("wrenches", self.problem)
        ground = self.problem.ground
        if ground is None or not self.stands:
            raise ValueError("wrenches: of this solution no ground wrenches were variables")
        totals: dict[str, np.ndarray] = {}
        given = transmissions(self.problem.tree, ground)
        every = of_contacts(self.lifted, len(given)).reshape(len(given), 2, 3, len(self.nodes))
        for each, parts in zip(given, every):
            moment, force = parts if each.axes is None else np.array(each.axes) @ parts
            place = np.array(ground.foot(each.foot).center)
            if each.point is not None:
                placed = partial(Instant.position, point=each.point)
                place = self.trace(placed, self.nodes * self.duration).T
            wrench = np.vstack([moment + np.cross(place, force.T).T, force])
            totals[each.foot] = totals[each.foot] + wrench if each.foot in totals else wrench
        swinging = np.zeros((6, len(self.nodes)))
        return {foot.name: totals.get(foot.name, swinging) for foot in ground.feet}

    def times(self, count: int = 201) -> np.ndarray:
        """Return `count` equally spaced times (s) over the motion."""
        return np.linspace(0.0, self.duration, count)

    @property
    def found_parameters(self) -> frozenset[str]:
        """Names of the parameters that the solve found, where others were given."""
        known = self.statistics.get("parameters", {})
        return frozenset(name for name, (_, way) in known.items() if way == FOUND)

    def require(self, *, coarse: bool = False) -> "Solution":
        """Return self if the solver converged on a basis that is fine enough: one on which motion
        and objective are certified to 1e-2.

        Args:
            coarse: whether any basis will do.

        Raises:
            NotSolved: with the explanation.
        """
        if not self.success:
            raise NotSolved("\n".join([f"not solved: {self.status}", *self.explanation]))
        if self.statistics.get("coarse") and not coarse:
            taken = "require(coarse=True) takes it as it is"
            raise NotSolved("\n".join([f"{self.status}, but", *self.explanation, taken]))
        return self

    def __repr__(self) -> str:
        if self.phases:
            return (
                f"Solution(status={self.status!r}, objective={self.objective:.9g}, "
                f"duration={self.duration:.9g}, phases {', '.join(self.phases)})"
            )
        joints, points = np.shape(self.points)
        return (
            f"Solution(status={self.status!r}, objective={self.objective:.9g}, "
            f"duration={self.duration:.9g}, points=({joints}, {points}))"
        )

    def __str__(self) -> str:
        width = max(len(label) for label, _ in self._facts())
        return "\n".join(f"{label:<{width + 2}}{text}" for label, text in self._facts())

    def _repr_html_(self) -> str:
        return html_table(self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        """Return (label, text) of the solve: what the solution itself holds, nothing computed."""
        statistics = self.statistics
        coarse = f", but {statistics['coarse']}" if statistics.get("coarse") else ""
        known = [(name, f"{value:.9g}") for name, value in self.parameters.items()]
        return [
            ("status", self.status + coarse),
            ("objective", f"{self.objective:.9g}"),
            *(
                (f"  {term}", f"{value:.9g}, weight {weight:g}")
                for term, weight, value in self.terms
            ),
            ("duration", f"{self.duration:.9g} s"),
            *known,
            ("iterations", str(statistics.get("iterations", "unknown"))),
            ("more", "ocp.summary(solution), ocp.verify(solution)"),
        ]


def lifted_kind(solution: Solution) -> str | None:
    """Return the kind of lifted inputs that kernels take: "variables" for torques with polynomials
    of their own, "given" for forces of ground, stays or undetermined cut joints at the nodes, None
    without.
    """
    if solution.problem.motion.collocated:
        return "variables"
    drawn = structure(solution.problem.tree)
    known = drawn.determined and not drawn.stay_labels and not solution.stands
    known &= not touches(solution.problem.loads)
    return None if known else "given"


def kernel_inputs(solution: Solution, s: np.ndarray, *, rated: bool = False) -> np.ndarray:
    """Return y (width, N) of the kernels at instants s (N,), if `rated` with the rates at its
    end."""
    problem, duration, lines = solution.problem, solution.duration, solution.lifted
    if lifted_kind(solution) != "variables":
        wrenches = _contacts(solution) if solution.stands else ()
        found = [stay_forces(solution), touch_forces(solution)]
        lines = np.vstack([_cut_forces(solution), *found, *wrenches])
    parts = [motion_inputs(problem, solution.points, duration, s)]
    if rated:
        parts.append(motion_rates(problem, solution.points, s))
    if lines.size:
        known = lines @ wrench_interpolation(problem, solution.nodes, s).T
        parts.insert(1, known)
    if lines.size and rated:
        slopes = lines @ wrench_interpolation(problem, solution.nodes, s, 1).T
        parts.append(slopes if free_duration(problem) else slopes / duration)
    return np.vstack(parts)


def open_kernel_inputs(
    solution: Solution, layout: Layout, s: np.ndarray, *, rated: bool = False
) -> np.ndarray:
    """Return y (width, N) of kernels whose problem is open, at instants s (N,), as `kernel_inputs`:
    it ends with the parameters of the layout, and its rates are over the motion where they say how
    long that is."""
    y, n = kernel_inputs(solution, s, rated=rated), solution.problem.tree.dof
    if layout.timed is not None:
        y[: 3 * n] *= np.repeat(solution.duration ** np.arange(3), n)[:, None]
        if rated:  # the third derivatives and, if anything is lifted, its slopes
            first = len(kernel_inputs(solution, s[:1]))
            y[first : first + n] *= solution.duration**3
            y[first + n :] *= solution.duration
    values = [solution.parameters[each.name] for each in layout.values]
    return np.vstack([y, np.tile(np.reshape(values, (-1, 1)), len(s))])


def kept_values(
    solution: Solution,
    s: np.ndarray,
    name: Hashable,
    function_of: Callable[[Problem], Callable[[Instant], Matrix]],
    program: TranscribedPhase | None,
    make: Callable[..., Trace] = trace,
) -> np.ndarray:
    """Return (m, N) of a function of an Instant at instants s (N,), made of its problem.

    Its graph is kept by the `program` of the same motion, if that leaves parameters open, under a
    `name`; `make` traces it.
    """
    if program is None or not program.parameters:
        wanted = function_of(solution.problem)
        traced = make(solution.problem, solution.formulation, wanted, lifted_kind(solution))
        return traced(kernel_inputs(solution, s, rated=traced.rated), s)
    if name not in program.made:
        wanted, parameters = function_of(program.statement), program.parameters
        what = program.statement, solution.formulation, wanted, lifted_kind(solution), parameters
        program.made[name] = make(*what)
    traced = program.made[name]
    return traced(open_kernel_inputs(solution, program.layout, s, rated=traced.rated), s)


def _cut_forces(solution: Solution) -> np.ndarray:
    """Return the lifted forces of cut joints (cuts, N); none where the motion tells them."""
    drawn = structure(solution.problem.tree)
    first = len(drawn.drives)
    return solution.lifted[first : first + (0 if drawn.determined else len(drawn.cuts))]


def stay_forces(solution: Solution) -> np.ndarray:
    """Return the forces of stays at the nodes (sides, N), N or N m."""
    drawn = structure(solution.problem.tree)
    return solution.lifted[drawn.internal - len(drawn.stay_labels) : drawn.internal]


def _contacts(solution: Solution) -> Iterable[np.ndarray]:
    """Return wrenches of contacts at the nodes: of each foot where they are corrected in between,
    else of all contacts in the order of the lifted rows.
    """
    ground = cast(Ground, solution.problem.ground)
    if is_corrected(solution.problem.tree, ground):
        return solution.wrenches().values()
    return (of_contacts(solution.lifted, len(slots(ground))),)


def touch_forces(solution: Solution) -> np.ndarray:
    """Return the components (N) of contacts' forces that were sought, at the nodes."""
    first, loads = structure(solution.problem.tree).internal, solution.problem.loads
    return solution.lifted[first : first + touch_size(loads)]


def _seconds(problem: Problem, t: ArrayLike) -> np.ndarray:
    """Return times (s) as an array; raise ValueError where they are no numbers, for the name of a
    joint with how its row is found."""
    try:
        return np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        known = t in [joint.name for joint in problem.tree.moving] if isinstance(t, str) else False
        hint = f"; its row of what is returned is tree.coordinate({t!r})" if known else ""
        raise ValueError(
            f"time: expected one or several numbers (s), got {describe_value(t)}{hint}"
        ) from None


def _trace_phases(
    phases: Mapping[str, Solution], function: Callable[[Instant], Matrix], t: np.ndarray
) -> np.ndarray:
    """Return function(Instant) along all phases, as `Solution.trace`; where two meet, that of the
    later one."""
    ends = np.cumsum([phase.duration for phase in phases.values()])
    t, whole = np.atleast_1d(t), np.ndim(t) > 0
    if not ((t >= -1e-9 * ends[-1]) & (t <= (1 + 1e-9) * ends[-1])).all():
        raise ValueError(
            f"time: expected within 0 and {ends[-1]:g} s, got {np.min(t):g} to {np.max(t):g} s"
        )
    number = np.minimum(np.searchsorted(ends, t, side="right"), len(ends) - 1)
    parts = []
    for k, phase in enumerate(phases.values()):
        own = t[number == k] - (ends[k] - phase.duration)
        if own.size:
            parts.append((number == k, phase.trace(function, np.clip(own, 0.0, phase.duration))))
    values = np.empty((len(parts[0][1]), len(t)))
    for chosen, part in parts:
        values[:, chosen] = part
    return values if whole else values[:, 0]
