"""Swing, twist and turn of balls over time, within the limits of the problem."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ocp.plots.canvas import COLOURS, Look, label_of, style
from ocp.plots.curves.phase_curves import curve, mark_ends
from ocp.problem.constraints.ball_limits import TWIST, BallReach, reaches
from ocp.solution.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.07  # of what is seen


def limited_balls(solution: Solution) -> tuple[BallReach, ...]:
    """Return the limits of balls' turns, once for each ball."""
    problem = solution.problem
    asked = [each for part in problem.parts.values() for each in part.requirements]
    return tuple({each.joint: each for each in reaches(asked)}.values())


def draw_ball(axes: Axes, solution: Solution, reach: BallReach) -> None:
    """Draw swing, twist and turn of a ball over time, what lies beyond their limits shaded."""
    t, values = curve(solution, partial(_traced, reach))
    bounds = dict(reach.bounds)
    for k, (what, line) in enumerate(zip(bounds, values)):
        name = f"{label_of(reach.joint)}: {what}"
        axes.plot(t, line, label=name, color=COLOURS[k], linewidth=1.3)
    seen = [np.nanmin(values), np.nanmax(values), *np.ravel([*bounds.values()])]
    margin = MARGIN * float(np.ptp(seen))
    low, high = min(seen) - margin, max(seen) + margin
    for k, (what, (lower, upper)) in enumerate(bounds.items()):
        look: Look = {"facecolor": (COLOURS[k], 0.15), "edgecolor": COLOURS[k], "linewidth": 0.7}
        axes.axhspan(float(upper), high, zorder=0, **look)
        if what == TWIST:
            axes.axhspan(low, float(lower), zorder=0, **look)
    style(axes, "", "turn of a ball (rad)")
    axes.set(xlim=(t[0], t[-1]), ylim=(low, high))
    mark_ends(axes, solution)


def _traced(reach: BallReach, motion: Solution, t: np.ndarray) -> np.ndarray:
    return motion.trace(reach.angles, t)
