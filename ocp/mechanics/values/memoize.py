"""Values of functions that are asked for again and again with the very same records or symbols."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import casadi as ca
import numpy as np

CHANGING = (np.ndarray, ca.DM, list)
Value = TypeVar("Value")


def memoize(size: int) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return a decorator: the function keeps its last values, of so many calls, and gives them
    again for the very same arguments, which are told by what they are rather than compared.

    So it suits records, whose comparison takes long, and expressions, which have none. Of arrays of
    numbers, which may have changed since, it is called anew.
    """

    def decorate(function: Callable[..., Value]) -> Callable[..., Value]:
        kept: dict[tuple[int, ...], tuple[tuple, Value]] = {}

        @wraps(function)
        def recall(*arguments: object) -> Value:
            if any(isinstance(each, CHANGING) for each in arguments):
                return function(*arguments)
            key = tuple(map(id, arguments))
            known = kept.get(key)
            if known is None:
                known = kept[key] = arguments, function(*arguments)  # which keeps the ids theirs
                for oldest in list(kept)[:-size]:
                    kept.pop(oldest, None)
            return known[1]

        return recall

    return decorate
