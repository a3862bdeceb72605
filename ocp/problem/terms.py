"""Objectives as weighted sums of terms, each a function of an Instant."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import NoReturn

import numpy as np

from ocp.mechanics.values.parameters import Number, Open, as_open, is_open
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import (
    check_callable,
    check_type,
    describe_value,
    set_fields,
    shorten,
)
from ocp.pickling import portable
from ocp.spelling import suggest_fields

KINDS = ("end", "span", "integral", "squares")


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One part of an objective: a function of an Instant, and what is made of it.

    `kind` is "end", its value at the end; "span", at the end of every phase, summed, as that of the
    duration; "integral", over time; or "squares", squared, summed and integrated: the function
    gives the residuals, which Gauss-Newton then uses. Raises ValueError for another kind, or what
    is no function.
    """

    name: str
    function: Callable[..., Matrix] = field(repr=False)
    kind: str

    def __post_init__(self) -> None:
        check_type("objective: name", self.name, str)
        check_callable(f"objective {self.name!r}: function", self.function)
        if self.kind not in KINDS:
            raise ValueError(
                f"objective {self.name!r}: kind: expected {', '.join(KINDS)}, got {self.kind!r}"
            )

    @property
    def at_end(self) -> bool:
        """Tell whether it is a value at the end, and no integral."""
        return self.kind in ("end", "span")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Objective:
    """A weighted sum of terms, ((weight, Term), ...).

    `+` joins objectives and a number scales one; weights may be open.
    """

    terms: tuple[tuple[Number, Term], ...]

    def __post_init__(self) -> None:
        if isinstance(self.terms, Objective | Term):
            raise ValueError(
                f"objective: expected terms (weight, Term), got {describe_value(self.terms)}"
            )
        set_fields(self, terms=tuple(_check_pair(pair) for pair in self.terms))

    def __repr__(self) -> str:
        terms = " + ".join(f"{weight:g} {term.name}" for weight, term in self.terms)
        return f"Objective({shorten(terms or '0')})"

    def __add__(self, other: "Objective") -> "Objective":
        if isinstance(other, int | float) and other == 0:  # with which Python's sum begins
            return self
        if not isinstance(other, Objective):
            raise _not_an_objective(
                f"expected another objective beside +, got {describe_value(other)}"
            )
        return Objective(terms=self.terms + other.terms)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> "Objective":
        factor = as_open(factor)
        if not isinstance(factor, int | float | np.number | Open):
            raise _not_an_objective(
                f"weight: expected a number or a Parameter, got {describe_value(factor)}"
            )
        return Objective(terms=tuple((factor * weight, term) for weight, term in self.terms))

    __rmul__ = __mul__

    def _refuse(self, *others: object) -> NoReturn:
        """Raise ValueError for operations that no sum of terms has."""
        raise _not_an_objective("no other operation, and no order, is known of it")

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


def _not_an_objective(what: str) -> ValueError:
    """Return the error of what is no weighted sum of objectives."""
    return ValueError(
        f"objective: {what}; objectives take + of one another and number * objective, as "
        "duration() + 0.01 * effort(), to maximise -1 * objective; a formula of others is one "
        "integral or final(name, function)"
    )


def _check_pair(pair: object) -> tuple[Number, Term]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"objective: expected terms (weight, Term), got {pair!r}")
    weight, term = pair
    check_type("objective: term", term, Term)
    check_type(f"objective {term.name!r}: weight", weight, int, float, np.number, Open)
    if not is_open(weight) and not isfinite(weight):
        raise ValueError(f"objective {term.name!r}: expected a finite weight, got {weight}")
    return weight, term
