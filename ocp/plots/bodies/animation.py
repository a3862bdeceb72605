"""Stick figures that move: as .gif or .mp4, or as a page of HTML that plays by itself."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ocp.plots.bodies.scenery import BODY, STILL, Placed, draw_solid, draw_still, extreme_points
from ocp.plots.canvas import COLOURS, DPI, TEXT, check_suffix, picture, style
from ocp.spelling import suggest_fields
from ocp.storage.atomic_files import write
from ocp.version import install_hint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILMS = (".gif", ".mp4", ".html")
GREY_TONE = "#8c8c8c"  # of scenery without a colour of its own
PLAYER = Path(__file__).with_name("player.html")
BARS = {"link": (1.0, ()), "slide": (0.5, (6, 4)), "stay": (0.4, ())}  # width in a page, dash (px)
MARKS = {"fixed": (".", 4), "prismatic": ("s", 6), "screw": ("D", 4), "revolute": ("o", 4)}
TALL = 480  # px: a page within a notebook
MANY, THIN = 16, 0.6  # links; more are drawn thinner, by this factor
SHORTEST = 1e-3  # of the extent: arrows that are drawn
MARGIN, NARROW = 0.55, 0.4  # of the extent: half of what is shown, and least share of the largest


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Stick:
    """A stick figure: `places` (N, P, 2 or 3; m) at times `t` (N,), s.

    They are along the global `axes`, the last of which points `up` (1) or down (-1). `bars` {kind:
    pairs of places}, `hubs` {kind of joint: places}, `feet` (places on the ground), `tips` {name of
    point: place}, and `colours` {kind of bar: (colour, width)} of bars that have their own, width 1
    being a link's. `arrows` {kind: pairs of places, tail and head}, none where both are one place;
    `ends` are (phase, its end in s) of a motion that has phases. About the figure are `solids`, and
    below it the corners (4, 3; m) of the ground's `floors`, both in all three global axes.
    """

    t: np.ndarray
    places: np.ndarray
    axes: Sequence[str]
    up: int
    bars: Mapping[str, Sequence[tuple[int, int]]]
    hubs: Mapping[str, Sequence[int]] = field(default_factory=dict)
    feet: Sequence[int] = ()
    tips: Mapping[str, int] = field(default_factory=dict)
    colours: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    arrows: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    ends: Sequence[tuple[str, float]] = ()
    solids: Sequence[Placed] = ()
    floors: Sequence[np.ndarray] = ()

    @property
    def axis_numbers(self) -> list[int]:
        """Which of the global axes it is drawn along."""
        return ["xyz".index(name) for name in self.axes]

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest place (2 or 3; m) of all that is drawn, but for the ground."""
        about = [points[:, self.axis_numbers] for points in extreme_points(self.solids)]
        every = np.concatenate([self.places.reshape(-1, len(self.axes)), *about])
        return every.min(axis=0), every.max(axis=0)

    @property
    def flat(self) -> bool:
        """Whether it is drawn in a plane."""
        return len(self.axes) == 2

    def phase(self, k: int) -> str:
        """The name of the phase at instant k, "" where there are none."""
        names = [name for name, end in self.ends if self.t[k] < end] or [
            name for name, _ in self.ends[-1:]
        ]
        return names[0] if names else ""


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page of HTML that plays a motion by itself, shown where a notebook shows a value.

    `text` is the page, as a file or a browser takes it.
    """

    text: str

    def __repr__(self) -> str:
        return f"Page({len(self.text.encode())} bytes of HTML, shown by notebooks)"

    def _repr_html_(self) -> str:
        frame = f"style='width:100%; height:{TALL}px; border:0'"
        return f"<iframe {frame} srcdoc='{escape(self.text, quote=True)}'></iframe>"


def film(path: str | Path, stick: Stick, seconds: float, rate: float) -> None:
    """Write a stick figure moving as .gif, .mp4 or .html, so many seconds at `rate` frames per
    second.

    Raises ValueError naming another suffix, and for .mp4 where there is no ffmpeg.
    """
    check_suffix(path, FILMS)
    kind = Path(path).suffix.lower()
    if kind == ".html":
        write(path, page_of(stick, seconds).text)
    else:
        words = pace(seconds, float(stick.t[-1]))
        frames = len(stick.t)
        write(
            path,
            film_bytes(lambda figure: _prepare_film(figure, stick, words), frames, rate, kind=kind),
        )


def pace(seconds: float, duration: float) -> str:
    """Return the pace at which a motion of `duration` (s) is played in so many `seconds`, in words:
    as "slowed 3 times", or "" where it plays as it is."""
    slower = seconds / duration
    times = float(f"{max(slower, 1 / slower):.2g}")
    if times == 1:
        return ""
    return f"{'slowed' if slower > 1 else 'sped up'} {times:g} times"


def stage(figure: Figure, spec: Any, stick: Stick) -> Any:
    """Return axes of equal scale that hold the whole motion and the paths of its points."""
    low, high = stick.bounds
    extent = high - low
    middle, half = (low + high) / 2, MARGIN * np.maximum(extent, NARROW * extent.max() or NARROW)
    axes: Any = figure.add_subplot(spec, projection=None if stick.flat else "3d")
    style(axes, *(f"{name} (m)" for name in stick.axes[:2]))
    for axis, limits in zip("xyz", np.transpose([middle - half, middle + half])):
        axes.set(**{f"{axis}lim": limits})
    axes.locator_params(nbins=4)
    if stick.flat:
        axes.set_aspect("equal")
    else:
        axes.set_zlabel(f"{stick.axes[2]} (m)", fontsize=TEXT)
        axes.set_box_aspect(half, zoom=0.8)
    (axes.yaxis if stick.flat else axes.zaxis).set_inverted(stick.up < 0)
    draw_still(axes, stick.solids, stick.floors, stick.axis_numbers)
    for place in stick.tips.values():
        axes.plot(*stick.places[:, place].T, color="0.6", linewidth=0.8, zorder=1.8)
    feet = stick.places[0, list(stick.feet)].T
    axes.plot(*feet, linestyle="", marker="^", markersize=9, color="0.6", zorder=1.8)
    return axes


def draw(
    axes: Any, stick: Stick, k: int, colour: Any, width: float = 2.2, bodies: bool = True
) -> list[Artist]:
    """Draw the figure at instant k with bars of that width (pt); return what was drawn.

    With or without the `bodies` about the bars.
    """
    spots = stick.places[k]
    drawn: list[Artist] = []
    for each in stick.solids if bodies else ():
        if not each.still:
            drawn += draw_solid(axes, each, k, stick.axis_numbers, colour, BODY)
    size = 1.0 if len(stick.bars.get("link", ())) <= MANY else THIN
    for kind, pairs in stick.bars.items():
        look = {
            "color": colour,
            "linestyle": (0, (2, 1)) if kind == "slide" else "-",
            "linewidth": size * width * (BARS["stay"][0] if kind == "stay" else 1.0),
            "solid_capstyle": "round",
            "zorder": 2,
        }
        drawn += [axes.plot(*spots[list(pair)].T, **look)[0] for pair in pairs]
    for kind, (marker, diameter) in MARKS.items():
        drawn += axes.plot(
            *spots[list(stick.hubs.get(kind, ()))].T,
            linestyle="",
            marker=marker,
            markersize=size * diameter,
            color=colour,
            markerfacecolor="white",
            markeredgewidth=0.9,
            zorder=3,
        )
    for kind, pairs in stick.arrows.items():
        tone, share = stick.colours[kind]
        for tail, head in pairs:
            if np.linalg.norm(spots[head] - spots[tail]) > SHORTEST * np.ptp(stick.places):
                drawn.append(_arrow(axes, spots[tail], spots[head], tone, share * width))
    return drawn


def draw_impulses(axes: Any, stick: Stick) -> None:
    """Draw every impulse of a motion where it strikes."""
    for tail, head in stick.arrows.get("impulse", ()):
        lengths = np.linalg.norm(stick.places[:, head] - stick.places[:, tail], axis=1)
        spots, (colour, share) = stick.places[lengths.argmax()], stick.colours["impulse"]
        _arrow(axes, spots[tail], spots[head], colour, 2.2 * share)


def _arrow(axes: Any, tail: np.ndarray, head: np.ndarray, colour: str, width: float) -> Artist:
    """Draw an arrow; in space a line whose tail has a dot."""
    if len(tail) > 2:
        ends = np.transpose([tail, head])
        look = {"color": colour, "linewidth": width, "zorder": 4}
        return axes.plot(*ends, marker=".", markersize=4, markevery=[0], **look)[0]
    frame: dict[str, Any] = {"arrowstyle": "-|>", "color": colour, "linewidth": width}
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
        writer: Any = FFMpegWriter(frames, codec="h264") if program else PillowWriter(frames)
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
    axes: Axes = stage(figure, figure.add_gridspec(1, 1)[0], stick)

    def act(k: int) -> Sequence[Artist]:
        said = [f"t = {stick.t[k]:.4f} s", words, stick.phase(k)]
        axes.set_title(",  ".join(filter(None, said)), fontsize=TEXT)
        return draw(axes, stick, k, COLOURS[0])

    return act


def page_of(stick: Stick, seconds: float) -> Page:
    """Return a page that plays the motion: the player, and frames as JSON."""
    signs = np.array([*[1] * (len(stick.axes) - 1), stick.up])
    frames, bounds = (stick.places * signs).round(6), np.array(stick.bounds) * signs
    right, upward = stick.axes[0], f"{stick.axes[1]} {'up' if stick.up > 0 else 'down'}"
    data = {
        "t": stick.t.tolist(),
        "places": frames.tolist(),
        "low": bounds.min(axis=0).tolist(),
        "size": np.ptp(bounds, axis=0).tolist(),
        "seconds": seconds,
        "note": f"{right} to the right, {upward}" if stick.flat else "drag to turn, wheel to zoom",
        "looks": {kind: _look(stick, kind) for kind in (*stick.bars, *stick.arrows)},
        "bars": dict(stick.bars),
        "hubs": dict(stick.hubs),
        "feet": list(stick.feet),
        "tips": dict(stick.tips),
        "arrows": dict(stick.arrows),
        "ends": [[name, end] for name, end in stick.ends],
        "floors": [
            (floor[:, stick.axis_numbers] * signs).round(5).tolist() for floor in stick.floors
        ],
        "solids": [_solid(stick, each, signs) for each in stick.solids],
    }
    player = PLAYER.read_text(encoding="utf-8")
    return Page(player.replace("@DATA@", json.dumps(data).replace("<", "\\u003c")))


def _solid(stick: Stick, each: Placed, signs: np.ndarray) -> dict[str, Any]:
    """Return a solid for the player: points of its outline, and rows of its poses along the axes
    that are shown, one after the other, of every frame or once."""
    own = each.solid.colour
    colour = (GREY_TONE if each.still else COLOURS[0]) if own is None else _hex(own)
    rows = each.poses[:, stick.axis_numbers] * signs[:, None]
    return {
        "points": each.solid.outline.round(5).tolist(),
        "moves": rows.reshape(len(rows), -1).round(5).tolist(),
        "colour": colour,
        "opacity": (STILL if each.still else BODY) * (1.0 if own is None else own[3]),
    }


def _hex(colour: Sequence[float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour[:3])


def _look(stick: Stick, kind: str) -> tuple[str, float, Sequence[int]]:
    """Return colour, width and dash (px) of the bars of a kind."""
    width, dash = BARS.get(kind, BARS["link"])
    return (*stick.colours.get(kind, (COLOURS[0], width)), dash)
