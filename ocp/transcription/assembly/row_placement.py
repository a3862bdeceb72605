"""Row placement: numbers for open bounds, then rows of g or bounds of variables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem.constraint import Constraint, Moment
from ocp.transcription.assembly.blocks import Block
from ocp.transcription.rows import Group
from ocp.transcription.variables.layout import Layout
from ocp.transcription.variables.variable_bounds import VariableBounds


def close_bounds(
    open_groups: Iterable[Group],
    values: Mapping[Parameter, float],
    anew: Mapping[int, Constraint] = MappingProxyType({}),
) -> tuple:
    """Return groups with numbers for the bounds that follow parameters; `anew` {id: what these
    values made of it} has constraints of the statement."""
    known: dict = {}

    def close(constraint: Constraint) -> Constraint:
        if not constraint.open:
            return constraint
        if id(constraint) in anew and not isinstance(constraint.when, Moment):
            return anew[id(constraint)]
        sides = {"lower": constraint.lower, "upper": constraint.upper}
        return replace(constraint, **with_values(sides, values))

    def closed_once(constraint: Constraint) -> Constraint:
        if id(constraint) not in known:
            known[id(constraint)] = close(constraint)
        return known[id(constraint)]

    return tuple(
        group.with_owners(closed_once).at_instant(values) if group.open else group
        for group in open_groups
    )


def place_rows(asked_for: Sequence[Group], layout: Layout) -> tuple:
    """Return the Box of the variables, the rows of g that each group has (m, N), where every
    constraint went, and all bounds."""
    box, places, rows, limits, count = VariableBounds(layout), [], [], [np.empty((2, 0))], 0
    for group in asked_for:
        placed, row, sides = box.place(group, count)
        rows += placed
        limits.append(sides)
        count += sides.shape[1]
        places.append(row)
    box.settle()
    g_lower, g_upper = np.hstack(limits)
    bounds = {"lower": box.lower, "upper": box.upper, "g_lower": g_lower, "g_upper": g_upper}
    return box, places, tuple(rows), bounds


def constraint_blocks(asked_for: Sequence[Group], places: Sequence[np.ndarray]) -> list[Block]:
    """Return the blocks of the rows of g."""
    return [
        Block(
            kernel=group.kernel,
            s=group.s,
            matrix=group.matrix,
            target=row,
            weight=np.ones(row.shape),
        )
        for group, row in zip(asked_for, places)
        if (row >= 0).any()
    ]
