"""Typed reading of result files: arrays, words and counts, checked."""

from collections.abc import Mapping, Sequence

import numpy as np

from ocp.solvers.progress import Iteration
from ocp.storage.records_from_data import Data
from ocp.transcription.variables.named_multipliers import Multipliers


def multipliers(header: Data, arrays: Mapping[str, np.ndarray]) -> dict[str, Multipliers]:
    """Return the multipliers of a header by name."""
    return {
        name: Multipliers(
            s=numbers(arrays, f"multipliers_{k}_s", (None,)),
            labels=tuple(words(labels)),
            values=numbers(arrays, f"multipliers_{k}_values", (len(labels), None)),
        )
        for k, (name, labels) in enumerate(header["multipliers"])
    }


def history(rows: np.ndarray) -> tuple[Iteration, ...]:
    """Return the iterations of a table."""
    return tuple(
        Iteration(
            number=int(number),
            objective=float(objective),
            violation=float(violation),
            seconds=float(seconds),
        )
        for number, objective, violation, seconds in rows.tolist()
    )


def table(steps: Sequence[Iteration]) -> np.ndarray:
    """Return iterations as a table (iterations, 4)."""
    rows = [[step.number, step.objective, step.violation, step.seconds] for step in steps]
    return np.array(rows, dtype=float).reshape(-1, 4)


def numbers(
    arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int | None, ...], kind: str = "f"
) -> np.ndarray:
    """Return an array of that kind and shape, None for any size; raise ValueError for another."""
    array = arrays[name]
    sizes = zip(array.shape, shape)
    fits = array.ndim == len(shape) and all(size in (got, None) for got, size in sizes)
    if array.dtype.kind != kind or not fits:
        raise ValueError(f"{name}: expected shape {shape}, got {array.dtype} {array.shape}")
    return np.array(array)


def count(value: object) -> int:
    """Return a count of a header; raise ValueError if it is none."""
    if not isinstance(value, int) or not 0 <= value <= 100000:
        raise ValueError(f"expected a count, got {value!r}")
    return value


def words(value: object) -> list[str]:
    """Return the words of a header; raise ValueError if they are none."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"expected words, got {value!r:.60}")
    return value
