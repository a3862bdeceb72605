"""Iterations of the solver: objective and violation over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ocp.plots.canvas import COLOURS, SMALL, picture, style
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR = 1e-16  # what a zero is drawn as on a logarithmic scale
NOTHING = 1e-12  # of the largest objective: what is zero but for rounding
WIDE = 1e3  # largest over smallest: what a linear scale does not show


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
