"""The overview of a motion on one page: what it does, what drives it, how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ocp.plots.bodies.stick_figures import snapshots
from ocp.plots.canvas import SMALL, TEXT, WIDTH, picture
from ocp.plots.curves.ball_limit_curves import draw_ball, limited_balls
from ocp.plots.curves.contact_forces import LEAST, contact_forces, contacts_of, draw_forces
from ocp.plots.curves.joint_curves import MANY, Profile, is_held, joints_by_kind, limited_quantity
from ocp.plots.curves.joint_panels import (
    HEIGHT,
    moving_sections,
    multiples,
    needs_own_panels,
    rows_of,
)
from ocp.plots.curves.motion_curves import draw_panels, legend
from ocp.plots.curves.solver_iterations import convergence
from ocp.plots.curves.state_panels import above_states, state_panels, states_height
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

SHOTS = 7  # snapshots
STILL = 1e-5  # of the largest value of a section: what has less is at rest
LOOKED = 21  # instants at which contacts are looked for
TOP = 4.6  # in: what stands above small multiples


def plot(solution: Solution, path: str | Path | None = None) -> Figure:
    """Return the overview on one page: snapshots in their surroundings, joints, velocities where
    they are limited, torques, internal or contact forces, convergence.

    Joints in small panels of their own where they are many, and without those that are at rest;
    states of elements below, those of a kind in one panel. It
    is a matplotlib Figure, and written to `path`, if any, as .png, .svg or .pdf. Raises ValueError
    naming any other suffix.
    """
    check_solution("plot", solution)
    sections = sections_of(solution)
    many = any(needs_own_panels(solution, section) for section in sections)
    page = _of_many if many else _of_few
    bearing, states = _bears(solution), state_panels(solution)
    height = _height_of_many(sections) if many else _height_of_few(solution, sections, bearing)
    with picture(path, WIDTH, height + states_height(states)) as figure:
        figure.suptitle(
            f"{solution.status},  duration {solution.duration:.5g} s,  "
            f"objective {solution.objective:.6g}",
            fontsize=TEXT + 1,
        )
        page(figure, above_states(figure, solution, states, height), solution, sections, bearing)
    return figure


def sections_of(solution: Solution) -> list[Profile]:
    """Return the joints' curves that are drawn over time, without those at rest, and without states
    of elements."""
    tree, problem = solution.problem.tree, solution.problem
    shown = ["q", *(limited_quantity(tree, "qd") if is_held(problem, "qd") else []), "tau"]
    every = [Profile(name, joints) for name in shown for joints in joints_by_kind(tree, name)]
    internal = [Profile("force", tree.joints)]
    if any(needs_own_panels(solution, section) for section in every) or len(tree.joints) > MANY:
        internal = []
    return list(moving_sections(solution, [*every, *internal], STILL)) or every[:1]


def _bears(solution: Solution) -> bool:
    """Tell whether anything pushes on the motion, or strikes it."""
    if not contacts_of(solution) or solution.impulses:
        return bool(solution.impulses)
    felt = contact_forces(solution, solution.times(LOOKED))
    return any(bool(np.abs(each.forces).max() > LEAST) for each in felt.values())


def _height_of_few(solution: Solution, sections: Sequence[Profile], bearing: bool) -> float:
    return 1.7 + 1.25 * max(3, len(sections) + len(limited_balls(solution)) + bearing)


def _height_of_many(sections: Sequence[Profile]) -> float:
    return TOP + HEIGHT * sum(rows_of(section.joints) for section in sections)


def _of_few(
    figure: Figure,
    spec: SubplotSpec,
    solution: Solution,
    sections: Sequence[Profile],
    bearing: bool,
) -> None:
    """Draw curves on the left, and on the right the motion and how it was found."""
    balls = limited_balls(solution)
    count = len(sections) + len(balls) + bearing
    columns = spec.subgridspec(1, 2, width_ratios=(1, 1.05))
    grid: np.ndarray = columns[0].subgridspec(count, 1).subplots(sharex=True, squeeze=False)[:, 0]
    draw_panels(grid[: len(sections)], solution, sections)
    for axes, reach in zip(grid[len(sections) :], balls):
        draw_ball(axes, solution, reach)
    if bearing:
        draw_forces(grid[-1], solution)
    grid[-1].set_xlabel("time (s)", fontsize=TEXT)
    rows = columns[1].subgridspec(3, 1, height_ratios=(3, 1, 1))
    snapshots(figure, rows[0], solution, SHOTS)
    convergence([figure.add_subplot(rows[k]) for k in (1, 2)], solution)
    legend(figure)


def _of_many(
    figure: Figure,
    spec: SubplotSpec,
    solution: Solution,
    sections: Sequence[Profile],
    bearing: bool,
) -> None:
    """Draw the motion and how it was found above, and a small panel for each joint below."""
    below = _height_of_many(sections) - TOP
    rows = spec.subgridspec(2, 1, height_ratios=(TOP, below))
    columns = rows[0].subgridspec(1, 2, width_ratios=(1.45, 1))
    snapshots(figure, columns[0], solution, SHOTS)
    balls = limited_balls(solution)
    right = columns[1].subgridspec(2 + len(balls) + bearing, 1)
    convergence([figure.add_subplot(right[k]) for k in (0, 1)], solution)
    for k, reach in enumerate(balls):
        axes = figure.add_subplot(right[2 + k])
        draw_ball(axes, solution, reach)
        axes.legend(fontsize=SMALL, frameon=False)
    if bearing:
        axes = figure.add_subplot(right[-1])
        draw_forces(axes, solution)
        axes.set_xlim(0, solution.duration)
        axes.set_xlabel("time (s)", fontsize=TEXT)
    multiples(figure, rows[1], solution, sections)
