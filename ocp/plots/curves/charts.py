"""Charts of plain numbers, for comparisons and studies: curves, linear or doubly logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ocp.plots.canvas import COLOURS, SMALL, label_of, picture, style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = {"solid": "-", "dashed": "--", "dotted": ":", "points": "none"}
SIZE, PANEL, BESIDE = (6.9, 5.2), 4.3, 1.6  # in: a chart, one panel of several, their legend


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve through (x, y), each (N,), x being numbers or words.

    `label`; `colour`: which of the canvas' colours it has, counted round; `dash`: "solid",
    "dashed", "dotted" or "points" alone.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int = 0
    dash: str = "solid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Curves in one panel, with the axis labels `x` and `y`.

    x is logarithmic if `log`, y if `log_y`. The panels of a figure share their labels' colours.
    """

    curves: Sequence[Curve]
    x: str
    y: str
    log: bool = False
    log_y: bool = False


def panels(path: str | Path, several: Sequence[Panel], *, rows: int = 1) -> None:
    """Draw several Panels in rows with one legend, every label in it once.

    Raises ValueError naming the file if it ends in none of .png, .svg, .pdf.
    """
    columns = -(-len(several) // rows)
    with picture(path, PANEL * columns + BESIDE, SIZE[1] * (1 + rows) / 2) as figure:
        for axes, panel in zip(figure.subplots(rows, columns, squeeze=False).flat, several):
            _curves(axes, panel.curves, marks=False)
            if panel.log and panel.log_y:
                _log_log(axes, panel.curves)
            else:
                scales = {True: "log", False: "linear"}
                axes.set(xscale=scales[panel.log], yscale=scales[panel.log_y])
            style(axes, panel.x, panel.y)
        _legend(figure)


def lines(path: str | Path, curves: Sequence[Curve], *, x: str, y: str, log: bool = False) -> None:
    """Draw curves with the axis labels `x` and `y`, doubly logarithmic if `log`.

    Raises ValueError naming the file if it ends in none of .png, .svg, .pdf.
    """
    with picture(path, *SIZE) as figure:
        axes = figure.subplots()
        _curves(axes, curves, marks=True)
        if log:
            _log_log(axes, curves)
        style(axes, x, y)
        _legend(figure)


def _log_log(axes: Axes, curves: Sequence[Curve]) -> None:
    """Make both axes logarithmic, with the curves' own numbers below."""
    axes.set(xscale="log", yscale="log")
    ticks = sorted({value for curve in curves for value in curve.x})
    axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
    axes.minorticks_off()


def _curves(axes: Axes, curves: Sequence[Curve], *, marks: bool) -> None:
    for curve in curves:
        words = [x.replace("$", r"\$") if isinstance(x, str) else x for x in curve.x]
        axes.plot(
            words,
            curve.y,
            label=label_of(curve.label),
            color=COLOURS[curve.colour % len(COLOURS)],
            linestyle=DASHES[curve.dash],
            linewidth=1.2,
            marker="o" if curve.dash == "points" or (marks and curve.dash == "solid") else None,
            markersize=3,
        )


def _legend(figure: Figure) -> None:
    """Add the legend of all panels' curves, to the right of them, every label once."""
    known: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            known.setdefault(label, handle)
    figure.legend(
        known.values(), known.keys(), loc="outside right upper", fontsize=SMALL, frameon=False
    )
