"""Rows of constraints in a program: rows of g, or bounds where a row has a single variable."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ocp.codegen.kept_results import Parts, digest, recall
from ocp.index_sets import distinct
from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem.constraint import Constraint, Moment
from ocp.transcription.assembly.scatter_gather import line_entries
from ocp.transcription.kernels.kernels import Kernel, evaluate

ALIKE = 1e-12  # of the largest coefficient of a row: below it a coefficient counts as zero


@dataclass(frozen=True, kw_only=True, repr=False)
class Group:
    """Constraints evaluated together at instants `s`: their kernel, the map `matrix` from x to its
    inputs there, for each row of it its owner (constraint, number of its row), and at which
    instants it is `active`, (m, N)."""

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    owners: tuple
    active: np.ndarray

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(constraint.name for constraint, _ in self.owners))
        return f"Group({names:.200}: {len(self.owners)} rows at {len(self.s)} instants)"

    @cached_property
    def placements(self) -> dict:
        """What a Box made of its rows, by the number of its first one."""
        return {}

    @cached_property
    def open(self) -> bool:
        """Tell whether a bound of its rows, or its instant, is open."""
        constraints = {id(constraint): constraint for constraint, _ in self.owners}
        return any(constraint.open for constraint in constraints.values())

    @cached_property
    def lines(self) -> "Lines":
        """The rows that are linear in x."""
        known_by = getattr(self.kernel.made["jacobian"], "known_by", None)
        if known_by is None:  # its results are not kept
            return linear_rows(self)

        def parts() -> Parts:
            lines = linear_rows(self)
            return {each.name: getattr(lines, each.name) for each in fields(lines)}

        given = known_by, digest(self.s, self.matrix), len(self.owners)
        return Lines(**recall("lines", given, parts))

    def with_owners(self, given: Callable[[Constraint], Constraint]) -> "Group":
        """Return the group with other owners: of each constraint what `given` makes of it."""
        owners = tuple((given(constraint), number) for constraint, number in self.owners)
        if all(new[0] is old[0] for new, old in zip(owners, self.owners)):
            return self
        return self._changed(owners=owners)

    def at_instant(self, values: Mapping[Parameter, float]) -> "Group":
        """Return the group at its instant, if that is open, with numbers for its parameters."""
        when = self.owners[0][0].when if self.owners else ""
        if not isinstance(when, Moment):
            return self
        return self._changed(s=np.array([with_values(when.s, values)]))

    def without(self, names: Container[str]) -> "Group":
        """Return the group with nothing asked of constraints of some names."""
        kept = np.array([constraint.name not in names for constraint, _ in self.owners], dtype=bool)
        return self if kept.all() else self._changed(active=self.active & kept[:, None])

    def _changed(self, **changes: Any) -> "Group":
        """Return the group with other owners, instant or what is asked for, which leave its lines
        as they are."""
        other = replace(self, **changes)
        other.__dict__.update(lines=self.lines, constant_rows_known=self.constant_rows_known)
        return other

    @cached_property
    def constant_rows_known(self) -> dict:
        """What `constant_rows` has said, by the number of parameters."""
        return {}

    def constant_rows(self, given: int) -> np.ndarray:
        """Tell which rows (m, N) that are not linear no variable moves but the `given` parameters,
        so many at the end of the kernel's inputs."""
        if given not in self.constant_rows_known:
            self.constant_rows_known[given] = self._constant_rows(given)
        return self.constant_rows_known[given]

    def _constant_rows(self, given: int) -> np.ndarray:
        kernel = self.kernel
        inputs = np.zeros(len(self.s) * kernel.width, dtype=bool)
        inputs[self.matrix.sparsity().get_triplet()[0]] = True
        present = np.reshape(inputs, (len(self.s), kernel.width))
        chosen = kernel.columns < kernel.width - given
        moved = np.repeat(kernel.linear[:, None], len(self.s), axis=1)
        np.logical_or.at(moved, kernel.rows[chosen], present[:, kernel.columns[chosen]].T)
        return ~moved

    def inputs(self, x: np.ndarray) -> np.ndarray:
        """Return the kernel's inputs at all instants, (width, N)."""
        return np.reshape(
            np.array(self.matrix @ x).ravel(), (self.kernel.width, len(self.s)), order="F"
        )


def row_bounds(group: Group, row: np.ndarray) -> np.ndarray:
    """Return lower and upper bounds (2, k) of the group's rows that are in g, in their order
    there."""
    kept = np.nonzero(row.T.ravel() >= 0)[0] % len(group.owners)
    bounds = [(owner.lower_of(number), owner.upper_of(number)) for owner, number in group.owners]
    return np.reshape(np.array(bounds).T, (2, -1))[:, kept]


@dataclass(frozen=True, kw_only=True, repr=False)
class Rows:
    """Where one constraint went: instants `s` (N,), `numbers` of its rows (m,), and for each row
    and instant (m, N) the row of g or -1, and the bounded variable or -1 with the coefficient that
    makes the row from it, and which of the bounds that a Box was asked for that is."""

    constraint: Constraint
    s: np.ndarray
    numbers: np.ndarray
    row: np.ndarray
    variable: np.ndarray
    coefficient: np.ndarray
    bound: np.ndarray

    def __repr__(self) -> str:
        return f"Rows({self.name!r}, {len(self.numbers)} rows at {len(self.s)} instants)"

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the rows (m,)."""
        return tuple(self.constraint.label(number) for number in self.numbers)

    @cached_property
    def bound_sides(self) -> np.ndarray:
        """Whether the rows have a lower and an upper bound (m, 2)."""
        return np.array([self.constraint.has_bounds(number) for number in self.numbers], dtype=bool)

    @cached_property
    def name(self) -> str:
        """The constraint's name, marked when these are the equalities among its rows and there may
        be others."""
        lower, upper = self.constraint.lower, self.constraint.upper
        alike = np.equal(lower, upper) | (np.equal(lower, -np.inf) & np.equal(upper, np.inf))
        return self.constraint.name + (" (equalities)" if self.equal and not alike.all() else "")

    @property
    def equal(self) -> bool:
        """Tell whether these rows are equalities."""
        lower, upper = self.constraint.lower_of, self.constraint.upper_of
        return lower(self.numbers[0]) == upper(self.numbers[0])


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
    first = np.zeros(size)
    first[0] = 1.0
    y = group.inputs(first)  # where a free duration is 1 and all else 0
    chosen = np.nonzero(kernel.linear[kernel.rows])[0]
    slopes = evaluate(kernel.jacobian, y, group.s)[chosen]
    row, column = np.tile(kernel.rows[chosen], count), np.tile(kernel.columns[chosen], count)
    instant = np.repeat(np.arange(count), len(chosen))
    picked, variable, value = line_entries(group.matrix, instant * kernel.width + column)
    places, index = distinct((instant[picked] * shape[0] + row[picked]) * size + variable)
    coefficient = np.bincount(
        index, weights=slopes.T.ravel()[picked] * value, minlength=len(places)
    )
    line, variable = np.divmod(places, size)
    largest = np.zeros(shape[0] * count)
    with np.errstate(invalid="ignore"):  # nan is told by name before the solve
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
