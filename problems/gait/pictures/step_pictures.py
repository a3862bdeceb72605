"""Pictures of a walk: the step in figures and from above, and its report card."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ocp import Solution
from ocp.plots import SMALL, TEXT, WIDTH, Margins, grid, picture, plan, plot, rulers, scene, strip
from ocp.problems.gait.card.picture import plot_card
from ocp.problems.gait.pictures.footprints import soles
from ocp.problems.gait.pictures.human_figure import ABOVE, BODY, FRONT, SIDEWAYS, body_points, laden
from ocp.problems.gait.report.gait_cycle import step_length
from ocp.problems.gait.statement.contact_schedule import UP, noses

INSTANTS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the step, that are drawn
HEIGHTS, LEGEND = (2.0, 2.0, 1.9), 0.7  # in: rows of the page, and what is below them
MARGINS = Margins(left=0.66, right=0.06, top=0.2, below=0.2)


def draw(solution: Solution, path: str | Path) -> None:
    """Draw the step to `path`, and its report card to the file of that name with "-card" added.

    Of a walk in phases it is the overview in place of the step.
    """
    (plot if solution.phases else plot_walk)(solution, path)
    plot_card(solution, Path(path).with_stem(f"{Path(path).stem}-card"))


def plot_walk(solution: Solution, path: str | Path | None = None) -> Any:
    """Return one page: the step from the side and the front, and the ground from above.

    The ground's forces and the zero moment point are shown too. Written to `path`, if any, as .png,
    .svg or .pdf. Raises ValueError naming any other suffix.
    """
    high = MARGINS.top + sum(HEIGHTS) + 2 * MARGINS.below + LEGEND
    with picture(path, WIDTH, high, fixed=True) as figure:
        T, switches = solution.duration, solution.problem.ground.switches
        tree = solution.problem.tree
        s = np.unique(np.concatenate([np.linspace(0, 1, 201), switches]))
        figures = scene(solution, T * np.array(INSTANTS), body_points(tree), bodies=True)
        above = scene(solution, T * s, {})
        (side,), (front,), (ground,) = grid(figure, HEIGHTS, MARGINS)
        labels = [f"{50 * instant:g} %" for instant in INSTANTS]
        seen = tuple(treads(solution))
        for axes, plane in ((side, SIDEWAYS), (front, FRONT)):
            floor = [line[list(plane)] for line in seen]
            strip(axes, figures, laden(tree), plane, 1.0, labels, floor)
        rulers(front, BODY, 1.6)
        side.set_title(
            "the step from the right side, at percentages of the gait cycle", fontsize=TEXT
        )
        front.set_title("from the front", fontsize=TEXT)
        _footprints(ground, solution)
        handles = plan(ground, above, BODY, ABOVE, s)
        ground.set_title(
            "from above: soles (grey), supports (coloured), "
            "and where the zero moment point is when they change",
            fontsize=TEXT,
        )
        ground.set(xlabel="forward, z (m)", ylabel="to the left, x (m)")
        figure.legend(handles=handles, loc="lower center", ncols=3, fontsize=SMALL, frameon=False)
    return figure


def treads(solution: Solution) -> Iterator[np.ndarray]:
    """Yield lines (3, 4) of the stairs of a step, those of the left foot, of the right one and of
    the next: across where a tread begins, along it and up or down to the next one; none elsewhere.
    """
    ground = solution.problem.ground
    levels = [ground.plane(foot) for foot in ground.feet]
    rise = float(np.dot(UP, np.subtract(levels[0].point, levels[1].point)))
    if not rise or (np.abs(np.subtract([each.normal for each in levels], UP)) > 0).any():
        return
    step = step_length(solution.problem)
    begins = float(noses(ground, step, rise)[0][2])
    for k in (-1, 0, 1):
        y, z = k * rise, begins + k * step
        yield np.array([[-1, y, z], [1, y, z], [1, y, z + step], [1, y + rise, z + step]]).T


def _footprints(axes: Any, solution: Solution) -> None:
    for sole in soles(solution, 0):
        axes.fill(
            *sole[:, list(ABOVE)].T, facecolor="0.93", edgecolor="0.7", linewidth=0.6, zorder=1
        )
