"""A motion's curves over time: joints, torques and internal forces, within their limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ocp.plots.canvas import SMALL, WIDTH, label_of, picture, style
from ocp.plots.curves.contact_forces import HANDLE, LETTER
from ocp.plots.curves.joint_curves import (
    DASHES,
    MANY,
    NORMS,
    Profile,
    axis_label,
    bands,
    is_held,
    joint_styles,
    joints_by_kind,
    limited_quantity,
    palette,
    shade,
    trace_joints,
)
from ocp.plots.curves.joint_panels import HEIGHT, multiples, rows_of
from ocp.plots.curves.phase_curves import curve, mark_ends
from ocp.plots.curves.state_panels import (
    StatePanel,
    above_states,
    state_panels,
    states_height,
)
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_joints(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the profiles of position, rate and acceleration, written to `path`, if any; of jerk
    too where joints limit it.

    Joints that turn (rad) and that slide (m) have columns of their own, and so have modal
    amplitudes; if they are many, each has panels of its own. States of elements are below. Raises
    ValueError naming an unknown suffix.
    """
    groups, states = joints_by_kind(solution.problem.tree, "q"), state_panels(solution)
    shown = ("q", "qd", "qdd", *limited_quantity(solution.problem.tree, "qddd"))
    panels = [Profile(quantity, joints) for quantity in shown for joints in groups]
    if sum(map(len, groups)) > MANY:
        return sheet(solution, path, panels, states)
    return _sheet(solution, path, panels, 1.6, len(groups), states)


def plot_torques(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the joint torques (N m) and forces (N), shaded beyond their limits, and below these
    their rates where joints limit them.

    Each has a panel of its own, with its other side's, if they are many. States of elements and
    what drives them are below. It is written to `path`, if any. Raises ValueError naming an unknown
    suffix.
    """
    tree, states = solution.problem.tree, state_panels(solution)
    groups, shown = joints_by_kind(tree, "tau"), ("tau", *limited_quantity(tree, "tau_rate"))
    panels = [Profile(quantity, joints) for quantity in shown for joints in groups]
    if tree.dof - len(tree.states) <= MANY or not panels:
        return _sheet(solution, path, panels, 2.2, states=states)
    return sheet(solution, path, panels, states)


def plot_reactions(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the norms of force (N) and of moment about the anchor (N m) that joints pass.

    They are those on each joint's link; written to `path`, if any. Raises ValueError naming an
    unknown suffix.
    """
    joints = solution.problem.tree.joints
    panels = [Profile(norm, joints) for norm in NORMS]
    if len(joints) > MANY:
        return sheet(solution, path, panels)
    return _sheet(solution, path, panels, 2.0)


def plot_outputs(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the outputs of the problem over time, a panel for each, written to `path`, if any.

    Raises ValueError if the problem has none, and naming an unknown suffix.
    """
    names = list(solution.problem.outputs)
    if not names:
        raise ValueError("plot_outputs: the problem has no outputs")
    with picture(path, WIDTH, 0.6 + 1.5 * len(names)) as figure:
        panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        for axes, name in zip(panels, names):
            t, values = curve(solution, partial(_output, name))
            colours, width = palette(len(values))
            for k, line in enumerate(values):
                dash = DASHES[k % len(DASHES)]
                axes.plot(t, line, color=colours[k], linestyle=dash, linewidth=width, label=str(k))
            style(axes, "time (s)" if axes is panels[-1] else "", name)
            axes.set_xlim(t[0], t[-1])
            mark_ends(axes, solution, axes is panels[0])
            if 1 < len(values) <= MANY:
                axes.legend(fontsize=SMALL, frameon=False, ncols=2)
        figure.align_ylabels(panels)
    return figure


def sheet(
    solution: Solution,
    path: str | Path | None,
    sections: Sequence[Profile],
    states: Sequence[StatePanel] = (),
) -> Figure:
    """Return a page of small multiples, and of states, written to `path`, if any."""
    height = 0.6 + HEIGHT * sum(rows_of(section.joints) for section in sections)
    with picture(path, WIDTH, height + states_height(states)) as figure:
        spec = above_states(figure, solution, states, height)
        multiples(figure, spec, solution, sections)
    return figure


def _sheet(
    solution: Solution,
    path: str | Path | None,
    panels: Sequence[Profile],
    height: float,
    columns: int = 1,
    states: Sequence[StatePanel] = (),
) -> Figure:
    """Return a page of panels, each `height` (in) high, and of states."""
    lines = ceil(len(panels) / columns)
    above = 0.6 + height * lines
    with picture(path, WIDTH, above + states_height(states)) as figure:
        spec = above_states(figure, solution, states, above)
        if panels:
            cells = spec.subgridspec(lines, columns)
            grid = cells.subplots(sharex=True, squeeze=False).ravel()
            draw_panels(grid, solution, panels)
            for axes in grid[len(panels) :]:
                axes.set_visible(False)
            legend(figure)
    return figure


def draw_panels(grid: np.ndarray, solution: Solution, panels: Sequence[Profile]) -> None:
    """Draw panels, each in its axes of a grid."""
    tree, looks = solution.problem.tree, joint_styles(solution.problem.tree)
    t, traces = trace_joints(solution, [panel.quantity for panel in panels])
    heads = grid[: grid[0].get_subplotspec().get_gridspec().ncols]
    for axes, panel in zip(grid, panels):
        mark_ends(axes, solution, axes in heads)
        norm = panel.quantity in NORMS
        for joint in panel.joints:
            line = traces[panel.quantity][joint.name]
            axes.plot(t, line, label=label_of(joint.name), **looks[joint.name])
        bottom = axes.get_subplotspec().is_last_row()
        style(axes, "time (s)" if bottom else "", axis_label(tree, panel))
        axes.set(xlim=(t[0], t[-1]), ylim=(0 if norm else None, None))
        if is_held(solution.problem, panel.quantity):
            lines = [traces[panel.quantity][joint.name] for joint in panel.joints]
            shade(axes, panel, (t, np.array(lines)), looks, bands(solution, panel.quantity))
    grid[0].figure.align_ylabels(grid)


def _output(name: str, motion: Solution, t: np.ndarray) -> np.ndarray:
    return motion.output(name, t)


def legend(figure: Figure) -> None:
    """Add a legend of all joints below all panels, and the height (in) that it takes."""
    lines = {str(line.get_label()): line for axes in figure.axes for line in axes.lines}
    shown = {label: line for label, line in lines.items() if not label.startswith("_")}
    longest = max(map(len, shown))
    columns = min(len(shown), max(1, int(WIDTH / (HANDLE + LETTER * longest))))
    figure.set_figheight(figure.get_figheight() + 0.1 + 0.15 * ceil(len(shown) / columns))
    figure.legend(
        list(shown.values()),
        list(shown),
        loc="outside lower center",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        handlelength=2.6,
    )
