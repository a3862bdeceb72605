"""Pictures of a first step and a last one: figures from the side, the ground from above, speed."""

from pathlib import Path
from typing import Any

import numpy as np

from ocp import Solution
from ocp.mechanics import convex_hull
from ocp.plots import COLOURS, SMALL, TEXT, WIDTH, picture, scene, show, style
from ocp.problems.gait.pictures.human_figure import BODY, SIDEWAYS, body_points, laden
from ocp.problems.gait.starting_stopping.report import AHEAD, SIDE, SIDES, UP, Course, course

FIGURES = 9  # drawn, from the first instant to the last
PITCH = 0.85  # m: from figure to figure


def draw(solution: Solution, path: str | Path | None = None) -> Any:
    """Return one page: the body from the right side, the ground from above with the paths of centre
    of mass and of pressure, forces and speed over time. Written to `path`, if any, as .png, .svg or
    .pdf; raises ValueError naming any other suffix."""
    way = course(solution)
    with picture(path, WIDTH, 7.6) as figure:
        side, above, forces, speed = figure.subplots(4, 1, height_ratios=(2.6, 1.7, 1.5, 1.1))
        _figures(side, solution, way)
        _ground(above, solution, way)
        for name, part in (("up", UP), ("ahead", AHEAD)):
            for foot in SIDES:
                look: dict[str, Any] = {"color": BODY.colours[foot], "linewidth": 1.2}
                dashes = "-" if part == UP else (0, (3, 1.5))
                label = f"{foot} foot, {name}"
                forces.plot(way.t, way.forces[foot][part], linestyle=dashes, label=label, **look)
        style(forces, "", "forces (body weights)")
        forces.legend(fontsize=SMALL, frameon=False, ncols=2, loc="upper left")
        speed.plot(way.t, way.velocity[AHEAD], color="black", linewidth=1.2)
        style(speed, "time (s)", "ahead (m/s)")
        for axes in (forces, speed):
            axes.set_xlim(0.0, way.t[-1])
            for name, begins in way.begins.items():
                axes.axvline(begins, color="0.8", linewidth=0.6, zorder=0)
                if axes is speed and name:
                    axes.text(begins, 0.02, f" {name}", fontsize=SMALL, rotation=90, va="bottom")
    return figure


def _figures(axes: Any, solution: Solution, way: Course) -> None:
    """Draw the body at some instants, side by side, with the forces of the ground."""
    body, begun = laden(solution.problem.tree), list(way.begins.values())
    phases = list(solution.phases.values())
    for k, when in enumerate(np.linspace(0.0, way.t[-1], FIGURES)):
        number = min(int(np.searchsorted(begun, when, side="right")) - 1, len(phases) - 1)
        inside = np.array([min(when - begun[number], phases[number].duration)])
        seen = scene(phases[number], inside, body_points(solution.problem.tree))
        show(axes, seen, body, 0, SIDEWAYS, k * PITCH - seen.points[body.middle][SIDEWAYS[0], 0])
        axes.text(k * PITCH, -0.08, f"{when:.2f} s", ha="center", va="top", fontsize=SMALL)
    axes.axhline(0.0, color="0.5", linewidth=0.8, zorder=1)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("from the right side, with the forces of the ground", fontsize=TEXT)


def _ground(axes: Any, solution: Solution, way: Course) -> None:
    """Draw soles that bear and the paths of centre of mass and of pressure, from above."""
    plane = [AHEAD, SIDE]
    for phase in solution.phases.values():
        ground = phase.problem.ground
        for foot in ground.feet:
            for support in foot.supports:
                corners = convex_hull(support.polygon, ground.normal)[:, plane]
                colour = BODY.colours[foot.name]
                axes.fill(*corners.T, facecolor=(colour, 0.06), edgecolor=(colour, 0.6), lw=0.6)
    axes.plot(*way.pressure[plane], color=COLOURS[2], linewidth=1.4, label="centre of pressure")
    axes.plot(*way.mass[plane], color="black", linewidth=1.2, label="centre of mass")
    axes.set_aspect("equal")
    style(axes, "forward, z (m)", "to the left, x (m)")
    axes.legend(fontsize=SMALL, frameon=False, ncols=2, loc="upper left")
