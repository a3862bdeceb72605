"""Functions of one's own that a tree carries, tried where they are handed over."""

import re
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix, Numbers


def as_column(what: str, value: Numbers) -> Matrix:
    """Return the result of a user's function as a column: of expressions, or of numbers in an
    array, nested sequences or alone.

    Raises ValueError naming `what` for anything else.
    """
    if isinstance(value, ca.SX | ca.MX | ca.DM):
        return ca.vec(value)
    try:
        return ca.vec(ca.vcat(list(np.ravel(np.atleast_1d(value)))))
    except (NotImplementedError, TypeError, ValueError):
        raise no_column(what, value) from None


def no_column(what: str, value: object) -> ValueError:
    """Return the error of a user's function whose result is no expression of numbers."""
    missing = "; is a return missing?" if value is None else ""
    return ValueError(
        f"{what}: expected a CasADi expression or numbers, got {type(value).__name__}{missing}"
    )


def check_callback(
    what: str, function: Callable[..., object], sizes: Sequence[int], size: int
) -> None:
    """Raise ValueError naming `what` unless a function takes expressions of these `sizes`, and
    gives `size` values, none of them nan."""
    given = [ca.SX.sym(f"x{k}", rows) for k, rows in enumerate(sizes)]
    try:
        value = function(*given)
    except (ValueError, Warning):  # which say what is wrong already
        raise
    except Exception as error:
        shapes = ", ".join(f"({rows},)" for rows in sizes)
        raise ValueError(
            f"{what}: fails where it is handed expressions {shapes}: {describe_error(error)}"
        ) from error
    entries = as_column(what, value)
    if entries.numel() != size:
        raise ValueError(f"{what}: expected {size} values, got {entries.numel()}")
    parts = [entries[k] for k in range(size)]
    if any(part.is_constant() and np.isnan(float(part)) for part in parts):
        raise ValueError(f"{what}: expected finite values, got nan")


def describe_error(error: Exception) -> str:
    """Return an error's kind and last line, without the place in CasADi's own sources."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    words = re.sub(r"^\S+\.[ch]pp:\d+: ", "", lines[-1]) if lines else ""
    return f"{type(error).__name__}: {words}"
