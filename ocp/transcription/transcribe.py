"""Transcription of a problem: the programs of its phases, and the rows that link them.

A motion without phases is the only phase of itself, and its program that of the phase. Variables
of several phases are those of each in order, as if it were alone but for the parameters, then the
impulses of what strikes between them, then the parameters, which all phases share:

    x = [phase 1 | phase 2 | ... | impulses | parameters]
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import name_in_phase, phase_label
from ocp.problem.statement import Problem
from ocp.solvers.concatenate import Member, concatenate, concatenate_bounds
from ocp.solvers.minimize import Outcome
from ocp.solvers.nlp import NLP, Option
from ocp.solvers.progress import keep_interrupts
from ocp.transcription.assembly.assemble_program import check_weights
from ocp.transcription.constraint_rows import Group, Rows
from ocp.transcription.laws.transition_laws import law_handover
from ocp.transcription.parameters.open_parameters import is_sought
from ocp.transcription.phases.contact_handover import contact_handover
from ocp.transcription.phases.link_program import (
    ProgramLayout,
    link_bounds,
    link_nlp,
    program_layout,
)
from ocp.transcription.phases.phase_guess import phases_guess
from ocp.transcription.phases.transitions import (
    LinkRows,
    link_group,
    link_placement,
    link_rows,
)
from ocp.transcription.shooting import Reduction
from ocp.transcription.transcribe_phase import Handover, TranscribedPhase, transcribe_phase
from ocp.transcription.transcription_settings import SizeError, Transcription, settings_of_parts
from ocp.transcription.variables.named_multipliers import (
    Multipliers,
    gather_multipliers,
    keep_larger,
)
from ocp.transcription.variables.parameter_places import (
    free_names,
    parameters_of_program,
)
from ocp.transcription.variables.shared_variables import merge_shared_motions, phase_columns
from ocp.transcription.variables.variable_bounds import close_bounds, parameter_limits


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transcribed:
    """The program of a problem, and the way back from its variables.

    Attributes:
        statement, problem: as stated, and with numbers for the parameters that are open.
        transcription: the settings.
        parts: the programs of the phases, each as if it were alone.
        columns: places in x of the variables of each phase.
        links: rows that link the phases.
        layout: places in x of what is of no phase.
        nlp: the nonlinear program.
        open_groups, groups: rows of the links, with open bounds and with numbers.
        link_nlp: the program of the links alone; None where the whole is that of its only phase.
        made: results that are kept once they were asked for.
    """

    statement: Problem
    problem: Problem
    transcription: Transcription
    parts: tuple[TranscribedPhase, ...]
    columns: tuple[np.ndarray, ...]
    links: tuple[LinkRows, ...]
    layout: ProgramLayout
    nlp: NLP
    open_groups: tuple[Group, ...]
    groups: tuple[Group, ...]
    link_nlp: NLP | None
    made: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        size, rows = len(self.nlp.lower), len(self.nlp.g_lower)
        phases = "" if self.statement.single_phase else f"{len(self.parts)} phases, "
        method = self.transcription.method.name
        return f"Transcribed({method}, {phases}{size} variables, {rows} rows)"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the phases."""
        return tuple(self.statement.parts)

    parameters = property(parameters_of_program)
    free_names = property(free_names)

    @property
    def only_part(self) -> TranscribedPhase | None:
        """The phase whose program is that of the whole; None where there are others or links."""
        return self.parts[0] if self.link_nlp is None else None

    @property
    def reduction(self) -> Reduction | None:
        """The way between x and the unknowns of the program where passive joints are integrated."""
        return self.only_part.reduction if self.only_part else None

    @property
    def own_columns(self) -> tuple[np.ndarray, ...]:
        """Places in x of what is of each phase: the parameters are of the whole, unless that is its
        only phase."""
        if self.only_part:
            return self.columns
        parts = zip(self.parts, self.columns)
        return tuple(columns[: part.layout.parameters.start] for part, columns in parts)

    @property
    def row_starts(self) -> tuple[int, ...]:
        """Where the rows of each phase begin in g, then where those of the links do."""
        counts = [len(part.nlp.g_lower) for part in self.parts]
        return tuple(np.cumsum([0, *counts]).tolist())

    @property
    def rows(self) -> tuple[Rows, ...]:
        """Places of the rows of all constraints: those of phases, by names that begin with theirs,
        and those of links."""
        placed: list[Rows] = []
        starts = self.row_starts
        for name, part, columns, start in zip(self.names, self.parts, self.columns, starts):
            placed += (_shift_rows(each, name, columns, start) for each in part.rows)
        return (*placed, *self.link_rows)

    @property
    def bound_owners(self) -> dict:
        """The constraint that asks for each bound of a variable, as in `TranscribedPhase`."""
        owners: dict = {}
        for name, part, columns in zip(self.names, self.parts, self.own_columns):
            named: dict[int, Constraint] = {}
            for (variable, side), (constraint, number, s) in part.bound_owners.items():
                if variable < len(columns):
                    if id(constraint) not in named:
                        named[id(constraint)] = _in_phase(constraint, name)
                    owners[int(columns[variable]), side] = named[id(constraint)], number, s
        return owners | self.parameter_bound_owners

    @property
    def parameter_bound_owners(self) -> dict:
        """The bounds of the parameters that solves seek, where these are not of a phase."""
        owners: dict = {}
        for each, place in {} if self.only_part else self.layout.places.items():
            if each in self.layout.freed:
                owners[place, "lower"] = owners[place, "upper"] = parameter_limits(each), 0, 0.0
        return owners

    @property
    def link_rows(self) -> tuple[Rows, ...]:
        """Places of the rows of the links' constraints."""
        placed: list[Rows] = []
        first = self.row_starts[-1]
        for group in self.groups:
            placed += link_placement(group, first)
            first += len(group.owners)
        return tuple(placed)

    @property
    def guess(self) -> np.ndarray:
        """The first guess of x: the straightest motion of all phases together, no impulses."""
        return self.parts[0].guess if self.only_part else phases_guess(self)

    def join_phases(self, own: Sequence[np.ndarray]) -> np.ndarray:
        """Return x of all from that of every phase; parameters are at their values."""
        if self.only_part:
            return own[0]
        x = np.zeros(self.layout.size)
        for columns, values in zip(self.columns, own):
            x[columns] = values
        for columns, values in merge_shared_motions(self.parts, self.columns, own):
            x[columns] = values
        x[self.layout.parameters] = list(self.layout.values.values())
        return x

    def kernels(self) -> str:
        """Return the words on how kernels run."""
        return "; ".join(dict.fromkeys(part.kernels() for part in self.parts))

    def expand(self, unknowns: np.ndarray) -> np.ndarray:
        """Return x of the whole motion from the unknowns of the program."""
        return self.only_part.expand(unknowns) if self.only_part else unknowns

    def shrink(self, x: np.ndarray) -> np.ndarray:
        """Return the unknowns of the program from x of the whole motion."""
        return x if self.reduction is None else self.reduction.shrink(x)

    def spread(self, outcome: Outcome) -> Outcome:
        """Return an outcome in x and rows of the whole motion from that of the program."""
        if self.reduction is None:
            return outcome
        x, x_multipliers, g_multipliers = self.reduction.spread(outcome)
        return replace(outcome, x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)

    def on_given_knots(self, x: np.ndarray) -> tuple["Transcribed", np.ndarray]:
        """Return the program on given knots, and its variables there."""
        if not (self.only_part and self.only_part.layout.moving):
            return self, x
        part, x = self.only_part.on_given_knots(x)
        return program_of_phase(part), x

    def at(
        self,
        values: Mapping[Parameter, float],
        held: Iterable[str] = (),
        *,
        bounds_alone: bool = False,
    ) -> "Transcribed":
        """Return the same program with other values of its parameters, from which those that are
        sought start, unless they are `held` there; graphs stay as they are, and with `bounds_alone`
        the statement too.

        Raises ValueError naming what cannot be with these values.
        """
        held, values = frozenset(held), {each: values[each] for each in self.layout.values}
        if not values or (values == self.layout.values and held == self.layout.held_names):
            return self
        parts = tuple(
            part.at(
                {each: values[each] for each in part.layout.values}, held, bounds_alone=bounds_alone
            )
            for part in self.parts
        )
        layout = replace(self.layout, values=MappingProxyType(dict(values)), held_names=held)
        if self.link_nlp is None:
            (part,) = parts
            return replace(self, problem=part.problem, parts=parts, layout=layout, nlp=part.nlp)
        groups, same = close_bounds(self.open_groups, values), self.made.setdefault("same", {})
        links = _bounded(self.link_nlp, link_bounds(groups, layout))
        own = {} if bounds_alone else {"problem": with_values(self.statement, values, same)}
        fields = own | {"parts": parts, "layout": layout, "groups": groups}
        return with_joined_bounds(replace(self, link_nlp=links, **fields))


def members(program: Transcribed) -> tuple[Member, ...]:
    """Return the programs of the phases, and of the links, of which a program consists."""
    assert program.link_nlp is not None
    parts = (
        Member(nlp=_without_parameters(part), columns=columns)
        for part, columns in zip(program.parts, program.columns)
    )
    return *parts, Member(nlp=program.link_nlp, columns=np.arange(program.layout.size))


def with_joined_bounds(program: Transcribed) -> Transcribed:
    """Return a program with the bounds of its phases and links."""
    bounds = concatenate_bounds(members(program), program.layout.size)
    return replace(program, nlp=_bounded(program.nlp, bounds))


def join_multipliers(
    program: Transcribed,
    named: Mapping[str, Multipliers],
    own: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the multipliers of the variables and rows of a whole motion.

    Args:
        program: its program.
        named: multipliers by name, those of links and parameters among them.
        own: those of the variables and rows of each phase.
    """
    if program.only_part:
        return own[0]
    layout, starts = program.layout, program.row_starts
    count = starts[-1] + sum(len(group.owners) for group in program.groups)
    x_multipliers, g_multipliers = gather_multipliers(program.link_rows, named, layout, count)
    for columns, (own_x, own_g), first in zip(program.own_columns, own, starts):
        keep_larger(x_multipliers, columns, own_x[: len(columns)])
        g_multipliers[first : first + len(own_g)] = own_g
    return x_multipliers, g_multipliers


@keep_interrupts()
def transcribe(
    problem: Problem, transcription: Transcription = Transcription(), *, free: Iterable[str] = ()
) -> Transcribed:
    """Return the program of a problem, its parameters at their own values.

    A phase that states a Mesh for its motion is collocated on that, whatever the method of the
    others.

    Args:
        problem: the statement.
        transcription: method, dynamics, derivatives and kernels.
        free: names of parameters to be sought beside those that are free of themselves.

    Raises:
        ValueError: naming phase, constraint, joint and instant for bad sizes or contradictory
            bounds.
    """
    names = tuple(free)
    parts = _transcribe_parts(problem, transcription, names)
    every = () if problem.single_phase else tuple(link_rows(problem, parts))
    asked = [parameter for each in every for parameter in each.parameters]
    known, count = _collect_parameters(parts, asked, names)
    for part in parts:
        check_weights([weight for weight, _ in part.statement.objective.terms], [*known][:count])
    if problem.single_phase:
        return program_of_phase(parts[0])
    own, size = phase_columns(list(problem.parts), parts)
    layout = program_layout(size, every, known, count)
    places = layout.places
    columns = tuple(
        np.append(each, [places[one] for one in part.layout.values]).astype(int)
        for each, part in zip(own, parts)
    )
    impulses = [layout.impulses[each.name].start if each.strikes else 0 for each in every]
    where = {"parts": parts, "columns": columns, "known": places, "free": names}
    open_groups = tuple(
        link_group(each, impulses=start, size=layout.size, **where)
        for each, start in zip(every, impulses)
    )
    groups = close_bounds(open_groups, layout.values)
    made = Transcribed(
        statement=problem,
        problem=with_values(problem, dict(layout.values)),
        transcription=transcription,
        parts=parts,
        columns=columns,
        links=every,
        layout=layout,
        nlp=parts[0].nlp,  # until all are put together
        open_groups=open_groups,
        groups=groups,
        link_nlp=link_nlp(groups, layout, transcription.derivatives != "solver"),
    )
    return replace(made, nlp=concatenate(members(made), layout.size))


def program_of_phase(part: TranscribedPhase) -> Transcribed:
    """Return the program of a motion without phases: that of its only one."""
    own = part.layout
    layout = ProgramLayout(
        impulses={}, size=own.size, values=own.values, free=own.free, held_names=own.held_names
    )
    return Transcribed(
        statement=part.statement,
        problem=part.problem,
        transcription=part.transcription,
        parts=(part,),
        columns=(np.arange(own.size),),
        links=(),
        layout=layout,
        nlp=part.nlp,
        open_groups=(),
        groups=(),
        link_nlp=None,
    )


def _transcribe_parts(
    problem: Problem, transcription: Transcription, free: tuple[str, ...]
) -> tuple[TranscribedPhase, ...]:
    """Return the programs of all phases."""
    handovers: dict[str, Handover] = {}
    if problem.transitions:
        holds, rows = contact_handover(problem, free), law_handover(problem)
        handovers = {name: Handover(holds=holds[name], rows=rows[name]) for name in holds}
    shared: dict | None = None if problem.single_phase else {}  # kernels that phases have alike
    parts = []
    for name, settings in settings_of_parts(problem, transcription).items():
        handover = handovers.get(name, Handover())
        try:
            made = transcribe_phase(
                problem.parts[name], settings, free=free, handover=handover, shared=shared
            )
            if name and made.layout.moving:
                raise ValueError("motion: free knots are not known between phases")
            if name and made.reduction is not None:
                raise ValueError(f"method {settings.method.name!r} is not known between phases")
        except ValueError as error:
            kind = SizeError if isinstance(error, SizeError) else ValueError
            raise kind(f"{phase_label(name)}{error}") from None
        parts.append(made)
    return tuple(parts)


def _in_phase(constraint: Constraint, phase: str) -> Constraint:
    """Return a constraint of a phase by its name in the whole motion."""
    return replace(constraint, name=name_in_phase(phase, constraint.name)) if phase else constraint


def _shift_rows(rows: Rows, phase: str, columns: np.ndarray, first: int) -> Rows:
    """Return the places of a phase's rows in the program of all."""
    return replace(
        rows,
        constraint=_in_phase(rows.constraint, phase),
        row=np.where(rows.row >= 0, rows.row + first, -1),
        variable=np.where(rows.variable >= 0, columns[rows.variable], -1),
    )


def _collect_parameters(
    parts: Sequence[TranscribedPhase], asked: Sequence[Parameter], free: Sequence[str]
) -> tuple[dict[Parameter, float], int]:
    """Return {Parameter: value} of all phases and links, those sought first, and their number.

    Raises ValueError for two of one name, and for a name to be free that none has.
    """
    every = dict.fromkeys([each for part in parts for each in part.layout.values])
    every |= dict.fromkeys(asked)
    names: dict[str, Parameter] = {}
    for each in every:
        if names.setdefault(each.name, each) is not each:
            raise ValueError(f"parameter {each.name!r}: two parameters have this name")
    for name in free:
        if name not in names:
            raise ValueError(
                f"free: the problem has no parameter {name!r}; it has {', '.join(names) or 'none'}"
            )
    moved = {each for part in parts for each in part.layout.freed} | set(asked)
    first = [each for each in every if is_sought(each, free)]
    for each in first:
        if each not in moved:
            raise ValueError(
                f"parameter {each.name!r}: is free, but neither a constraint nor the objective "
                "depends on it"
            )
    rest = [each for each in every if each not in first]
    return {each: each.value for each in (*first, *rest)}, len(first)


def _without_parameters(part: TranscribedPhase) -> NLP:
    """Return the program of a phase, its parameters bounded only where it seeks them itself."""
    nlp, layout = part.nlp, part.layout
    lower, upper = nlp.lower.copy(), nlp.upper.copy()
    for place, each in zip(range(layout.size)[layout.parameters], layout.values):
        if each not in layout.sought:
            lower[place], upper[place] = -np.inf, np.inf
    return replace(nlp, lower=lower, upper=upper)


def _bounded(nlp: NLP, bounds: dict[str, Option]) -> NLP:
    """Return a program with other bounds."""
    return replace(nlp, **bounds)
