"""Moments, forces and power of force elements over time, and the power of all drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ocp.mechanics import State, Strut, Tendon, Tree, forces_of, torques_by_element
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.plots.canvas import COLOURS, SMALL, WIDTH, label_of, picture, style
from ocp.plots.curves.phase_curves import curve, mark_ends
from ocp.problem import Instant
from ocp.report.mechanism_report import element_powers
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 2.2  # in, of a panel
DRIVES = "drives"
Line = tuple[str, np.ndarray, int, int]  # name, values (N,), number of the element, of its joint
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)))


def plot_elements(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the figure of every force element over time, at joints (N m or N) or as tension (N),
    and of the power (W) that it and all drives together feed into the motion.

    Elements of a joint that slides, struts and tendons share the panel of forces. It is written to
    `path`, if any, as .png, .svg or .pdf. Raises ValueError if the tree has no elements, and naming
    any other suffix.
    """
    check_solution("plot_elements", solution)
    tree = solution.problem.tree
    if not forces_of(tree):
        raise ValueError("plot_elements: the tree has no force elements")
    given = _output_rows(tree)
    units = [unit for unit in ("N m", "N") if unit in [its for its, *_ in given.values()]]
    with picture(path, WIDTH, 0.6 + HEIGHT * (1 + len(units))) as figure:
        grid: np.ndarray = figure.subplots(1 + len(units), 1, sharex=True, squeeze=False)[:, 0]
        t, forces = curve(solution, _trace_of_tree(_forces, tree))
        lines = dict(zip(given, forces))
        for axes, unit in zip(grid, units):
            chosen = [
                (name, lines[name], *look) for name, (its, *look) in given.items() if its == unit
            ]
            _draw(axes, t, chosen, f"{'moment' if unit == 'N m' else 'force'} ({unit})")
        t, (drives, *powers) = curve(solution, _trace_of_tree(_powers, tree))
        shown = [(each.name, powers[k], k, 0) for k, each in enumerate(forces_of(tree))]
        _draw(grid[-1], t, [(DRIVES, drives, -1, 0), *shown], "power (W)")
        for axes in grid:
            mark_ends(axes, solution, axes is grid[0])
            axes.set_xlim(t[0], t[-1])
        grid[-1].set_xlabel("time (s)")
        figure.align_ylabels(grid)
    return figure


def _draw(axes: Axes, t: np.ndarray, lines: Sequence[Line], label: str) -> None:
    for name, line, number, joint in lines:
        axes.plot(
            t,
            line,
            label=label_of(name),
            color="0.5" if name == DRIVES else COLOURS[number % len(COLOURS)],
            linestyle=DASHES[(joint + number // len(COLOURS)) % len(DASHES)],
            linewidth=2.4 if name == DRIVES else 1.2,
        )
    axes.axhline(0.0, color="0.8", linewidth=0.6, zorder=0)
    style(axes, "", label)
    axes.legend(fontsize=SMALL, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _trace_of_tree(function: Callable[[Instant], Matrix], tree: Tree) -> Callable:
    """Return the tracer of a function of an Instant; it gives nan where a phase has another
    tree."""
    size = len(_output_rows(tree)) if function is _forces else 1 + len(forces_of(tree))

    def trace(motion: Solution, t: np.ndarray) -> np.ndarray:
        if forces_of(motion.problem.tree) != forces_of(tree):
            return np.full((size, len(t)), np.nan)
        return motion.trace(function, t)

    return trace


def _output_rows(tree: Tree) -> dict[str, tuple[str, int, int]]:
    """Return {what an element gives: its unit, the element's number, and which of its joints}, row
    by row of `_forces`."""
    known: dict[str, tuple[str, int, int]] = {}
    for number, element in enumerate(forces_of(tree)):
        if isinstance(element, Strut | Tendon):
            known[element.name] = "N", number, 0
            continue
        joints = _joints(element)
        for which, joint in enumerate(joints):
            unit = unit_of(tree.moving[tree.coordinate(joint)], "tau")
            name = element.name if len(joints) == 1 else f"{element.name}: {joint}"
            known[name] = unit, number, which
    return known


def _joints(element: Any) -> tuple[str, ...]:
    return tuple(element.joints) if hasattr(element, "joints") else (element.joint,)


def _forces(at: Instant) -> Matrix:
    """Return the forces of elements: at their joints, or struts and tendons as tension."""
    state = State(tree=at.tree, q=at.q, qd=at.qd, known=at.moves)
    torques = torques_by_element(at.tree, at.q, at.qd, at.qdd)
    rows: list[Matrix] = []
    for element in forces_of(at.tree):
        if isinstance(element, Strut | Tendon):
            rows.append(element.tension(state))
        else:
            rows += [torques[element.name][at.tree.coordinate(each)] for each in _joints(element)]
    return ca.vertcat(*rows)


def _powers(at: Instant) -> Matrix:
    """Return the power of all drives, and of every element."""
    return ca.vertcat(ca.dot(at.tau, at.qd), element_powers(at))
