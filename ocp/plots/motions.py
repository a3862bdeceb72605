"""A motion's curves over time: joints, torques within limits, internal forces, and the overview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ocp.mechanics.joints import Joint
from ocp.mechanics.structure import structure
from ocp.mechanics.tree import Tree
from ocp.plots.canvas import COLOURS, SMALL, TEXT, WIDTH, label_of, picture, shades, style
from ocp.plots.contacts import contacts_of, draw_forces
from ocp.plots.numerics import convergence
from ocp.plots.parts import curve, mark_ends
from ocp.plots.sticks import snapshots
from ocp.solution.arguments import check_solution
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {  # of what turns and of what slides
    "q": ("angle (rad)", "slide (m)"),
    "qd": ("angular velocity (rad/s)", "velocity (m/s)"),
    "tau": ("torque (N m)", "force (N)"),
    "tau_rate": ("torque rate (N m/s)", "force rate (N/s)"),
    "qdd": ("angular acceleration (rad/s²)", "acceleration (m/s²)"),
    "qddd": ("angular jerk (rad/s³)", "jerk (m/s³)"),
    "force": ("joint force, norm (N)",) * 2,
    "moment": ("joint moment, norm (N m)",) * 2,
}
AMPLITUDES = {
    "q": ("amplitude (rad)", "amplitude (m)"),
    "qd": ("its rate (rad/s)", "its rate (m/s)"),
    "qdd": ("its acceleration (rad/s²)", "its acceleration (m/s²)"),
    "qddd": ("its jerk (rad/s³)", "its jerk (m/s³)"),
}
LIMITS = {"tau": "torque", "tau_rate": "torque_rate", "qddd": "jerk"}  # shaded, of joints
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.2, 1.2, 1.2)))
NORMS = ("force", "moment")
MANY, ACROSS = 8, 5  # more joints have panels of their own, so many side by side, mapped colours
NEAR = 5  # times the largest value: limits farther off are out of view
SHOTS = 7  # snapshots of the overview


@dataclass(frozen=True, slots=True)
class Profile:
    """Curves of a `quantity` (a key of LABELS) of `joints`."""

    quantity: str
    joints: Sequence[Joint]


def plot(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the overview on one page: joints, torques, internal forces, snapshots, convergence.

    It is a matplotlib Figure, and written to `path`, if any, as .png, .svg or .pdf. Raises
    ValueError naming any other suffix.
    """
    check_solution("plot", solution)
    tree = solution.problem.tree
    panels = [Profile(name, joints) for name in ("q", "tau") for joints in _kinds(tree, name)]
    panels.append(Profile("force", tree.joints))
    bearing = bool(solution.phases and (contacts_of(solution) or solution.impulses))
    count = len(panels) + bearing
    with picture(path, WIDTH, 1.7 + 1.25 * max(3, count)) as figure:
        figure.suptitle(
            f"{solution.status},  duration {solution.duration:.5g} s,  "
            f"objective {solution.objective:.6g}",
            fontsize=TEXT + 1,
        )
        columns = figure.add_gridspec(1, 2, width_ratios=(1, 1.05))
        left, right = columns[0], columns[1]
        grid: Any = left.subgridspec(count, 1).subplots(sharex=True)
        _draw(grid[: len(panels)], solution, panels)
        if bearing:
            draw_forces(grid[-1], solution)
            grid[-1].set_xlabel("time (s)", fontsize=TEXT)
        rows = right.subgridspec(3, 1, height_ratios=(3, 1, 1))
        snapshots(figure, rows[0], solution, SHOTS)
        convergence([figure.add_subplot(rows[k]) for k in (1, 2)], solution)
        _legend(figure)
    return figure


def plot_joints(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the profiles of position, rate and acceleration, written to `path`, if any; of jerk
    too where joints limit it.

    Joints that turn (rad) and that slide (m) have columns of their own, and so have modal
    amplitudes. Raises ValueError naming an unknown suffix.
    """
    kinds = _kinds(solution.problem.tree, "q")
    shown = ("q", "qd", "qdd", *_limited(solution.problem.tree, "qddd"))
    panels = [Profile(quantity, joints) for quantity in shown for joints in kinds]
    return _sheet(solution, path, panels, 1.6, len(kinds))


def plot_torques(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the joint torques (N m) and forces (N), shaded beyond their limits, and below these
    their rates where joints limit them.

    Each has a panel of its own if they are many; written to `path`, if any. Raises ValueError
    naming an unknown suffix.
    """
    tree = solution.problem.tree
    kinds, shown = _kinds(tree, "tau"), ("tau", *_limited(tree, "tau_rate"))
    if tree.dof <= MANY:
        panels = [Profile(quantity, joints) for quantity in shown for joints in kinds]
        return _sheet(solution, path, panels, 2.2)
    joints = [joint for joint in tree.moving if any(joint in kind for kind in kinds)]
    panels = [Profile(quantity, [joint]) for quantity in shown for joint in joints]
    return _sheet(solution, path, panels, 1.05, ACROSS)


def plot_reactions(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the norms of force (N) and of moment about the anchor (N m) that joints pass.

    They are those on each joint's link; written to `path`, if any. Raises ValueError naming an
    unknown suffix.
    """
    joints = solution.problem.tree.joints
    return _sheet(solution, path, [Profile(norm, joints) for norm in NORMS], 2.0)


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
            colours, width = _palette(len(values))
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


def _kinds(tree: Tree, quantity: str) -> list[list[Joint]]:
    """Return the joints that turn, those that slide, and modal amplitudes likewise.

    Only what there is, and of torques only joints that drive, if any do.
    """
    if quantity == "tau":
        shown = [tree.moving[row] for row in structure(tree).drives]
        shown = shown or [joint for joint in tree.moving if joint.name in tree.names]
    else:
        shown = list(tree.moving)
    kinds: dict[tuple[bool, bool], list[Joint]] = {}
    for joint in shown:
        kind = (joint.name not in tree.names, joint.kind == "prismatic")
        kinds.setdefault(kind, []).append(joint)
    return [kinds[kind] for kind in sorted(kinds)]


def _limited(tree: Tree, quantity: str) -> list[str]:
    """Return the quantity if any joint limits it."""
    limits = [getattr(joint, LIMITS[quantity]) for joint in tree.moving]
    return [quantity] if any(isfinite(bound) for pair in limits for bound in pair) else []


def _sheet(
    solution: Solution,
    path: str | Path | None,
    panels: Sequence[Profile],
    height: float,
    columns: int = 1,
) -> Figure:
    """Return a page of panels, each `height` (in) high."""
    lines = ceil(len(panels) / columns)
    with picture(path, WIDTH, 0.6 + height * lines) as figure:
        grid = figure.subplots(lines, columns, sharex=True, squeeze=False).ravel()
        _draw(grid, solution, panels)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        if len(panels) <= MANY:
            _legend(figure)
    return figure


def _draw(grid: Any, solution: Solution, panels: Sequence[Profile]) -> None:
    """Draw panels, each in its axes of a grid; a single joint among many stands in the title."""
    tree, looks = solution.problem.tree, _looks(solution.problem.tree)
    traces = {}
    for quantity in dict.fromkeys(panel.quantity for panel in panels):
        t, values = curve(solution, partial(_values, quantity, tree))
        traces[quantity] = dict(zip(_named(tree, quantity), values))
    heads = grid[: grid[0].get_subplotspec().get_gridspec().ncols]
    for axes, panel in zip(grid, panels):
        mark_ends(axes, solution, axes in heads and len(panels) <= MANY)
        first, norm = panel.joints[0], panel.quantity in NORMS
        for joint in panel.joints:
            line = traces[panel.quantity][joint.name]
            axes.plot(t, line, label=label_of(joint.name), **looks[joint.name])
        labels = LABELS if first.name in tree.names else AMPLITUDES
        bottom = axes.get_subplotspec().is_last_row()
        label = labels[panel.quantity][first.kind == "prismatic"]
        style(axes, "time (s)" if bottom else "", label)
        axes.set_title(first.name if len(panels) > MANY else "", fontsize=SMALL)
        axes.set(xlim=(t[0], t[-1]), ylim=(0 if norm else None, None))
        if panel.quantity in LIMITS:
            lines = [traces[panel.quantity][joint.name] for joint in panel.joints]
            _shade(axes, panel, np.array(lines), looks)
    grid[0].figure.align_ylabels(grid)


def _values(quantity: str, tree: Tree, motion: Solution, t: np.ndarray) -> np.ndarray:
    """Return a quantity of all joints of a tree (m, N) at times (N,) of a motion or phase, not a
    number of joints that a phase does not have."""
    if quantity in NORMS:
        moment, force = motion.reactions(t)
        norms = np.linalg.norm(force if quantity == "force" else moment, axis=0)
        known = dict(zip(motion.problem.tree.names, norms))
        return np.array([known.get(name, np.full(len(t), np.nan)) for name in tree.names])
    return getattr(motion, quantity)(t)


def _output(name: str, motion: Solution, t: np.ndarray) -> np.ndarray:
    return motion.output(name, t)


def _named(tree: Tree, quantity: str) -> Sequence[str]:
    """Return whose values those of a quantity are."""
    return tree.names if quantity in NORMS else [joint.name for joint in tree.moving]


def _shade(
    axes: Axes, panel: Profile, values: np.ndarray, looks: Mapping[str, Mapping[str, Any]]
) -> None:
    """Shade what lies beyond a panel's limits; of many joints, what all are denied.

    It is grey if joints share their limits, else in the joint's colour.
    """
    joints = panel.joints
    limits = [getattr(joint, LIMITS[panel.quantity]) for joint in joints]
    if len(joints) > MANY:
        lowest, highest = min(low for low, _ in limits), max(high for _, high in limits)
        limits = [(lowest, highest)] * len(joints)
    values = values[:, np.isfinite(values).all(axis=0)]  # but for the gaps between phases
    reach = NEAR * np.abs(values).max()
    near = [bound for pair in limits for bound in pair if abs(bound) <= reach]
    seen = [values.min(), values.max(), *near]
    margin = 0.07 * np.ptp(seen) or 1.0
    low, high = min(seen) - margin, max(seen) + margin
    for pair, joint in dict(zip(limits, joints)).items():
        alone = limits.count(pair) == 1 < len(limits)
        colour, alpha = (looks[joint.name]["color"], 0.15) if alone else ("0.5", 0.25)
        beyond = min(low, pair[0] - margin), max(high, pair[1] + margin)
        look: Any = {
            "facecolor": (colour, alpha),
            "edgecolor": colour,
            "linewidth": 0.7,
            "zorder": 0,
        }
        for bound, far in zip(pair, beyond):
            if isfinite(bound):
                axes.axhspan(bound, far, **look)
    axes.set_ylim(low, high)


def _looks(tree: Tree) -> dict[str, dict[str, Any]]:
    """Return {joint name: line style}; dashes help where colours do not."""
    names = list(dict.fromkeys([*tree.names, *(joint.name for joint in tree.moving)]))
    colours, width = _palette(len(names))
    return {
        name: {"color": colours[k], "linestyle": DASHES[k % len(DASHES)], "linewidth": width}
        for k, name in enumerate(names)
    }


def _palette(count: int) -> tuple[Sequence[Any], float]:
    """Return as many colours and the width (pt) of their lines; many are mapped and thin."""
    if count <= MANY:
        return COLOURS, 1.3
    return shades("viridis", 0.0, 0.9)(np.linspace(0.0, 1.0, count)), 0.9


def _legend(figure: Figure) -> None:
    """Add a legend of all joints below all panels, and the height (in) that it takes."""
    lines = {str(line.get_label()): line for axes in figure.axes for line in axes.lines}
    shown = {label: line for label, line in lines.items() if not label.startswith("_")}
    longest = max(map(len, shown))
    columns = min(len(shown), max(1, int(WIDTH / (0.55 + 0.065 * longest))))
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
