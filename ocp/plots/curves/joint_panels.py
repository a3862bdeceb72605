"""Many joints: a small panel for each, or for both sides of a body, within its own limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ocp.mechanics.model.joints import Joint
from ocp.plots.canvas import COLOURS, SMALL, Look, label_of, style
from ocp.plots.curves.joint_curves import (
    LIMITS,
    MANY,
    NORMS,
    Profile,
    axis_label,
    bands,
    is_held,
    shade,
    trace_joints,
)
from ocp.plots.curves.phase_curves import mark_ends
from ocp.problem.constraints.strength import strengths
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

SHORT = {  # of what turns and of what slides, where there is little room
    "qd": ("rate (rad/s)", "rate (m/s)"),
    "qdd": ("accel. (rad/s²)", "accel. (m/s²)"),
    "qddd": ("jerk (rad/s³)", "jerk (m/s³)"),
    "tau_rate": ("rate (N m/s)", "rate (N/s)"),
    "force": ("force (N)",) * 2,
    "moment": ("moment (N m)",) * 2,
}
ACROSS, HEIGHT = 6, 0.92  # panels side by side, and how high one is (in)
LEAST = 1e-10  # rad, m, N m, N: what is less is none
FEW = 3  # joints, whose limits can be told apart in one panel
SIDES = (("_r", "_l"), ("_right", "_left"), ("right_", "left_"), ("right ", "left "))
LOOKS: tuple[Look, ...] = (  # of the right side and the left, as their feet and shoes have it
    {"color": COLOURS[1], "linewidth": 1.1},
    {"color": COLOURS[0], "linewidth": 1.1, "linestyle": (0, (4, 1.2))},
)
MIDDLE: tuple[Look, ...] = ({"color": "#404040", "linewidth": 1.1},)


def panel_pairs(joints: Sequence[Joint]) -> list[tuple[str, tuple[Joint, ...]]]:
    """Return (title, joints) of each panel: a joint, or those of the right and the left side."""
    known = {joint.name: joint for joint in joints}
    panels: dict[str, tuple[Joint, ...]] = {}
    for joint in joints:
        title: str = joint.name
        pair: tuple[Joint, ...] = (joint,)
        for right, left in SIDES:
            base = _without(joint.name, right) or _without(joint.name, left)
            both = [known.get(_joined(base, side)) for side in (right, left)] if base else [None]
            if all(both):
                title, pair = base, tuple(each for each in both if each)
        panels.setdefault(title, pair)
    return list(panels.items())


def looks_of(pair: Sequence[Joint]) -> tuple[Look, ...]:
    """Return the looks of the joints of a panel: of a right and a left one, or of one alone."""
    return LOOKS if len(pair) > 1 else MIDDLE


def needs_own_panels(solution: Solution, section: Profile) -> bool:
    """Tell whether joints want panels of their own: if many, or some with limits that differ or
    vary in time."""
    joints = section.joints
    if len(joints) <= FEW or not is_held(solution.problem, section.quantity):
        return len(joints) > MANY
    names = {each.joint for each in strengths(solution.problem.tree)}
    if section.quantity == "tau" and names & {joint.name for joint in joints}:
        return True
    return len({getattr(joint, LIMITS[section.quantity]) for joint in joints}) > 1


def rows_of(joints: Sequence[Joint]) -> int:
    """Return the number of rows of panels that some joints take."""
    return ceil(len(panel_pairs(joints)) / ACROSS)


def multiples(
    figure: Figure, spec: SubplotSpec, solution: Solution, sections: Sequence[Profile]
) -> None:
    """Draw the joints of each section in panels of their own, in a cell `spec` of a figure's grid.

    Panels of a section share no scale: each has that of its joint.
    """
    t, traces = trace_joints(solution, [section.quantity for section in sections])
    grid = spec.subgridspec(sum(rows_of(section.joints) for section in sections), ACROSS)
    first, both = 0, False
    for section in sections:
        panels = panel_pairs(section.joints)
        held = is_held(solution.problem, section.quantity)
        known = bands(solution, section.quantity)
        for k, (title, pair) in enumerate(panels):
            axes = figure.add_subplot(grid[first + k // ACROSS, k % ACROSS])
            lines = [traces[section.quantity][joint.name] for joint in pair]
            for joint, line, look in zip(pair, lines, looks_of(pair)):
                axes.plot(t, line, label=label_of(joint.name), **look)
            below = k + ACROSS >= len(panels)
            style(axes, "time (s)" if below and section is sections[-1] else "", "")
            if not k % ACROSS:
                axes.set_ylabel(_label(solution, section), fontsize=SMALL)
            axes.set_title(title, fontsize=SMALL, pad=2)
            axes.tick_params(labelsize=SMALL - 1, labelbottom=below, pad=1.5)
            axes.ticklabel_format(axis="y", useOffset=False)
            axes.locator_params(axis="y", nbins=3)
            axes.set(xlim=(t[0], t[-1]), ylim=(0 if section.quantity in NORMS else None, None))
            if held:
                tones = {joint.name: look for joint, look in zip(pair, looks_of(pair))}
                shade(axes, Profile(section.quantity, pair), (t, np.array(lines)), tones, known)
            mark_ends(axes, solution)
            both = both or len(pair) > 1
        first += rows_of(section.joints)
    if both:
        _legend(figure)


def _label(solution: Solution, section: Profile) -> str:
    first = section.joints[0]
    if section.quantity in SHORT and first.name in solution.problem.tree.names:
        return SHORT[section.quantity][first.kind == "prismatic"]
    return axis_label(solution.problem.tree, section)


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **look) for look in LOOKS]
    figure.legend(
        handles,
        ["right", "left"],
        loc="outside lower center",
        ncols=2,
        fontsize=SMALL,
        frameon=False,
    )


def _without(name: str, side: str) -> str:
    """Return a name without its side, "" if it is of another."""
    if side.startswith("_"):
        return name.removesuffix(side) if name.endswith(side) else ""
    return name.removeprefix(side) if name.startswith(side) else ""


def _joined(base: str, side: str) -> str:
    return base + side if side.startswith("_") else side + base


def moving_sections(
    solution: Solution, sections: Sequence[Profile], still: float
) -> Iterator[Profile]:
    """Yield the sections without joints whose values are nowhere more than a share `still` of the
    section's largest, or than LEAST; none that has no others."""
    _, traces = trace_joints(solution, [section.quantity for section in sections])
    for section in sections:
        peaks = {
            joint.name: float(np.nanmax(np.abs(traces[section.quantity][joint.name])))
            for joint in section.joints
        }
        least = max(LEAST, still * max(peaks.values()))
        joints = [joint for joint in section.joints if peaks[joint.name] > least]
        if joints:
            yield Profile(section.quantity, joints)
