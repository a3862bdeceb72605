"""Transcription of one phase, or of a whole motion without phases, to a nonlinear program.

The method gives the variables; functions of the statement at instants of the motion give the rows.
A row that bounds a single variable becomes a bound of that variable.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import cast

import casadi as ca
import numpy as np

from ocp.dynamics import Formulation, derivatives_of, formulation_of, resolve_auto
from ocp.dynamics.catalogue import is_built_in
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import Parameter, is_open, nominal, with_values
from ocp.motion.basis import Basis, transfer
from ocp.motion.free_knots import Moving
from ocp.motion.free_knots import with_given_knots as given_knots
from ocp.problem.statement import Problem
from ocp.solvers.nlp import NLP, Values
from ocp.solvers.progress import say
from ocp.transcription.assembly.assemble_program import (
    constraint_blocks,
    nonlinear_program,
    objective_blocks,
    term_stacks,
    weight_function,
)
from ocp.transcription.initial_guess import rest_states, static_forces, straight_guess
from ocp.transcription.kernels.instant_symbols import Backend
from ocp.transcription.kernels.kernel_backends import (
    ASSEMBLED,
    COMPILED,
    VIRTUAL,
    KeptKernels,
    KernelBackend,
)
from ocp.transcription.kernels.motion_traces import trace
from ocp.transcription.kernels.user_functions import call_user_function
from ocp.transcription.laws.contact_laws import rigid_contact_laws
from ocp.transcription.laws.laws import formulation_range
from ocp.transcription.parameters.open_parameters import (
    check_apart,
    closed_functions,
    is_sought,
    parameters_in,
    soundness_constraints,
)
from ocp.transcription.phases.shared_kernels import SharedKernels
from ocp.transcription.problem_symbols import Program, program_of
from ocp.transcription.row_requests import (
    Request,
    constraint_requests,
    law_requests,
    request_groups,
)
from ocp.transcription.shooting import Reduction
from ocp.transcription.transcription_methods import Integrated, Method, on_its_mesh
from ocp.transcription.transcription_settings import Transcription, check_size, warn_of_size
from ocp.transcription.variables.free_knots import check_free_knots, knot_equations
from ocp.transcription.variables.layout import (
    Layout,
    free_duration,
    free_knots,
    join_variables,
    motion_at,
    split_variables,
)
from ocp.transcription.variables.parameter_places import free_names, parameters_of_program
from ocp.transcription.variables.variable_bounds import close_bounds, place_rows

SMALL = 2  # coordinates whose programs are solved as soon on the virtual machine, built included


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """Rows at the start of a phase that the phase before sees to: `holds` {(level, Hold)} of rigid
    contacts, and the lack of torque at `rows` of q."""

    holds: frozenset = frozenset()
    rows: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TranscribedPhase:
    """The program of one phase, and the way back from its variables.

    Attributes:
        statement, problem: as stated, and with numbers for the parameters that are open.
        transcription: the settings.
        motion: the basis that the problem was stated with.
        layout: places of all variables in x.
        nlp: the nonlinear program.
        open_groups, groups: rows evaluated together, with open bounds and with numbers.
        rows: places of the rows of each constraint.
        bound_owners, binding: constraints that bound the variables, and the numbers of these
            bounds, as VariableBounds has them.
        objective_blocks, terms: the objective's terms as blocks, and as a Function of x.
        kernels: gives the words that say how kernels run.
        reduction: the way back from the solver's unknowns where passive joints are integrated.
        whole: no constraints were left out.
        made: results that are kept once they were asked for.
    """

    statement: Problem
    problem: Problem
    transcription: Transcription
    motion: Basis
    layout: Layout
    nlp: NLP
    open_groups: tuple
    groups: tuple
    rows: tuple
    bound_owners: Mapping
    binding: np.ndarray
    objective_blocks: tuple
    terms: ca.Function | Values
    kernels: Callable[[], str]
    reduction: Reduction | None = None
    whole: bool = True
    made: dict = field(default_factory=dict)  # what is made when it is first asked for

    def __repr__(self) -> str:
        size, rows = len(self.nlp.lower), len(self.nlp.g_lower)
        return f"TranscribedPhase({self.transcription.method.name}, {size} variables, {rows} rows)"

    @property
    def formulation(self) -> Formulation:
        """The formulation of inverse dynamics."""
        return cast(Formulation, formulation_of(self.transcription.dynamics, self.problem.tree))

    parameters = property(parameters_of_program)
    free_names = property(free_names)

    def at(
        self,
        values: Mapping[Parameter, float],
        held: Iterable[str] = (),
        *,
        bounds_alone: bool = False,
    ) -> "TranscribedPhase":
        """Return the same program with other values of its parameters, from which those that are
        sought start, unless they are `held` there; graphs stay as they are, and with `bounds_alone`
        the statement too, whose numbers take most of the time.

        Raises ValueError naming what cannot be with these values.
        """
        held, values = frozenset(held), {each: values[each] for each in self.layout.values}
        if not self.layout.values or (
            values == self.layout.values and held == self.layout.held_names
        ):
            return self
        problem, anew, known = self.problem, {}, MappingProxyType(dict(values))
        if not bounds_alone:
            same = self.made["same"]  # what of the statement has nothing open in it
            problem = with_values(self.statement, values, same)
            anew = dict(zip(map(id, self.statement.requirements), problem.requirements))
            if free_duration(self.layout.problem):
                check_apart(*problem.duration)
        layout = replace(self.layout, problem=problem, values=known, held_names=held)
        asked_for = close_bounds(self.open_groups, values, anew)
        box, _, rows, bounds = place_rows(asked_for, layout)
        if self.reduction is not None:
            bounds = self.reduction.bounds(bounds)
        return replace(
            self,
            problem=problem,
            layout=layout,
            groups=asked_for,
            rows=rows,
            bound_owners=box.owners,
            binding=box.binding,
            nlp=replace(self.nlp, **bounds),
        )

    @property
    def drive_efforts(self) -> ca.Function:
        """The Function (y of the motion and the parameters, s) -> what drives give (k,), N m or N,
        by inverse dynamics; made once."""
        if "drive_efforts" not in self.made:
            tree = self.layout.problem.tree
            formulation = formulation_of(self.transcription.dynamics, tree)
            drives = list(structure(tree).drives)
            self.made["drive_efforts"] = trace(
                self.statement,
                formulation,
                lambda at: at.required_torques[drives],
                parameters=self.parameters,
            ).function
        return self.made["drive_efforts"]

    @property
    def with_parameter_slopes(self) -> "TranscribedPhase":
        """The same program with derivatives by all parameters; its graphs are made once."""
        if "sloped" not in self.made:
            chosen = replace(self.transcription, kernels="virtual", derivatives="auto")
            other = transcribe_phase(self.statement, chosen, free=self.free_names, sloped=True)
            self.made["sloped"] = other
        return self.made["sloped"].at(self.layout.values, self.layout.held_names)

    @property
    def guess(self) -> np.ndarray:
        """The first guess of x, that of the whole motion: the straightest motion, and feet that
        share the weight."""
        guide = self.transcription.method.guide(self.motion)
        if guide is not None:
            plan = self._on(guide, Transcription(derivatives="solver"))  # which makes none
            points, duration, _ = split_variables(plan.layout, plan.guess)
            moved = rest_states(self.problem, transfer(guide, points, self.problem.motion))
            return join_variables(self.layout, moved, duration, static_forces(self.layout))
        if self.layout.moving:
            plan = self._on_given(self.problem.motion)
            return join_variables(self.layout, *split_variables(plan.layout, plan.guess))
        return straight_guess(self.layout, self.groups)

    def on_given_knots(self, x: np.ndarray) -> tuple["TranscribedPhase", np.ndarray]:
        """Return the problem transcribed on given knots, those of the variables x, and the same
        motion's variables there; itself and x where knots are given."""
        if not self.layout.moving:
            return self, x
        plan = self._on_given(motion_at(self.layout, x))
        return plan, join_variables(plan.layout, *split_variables(self.layout, x))

    def _on_given(self, motion: Basis) -> "TranscribedPhase":
        """Return the problem transcribed with the knots of a motion given."""
        known, own = given_knots(cast(Moving, motion)), self.transcription
        method = on_its_mesh(own.method, known)
        looked = replace(own, method=method, kernels="virtual", derivatives="solver")
        return self._on(known, looked)

    def _on(self, motion: Basis, transcription: Transcription) -> "TranscribedPhase":
        """Return the problem transcribed on another basis."""
        stated = replace(self.statement, motion=motion)
        other = transcribe_phase(stated, transcription, free=self.free_names)
        return other.at(self.layout.values, self.layout.held_names)

    def expand(self, unknowns: np.ndarray) -> np.ndarray:
        """Return x of the whole motion from the unknowns of the NLP."""
        if self.reduction is None:
            return unknowns
        return np.array(self.reduction.expand(unknowns)).ravel()


def transcribe_phase(
    problem: Problem,
    transcription: Transcription = Transcription(),
    *,
    free: Iterable[str] = (),
    sloped: bool = False,
    handover: Handover = Handover(),
    shared: dict | None = None,
) -> TranscribedPhase:
    """Return the program of a problem without phases, its parameters at their own values.

    Args:
        problem: the statement.
        transcription: method, dynamics, derivatives and kernels.
        free: names of parameters to be sought beside those that are free of themselves.
        sloped: give the program derivatives by given parameters too, which no solver needs.
        handover: rows at its start that the phase before sees to.
        shared: the kernels of all phases, which it fills; None where there is but one.

    Raises:
        ValueError: naming constraint, joint and instant for bad sizes or contradictory bounds.
    """
    transcription = resolve_auto(problem.tree, transcription)
    method, motion = transcription.method, problem.motion
    check_size(problem, method)
    if free_knots(problem):
        check_free_knots(problem, method)
    problem = method.with_basis(problem)
    if free_knots(problem):
        check_free_knots(problem, method)
    # Symbols of kernels; kernels that are compiled, or shared by phases, need a backend.
    machine = _kernel_backend(problem, transcription)
    program = _program(problem, transcription, machine, tuple(free), sloped, shared)
    say(f"builds graphs of {problem.tree.dof} coordinates on {problem.motion.points} points")
    # Rows of statement and laws, terms, and outputs, so that none of these fails after the solve.
    requests = _collect_requests(program, method, handover)
    stacks, outputs = term_stacks(program), problem.outputs.items()
    seen = [call_user_function(f"output {name!r}", each, program.inputs) for name, each in outputs]
    # Parameters in any of these stand at the end of x, sought ones first.
    every = [*(request.stack for request in requests), *stacks]
    known = parameters_in(problem, every, seen, program.inputs)
    # Those that other phases or links seek, on which nothing here depends, are not sought here.
    first = [each for each in known if is_sought(each, program.free) and known[each]]
    parameters, count = (*first, *(each for each in known if each not in first)), len(first)
    program = program.with_parameters({each: each.value for each in parameters}, count)
    layout = program.layout
    warn_of_size(layout, requests)
    # Rows with a single variable become its bounds, the others rows of g.
    equations = method.equations(layout, program.backend)
    if layout.moving:
        equations += knot_equations(layout, program.backend)
    open_groups = (*equations, *request_groups(program, requests))
    groups = close_bounds(open_groups, layout.values)
    box, places, rows, bounds = place_rows(groups, layout)
    # Blocks of terms and rows, assembled with their sparse derivatives.
    # Torques that follow from the motion jump where ways of standing change.
    followed = problem.ground if not (len(layout.nodes) or layout.moving) else None
    cuts = followed.switches if followed else ()
    quadratures = (  # of what runs along the motion, of what is lifted, of rates
        method.rule(layout.problem, cuts),
        method.lifted_rule(layout.problem, layout.nodes),
        method.rate_rule(layout.problem, layout.nodes, cuts),
    )
    terms = objective_blocks(program, stacks, quadratures)
    weights = [weight for weight, _ in problem.objective.terms]
    nlp, values = nonlinear_program(
        terms,
        weight_function(layout, weights),
        constraint_blocks(groups, places),
        bounds,
        differentiated=transcription.derivatives != "solver",
        sloped=sloped and is_open(weights),
        machine=machine,
    )
    # Passive joints that are integrated leave the unknowns.
    nlp, reduction = method.reduce(layout, nlp, program.formulation, problem)
    return TranscribedPhase(
        statement=problem,
        problem=layout.problem,
        transcription=transcription,
        motion=motion,
        layout=layout,
        kernels=machine.words,
        open_groups=open_groups,
        groups=groups,
        rows=rows,
        bound_owners=box.owners,
        binding=box.binding,
        objective_blocks=terms,
        terms=values,
        nlp=nlp,
        reduction=reduction,
        made={"same": closed_functions(problem, requests, stacks, seen) if layout.values else {}},
    )


def _collect_requests(program: Program, method: Method, handover: Handover) -> list[Request]:
    """Return the requests of a motion: those of the statement, then those of the laws."""
    problem, numbers = program.problem, program.layout.problem
    known = formulation_range(numbers.tree, program.formulation)
    sound = soundness_constraints(problem, program.free)
    constraints, nodes = (*method.constraints(problem), *known, *sound), method.grid(numbers)
    laws = method.laws(numbers, program.layout.lifts, program.formulation)
    if numbers.ground is not None:
        laws += rigid_contact_laws(numbers, problem, program.free, handover.holds)
    handed = {numbers.tree.moving[row].name for row in handover.rows}
    asked = law_requests(program, laws, handed)
    return [*constraint_requests(program, constraints, nodes), *asked]


def _kernel_backend(problem: Problem, transcription: Transcription) -> KernelBackend:
    """Return the backend of a problem's kernels."""
    method, kernels = formulation_of(transcription.dynamics, problem.tree), transcription.kernels
    if kernels == "auto":  # a solver that finds derivatives itself wants the graphs
        left = transcription.derivatives == "solver" or isinstance(transcription.method, Integrated)
        left |= problem.tree.dof <= SMALL  # whose kernels are evaluated sooner than assembled
        kernels = VIRTUAL if left else ASSEMBLED
    words = f"{method.name} {transcription.derivatives}" if is_built_in(method) else ""
    always = transcription.kernels == ASSEMBLED
    return KernelBackend(kernels, words, transcription.threads, always=always)


def _program(
    problem: Problem,
    transcription: Transcription,
    machine: KernelBackend,
    free: tuple[str, ...],
    sloped: bool,
    shared: dict | None,
) -> Program:
    """Return the program of a problem on its method's basis, of which nothing is asked yet."""
    formulation = formulation_of(transcription.dynamics, problem.tree)
    backend: Backend | None = machine if machine.kernels == COMPILED else None
    if machine.kernels == ASSEMBLED and machine.keeps and machine.differentiated:
        backend = KeptKernels(machine.differentiated)
    if shared is not None and machine.differentiated:
        differentiated = machine.differentiated
        backend = SharedKernels(differentiated=differentiated, backend=backend, made=shared)
    return program_of(
        problem,
        transcription.method.layout(nominal(problem)),
        formulation,
        derivatives_of(formulation, transcription.derivatives, problem.tree),
        backend,
        free,
        sloped=sloped,
    )
