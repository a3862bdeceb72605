"""Small panels in a fixed grid, drawn together as marks of one page.

A panel of matplotlib has axes, ticks and labels of its own, which take longer to make than to draw;
of many small ones, frames, grids, bands and lines are a collection each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from ocp.mechanics.values.types import Numbers
from ocp.plots.canvas import Look, Margins, places

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

TICKS = 5  # of a vertical scale, at most so many steps
STEPS = (1, 2, 2.5, 5, 10)  # of a scale, times a power of ten
MARGIN = 0.05  # of what a panel shows: free above and below
TICK, APART = 0.04, 0.03  # in: a tick, and what its label and a title stand away
CORNER = (0.03, 0.05)  # of a panel, and in: where the words in its corner stand
FRAME, FAINT = "0.0", "0.88"  # grey of frames and of grids


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A line through (x, y), each (N,), with its `label`, colour, `width` (pt) and `dash`."""

    x: Numbers
    y: Numbers
    colour: ColorType
    label: str = ""
    width: float = 1.0
    dash: str | tuple = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What lies between `low` and `high`, each (N,), at x (N,): filled with a colour (and its
    opacity), named in the legend where it has a `label`."""

    x: Numbers
    low: Numbers
    high: Numbers
    colour: ColorType
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A panel: its `title`, `bands` below `traces`, and words in an upper `corner`.

    `ticks` are those of x, the first and the last of which are its limits.
    """

    title: str
    traces: Sequence[Trace]
    bands: Sequence[Band] = ()
    ticks: Sequence[float]
    corner: str = ""

    @property
    def limits(self) -> tuple[float, float]:
        """Least and greatest value of y, a margin beyond all that is shown."""
        values = [each.y for each in self.traces]
        values += [side for each in self.bands for side in (each.low, each.high)]
        low, high = np.nanmin(values), np.nanmax(values)
        margin = MARGIN * (high - low) or 1.0
        return float(low - margin), float(high + margin)

    @property
    def right(self) -> bool:
        """Whether its corner is the right one, where the first line is lower."""
        line = np.asarray(self.traces[-1].y)
        third = len(line) * 2 // 5
        return bool(line[-third:].max() < line[: third + 1].max())


def draw_tiles(
    figure: Figure,
    tiles: Sequence[Tile],
    heights: Sequence[float],
    margins: Margins,
    columns: int,
    *,
    size: float,
    x: str,
) -> Axes:
    """Draw tiles in rows of a fixed figure; return its axes, whose unit is the inch.

    Rows are `heights` (in) high within `margins`, with so many `columns`; letters have a `size`
    (pt), and `x` is the label below the lowest tile of each column.
    """
    width, height = figure.get_size_inches()
    page = figure.add_axes((0, 0, 1, 1))
    page.set(xlim=(0, width), ylim=(0, height))
    page.set_axis_off()
    boxes = [box for row in places((width, height), heights, margins, columns) for box in row]
    scales = [
        _Scale(box, (tile.ticks[0], tile.ticks[-1]), tile.limits) for tile, box in zip(tiles, boxes)
    ]
    frames: list[list] = []
    grids: list[list] = []
    for k, (tile, scale) in enumerate(zip(tiles, scales)):
        _write(page, tile, scale.box, size)
        lowest = k + columns >= len(tiles)
        if lowest:
            left, low, wide, _ = scale.box
            place = (left + wide / 2, low - margins.below)
            page.text(*place, x, fontsize=size + 1, ha="center", va="top")
        frames.append(_corners(scale.box))
        for across, mark in _ticks(page, tile, scale, size, lowest):
            grids.append(across)
            frames.append(mark)
    _add_lines(page, grids, 0.5, colors=FAINT, linewidths=0.4)
    pairs = list(zip(tiles, scales))
    _fill(page, [(scale.outline(band), band) for tile, scale in pairs for band in tile.bands])
    _trace(page, [(scale.line(line), line) for tile, scale in pairs for line in tile.traces])
    _add_lines(page, frames, 3, colors=FRAME, linewidths=0.8)
    return page


def _ticks(
    page: Axes, tile: Tile, scale: _Scale, size: float, lowest: bool
) -> Iterator[tuple[list, list]]:
    """Write the numbers at a tile's sides, and yield its lines across, with the tick of each."""
    left, low, wide, high = scale.box
    for where, text in zip(tile.ticks, numbers(tile.ticks)):
        at = scale.x(where)
        if lowest:
            page.text(at, low - TICK - APART, text, fontsize=size, ha="center", va="top")
        yield [(at, low), (at, low + high)], [(at, low), (at, low - TICK)]
    values = steps(*tile.limits)
    for where, text in zip(values, numbers(values)):
        at = scale.y(where)
        page.text(left - TICK - APART, at, text, fontsize=size, ha="right", va="center")
        yield [(left, at), (left + wide, at)], [(left, at), (left - TICK, at)]


def _add_lines(page: Axes, lines: Sequence, zorder: float, **looks: Any) -> None:
    from matplotlib.collections import LineCollection

    page.add_collection(LineCollection(lines, zorder=zorder, **looks))


def _fill(page: Axes, bands: Sequence[tuple[np.ndarray, Band]]) -> None:
    from matplotlib.collections import PolyCollection

    tones = [each.colour for _, each in bands]
    rings = [ring for ring, _ in bands]
    page.add_collection(PolyCollection(rings, facecolors=tones, linewidths=0, zorder=1))


def _trace(page: Axes, lines: Sequence[tuple[np.ndarray, Trace]]) -> None:
    for kind in dict.fromkeys(each.dash for _, each in lines):
        some = [(line, each) for line, each in lines if each.dash == kind]
        looks = {
            "colors": [each.colour for _, each in some],
            "linewidths": [each.width for _, each in some],
            "linestyles": kind,
        }
        _add_lines(page, [line for line, _ in some], 2, **looks)


def handles(tiles: Sequence[Tile]) -> Mapping[str, Artist]:
    """Return {label: mark} of all that a legend of tiles names."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    known: dict[str, Artist] = {}
    for tile in tiles:
        for band in tile.bands:
            if band.label:
                known.setdefault(band.label, Patch(facecolor=band.colour))
        for each in tile.traces:
            look: Look = {"color": each.colour, "linewidth": each.width, "linestyle": each.dash}
            known.setdefault(each.label, Line2D([], [], **look))
    return known


def steps(low: float, high: float) -> list[float]:
    """Return round numbers in equal steps within two limits."""
    raw = (high - low) / TICKS
    power = 10.0 ** floor(log10(raw))
    step = power * next(each for each in STEPS if each * power >= raw * (1 - 1e-9))
    first = int(np.ceil(low / step - 1e-9))
    return [k * step for k in range(first, int(np.floor(high / step + 1e-9)) + 1)]


def numbers(values: Sequence[float]) -> list[str]:
    """Return numbers in equal steps as words, all with the digits that tell them apart."""
    step = min((abs(b - a) for a, b in pairwise(values)), default=1.0)
    digits = next(k for k in range(12) if abs(round(step, k) - step) < 1e-6 * step or k == 11)
    return [f"{value + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}") for value in values]


@dataclass(frozen=True, slots=True)
class _Scale:
    """The places (in) within a box (left, bottom, width, height) of values within limits."""

    box: tuple[float, float, float, float]
    across: tuple[float, float]
    upward: tuple[float, float]

    def x(self, value: Numbers) -> Numbers:
        low, high = self.across
        return self.box[0] + (np.asarray(value) - low) / (high - low) * self.box[2]

    def y(self, value: Numbers) -> Numbers:
        low, high = self.upward
        return self.box[1] + (np.asarray(value) - low) / (high - low) * self.box[3]

    def line(self, each: Trace) -> np.ndarray:
        return np.column_stack([self.x(each.x), self.y(each.y)])

    def outline(self, each: Band) -> np.ndarray:
        there = np.column_stack([self.x(each.x), self.y(each.low)])
        back = np.column_stack([self.x(each.x), self.y(each.high)])
        return np.concatenate([there, back[::-1]])


def _corners(box: tuple[float, float, float, float]) -> list[tuple[float, float]]:
    left, low, wide, high = box
    ring = [(left, low), (left + wide, low), (left + wide, low + high), (left, low + high)]
    return [*ring, ring[0]]


def _write(page: Axes, tile: Tile, box: tuple[float, float, float, float], size: float) -> None:
    """Write a tile's title above it, and words into that upper corner where its line is lower."""
    left, low, wide, high = box
    above = (left + wide / 2, low + high + APART)
    page.text(*above, tile.title, fontsize=size, ha="center", va="bottom")
    if tile.corner:
        share = 1 - CORNER[0] if tile.right else CORNER[0]
        page.text(
            left + share * wide,
            low + high - CORNER[1],
            tile.corner,
            fontsize=size + 1,
            fontweight="bold",
            ha="right" if tile.right else "left",
            va="top",
            bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1.0},
            zorder=5,
        )
