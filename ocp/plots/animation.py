"""Stick figures that move: as .gif, or as a page of HTML that plays by itself and needs nothing else."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ocp.plots.canvas import COLOURS, DPI, TEXT, check_suffix, picture, style
from ocp.solution.files import write

FILMS = (".gif", ".html")
BARS = {"link": (1.0, ()), "slide": (0.5, (6, 4))}  # width in a page, dash (px)
MARKS = {"fixed": (".", 4), "prismatic": ("s", 6), "screw": ("D", 4), "revolute": ("o", 4)}
MANY = 16  # links; if there are more they are drawn thinner


@dataclass(frozen=True, slots=True, kw_only=True)
class Stick:
    """A stick figure: `places` (N, P, 2 or 3; m) at times `t` (N,) along the global `axes`, the last of which points `up` (1) or down (-1).

    `bars` {kind: pairs of places}, `hubs` {kind of joint: places}, `feet` (places on the ground), `tips` {name of point: place}, and
    `colours` {kind of bar: (colour, width)} of bars that have their own, width 1 being a link's.
    """

    t: np.ndarray
    places: np.ndarray
    axes: list
    up: int
    bars: Mapping
    hubs: Mapping = field(default_factory=dict)
    feet: list = field(default_factory=list)
    tips: Mapping = field(default_factory=dict)
    colours: Mapping = field(default_factory=dict)


def film(path, stick, seconds, rate):
    """Write the figure moving, for so many seconds at `rate` frames per second, as .gif or .html; raise ValueError naming another suffix."""
    check_suffix(path, FILMS)
    write(
        path,
        _page(stick, seconds)
        if Path(path).suffix.lower() == ".html"
        else gif(lambda figure: _acted(figure, stick), len(stick.t), rate),
    )


def stage(figure, spec, stick):
    """Return axes of equal scale, in the plane or in space, that hold the whole motion and the paths of its points."""
    low, high, flat = (
        stick.places.min(axis=(0, 1)),
        stick.places.max(axis=(0, 1)),
        len(stick.axes) == 2,
    )
    middle, half = (low + high) / 2, 0.55 * np.maximum(high - low, 0.4 * (high - low).max() or 1.0)
    axes = figure.add_subplot(spec, projection=None if flat else "3d")
    style(axes, *(f"{name} (m)" for name in stick.axes[:2]))
    axes.set(
        **{
            f"{axis}lim": limits
            for axis, limits in zip("xyz", np.transpose([middle - half, middle + half]))
        }
    )
    axes.locator_params(nbins=4)
    if flat:
        axes.set_aspect("equal")
    else:
        axes.set_zlabel(f"{stick.axes[2]} (m)", fontsize=TEXT)
        axes.set_box_aspect(half, zoom=0.8)
    (axes.yaxis if flat else axes.zaxis).set_inverted(stick.up < 0)
    for place in stick.tips.values():
        axes.plot(*stick.places[:, place].T, color="0.6", linewidth=0.8, zorder=1.8)
    axes.plot(
        *stick.places[0, stick.feet].T,
        linestyle="",
        marker="^",
        markersize=9,
        color="0.6",
        zorder=1.8,
    )
    return axes


def draw(axes, stick, k, colour, width=2.2):
    """Draw the figure at instant k with bars of that width (pt); return what was drawn."""
    spots, drawn, size = (
        stick.places[k],
        [],
        1.0 if len(stick.bars.get("link", ())) <= MANY else 0.6,
    )
    for kind, pairs in stick.bars.items():
        look = {
            "linestyle": (0, (2, 1)) if kind == "slide" else "-",
            "linewidth": size * width,
            "solid_capstyle": "round",
            "zorder": 2,
        }
        drawn += [axes.plot(*spots[list(pair)].T, color=colour, **look)[0] for pair in pairs]
    for kind, (marker, diameter) in MARKS.items():
        drawn += axes.plot(
            *spots[stick.hubs.get(kind, [])].T,
            linestyle="",
            marker=marker,
            markersize=size * diameter,
            color=colour,
            markerfacecolor="white",
            markeredgewidth=0.9,
            zorder=3,
        )
    return drawn


def gif(prepare, count, rate, size=(5.0, 4.5)):
    """Return the bytes of a film of `count` frames: prepare(figure) sets the scene and returns act(k) -> what it drew for frame k."""
    from matplotlib.animation import PillowWriter

    writer, drawn = PillowWriter(fps=rate), []
    with picture(None, *size) as figure, tempfile.TemporaryDirectory() as folder:
        act = prepare(figure)
        writer.setup(figure, Path(folder) / "film.gif", DPI / 2)
        for k in range(count):
            for artist in drawn:
                artist.remove()
            drawn = act(k)
            writer.grab_frame()
            figure.set_layout_engine("none")  # found for the first frame, kept for all
        writer.finish()
        return writer.outfile.read_bytes()


def _acted(figure, stick):
    axes = stage(figure, figure.add_gridspec(1, 1)[0], stick)

    def act(k):
        axes.set_title(f"t = {stick.t[k]:.4f} s", fontsize=TEXT)
        return draw(axes, stick, k, COLOURS[0])

    return act


def _page(stick, seconds):
    """Return the text of a page that plays the motion: frames as JSON, and the player."""
    frames = (stick.places * [*[1] * (len(stick.axes) - 1), stick.up]).round(6)
    note = (
        "drag to turn"
        if len(stick.axes) == 3
        else f"{stick.axes[0]} to the right, {stick.axes[1]} {'up' if stick.up > 0 else 'down'}"
    )
    looks = {
        kind: (
            *stick.colours.get(kind, (COLOURS[0], BARS.get(kind, BARS["link"])[0])),
            BARS.get(kind, BARS["link"])[1],
        )
        for kind in stick.bars
    }
    data = {
        "t": stick.t.tolist(),
        "places": frames.tolist(),
        "low": frames.min(axis=(0, 1)).tolist(),
        "size": np.ptp(frames, axis=(0, 1)).tolist(),
        "seconds": seconds,
        "note": note,
        "looks": looks,
        "bars": stick.bars,
        "hubs": stick.hubs,
        "feet": stick.feet,
        "tips": stick.tips,
    }
    return PLAYER.replace("@DATA@", json.dumps(data).replace("</", "<\\/"))


PLAYER = r"""<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Motion</title><style>body { font: 14px sans-serif; margin: 1em }
canvas { width: 100%; height: 85vh; touch-action: none } input { width: 50% }</style><canvas></canvas><button>pause</button>
<input type="range" min="0" max="1" step="any" value="0" aria-label="time"> <label>speed <select><option>0.1<option>0.25<option>0.5
<option selected>1<option>2</select></label> <output></output><script type="application/json">@DATA@</script><script type="module">
const [canvas, play, slider, speed, clock, json] = document.querySelectorAll("canvas, button, input, select, output, script");
const {t, places, seconds, note, low, size, bars, looks, hubs, feet, tips} = JSON.parse(json.textContent), pen = canvas.getContext("2d");
const T = t.at(-1), {cos, sin, min, floor, hypot, log10} = Math, reach = hypot(...size) || 1, flat = size.length < 3;
let phase = 0, playing = true, last = 0, yaw = -0.6, pitch = 0.35, scale = 1;
function screen(p) {
  const [x, y, z] = p.map((v, k) => v - low[k] - size[k] / 2), depth = x * sin(yaw) + y * cos(yaw);
  const [right, up] = flat ? [x, y] : [x * cos(yaw) - y * sin(yaw), z * cos(pitch) + depth * sin(pitch)];
  return [canvas.clientWidth / 2 + scale * right, canvas.clientHeight / 2 - scale * up];
}
function line(points, strokeStyle, lineWidth, dash = []) {
  Object.assign(pen, {strokeStyle, lineWidth, lineCap: dash.length ? "butt" : "round"}).setLineDash(dash); pen.beginPath();
  points.forEach(p => pen.lineTo(...p)); pen.stroke();
}
function dot(p, radius, fill) { pen.beginPath(); pen.arc(...p, radius, 0, 7); pen.fillStyle = fill; pen.fill(); pen.stroke(); }
function draw() {
  const ratio = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight, at = phase * (places.length - 1);
  canvas.width = width * ratio; canvas.height = height * ratio; pen.scale(ratio, ratio); pen.font = "13px sans-serif";
  scale = 0.86 * (flat ? min(width / (size[0] || reach), height / (size[1] || reach)) : min(width, height) / reach);
  const k = min(floor(at), places.length - 2), next = places[k + 1];
  const spots = places[k].map((p, i) => screen(p.map((v, j) => v + (at - k) * (next[i][j] - v))));
  for (const i of Object.values(tips)) line(places.map(frame => screen(frame[i])), "#aaa", 1);
  for (const i of feet) dot(screen(places[0][i]), 7, "#ccc");
  for (const kind in bars) for (const [i, j] of bars[kind]) {
    const [colour, width, dash] = looks[kind], [a, b] = [spots[i], spots[j]];
    if (hypot(a[0] - b[0], a[1] - b[1]) > 0.5) line([a, b], colour, 4 * width, dash);
  }
  pen.strokeStyle = "#0072B2"; pen.lineWidth = 1.5; for (const i of Object.values(hubs).flat()) dot(spots[i], 4, "#fff");
  pen.fillStyle = "#222"; for (const name in tips) pen.fillText(name, spots[tips[name]][0] + 8, spots[tips[name]][1] - 6);
  const wish = 90 / scale, ten = 10 ** floor(log10(wish)), ruler = ten * [5, 2, 1].find(m => m * ten <= wish), y = height - 8;
  line([[12, y], [12 + scale * ruler, y]], "#222", 2); pen.fillText(`${+ruler.toPrecision(1)} m   ${note}`, 12, y - 8);
  slider.value = phase; clock.textContent = `t = ${(phase * T).toFixed(3)} s of ${T.toFixed(3)} s`;
}
requestAnimationFrame(function tick(now) {
  if (playing && last) phase = (phase + (now - last) / 1000 * speed.value / seconds) % 1;
  last = now; draw(); requestAnimationFrame(tick);
});
play.onclick = () => { playing = !playing; play.textContent = playing ? "pause" : "play"; };
slider.oninput = () => { phase = +slider.value; if (playing) play.onclick(); };
canvas.onpointermove = e => { if (e.buttons) { yaw -= e.movementX / 150; pitch += e.movementY / 150; } };
</script></html>"""
