"""Open parameters of a problem, and bounds that follow sought ones as rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import casadi as ca

from ocp.mechanics.values.parameters import (
    Number,
    Open,
    Parameter,
    anything_open,
    every_parameter,
    is_open,
    matrix,
    nominal,
    parameters_of,
)
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Constraint
from ocp.problem.instant import Instant
from ocp.problem.parameter_requirements import requirements
from ocp.problem.reserved_names import SOUND
from ocp.problem.statement import Problem
from ocp.transcription.kernels.instant_symbols import Inputs

MARGIN = 1e-7  # of its own value, that what is sought keeps from its end: solvers relax bounds


def is_sought(parameter: Parameter, names: Iterable[str]) -> bool:
    """Tell whether a parameter is one to be found: free of itself, or by name."""
    return parameter.free or parameter.name in names


def parameters_in(
    problem: Problem, stacks: Sequence[Matrix], seen: Sequence[Matrix], inputs: Inputs
) -> dict[Parameter, bool]:
    """Return {Parameter: whether a motion's rows or objective depend on it} of a problem, in order;
    `stacks` are columns of all that is asked, `seen` those of outputs.

    Raises ValueError for two parameters of one name.
    """
    if not anything_open():
        return {}
    together = ca.vertcat(*stacks)
    for stand_in in inputs.stand_ins:
        _, whole = stand_in.content  # of which no number is open
        closed = whole and not parameters_of(stand_in.place)
        if not closed and ca.depends_on(together, stand_in.symbol):
            together = ca.vertcat(together, stand_in.value)
    moving = parameters_of(together)
    known = dict.fromkeys((*parameters_of(problem), *parameters_of(list(seen))), False)
    known |= dict.fromkeys(moving, True)
    names: dict[str, Parameter] = {}
    for each in known:
        if names.setdefault(each.name, each) is not each:
            raise ValueError(f"parameter {each.name!r}: two parameters have this name")
    return known


def closed_functions(
    problem: Problem, requests: Iterable[Any], stacks: Sequence[Matrix], seen: Sequence[Matrix]
) -> dict[int, Callable[..., Matrix]]:
    """Return {id: function} of a problem's functions that have no parameters in them: those of
    `requests` that say so, and where neither `stacks`, what the terms give, nor `seen`, what the
    outputs do, have any."""
    known = [(each.constraint.function, each.plain) for each in requests]
    terms = (term.function for _, term in problem.objective.terms)
    given = (*zip(terms, stacks), *zip(problem.outputs.values(), seen))
    known += [(function, not parameters_of(stack)) for function, stack in given]
    inside = {id(function) for function, without in known if not without}
    return {id(function): function for function, _ in known if id(function) not in inside}


def split_open_bounds(
    constraint: Constraint, stack: Matrix, free: Iterable[str]
) -> Iterator[tuple[Constraint, Matrix]]:
    """Yield (constraint, column) of what together asks the same of a column, with bounds that
    follow no parameter that is sought: such a bound is taken off its row, which has zero for it.

    A row with two such bounds is asked for twice, each time with one.
    """
    names, rows = tuple(free), range(stack.shape[0])
    constraint.bounds(len(rows))
    sides = tuple(
        [bound(row) for row in rows] for bound in (constraint.lower_of, constraint.upper_of)
    )
    loose = [[_follows(bound, names) for bound in side] for side in sides]
    if not any(map(any, loose)):
        yield constraint, stack
        return
    same = [constraint.equal(row) for row in rows]
    plain = tuple(
        [free_end if follows else bound for bound, follows in zip(side, moved)]
        for side, moved, free_end in zip(sides, loose, (-inf, inf))
    )
    if any(low != -inf or high != inf for low, high in zip(*plain)):
        yield replace(constraint, lower=plain[0], upper=plain[1]), stack
    for side, moved, ends in zip(sides, loose, ((0.0, inf), (-inf, 0.0))):
        chosen = [follows and not equal for follows, equal in zip(moved, same)]
        yield from _shift_rows(constraint, stack, side, chosen, ends)
    chosen = [follows and equal for follows, equal in zip(loose[0], same)]
    yield from _shift_rows(constraint, stack, sides[0], chosen, (0.0, 0.0))


def _follows(bound: Number, names: tuple[str, ...]) -> bool:
    """Tell whether a bound follows a parameter that is sought."""
    return isinstance(bound, Open) and any(is_sought(each, names) for each in parameters_of(bound))


def _shift_rows(
    constraint: Constraint,
    stack: Matrix,
    side: Sequence,
    chosen: Sequence[bool],
    ends: tuple[float, float],
) -> Iterator[tuple[Constraint, Matrix]]:
    """Yield the constraint and the column of the chosen rows less their bounds, if there are
    any."""
    if not any(chosen):
        return
    offset = [bound if one else 0.0 for bound, one in zip(side, chosen)]
    lower, upper = (
        [end if one else free for one in chosen] for end, free in zip(ends, (-inf, inf))
    )
    taken = matrix(offset)
    yield (
        replace(
            constraint,
            lower=lower,
            upper=upper,
            function=ShiftedFunction(constraint.function, taken),
        ),
        stack - taken,
    )


@dataclass(frozen=True, slots=True, eq=False)
class ShiftedFunction:
    """A constraint's function less bounds of it."""

    function: Callable[..., Matrix]
    taken: Matrix

    def __call__(self, *instants: Instant) -> Matrix:
        return self.function(*instants) - self.taken


def soundness_constraints(problem: Problem, free: Iterable[str]) -> Iterator[Constraint]:
    """Yield the constraints that keep what is sought sound, as a mass at least 0; what is given is
    checked when it is.

    Raises ValueError for bounds of a free duration that follow what is sought.
    """
    names = tuple(free)
    lower, upper = problem.duration
    if lower != upper and is_open([lower, upper]):
        _check_duration(lower, upper, names)
    if not any(is_sought(each, names) for each in every_parameter()):
        return
    for name, expression, lower, upper, _ in requirements(problem):
        if any(is_sought(each, names) for each in parameters_of(expression)):
            yield Constraint(
                name=SOUND.format(name),
                function=ParameterFunction(_room(expression, lower, upper)),
                lower=MARGIN,
                upper=inf,
                when="start",
                units="of its own value",
            )


def _check_duration(lower: Number, upper: Number, names: tuple[str, ...]) -> None:
    check_apart(nominal(lower), nominal(upper))
    for each in parameters_of([lower, upper]):
        if is_sought(each, names):
            raise ValueError(
                f"duration: parameter {each.name!r} is free, and bounds of a free duration are "
                "given ones; state path(name, lambda at: at.T - bound, upper=0.0, when='end')"
            )


def check_apart(lower: float, upper: float) -> None:
    """Raise ValueError if the bounds (s) of a duration that is a variable meet."""
    if lower == upper:
        raise ValueError(
            f"duration: both bounds are {lower:g} s with these parameters, which makes a variable "
            "a number; state duration=parameter where it is to be given"
        )


def _room(expression: Matrix, lower: float, upper: float) -> Matrix:
    """Return by how much an expression is within its bounds, over its size at the parameters' own
    values."""
    size = abs(float(nominal(expression))) or 1.0
    sides = ((expression - lower, lower), (upper - expression, upper))
    return ca.vertcat(*(room / size for room, bound in sides if isfinite(bound)))


@dataclass(frozen=True, slots=True, eq=False)
class ParameterFunction:
    """A function of an Instant that is one expression of parameters."""

    expression: Matrix

    def __call__(self, at: Instant) -> Matrix:
        return self.expression
