"""The report card as one page: every curve before people's, and the faults below."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Norms, norms
from ocp.problems.gait.card.report import report_card
from ocp.problems.gait.card.words import card_lines

from ocp import Solution
from ocp.plots import COLOURS, SMALL, TEXT, picture, style

RIGHT, LEFT = COLOURS[1], COLOURS[0]
MEASURED = {"winter": "0.55", "fukuchi": "0.1", "falisse": COLOURS[2]}
COLUMNS, HEIGHT, WIDTH = 5, 11.0, 10.0  # panels in a row; in
FAULTS = 9  # that are written below
TINY = 6  # pt


def plot_card(
    solution: Solution,
    path: str | Path | None = None,
    *,
    card: Mapping[str, Any] | None = None,
    files: Sequence[str | Path] = (),
) -> Any:
    """Return the page of a report card, written to `path`, if any, as .png, .svg or .pdf.

    Each panel has a curve over the cycle of the right leg, and dashed of the left one where it has
    its own, before the mean and one standard deviation of each source, and r, their mean, in the
    corner. The `card` is made where it is not given; `files` are tables of people's curves beside
    those of the house. Raises ValueError naming any other suffix.
    """
    card = report_card(solution, files) if card is None else card
    known, shades = norms(files), dict(MEASURED)
    for k, source in enumerate(name for name in known if name not in shades):
        shades[source] = COLOURS[3 + k % 5]
    with picture(path, WIDTH, HEIGHT) as figure:
        rows = -(-len(CURVES) // COLUMNS)
        grid = figure.add_gridspec(rows + 1, COLUMNS, height_ratios=[*[1.0] * rows, 1.15])
        for k, name in enumerate(CURVES):
            axes = figure.add_subplot(grid[k // COLUMNS, k % COLUMNS])
            _panel(axes, name, card, known if card["against"] else {}, shades)
            if k // COLUMNS == rows - 1:
                axes.set_xlabel("gait cycle (%)", fontsize=SMALL)
        _words(figure.add_subplot(grid[rows, :]), card)
        handles = {}
        for axes in figure.axes:
            handles |= {label: one for one, label in zip(*axes.get_legend_handles_labels())}
        figure.legend(
            handles.values(),
            handles,
            loc="outside upper center",
            ncols=len(handles),
            fontsize=SMALL,
            frameon=False,
        )
    return figure


def draw_measured(
    axes: Any, name: str, known: Mapping[str, Norms], shades: Mapping[str, Any]
) -> None:
    """Draw on `axes` what the sources `known`, by name, have of the curve `name`: means, and a
    deviation about them, in their `shades`."""
    for source, each in known.items():
        if name not in each.bands:
            continue
        band, shade = each.bands[name], shades[source]
        if band.spread is not None:
            ends = band.mean - band.spread, band.mean + band.spread
            axes.fill_between(PERCENT, *ends, facecolor=(shade, 0.22), linewidth=0, zorder=1)
        axes.plot(PERCENT, band.mean, color=shade, linewidth=0.8, zorder=2, label=source)


def _panel(
    axes: Any,
    name: str,
    card: Mapping[str, Any],
    known: Mapping[str, Norms],
    shades: Mapping[str, Any],
) -> None:
    """Draw one curve before those of people."""
    draw_measured(axes, name, known, shades)
    if card["left"] is not None:
        left = card["left"]["curves"][name]
        axes.plot(PERCENT, left, color=LEFT, linewidth=1.1, linestyle="--", label="ours, left leg")
    axes.plot(PERCENT, card["curves"][name], color=RIGHT, linewidth=1.5, zorder=4, label="ours")
    style(axes, "", "")
    axes.set(xlim=(0, 100), xticks=(0, 50, 100))
    axes.tick_params(labelsize=TINY)
    axes.set_title(f"{CURVES[name].title} ({CURVES[name].unit})", fontsize=TINY, pad=2)
    if name in card["r"]:
        _corner(axes, f"r {card['r'][name]:+.2f}", np.asarray(card["curves"][name]))


def _corner(axes: Any, text: str, line: np.ndarray) -> None:
    """Write into that upper corner where a curve is lower."""
    right = line[60:].max() < line[:41].max()
    axes.text(
        0.97 if right else 0.03,
        0.96,
        text,
        transform=axes.transAxes,
        ha="right" if right else "left",
        va="top",
        fontsize=SMALL,
        fontweight="bold",
        bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1.0},
        zorder=5,
    )


def _words(axes: Any, card: Mapping[str, Any]) -> None:
    """Write the summary and the worst faults."""
    axes.set_axis_off()
    summary = [line for line in card_lines(card) if not line.startswith(("r, ", "faults"))]
    faults = [f"{k}. {text}" for k, text in enumerate(card["faults"][:FAULTS], 1)]
    more = len(card["faults"]) - len(faults)
    faults += [f"and {more} more"] if more > 0 else []
    text = "\n".join([*(" ".join(line.split()) for line in summary), *card["remarks"]])
    axes.text(0.0, 0.95, "in numbers", fontsize=TEXT, fontweight="bold", va="top")
    axes.text(0.0, 0.80, text, fontsize=SMALL, va="top", linespacing=1.35)
    title = "faults, the worst first" if faults else "no faults"
    axes.text(0.52, 0.95, title, fontsize=TEXT, fontweight="bold", va="top")
    axes.text(0.52, 0.80, "\n".join(faults), fontsize=SMALL, va="top", linespacing=1.35)
