"""Checks of what a user states, shared by the records: numbers of a shape, limits, arrays made
read-only."""

import reprlib
from collections.abc import Iterable
from math import isnan
from typing import Any

import numpy as np


def numbers(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return `value` as a float array of that shape.

    Raises ValueError naming `what` otherwise, or if an entry is not finite.
    """
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers of shape {shape}, got {value!r}") from None
    if array.shape != shape:
        raise ValueError(f"{what}: expected shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what}: expected finite numbers, got {array.tolist()}")
    return array


def rigid_pose(what: str, value: Any) -> np.ndarray:
    """Return `value` as a pose (4x4); raise ValueError naming `what` unless it is a rigid one."""
    matrix = numbers(what, value, (4, 4))
    rotation = matrix[:3, :3]
    if (
        np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-9
        or np.linalg.det(rotation) < 0
        or (matrix[3] != (0, 0, 0, 1)).any()
    ):
        raise ValueError(
            f"{what}: expected a rigid pose (rotation and translation over the row 0 0 0 1), got "
            f"{matrix.tolist()}"
        )
    return matrix


def limits(what: str, value: Any) -> tuple[float, float]:
    """Return (lower, upper) from a pair or from one number b meaning (-b, b).

    Raises ValueError naming `what`.
    """
    try:
        lower, upper = (
            (-float(value), float(value))
            if np.ndim(value) == 0
            else (float(bound) for bound in value)
        )
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected (lower, upper) or one number, got {value!r}") from None
    if isnan(lower) or isnan(upper):
        raise ValueError(f"{what}: expected numbers, got {(lower, upper)}")
    if lower > upper:
        raise ValueError(f"{what}: lower bound {lower:g} is above upper bound {upper:g}")
    return lower, upper


def frozen(array: Any) -> Any:
    """Return nested tuples of an array: hashable, comparable, read-only."""
    return tuple(frozen(row) for row in array) if np.ndim(array) else float(array)


def positive(what: str, value: Any, zero: bool = False) -> float:
    """Return a number above 0, or with `zero` at least 0; raise ValueError naming `what`."""
    number = float(numbers(what, value, ()))
    if number < 0 or (number == 0 and not zero):
        raise ValueError(
            f"{what}: expected a number {'of at least' if zero else 'above'} 0, got {number:g}"
        )
    return number


def symmetric(what: str, value: Any, m: int) -> np.ndarray:
    """Return a symmetric positive semidefinite matrix (m, m); raise ValueError naming `what`."""
    matrix = numbers(what, value, (m, m))
    size = np.abs(matrix).max()
    if (
        np.abs(matrix - matrix.T).max() > 1e-9 * size
        or np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] < -1e-9 * size
    ):
        raise ValueError(
            f"{what}: expected a symmetric positive semidefinite matrix, got {matrix.tolist()}"
        )
    return (matrix + matrix.T) / 2


def set_fields(record: Any, **values) -> None:
    """Set the fields of a frozen record that is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def instance(what: str, value: Any, *kinds) -> Any:
    """Return `value` if it is of one of the `kinds`.

    Raises ValueError naming `what`, the kinds expected and what came.
    """
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{what}: expected {expected}, got {shown(value)}")
    return value


def several(what: str, values: Any, *kinds) -> tuple:
    """Return a tuple of values, each of one of the `kinds`; raise ValueError naming `what`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        expected = kinds[0].__name__
        raise ValueError(f"{what}: expected a tuple of {expected} records, got {shown(values)}")
    return tuple(instance(what, value, *kinds) for value in values)


def shown(value: Any) -> str:
    """Return a value as messages show it: its type, and shortly what it is."""
    return f"{type(value).__name__} {reprlib.repr(value)}"


def called(what: str, value: Any) -> Any:
    """Return `value` if it can be called; raise ValueError naming `what` otherwise."""
    if not callable(value):
        raise ValueError(f"{what}: expected a function, got {shown(value)}")
    return value
