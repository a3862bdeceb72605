"""Transcription of a problem of phases: the programs of all phases, with rows that link them.

Variables are those of the phases in order, each as if it were alone but for the parameters, then
the impulses of what strikes between them, then the parameters, which all phases share:

    x = [phase 1 | phase 2 | ... | impulses | parameters]
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import SEPARATOR
from ocp.problem.statement import Problem
from ocp.solvers.concatenate import Member, concatenate, concatenate_bounds
from ocp.solvers.nlp import NLP
from ocp.transcription.all_requests import Handover
from ocp.transcription.assembly.blocks import Block
from ocp.transcription.assembly.objective import check_weights, nonlinear_program
from ocp.transcription.assembly.row_placement import close_bounds
from ocp.transcription.laws.transition_laws import law_handover
from ocp.transcription.methods import on_its_mesh
from ocp.transcription.parameters.open_parameters import is_sought
from ocp.transcription.phases.contact_handover import contact_handover
from ocp.transcription.phases.phase_guess import phases_guess
from ocp.transcription.phases.transitions import (
    LinkRows,
    link_group,
    link_parameters,
    link_placement,
    link_rows,
)
from ocp.transcription.rows import Group, Rows, row_bounds
from ocp.transcription.transcribe import Transcribed, Transcription, transcribe
from ocp.transcription.variables.parameter_places import (
    freed_parameters,
    held_places,
    parameter_places,
    parameter_slice,
    sought_parameters,
)
from ocp.transcription.variables.shared_variables import merge_shared_motions, phase_columns
from ocp.transcription.variables.variable_bounds import parameter_limits


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PhaseLayout:
    """Where everything stands in x of all phases after the variables of these: the `impulses`
    {transition: slice}, then the parameters, of which the first `free` are sought unless
    `held_names`."""

    impulses: Mapping[str, slice]
    size: int
    values: Mapping[Parameter, float] = field(default_factory=dict)
    free: int = 0
    held_names: frozenset[str] = frozenset()
    moving: bool = False  # knots that are free are those of one phase alone

    def __repr__(self) -> str:
        return f"Order({self.size} variables)"

    parameters = property(parameter_slice)
    freed = property(freed_parameters)
    sought = property(sought_parameters)
    places = property(parameter_places)
    held_places = property(held_places)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TranscribedPhases:
    """A problem of phases as an NLP, and the way back: each phase `Transcribed` as if alone, where
    its variables stand in x (`columns`), and what links them, `links` whose groups of rows come
    after those of the phases. The rest is as in `Transcribed`."""

    statement: Problem
    problem: Problem
    transcription: Transcription
    parts: tuple[Transcribed, ...]
    columns: tuple[np.ndarray, ...]
    links: tuple[LinkRows, ...]
    layout: PhaseLayout
    nlp: NLP
    open_groups: tuple[Group, ...]
    groups: tuple[Group, ...]
    link_nlp: NLP
    reduction: None = None
    made: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        size, rows = len(self.nlp.lower), len(self.nlp.g_lower)
        return f"TranscribedPhases({len(self.parts)} phases, {size} variables, {rows} rows)"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the phases."""
        return tuple(phase.name for phase in self.statement.phases)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the statement leaves open; the first `layout.free` of them are sought."""
        return tuple(self.layout.values)

    @property
    def free_names(self) -> tuple[str, ...]:
        """Names of the parameters that solves seek, unless they hold them."""
        return tuple(each.name for each in self.layout.freed)

    @property
    def row_starts(self) -> tuple[int, ...]:
        """Where the rows of each phase begin in g, then where those of the links do."""
        counts = [len(part.nlp.g_lower) for part in self.parts]
        return tuple(np.cumsum([0, *counts]).tolist())

    @property
    def rows(self) -> tuple[Rows, ...]:
        """Where all constraints went: those of phases, by names that begin with theirs, and those
        of links."""
        placed: list[Rows] = []
        starts = self.row_starts
        for name, part, columns, start in zip(self.names, self.parts, self.columns, starts):
            placed += (_shift_rows(each, name, columns, start) for each in part.rows)
        return (*placed, *self.link_rows)

    @property
    def bound_owners(self) -> dict:
        """Who asked for each bound of a variable, as in `Transcribed`."""
        asked: dict = {}
        for name, part, columns in zip(self.names, self.parts, self.columns):
            named: dict[int, Constraint] = {}
            for (variable, side), (constraint, number, s) in part.bound_owners.items():
                if variable < part.layout.parameters.start:
                    if id(constraint) not in named:
                        named[id(constraint)] = _named_by_phase(constraint, name)
                    asked[int(columns[variable]), side] = named[id(constraint)], number, s
        return asked | self.parameter_bound_owners

    @property
    def parameter_bound_owners(self) -> dict:
        """Who asked for the bounds of the parameters that solves seek."""
        asked: dict = {}
        for each, place in self.layout.places.items():
            if each in self.layout.freed:
                asked[place, "lower"] = asked[place, "upper"] = parameter_limits(each), 0, 0.0
        return asked

    @property
    def link_rows(self) -> tuple[Rows, ...]:
        """Where the constraints of the links went."""
        placed: list[Rows] = []
        first = self.row_starts[-1]
        for group in self.groups:
            placed += link_placement(group, first)
            first += len(group.owners)
        return tuple(placed)

    @property
    def members(self) -> tuple[Member, ...]:
        """The programs of the phases, and of the links."""
        whole = Member(nlp=self.link_nlp, columns=np.arange(self.layout.size))
        parts = (
            Member(nlp=_without_parameters(part), columns=columns)
            for part, columns in zip(self.parts, self.columns)
        )
        return *parts, whole

    @property
    def guess(self) -> np.ndarray:
        """The first guess of x: the straightest motion of all phases together, no impulses."""
        return phases_guess(self)

    def join_phases(self, own: Sequence[np.ndarray]) -> np.ndarray:
        """Return x of all from that of every phase; parameters are at their values."""
        x = np.zeros(self.layout.size)
        for columns, values in zip(self.columns, own):
            x[columns] = values
        for columns, values in merge_shared_motions(self.parts, self.columns, own):
            x[columns] = values
        x[self.layout.parameters] = list(self.layout.values.values())
        return x

    def kernels(self) -> str:
        """Return how kernels run."""
        return "; ".join(dict.fromkeys(part.kernels() for part in self.parts))

    def expand(self, unknowns: np.ndarray) -> np.ndarray:
        """Return x of the whole motion from the unknowns of the NLP: itself."""
        return unknowns

    def on_given_knots(self, x: np.ndarray) -> tuple["TranscribedPhases", np.ndarray]:
        """Return the problem on given knots, and its variables there: itself and x."""
        return self, x

    def at(
        self, values: Mapping[Parameter, float], held: Iterable[str] = ()
    ) -> "TranscribedPhases":
        """Return the same program with other values of its parameters, as `Transcribed.at`."""
        held, values = frozenset(held), {each: values[each] for each in self.layout.values}
        if not values or (values == self.layout.values and held == self.layout.held_names):
            return self
        same = self.made.setdefault("same", {})
        parts = tuple(
            part.at({each: values[each] for each in part.layout.values}, held)
            for part in self.parts
        )
        layout = replace(self.layout, values=MappingProxyType(dict(values)), held_names=held)
        groups = close_bounds(self.open_groups, values)
        other = replace(
            self,
            problem=with_values(self.statement, values, same),
            parts=parts,
            layout=layout,
            groups=groups,
            link_nlp=_bounded(self.link_nlp, _link_bounds(groups, layout)),
        )
        return replace(
            other, nlp=_bounded(self.nlp, concatenate_bounds(other.members, layout.size))
        )


def transcribe_phases(
    problem: Problem,
    transcription: Transcription = Transcription(),
    *,
    free: Iterable[str] = (),
    sloped: bool = False,
) -> TranscribedPhases:
    """Return the Phased problem, its parameters at their own values; as `transcribe`.

    A phase that states a Mesh for its motion is collocated on that, whatever the method of the
    others.

    Raises ValueError naming the phase, and what of it is wrong.
    """
    names = tuple(free)
    holds, rows = contact_handover(problem, names), law_handover(problem)
    shared: dict = {}  # kernels that phases have alike
    settings = transcription, names, sloped, shared
    parts = tuple(
        _transcribe_phase(
            phase.name, part, Handover(holds=holds[phase.name], rows=rows[phase.name]), *settings
        )
        for phase, part in zip(problem.phases, problem.parts)
    )
    every = tuple(link_rows(problem, parts))
    known, count = _collect_parameters(parts, link_parameters(every), names)
    for part in problem.parts:
        check_weights([weight for weight, _ in part.objective.terms], [*known][:count])
    own, size = phase_columns([phase.name for phase in problem.phases], parts)
    layout = _phase_layout(size, every, known, count)
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
    made = TranscribedPhases(
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
        link_nlp=_link_nlp(groups, layout, transcription.derivatives != "solver"),
    )
    return replace(made, nlp=concatenate(made.members, layout.size))


def _named_by_phase(constraint: Constraint, phase: str) -> Constraint:
    """Return a constraint of a phase by a name that says so."""
    return replace(constraint, name=f"{phase}{SEPARATOR}{constraint.name}")


def _shift_rows(rows: Rows, phase: str, columns: np.ndarray, first: int) -> Rows:
    """Return where the rows of a phase are in the program of all."""
    return replace(
        rows,
        constraint=_named_by_phase(rows.constraint, phase),
        row=np.where(rows.row >= 0, rows.row + first, -1),
        variable=np.where(rows.variable >= 0, columns[rows.variable], -1),
    )


def _transcribe_phase(
    name: str,
    part: Problem,
    handover: Handover,
    transcription: Transcription,
    free: tuple[str, ...],
    sloped: bool,
    shared: dict,
) -> Transcribed:
    try:
        settings = replace(transcription, method=on_its_mesh(transcription.method, part.motion))
        made = transcribe(
            part, settings, free=free, sloped=sloped, handover=handover, shared=shared
        )
    except ValueError as error:
        raise ValueError(f"phase {name!r}: {error}") from None
    if made.layout.moving:
        raise ValueError(f"phase {name!r}: motion: free knots are not known between phases")
    if made.reduction is not None:
        raise ValueError(
            f"phase {name!r}: method {settings.method.name!r} is not known between phases"
        )
    return made


def _collect_parameters(
    parts: Sequence[Transcribed], asked: Sequence[Parameter], free: Sequence[str]
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


def _phase_layout(
    place: int, every: Sequence[LinkRows], known: dict[Parameter, float], count: int
) -> PhaseLayout:
    impulses = {}
    for each in every:
        if each.strikes:
            impulses[each.name] = slice(place, place + each.impulses.shape[0])
            place += each.impulses.shape[0]
    return PhaseLayout(
        impulses=impulses,
        size=place + len(known),
        values=MappingProxyType(known),
        free=count,
    )


def _without_parameters(part: Transcribed) -> NLP:
    """Return the program of a phase, its parameters bounded only where it seeks them itself."""
    nlp, layout = part.nlp, part.layout
    lower, upper = nlp.lower.copy(), nlp.upper.copy()
    for place, each in zip(range(layout.size)[layout.parameters], layout.values):
        if each not in layout.sought:
            lower[place], upper[place] = -np.inf, np.inf
    return replace(nlp, lower=lower, upper=upper)


def _bounded(nlp: NLP, bounds: dict[str, Any]) -> NLP:
    """Return a program with other bounds."""
    return replace(nlp, **bounds)


def _link_bounds(groups: Sequence[Group], layout: PhaseLayout) -> dict[str, np.ndarray]:
    """Return the bounds of the links' rows, and of the parameters."""
    lower, upper = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
    for each, place in layout.places.items():
        free = each in layout.sought
        lower[place] = each.lower if free else layout.values[each]
        upper[place] = each.upper if free else layout.values[each]
    rows = [row_bounds(group, np.arange(len(group.owners))[:, None]) for group in groups]
    g_lower, g_upper = np.hstack([np.empty((2, 0)), *rows])
    return {"lower": lower, "upper": upper, "g_lower": g_lower, "g_upper": g_upper}


def _link_nlp(groups: Sequence[Group], layout: PhaseLayout, differentiated: bool) -> NLP:
    """Return the program of the links alone, over x of all."""
    blocks, count = [], 0
    for group in groups:
        target = count + np.arange(len(group.owners))[:, None]
        count += len(group.owners)
        blocks.append(
            Block(
                kernel=group.kernel,
                s=group.s,
                matrix=group.matrix,
                target=target,
                weight=np.ones(target.shape),
            )
        )
    nothing: Callable[[Any], Any] = lambda x: ca.DM(0, 1)
    bounds = _link_bounds(groups, layout)
    return nonlinear_program((), nothing, blocks, bounds, differentiated=differentiated)
