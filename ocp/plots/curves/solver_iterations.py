"""Iterations of the solver, and the sparsity pattern of the constraint Jacobian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ocp.plots.canvas import COLOURS, SMALL, TEXT, WIDTH, picture, style
from ocp.problem.phases.parts import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables.layout import free_duration, free_knots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR = 1e-16  # what a zero is drawn as on a logarithmic scale
NOTHING = 1e-12  # of the largest objective: what is zero but for rounding
WIDE = 1e3  # largest over smallest: what a linear scale does not show
MARKS = (0.5, 6.0)  # pt: smallest and largest mark of a nonzero
FIELD = (5.0, 4.8)  # in: what the pattern takes of its page
ENTRIES = 20000  # nonzeros, beyond which they are drawn as an image in files of curves
LABELS = 26  # names of constraints that stand above each other
TICKS = 12  # control points that are numbered


def plot_convergence(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the objective and the largest violation of every iteration, written to `path`, if any.

    Violations are on a logarithmic scale, zero drawn at 1e-16; so are objectives that fall far, of
    which those that are zero but for rounding are drawn at the lower edge. Raises ValueError naming
    an unknown suffix.
    """
    with picture(path, 5.5, 4.2) as figure:
        convergence(figure.subplots(2, 1), solution)
    return figure


def convergence(pair: Sequence[Axes], solution: Solution) -> None:
    """Draw the objective and the violations of all iterations, each in its axes."""
    steps, timed = solution.history, [term[0] for term in solution.terms] == ["duration"]
    numbers = [step.number for step in steps]
    objectives = [step.objective for step in steps]
    violations = [max(step.violation, FLOOR) for step in steps]
    edge = lower_edge(objectives)
    if edge:
        objectives = [max(value, edge) for value in objectives]
    for axes, values, log in zip(pair, (objectives, violations), (edge > 0, len(steps) > 0)):
        axes.plot(numbers, values, marker=".", markersize=4, linewidth=1.0, color=COLOURS[0])
        axes.locator_params(axis="x", integer=True)
        axes.set_title("" if steps else "no iterations recorded", fontsize=SMALL)
        if log:
            axes.set_yscale("log")
    style(pair[0], "", f"objective ({'s' if timed else 'SI'})")
    style(pair[1], "iteration", "violation (SI)")
    pair[0].tick_params(labelbottom=False)
    pair[0].figure.align_ylabels(pair)


def lower_edge(values: Sequence[float]) -> float:
    """Return the least value that a logarithmic scale shows, beside which smaller ones are zeros;
    0 where a linear scale shows all.

    It is that of the values above NOTHING of the largest, if they go over more than WIDE, or where
    others are zeros a tenth of it.
    """
    largest = max(values, default=0.0)
    if largest <= 0 or min(values) < -NOTHING * largest:
        return 0.0
    shown = [value for value in values if value > NOTHING * largest]
    if largest <= WIDE * min(shown):
        return 0.0
    return min(shown) / (1 if len(shown) == len(values) else 10)


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
        sparsity = nlp.constraints.jac_sparsity(0, 0)
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
