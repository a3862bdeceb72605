"""Footprints: places where soles stand flat, step after step."""

import numpy as np

from ocp import Solution
from ocp.mechanics import convex_hull, positions
from ocp.models.human import SOLES
from ocp.problems.gait.report.gait_cycle import REFLECTED, step_length
from ocp.problems.gait.statement.contact_schedule import UP


def soles(solution: Solution, steps: int) -> list[np.ndarray]:
    """Return the outlines (k, 3.

    M) of the soles where they stand flat, each a step further on than the last. The left foot
    behind comes first, then the right one, and so on for so many steps.
    """
    tree, step = solution.problem.tree, step_length(solution.problem)
    pins = solution.problem.ground.foot("right").supports[0].pins
    places = positions(tree, np.zeros(tree.dof), (*SOLES["right"], "heel_r"))
    *flat, heel = (np.array(place).ravel() for place in places)
    right = np.array(flat) - heel + np.array(pins[0].target)
    outlines = []
    for number in range(-1, steps + 1):
        side = right if number % 2 == 0 else right * REFLECTED[:, 0]
        outlines.append(convex_hull(side + (0.0, 0.0, number * step), UP))
    return outlines
