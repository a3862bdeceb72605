"""States of elements over time: those of a kind in one panel, with what drives them.

Of muscles that is activation and excitation, the tendons' force, and fibre length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ocp.mechanics.elements.element_states import StateVariable
from ocp.mechanics.model.tree import states_of
from ocp.mechanics.muscles import muscles_of
from ocp.mechanics.values.types import Matrix
from ocp.plots.canvas import SMALL, TEXT, WIDTH, Looks, label_of, style
from ocp.plots.curves.contact_forces import HANDLE, LETTER
from ocp.plots.curves.joint_curves import line_styles
from ocp.plots.curves.phase_curves import curve, mark_ends
from ocp.problem.instant import Instant
from ocp.problem.muscle_terms import fibre_of
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

ACROSS, HEIGHT, LINE = 3, 2.0, 0.15  # panels side by side; in: how high these and lines of names
LABELS = {  # of kinds of states, and of what drives them
    "activation": ("activation", "excitation"),
    "fatigued": ("share of fatigued units", ""),
}
TENSION, FIBRE = "tendon force over largest", "fibre length over optimal"
FAINT = 0.4  # opacity of what drives a state


@dataclass(frozen=True, slots=True)
class StatePanel:
    """The states of a kind, and what drives them: of each its label and values (m, N), at times `t`
    (N,), s, of the elements (m) of those `names`."""

    labels: Sequence[str]
    names: Sequence[str]
    t: np.ndarray
    values: Sequence[np.ndarray]


def state_panels(solution: Solution) -> list[StatePanel]:
    """Return the panels of the states of a motion's elements, and of the force and fibre length of
    its muscles, whose tendons may have no state; none where no element has states."""
    tree = solution.problem.tree
    muscles = [each.name for each in muscles_of(tree)]
    kinds: dict[str, list[StateVariable]] = {}
    for variable in states_of(tree.elements):
        if variable.name in {f"{name}.force" for name in muscles}:
            continue
        kinds.setdefault(variable.name.rpartition(".")[2], []).append(variable)
    made = []
    for kind, several in kinds.items():
        label, control = LABELS.get(kind, (kind, "control"))
        names = [each.name for each in several]
        traced = {label: "q"} | ({control: "tau"} if several[0].control else {})
        values = [curve(solution, partial(_states, names, of)) for of in traced.values()]
        owners = [name.rpartition(".")[0] for name in names]
        made.append(StatePanel([*traced], owners, values[0][0], [each for _, each in values]))
    if muscles:
        t, fibres = curve(solution, partial(_fibres, muscles))
        for label, rows in zip((TENSION, FIBRE), np.split(fibres, 2)):
            made.append(StatePanel([label], muscles, t, [rows]))
    return made


def _states(names: Sequence[str], of: str, motion: Solution, t: np.ndarray) -> np.ndarray:
    """Return states or their controls (m, N), not numbers where a phase has others."""
    if not {*names} <= {each.name for each in motion.problem.tree.moving}:
        return np.full((len(names), len(t)), np.nan)
    return getattr(motion, of)(t)[[motion.problem.tree.coordinate(name) for name in names]]


def _fibres(names: Sequence[str], motion: Solution, t: np.ndarray) -> np.ndarray:
    """Return the forces of muscles' tendons, and below them the lengths of their fibres (2m, N),
    not numbers where a phase has others."""
    if not {*names} <= {each.name for each in muscles_of(motion.problem.tree)}:
        return np.full((2 * len(names), len(t)), np.nan)
    return motion.trace(partial(_forces_and_lengths, names), t)


def _forces_and_lengths(names: Sequence[str], at: Instant) -> Matrix:
    fibres = [fibre_of(at, name) for name in names]
    return ca.vertcat(*(each.tendon for each in fibres), *(each.length for each in fibres))


def state_looks(panels: Sequence[StatePanel]) -> Looks:
    """Return {element: look of its lines}, the same in all panels."""
    return line_styles(list(dict.fromkeys(name for each in panels for name in each.names)))


def states_height(panels: Sequence[StatePanel]) -> float:
    """Return the height (in) that panels of states take of a page, with their names; 0 for none."""
    if not panels:
        return 0.0
    return HEIGHT * ceil(len(panels) / ACROSS) + _legend_height(panels)


def _columns(panels: Sequence[StatePanel]) -> int:
    """Return the number of names of a legend side by side."""
    names = state_looks(panels)
    return min(len(names), max(1, int(WIDTH / (HANDLE + LETTER * max(map(len, names))))))


def _legend_height(panels: Sequence[StatePanel]) -> float:
    return LINE * (1 + ceil(len(state_looks(panels)) / _columns(panels)))


def above_states(
    figure: Figure, solution: Solution, panels: Sequence[StatePanel], height: float
) -> SubplotSpec:
    """Draw panels of states, if any, at the foot of a figure, and below them their names; return
    the cell of the figure's grid that is left above them, `height` (in) high."""
    heights = [height, *([states_height(panels)] if panels else [])]
    rows = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    if panels:
        _draw(figure, rows[1], solution, panels)
    return rows[0]


def _draw(
    figure: Figure, spec: SubplotSpec, solution: Solution, panels: Sequence[StatePanel]
) -> None:
    from matplotlib.lines import Line2D

    looks, lines = state_looks(panels), ceil(len(panels) / ACROSS)
    below = _legend_height(panels)
    rows = spec.subgridspec(2, 1, height_ratios=(HEIGHT * lines, below))
    columns = min(ACROSS, len(panels))
    grid = rows[0].subgridspec(lines, columns)
    for place, each in enumerate(panels):
        axes = figure.add_subplot(grid[place // columns, place % columns])
        for values, own in zip(each.values, ({}, {"linewidth": 0.8, "alpha": FAINT})):
            for name, line in zip(each.names, values):
                axes.plot(each.t, line, **(looks[name] | own))
        style(axes, "time (s)", "")
        axes.set_title("; faint: ".join(each.labels), fontsize=TEXT, pad=4)
        axes.set_xlim(each.t[0], each.t[-1])
        axes.locator_params(nbins=5)
        axes.ticklabel_format(axis="y", useOffset=False)
        mark_ends(axes, solution)
    words = figure.add_subplot(rows[1])
    words.set_axis_off()
    words.legend(
        [Line2D([], [], **look) for look in looks.values()],
        [label_of(name) for name in looks],
        loc="center",
        ncols=_columns(panels),
        fontsize=SMALL,
        frameon=False,
        handlelength=2.6,
        borderpad=0.0,
    )
