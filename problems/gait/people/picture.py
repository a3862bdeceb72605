"""Bands of many people's walks before those that were measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ocp.plots import COLOURS, SMALL, Band, Tile, Trace, draw_tiles, handles, picture
from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Norms, norms
from ocp.problems.gait.card.picture import (
    COLUMNS,
    CYCLE,
    MARGINS,
    MEASURED,
    PANEL,
    TINY,
    WIDTH,
    measured,
)

OURS = COLOURS[1]
BELOW = 0.25  # in, under the lowest panels: what their label takes


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
    rows = -(-len(CURVES) // COLUMNS)
    tiles = [tile(name, told["curves"][name], known, shades) for name in CURVES]
    high = MARGINS.top + rows * (PANEL + MARGINS.below) + BELOW
    with picture(path, WIDTH, high, fixed=True) as figure:
        looks: dict = {"size": TINY, "x": "gait cycle (%)"}
        draw_tiles(figure, tiles, [PANEL] * rows, MARGINS, COLUMNS, **looks)
        named = handles(tiles)
        place: dict = {"loc": "upper center", "ncols": len(named)}
        figure.legend(named.values(), named, fontsize=SMALL, frameon=False, **place)
    return figure


def tile(
    name: str,
    band: Mapping[str, Sequence[float]],
    known: Mapping[str, Norms],
    shades: Mapping[str, Any],
) -> Tile:
    """Return the panel of one curve: a band of ours before the sources `known`."""
    traces, bands = measured(name, known, shades)
    low, middle, high = (np.asarray(band[end]) for end in ("low", "median", "high"))
    bands.append(Band(x=PERCENT, low=low, high=high, colour=(OURS, 0.3), label="ours, 5 to 95 %"))
    traces.append(Trace(x=PERCENT, y=middle, colour=OURS, width=1.5, label="ours, median"))
    title = f"{CURVES[name].title} ({CURVES[name].unit})"
    return Tile(title=title, traces=traces, bands=bands, ticks=CYCLE)
