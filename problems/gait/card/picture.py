"""The report card as one page: every curve before people's, and the faults below."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Norms, norms
from ocp.problems.gait.card.report import report_card
from ocp.problems.gait.card.words import card_lines

from ocp import Solution
from ocp.plots import COLOURS, SMALL, TEXT, Margins, grid, picture, style

RIGHT, LEFT = COLOURS[1], COLOURS[0]
MEASURED = {"winter": "0.55", "fukuchi": "0.1", "falisse": COLOURS[2]}
COLUMNS, WIDTH = 5, 10.0  # panels in a row; in
PANEL, WORDS = 1.46, 2.05  # in, how high a panel is, and the words below
MARGINS = Margins(left=0.42, right=0.1, top=0.45, below=0.24, between=0.44)
FAULTS = 9  # that are written below
LETTERS = 96  # of a line of the words below, two columns of which are side by side
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
    rows = -(-len(CURVES) // COLUMNS)
    high = MARGINS.top + rows * (PANEL + MARGINS.below) + WORDS
    with picture(path, WIDTH, high, fixed=True) as figure:
        panels = [axes for row in grid(figure, [PANEL] * rows, MARGINS, COLUMNS) for axes in row]
        for k, (axes, name) in enumerate(zip(panels, CURVES)):
            _panel(axes, name, card, known if card["against"] else {}, shades)
            lowest = k + COLUMNS >= len(CURVES)
            axes.tick_params(labelbottom=lowest)
            axes.set_xlabel("gait cycle (%)" if lowest else "", fontsize=SMALL)
        for axes in panels[len(CURVES) :]:
            axes.remove()
        _words(figure.add_axes((0, 0, 1, WORDS / high)), card)
        handles = {}
        for axes in figure.axes:
            handles |= {label: one for one, label in zip(*axes.get_legend_handles_labels())}
        figure.legend(
            handles.values(),
            handles,
            loc="upper center",
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
    axes.set_title(f"{CURVES[name].title} ({CURVES[name].unit})", fontsize=TINY, pad=2, y=1.0)
    axes.locator_params(axis="y", nbins=6)
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
    """Write the summary and the worst faults side by side."""
    axes.set_axis_off()
    summary = [line for line in card_lines(card) if not line.startswith(("r, ", "faults"))]
    faults = [f"{k}. {text}" for k, text in enumerate(card["faults"][:FAULTS], 1)]
    more = len(card["faults"]) - len(faults)
    faults += [f"and {more} more"] if more > 0 else []
    title = "faults, the worst first" if faults else "no faults"
    for x, head, lines in (
        (MARGINS.left / WIDTH, "in numbers", [*summary, *card["remarks"]]),
        (0.5, title, faults),
    ):
        broken = [part for line in lines for part in wrap(" ".join(line.split()), LETTERS)]
        axes.text(x, 0.86, head, fontsize=TEXT, fontweight="bold", va="top")
        axes.text(x, 0.75, "\n".join(broken), fontsize=SMALL, va="top", linespacing=1.3)
