"""Lagrange multipliers by the names of constraints, from those of an NLP and back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import DURATION, DYNAMICS, PARAMETER
from ocp.transcription.constraint_rows import Rows
from ocp.transcription.variables.layout import Layout, free_duration

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
    rows: Sequence[Rows],
    owners: Mapping,
    binding: np.ndarray,
    x_multipliers: np.ndarray,
    g_multipliers: np.ndarray,
) -> dict[str, Multipliers]:
    """Return {constraint name: Multipliers}.

    A variable's multiplier goes to the constraint that `owners` for the bound it leans on, the one
    of the number that is `binding`, as a Box has both.
    """
    named: dict[str, Multipliers] = {}
    leaned_on = np.where(x_multipliers > 0, binding[1], binding[0])
    for placed in rows:
        in_g, single = placed.row >= 0, placed.variable >= 0
        values = np.zeros(placed.row.shape)
        values[in_g] = g_multipliers[placed.row[in_g]]
        if single.any():
            variable = placed.variable[single]
            own = leaned_on[variable] == placed.bound[single]
            values[single] = np.where(own, x_multipliers[variable], 0.0)
            values[single] /= placed.coefficient[single]
        _add_multipliers(named, placed, values)
    for (place, side), (constraint, *_) in owners.items():
        if binding[int(side == "upper"), place] < 0:  # limits of its own
            values, labels = np.array([[x_multipliers[place]]]), (constraint.label(0),)
            named[constraint.name] = Multipliers(s=np.zeros(1), labels=labels, values=values)
    return named


def _add_multipliers(named: dict[str, Multipliers], placed: Rows, values: np.ndarray) -> None:
    """Put the multipliers (m, N) of the rows of a constraint beside those of its other rows.

    Bounds that follow parameters have rows of their own, and a row that has two such bounds has the
    multipliers of both.
    """
    labels = placed.labels
    known = named.get(placed.name)
    if known is not None:
        every = [*known.labels, *(label for label in labels if label not in known.labels)]
        order = sorted(every, key=_order(placed.constraint))
        total = np.zeros((len(order), len(placed.s)))
        for part_labels, part in ((known.labels, known.values), (labels, values)):
            total[[order.index(label) for label in part_labels]] += part
        labels, values = tuple(order), total
    named[placed.name] = Multipliers(s=placed.s, labels=labels, values=values)


def _order(constraint: Constraint) -> Callable[[str], int]:
    """Return the function that gives a label of a constraint's row its number."""
    listed = list(constraint.labels)
    return lambda label: listed.index(label) if label in listed else int(label.split()[-1])


def gather_multipliers(
    rows: Sequence[Rows], named: Mapping[str, Multipliers], layout: Any, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return multipliers of the variables (size,) of a Layout, or of the Order of phases, and of
    rows of g (count,), from those by name, interpolated where the instants differ.

    A multiplier along the path is a density times the spacing of its instants, and scaled with
    that.
    """
    x_multipliers, g_multipliers = np.zeros(layout.size), np.zeros(count)
    for placed in rows:
        values = _row_multipliers(named.get(placed.name), placed)
        if values is None:
            continue
        g_multipliers[placed.row[placed.row >= 0]] = values[placed.row >= 0]
        bounds = placed.variable >= 0
        np.add.at(x_multipliers, placed.variable[bounds], (values * placed.coefficient)[bounds])
    if isinstance(layout, Layout) and free_duration(layout.problem) and DURATION in named:
        x_multipliers[0] += named[DURATION].values[0, 0]
    for variable, parameter in zip(range(layout.size)[layout.parameters], layout.values):
        known = named.get(PARAMETER.format(parameter.name))
        if known is not None:
            x_multipliers[variable] = known.values[0, 0]
    return x_multipliers, g_multipliers


def _row_multipliers(known: Multipliers | None, placed: Rows) -> np.ndarray | None:
    """Return the multipliers (m, N) of a constraint's rows at their instants, of the signs that
    their bounds allow; None where they are not known."""
    if known is None:
        return None
    values, labels = _resample(known, placed.s), placed.labels
    if len(values) != len(labels):
        if not set(labels) <= set(known.labels):
            return None
        values = values[[known.labels.index(label) for label in labels]]
    sides = placed.bound_sides
    values = np.where(sides[:, :1], values, np.maximum(values, 0.0))
    return np.where(sides[:, 1:], values, np.minimum(values, 0.0))


def _resample(known: Multipliers, s: np.ndarray) -> np.ndarray:
    """Return the values (m, N) at the instants s, scaled as densities where these are others."""
    if len(known.s) == len(s) and (np.abs(known.s - s) <= ALIKE).all():
        return known.values
    densities = known.values / _spacings(known.s)
    return np.array([np.interp(s, known.s, line) for line in densities]) * _spacings(s)


def _spacings(s: np.ndarray) -> np.ndarray:
    """Return the share of the motion that each of its instants s (N,) stands for, on the whole
    1."""
    if len(s) < 2:
        return np.ones(len(s))
    steps = np.gradient(s)
    return np.maximum(steps / steps.sum(), ALIKE)


def keep_larger(multipliers: np.ndarray, columns: np.ndarray, own: np.ndarray) -> None:
    """Put the multipliers of a phase's `own` variables (k,) where these stand in x of all, unless
    those of another phase, which has the variable too, are larger there."""
    place = columns[: len(own)]
    multipliers[place] = np.where(np.abs(own) > np.abs(multipliers[place]), own, multipliers[place])


def rescale_law_multipliers(
    named: Mapping[str, Multipliers], method: object, former: float, present: float
) -> dict[str, Multipliers]:
    """Return multipliers by name where a method's law that counted in `former` body weights (N)
    counts in `present` ones, as those of a plan do that is owners for other masses."""
    counted = getattr(method, "form", "implicit") == "implicit"
    if former == present or not counted or DYNAMICS not in named:
        return dict(named)
    law = named[DYNAMICS]
    return {**named, DYNAMICS: replace(law, values=law.values * (present / former))}
