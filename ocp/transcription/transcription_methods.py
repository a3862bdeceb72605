"""Transcription methods as records: where rows hold, what becomes a variable, which laws bind, and
the first guess.

A method of one's own is a frozen dataclass that inherits from Method and replaces what differs; its
fields are its settings, so none is silently ignored, and their metadata (`help`, `choices`) make
its flags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, cast

import numpy as np

from ocp.dynamics import Formulation
from ocp.motion.basis import Basis
from ocp.motion.collocation_mesh import LENGTHS, Mesh, check_lengths, interval_ends
from ocp.motion.quadrature import QUADRATURES, quadrature
from ocp.motion.spline import SPACING, BSpline, coarsest_curve
from ocp.problem.statement import Problem
from ocp.solvers.nlp import NLP
from ocp.spelling import suggest_fields, suggestion
from ocp.transcription.collocation import on_mesh, stage_equations
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.instant_symbols import Backend
from ocp.transcription.laws.laws import FORMS, TORQUES, laws, torque_layout
from ocp.transcription.laws.loop_laws import loosen_end_constraints
from ocp.transcription.row_requests import schedule_grid
from ocp.transcription.shooting import Reduction, check_known_forces, passive_of, reduce_program
from ocp.transcription.variables import interpolation
from ocp.transcription.variables.layout import Layout, constant_layout, free_knots, lifted_layout

CONTROLS = ("free", "constant")
COARSE = 12  # control points of the first guess where no spline is stated


def method_setting(default: object, words: str, choices: tuple = ()) -> Any:
    """Return the field of a setting: its default, what it means (`words`), and its `choices`."""
    return field(default=default, metadata={"help": words, "choices": choices})


NODES = "steps per segment at whose ends inequalities hold"
SHARED = "and where several feet bear; by default as many"
RULE = "rule of the integrals over each segment"
PANELS = (
    "points (gauss) or panels of that rule; "
    "by default degree + 1 points, or as many panels as nodes"
)
LIFTED = (
    "explicit: torques expressed by the motion, ground wrenches in two passes; variables: both as "
    "variables at the nodes; auto: variables where there is a ground, stays, or drives that work "
    "against each other"
)
FORM = "law of motion by inverse (implicit) or forward (explicit) dynamics"
FREE = "lengths of the intervals: given, or free, which are variables"
SHORTEST = "least length of a free interval, of the motion"
WITHIN = "torques on an interval: free at its stages, or constant, which may jump between intervals"


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What every method answers.

    The answers here are those of a spline whose laws are constraints.
    """

    name: ClassVar[str]
    moves_knots: ClassVar[bool] = True  # whether it can plan on free ones

    @property
    def steps(self) -> int:
        """Steps per segment at whose ends inequalities hold.

        A certificate looks at ten times as many.
        """
        return 4

    def with_basis(self, problem: Problem) -> Problem:
        """Return the problem on the basis that the method gives its motion.

        Raises ValueError where it cannot.
        """
        if problem.motion.collocated:
            raise ValueError(
                f"method {self.name!r}: the problem's motion is the mesh of "
                f"{cast(Mesh, problem.motion).method!r}; expected a BSpline"
            )
        return problem

    def grid(self, problem: Problem) -> np.ndarray:
        """Return the instants at which inequalities hold."""
        return schedule_grid(problem, self.steps)

    def rule(self, problem: Problem, cuts: Sequence[float] = ()) -> tuple[np.ndarray, np.ndarray]:
        """Return instants s and weights w of integrals over [0, 1]; at `cuts` integrands jump."""
        return quadrature(problem.motion, "gauss", problem.motion.degree + 1, cuts)

    def lifted_rule(self, problem: Problem, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return instants s and weights w of integrals over [0, 1] of what is lifted at the nodes.

        By default they are exact for the squares of the polynomials that run between these.
        """
        return interpolation.lifted_quadrature(problem, nodes) if len(nodes) else self.rule(problem)

    def rate_rule(
        self, problem: Problem, nodes: np.ndarray, cuts: Sequence[float] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return instants s and weights w of integrals over [0, 1] of what contains rates, which
        may jump where pieces meet and at the `cuts`: Gauss's points lie within."""
        if len(nodes) and not problem.motion.collocated:
            return interpolation.lifted_quadrature(problem, nodes)
        return quadrature(problem.motion, "gauss", problem.motion.degree + 1, cuts)

    def layout(self, problem: Problem) -> Layout:
        """Return the Layout of the variables: torques and ground wrenches among them where that
        helps."""
        return torque_layout(problem, "auto", self.grid(problem))

    def constraints(self, problem: Problem) -> tuple:
        """Return the constraints of the statement as this method asks for them."""
        return problem.requirements

    def laws(self, problem: Problem, lifted: bool, formulation: Formulation) -> tuple:
        """Return the laws of motion, ((Constraint, instants of every row, or None for all nodes),
        ..)."""
        return laws(problem, lifted)

    def equations(self, layout: Layout, backend: Backend | None) -> tuple[Group, ...]:
        """Return equations that tie the variables beside constraints and laws."""
        return ()

    def guide(self, motion: Basis) -> BSpline | None:
        """Return the spline on which the first guess is made where the method's own basis makes
        none; `motion` is the basis that the problem was stated with."""
        return None

    def reduce(
        self, layout: Layout, nlp: NLP, formulation: Formulation, statement: Problem
    ) -> tuple[NLP, Reduction | None]:
        """Return the program that the solver sees, and the way back from its unknowns, None if it
        is the whole one.

        The layout's problem has numbers where the `statement` may be open."""
        return nlp, None

    def words(self, problem: Problem) -> str:
        """Return the words of a report on the method."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class OnSpline(Method):
    """The problem's own spline, with nodes through its segments and a rule of integration."""

    of_passive: ClassVar[str]  # what a report says of passive joints

    nodes: int = method_setting(4, NODES)
    quadrature: str = method_setting("gauss", RULE, QUADRATURES)
    panels: int | None = method_setting(None, PANELS)
    torques: str = method_setting("auto", LIFTED, TORQUES)

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def steps(self) -> int:
        """Steps per segment."""
        return self.nodes

    def rule(self, problem: Problem, cuts: Sequence[float] = ()) -> tuple[np.ndarray, np.ndarray]:
        """Return instants and weights of the stated quadrature; raise ValueError for one with
        points at free knots."""
        if self.quadrature != "gauss" and free_knots(problem):
            raise ValueError(
                "quadrature: free knots need 'gauss', whose points stay inside their segments, "
                f"got {self.quadrature!r}"
            )
        motion = coarsest_curve(problem.motion)
        gauss = motion.degree + 1
        panels = self.panels or (gauss if self.quadrature == "gauss" else self.nodes)
        return quadrature(motion, self.quadrature, panels, cuts)

    def lifted_rule(self, problem: Problem, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return instants and weights: of "gauss" on every polynomial between the nodes, otherwise
        of the stated quadrature."""
        gauss = self.quadrature == "gauss" and len(nodes)
        return interpolation.lifted_quadrature(problem, nodes) if gauss else self.rule(problem)

    def layout(self, problem: Problem) -> Layout:
        """Return the Layout with torques and ground wrenches as variables where `torques` says."""
        return torque_layout(problem, self.torques, self.grid(problem))

    def words(self, problem: Problem) -> str:
        """Return the words of a report on the method."""
        return "spline" + (self.of_passive if passive_of(problem) else "")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Spline(OnSpline):
    """Passive joints' lack of torque and closed loops are constraints on the spline."""

    name: ClassVar[str] = "spline"
    of_passive: ClassVar[str] = ", passive joints constrained"

    shared: int | None = method_setting(None, SHARED)

    def grid(self, problem: Problem) -> np.ndarray:
        """Return the instants at which inequalities hold."""
        return schedule_grid(problem, self.nodes, self.shared)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Integrated(OnSpline):
    """A spline of the driven joints.

    The motion of the passive ones follows in `nodes` Runge-Kutta steps per segment
    (Sohl & Bobrow 2001), which the solver differentiates.
    """

    name: ClassVar[str] = "integrated"
    of_passive: ClassVar[str] = ", passive joints integrated"
    moves_knots: ClassVar[bool] = False

    def with_basis(self, problem: Problem) -> Problem:
        """Return the problem; raise ValueError naming stays and contacts that integration does not
        know."""
        check_known_forces(problem)
        return OnSpline.with_basis(self, problem)

    def constraints(self, problem: Problem) -> tuple:
        """Return the constraints, those at the end wide which integrated loops bring about by
        themselves."""
        return loosen_end_constraints(problem) if passive_of(problem) else problem.requirements

    def laws(self, problem: Problem, lifted: bool, formulation: Formulation) -> tuple:
        """Return the laws of motion without the passive joints', which integration meets."""
        return laws(problem, lifted, integrated=bool(passive_of(problem)), formulation=formulation)

    def reduce(
        self, layout: Layout, nlp: NLP, formulation: Formulation, statement: Problem
    ) -> tuple[NLP, Reduction | None]:
        """Return the program of the driven joints' motion, and the way back to that of all."""
        if not passive_of(layout.problem):
            return nlp, None
        return reduce_program(layout, nlp, self.nodes, formulation, statement)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Collocation(Method):
    """Direct collocation: torques are variables at the stages of a mesh, where all constraints
    hold."""

    moves_knots: ClassVar[bool] = False

    intervals: int = method_setting(30, "intervals of the mesh, equal ones")
    inner: tuple[float, ...] = method_setting(
        (), "instants between 0 and 1 where unequal ones meet"
    )
    form: str = method_setting("implicit", FORM, FORMS)

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "inner", interval_ends(self.inner, self.intervals))

    @property
    def spread(self) -> str:
        """How many intervals there are, and whether they are unequal."""
        return f"{self.intervals}{' unequal' if self.inner else ''}"

    def mesh(self) -> Mesh:
        """Return the Mesh of the motion, with those of the method's settings that are its."""
        known = {entry.name for entry in fields(Mesh)}
        settings = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        own = {name: value for name, value in settings.items() if name in known}
        return Mesh(method=self.name, **own)

    def with_basis(self, problem: Problem) -> Problem:
        """Return the problem on the mesh, whose free intervals are where it has them already."""
        mesh, motion = self.mesh(), problem.motion
        begun = isinstance(motion, Mesh) and replace(motion, inner=mesh.inner) == mesh
        return problem if begun and mesh.moving else on_mesh(problem, mesh)

    def rule(self, problem: Problem, cuts: Sequence[float] = ()) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of the mesh and their weights."""
        mesh = cast(Mesh, problem.motion)
        return mesh.nodes, mesh.weights

    def lifted_rule(self, problem: Problem, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of the mesh and their weights."""
        return self.rule(problem)

    def layout(self, problem: Problem) -> Layout:
        """Return the Layout with the torques at the nodes."""
        return lifted_layout(problem, problem.motion.nodes)

    def laws(self, problem: Problem, lifted: bool, formulation: Formulation) -> tuple:
        """Return the laws of motion, dynamics in the stated form."""
        explicit = self.form == "explicit"
        return laws(problem, lifted, explicit=explicit, formulation=formulation)

    def equations(self, layout: Layout, backend: Backend | None) -> tuple[Group, ...]:
        """Return the equations of the stages."""
        return (stage_equations(layout, backend),)

    def guide(self, motion: Basis) -> BSpline | None:
        """Return the stated spline, or a coarse one where a mesh was stated."""
        return BSpline(points=COARSE) if motion.collocated else cast(BSpline, motion)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class HermiteSimpson(Collocation):
    """Hermite-Simpson collocation with the midpoints as unknowns (Kelly 2017)."""

    name: ClassVar[str] = "hermite-simpson"

    def words(self, problem: Problem) -> str:
        """Return the words of a report on the method."""
        return f"{self.name} on {self.spread} intervals, {self.form}"


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Radau(Collocation):
    """Radau collocation with `order` stages on each interval (Garg et al. 2010)."""

    name: ClassVar[str] = "radau"

    order: int = method_setting(3, "stages on each interval")
    lengths: str = method_setting("given", FREE, LENGTHS)
    shortest: float = method_setting(SPACING, SHORTEST)
    controls: str = method_setting("free", WITHIN, CONTROLS)

    def __post_init__(self) -> None:
        Collocation.__post_init__(self)
        check_lengths(self.name, self.intervals, self.lengths, self.shortest)

    def layout(self, problem: Problem) -> Layout:
        """Return the Layout with the torques at the nodes, or one for each interval."""
        layout = Collocation.layout(self, problem)
        return constant_layout(layout) if self.controls == "constant" else layout

    def words(self, problem: Problem) -> str:
        """Return the words of a report on the method."""
        free = " of free lengths" if self.lengths == "free" else ""
        held = ", torques constant on each" if self.controls == "constant" else ""
        return (
            f"{self.name} of order {self.order} on {self.spread} intervals{free}{held}, {self.form}"
        )


METHODS = {method.name: method for method in (Spline, HermiteSimpson, Radau, Integrated)}


def method_of(name: str, settings: Mapping) -> Method:
    """Return the method of that name with these settings.

    Raises ValueError naming an unknown one, or a setting that the method does not have.
    """
    if name not in METHODS:
        raise ValueError(
            f"method: expected one of {', '.join(METHODS)}, got {name!r}{suggestion(name, METHODS)}"
        )
    known = [entry.name for entry in fields(METHODS[name])]
    for key in settings:
        if key not in known:
            owners = [
                other
                for other, kind in METHODS.items()
                if key in [entry.name for entry in fields(kind)]
            ]
            elsewhere = f"; {key} is of {' and '.join(owners)}" if owners else ""
            raise ValueError(
                f"{key}: method {name!r} has no such setting{suggestion(key, known)}; it has "
                f"{', '.join(known)}{elsewhere}"
            )
    return METHODS[name](**settings)


def on_its_mesh(method: Method, motion: Basis) -> Method:
    """Return the method by which a motion is transcribed: if it is stated on a mesh, collocation on
    this one, with the law in the form of the `method`, and torques as it has them."""
    if not isinstance(motion, Mesh):
        return method
    settings = {entry.name: getattr(motion, entry.name) for entry in fields(motion)}
    name = settings.pop("method")
    known = {entry.name for entry in fields(METHODS[name])}
    own = {"form", "controls"} & known & {entry.name for entry in fields(method)}
    kept = {key: each for key, each in settings.items() if key in known}
    return method_of(name, kept | {key: getattr(method, key) for key in own})


def check_settings(method: Method) -> None:
    """Raise ValueError naming a setting that is none of its choices, or no whole number of at least
    1."""
    for entry in fields(method):
        value, choices = getattr(method, entry.name), entry.metadata.get("choices")
        if choices and value not in choices:
            raise ValueError(
                f"{entry.name}: expected one of {', '.join(choices)}, got {value!r}"
                f"{suggestion(value, choices)}"
            )
        counted = not (choices or entry.default == () or isinstance(entry.default, float))
        counted = counted and not value is entry.default is None
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if counted and not (whole and value >= 1):
            raise ValueError(f"{entry.name}: expected a whole number of at least 1, got {value!r}")
