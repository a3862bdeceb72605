"""A motion as a scene: what is drawn of it, its stills on paper, and films as .gif or .mp4."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ocp.mechanics.values.types import Numbers
from ocp.plots.bodies.raster import SUN, Camera, Surface, corner_normals, render, shadow
from ocp.plots.bodies.scenery import Placed, extreme_points, main_plane, stands_out, tile
from ocp.plots.bodies.solid_triangles import coarsen_mesh, mean_cell
from ocp.plots.canvas import DPI, TEXT, Frame, Look, check_suffix, picture, style
from ocp.spelling import suggest_fields
from ocp.storage.atomic_files import write
from ocp.version import install_hint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

FILMS = (".gif", ".mp4", ".html")
STEEL, STONE, BONE = "#4d7ea8", "#a9adb2", "#39424e"  # bodies, scenery, rails and cables
EARTH, CENTRE = "#b5a68c", "#d62728"  # of the ground, and of the path of the centre of mass
BARS = {"link": (STEEL, 3.6), "slide": (BONE, 1.8), "stay": (BONE, 1.2)}  # without bodies; pt
SLACK, FULL = (0.13, 0.30, 0.85), (0.86, 0.10, 0.10)  # of muscles without activation, and at 1
STRAND = 2.0  # pt, of muscles
TRACED = 6  # points, of more only the centre of mass leaves a trace
SHORTEST = 1e-3  # of the extent: arrows that are drawn
MARGIN, NARROW = 0.55, 0.4  # of the extent: half of what is shown, and least share of the largest
STILL, MOVING = 600, 400  # pixels across a still, and a film
BUDGET = 30_000  # triangles of a still
MUSCLES = "muscles: blue to red as active"
DARK, PALE = 0.3, 0.9  # of the ground: a shadow, and the lines of its grid


@dataclass(frozen=True, slots=True)
class Strand:
    """A muscle as it is drawn: the numbers of the `places` that it runs over, and its `activation`
    (N,)."""

    places: Sequence[int]
    activation: np.ndarray


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Stick:
    """A motion as it is drawn: `places` (N, P, 3; m) at times `t` (N,), s, in global axes.

    It is seen along the global `axes`, three or the two of a plane, the last of which points `up`
    (1) or down (-1). `bars` {kind: pairs of places} are "link" where a link has no body, "bone"
    within bodies, "slide" of joints and "stay" of cables; `feet` (places on the ground), `tips`
    {name of point: place}, `arrows` {kind: pairs of places, tail and head}, none where both are one
    place, and their `colours` {kind: (colour, width)}; `muscles` run along places; `ends` are
    (phase, its end in s) of a motion that has phases. There are `solids`, and the corners (4, 3; m)
    of the ground's `floors`. Rows of `directions` (3, 3) are to the right, away and up as one sees
    it from the side; it is `weighty` if it has weight in what is seen. The place of the centre of
    mass is its `leader`, -1 if none.
    """

    t: np.ndarray
    places: np.ndarray
    axes: Sequence[str]
    up: int
    bars: Mapping[str, Sequence[tuple[int, int]]]
    feet: Sequence[int] = ()
    tips: Mapping[str, int] = field(default_factory=dict)
    colours: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    arrows: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    muscles: Sequence[Strand] = ()
    ends: Sequence[tuple[str, float]] = ()
    solids: Sequence[Placed] = ()
    floors: Sequence[np.ndarray] = ()
    directions: np.ndarray = field(default_factory=lambda: np.eye(3))
    weighty: bool = True
    leader: int = -1

    @property
    def flat(self) -> bool:
        """Whether it moves in a plane."""
        return len(self.axes) == 2

    @property
    def eye(self) -> tuple[float, float]:
        """Where it is seen from in space (rad): from the right toward away, and up."""
        if not self.flat:
            return -0.95, 0.24
        return (-1.2, 0.22) if self.weighty else (-1.45, 1.05)

    @property
    def traced(self) -> dict[str, int]:
        """The points whose paths are drawn, but for the centre of mass."""
        return dict(self.tips) if len(self.tips) <= TRACED else {}

    @property
    def extremes(self) -> np.ndarray:
        """Places (P, 3; m) that hold all that is drawn, but for the ground."""
        return np.concatenate([self.places.reshape(-1, 3), *extreme_points(self.solids)])

    def phase(self, k: int) -> str:
        """The name of the phase at instant k, "" where there are none."""
        names = [name for name, end in self.ends if self.t[k] < end] or [
            name for name, _ in self.ends[-1:]
        ]
        return names[0] if names else ""


@dataclass(frozen=True, slots=True)
class Bodies:
    """Surfaces of what is seen: `parts` of (poses (N or 1, 4, 4), surface in its own frame)."""

    parts: Sequence[tuple[np.ndarray, Surface]]

    def at(self, k: int) -> Surface:
        """Return all surfaces at instant k, in global axes."""
        corners, normals = [np.empty((0, 3, 3))], [np.empty((0, 3, 3))]
        for poses, part in self.parts:
            pose = poses[k if len(poses) > 1 else 0]
            corners.append(part.corners @ pose[:3, :3].T + pose[:3, 3])
            normals.append(part.normals @ pose[:3, :3].T)
        colours = [np.empty((0, 3)), *(part.colours for _, part in self.parts)]
        return Surface(np.concatenate(corners), np.concatenate(normals), np.concatenate(colours))

    def draw(self, axes: Frame, k: int, camera: Camera, scale: float, **looks: float) -> Artist:
        """Draw them at instant k, so many pixels in a metre; `looks`: as pale as `fade` says, a
        `shift` (m) to the right, `zorder`."""
        image, box = render(self.at(k), camera, scale)
        image[..., :3] += looks.get("fade", 0.0) * (1 - image[..., :3])
        left, right, low, high = box
        shift = looks.get("shift", 0.0)
        place = (left + shift, right + shift, low, high)
        return _place_image(axes, image, place, looks.get("zorder", 2.0))


@dataclass(frozen=True, slots=True)
class Stage:
    """Axes that hold a motion and its `bodies`, seen by a camera; the `plane` below it, a place and
    a normal, and how many `pixels` a picture has across."""

    axes: Frame
    stick: Stick
    camera: Camera
    bodies: Bodies
    plane: tuple[np.ndarray, np.ndarray]
    pixels: int


def film(path: str | Path, stick: Stick, seconds: float, rate: float) -> None:
    """Write a stick figure moving as .gif or .mp4, so many seconds at `rate` frames per second.

    Raises ValueError naming another suffix, and for .mp4 where there is no ffmpeg.
    """
    check_suffix(path, FILMS[:2])
    words, kind = pace(seconds, float(stick.t[-1])), Path(path).suffix.lower()
    prepare = partial(_prepare_film, stick=stick, words=words)
    write(path, film_bytes(prepare, len(stick.t), rate, kind=kind))


def pace(seconds: float, duration: float) -> str:
    """Return the pace at which a motion of `duration` (s) is played in so many `seconds`, in words:
    as "slowed 3 times", or "" where it plays as it is."""
    slower = seconds / duration
    times = float(f"{max(slower, 1 / slower):.2g}")
    if times == 1:
        return ""
    return f"{'slowed' if slower > 1 else 'sped up'} {times:g} times"


def stage(figure: Figure, spec: SubplotSpec, stick: Stick, pixels: int = STILL) -> Stage:
    """Return axes of equal scale that hold the whole motion, its ground and the paths of its
    points, in a cell `spec` of a figure's grid; pictures in it have so many pixels."""
    camera, axes = camera_of(stick), figure.add_subplot(spec)
    low, high = (bound(camera.flat(stick.extremes), axis=0) for bound in (np.min, np.max))
    middle, extent = (low + high) / 2, high - low
    half = MARGIN * np.maximum(extent, NARROW * extent.max() or NARROW)
    (left, bottom), (right, top) = middle - half, middle + half
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.autoscale(False)
    turned = stick.extremes @ stick.directions.T
    plane = main_plane(stick.floors, stick.directions, float(turned[:, 2].min()))
    if stick.flat:
        style(axes, *(f"{name} (m)" for name in stick.axes))
        axes.locator_params(nbins=4)
        axes.yaxis.set_inverted(stick.up < 0)
        _draw_edges(axes, stick, camera)
    else:
        axes.set_axis_off()
        _draw_tile(axes, stick, camera, plane, turned)
    for place in stick.traced.values():
        axes.plot(*camera.flat(stick.places[:, place]).T, color="0.6", linewidth=0.8, zorder=2.5)
    if stick.leader >= 0:
        path = camera.flat(stick.places[:, stick.leader])
        axes.plot(*path.T, color=CENTRE, linewidth=0.8, zorder=2.5)
    feet = camera.flat(stick.places[0, list(stick.feet)])
    axes.plot(*feet.T, linestyle="", marker="^", markersize=9, color="0.6", zorder=1.8)
    return Stage(axes, stick, camera, bodies_of(stick.solids, stick.floors, plane), plane, pixels)


def camera_of(stick: Stick) -> Camera:
    """Return the camera that looks at a motion: onto its plane, or from where it is seen in
    space."""
    _, away, up = stick.directions
    sun = SUN @ stick.directions / np.linalg.norm(SUN)
    if stick.flat:
        across, along = (np.eye(3)["xyz".index(name)] for name in stick.axes)
        return Camera(np.array([across, along, -away if stick.weighty else up]), up, sun)
    turn, rise = stick.eye
    out = np.array([np.cos(rise) * np.cos(turn), np.cos(rise) * np.sin(turn), np.sin(rise)])
    side = np.array([-np.sin(turn), np.cos(turn), 0.0])
    axes = np.array([side, np.cross(out, side), out]) @ stick.directions
    return Camera(axes, up, sun)


def bodies_of(
    solids: Sequence[Placed],
    floors: Sequence[np.ndarray] = (),
    plane: tuple[np.ndarray, np.ndarray] | None = None,
) -> Bodies:
    """Return the surfaces of solids, and of floors (4, 3; m) that stand out of a plane, if any."""
    size, parts = mean_cell([each.solid.corners for each in solids], BUDGET), []
    for each in solids:
        places, faces = coarsen_mesh(each.solid.corners, size)
        tone = np.array(rgb(colour_of(each)))
        colours = np.tile(tone, (len(faces), 1))
        surface = Surface(places[faces], corner_normals(places, faces), colours)
        parts.append((each.poses, surface))
    for patch in floors:
        if plane is not None and stands_out(patch, plane):
            side = np.cross(*np.diff(patch[:3], axis=0))
            ring = patch if side @ plane[1] > 0 else patch[::-1]  # seen from above
            corners = ring[np.array([[0, 1, 2], [0, 2, 3]])]
            normals = np.broadcast_to(np.abs(side @ plane[1]) * plane[1], corners.shape)
            surface = Surface(corners, normals, np.tile(rgb(EARTH), (2, 1)))
            parts.append((np.eye(4)[None], surface))
    return Bodies(parts)


def colour_of(each: Placed) -> str:
    """Return the colour of a solid, its own or that of bodies or of scenery."""
    own = each.solid.colour
    if own is None:
        return STONE if each.still else STEEL
    return "#" + "".join(f"{round(255 * part):02x}" for part in own[:3])


def activation_colour(activation: float) -> np.ndarray:
    """Return red, green and blue of a muscle, from blue at no activation to red at 1."""
    share = min(max(activation, 0.0), 1.0)
    return (1 - share) * np.array(SLACK) + share * np.array(FULL)


def rgb(colour: str) -> tuple[float, ...]:
    """Return red, green and blue, 0 to 1, of a colour as #rrggbb."""
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))


def _draw_edges(axes: Frame, stick: Stick, camera: Camera) -> None:
    """Draw patches of the ground as they are seen from the side."""
    for patch in stick.floors:
        corners = camera.flat(patch)
        along = corners[:, int(np.ptp(corners, axis=0).argmax())]
        ends = corners[[along.argmin(), along.argmax()]]  # farthest apart on the longer side
        axes.plot(*ends.T, color=EARTH, linewidth=1.6, zorder=1.2)


def _draw_tile(
    axes: Frame, stick: Stick, camera: Camera, plane: Numbers, turned: np.ndarray
) -> None:
    """Draw a rectangle of the plane below a motion, with a grid of round lengths."""
    from matplotlib.collections import LineCollection

    corners, lines = tile(plane, stick.directions, turned)
    axes.fill(*camera.flat(corners).T, facecolor="0.93", edgecolor="0.8", linewidth=0.6, zorder=1)
    grid = LineCollection(list(camera.flat(lines)), colors="0.82", linewidths=0.5, zorder=1.1)
    axes.add_collection(grid, autolim=False)
    seen = camera.flat(np.concatenate([corners, stick.extremes]))
    low, high = seen.min(axis=0), seen.max(axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def draw(stage: Stage, k: int, fade: float = 0.0) -> list[Artist]:
    """Draw a motion at instant k, as pale as `fade` (0 to 1) says; return what was drawn."""
    axes, stick, camera = stage.axes, stage.stick, stage.camera
    spots, drawn = camera.flat(stick.places[k]), []
    if stage.bodies.parts:
        scale = stage.pixels / float(np.ptp(axes.get_xlim()))
        if not stick.flat:
            dark, box = shadow(stage.bodies.at(k), stage.plane, camera, scale / 2)
            black = np.dstack([*[np.zeros_like(dark)] * 3, DARK * (1 - fade) * dark])
            drawn.append(_place_image(axes, black, box, 1.2))
        drawn.append(stage.bodies.draw(axes, k, camera, scale, fade=fade))
    for kind, (colour, width) in BARS.items():
        shade = np.array(rgb(colour))
        bar = {"color": shade + fade * (1 - shade), "linewidth": width, "solid_capstyle": "round"}
        pairs = stick.bars.get(kind, ())
        drawn += [axes.plot(*spots[list(pair)].T, **bar, zorder=2.2)[0] for pair in pairs]
    for muscle in stick.muscles:
        shade = activation_colour(float(muscle.activation[k]))
        look: Look = {"color": shade + fade * (1 - shade), "linewidth": STRAND, "zorder": 2.3}
        drawn += axes.plot(*spots[list(muscle.places)].T, **look, solid_capstyle="round")
    for kind, pairs in stick.arrows.items():
        tone, share = stick.colours[kind]
        for tail, head in pairs:
            if np.linalg.norm(spots[head] - spots[tail]) > SHORTEST * np.ptp(stick.places):
                drawn.append(_arrow(axes, spots[tail], spots[head], tone, 2.2 * share))
    return drawn


def _place_image(axes: Frame, image: np.ndarray, box: Numbers, zorder: float) -> Artist:
    limits = axes.get_xlim(), axes.get_ylim()
    look: Look = {"extent": box, "origin": "lower", "interpolation": "antialiased"}
    shown = axes.imshow(image, **look, aspect="equal", zorder=zorder)
    axes.set(xlim=limits[0], ylim=limits[1])
    return shown


def draw_impulses(stage: Stage) -> None:
    """Draw every impulse of a motion where it strikes."""
    stick = stage.stick
    for tail, head in stick.arrows.get("impulse", ()):
        lengths = np.linalg.norm(stick.places[:, head] - stick.places[:, tail], axis=1)
        spots, (colour, share) = stick.places[lengths.argmax()], stick.colours["impulse"]
        start, end = stage.camera.flat(spots[[tail, head]])
        _arrow(stage.axes, start, end, colour, 2.2 * share)


def _arrow(axes: Frame, tail: np.ndarray, head: np.ndarray, colour: str, width: float) -> Artist:
    frame: Look = {"arrowstyle": "-|>", "color": colour, "linewidth": width}
    frame |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 8}
    return axes.annotate("", head, tail, arrowprops=frame, zorder=4, annotation_clip=False)


def film_bytes(
    prepare: Callable[[Figure], Callable[[int], Sequence[Artist]]],
    count: int,
    rate: float,
    size: tuple[float, float] = (5.0, 4.5),
    kind: str = ".gif",
) -> bytes:
    """Return a film of `count` frames, `rate` a second, of pages of that `size` (in).

    Its `kind` is .gif or .mp4. prepare(figure) sets the scene and returns act(k) -> what it drew
    for frame k. Raises ValueError for .mp4 where there is no ffmpeg.
    """
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter, PillowWriter

    program = {"animation.ffmpeg_path": ffmpeg()} if kind == ".mp4" else {}
    drawn: Sequence[Artist] = ()
    with (
        picture(None, *size) as figure,
        tempfile.TemporaryDirectory() as folder,
        rc_context(program),  # type: ignore[arg-type]
    ):
        frames: Any = rate  # frames a second, whole ones or not
        writer = FFMpegWriter(frames, codec="h264") if program else PillowWriter(frames)
        act, path = prepare(figure), Path(folder) / f"film{kind}"
        writer.setup(figure, path, DPI if program else DPI / 2)
        for k in range(count):
            for artist in drawn:
                artist.remove()
            drawn = act(k)
            writer.grab_frame()
            figure.set_layout_engine("none")  # laid out for the first frame, kept for all
        writer.finish()
        return path.read_bytes()


def ffmpeg() -> str:
    """Return the path of the program ffmpeg, of the extra `film` or of the system; raise ValueError
    if there is neither."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        known = shutil.which("ffmpeg")
    if known is None:
        raise ValueError(f"a film as .mp4 needs ffmpeg: {install_hint('film')}")
    return known


def _prepare_film(figure: Figure, stick: Stick, words: str) -> Callable[[int], Sequence[Artist]]:
    scene = stage(figure, figure.add_gridspec(1, 1)[0], stick, MOVING)

    def act(k: int) -> Sequence[Artist]:
        said = [f"t = {stick.t[k]:.4f} s", words, stick.phase(k), MUSCLES if stick.muscles else ""]
        scene.axes.set_title(",  ".join(filter(None, said)), fontsize=TEXT)
        return draw(scene, k)

    return act
