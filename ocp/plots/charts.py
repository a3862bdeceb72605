"""Charts of plain numbers, for comparisons and studies: curves in one panel, linear or doubly logarithmic."""

import io
from dataclasses import dataclass
from pathlib import Path

from ocp.solution.files import write

PICTURES = (".png", ".svg", ".pdf")
DASHES = {"solid": "-", "dashed": "--", "dotted": ":", "points": "none"}
SIZE, DPI, TEXT = (6.9, 5.2), 150, 8  # in, dots per in, points


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve through (x, y), each (N,), x being numbers or words: its `label`, which of ten colours it has, and its dash, "solid",
    "dashed", "dotted" or "points" alone."""

    label: str
    x: tuple
    y: tuple
    colour: int = 0
    dash: str = "solid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Curves in one panel, with the axis labels `x` and `y`, x logarithmic if `log`; the panels of a figure share their labels' colours."""

    curves: tuple
    x: str
    y: str
    log: bool = False


def panels(path, several):
    """Draw Panels side by side with one legend, that of the first; write the picture whole or not at all, as `lines` does."""
    figure = _figure(path, (SIZE[0] * 0.62 * len(several) + 1.6, SIZE[1]))
    for axes, panel in zip(figure.subplots(1, len(several), squeeze=False)[0], several):
        for curve in panel.curves:
            axes.plot(curve.x, curve.y, **_look(curve))
        axes.set_xscale("log" if panel.log else "linear")
        _label(axes, panel.x, panel.y)
    _finish(figure, path)


def lines(path, curves, *, x, y, log=False):
    """Draw curves with the axis labels `x` and `y`, doubly logarithmic if `log`; write the picture whole or not at all.

    Raises ValueError naming the file if it ends in none of .png, .svg, .pdf.
    """
    figure = _figure(path, SIZE)
    axes = figure.subplots()
    for curve in curves:
        axes.plot(
            curve.x,
            curve.y,
            **_look(curve),
            marker="o" if curve.dash in ("solid", "points") else None,
            markersize=3,
        )
    if log:
        axes.set(xscale="log", yscale="log")
        ticks = sorted({value for curve in curves for value in curve.x})
        axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
        axes.minorticks_off()
    _label(axes, x, y)
    _finish(figure, path)


def check_suffix(path):
    """Raise ValueError naming the file unless it is to be a picture that can be written."""
    if Path(path).suffix.lower() not in PICTURES:
        raise ValueError(
            f"{path}: suffix {Path(path).suffix!r}: expected one of {', '.join(PICTURES)}"
        )


def _figure(path, size):
    """Return an empty figure for a picture that can be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check_suffix(path)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _look(curve):
    return {
        "label": curve.label,
        "color": f"C{curve.colour % 10}",
        "linestyle": DASHES[curve.dash],
        "linewidth": 1.2,
    }


def _label(axes, x, y):
    axes.set_xlabel(x, fontsize=TEXT)
    axes.set_ylabel(y, fontsize=TEXT)
    axes.tick_params(labelsize=TEXT - 1)
    axes.grid(True, linewidth=0.4, color="0.88")


def _finish(figure, path):
    """Add the legend, of the first panel's curves, and write the picture whole or not at all."""
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside right upper",
        fontsize=TEXT - 1,
        frameon=False,
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=DPI)
    write(path, buffer.getvalue())
