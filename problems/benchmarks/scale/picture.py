"""A picture of growth: a panel for each part, both axes logarithmic."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ocp.problems.benchmarks.scale.entries import Entry

PANELS = {  # part -> its title, what its sizes are
    "chains": ("lifts of trees", "joints"),
    "steps": ("walks of many steps", "steps"),
    "points": ("one motion", "control points of every joint"),
    "humans": ("a step of one body or two", "joints"),
}
SIZE, NEAR = (11.0, 7.5), 1.2  # inches; how far ticks may be beyond what is drawn
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def draw(entries: Sequence[Entry], rows: Mapping[str, Any], path: Path) -> None:
    """Draw ms an iteration over size, part by part, with a line through each line's rows."""
    from matplotlib.figure import Figure  # only where a picture is made

    figure = Figure(figsize=SIZE, layout="constrained")
    for axes, (part, (title, what)) in zip(figure.subplots(2, 2).flat, PANELS.items()):
        axes.set(xscale="log", yscale="log", title=title, xlabel=what, ylabel="ms an iteration")
        own = [each for each in entries if each.part == part and "iteration" in rows[each.name]]
        for line in dict.fromkeys(each.line for each in own):
            points = [(one.size, rows[one.name]["iteration"]) for one in own if one.line == line]
            axes.plot(*zip(*points), marker="o", markersize=4, label=line)
        sizes, times = {each.size for each in own}, [rows[each.name]["iteration"] for each in own]
        for axis, values in ((axes.xaxis, sizes), (axes.yaxis, times)):
            low, high = min(values, default=1) / NEAR, max(values, default=1) * NEAR
            axis.set_ticks([tick for tick in TICKS if low <= tick <= high])
            axis.set_ticks([], minor=True)
            axis.set_major_formatter("{x:g}")
        axes.grid(alpha=0.3)
        if own:
            axes.legend(fontsize=7)
    figure.savefig(path, dpi=110)
