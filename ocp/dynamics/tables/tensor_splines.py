"""Tensor-product B-splines through tables of functions of several arguments.

Values known at equal steps along every argument are interpolated by tensor products of splines of
odd degree p (de Boor 1978, ch. XIII, XVII): their error falls like step^(p + 1), and p - 1 of their
derivatives are continuous. Arguments that go round have periodic splines, others splines whose
first and last pieces reach over several steps ("not a knot"). CasADi evaluates and differentiates
them exactly, by the coefficients of their derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix

DEGREES = (1, 3, 5)
NUMBER_BYTES = 8  # of a number
MARGIN = 0.25  # of a range: so far do its splines go on beyond it
TABLE_MEMORY = 2**26  # bytes that one table may take
TRIALS = 12  # places at which it is tried what a function depends on
NOISE = 1e-12  # of the largest value: what differs by less is the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An argument of a table: its range, and at how many points it is known.

    Both ends are among the points, or if it goes `round` the last one is the first again.
    """

    name: str
    lower: float
    upper: float
    points: int
    round: bool = False

    @property
    def sites(self) -> np.ndarray:
        """The arguments at which values are known (points,)."""
        return np.linspace(self.lower, self.upper, self.points, endpoint=not self.round)

    def size(self, degree: int) -> int:
        """Return the number of coefficients of its splines."""
        return self.points + (degree + 2 if self.round else 0)

    def knots(self, degree: int) -> np.ndarray:
        """Return the knots of its splines, which reach beyond the range."""
        if self.round:
            step = (self.upper - self.lower) / self.points
            return self.lower + step * np.arange(-degree - 1, self.points + degree + 2)
        left = (degree + 1) // 2
        inner, margin = self.sites[left : self.points - left], MARGIN * (self.upper - self.lower)
        ends = [np.full(degree + 1, end) for end in (self.lower - margin, self.upper + margin)]
        return np.concatenate([ends[0], inner, ends[1]])

    def within(self, value: Matrix) -> Matrix:
        """Return an argument, or where the axis goes round its like within the range.

        Beyond a range the outermost polynomials go on, over a quarter of it; farther out the
        function is constant.
        """
        span = self.upper - self.lower
        if self.round:
            return value - span * ca.floor((value - self.lower) / span)
        reach = 0.999 * MARGIN * span  # where splines end they are cut off
        return ca.fmin(ca.fmax(value, self.lower - reach), self.upper + reach)

    def fit(self, values: np.ndarray, degree: int) -> np.ndarray:
        """Return the coefficients (size, ..) of the splines with these values (points, ..) at the
        sites; where it goes round the last ones are the first ones again."""
        knots, size = self.knots(degree).tolist(), self.size(degree)
        unit = np.eye(size).ravel(order="F").tolist()
        basis = ca.Function.bspline("basis", [knots], unit, [degree], size)
        weights = np.array(basis.map(self.points)(self.sites[None, :])).T
        again = size - self.points
        weights[:, :again] += weights[:, self.points :]
        flat = values.reshape(self.points, -1)
        fitted = np.linalg.solve(weights[:, : self.points], flat).reshape(values.shape)
        return np.concatenate([fitted, fitted[:again]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Part:
    """Entries of a table that depend on the same arguments, the numbers of their `axes`: their
    splines are the `function` of these."""

    axes: tuple[int, ...]
    function: ca.Function


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Splines:
    """The entries (m,) of a function of arguments (k,), looked up in tables along the axes.

    Every entry has its table over those arguments alone that it depends on; entries that are each
    other's opposite share one.

    Attributes:
        parts: the tables.
        source: of every entry the one of all that is kept, -1 for a constant, (m,).
        factor: of every entry the factor of that, or the constant, (m,).
        size: the number of numbers that are kept, constants among them.
    """

    axes: tuple[Axis, ...]
    degree: int
    parts: tuple[Part, ...]
    source: tuple[int, ...]
    factor: tuple[float, ...]
    size: int

    def __repr__(self) -> str:
        along = ", ".join(" x ".join(self.axes[k].name for k in part.axes) for part in self.parts)
        return f"Splines({len(self.source)} entries, {self.size} numbers, along {along or 'none'})"

    @property
    def bytes(self) -> int:
        """The memory that the numbers take."""
        return NUMBER_BYTES * self.size

    @property
    def used_axes(self) -> tuple[int, ...]:
        """The arguments that anything depends on."""
        return tuple(sorted({k for part in self.parts for k in part.axes}))

    def __call__(self, arguments: Matrix) -> list[Matrix]:
        """Return the m entries at arguments (k,), numbers or expressions."""
        known: list[Matrix] = []
        for part in self.parts:
            place = ca.vertcat(*(self.axes[k].within(arguments[k]) for k in part.axes))
            known += ca.vertsplit(part.function.call([place], False, isinstance(place, ca.SX))[0])
        constants = [ca.DM(factor) for factor in self.factor]
        return [
            constant if k < 0 else factor * known[k]
            for k, factor, constant in zip(self.source, self.factor, constants)
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Plan:
    """Plan of the tables of entries (m,), SX, of arguments (k,) along the axes.

    Attributes:
        groups: {arguments that entries depend on: those entries, one of every two alike}.
        source: of every entry the one that it is alike, -1 for a constant, (m,).
        factor: of every entry the factor of that, or the constant, (m,).
    """

    axes: tuple[Axis, ...]
    degree: int
    arguments: Matrix
    entries: Matrix
    groups: dict[tuple[int, ...], list[int]]
    source: list[int]
    factor: list[float]

    def size(self, points: int = 0) -> int:
        """Return the number of numbers to keep, exactly, or with so many points on each axis."""
        counts = (len(rows) * self.each(need, points) for need, rows in self.groups.items())
        return sum(counts) + len({abs(f) for f, k in zip(self.factor, self.source) if k < 0 and f})

    def each(self, need: Sequence[int], points: int = 0) -> int:
        """Return the number of numbers of an entry that depends on the arguments `need`."""
        along = [replace(self.axes[k], points=points or self.axes[k].points) for k in need]
        return prod(axis.size(self.degree) for axis in along)


def plan_tables(arguments: Matrix, entries: Matrix, axes: Sequence[Axis], degree: int) -> Plan:
    """Return the Plan of tables of expressions (m,), SX, of symbols (k,), one along each axis.

    Arguments that an entry does not depend on are found by trying, and left out of its table.
    """
    function = ca.Function("entries", [arguments], [ca.densify(entries)])
    values, moved = _try_arguments(function, axes)
    source, factor, kept = _distinct_entries(values)
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in kept:
        groups.setdefault(tuple(np.flatnonzero(moved[row]).tolist()), []).append(row)
    return Plan(
        axes=tuple(axes),
        degree=degree,
        arguments=arguments,
        entries=entries,
        groups=groups,
        source=source,
        factor=factor,
    )


def build_splines(what: str, plan: Plan) -> Splines:
    """Return the Splines of a plan.

    Raises ValueError telling the memory that would be needed where that is more than there may be.
    """
    _check_memory(what, plan)
    order = [row for rows in plan.groups.values() for row in rows]
    return Splines(
        axes=plan.axes,
        degree=plan.degree,
        parts=tuple(_part(f"table{k}", plan, need) for k, need in enumerate(plan.groups)),
        source=tuple(-1 if row < 0 else order.index(row) for row in plan.source),
        factor=tuple(plan.factor),
        size=plan.size(),
    )


def bytes_in_words(count: int) -> str:
    """Return a `count` of bytes in words: bytes, kB, MB and so on."""
    size, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"


# Making of tables ---------------------------------------------------------------------------------


def _try_arguments(function: ca.Function, axes: Sequence[Axis]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (m, trials) of a function's entries at random places, and which arguments
    (m, k) move them when they change alone."""
    rng = np.random.default_rng(0)
    lower, upper = (np.array([[getattr(axis, end)] for axis in axes]) for end in ("lower", "upper"))
    places, others = rng.uniform(lower, upper, (2, len(axes), TRIALS))
    values = _values(function, places)
    noise = NOISE * np.abs(values).max(initial=0.0)
    moved = np.zeros((len(values), len(axes)), dtype=bool)
    for k in range(len(axes)):
        changed = places.copy()
        changed[k] = others[k]
        moved[:, k] = np.abs(_values(function, changed) - values).max(axis=1, initial=0.0) > noise
    values[np.abs(values) <= noise] = 0.0
    values[~moved.any(axis=1)] = values[~moved.any(axis=1)][:, :1]
    return values, moved


def _distinct_entries(values: np.ndarray) -> tuple[list[int], list[float], list[int]]:
    """Return of every entry the first one that is the same or its opposite, -1 for constants, with
    the factor, or the constant; and the entries that need tables."""
    noise = NOISE * np.abs(values).max(initial=0.0)
    source: list[int] = []
    factor: list[float] = []
    kept: list[int] = []
    for row, line in enumerate(values):
        if np.ptp(line) <= noise:
            source.append(-1)
            factor.append(float(line[0]))
            continue
        alike = (
            (other, sign)
            for other, sign in product(kept, (1.0, -1.0))
            if np.abs(line - sign * values[other]).max() <= noise
        )
        other, sign = next(alike, (row, 1.0))
        if other == row:
            kept.append(row)
        source.append(other)
        factor.append(sign)
    return source, factor, kept


def _values(function: ca.Function, places: np.ndarray) -> np.ndarray:
    """Return the values (m, N) at places (k, N)."""
    return np.array(function.map(places.shape[1])(places)).reshape(-1, places.shape[1])


def _check_memory(what: str, plan: Plan) -> None:
    """Raise ValueError if tables are too large, naming their arguments and what would be needed."""
    needed = NUMBER_BYTES * plan.size()
    if needed <= TABLE_MEMORY:
        return
    largest = max(plan.groups, key=lambda need: len(plan.groups[need]) * plan.each(need))
    least = fits = plan.degree + 2
    while NUMBER_BYTES * plan.size(fits + 1) <= TABLE_MEMORY:
        fits += 1
    small = fits > least or NUMBER_BYTES * plan.size(fits) <= TABLE_MEMORY
    raise ValueError(
        f"{what}: {bytes_in_words(needed)} would be needed, more than "
        f"{bytes_in_words(TABLE_MEMORY)}: entries "
        f"depend on {', '.join(plan.axes[k].name for k in largest)}; "
        f"{f'take at most {fits} points' if small else 'no table is small enough'}"
    )


def _part(name: str, plan: Plan, need: tuple[int, ...]) -> Part:
    """Return the Part of the entries that depend on the arguments `need` alone."""
    axes, degree, rows = plan.axes, plan.degree, plan.groups[need]
    along, entries = [axes[k] for k in need], ca.densify(plan.entries[rows])
    function = ca.Function("entries", [plan.arguments], [entries])
    grid = np.meshgrid(*(axis.sites for axis in along), indexing="ij")
    middle = np.array([[(axis.lower + axis.upper) / 2] for axis in axes])
    places = np.repeat(middle, grid[0].size, axis=1)
    places[list(need)] = [line.ravel() for line in grid]
    values = np.moveaxis(_values(function, places).reshape(-1, *grid[0].shape), 0, -1)
    for number, axis in enumerate(along):
        values = np.moveaxis(axis.fit(np.moveaxis(values, number, 0), degree), 0, number)
    coefficients = np.moveaxis(values, -1, 0).ravel(order="F").tolist()
    knots = [axis.knots(degree).tolist() for axis in along]
    degrees = [degree] * len(along)
    function = ca.Function.bspline(name, knots, coefficients, degrees, len(rows))
    return Part(axes=need, function=function)
