"""Checks of what a user states, shared by the records: numbers of a shape, limits, units, arrays
made read-only."""

import inspect
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from math import isfinite, isnan
from typing import Any, TypeVar, get_type_hints

import numpy as np

from ocp.mechanics.values.parameters import (
    Number,
    Open,
    Parameter,
    array,
    as_open,
    is_open,
    nominal,
    parameters_of,
    with_values,
)
from ocp.mechanics.values.types import Numbers

UNITS = {  # at a joint that turns, one that slides, and a ball's component
    "q": ("rad", "m", ""),
    "qd": ("rad/s", "m/s", "1/s"),
    "qdd": ("rad/s2", "m/s2", "1/s2"),
    "qddd": ("rad/s3", "m/s3", "1/s3"),
    "tau": ("N m", "N", "N m"),
    "tau_rate": ("N m/s", "N/s", "N m/s"),
}
STATE_RATES = {"q": 0, "qd": 1, "qdd": 2, "qddd": 3, "tau": 0, "tau_rate": 1}  # per s
KINDS = {"prismatic": 1, "ball": 2}
MEASURE = re.compile(r"\((?P<size>[-+.\de]+) (?P<unit>.+)\)")  # as (598.4 N), one of a body weight
WORDS = 250  # characters of names that a record shows of itself

Value = TypeVar("Value")
Kind = TypeVar("Kind")
Function = TypeVar("Function", bound=Callable[..., object])
FLOATS = frozenset((float,))
ZERO = 1e-12  # below which a number that ought to be zero is it


def numbers(
    what: str, value: object, shape: tuple[int, ...], unit: str | None = None
) -> np.ndarray:
    """Return `value` as an array of that shape: of floats, or where an entry is open of objects.

    Entries may be open where a `unit` is given, "" where they have none or several; a Parameter of
    another unit is refused. Raises ValueError naming `what` otherwise, or if an entry is not
    finite, an open one at its parameters' own values.
    """
    if type(value) is float and not shape and isfinite(value):
        return np.asarray(value)
    value = value if shape else as_open(value)  # a scalar that CasADi's functions made
    try:
        entries = np.asarray(value, dtype=float) if unit is None else array(value)
    except (TypeError, ValueError, RuntimeError):
        open_ones = _open_ones(value) if unit is None else ""
        raise ValueError(
            f"{what}: expected numbers of shape {shape}, got {open_ones or repr(value)}"
        ) from None
    if entries.shape != shape:
        raise ValueError(f"{what}: expected shape {shape}, got {entries.shape}")
    if not np.isfinite(nominal_array(entries)).all():
        raise ValueError(f"{what}: expected finite numbers, got {entries.tolist()}")
    check_units(what, entries, unit or "")
    return entries


def _open_ones(value: object) -> str:
    """Return in words which parameters stand where numbers are needed; "" if none do."""
    names = [repr(each.name) for each in parameters_of(value)]
    return f"{', '.join(names)}, and no parameter can stand here" if names else ""


def refuse_open(what: str, value: object) -> None:
    """Raise ValueError naming the parameters in a value that decides the structure."""
    if is_open(value):
        raise ValueError(f"{what}: expected numbers, got {_open_ones(value)}")


def nominal_array(entries: np.ndarray) -> np.ndarray:
    """Return an array's floats with every parameter at its own value; of floats the array."""
    return entries if entries.dtype != object else np.asarray(nominal(entries), dtype=float)


def check_numeric(what: str, record: object) -> None:
    """Raise ValueError naming the parameters in a record, for what needs numbers."""
    names = ", ".join(each.name for each in parameters_of(record))
    if names:
        raise ValueError(
            f"{what}: expected numbers, got the parameters {names}; "
            "take ocp.mechanics.with_values(record, {parameter: number})"
        )


def check_units(what: str, entries: Numbers, unit: str) -> None:
    """Raise ValueError naming a Parameter among entries that has another unit than `unit`.

    Parameters without a unit, entries without one (""), and expressions go unchecked.
    """
    for entry in np.ravel(entries) if unit and is_open(entries) else ():
        if isinstance(entry, Parameter) and entry.unit not in ("", unit):
            raise ValueError(
                f"{what}: expected {unit}, got parameter {entry.name!r} in {entry.unit}"
            )


def is_identically_zero(value: object) -> bool:
    """Tell whether a number, or all of an array, is zero, open ones whatever their parameters'
    values: found in numbers, at a few of them near their own."""
    if not is_open(value):
        return bool(np.abs(np.asarray(value, dtype=float)).max() < ZERO)
    parameters = parameters_of(value)
    near = (
        {each: _beside(each.value, n, k) for n, each in enumerate(parameters)} for k in range(3)
    )
    return all(is_identically_zero(with_values(value, values)) for values in near)


def _beside(number: float, n: int, k: int) -> float:
    """Return the k-th number near that of the n-th parameter, the number itself first."""
    return number * (1 + k * (n + 1) / 7) + k * (n + 1) / 9


def rigid_pose(what: str, value: object, unit: str | None = None) -> np.ndarray:
    """Return `value` as a pose (4x4); raise ValueError naming `what` unless it is a rigid one.

    With the `unit` of its translation it may be open, as `numbers` has it.
    """
    matrix = numbers(what, value, (4, 4), None if unit is None else "")
    check_units(what, matrix[:3, 3], unit or "")
    if not is_rotation(matrix[:3, :3]) or (nominal_array(matrix)[3] != (0, 0, 0, 1)).any():
        raise ValueError(
            f"{what}: expected a rigid pose (rotation and translation over the row 0 0 0 1), got "
            f"{matrix.tolist()}"
        )
    return matrix


def is_rotation(matrix: np.ndarray) -> bool:
    """Tell whether numbers (3x3) are a rotation, open ones whatever their parameters' values."""
    here, square = nominal_array(matrix), matrix @ matrix.T - np.eye(3)
    off = np.abs(nominal_array(square)).max()
    whatever = not is_open(square) or is_identically_zero(square)
    return bool(off <= 1e-9 and whatever and np.linalg.det(here) >= 0)


def limits(what: str, value: Numbers, unit: str | None = None) -> tuple[Number, Number]:
    """Return (lower, upper) from a pair or from one number b meaning (-b, b), open as `numbers` has
    it.

    Raises ValueError naming `what`.
    """
    if type(value) is tuple and [*map(type, value)] == [float, float] and value[0] <= value[1]:
        return value
    number, value = (float, value) if unit is None else (_float_or_open, as_open(value))
    try:
        lower, upper = (
            (-number(value), number(value))
            if np.ndim(value) == 0
            else (number(bound) for bound in value)
        )
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{what}: expected (lower, upper) or one number, got {value!r}") from None
    check_units(what, (value,) if np.ndim(value) == 0 else (lower, upper), unit or "")
    least, most = nominal((lower, upper)) if is_open((lower, upper)) else (lower, upper)
    if isnan(least) or isnan(most):
        raise ValueError(f"{what}: expected numbers, got {(lower, upper)}")
    if least > most:
        raise ValueError(f"{what}: lower bound {lower:g} is above upper bound {upper:g}")
    return lower, upper


def _float_or_open(value: Numbers) -> float | Open:
    value = as_open(value)
    return value if isinstance(value, Open) else float(value)


def freeze(entries: Numbers) -> Numbers:
    """Return nested tuples of `entries`, numbers some of which may be open: hashable, comparable,
    read-only."""
    kind = type(entries)
    if kind is float or isinstance(entries, Open):
        return entries
    if kind is np.ndarray and entries.dtype == float:
        entries = entries.tolist()
        kind = type(entries)
    if (kind is list or kind is tuple) and FLOATS.issuperset(map(type, entries)):
        return tuple(entries)
    if isinstance(entries, list | tuple):
        return tuple(row if type(row) is float else freeze(row) for row in entries)
    return tuple(freeze(row) for row in entries) if np.ndim(entries) else float(entries)


def positive(what: str, value: object, zero: bool = False, unit: str | None = None) -> float:
    """Return a number above 0, or with `zero` at least 0; raise ValueError naming `what`.

    With a `unit` it may be open, as `numbers` has it.
    """
    number = numbers(what, value, (), unit)
    here = float(nominal_array(number))
    if here < 0 or (here == 0 and not zero):
        raise ValueError(
            f"{what}: expected a number {'of at least' if zero else 'above'} 0, got {here:g}"
        )
    return freeze(number[()])


def symmetric(what: str, value: object, m: int, unit: str | None = None) -> np.ndarray:
    """Return a symmetric positive semidefinite matrix (m, m); raise ValueError naming `what`.

    With a `unit` it may be open, as `numbers` has it.
    """
    matrix = numbers(what, value, (m, m), unit)
    here = nominal_array(matrix)
    size = np.abs(here).max()
    if (
        np.abs(here - here.T).max() > 1e-9 * size
        or np.linalg.eigvalsh((here + here.T) / 2)[0] < -1e-9 * size
        or not _is_mirrored(matrix)
    ):
        raise ValueError(
            f"{what}: expected a symmetric positive semidefinite matrix, got {matrix.tolist()}"
        )
    return symmetrize(matrix)


def symmetrize(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix that ought to be symmetric as one that is so to the last digit, or node."""
    if is_open(matrix):
        return np.triu(matrix) + np.triu(matrix, 1).T
    return (matrix + matrix.T) / 2


def _is_mirrored(matrix: np.ndarray) -> bool:
    """Tell whether the open entries of a matrix are symmetric whatever their parameters' values."""
    unlike = matrix - matrix.T
    return not is_open(unlike) or is_identically_zero(unlike)


def inertia_matrix(what: str, value: object, unit: str | None = None) -> np.ndarray:
    """Return an inertia (3, 3) as `numbers` has it, for the moments about the axes alone, or six
    moments and products, with how to write them."""
    written = {
        (3,): "three moments about the axes are written numpy.diag(({}, {}, {}))",
        (6,): "moments and products are written ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))",
    }
    try:
        return numbers(what, value, (3, 3), unit)
    except ValueError as error:
        entries = np.asarray(value, dtype=object)
        if entries.shape not in written:
            raise
        words = written[entries.shape].format(*entries)
        raise ValueError(f"{error}; {words}") from None


def check_inertia(mass: float, entries: np.ndarray, unphysical: bool = False) -> None:
    """Raise ValueError unless an inertia (3x3, kg m2) about the centre of mass is that of a body,
    an open one at its parameters' own values; an `unphysical` one may break the triangle
    inequality."""
    inertia = nominal_array(entries)
    scale = max(np.abs(inertia).max(), 1e-300)
    if np.abs(inertia - inertia.T).max() > 1e-12 * scale or not _is_mirrored(entries):
        raise ValueError(f"link inertia: expected a symmetric matrix, got {entries.tolist()}")
    if mass == 0 and inertia.any():
        raise ValueError("link inertia: a massless link cannot have inertia")
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < -1e-9 * scale:
        raise ValueError(
            "link inertia: expected a positive semidefinite matrix, principal moments are "
            f"{moments.tolist()}"
        )
    if not unphysical and moments[0] + moments[1] < moments[2] - 1e-9 * scale:
        raise ValueError(
            f"link inertia: principal moments {moments.tolist()} break the triangle inequality I1 "
            f"+ I2 >= I3, {moments[2]:.4g} > {moments[0]:.4g} + {moments[1]:.4g}: are they about "
            "the centre of mass, in kg m2, of the right axes? A link with unphysical=True keeps "
            "them"
        )


def set_fields(record: object, **values: object) -> None:
    """Set the fields of a frozen record that is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def check_type(what: str, value: Value, *kinds: type) -> Value:
    """Return `value` if it is of one of the `kinds`.

    Raises ValueError naming `what`, the kinds expected and what came.
    """
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{what}: expected {expected}, got {describe_value(value)}")
    return value


def check_argument_records(function: Callable[..., object], values: Mapping[str, object]) -> None:
    """Raise ValueError naming an argument of a function that is annotated with a record, and whose
    one of the `values` by name is none."""
    kinds = get_type_hints(function)
    for name, value in values.items():
        kind = kinds.get(name)
        if isinstance(kind, type) and is_dataclass(kind):
            check_type(name, value, kind)


def positive_integer(what: str, value: Numbers) -> int:
    """Return `value` as a whole number of at least 1; raise ValueError naming `what`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1:
        raise ValueError(
            f"{what}: expected a whole number of at least 1, got {describe_value(value)}"
        )
    return int(value)


def check_records(what: str, values: object, *kinds: type[Kind]) -> tuple[Kind, ...]:
    """Return a tuple of values, each of one of the `kinds`; raise ValueError naming `what`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(
            f"{what}: expected a tuple of {expected} records, got {describe_value(values)}"
        )
    return tuple(check_type(what, value, *kinds) for value in values)


def describe_value(value: object) -> str:
    """Return a value as messages show it: its type, and shortly what it is."""
    return f"{type(value).__name__} {reprlib.repr(value)}"


def check_callable(what: str, value: Value) -> Value:
    """Return `value` if it can be called; raise ValueError naming `what` otherwise."""
    if not callable(value):
        raise ValueError(f"{what}: expected a function, got {describe_value(value)}")
    return value


def check_arguments(what: str, value: Function, *arguments: str) -> Function:
    """Return `value` if it can be called with so many arguments; raise ValueError naming `what`,
    and what the arguments are, otherwise."""
    check_callable(what, value)
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # of built-in functions, which tell nothing
        return value
    try:
        signature.bind(*arguments)
    except TypeError:
        raise ValueError(
            f"{what}: expected a function of ({', '.join(arguments)}), got one of {signature}"
        ) from None
    return value


def shorten(text: str) -> str:
    """Return a text cut after WORDS characters."""
    return text if len(text) <= WORDS else f"{text[:WORDS]}..."


def unit_of(joint: Any, quantity: str) -> str:
    """Return the unit of one of UNITS of a joint that turns or slides, a ball's component, or an
    element's state, whose control has that of the state."""
    if joint.kind == "state":
        power = STATE_RATES[quantity]
        return f"{joint.unit or 1}/s{'' if power == 1 else power}" if power else joint.unit
    return UNITS[quantity][KINDS.get(joint.kind, 0)]


def plain_amount(amount: float, unit: str) -> tuple[float, str]:
    """Return an amount in the unit itself where it counts in a measure of it: 0.5 of "(598.4 N)"
    is 299.2 N."""
    measure = MEASURE.fullmatch(unit)
    if measure is None:
        return amount, unit
    return amount * float(measure["size"]), measure["unit"]
