"""Bodies on their feet: figures of bars between named points with the ground's forces, from the side and from the front, and from above.

What a body looks like is said once, in a `Body`; a `Scene` holds where its points and forces are at some instants, and these functions draw
it into axes that they are given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ocp.mechanics.zero_moment import body_weight, hull
from ocp.plots.canvas import SMALL, style
from ocp.problem.ground import Ground
from ocp.solution.standing import FAINT, traces

ROUND = np.array([(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 2 * np.pi, 48)])
ARROW = 0.6  # m: length of a force of one body weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """How a body is drawn, farthest part first: `bars` {part: pairs of points}, `balls` {point: (part, radius in m)}, `colours` {part or foot:
    colour}, and the colour of a `force`; a figure stands where its point `middle` is."""

    bars: Mapping
    colours: Mapping
    middle: str
    force: str
    balls: Mapping = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A body at times `t` (N,): `points` {name: (3, N), m}, of each foot the `forces` (3, N; body weights) and `pressures` (3, N; m, not a
    number while the force is faint), the zero moment point `zmp` (3, N)."""

    t: np.ndarray
    points: Mapping
    forces: Mapping
    pressures: Mapping
    zmp: np.ndarray
    ground: Ground


def scene(solution, t, points):
    """Return the Scene of a Solution; `points` are {name: function(Instant) -> (3,)}."""
    ground, weight = solution.problem.ground, body_weight(solution.problem.tree)
    wanted = {f"point {name}": function for name, function in points.items()} | {
        "zmp": lambda at: at.reaction.pressure()
    }
    for foot in ground.feet:
        wanted |= {
            f"force {foot.name}": lambda at, name=foot.name: at.reaction.force(name) / weight,
            f"lever {foot.name}": lambda at, name=foot.name: at.reaction.lever(name) / weight,
        }
    found = traces(solution, wanted, t)
    forces = {foot.name: found[f"force {foot.name}"] for foot in ground.feet}
    pressures = {}
    for name, force in forces.items():
        push = np.array(ground.normal) @ force
        pressures[name] = np.divide(
            found[f"lever {name}"], push, out=np.full_like(force, np.nan), where=push > FAINT
        )
    return Scene(
        t=np.asarray(t),
        points={name: found[f"point {name}"] for name in points},
        forces=forces,
        pressures=pressures,
        zmp=found["zmp"],
        ground=ground,
    )


def show(axes, scene, body, k, plane, shift=0.0, width=1.6):
    """Draw the body at instant k, seen in the plane of two global axes, moved by `shift` (m) along the first; return what was drawn."""
    plane, move, drawn = list(plane), np.array([shift, 0.0]), []
    spots = {name: place[plane, k] + move for name, place in scene.points.items()}
    for layer, (part, pairs) in enumerate(body.bars.items()):
        look = {
            "color": body.colours[part],
            "linewidth": width,
            "solid_capstyle": "round",
            "solid_joinstyle": "round",
            "zorder": 3 + layer,
        }
        drawn += [axes.plot(*np.transpose([spots[a], spots[b]]), **look)[0] for a, b in pairs]
    for name, (part, radius) in body.balls.items():
        drawn += axes.fill(
            *(spots[name] + radius * ROUND).T,
            facecolor="white",
            edgecolor=body.colours[part],
            linewidth=width,
            zorder=4,
        )
    for foot, force in scene.forces.items():
        start = scene.pressures[foot][plane, k] + move
        if np.isfinite(start).all():
            arrow = {
                "arrowstyle": "-|>,head_width=0.12,head_length=0.3",
                "color": body.force,
                "linewidth": 0.8 * width,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            drawn.append(
                axes.annotate(
                    "",
                    start + ARROW * force[plane, k],
                    start,
                    arrowprops=arrow,
                    zorder=8,
                    annotation_clip=False,
                )
            )
    return drawn


def strip(axes, scene, body, plane, pitch, labels):
    """Draw the body at all instants side by side, `pitch` (m) apart, each over its label, on a line for the ground; true to scale."""
    for k, label in enumerate(labels):
        show(axes, scene, body, k, plane, k * pitch - scene.points[body.middle][plane[0], k])
        axes.text(k * pitch, -0.07, label, ha="center", va="top", fontsize=SMALL)
    axes.axhline(0.0, color="0.5", linewidth=0.8, zorder=1)
    top = max(
        place[plane[1]].max() + body.balls.get(name, ("", 0.0))[1]
        for name, place in scene.points.items()
    )
    axes.set(
        xlim=(-0.55 * pitch, (len(labels) - 0.45) * pitch), ylim=(-0.3, top + 0.02), aspect="equal"
    )
    axes.set_axis_off()


def rulers(axes, body, x, y):
    """Draw, side by side from the place (x, y), how long half a metre is and a force of one body weight."""
    for shift, length, text, colour, head in (
        (0.0, 0.5, "0.5 m", "0.3", "|-|,widthA=0.2,widthB=0.2"),
        (1.2, ARROW, "1 body weight", body.force, "-|>,head_width=0.12,head_length=0.3"),
    ):
        arrow = {"arrowstyle": head, "color": colour, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        axes.annotate(
            "", (x + shift + length, y), (x + shift, y), arrowprops=arrow, annotation_clip=False
        )
        axes.text(x + shift + length + 0.05, y, text, va="center", fontsize=SMALL)


def plan(axes, scene, body, plane, s):
    """Draw the ground from above: the polygon of every support, the paths of the centres of pressure, and that of the zero moment point with
    dots where the way of standing changes; `s` (N,) are the instants of the scene in [0, 1]. Return the legend's handles."""
    plane, handles = list(plane), []
    for foot in scene.ground.feet:
        colour = body.colours[foot.name]
        for support in foot.supports:
            corners = hull(support.polygon, scene.ground.normal)[:, plane]
            axes.fill(
                *corners.T,
                facecolor=(colour, 0.10),
                edgecolor=(colour, 0.9),
                linewidth=0.8,
                zorder=2,
            )
        handles += axes.plot(
            *scene.pressures[foot.name][plane],
            color=colour,
            linewidth=1.2,
            linestyle=(0, (4, 1.5)),
            zorder=3,
            label=f"centre of pressure, {foot.name} foot",
        )
    handles += axes.plot(
        *scene.zmp[plane], color="black", linewidth=1.6, zorder=4, label="zero moment point (ZMP)"
    )
    edges = [0.0, *scene.ground.switches, 1.0]
    places = [scene.zmp[plane, np.argmin(np.abs(s - edge))] for edge in edges]
    axes.plot(
        *np.transpose(places),
        linestyle="",
        marker="o",
        markersize=4,
        markerfacecolor="white",
        color="black",
        zorder=5,
    )
    low, high = axes.dataLim.intervaly
    margin = 0.12 * (high - low)
    axes.set_ylim(low - 2 * margin, high + 2 * margin)
    for k, (edge, place) in enumerate(
        zip(edges, places)
    ):  # labels above and below in turn, clear of the polygons
        axes.annotate(
            f"s = {edge:g}",
            place,
            (place[0], low - margin if k % 2 else high + margin),
            ha="center",
            va="center",
            fontsize=SMALL,
            zorder=6,
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.5,
                "color": "0.4",
                "shrinkA": 1,
                "shrinkB": 2.5,
            },
        )
    style(axes, f"{'xyz'[plane[0]]} (m)", f"{'xyz'[plane[1]]} (m)")
    axes.set_aspect("equal")
    return handles
