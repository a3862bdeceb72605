"""Program of the links between phases, and the layout of what is of no phase."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import Parameter
from ocp.mechanics.values.types import Matrix
from ocp.solvers.nlp import NLP
from ocp.transcription.assembly.assemble_program import constraint_blocks, nonlinear_program
from ocp.transcription.constraint_rows import Group, row_bounds
from ocp.transcription.phases.transitions import LinkRows
from ocp.transcription.variables.parameter_places import (
    freed_parameters,
    held_places,
    parameter_places,
    parameter_slice,
    sought_parameters,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProgramLayout:
    """Places in x after the variables of the phases: the `impulses` {transition: slice}, then the
    parameters, of which the first `free` are sought unless they are `held_names`."""

    impulses: Mapping[str, slice]
    size: int
    values: Mapping[Parameter, float] = field(default_factory=dict)
    free: int = 0
    held_names: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"ProgramLayout({self.size} variables)"

    parameters = property(parameter_slice)
    freed = property(freed_parameters)
    sought = property(sought_parameters)
    places = property(parameter_places)
    held_places = property(held_places)


def program_layout(
    place: int, every: Sequence[LinkRows], known: dict[Parameter, float], count: int
) -> ProgramLayout:
    """Return the layout of impulses and parameters {Parameter: value}, which begin at `place` in x;
    the first `count` are sought."""
    impulses = {}
    for each in every:
        if each.strikes:
            impulses[each.name] = slice(place, place + each.impulses.shape[0])
            place += each.impulses.shape[0]
    return ProgramLayout(
        impulses=impulses, size=place + len(known), values=MappingProxyType(known), free=count
    )


def link_bounds(groups: Sequence[Group], layout: ProgramLayout) -> dict[str, np.ndarray]:
    """Return the bounds of the links' rows, and of the parameters."""
    lower, upper = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
    for each, place in layout.places.items():
        free = each in layout.sought
        lower[place] = each.lower if free else layout.values[each]
        upper[place] = each.upper if free else layout.values[each]
    rows = [row_bounds(group, np.arange(len(group.owners))[:, None]) for group in groups]
    g_lower, g_upper = np.hstack([np.empty((2, 0)), *rows])
    return {"lower": lower, "upper": upper, "g_lower": g_lower, "g_upper": g_upper}


def link_nlp(groups: Sequence[Group], layout: ProgramLayout, differentiated: bool) -> NLP:
    """Return the program of the links alone, over x of all."""
    ends = np.cumsum([len(group.owners) for group in groups])
    places = [np.arange(end - len(group.owners), end)[:, None] for group, end in zip(groups, ends)]
    nothing: Callable[[Matrix], Matrix] = lambda x: ca.DM(0, 1)
    bounds = link_bounds(groups, layout)
    blocks = constraint_blocks(groups, places)
    return nonlinear_program((), nothing, blocks, bounds, differentiated=differentiated)[0]
