"""Slopes of flexible links with first-order shapes, which stretch by their rotation.

A rotation 1 + [theta] lengthens what hangs on it by sqrt(1 + theta^2), theta^2 / 2 to second order.
Modes with products of two amplitudes among their terms correct this.
"""

from dataclasses import dataclass

import numpy as np

from ocp.mechanics.flexible.link_modes import section_turns
from ocp.solution.solution import Solution

INSTANTS = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Largest rotation of a section of a `link` by its shapes: `angle` (rad) at `time` (s)."""

    link: str
    angle: float
    time: float

    @property
    def stretch(self) -> float:
        """Elongation of the parts beyond the link, as a share of its length."""
        return self.angle**2 / 2


def steepest_slope(solution: Solution) -> Slope | None:
    """Return the largest Slope of links with first-order shapes; None without such."""
    tree, times = solution.problem.tree, solution.times(INSTANTS)
    slopes = []
    for joint, link, rows in zip(tree.joints, tree.links, tree.amplitude_rows):
        if link.modes is None or len(link.modes.terms) > len(rows):
            continue
        amplitudes = solution.q(times)[list(rows)]
        angles = np.linalg.norm(
            np.einsum("pmi,mt->tpi", section_turns(link.modes), amplitudes), axis=2
        )
        steep = angles.max(axis=1)
        place = int(steep.argmax())
        slopes.append(Slope(link=joint.name, angle=float(steep[place]), time=float(times[place])))
    return max(slopes, key=lambda slope: slope.angle, default=None)
