"""Variable bounds, collected from single-variable rows with the owners of these; the other rows
are those of g."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem.constraint import Constraint, Moment
from ocp.problem.reserved_names import DURATION, PARAMETER
from ocp.problem.statement import Problem
from ocp.transcription.constraint_rows import Group, Lines, Rows, row_bounds
from ocp.transcription.kernels.kernels import evaluate
from ocp.transcription.variables.layout import Layout, free_duration, unused_variables


def close_bounds(
    open_groups: Iterable[Group],
    values: Mapping[Parameter, float],
    anew: Mapping[int, Constraint] = MappingProxyType({}),
) -> tuple:
    """Return groups with numbers for the bounds that follow parameters; `anew` {id: what these
    values made of it} has constraints of the statement."""
    known: dict = {}

    def close(constraint: Constraint) -> Constraint:
        if not constraint.open:
            return constraint
        if id(constraint) in anew and not isinstance(constraint.when, Moment):
            return anew[id(constraint)]
        sides = {"lower": constraint.lower, "upper": constraint.upper}
        return replace(constraint, **with_values(sides, values))

    def closed_once(constraint: Constraint) -> Constraint:
        if id(constraint) not in known:
            known[id(constraint)] = close(constraint)
        return known[id(constraint)]

    return tuple(
        group.with_owners(closed_once).at_instant(values) if group.open else group
        for group in open_groups
    )


def place_rows(asked_for: Sequence[Group], layout: Layout) -> tuple:
    """Return the Box of the variables, the rows of g that each group has (m, N), where every
    constraint went, and all bounds."""
    box, places, rows, limits, count = VariableBounds(layout), [], [], [np.empty((2, 0))], 0
    for group in asked_for:
        placed, row, sides = box.place(group, count)
        rows += placed
        limits.append(sides)
        count += sides.shape[1]
        places.append(row)
    box.settle()
    g_lower, g_upper = np.hstack(limits)
    bounds = {"lower": box.lower, "upper": box.upper, "g_lower": g_lower, "g_upper": g_upper}
    return box, places, tuple(rows), bounds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundRequests:
    """Bounds that rows ask for: of `variable` a `lower` and an `upper` one (k,), and the `owners`,
    (constraint, number of its row, instant) of each."""

    variable: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    owners: list

    def __repr__(self) -> str:
        return f"Ends({len(self.owners)} bounds)"


Owner = tuple[Constraint, int, float]  # constraint, number of its row, instant
Placement = tuple[list[Rows], np.ndarray, np.ndarray, BoundRequests]


class VariableBounds:
    """Bounds of the variables, and who asked for them: rows linear in a single variable go here
    instead of to g. `binding` (2, size) are the numbers of those bounds that are the variables'
    lower and upper ones, in the order in which they were asked for, or -1."""

    def __init__(self, layout: Layout) -> None:
        self.owners: dict = {}
        self.binding = np.full((2, layout.size), -1)
        self.ends: list[BoundRequests] = []
        self.count = 0
        self.layout = layout
        self.lower, self.upper = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
        unused = unused_variables(layout)
        self.lower[unused] = self.upper[unused] = 0.0
        if free_duration(layout.problem):
            self.lower[0], self.upper[0] = layout.problem.duration
            limits = duration_limits(layout.problem)
            self.owners[0, "lower"] = self.owners[0, "upper"] = limits, 0, 1.0
        freed, sought = layout.freed, layout.sought
        for variable, parameter in zip(range(layout.size)[layout.parameters], freed):
            limits = parameter_limits(parameter)  # of others the program does not know the costs
            self.owners[variable, "lower"] = self.owners[variable, "upper"] = limits, 0, 0.0
        known = layout.values.items()
        sides = [(each.lower, each.upper) if each in sought else (own,) * 2 for each, own in known]
        if sides:
            self.lower[layout.parameters], self.upper[layout.parameters] = zip(*sides)

    def place(self, group: Group, count: int) -> tuple[list[Rows], np.ndarray, np.ndarray]:
        """Place the rows of a group, those of g from `count` on.

        Return the Rows of each constraint, the array (m, N) of all its rows, and the bounds (2, k)
        of those in g. Where they are none that parameters alone move, a group keeps what came of
        that.
        """
        key = count, self.count
        rows, places, limits, ends = group.placements.get(key) or self._place(group, *key)
        self.ends.append(ends)
        self.count += len(ends.owners)
        return rows, places, limits

    def settle(self) -> None:
        """Make what was asked for the bounds of the variables, of equal bounds the first.

        Raises ValueError naming who asks for bounds that contradict each other.
        """
        if not self.count:
            return
        columns = ("variable", "lower", "upper")
        parts = (np.concatenate([getattr(each, name) for each in self.ends]) for name in columns)
        variable, *sides = parts
        owners = [owner for each in self.ends for owner in each.owners]
        bounds = self.lower.copy(), self.upper.copy()
        np.maximum.at(bounds[0], variable, sides[0])
        np.minimum.at(bounds[1], variable, sides[1])
        if (bounds[0] > bounds[1]).any():  # by rounding, or they contradict each other
            for number, owner in enumerate(owners):
                low, high = (float(side[number]) for side in sides)
                self._tighten(int(variable[number]), low, high, owner, number)
            return
        for side, name, ends, tight in zip((0, 1), ("lower", "upper"), sides, bounds):
            before = getattr(self, name)
            chosen = (ends == tight[variable]) & (ends != before[variable])
            numbers = np.nonzero(chosen)[0][::-1]  # the first comes last, and stays
            self.binding[side, variable[numbers]] = numbers
            setattr(self, name, tight)
            for place in np.nonzero(self.binding[side] >= 0)[0].tolist():
                self.owners[place, name] = owners[self.binding[side, place]]

    def _place(self, group: Group, count: int, first: int) -> Placement:
        """Return the Rows of a group, the array of its rows, their bounds in g, and the Ends that
        it asks for, from the number `first` on; the group keeps them if other values of parameters
        leave them as they are."""
        lines = group.lines
        absent, constant = lines.known & (lines.count == 0) & group.active, lines.constant
        unmoved = np.zeros_like(absent)
        if self.layout.values:
            unmoved = group.constant_rows(len(self.layout.values) - self.layout.free) & group.active
        if unmoved.any():
            absent, constant = absent | unmoved, np.where(unmoved, self._still(group), constant)
        for number, k in np.argwhere(absent):
            constraint, row = group.owners[number]
            _check_constant(constraint, row, group.s[k], constant[number, k])
        variable, coefficient, single, ends = single_variable_rows(group, lines)
        places = np.full(group.active.shape, -1)
        general = group.active & (variable < 0) & ~absent
        places.T[general.T] = count + np.arange(general.sum())
        bound = np.full(places.shape, -1)
        bound[single] = first + np.arange(len(ends.owners))
        rows = list(_rows_by_constraint(group, places, variable, coefficient, bound))
        taken = rows, places, row_bounds(group, places), ends
        if not unmoved.any():
            group.placements[count, first] = taken
        return taken

    def _still(self, group: Group) -> np.ndarray:
        """Return the rows of a group (m, N) where all variables but the parameters are zero."""
        x = np.zeros(self.layout.size)
        x[self.layout.parameters] = list(self.layout.values.values())
        return evaluate(group.kernel.values, group.inputs(x), group.s)

    def _tighten(
        self, variable: int, lower: float, upper: float, owner: Owner, number: int
    ) -> None:
        if lower > self.lower[variable]:
            self.lower[variable], self.owners[variable, "lower"] = lower, owner
            self.binding[0, variable] = number
        if upper < self.upper[variable]:
            self.upper[variable], self.owners[variable, "upper"] = upper, owner
            self.binding[1, variable] = number
        lower, upper = self.lower[variable], self.upper[variable]
        if lower > upper + 1e-12 * max(1.0, abs(upper)):
            raise ValueError(
                "contradictory bounds: "
                f"{_row_name(*self.owners[variable, 'lower'])} asks for at least {lower:g}, "
                f"{_row_name(*self.owners[variable, 'upper'])} for at most {upper:g}"
            )
        self.lower[variable] = min(lower, upper)


def single_variable_rows(
    group: Group, lines: Lines
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray], BoundRequests]:
    """Return, for each row and instant (m, N), the single variable that it has or -1 and its
    coefficient, where these are, and the Ends that they make."""
    variable, coefficient = np.full(group.active.shape, -1), np.zeros(group.active.shape)
    single = lines.count[lines.row, lines.instant] == 1
    single &= group.active[lines.row, lines.instant]
    parts = (lines.row, lines.instant, lines.variable, lines.coefficient)
    number, k, place, factor = (part[single] for part in parts)
    variable[number, k], coefficient[number, k] = place, factor
    bounds = [(owner.lower_of(row), owner.upper_of(row)) for owner, row in group.owners]
    sides = np.reshape(np.array(bounds, dtype=float), (-1, 2))[number]
    sides = np.sort((sides - lines.constant[number, k][:, None]) / factor[:, None], axis=1)
    owners = [(*group.owners[row], group.s[instant]) for row, instant in zip(number, k)]
    ends = BoundRequests(variable=place, lower=sides[:, 0], upper=sides[:, 1], owners=owners)
    return variable, coefficient, (number, k), ends


def _rows_by_constraint(
    group: Group, row: np.ndarray, variable: np.ndarray, coefficient: np.ndarray, bound: np.ndarray
) -> Iterator[Rows]:
    """Yield the Rows of each constraint of a group, at the instants where it is asked for; none of
    one that is asked for nowhere."""
    names = np.array([id(constraint) for constraint, _ in group.owners])
    for name in dict.fromkeys(names.tolist()):
        chosen = np.nonzero(names == name)[0]
        present = group.active[chosen].any(axis=0)
        if not present.any():
            continue
        yield Rows(
            constraint=group.owners[chosen[0]][0],
            s=group.s[present],
            numbers=np.array([group.owners[k][1] for k in chosen]),
            row=row[chosen][:, present],
            variable=variable[chosen][:, present],
            coefficient=coefficient[chosen][:, present],
            bound=bound[chosen][:, present],
        )


LOST = "; float() and the module math make numbers of expressions, take ca.sin and the like"


def _check_constant(constraint: Constraint, number: int, s: float, value: float) -> None:
    """Raise ValueError if a row that no variable moves is violated."""
    lower, upper = constraint.lower_of(number), constraint.upper_of(number)
    if not lower - 1e-9 <= value <= upper + 1e-9:
        raise ValueError(
            f"{_row_name(constraint, number, s)} is {value:g} whatever the motion, "
            f"expected within ({lower:g}, {upper:g})"
            f"{LOST if np.isnan(value) else ''}"
        )


def _row_name(constraint: Constraint, number: int, s: float) -> str:
    return f"{constraint.name} ({constraint.label(number)}, s = {s:.3g})"


def duration_limits(problem: Problem) -> Constraint:
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
