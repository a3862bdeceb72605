"""Energy balance of a motion under the torques that its solution reports."""

from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np

from ocp.mechanics.elements.generalized_forces import element_loss, forces_of
from ocp.mechanics.flexible.flexible_kinematics import damping_power
from ocp.mechanics.kinematics.kinematics import kinetic_energy, load_power, potential_energy
from ocp.mechanics.values.types import Matrix
from ocp.motion import quadrature
from ocp.problem.instant import Instant
from ocp.solution.solution import Solution


def reported_forces(at: Instant) -> Matrix:
    """Return the generalized forces (n,) of the reported torques, of cut joints, stays and the
    ground."""
    ground = 0 if at.ground is None else at.torques_without_ground - at.torques_beside_ground
    return at.tau + at.loop_torques + at.stay_torques + ground


def required_forces(at: Instant) -> Matrix:
    """Return the generalized forces (n,) that the motion needs."""
    return at.torques_without_ground


def energy_error(solution: Solution, drive: Callable[[Instant], Matrix] = reported_forces) -> float:
    """Return the largest gap between energy gained and work done, of the energy turned over.

    The work is that of the `drive`, by default the `reported_forces`, of loads, of damping, and of
    force elements beyond what they store. Energy that goes to and fro between motion and height
    is turned over too: at least the largest kinetic one.
    """
    motion = solution.problem.motion
    s, weights = quadrature(motion, "gauss", 2 * motion.degree + 4)
    levels, kinetic = solution.trace(_energies, motion.breaks * solution.duration)
    powers = solution.trace(partial(_power, drive), s * solution.duration)[0]
    amounts = powers * weights * solution.duration
    work = np.concatenate([[0.0], np.cumsum(amounts.reshape(motion.segments, -1).sum(axis=1))])
    turned = np.max([np.abs(amounts).sum(), np.ptp(levels), kinetic.max(), 1e-12])
    return float(np.max(np.abs(levels - levels[0] - work)) / turned)


def _energies(at: Instant) -> Matrix:
    """Return the energy of all, and the kinetic one."""
    kinetic = kinetic_energy(at.tree, at.q, at.qd)
    return ca.vertcat(kinetic + potential_energy(at.tree, at.q), kinetic)


def _power(drive: Callable[[Instant], Matrix], at: Instant) -> Matrix:
    outer = load_power(at.tree, at.q, at.qd, at.current_loads)
    moving = at.tree.dof - len(at.tree.states)
    work = ca.dot(drive(at)[:moving], at.qd[:moving]) + outer - damping_power(at.tree, at.qd)
    return work - element_loss(at.tree, at.q, at.qd) if forces_of(at.tree) else work
