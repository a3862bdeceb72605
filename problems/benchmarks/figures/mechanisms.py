"""Mechanisms as the papers sketch them, drawn from our models: links, joints, angles and frames."""

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.mechanics import GROUND, poses
from ocp.models.arms.two_link import two_link
from ocp.plots import COLOURS, SMALL, TEXT, style

LINK = "0.3"  # colour
POSTURE = (0.55, 0.75)  # rad: in which the two-link arm is sketched
Place = Sequence[float] | np.ndarray


def frames(tree: Tree, q: Place) -> list[np.ndarray]:
    """Return the frames of all links, (4, 4) each, at coordinates (n,)."""
    return [np.array(pose, dtype=float) for pose in poses(tree, ca.DM(q))]


def spans(tree: Tree, q: Place) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return {link: (start, end)}, (3,) each, from its joint to its point or to the next joint."""
    placed = dict(zip(tree.names, frames(tree, q)))
    anchors = {joint.name: placed[joint.name][:3] @ [*joint.anchor, 1.0] for joint in tree.joints}
    parents = (joint.parent for joint in tree.joints)
    ends = {parent: anchors[joint.name] for parent, joint in zip(parents, tree.joints)}
    ends |= {point.link: placed[point.link][:3] @ [*point.position, 1.0] for point in tree.points}
    return {name: (anchors[name], ends[name]) for name in tree.names}


def sketch(axes: Any, tree: Tree, q: Place, *, plane: Sequence[int] = (0, 1)) -> Any:
    """Draw links, joints, mass centres and the ground's joints; return the spans of links."""
    drawn, shown = spans(tree, q), list(plane)
    for (start, end), pose, link in zip(drawn.values(), frames(tree, q), tree.links):
        axes.plot(
            *np.transpose([start[shown], end[shown]]),
            color=LINK,
            linewidth=7,
            solid_capstyle="round",
            alpha=0.35,
            zorder=2,
        )
        center = (pose[:3] @ [*link.com, 1.0])[shown]
        axes.plot(*center, marker="o", markersize=4, color=LINK, zorder=3)
    for joint in tree.joints:
        place = drawn[joint.name][0][shown]
        if joint.parent == GROUND:
            axes.plot(*place, marker="^", markersize=15, color="0.75", zorder=1)
        look: dict[str, Any] = {"color": LINK, "markerfacecolor": "white", "zorder": 4}
        marker = "s" if joint.kind == "prismatic" else "o"
        axes.plot(*place, marker=marker, markersize=9, **look)
    axes.set_aspect("equal")
    style(axes, *(f"{'xyz'[axis]} (m)" for axis in shown))
    return drawn


def arrow(
    axes: Any, start: Place, end: Place, label: str = "", colour: str = COLOURS[1], gap: float = 6
) -> None:
    """Draw an arrow between two places of the page's plane, its label `gap` pt beyond its end."""
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
    drawn = axes.annotate("", end, start, arrowprops=look, zorder=5, annotation_clip=False)
    drawn.set_in_layout(False)
    axes.update_datalim([start, end])
    axes.autoscale_view()
    way = np.subtract(end, start)
    way = gap * way / max(float(np.linalg.norm(way)), 1e-12)
    note(axes, end, label, way, colour)


def note(axes: Any, place: Place, label: str, shift: Place = (0, 0), colour: str = "0.1") -> None:
    """Write a label at a place, shifted by so many pt."""
    drawn = axes.annotate(
        label,
        place,
        shift,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=TEXT,
        color=colour,
        zorder=6,
        annotation_clip=False,
    )
    drawn.set_in_layout(False)


def angle(axes: Any, center: Place, start: float, turn: float, radius: float, label: str) -> None:
    """Draw an angle (rad) as an arc with an arrow from `start` on, about a centre."""
    way = start + np.linspace(0.0, turn, 40)
    arc = np.transpose(center) + radius * np.transpose([np.cos(way), np.sin(way)])
    axes.plot(*arc.T, color=COLOURS[0], linewidth=1.2, zorder=3)
    arrow(axes, arc[-3], arc[-1], colour=COLOURS[0])
    rest = np.array([np.zeros(2), 1.5 * radius * np.array([np.cos(start), np.sin(start)])])
    axes.plot(*(np.transpose(center) + rest).T, color="0.6", linewidth=0.8, linestyle=(0, (4, 2)))
    middle = start + turn / 2
    beyond = np.array([np.cos(middle), np.sin(middle)])
    note(axes, np.transpose(center) + radius * beyond, label, 11 * beyond, COLOURS[0])


def axes_of(axes: Any, pose: np.ndarray, size: float, name: str) -> None:
    """Draw the x and y axes of a frame (4, 4), `size` m long, and its origin."""
    origin = pose[:2, 3]
    for k, letter in enumerate("xy"):
        arrow(axes, origin, origin + size * pose[:2, k], f"{letter}{name}", COLOURS[2 - k])


def tabulate(
    axes: Any,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    height: float = 0.09,
    size: float = SMALL + 0.5,
) -> None:
    """Write a table into axes without frame, the first column to the left.

    `height`: of a row, as a share of the axes'; `size`: of the letters (pt).
    """
    axes.set_axis_off()
    drawn = axes.table([[*row] for row in rows], colLabels=[*header], loc="center")
    drawn.set_in_layout(False)
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(size)
    drawn.auto_set_column_width(range(len(header)))
    for (row, column), cell in drawn.get_celld().items():
        cell.set_height(height)
        cell.set_linewidth(0.4)
        cell.set_edgecolor("0.75")
        cell.set_text_props(ha="left" if column == 0 else "right")
        if row == 0:
            cell.set_facecolor("0.93")


def two_link_sketch(figure: Any, gravity: float, source: str) -> tuple[Any, np.ndarray]:
    """Sketch the two-link arm beside its data; return the sketch's axes and the tip's place (2,).

    `gravity` (m/s2); `source`: of the data.
    """
    tree = two_link(gravity=gravity)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    drawn = sketch(left, tree, POSTURE)
    (base, elbow), (_, tip) = ([end[:2] for end in ends] for ends in drawn.values())
    angle(left, base, 0.0, POSTURE[0], 0.14, "q1")
    angle(left, elbow, POSTURE[0], POSTURE[1], 0.12, "q2")
    for number, (start, end) in enumerate(((base, elbow), (elbow, tip)), 1):
        along = (end - start) / np.linalg.norm(end - start)
        aside = np.array([-along[1], along[0]])
        note(left, (start + end) / 2, f"L{number}, m{number}, I{number}", 28 * aside)
        note(left, start, f"τ{number}", 16 * aside, COLOURS[1])
    left.margins(0.2, 0.2)
    first, second = tree.links
    lower, upper = tree.joints[0].torque
    rows = (
        ("length", f"L1 = L2 = {np.linalg.norm(elbow - base):g} m"),
        ("mass", f"m1 = m2 = {first.mass:g} kg"),
        ("inertia", f"I1 = I2 = {np.array(second.inertia)[2][2]:g} kg m²"),
        ("centre of mass", f"({first.com[0]:g}, {first.com[1]:g}) m"),
        ("torque", f"{lower:g} to {upper:g} N m"),
    )
    tabulate(right, (source, "our model"), rows)
    return left, tip
