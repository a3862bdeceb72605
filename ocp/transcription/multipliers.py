"""Lagrange multipliers by the names of constraints, from those of an NLP and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ocp.problem.names import DURATION
from ocp.transcription.rows import Rows

ALIKE = 1e-9  # of the motion: instants so close are one


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Multipliers:
    """Lagrange multipliers of one constraint: instants `s` (N,), row labels (m,), values (m, N).

    They are positive at an upper bound.
    """

    s: np.ndarray
    labels: tuple[str, ...]
    values: np.ndarray

    def __repr__(self) -> str:
        count, largest = len(self.s), np.abs(self.values).max(initial=0.0)
        return f"Multipliers({len(self.labels)} rows at {count} instants, up to {largest:.3g})"


def name_multipliers(
    rows: Sequence[Rows], asked: Mapping, x_multipliers: np.ndarray, g_multipliers: np.ndarray
) -> dict[str, Multipliers]:
    """Return {constraint name: Multipliers}.

    A variable's multiplier goes to the constraint that `asked` for the bound it leans on.
    """
    named = {}
    for placed in rows:
        values = np.zeros(placed.row.shape)
        values[placed.row >= 0] = np.take(g_multipliers, placed.row[placed.row >= 0])
        for m, k in zip(*np.nonzero(placed.variable >= 0)):
            variable = placed.variable[m, k]
            owner = asked.get((variable, "upper" if x_multipliers[variable] > 0 else "lower"))
            if owner == (placed.constraint, placed.numbers[m], placed.s[k]):
                values[m, k] = x_multipliers[variable] / placed.coefficient[m, k]
        labels = tuple(placed.constraint.label(row) for row in placed.numbers)
        named[placed.name] = Multipliers(s=placed.s, labels=labels, values=values)
    if DURATION in [constraint.name for constraint, *_ in asked.values()]:
        values = np.array([[x_multipliers[0]]])
        named[DURATION] = Multipliers(s=np.zeros(1), labels=("T",), values=values)
    return named


def gather_multipliers(
    rows: Sequence[Rows], named: Mapping[str, Multipliers], size: int, count: int, *, free: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return multipliers of variables (size,) and rows of g (count,) from those by name,
    interpolated where the instants differ.

    `free` tells whether x_0 is the duration. A multiplier along the path is a density times the
    spacing of its instants, and scaled with that.
    """
    x_multipliers, g_multipliers = np.zeros(size), np.zeros(count)
    for placed in rows:
        if placed.name not in named or len(named[placed.name].values) != len(placed.row):
            continue
        values = _resampled(named[placed.name], placed.s)
        g_multipliers[placed.row[placed.row >= 0]] = values[placed.row >= 0]
        bounds = placed.variable >= 0
        np.add.at(x_multipliers, placed.variable[bounds], (values * placed.coefficient)[bounds])
    if free and DURATION in named:
        x_multipliers[0] += named[DURATION].values[0, 0]
    return x_multipliers, g_multipliers


def _resampled(known, s):
    """Return the values (m, N) at the instants s, scaled as densities where these are others."""
    if len(known.s) == len(s) and np.allclose(known.s, s, rtol=0, atol=ALIKE):
        return known.values
    densities = known.values / _spacing(known.s)
    return np.array([np.interp(s, known.s, line) for line in densities]) * _spacing(s)


def _spacing(s):
    """Return how much of the motion each of its instants s (N,) stands for, on the whole 1."""
    if len(s) < 2:
        return np.ones(len(s))
    steps = np.gradient(s)
    return np.maximum(steps / steps.sum(), ALIKE)
