"""Inverse dynamics looked up in tables: B-splines through values known at equal steps (Hollerbach
1980, introduction and last section).

    configuration   G(q), J(q) and C(q) are kept        (Horn & Raibert 1978)
    raibert         tau = J(q) qdd + K(q, qd), J and K   (Raibert 1978)
    albus           tau(q, qd, qdd) itself               (Albus 1975)

Memory grows with the number of arguments, from left to right, and so does what a look-up spares. A
revolute joint's table goes round, so that it has no end; other ranges are the joints' limits, or
given. Loads are no part of any table: what they do is computed.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import Formulation, Reach, check_rigid
from ocp.dynamics.formulations import configuration_space
from ocp.dynamics.formulations.configuration_space import load_torques, torques
from ocp.dynamics.signatures import Loads
from ocp.dynamics.tables.tensor_splines import (
    DEGREES,
    Axis,
    Plan,
    Splines,
    build_splines,
    bytes_in_words,
    plan_tables,
)
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_numeric, check_type, limits, set_fields
from ocp.spelling import suggest_fields

NAME = "table"
TABLE_FORMS = {"configuration": ("q",), "raibert": ("q", "qd"), "albus": ("q", "qd", "qdd")}
RANGES = {"q": "ranges", "qd": "rates", "qdd": "accelerations"}
MOST = 8  # coordinates whose tables are thought of at all

# (lower, upper) or None for each moving joint
Ranges: TypeAlias = Sequence[Sequence[float] | None]


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Tabulated:
    """Settings of tables, and inverse dynamics by them: called as (tree, q, qd, qdd, loads).

    Attributes:
        points: along each argument of the tables, one number, or one for each of q, then of qd,
            then of qdd.
        degree: of the splines, 1, 3 or 5. Errors fall like step^(degree + 1); a solver of second
            order wants 3 at least.
        ranges, rates, accelerations: of q, qd and qdd, as the `form` has them, (lower, upper) or
            None for each coordinate. Without, a revolute joint goes round, another has its position
            limits; rates have the velocity limits.
        form: the functions that are tabulated, one of TABLE_FORMS.
        coriolis: False leaves the terms in qd qd out.

    Raises ValueError naming what is wrong.
    """

    points: int | Sequence[int] = 33
    degree: int = 3
    ranges: Ranges | None = None
    rates: Ranges | None = None
    accelerations: Ranges | None = None
    form: str = "configuration"
    coriolis: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.form, str) or self.form not in TABLE_FORMS:
            raise ValueError(
                f"table: form: expected one of {', '.join(TABLE_FORMS)}, got {self.form!r}"
            )
        if not _is_whole(self.degree) or self.degree not in DEGREES:
            known = ", ".join(map(str, DEGREES))
            raise ValueError(f"table: degree: expected one of {known}, got {self.degree!r}")
        check_type("table: coriolis", self.coriolis, bool)
        if not self.coriolis and self.form != "configuration":
            raise ValueError(f"table: coriolis: form {self.form!r} has no such terms of their own")
        points: Numbers = self.points
        several = isinstance(points, Iterable) and not isinstance(points, (str, Mapping))
        counts = tuple(points) if several else (points,)
        for count in counts:
            if not _is_whole(count) or count < self.degree + 2:
                raise ValueError(
                    f"table: points: expected whole numbers of at least {self.degree + 2}, for "
                    f"degree {self.degree}, got {count!r}"
                )
        counts = tuple(map(int, counts))  # so that a file can hold them as text
        set_fields(self, points=counts if several else counts[0], degree=int(self.degree))
        for quantity, name in RANGES.items():
            pairs = getattr(self, name)
            if pairs is not None:
                if quantity not in TABLE_FORMS[self.form]:
                    raise ValueError(f"table: {name}: form {self.form!r} has no axes of {quantity}")
                set_fields(self, **{name: _limit_pairs(f"table: {name}", pairs)})

    @property
    def words(self) -> str:
        """The settings that differ from the defaults, as text that `parse_table` reads."""
        others = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        usual = {entry.name: entry.default for entry in fields(self)}
        text = ", ".join(f"{key}={value!r}" for key, value in others.items() if value != usual[key])
        return f"{NAME}({text})" if text else NAME

    def __call__(self, tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
        """Return the joint torques (N m) or forces (N), (n,)."""
        table = tabulate(tree, self)
        return table.torques(q, qd, qdd) - load_torques(tree, q, loads)

    def linear(self, tree: Tree, q: Matrix, qd: Matrix, loads: Loads = ()) -> tuple[Matrix, Matrix]:
        """Return M (n, n) and h (n,) of the torques M qdd + h."""
        mass, rest = tabulate(tree, self).linear(q, qd)
        return mass, rest - load_torques(tree, q, loads)

    def reach(self, tree: Tree) -> tuple[Reach, ...]:
        """Return the ranges that a motion has to keep."""
        return tabulate(tree, self).reach

    def description(self, tree: Tree) -> str:
        """Return in a line how large the tables are."""
        return str(tabulate(tree, self))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """Dynamics of a tree in tables.

    Attributes:
        settings: how the tables are made.
        dof: number n of coordinates.
        splines: all entries along (q, qd, qdd) as far as the form has them. In the configuration
            form these are G (n,), the upper triangle of J row by row, and those of all C_i; in
            Raibert's the triangle of J, and K (n,); in Albus' the torques (n,).
    """

    settings: Tabulated
    dof: int
    splines: Splines

    def torques(self, q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
        """Return the joint torques (n,) without loads, for numbers or expressions (n,) each."""
        if self.settings.form == "albus":
            return ca.vertcat(*self._entries(q, qd, qdd))
        inertia, rest = self.linear(q, qd)
        return inertia @ ca.vertcat(*(_entry(qdd, k) for k in range(self.dof))) + rest

    def linear(self, q: Matrix, qd: Matrix) -> tuple[Matrix, Matrix]:
        """Return J (n, n) and the rest (n,) of the torques J qdd + rest; of Albus' tables by their
        differences, since splines of a linear function are it."""
        n, form = self.dof, self.settings.form
        size = n * (n + 1) // 2
        if form == "albus":
            return self._differences(q, qd)
        entries = self._entries(q, qd)
        if form == "raibert":
            return _symmetric(entries[:size], n), ca.vertcat(*entries[size:])
        gravity, inertia, bends = entries[:n], entries[n : n + size], entries[n + size :]
        rest = ca.vertcat(*gravity)
        if bends:
            coriolis = [_symmetric(bends[k * size :], n) for k in range(n)]
            rest = torques(rest, ca.DM(n, n), coriolis, qd, ca.DM(n, 1))
        return _symmetric(inertia, n), rest

    def _differences(self, q: Matrix, qd: Matrix) -> tuple[Matrix, Matrix]:
        """Return J and the rest of torques from those at the ends of the accelerations' ranges,
        beyond which tables know nothing."""
        axes = self.splines.axes[2 * self.dof :]
        lower, widths = np.array([(axis.lower, axis.upper - axis.lower) for axis in axes]).T
        known = [self.torques(q, qd, ca.DM(each)) for each in lower + np.diag(widths)]
        first = self.torques(q, qd, ca.DM(lower))
        inertia = ca.horzcat(*((each - first) / width for each, width in zip(known, widths)))
        return inertia, first - inertia @ ca.DM(lower)

    def _entries(self, *motion: Matrix) -> list[Matrix]:
        """Return all entries at as much of (q, qd, qdd) as the form asks for."""
        known = zip(TABLE_FORMS[self.settings.form], motion)
        return self.splines([_entry(vector, k) for _, vector in known for k in range(self.dof)])

    @property
    def size(self) -> int:
        """The number of numbers that are kept."""
        return self.splines.size

    @property
    def reach(self) -> tuple[Reach, ...]:
        """The ranges of all arguments that the tables depend on and that have ends."""
        quantities = TABLE_FORMS[self.settings.form]
        reached = []
        for number in self.splines.used_axes:
            axis, (which, row) = self.splines.axes[number], divmod(number, self.dof)
            if not axis.round:
                ends = {"lower": axis.lower, "upper": axis.upper}
                reached.append(Reach(quantity=quantities[which], row=row, **ends))
        return tuple(reached)

    def __str__(self) -> str:
        splines, settings = self.splines, self.settings
        used = [splines.axes[k] for k in splines.used_axes]
        along = " x ".join(f"{axis.name} {axis.points}" for axis in used) or "nothing"
        return (
            f"{settings.form} tables of degree {settings.degree} over {along} points, "
            f"{splines.size} numbers, {bytes_in_words(splines.bytes)}"
        )

    def __repr__(self) -> str:
        return f"Table({self})"


def table(**settings: Any) -> Formulation:
    """Return the Formulation that looks its dynamics up in tables; its settings are those of
    Tabulated: `points`, `degree`, `ranges`, `rates`, `accelerations`, `form`, `coriolis`.

    Raises ValueError naming a setting that is wrong or unknown.
    """
    known = [entry.name for entry in fields(Tabulated)]
    for name in settings:
        if name not in known:
            raise ValueError(f"table: {name}: no such setting; it has {', '.join(known)}")
    tabulated = Tabulated(**settings)
    return Formulation(name=tabulated.words, inverse=tabulated, approximation=tabulated)


def parse_table(text: str) -> Formulation | None:
    """Return the Formulation of a text as "table(points=65, degree=5)"; None for any other text.

    Raises ValueError if it is meant as one and its settings are none.
    """
    if text != NAME and not text.startswith(f"{NAME}("):
        return None
    try:
        call: ast.expr = ast.parse(text if text != NAME else f"{NAME}()", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or call.func.id != NAME:  # type: ignore
            raise ValueError
        settings = {each.arg or "": ast.literal_eval(each.value) for each in call.keywords}
        if "" in settings or len(settings) < len(call.keywords):
            raise ValueError
    except (ValueError, SyntaxError, AttributeError, TypeError):
        raise ValueError(
            f"dynamics: expected settings as in 'table(points=65, degree=5)', got {text!r}"
        ) from None
    return table(**settings)


@lru_cache(maxsize=4)
def tabulate(tree: Tree, settings: Tabulated) -> Table:
    """Return the Table of a tree.

    Raises ValueError naming a flexible link, a joint whose range is not known, and telling the
    memory where too much would be needed.
    """
    joints = ", ".join(joint.name for joint in tree.moving)
    splines = build_splines(f"table of {joints}", table_plan(tree, settings))
    return Table(settings=settings, dof=tree.dof, splines=splines)


def table_plan(tree: Tree, settings: Tabulated) -> Plan:
    """Return the Plan of a tree's tables, which says how large they would be.

    Raises ValueError as `tabulate` does, except of memory.
    """
    check_rigid(tree)
    check_numeric("table", (tree.links, tree.joints, tree.gravity))
    quantities, n = TABLE_FORMS[settings.form], tree.dof
    if not 1 <= n <= MOST:
        _refuse(tree, settings)
    axes = _axes(tree, settings)
    arguments = ca.SX.sym("z", n * len(quantities))
    entries = _ENTRIES[settings.form](tree, settings, *ca.vertsplit(arguments, n))
    return plan_tables(arguments, entries, axes, settings.degree)


# Tabulated functions ------------------------------------------------------------------------------


def _configuration(tree: Tree, settings: Tabulated, q: Matrix) -> Matrix:
    matrices = [configuration_space.inertia_matrix(tree, q)]
    if settings.coriolis:
        matrices += configuration_space.coriolis(tree, q)
    gravity = configuration_space.gravity_vector(tree, q)
    return ca.cse(ca.vertcat(gravity, *map(_triangle, matrices)))


def _raibert(tree: Tree, settings: Tabulated, q: Matrix, qd: Matrix) -> Matrix:
    rest = configuration_space.inverse(tree, q, qd, ca.SX.zeros(tree.dof))
    return ca.cse(ca.vertcat(_triangle(configuration_space.inertia_matrix(tree, q)), rest))


def _albus(tree: Tree, settings: Tabulated, q: Matrix, qd: Matrix, qdd: Matrix) -> Matrix:
    return ca.cse(configuration_space.inverse(tree, q, qd, qdd))


_ENTRIES: dict[str, Callable[..., Matrix]] = {
    "configuration": _configuration,
    "raibert": _raibert,
    "albus": _albus,
}


def _triangle(matrix: Matrix) -> Matrix:
    """Return the upper triangle of a symmetric matrix, row by row."""
    rows, columns = np.triu_indices(matrix.shape[0])
    full = ca.SX(matrix)
    return ca.vertcat(*(full[j, k] for j, k in zip(rows.tolist(), columns.tolist())))


def _symmetric(entries: Sequence[Matrix], n: int) -> Matrix:
    """Return the symmetric matrix (n, n) of an upper triangle, row by row."""
    pairs = zip(*(each.tolist() for each in np.triu_indices(n)))
    upper = dict(zip(pairs, entries))
    rows = (ca.horzcat(*(upper[min(j, k), max(j, k)] for k in range(n))) for j in range(n))
    return ca.vertcat(*rows)


def _entry(vector: Matrix, k: int) -> Matrix:
    return vector[k] if isinstance(vector, (ca.SX, ca.MX, ca.DM)) else ca.DM(float(vector[k]))


# Axes ---------------------------------------------------------------------------------------------


def _axes(tree: Tree, settings: Tabulated) -> list[Axis]:
    """Return the axes of a tree's tables."""
    n, quantities = tree.dof, TABLE_FORMS[settings.form]
    size = n * len(quantities)
    points = settings.points
    counts = (points,) * size if isinstance(points, int) else points
    _check_count("points", counts, size, f"one for each joint's {', '.join(quantities)}")
    axes: list[Axis] = []
    for quantity in quantities:
        pairs = getattr(settings, RANGES[quantity]) or (None,) * n
        _check_count(RANGES[quantity], pairs, n, "one for each moving joint")
        for joint, pair in zip(tree.moving, pairs):
            axes.append(_axis(quantity, joint, pair, counts[len(axes)]))
    return axes


def _axis(quantity: str, joint: Joint, pair: Sequence[float] | None, points: int) -> Axis:
    """Return the axis of a joint's q, qd or qdd."""
    name = joint.name if quantity == "q" else f"{quantity} of {joint.name}"
    if pair is None and quantity == "q" and joint.kind == "revolute":
        return Axis(name=name, lower=-np.pi, upper=np.pi, points=points, round=True)
    usual = {"q": joint.position, "qd": joint.velocity, "qdd": (-np.inf, np.inf)}[quantity]
    lower, upper = usual if pair is None else pair
    if not np.isfinite([lower, upper]).all() or not lower < upper:
        what = {"q": "position limits, or ", "qd": "velocity limits, or ", "qdd": ""}[quantity]
        raise ValueError(
            f"table: {quantity} of joint {joint.name!r}: expected a finite range of some width, "
            f"got {lower:g} to {upper:g}; give {what}{RANGES[quantity]}"
        )
    return Axis(name=name, lower=lower, upper=upper, points=points)


def _limit_pairs(what: str, values: Ranges) -> tuple[tuple[Number, Number] | None, ...]:
    """Return (lower, upper) or None for each coordinate."""
    if not isinstance(values, Iterable) or isinstance(values, (str, Mapping)):
        raise ValueError(
            f"{what}: expected (lower, upper) or None for each moving joint, got {values!r}"
        )
    return tuple(None if each is None else limits(what, each) for each in values)


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_count(what: str, values: Sequence[object], size: int, each: str) -> None:
    if len(values) != size:
        raise ValueError(f"table: {what}: expected {size}, {each}, got {len(values)}")


def _refuse(tree: Tree, settings: Tabulated) -> None:
    """Raise ValueError for a tree of no or of too many coordinates."""
    n = tree.dof
    if not n:
        raise ValueError("table: expected a moving joint, got none")
    most = settings.points if isinstance(settings.points, int) else max(settings.points)
    power = n * len(TABLE_FORMS[settings.form])
    size = 8.0 * n * most**power
    raise ValueError(
        f"table: expected at most {MOST} moving joints, got {n}: {tree.moving[MOST].name!r} is one "
        f"too many; {n} entries over {most}^{power} points alone are {size:.1e} bytes"
    )


TABLE = table()
