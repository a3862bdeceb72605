"""Constraints as values: a function of an Instant, its bounds, and when it holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.values.parameters import Number, Open, array, as_open, is_open, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import (
    check_callable,
    check_type,
    check_units,
    refuse_open,
    set_fields,
    shorten,
)
from ocp.pickling import portable
from ocp.spelling import suggest_fields

INSTANTS = ("path", "start", "end", "ends", "joined", "hull", "durations")
DEPTH = 50  # of operations, to which two open bounds are compared


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The instants from `start` to `end` of s; an end that is open is left out itself.

    Inequalities hold at as many instants `between` each two nodes, too, for what passes so quickly
    that nodes would miss it. Raises ValueError for other ends or numbers.
    """

    start: float
    end: float
    open_start: bool = False
    open_end: bool = False
    between: int = 0

    def __post_init__(self) -> None:
        refuse_open("span", (self.start, self.end))
        if not 0 <= self.start <= self.end <= 1:
            raise ValueError(f"expected 0 <= a <= b <= 1, got {(self.start, self.end)!r}")
        if not check_type("span: between", self.between, int) >= 0:
            raise ValueError(f"span: between: expected a number from 0 on, got {self.between}")

    def holds(self, s: ArrayLike) -> np.ndarray:
        """Tell whether the instants s, a number or an array, lie in the span."""
        s = np.asarray(s)
        after = s > self.start + 1e-9 if self.open_start else s >= self.start - 1e-9
        return after & (s < self.end - 1e-9 if self.open_end else s <= self.end + 1e-9)


INSIDE = Span(start=0.0, end=1.0, open_start=True, open_end=True)  # the ends left out
When: TypeAlias = "str | Span | Moment | Sequence[float] | Number"  # as it is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The one instant s of the motion, while it is open."""

    s: Numbers

    def __post_init__(self) -> None:
        if not 0 <= nominal(self.s) <= 1:
            raise ValueError(f"when: expected an instant within 0 and 1, got {self.s:g}")


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Constraint:
    """lower <= function(Instant) <= upper at every instant that `when` names.

    Equal bounds make an equality. `when` is "path", "start", "end", "ends", a Span, an interval (a,
    b) of s, or one instant s that is open, such as that of a via point; "joined" hands the
    function both ends of the motion at once, two Instants; "hull" holds the function, linear in q,
    for every control point, and so for the whole curve; "durations" hands it those of a problem's
    phases, {name: T}. Bounds are numbers, which may be open, or
    one per row; `labels` and `units` name the rows. Equalities hold at the Greville abscissae of
    the spline, inequalities, and all rows on torques that are variables, at the nodes of the
    transcription. Certificates count what a row misses relative to its bound, or, where that is
    part of its function, as a strength over angle is, to `sizes` of the Instant, row by row; both
    are at least 1. Raises ValueError naming the constraint, the field, what was expected and what
    came.
    """

    name: str
    function: Callable[..., Matrix]
    lower: Numbers
    upper: Numbers
    when: Any = "path"
    labels: Sequence[str] = ()
    units: str | Sequence[str] = ""
    sizes: Callable[..., Matrix] | None = None

    def __post_init__(self) -> None:
        if not check_type("constraint: name", self.name, str):
            raise ValueError("constraint: name: expected a word, got ''")
        what = f"constraint {self.name!r}"
        check_callable(f"{what}: function", self.function)
        if self.sizes is not None:
            check_callable(f"{what}: sizes", self.sizes)
        set_fields(
            self,
            lower=_check_bound(f"{what}: lower bound", self.lower),
            upper=_check_bound(f"{what}: upper bound", self.upper),
            when=_when(f"{what}: when", self.when),
            labels=_words(f"{what}: labels", self.labels),
        )
        if not isinstance(self.units, str):
            set_fields(self, units=_words(f"{what}: units", self.units))
        self._check_rows(what)

    def _check_rows(self, what: str) -> None:
        sides = np.broadcast_arrays(np.atleast_1d(self.lower), np.atleast_1d(self.upper))
        for row, (lower, upper) in enumerate(zip(*sides)):
            if is_open([lower, upper]):
                known = isinstance(self.units, str) or row < len(self.units)
                unit = self.unit(row) if known else ""
                check_units(f"{what}: {self.label(row)}", (lower, upper), unit)
            elif lower == inf or upper == -inf:
                raise ValueError(
                    f"{what}: {self.label(row)}: nothing lies between the bounds {lower:g} and "
                    f"{upper:g}"
                )
            elif lower > upper:
                raise ValueError(
                    f"{what}: {self.label(row)}: "
                    f"lower bound {lower:g} is above upper bound {upper:g}"
                )

    def __repr__(self) -> str:
        rows = f"{', '.join(self.labels)}" or "rows"
        return f"Constraint({self.name!r}, {shorten(rows)}, when={self.when!r})"

    @property
    def open(self) -> bool:
        """Tell whether a bound, or the instant, is open: given with the problem's parameters."""
        return is_open([self.lower, self.upper]) or isinstance(self.when, Moment)

    def bounds(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (lower, upper), each (size,), of objects where bounds are open.

        Raise ValueError if the given bounds have another length, and where there are no rows.
        """
        if not size:
            raise ValueError(f"constraint {self.name!r}: asks nothing: its function has no rows")
        for side in (self.lower, self.upper):
            if np.ndim(side) and len(side) != size:
                raise ValueError(
                    f"constraint {self.name!r}: its function has {size} rows, "
                    f"its bounds {len(side)}"
                )
        for what, words in (("labels", self.labels), ("units", self.units)):
            if words and not isinstance(words, str) and len(words) != size:
                raise ValueError(
                    f"constraint {self.name!r}: its function has {size} rows, "
                    f"its {what} {len(words)}"
                )
        return np.broadcast_to(self.lower, size), np.broadcast_to(self.upper, size)

    def lower_of(self, row: int) -> Numbers:
        """Return the lower bound of a row, a number or an Open one."""
        return self.lower[row] if isinstance(self.lower, tuple) else self.lower

    def upper_of(self, row: int) -> Numbers:
        """Return the upper bound of a row, a number or an Open one."""
        return self.upper[row] if isinstance(self.upper, tuple) else self.upper

    def equal(self, row: int) -> bool:
        """Tell whether a row is an equality: its bounds are one number, or alike expressions."""
        lower, upper = self.lower_of(row), self.upper_of(row)
        if isinstance(lower, Open) and isinstance(upper, Open):
            return bool(ca.is_equal(lower.expression, upper.expression, DEPTH))
        return bool(lower == upper)

    def has_bounds(self, row: int) -> tuple[bool, bool]:
        """Tell whether a row has a lower and an upper bound; open ones are bounds."""
        sides = self.lower_of(row), self.upper_of(row)
        return is_open(sides[0]) or sides[0] > -inf, is_open(sides[1]) or sides[1] < inf

    def label(self, row: int) -> str:
        """Return the name of a row: the joint or direction it belongs to."""
        return self.labels[row] if row < len(self.labels) else f"row {row}"

    def unit(self, row: int) -> str:
        """Return the unit of q, qd, qdd or tau of a joint that turns or slides."""
        return self.units if isinstance(self.units, str) else self.units[row]


def require_bound(constraint: Constraint) -> Constraint:
    """Return a constraint; raise ValueError naming it where it asks nothing, having no bound that
    is finite."""
    sides = np.ravel(constraint.lower), np.ravel(constraint.upper)
    if not any(np.isfinite(nominal(bound)) for side in sides for bound in side):
        raise ValueError(
            f"constraint {constraint.name!r}: asks nothing: expected a lower or upper bound that "
            f"is finite, got {constraint.lower!r} and {constraint.upper!r}"
        )
    return constraint


def _check_bound(what: str, value: Numbers) -> Numbers:
    try:
        bound = array(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, got {value!r}") from None
    if bound.ndim > 1 or any(entry != entry for entry in bound.ravel()):
        raise ValueError(f"{what}: expected numbers, got {bound.tolist()}")
    return bound.item() if bound.ndim == 0 else tuple(bound.tolist())


def _when(what: str, value: Numbers) -> str | Span | Moment:
    if isinstance(value, Span):
        return value
    if isinstance(value, str):
        if value not in INSTANTS:
            raise ValueError(
                f"{what}: expected one of {', '.join(INSTANTS)} or (a, b), got {value!r}"
            )
        return value
    if isinstance(value, Moment):
        return value if is_open(value.s) else Span(start=value.s, end=value.s)
    if isinstance(as_open(value), Open):
        return Moment(s=as_open(value))
    if isinstance(value, list | tuple):
        refuse_open(what, value)
    try:
        start, end = map(float, value)
        return Span(start=start, end=end)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what}: expected 0 <= a <= b <= 1 or one of {', '.join(INSTANTS)}, got {value!r}"
        ) from None


def _words(what: str, value: Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{what}: expected a tuple of words, got {value!r}")
    return tuple(check_type(what, word, str) for word in value)


def bound_excess(values: np.ndarray, lower: float, upper: float) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much values (N,) lie out of bounds, and that over max(1, |bound|).

    Not a number is so in the first and infinite in the second.
    """
    below = np.full(len(values), -np.inf) if np.isneginf(lower) else lower - values
    above = np.full(len(values), -np.inf) if np.isposinf(upper) else values - upper
    amounts = np.where(np.isnan(values), np.nan, np.maximum(0.0, np.maximum(below, above)))
    bound = np.where(above > below, upper, lower)
    with np.errstate(invalid="ignore"):
        relative = amounts / np.maximum(1.0, np.where(amounts > 0, np.abs(bound), 1.0))
    return amounts, np.where(np.isnan(relative), np.inf, relative)
