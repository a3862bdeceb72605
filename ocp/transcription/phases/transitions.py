"""Links between phases as rows: functions of the end of one phase and the start of another.

Their kernels take y of both ends, one after the other, then the impulses of what strikes there,
then the parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import Number, Parameter, parameters_of
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraint import Constraint
from ocp.problem.constraints.activations import (
    ACTIVATION,
    drive_states,
    state_units,
    states_of_drives,
)
from ocp.problem.phases.phases import Transition
from ocp.problem.phases.shared_spline import seams
from ocp.problem.reserved_names import SEPARATOR
from ocp.problem.statement import Problem
from ocp.transcription.constraint_rows import Group, Rows
from ocp.transcription.kernels.instant_symbols import Inputs, symbols
from ocp.transcription.kernels.kernels import as_column
from ocp.transcription.kernels.time_derivatives import rate_map
from ocp.transcription.kernels.user_functions import kernel_of, named_errors
from ocp.transcription.parameters.open_parameters import split_open_bounds
from ocp.transcription.phases.contact_handover import points_held_after
from ocp.transcription.phases.impacts import Impulse, impact_constraints, impact_impulses
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import motion_map


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One end of a phase: its number, the instant s, and the Inputs of kernels there."""

    part: int
    s: float
    inputs: Inputs

    def y(self, rated: bool) -> Matrix:
        """The inputs of kernels there: motion and what is lifted, and if `rated` their rates."""
        return self.inputs.with_rates.y if rated else self.inputs.y

    def map(
        self, part: TranscribedPhase, columns: np.ndarray, rated: bool
    ) -> tuple[np.ndarray, ...]:
        """Return the triplets of y there, with x of the phase standing at `columns` of that of
        all."""
        layout = replace(part.layout, values={}, free=0)
        made = (rate_map if rated else motion_map)(layout, np.array([self.s]))
        value = made.value / made.divisor[made.row % len(made.divisor)]
        return made.row, columns[made.column], value


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRows:
    """Rows of a link before its kernel is made: constraints with columns of expressions, the
    `sides` whose y they are functions of, and the `strikes` whose impulses they contain."""

    name: str
    rows: tuple[tuple[Constraint, Matrix], ...]
    sides: tuple[Side, ...]
    strikes: tuple[Impulse, ...] = ()

    @property
    def has_rates(self) -> bool:
        """Tell whether the rows contain rates, as those of accelerations."""
        stacks = ca.vertcat(*(stack for _, stack in self.rows))
        return any(bool(ca.depends_on(stacks, side.inputs.rates)) for side in self.sides)

    @property
    def impulses(self) -> Matrix:
        """The variables of all impulses."""
        return ca.vertcat(ca.SX(0, 1), *(each.variables for each in self.strikes))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in the rows and their bounds."""
        asked = [(each.lower, each.upper, stack) for each, stack in self.rows]
        return tuple(parameters_of(asked))

    def impulses_at(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return the impulses {point: (3,) N s} of values of their variables."""
        look = ca.Function("impulses", [self.impulses], [each.impulse for each in self.strikes])
        pushes = look.call([ca.DM(values)])
        points = [each.strike.point for each in self.strikes]
        return {point: np.array(push).ravel() for point, push in zip(points, pushes)}

    def variables_at(self, impulses: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the variables of impulses {point: (3,) N s}, zero where a point has none."""
        slope = ca.jacobian(ca.vertcat(*(each.impulse for each in self.strikes)), self.impulses)
        pushes = [impulses.get(each.strike.point, np.zeros(3)) for each in self.strikes]
        return np.linalg.pinv(np.array(ca.DM(slope))) @ np.concatenate(pushes)


def link_rows(problem: Problem, parts: Sequence[TranscribedPhase]) -> Iterator[LinkRows]:
    """Yield the rows of the links of a problem of phases, then those of the whole motion."""
    names = list(problem.parts)
    for transition, within in zip(problem.transitions, seams(problem)):
        numbers = names.index(transition.before), names.index(transition.after)
        if within:  # where a motion goes on by itself
            transition = replace(transition, quantities=())
        if transition.quantities or transition.strikes or transition.constraints:
            yield _transition_rows(problem, transition, _sides(parts, numbers), within)
    for constraint in problem.constraints:
        if constraint.when == "joined":
            ends = _sides(parts, (len(names) - 1, 0))
            stack = _stack(constraint, (ends[1].inputs.at, ends[0].inputs.at))
            yield LinkRows(name="", rows=((constraint, stack),), sides=ends)
        elif constraint.when == "durations":
            sides = tuple(_side(part, k, 1.0) for k, part in enumerate(parts))
            durations = {name: side.inputs.at.T for name, side in zip(names, sides)}
            yield LinkRows(
                name="", rows=((constraint, _stack(constraint, (durations,))),), sides=sides
            )


def _sides(parts: Sequence[TranscribedPhase], numbers: tuple[int, int]) -> tuple[Side, Side]:
    before, start = numbers
    return _side(parts[before], before, 1.0), _side(parts[start], start, 0.0)


def _side(part: TranscribedPhase, number: int, s: float) -> Side:
    lifting = "variables" if part.layout.lifts else None
    inputs = symbols(part.statement, part.formulation, wrenches=lifting)
    return Side(part=number, s=s, inputs=replace(inputs, at=replace(inputs.at, s=ca.SX(s))))


def _transition_rows(
    problem: Problem, transition: Transition, sides: tuple[Side, Side], within: bool
) -> LinkRows:
    ends = sides[0].inputs.at, sides[1].inputs.at
    strikes = impact_impulses(ends[0].tree, transition)
    constraints = [*_equality_constraints(problem, transition, within), *transition.constraints]
    if strikes:
        constraints += impact_constraints(
            problem.tree, transition, strikes, points_held_after(problem, transition)
        )
    named = (replace(each, name=f"{transition.name}{SEPARATOR}{each.name}") for each in constraints)
    rows = tuple((each, _stack(each, ends)) for each in named)
    return LinkRows(name=transition.name, rows=rows, sides=sides, strikes=strikes)


def _equality_constraints(
    problem: Problem, transition: Transition, within: bool
) -> Iterator[Constraint]:
    """Yield the constraints that make quantities the same on both sides."""
    moving, symmetry = problem.tree.moving, transition.symmetry
    count = len(moving)
    index = range(count) if symmetry is None else symmetry.index
    sign = ca.DM.ones(count) if symmetry is None else ca.DM(symmetry.sign)
    for quantity in transition.quantities:
        gained: tuple[Number, ...] = (0.0,) * count
        if symmetry is not None and quantity == "q":
            gained = symmetry.shift
        yield Constraint(
            name=quantity,
            function=lambda end, start, quantity=quantity: (
                getattr(end, quantity) - sign * getattr(start, quantity)[list(index)]
            ),
            lower=gained,
            upper=gained,
            when="joined",
            labels=tuple(joint.name for joint in moving),
            units=tuple(unit_of(joint, quantity) for joint in moving),
        )
    parts = problem.parts
    rows = list(states_of_drives(transition, parts[transition.before], parts[transition.after]))
    if rows and not within:
        yield Constraint(
            name=ACTIVATION,
            function=lambda end, start: (
                drive_states(end)[rows] - (sign * drive_states(start)[list(index)])[rows]
            ),
            lower=0.0,
            upper=0.0,
            when="joined",
            labels=tuple(moving[row].name for row in rows),
            units=state_units(problem.tree, rows),
        )


def _stack(constraint: Constraint, arguments: tuple) -> Matrix:
    what = f"constraint {constraint.name!r}"
    with named_errors(what, constraint.function, 0):
        value = constraint.function(*arguments)
    return as_column(what, value)


def link_group(
    asking: LinkRows,
    parts: Sequence[TranscribedPhase],
    columns: Sequence[np.ndarray],
    impulses: int,
    known: Mapping[Parameter, int],
    free: Sequence[str],
    size: int,
) -> Group:
    """Return the Group of what a link asks, over x of all (`size`).

    Those of phase k stand at `columns[k]`, those of the impulses from `impulses` on; `known` are
    the parameters' places, of which those named `free` are sought.
    """
    rows = [pair for each in asking.rows for pair in split_open_bounds(*each, free)]
    owners, stacks = [], []
    for constraint, stack in rows:
        wanted = [k for k in range(stack.shape[0]) if any(constraint.has_bounds(k))]
        owners += [(constraint, k) for k in wanted]
        stacks.append((f"constraint {constraint.name!r}", stack[wanted]))
    sought = [each for each in known if each.name in free or each.free]
    given = [each for each in known if each not in sought]
    symbols_of = [each.expression for each in (*sought, *given)]
    own = asking.impulses
    y = ca.vertcat(*(side.y(asking.has_rates) for side in asking.sides), own, *symbols_of)
    inputs = Inputs(
        y=y,
        s=ca.SX.sym("s"),
        at=tuple(side.inputs.at for side in asking.sides),
        sought=len(sought),
        given=len(given),
    )
    places = [*range(impulses, impulses + own.shape[0])]
    places += [known[each] for each in (*sought, *given)]
    return Group(
        kernel=kernel_of(inputs, stacks),
        s=np.zeros(1),
        matrix=_matrix(asking, parts, columns, places, (y.shape[0], size)),
        owners=tuple(owners),
        active=np.ones((len(owners), 1), dtype=bool),
    )


def _matrix(
    asking: LinkRows,
    parts: Sequence[TranscribedPhase],
    columns: Sequence[np.ndarray],
    places: Sequence[int],
    shape: tuple[int, int],
) -> ca.DM:
    """Return the map from x of all to y of a link."""
    triplets, row = [], 0
    for side in asking.sides:
        line, place, value = side.map(parts[side.part], columns[side.part], asking.has_rates)
        triplets.append((line + row, place, value))
        row += side.y(asking.has_rates).shape[0]
    lines = np.arange(row, row + len(places))
    triplets.append((lines, np.array(places, dtype=int), np.ones(len(places))))
    line, place, value = (np.concatenate(each) for each in zip(*triplets))
    return ca.DM.triplet(
        line.astype(int).tolist(), place.astype(int).tolist(), ca.DM(value), *shape
    )


def link_placement(group: Group, first: int) -> tuple[Rows, ...]:
    """Return the places of a link's constraints: rows of g from `first` on, in their order."""
    placed, number = [], first
    names = dict.fromkeys(id(constraint) for constraint, _ in group.owners)
    for name in names:
        chosen = [k for k, (constraint, _) in enumerate(group.owners) if id(constraint) == name]
        count = len(chosen)
        placed.append(
            Rows(
                constraint=group.owners[chosen[0]][0],
                s=np.zeros(1),
                numbers=np.array([group.owners[k][1] for k in chosen]),
                row=number + np.arange(count)[:, None],
                variable=np.full((count, 1), -1),
                coefficient=np.zeros((count, 1)),
                bound=np.full((count, 1), -1),
            )
        )
        number += count
    return tuple(placed)
