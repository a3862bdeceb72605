"""Bodies on their feet: figures of bars with the ground's forces, from the sides and from above.

What a body looks like is said once, in a `Body`; a `Scene` holds where its points and forces are at
some instants, and these functions draw it into axes that they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ocp.certificate.contact_violations import FAINT
from ocp.mechanics.kinematics.zero_moment import body_weight, convex_hull
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.plots.bodies.animation import Bodies, bodies_of
from ocp.plots.bodies.raster import SUN, Camera
from ocp.plots.bodies.scenery import placed_solids
from ocp.plots.canvas import SMALL, Look, pixels_in_unit, style
from ocp.problem.contact.ground import Ground
from ocp.problem.instant import Instant
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.solution.sampling import traces
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

ROUND = np.array([(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 2 * np.pi, 48)])
CLEAR = 0.16  # of a plan's width: from label to label
BESIDE = 0.05  # m: between the last figure of a strip and the edge
OWN = 0.92  # of the pitch: how much of a floor is drawn under each figure
SOLE = 0.03  # m: by which points of the body may sink that stand
ARROW = 0.6  # m: length of a force of one body weight
SHARP = 260.0  # pixels in a metre, at most
UP = np.array([0.0, 1.0, 0.0])  # of all that stands in a Scene
HEAD = "-|>,head_width=0.12,head_length=0.3"  # of a force


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """How a body is drawn, farthest part first: by bars where a Scene has no bodies, else these and
    of the parts and balls those `beside`.

    `bars` {part: pairs of points}, `balls` {point: (part, radius in m)}, `colours` {part or foot:
    colour}, and the colour of a `force`; a figure stands where its point `middle` is.
    """

    bars: Mapping[str, Sequence[tuple[str, str]]]
    colours: Mapping[str, str]
    middle: str
    force: str
    balls: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    beside: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A body at times `t` (N,): `points` {name: (3, N), m} and the zero moment point `zmp` (3, N).

    Of each foot the `forces` (3, N; body weights) and `pressures` (3, N; m, not a number while the
    force is faint); its `bodies` if they are drawn.
    """

    t: np.ndarray
    points: Mapping[str, np.ndarray]
    forces: Mapping[str, np.ndarray]
    pressures: Mapping[str, np.ndarray]
    zmp: np.ndarray
    ground: Ground
    bodies: Bodies | None = None


def scene(
    solution: Solution,
    t: np.ndarray,
    points: Mapping[str, Callable[[Instant], Matrix]],
    *,
    bodies: bool = False,
) -> Scene:
    """Return the Scene of a Solution at times (N,); `points`: {name: function(Instant) -> (3,)}.

    It has `bodies` if they are wanted. Raises ValueError if the problem has no ground.
    """
    refuse_phases("scene", solution.problem)
    ground, weight = solution.problem.ground, body_weight(solution.problem.tree)
    if ground is None:
        raise ValueError("scene: the problem has no ground to stand on")
    asked = {f"point {name}": function for name, function in points.items()}
    asked["zmp"] = lambda at: at.reaction.pressure()
    for foot in ground.feet:
        asked[f"force {foot.name}"] = partial(_share, "force", foot.name, weight)
        asked[f"lever {foot.name}"] = partial(_share, "lever", foot.name, weight)
    traced = traces(solution, asked, t)
    forces = {foot.name: traced[f"force {foot.name}"] for foot in ground.feet}
    pressures = {}
    for name, force in forces.items():
        push = np.array(ground.normal) @ force
        nowhere = np.full_like(force, np.nan)
        lever = traced[f"lever {name}"]
        pressures[name] = np.divide(lever, push, out=nowhere, where=push > FAINT)
    return Scene(
        t=np.asarray(t),
        points={name: traced[f"point {name}"] for name in points},
        forces=forces,
        pressures=pressures,
        zmp=traced["zmp"],
        ground=ground,
        bodies=bodies_of(placed_solids(solution, np.asarray(t))) if bodies else None,
    )


def _share(quantity: str, foot: str, weight: float, at: Instant) -> Matrix:
    """Return force or lever of a foot, of the weight."""
    return getattr(at.reaction, quantity)(foot) / weight


def show(
    axes: Axes,
    scene: Scene,
    body: Body,
    k: int,
    plane: Sequence[int],
    shift: float = 0.0,
    width: float = 1.6,
) -> list[Artist]:
    """Draw the body at instant k, seen in the plane of two global axes; return what was drawn.

    It is moved by `shift` (m) along the first of them, with bars of that width (pt).
    """
    plane, move = list(plane), np.array([shift, 0.0])
    spots = {name: place[plane, k] + move for name, place in scene.points.items()}
    drawn: list[Artist] = []
    plain = scene.bodies is None
    if scene.bodies is not None:
        axis = np.eye(3)[plane]
        toward = np.cross(*axis)
        camera = Camera(np.array([*axis, toward]), UP, UP * SUN[2] - SUN[1] * toward)
        scale = min(SHARP, pixels_in_unit(axes))
        drawn.append(scene.bodies.draw(axes, k, camera, scale, shift=shift, zorder=2.5))
    for layer, (part, pairs) in enumerate(body.bars.items()):
        if not (plain or part in body.beside):
            continue
        look: Look = {
            "color": body.colours[part],
            "linewidth": width,
            "solid_capstyle": "round",
            "solid_joinstyle": "round",
            "zorder": 3 + layer,
        }
        gap = np.full(2, np.nan)  # between bars, which are one line
        line = [place for a, b in pairs for place in (spots[a], spots[b], gap)]
        drawn += axes.plot(*np.array(line).T, **look)
    for name, (part, radius) in body.balls.items():
        if not (plain or name in body.beside):
            continue
        look = {"facecolor": "white", "edgecolor": body.colours[part], "linewidth": width}
        drawn += axes.fill(*(spots[name] + radius * ROUND).T, **look, zorder=4)
    for foot, force in scene.forces.items():
        start = scene.pressures[foot][plane, k] + move
        if np.isfinite(start).all():
            end = start + ARROW * force[plane, k]
            drawn.append(_arrow(axes, start, end, HEAD, body.force, 0.8 * width))
    return drawn


def _arrow(
    axes: Axes, start: Numbers, end: Numbers, head: str, colour: str, width: float
) -> Artist:
    look: Look = {
        "arrowstyle": head,
        "color": colour,
        "linewidth": width,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    return axes.annotate("", end, start, arrowprops=look, zorder=8, annotation_clip=False)


def strip(
    axes: Axes,
    scene: Scene,
    body: Body,
    plane: Sequence[int],
    pitch: float,
    labels: Sequence[str],
    floor: Sequence[np.ndarray] = (),
) -> None:
    """Draw the body at all instants side by side, `pitch` (m) apart, each over its label.

    On a line for the ground, or on lines (2, k) of a `floor` in this plane, and true to scale. The
    last one may reach farther ahead than half of that, as with a box in its hands.
    """
    from matplotlib.patches import Rectangle

    radii = {name: radius for name, (_, radius) in body.balls.items()}
    middle = scene.points[body.middle][plane[0], -1]
    ahead = max(place[plane[0], -1] for place in scene.points.values()) - middle + BESIDE
    top = max(place[plane[1]].max() + radii.get(name, 0.0) for name, place in scene.points.items())
    low = min(place[plane[1]].min() for place in scene.points.values())
    low = min(0.0, low + SOLE)  # on stairs
    right = (len(labels) - 1) * pitch + max(0.55 * pitch, ahead)
    axes.set(xlim=(-0.55 * pitch, right), ylim=(low - 0.3, top + 0.02))
    axes.set_aspect("equal")
    axes.set_axis_off()
    look: Look = {"color": "0.5", "linewidth": 0.8, "zorder": 1}
    if not len(floor):
        axes.axhline(0.0, **look)
    for k, label in enumerate(labels):
        shift = k * pitch - scene.points[body.middle][plane[0], k]
        for along, up in floor:
            (line,) = axes.plot(along + shift, up, **look)
            corner, high = ((k - OWN / 2) * pitch, low - CLEAR), top - low + CLEAR
            line.set_clip_path(Rectangle(corner, OWN * pitch, high, transform=axes.transData))
        show(axes, scene, body, k, plane, shift)
        axes.text(k * pitch, low - 0.07, label, ha="center", va="top", fontsize=SMALL)


def rulers(axes: Axes, body: Body, x: float) -> None:
    """Draw from x on, at the foot of a strip, how long half a metre is, and a force of one body
    weight."""
    y = axes.get_ylim()[0] + 0.03
    for shift, length, text, colour, head in (
        (0.0, 0.5, "0.5 m", "0.3", "|-|,widthA=0.2,widthB=0.2"),
        (1.2, ARROW, "1 body weight", body.force, HEAD),
    ):
        start, end = x + shift, x + shift + length
        _arrow(axes, (start, y), (end, y), head, colour, 1.2)
        axes.text(end + 0.05, y, text, va="center", fontsize=SMALL)


def plan(axes: Axes, scene: Scene, body: Body, plane: Sequence[int], s: np.ndarray) -> list[Artist]:
    """Draw the ground from above; return the legend's handles.

    The polygon of every support, the paths of the centres of pressure, and that of the zero moment
    point with dots where the way of standing changes; `s` (N,) are the instants of the scene in
    [0, 1].
    """
    plane, handles = list(plane), _supports(axes, scene, body, list(plane))
    handles += axes.plot(
        *scene.zmp[plane], color="black", linewidth=1.6, zorder=4, label="zero moment point (ZMP)"
    )
    edges = [0.0, *scene.ground.switches, 1.0]
    places = np.array([scene.zmp[plane, np.argmin(np.abs(s - edge))] for edge in edges])
    dots: Look = {"marker": "o", "markersize": 4, "markerfacecolor": "white", "color": "black"}
    axes.plot(*places.T, linestyle="", **dots, zorder=5)
    _label_changes(axes, edges, places)
    style(axes, f"{'xyz'[plane[0]]} (m)", f"{'xyz'[plane[1]]} (m)")
    axes.set_aspect("equal")
    return handles


def _supports(axes: Axes, scene: Scene, body: Body, plane: list[int]) -> list[Artist]:
    """Draw all supports' polygons and the centres of pressure; return handles of these."""
    handles: list[Artist] = []
    for foot in scene.ground.feet:
        colour = body.colours[foot.name]
        look: Look = {"facecolor": (colour, 0.10), "edgecolor": (colour, 0.9), "linewidth": 0.8}
        for support in foot.supports:
            corners = convex_hull(support.polygon, scene.ground.normal)[:, plane]
            axes.fill(*corners.T, **look, zorder=2)
        handles += axes.plot(
            *scene.pressures[foot.name][plane],
            color=colour,
            linewidth=1.2,
            linestyle=(0, (4, 1.5)),
            zorder=3,
            label=f"centre of pressure, {foot.name} foot",
        )
    return handles


def _label_changes(axes: Axes, edges: Sequence[float], places: np.ndarray) -> None:
    """Write above and below in turn, clear of the polygons, at what s the places are reached.

    Labels on one side keep clear of one another.
    """
    low, high = axes.dataLim.intervaly
    margin = 0.12 * (high - low)
    axes.set_ylim(low - 2 * margin, high + 2 * margin)
    thread: Look = {
        "arrowstyle": "-",
        "linewidth": 0.5,
        "color": "0.4",
        "shrinkA": 1,
        "shrinkB": 2.5,
    }
    free = {0: -np.inf, 1: -np.inf}  # where the next label may be, above and below
    room = CLEAR * np.ptp(axes.get_xlim())
    for k in np.argsort(places[:, 0], kind="stable").tolist():
        edge, place = edges[k], places[k]
        x = max(place[0], free[k % 2])
        free[k % 2] = x + room
        axes.annotate(
            f"s = {edge:g}",
            place,
            (x, low - margin if k % 2 else high + margin),
            ha="center",
            va="center",
            fontsize=SMALL,
            zorder=6,
            arrowprops=thread,
        )
