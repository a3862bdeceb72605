"""Sparsity pattern of the constraints' Jacobian, by the names of rows and variables."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ocp.plots.canvas import COLOURS, SMALL, TEXT, WIDTH, picture, style
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.nlp import graph_of
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables.layout import free_duration, free_knots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = (0.5, 6.0)  # pt: smallest and largest mark of a nonzero
FIELD = (5.0, 4.8)  # in: what the pattern takes of its page
ENTRIES = 20000  # nonzeros, beyond which they are drawn as an image in files of curves
LABELS = 26  # names of constraints that stand above each other
TICKS = 12  # control points that are numbered


def spy(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the pattern of the constraints' Jacobian, written to `path`, if any.

    Rows are gathered by constraint; columns are the duration, if free, the control points, and the
    widths of segments where knots are free.
    Raises ValueError naming an unknown suffix, and if there are no such rows: a constraint on one
    variable alone is a bound of that variable.
    """
    refuse_phases("spy", solution.problem)
    transcribed = transcribe(solution.problem, solution.transcription)
    nlp = transcribed.nlp
    rows = {placed.name: np.sort(placed.row[placed.row >= 0]) for placed in transcribed.rows}
    if not len(nlp.g_lower):
        raise ValueError(
            "spy: the Jacobian has no rows: the problem has no constraints, "
            "or all of them are bounds of single variables"
        )
    if nlp.jacobian is not None:
        sparsity = nlp.jacobian.sparsity_out(1)
    else:
        sparsity = graph_of(nlp.constraints).jac_sparsity(0, 0)
    height, width = sparsity.shape
    row, column = (np.array(index, dtype=int) for index in sparsity.get_triplet())
    gathered = np.argsort(np.concatenate(list(rows.values())))[row]
    counts = {name: len(part) for name, part in rows.items() if len(part)}
    bounds = ", ".join(name for name in rows if name not in counts) or "none"
    with picture(path, WIDTH, 6.0) as figure:
        axes = figure.add_subplot()
        cell = min(FIELD[0] / width, FIELD[1] / height)
        axes.plot(
            column,
            gathered,
            linestyle="",
            marker="s",
            markersize=np.clip(0.9 * 72 * cell, *MARKS),
            markeredgewidth=0,
            color=COLOURS[0],
            rasterized=len(gathered) > ENTRIES,
        )
        _label_rows(axes, counts)
        _label_columns(axes, solution.problem)
        axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
        figure.suptitle(
            f"{height} constraints, {width} variables, {sparsity.nnz()} nonzeros\n"
            f"bounds of variables: {bounds}",
            fontsize=TEXT,
        )
    return figure


def _label_rows(axes: Axes, counts: Mapping[str, int]) -> None:
    """Mark the rows of each constraint, the names of thin ones moved apart."""
    ends = np.cumsum([0, *counts.values()])
    gaps, centres = ends[-1] / LABELS * np.arange(len(counts)), (ends[:-1] + ends[1:] - 1) / 2
    places = np.minimum(np.maximum.accumulate(centres - gaps), ends[-1] - 1 - gaps[-1]) + gaps
    for k, (name, count) in enumerate(counts.items()):
        low, high = ends[k] - 0.5, ends[k + 1] - 0.5
        axes.axhspan(low, high, facecolor=("0.95", "1.0")[k % 2], linewidth=0, zorder=0)
        axes.annotate(
            f"{name} ({count})",
            (1.0, centres[k]),
            (1.05, places[k]),
            xycoords=axes.get_yaxis_transform(),
            fontsize=SMALL,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "lw": 0.5, "color": "0.5"},
        )


def _label_columns(axes: Axes, problem: Problem) -> None:
    """Number the control points, each as many columns as there are joints, after the duration."""
    n, points, free = problem.tree.dof, problem.motion.points, int(free_duration(problem))
    widths = ", then widths of segments" if free_knots(problem) else ""
    what = f"control points of {n} joints{widths}"
    style(axes, ("duration T and " if free else "") + what, "row")
    shown = np.arange(0, points, ceil(points / TICKS))
    ticks, names = free + n * shown + (n - 1) / 2, [str(k) for k in shown]
    if free:  # the first number gives way
        ticks[0], names[0] = 0, "T"
        axes.axvline(0.5, color="0.5", linewidth=0.5)
    axes.set_xticks(ticks, names)
