"""Where constraints go in an NLP, and the way back: rows of g or bounds of a variable, and multipliers by name."""
from dataclasses import dataclass

import numpy as np

from ocp.graph import Kernel, evaluate
from ocp.layout import free_duration, motion_map, variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Constraints evaluated at the same instants `s`: their kernel, and for each row of it its owner (constraint, number of its row)."""

    kernel: Kernel
    s: np.ndarray
    owners: tuple


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
        lower, upper = (np.atleast_1d(side) for side in (self.constraint.lower, self.constraint.upper))
        equal = np.broadcast_arrays(lower == upper)[0]
        return self.constraint.name + (" (equalities)" if self.equal and not equal.all() else "")

    @property
    def equal(self):
        """Tell whether these rows are equalities."""
        return self.constraint.lower_of(self.numbers[0]) == self.constraint.upper_of(self.numbers[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Multipliers:
    """Lagrange multipliers of one constraint: instants `s` (N,), row labels (m,), values (m, N); positive at an upper bound."""

    s: np.ndarray
    labels: tuple
    values: np.ndarray


class Box:
    """Bounds of the variables, and who asked for them: rows linear in a single variable go here instead of to g."""

    def __init__(self, problem):
        size = variables(problem)
        self.problem, self.lower, self.upper, self.asked = problem, np.full(size, -np.inf), np.full(size, np.inf), {}
        if free_duration(problem):
            self.lower[0], self.upper[0] = problem.duration
            self.asked[0, "lower"] = self.asked[0, "upper"] = "duration", 0, 0.0

    def take(self, group, count):
        """Place the rows of a group, those of g from `count` on; yield the Rows of each constraint and the array (m, N) of all its rows."""
        lines, constant = linear_rows(self.problem, group)
        row = np.full((len(group.owners), len(group.s)), -1)
        variable, coefficient = row.copy(), np.zeros(row.shape)
        for (k, number), line in sorted(lines.items()):
            places = np.nonzero(np.abs(line) > 1e-12 * max(np.abs(line).max(), 1e-300))[0]
            if len(places) == 1:
                variable[number, k], coefficient[number, k] = places[0], line[places[0]]
                self._bound(places[0], line[places[0]], constant[number, k], *group.owners[number], group.s[k])
        row.T[variable.T < 0] = count + np.arange((variable < 0).sum())
        names = [constraint.name for constraint, _ in group.owners]
        found = []
        for name in dict.fromkeys(names):
            mine = [k for k, other in enumerate(names) if other == name]
            found.append(Rows(constraint=group.owners[mine[0]][0], s=group.s, numbers=np.array([group.owners[k][1] for k in mine]),
                              row=row[mine], variable=variable[mine], coefficient=coefficient[mine]))
        return found, row

    def _bound(self, variable, coefficient, constant, constraint, number, s):
        sides = sorted((bound - constant) / coefficient for bound in (constraint.lower_of(number), constraint.upper_of(number)))
        if sides[0] > self.lower[variable]:
            self.lower[variable], self.asked[variable, "lower"] = sides[0], (constraint, number, s)
        if sides[1] < self.upper[variable]:
            self.upper[variable], self.asked[variable, "upper"] = sides[1], (constraint, number, s)
        lower, upper = self.lower[variable], self.upper[variable]
        if lower > upper + 1e-12 * max(1.0, abs(upper)):
            raise ValueError(f"contradictory bounds: {_who(*self.asked[variable, 'lower'])} asks for at least {lower:g}, "
                             f"{_who(*self.asked[variable, 'upper'])} for at most {upper:g}")
        self.lower[variable] = min(lower, upper)


def linear_rows(problem, group):
    """Return {(instant, kernel row): coefficients over x} of the rows linear in x, and the constants (m, N) left when x = 0."""
    if not group.kernel.linear.any():
        return {}, None
    matrix, offset = motion_map(problem, group.s)
    x = np.zeros(variables(problem))
    x[:free_duration(problem)] = 1.0
    count, width = len(group.s), group.kernel.width
    y = np.reshape(np.array(matrix @ x).ravel() + offset, (width, count), order="F")
    values, slopes = evaluate(group.kernel.values, y, group.s), evaluate(group.kernel.jacobian, y, group.s)
    dense, lines, constant = np.array(matrix).reshape(count, width, -1), {}, values.copy()
    for k in range(count):
        for number in np.nonzero(group.kernel.linear)[0]:
            mine = group.kernel.rows == number
            line = slopes[mine, k] @ dense[k, group.kernel.columns[mine]]
            lines[k, number] = line
            constant[number, k] -= line @ x
    return lines, constant


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
        named[placed.name] = Multipliers(s=placed.s, labels=tuple(placed.constraint.label(row) for row in placed.numbers), values=values)
    if "duration" in [owner[0] for owner in asked.values()]:
        named["duration"] = Multipliers(s=np.zeros(1), labels=("T",), values=np.array([[x_multipliers[0]]]))
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
            values = np.array([np.interp(placed.s, known.s, line) for line in values]) * len(known.s) / len(placed.s)
        g_multipliers[placed.row[placed.row >= 0]] = values[placed.row >= 0]
        bounds = placed.variable >= 0
        np.add.at(x_multipliers, placed.variable[bounds], (values * placed.coefficient)[bounds])
    if free and "duration" in named:
        x_multipliers[0] += named["duration"].values[0, 0]
    return x_multipliers, g_multipliers


def _who(constraint, number, s):
    return "duration" if constraint == "duration" else f"{constraint.name} ({constraint.label(number)}, s = {s:.3g})"
