"""A picture of errors over seconds: lines of all ways, hollow marks where limits are left."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ocp.problems.benchmarks.peers.report.table import WITHIN
from ocp.problems.benchmarks.peers.running import Row
from ocp.problems.benchmarks.peers.tasks import MOTIONS, SYSTEMS

COLOURS = dict(zip(SYSTEMS, ("#0b6e4f", "#999999", "#c1440e", "#1f5fa8", "#8a4fa3")))
MARKS = "os^Dvp"


def drawn(rows: Sequence[Row], file: Path) -> None:
    """Draw the motions among the rows, beside one another, into a file."""
    tasks = [task for task in MOTIONS if any(row.task == task and row.runs for row in rows)]
    from matplotlib.figure import Figure  # only where a picture is made

    count = max(1, len(tasks))
    figure = Figure(figsize=(6.0 * count, 6.0), layout="tight")
    axes = figure.subplots(1, count, squeeze=False)
    for task, ax in zip(tasks, axes[0]):
        own = [row for row in rows if row.task == task and row.runs and np.isfinite(row.error)]
        ways = list(dict.fromkeys((row.system, row.way) for row in own))
        for system, way in ways:
            line = [row for row in own if (row.system, row.way) == (system, way)]
            number = [name for other, name in ways if other == system].index(way)
            seconds, errors = [row.seconds for row in line], [row.error for row in line]
            colour, mark = COLOURS[system], MARKS[number % len(MARKS)]
            ax.loglog(seconds, errors, mark + "-", color=colour, ms=4, label=f"{system}, {way}")
            open_ones = [row for row in line if row.beyond > WITHIN]
            places = [row.seconds for row in open_ones], [row.error for row in open_ones]
            ax.plot(*places, mark, color=colour, mfc="white", ms=4)
        ax.axhline(MOTIONS[task].goal, color="0.6", lw=0.8, ls="--")
        ax.set(
            title=task,
            xlabel="building and solving (s of processor time)",
            ylabel=f"error of the objective ({MOTIONS[task].unit})",
        )
        ax.legend(fontsize=6, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    figure.savefig(file, dpi=110)
