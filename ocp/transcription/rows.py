"""Where constraints go in an NLP, and the way back: rows of g or bounds of a variable, and multipliers by name."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.problem.names import DURATION
from ocp.problem.statement import Constraint
from ocp.transcription.kernels import Kernel, evaluate
from ocp.transcription.sparse import expand
from ocp.transcription.variables import free_duration

ALIKE = 1e-12  # of the largest coefficient of a row: below it a coefficient counts as zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Constraints evaluated together at instants `s`: their kernel, the map `matrix` from x to its inputs there, for each row of it its owner
    (constraint, number of its row), and at which instants it is `asked` for, (m, N)."""

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    owners: tuple
    asked: np.ndarray

    def inputs(self, x):
        """Return what the kernel takes at all instants, (width, N)."""
        return np.reshape(
            np.array(self.matrix @ x).ravel(), (self.kernel.width, len(self.s)), order="F"
        )


def row_bounds(group: Group, row) -> np.ndarray:
    """Return lower and upper bounds (2, k) of the group's rows that are in g, in their order there."""
    kept = np.nonzero(row.T.ravel() >= 0)[0] % len(group.owners)
    bounds = [(owner.lower_of(number), owner.upper_of(number)) for owner, number in group.owners]
    return np.reshape(np.array(bounds).T, (2, -1))[:, kept]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Where one constraint went: instants `s` (N,), `numbers` of its rows (m,), and for each row and instant (m, N) the row of g or -1, and
    the bounded variable or -1 with the coefficient that makes the row from it."""

    constraint: object
    s: np.ndarray
    numbers: np.ndarray
    row: np.ndarray
    variable: np.ndarray
    coefficient: np.ndarray

    @property
    def name(self):
        """The constraint's name, marked when these are the equalities among its rows and there may be others."""
        lower, upper = (
            np.atleast_1d(side) for side in (self.constraint.lower, self.constraint.upper)
        )
        equal = np.broadcast_arrays(lower == upper)[0]
        return self.constraint.name + (" (equalities)" if self.equal and not equal.all() else "")

    @property
    def equal(self):
        """Tell whether these rows are equalities."""
        return self.constraint.lower_of(self.numbers[0]) == self.constraint.upper_of(
            self.numbers[0]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Multipliers:
    """Lagrange multipliers of one constraint: instants `s` (N,), row labels (m,), values (m, N); positive at an upper bound."""

    s: np.ndarray
    labels: tuple
    values: np.ndarray


class Box:
    """Bounds of the variables, and who asked for them: rows linear in a single variable go here instead of to g."""

    def __init__(self, layout):
        self.layout, self.asked = layout, {}
        self.lower, self.upper = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
        if free_duration(layout.problem):
            self.lower[0], self.upper[0] = layout.problem.duration
            limits = _duration_limits(layout.problem)
            self.asked[0, "lower"] = self.asked[0, "upper"] = limits, 0, 1.0

    def take(self, group, count):
        """Place the rows of a group, those of g from `count` on; yield the Rows of each constraint and the array (m, N) of all its rows."""
        lines = linear_rows(group)
        variable, coefficient, row = (
            np.full(group.asked.shape, -1),
            np.zeros(group.asked.shape),
            np.full(group.asked.shape, -1),
        )
        absent = lines.known & (lines.count == 0) & group.asked
        for number, k in np.argwhere(absent):
            _check_constant(*group.owners[number], group.s[k], lines.constant[number, k])
        single = lines.count[lines.row, lines.instant] == 1
        for number, k, place, factor in zip(
            *(
                part[single]
                for part in (lines.row, lines.instant, lines.variable, lines.coefficient)
            )
        ):
            if group.asked[number, k]:
                variable[number, k], coefficient[number, k] = place, factor
                self._bound(
                    place, factor, lines.constant[number, k], *group.owners[number], group.s[k]
                )
        general = group.asked & (variable < 0) & ~absent
        row.T[general.T] = count + np.arange(general.sum())
        names, found = [constraint.name for constraint, _ in group.owners], []
        for name in dict.fromkeys(names):
            mine = [k for k, other in enumerate(names) if other == name]
            there = group.asked[mine].any(axis=0)
            found.append(
                Rows(
                    constraint=group.owners[mine[0]][0],
                    s=group.s[there],
                    numbers=np.array([group.owners[k][1] for k in mine]),
                    row=row[mine][:, there],
                    variable=variable[mine][:, there],
                    coefficient=coefficient[mine][:, there],
                )
            )
        return found, row

    def _bound(self, variable, coefficient, constant, constraint, number, s):
        sides = sorted(
            (bound - constant) / coefficient
            for bound in (constraint.lower_of(number), constraint.upper_of(number))
        )
        if sides[0] > self.lower[variable]:
            self.lower[variable], self.asked[variable, "lower"] = sides[0], (constraint, number, s)
        if sides[1] < self.upper[variable]:
            self.upper[variable], self.asked[variable, "upper"] = sides[1], (constraint, number, s)
        lower, upper = self.lower[variable], self.upper[variable]
        if lower > upper + 1e-12 * max(1.0, abs(upper)):
            raise ValueError(
                f"contradictory bounds: {_who(*self.asked[variable, 'lower'])} asks for at least {lower:g}, "
                f"{_who(*self.asked[variable, 'upper'])} for at most {upper:g}"
            )
        self.lower[variable] = min(lower, upper)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The rows of a group that are linear in x, as triplets with an `instant`; `known` (m, N) tells which, `count` (m, N) their number of
    coefficients, `constant` (m, N) what is left of them when x = 0."""

    row: np.ndarray
    instant: np.ndarray
    variable: np.ndarray
    coefficient: np.ndarray
    known: np.ndarray
    count: np.ndarray
    constant: np.ndarray


def linear_rows(group):
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
    places, index = np.unique(
        (instant[picked] * shape[0] + row[picked]) * size + variable, return_inverse=True
    )
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


def _check_constant(constraint, number, s, value):
    """Raise ValueError if a row that no variable moves is violated."""
    lower, upper = constraint.lower_of(number), constraint.upper_of(number)
    if not lower - 1e-9 <= value <= upper + 1e-9:
        raise ValueError(
            f"{_who(constraint, number, s)} is {value:g} whatever the motion, expected within ({lower:g}, {upper:g})"
        )


def name_multipliers(rows, asked, x_multipliers, g_multipliers):
    """Return {constraint name: Multipliers}; a variable's multiplier goes to the constraint that `asked` for the bound it leans on."""
    named = {}
    for placed in rows:
        values = np.zeros(placed.row.shape)
        values[placed.row >= 0] = np.take(g_multipliers, placed.row[placed.row >= 0])
        for m, k in zip(*np.nonzero(placed.variable >= 0)):
            variable = placed.variable[m, k]
            owner = asked.get((variable, "upper" if x_multipliers[variable] > 0 else "lower"))
            if owner == (placed.constraint, placed.numbers[m], placed.s[k]):
                values[m, k] = x_multipliers[variable] / placed.coefficient[m, k]
        named[placed.name] = Multipliers(
            s=placed.s,
            labels=tuple(placed.constraint.label(row) for row in placed.numbers),
            values=values,
        )
    if DURATION in [constraint.name for constraint, *_ in asked.values()]:
        named[DURATION] = Multipliers(
            s=np.zeros(1), labels=("T",), values=np.array([[x_multipliers[0]]])
        )
    return named


def gather_multipliers(rows, named, size, count, *, free):
    """Return multipliers of variables (size,) and rows of g (count,) from those by name, interpolated where the instants differ.

    `free` tells whether x_0 is the duration. A multiplier along the path is a density times the spacing of its instants, so it is scaled by
    the ratio of their numbers.
    """
    x_multipliers, g_multipliers = np.zeros(size), np.zeros(count)
    for placed in rows:
        if placed.name not in named or len(named[placed.name].values) != len(placed.row):
            continue
        known = named[placed.name]
        values = known.values
        if len(known.s) != len(placed.s) or not np.allclose(known.s, placed.s):
            values = (
                np.array([np.interp(placed.s, known.s, line) for line in values])
                * len(known.s)
                / len(placed.s)
            )
        g_multipliers[placed.row[placed.row >= 0]] = values[placed.row >= 0]
        bounds = placed.variable >= 0
        np.add.at(x_multipliers, placed.variable[bounds], (values * placed.coefficient)[bounds])
    if free and DURATION in named:
        x_multipliers[0] += named[DURATION].values[0, 0]
    return x_multipliers, g_multipliers


def _who(constraint, number, s):
    return f"{constraint.name} ({constraint.label(number)}, s = {s:.3g})"


def _duration_limits(problem):
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
