"""Bands of many people's walks before those that were measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import norms
from ocp.problems.gait.card.picture import MEASURED, TINY, draw_measured

from ocp.plots import COLOURS, SMALL, picture, style

OURS = COLOURS[1]
COLUMNS, HEIGHT, WIDTH = 5, 9.5, 10.0  # panels in a row; in


def plot_bands(
    told: Mapping[str, Any], path: str | Path | None = None, files: Sequence[str | Path] = ()
) -> Any:
    """Return the page of a study of people, written to `path`, if any, as .png, .svg or .pdf.

    `told` is its `summary`. Each panel has the median and the 5th to 95th percentile of a curve
    over the cycle, before the mean and one standard deviation of each source; `files` are sources
    beside those of the house. Raises ValueError naming any other suffix, and where nobody was
    solved.
    """
    if told["curves"] is None:
        raise ValueError("people: nobody was solved: there is nothing to draw")
    known, shades = norms(files), dict(MEASURED)
    for k, source in enumerate(name for name in known if name not in shades):
        shades[source] = COLOURS[3 + k % 5]
    with picture(path, WIDTH, HEIGHT) as figure:
        rows = -(-len(CURVES) // COLUMNS)
        panels = figure.subplots(rows, COLUMNS, sharex=True).ravel()
        for axes, name in zip(panels, CURVES):
            draw_measured(axes, name, known, shades)
            _ours(axes, name, told["curves"][name])
        for axes in panels[len(CURVES) :]:
            axes.set_axis_off()
        for axes in panels[-COLUMNS:]:
            axes.set_xlabel("gait cycle (%)", fontsize=SMALL)
        handles = {}
        for axes in panels:
            handles |= {label: one for one, label in zip(*axes.get_legend_handles_labels())}
        place = {"loc": "outside upper center", "ncols": len(handles)}
        figure.legend(handles.values(), handles, fontsize=SMALL, frameon=False, **place)
    return figure


def _ours(axes: Any, name: str, band: Mapping[str, Sequence[float]]) -> None:
    """Draw a band of ours."""
    low, middle, high = (np.asarray(band[end]) for end in ("low", "median", "high"))
    fill = {"facecolor": (OURS, 0.3), "edgecolor": OURS, "linewidth": 0.4}
    axes.fill_between(PERCENT, low, high, zorder=3, label="ours, 5 to 95 %", **fill)
    axes.plot(PERCENT, middle, color=OURS, linewidth=1.5, zorder=4, label="ours, median")
    style(axes, "", "")
    axes.set(xlim=(0, 100), xticks=(0, 50, 100))
    axes.tick_params(labelsize=TINY)
    axes.set_title(f"{CURVES[name].title} ({CURVES[name].unit})", fontsize=TINY, pad=2)
