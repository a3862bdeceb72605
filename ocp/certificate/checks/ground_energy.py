"""Energy that the ground gives a motion, which a rigid one never does."""

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.motion import quadrature
from ocp.pickling import portable
from ocp.problem.contact.balance import DISSIPATION
from ocp.problem.instant import Instant
from ocp.solution.solution import Solution

LEAST = 1e-9  # J: work of joints, to which energies are compared at least


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class GroundEnergy:
    """Energy (J) that the ground has `given` feet and `taken` from them, each foot at each instant
    by itself, and the positive `work` (J) at joints, of drives and force elements; whether the
    statement has `asked` that none be given (`dissipation`)."""

    given: float
    taken: float
    work: float
    asked: bool

    @property
    def share(self) -> float:
        """What is given, over the work."""
        return self.given / max(self.work, LEAST)

    @property
    def judged(self) -> float | None:
        """The share where none was to be given, None elsewhere."""
        return self.share if self.asked else None


def ground_energy(solution: Solution) -> GroundEnergy | None:
    """Return the GroundEnergy of a motion; None without a ground on which feet stand."""
    problem = solution.problem
    ground = problem.ground
    if ground is None or not any(foot.supports for foot in ground.feet):
        return None
    feet, moving = len(ground.feet), problem.tree.dof - len(problem.tree.states)

    def powers(at: Instant) -> Matrix:
        joints = (at.tau + at.elements)[:moving] * at.qd[:moving]
        return ca.vertcat(*(at.contact_power(foot.name) for foot in ground.feet), joints)

    points = 2 * problem.motion.degree + 4
    s, weights = quadrature(problem.motion, "gauss", points, ground.switches)
    rows = solution.trace(powers, s * solution.duration)
    gained, lost = (
        np.maximum(sign * rows, 0.0) @ weights * solution.duration for sign in (1.0, -1.0)
    )
    return GroundEnergy(
        given=float(gained[:feet].sum()),
        taken=float(lost[:feet].sum()),
        work=float(gained[feet:].sum()),
        asked=any(each.name.partition(".")[0] == DISSIPATION for each in problem.constraints),
    )


def of_phases(parts: Iterable[GroundEnergy | None]) -> GroundEnergy | None:
    """Return the GroundEnergy of all phases together; None where none has a ground."""
    known = [each for each in parts if each is not None]
    if not known:
        return None
    return GroundEnergy(
        given=sum(each.given for each in known),
        taken=sum(each.taken for each in known),
        work=sum(each.work for each in known),
        asked=all(each.asked for each in known),
    )
