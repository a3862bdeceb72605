"""Where constraints go in an NLP: rows of g, or bounds of a variable where a row has only one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.parameters import Parameter, closed
from ocp.problem.constraint import Constraint, Moment
from ocp.problem.names import DURATION, PARAMETER
from ocp.transcription.distinct import distinct
from ocp.transcription.kernels import Kernel, evaluate
from ocp.transcription.sparse import expand
from ocp.transcription.variables import Layout, free_duration

ALIKE = 1e-12  # of the largest coefficient of a row: below it a coefficient counts as zero


@dataclass(frozen=True, kw_only=True, repr=False)
class Group:
    """Constraints evaluated together at instants `s`: their kernel, the map `matrix` from x to its
    inputs there, for each row of it its owner (constraint, number of its row), and at which
    instants it is `asked` for, (m, N)."""

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    owners: tuple
    asked: np.ndarray

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(constraint.name for constraint, _ in self.owners))
        return f"Group({names:.200}: {len(self.owners)} rows at {len(self.s)} instants)"

    @cached_property
    def taken(self) -> dict:
        """What a Box made of its rows, by the number of its first one."""
        return {}

    @cached_property
    def lines(self) -> "Lines":
        """The rows that are linear in x."""
        return linear_rows(self)

    def owned(self, given: Callable[[Constraint], Constraint]) -> "Group":
        """Return the group with other owners: of each constraint what `given` makes of it."""
        owners = tuple((given(constraint), number) for constraint, number in self.owners)
        if all(new[0] is old[0] for new, old in zip(owners, self.owners)):
            return self
        return self._moved(owners=owners)

    def timed(self, values: Mapping[Parameter, float]) -> "Group":
        """Return the group at its instant, if that is open, with numbers for its parameters."""
        when = self.owners[0][0].when if self.owners else ""
        if not isinstance(when, Moment):
            return self
        return self._moved(s=np.array([closed(when.s, values)]))

    def _moved(self, **changes: Any) -> "Group":
        """Return the group with other owners or instant, which leave its lines as they are."""
        other = replace(self, **changes)
        other.__dict__["lines"] = self.lines
        return other

    def unmoved(self, given: int) -> np.ndarray:
        """Tell which rows (m, N) that are not linear no variable moves but the `given` parameters,
        so many at the end of the kernel's inputs."""
        kernel = self.kernel
        inputs = np.zeros(len(self.s) * kernel.width, dtype=bool)
        inputs[self.matrix.sparsity().get_triplet()[0]] = True
        present = np.reshape(inputs, (len(self.s), kernel.width))
        chosen = kernel.columns < kernel.width - given
        moved = np.repeat(kernel.linear[:, None], len(self.s), axis=1)
        np.logical_or.at(moved, kernel.rows[chosen], present[:, kernel.columns[chosen]].T)
        return ~moved

    def inputs(self, x):
        """Return what the kernel takes at all instants, (width, N)."""
        return np.reshape(
            np.array(self.matrix @ x).ravel(), (self.kernel.width, len(self.s)), order="F"
        )


def row_bounds(group: Group, row) -> np.ndarray:
    """Return lower and upper bounds (2, k) of the group's rows that are in g, in their order
    there."""
    kept = np.nonzero(row.T.ravel() >= 0)[0] % len(group.owners)
    bounds = [(owner.lower_of(number), owner.upper_of(number)) for owner, number in group.owners]
    return np.reshape(np.array(bounds).T, (2, -1))[:, kept]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rows:
    """Where one constraint went: instants `s` (N,), `numbers` of its rows (m,), and for each row
    and instant (m, N) the row of g or -1, and the bounded variable or -1 with the coefficient that
    makes the row from it."""

    constraint: Constraint
    s: np.ndarray
    numbers: np.ndarray
    row: np.ndarray
    variable: np.ndarray
    coefficient: np.ndarray

    def __repr__(self) -> str:
        return f"Rows({self.name!r}, {len(self.numbers)} rows at {len(self.s)} instants)"

    @property
    def name(self) -> str:
        """The constraint's name, marked when these are the equalities among its rows and there may
        be others."""
        equal = np.equal(self.constraint.lower, self.constraint.upper)
        return self.constraint.name + (" (equalities)" if self.equal and not equal.all() else "")

    @property
    def equal(self) -> bool:
        """Tell whether these rows are equalities."""
        lower, upper = self.constraint.lower_of, self.constraint.upper_of
        return lower(self.numbers[0]) == upper(self.numbers[0])


class Box:
    """Bounds of the variables, and who asked for them: rows linear in a single variable go here
    instead of to g."""

    def __init__(self, layout: Layout):
        self.asked: dict = {}
        self.layout = layout
        self.lower, self.upper = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
        if free_duration(layout.problem):
            self.lower[0], self.upper[0] = layout.problem.duration
            limits = duration_limits(layout.problem)
            self.asked[0, "lower"] = self.asked[0, "upper"] = limits, 0, 1.0
        variables = range(layout.size)[layout.parameters]
        for variable, (parameter, given) in zip(variables, layout.values.items()):
            if parameter in layout.freed:  # of others the program does not know what they cost
                limits = parameter_limits(parameter)
                self.asked[variable, "lower"] = self.asked[variable, "upper"] = limits, 0, 0.0
            sought = parameter in layout.sought
            self.lower[variable] = parameter.lower if sought else given
            self.upper[variable] = parameter.upper if sought else given

    def take(self, group: Group, count: int) -> tuple[list[Rows], np.ndarray]:
        """Place the rows of a group, those of g from `count` on.

        Return the Rows of each constraint and the array (m, N) of all its rows. Where they are none
        that parameters alone move, a group keeps what came of that.
        """
        rows, places, ends = group.taken.get(count) or self._taken(group, count)
        for each in ends:
            self._bound(*each)
        return rows, places

    def _taken(self, group, count):
        """Return the Rows of a group, the array of its rows, and the bounds that it asks for; the
        group keeps them if other values of parameters leave them as they are."""
        lines = group.lines
        absent, constant = lines.known & (lines.count == 0) & group.asked, lines.constant
        unmoved = np.zeros_like(absent)
        if self.layout.values:
            unmoved = group.unmoved(len(self.layout.values) - self.layout.free) & group.asked
        if unmoved.any():
            absent, constant = absent | unmoved, np.where(unmoved, self._still(group), constant)
        for number, k in np.argwhere(absent):
            constraint, row = group.owners[number]
            _check_constant(constraint, row, group.s[k], constant[number, k])
        variable, coefficient, ends = _single(group, lines)
        places = np.full(group.asked.shape, -1)
        general = group.asked & (variable < 0) & ~absent
        places.T[general.T] = count + np.arange(general.sum())
        taken = list(_by_constraint(group, places, variable, coefficient)), places, ends
        if not unmoved.any():
            group.taken[count] = taken
        return taken

    def _still(self, group):
        """Return the rows of a group (m, N) where all variables but the parameters are zero."""
        x = np.zeros(self.layout.size)
        x[self.layout.parameters] = list(self.layout.values.values())
        return evaluate(group.kernel.values, group.inputs(x), group.s)

    def _bound(self, variable, lower, upper, owner):
        if lower > self.lower[variable]:
            self.lower[variable], self.asked[variable, "lower"] = lower, owner
        if upper < self.upper[variable]:
            self.upper[variable], self.asked[variable, "upper"] = upper, owner
        lower, upper = self.lower[variable], self.upper[variable]
        if lower > upper + 1e-12 * max(1.0, abs(upper)):
            raise ValueError(
                f"contradictory bounds: {_who(*self.asked[variable, 'lower'])} asks for at least "
                f"{lower:g}, {_who(*self.asked[variable, 'upper'])} for at most {upper:g}"
            )
        self.lower[variable] = min(lower, upper)


def _single(group, lines):
    """Return, for each row and instant (m, N), the single variable that it has or -1 and its
    coefficient, and what bounds these make: (variable, lower, upper, owner) each."""
    variable, coefficient = np.full(group.asked.shape, -1), np.zeros(group.asked.shape)
    single = lines.count[lines.row, lines.instant] == 1
    single &= group.asked[lines.row, lines.instant]
    parts = (lines.row, lines.instant, lines.variable, lines.coefficient)
    number, k, place, factor = (part[single] for part in parts)
    variable[number, k], coefficient[number, k] = place, factor
    bounds = [(owner.lower_of(row), owner.upper_of(row)) for owner, row in group.owners]
    sides = np.reshape(np.array(bounds, dtype=float), (-1, 2))[number]
    sides = np.sort((sides - lines.constant[number, k][:, None]) / factor[:, None], axis=1)
    owners = [(*group.owners[row], group.s[instant]) for row, instant in zip(number, k)]
    return variable, coefficient, list(zip(place.tolist(), *sides.T.tolist(), owners))


def _by_constraint(group, row, variable, coefficient):
    """Yield the Rows of each constraint of a group, at the instants where it is asked for."""
    names = np.array([id(constraint) for constraint, _ in group.owners])
    for name in dict.fromkeys(names.tolist()):
        chosen = np.nonzero(names == name)[0]
        present = group.asked[chosen].any(axis=0)
        yield Rows(
            constraint=group.owners[chosen[0]][0],
            s=group.s[present],
            numbers=np.array([group.owners[k][1] for k in chosen]),
            row=row[chosen][:, present],
            variable=variable[chosen][:, present],
            coefficient=coefficient[chosen][:, present],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The rows of a group that are linear in x, as triplets with an `instant`.

    `known` (m, N) tells which, `count` (m, N) their number of coefficients, `constant` (m, N) what
    is left of them when x = 0.
    """

    row: np.ndarray
    instant: np.ndarray
    variable: np.ndarray
    coefficient: np.ndarray
    known: np.ndarray
    count: np.ndarray
    constant: np.ndarray


def linear_rows(group: Group) -> Lines:
    """Return the Lines of a group."""
    kernel, count = group.kernel, len(group.s)
    shape, size = (len(group.owners), count), group.matrix.shape[1]
    known = np.repeat(kernel.linear[:, None], count, axis=1)
    y = group.inputs(np.eye(size)[0])  # where a free duration is 1 and all else 0
    chosen = np.nonzero(kernel.linear[kernel.rows])[0]
    slopes = evaluate(kernel.jacobian, y, group.s)[chosen]
    row, column = np.tile(kernel.rows[chosen], count), np.tile(kernel.columns[chosen], count)
    instant = np.repeat(np.arange(count), len(chosen))
    picked, variable, value = expand(group.matrix, instant * kernel.width + column)
    places, index = distinct((instant[picked] * shape[0] + row[picked]) * size + variable)
    coefficient = np.bincount(
        index, weights=slopes.T.ravel()[picked] * value, minlength=len(places)
    )
    line, variable = np.divmod(places, size)
    largest = np.zeros(shape[0] * count)
    np.maximum.at(largest, line, np.abs(coefficient))
    kept = np.abs(coefficient) > ALIKE * np.maximum(largest[line], 1e-300)
    line, variable, coefficient = line[kept], variable[kept], coefficient[kept]
    instant, row = np.divmod(line, shape[0])
    number = np.reshape(np.bincount(line, minlength=shape[0] * count), shape, order="F")
    share = np.bincount(line, weights=coefficient * (variable == 0), minlength=shape[0] * count)
    constant = evaluate(kernel.values, y, group.s) - np.reshape(share, shape, order="F")
    return Lines(
        row=row,
        instant=instant,
        variable=variable,
        coefficient=coefficient,
        known=known,
        count=number,
        constant=constant,
    )


LOST = "; float() and the module math make numbers of expressions, take ca.sin and the like"


def _check_constant(constraint, number, s, value):
    """Raise ValueError if a row that no variable moves is violated."""
    lower, upper = constraint.lower_of(number), constraint.upper_of(number)
    if not lower - 1e-9 <= value <= upper + 1e-9:
        raise ValueError(
            f"{_who(constraint, number, s)} is {value:g} whatever the motion, "
            f"expected within ({lower:g}, {upper:g})"
            f"{LOST if np.isnan(value) else ''}"
        )


def _who(constraint, number, s):
    return f"{constraint.name} ({constraint.label(number)}, s = {s:.3g})"


def duration_limits(problem):
    """Return the bounds of a free duration as the Constraint that they are."""
    lower, upper = problem.duration
    return Constraint(
        name=DURATION,
        function=lambda at: at.T,
        lower=lower,
        upper=upper,
        when="end",
        labels=("T",),
        units="s",
    )


def parameter_limits(parameter: Parameter) -> Constraint:
    """Return the bounds of a parameter that is sought as the Constraint that they are."""
    return Constraint(
        name=PARAMETER.format(parameter.name),
        function=lambda at: parameter.expression,
        lower=parameter.lower,
        upper=parameter.upper,
        when="start",
        labels=(parameter.name,),
        units=parameter.unit,
    )
