"""Prices of relaxed rows, and the choice of rows that may be relaxed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import DURATION, RESERVED, SEPARATOR, SOUND
from ocp.solvers.elastic_program import Prices
from ocp.transcription.transcribe import Transcribed

MOMENTUM, LEAVING = "momentum", "leaving."  # laws of an impact
Key = tuple[str, int]  # of a row: its constraint's name, and its number
Gives = Callable[[Constraint, int], bool]  # whether a row may give way
Factor = Callable[[Key], float]  # of the price of a row


def own_name(constraint: Constraint) -> str:
    """Return the name of a constraint without that of its phase or transition."""
    return constraint.name.rpartition(SEPARATOR)[2]


def is_limit(constraint: Constraint, number: int) -> bool:
    """Tell whether a row has room between its bounds and is no law nor the duration's."""
    unequal = constraint.lower_of(number) < constraint.upper_of(number)
    return bool(unequal) and is_stated(constraint, number) and own_name(constraint) != DURATION


def is_room(constraint: Constraint, number: int) -> bool:
    """Tell whether a row has room between its bounds, the duration's among them."""
    return own_name(constraint) == DURATION or is_limit(constraint, number)


def is_stated(constraint: Constraint, number: int) -> bool:
    """Tell whether a row is stated, the duration's bounds included, and no law of motion or
    requirement of a record.
    """
    name = own_name(constraint)
    law = name in (*RESERVED, MOMENTUM) or name.startswith((SOUND.format(""), LEAVING))
    return name == DURATION or not law


def is_any(constraint: Constraint, number: int) -> bool:
    """Tell that every row may give way."""
    return True


def equal_price(key: Key) -> float:
    """Return the factor of a price that is no other's."""
    return 1.0


def scale(bound: float) -> float:
    """Return the size that a violation of a bound is relative to, as in a certificate."""
    return max(1.0, abs(bound)) if np.isfinite(bound) else 1.0


def scale_of(constraint: Constraint, bound: float) -> float:
    """Return the size that a violation of a row's bound is relative to: of a duration the bound
    itself.
    """
    return abs(bound) if own_name(constraint) == DURATION else scale(bound)


def row_prices(transcribed: Transcribed, gives: Gives, dearer: Factor) -> Prices:
    """Return the Prices of the rows that may give way, relative to their bounds.

    A row along the motion costs what it is exceeded by on the average of its instants, times its
    factor, `dearer`(key).
    """
    rows = np.full((2, sum(int((placed.row >= 0).sum()) for placed in transcribed.rows)), np.inf)
    bounds = np.full((2, transcribed.layout.size), np.inf)
    for placed in transcribed.rows:
        for line, number in enumerate(placed.numbers.tolist()):
            if gives(placed.constraint, number):
                at = placed.row[line][placed.row[line] >= 0]
                factor = dearer((placed.constraint.name, number)) / len(placed.s)
                rows[0, at] = factor / scale(placed.constraint.lower_of(number))
                rows[1, at] = factor / scale(placed.constraint.upper_of(number))
    for bounding in _variable_bounds(transcribed):
        if gives(bounding.constraint, bounding.number):
            factor = dearer((bounding.constraint.name, bounding.number))
            bounds[int(bounding.side == "upper"), bounding.variable] = factor * bounding.price
    return _of_unknowns(transcribed, rows, bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _VariableBound:
    """Row that bounds a variable on one `side`, and the price of exceeding it."""

    variable: int
    side: str
    constraint: Constraint
    number: int
    price: float


def _variable_bounds(transcribed: Transcribed) -> Iterator[_VariableBound]:
    """Yield the rows that bound variables, except parameters that are held."""
    slopes, held = {}, transcribed.layout.held_places
    for placed in transcribed.rows:
        for line, k in zip(*np.nonzero(placed.variable >= 0)):
            key = placed.constraint.name, int(placed.numbers[line]), float(placed.s[k])
            slopes[key] = placed.coefficient[line, k], len(placed.s)
    for (variable, side), (constraint, number, s) in transcribed.bound_owners.items():
        if variable in held:
            continue
        slope, count = slopes.get((constraint.name, int(number), float(s)), (1.0, 1))
        upper = (side == "upper") == (slope > 0)
        bound = constraint.upper_of(number) if upper else constraint.lower_of(number)
        yield _VariableBound(
            variable=int(variable),
            side=side,
            constraint=constraint,
            number=int(number),
            price=abs(slope) / count / scale_of(constraint, bound),
        )


def _of_unknowns(transcribed: Transcribed, rows: np.ndarray, bounds: np.ndarray) -> Prices:
    """Return Prices for the solver's unknowns, where these are not all of x."""
    reduction = transcribed.reduction
    if reduction is not None:
        rows = np.hstack([rows, bounds[:, reduction.bounded]])
        states = np.full((2, len(transcribed.nlp.lower) - len(reduction.kept)), np.inf)
        bounds = np.hstack([bounds[:, reduction.kept], states])
    return Prices(lower=bounds[0], upper=bounds[1], g_lower=rows[0], g_upper=rows[1])
