"""Sensitivities of the two-link arm's torques along a motion, by four ways.

Each is (2, 6, N): of the torques tau_1, tau_2 by q_1, q_2, their rates and their accelerations.
"""

from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ocp import Solution
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.formulations import hollerbach_4x4
from ocp.models.arms.two_link import INERTIA, LENGTH, MASS

STEP = 1e-5  # rad, rad/s, rad/s2: of central differences
BY = ("q1", "q2", "q1'", "q2'", "q1''", "q2''")  # primes are derivatives by time


def recursive(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return the sensitivities of the recursion of Xiang et al. (2009), eqs. 21-35."""
    return _shaped(solution.trace(partial(_slopes, hollerbach_4x4.sensitivity), t))


def composites(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return the sensitivities of composite bodies, by which this project solves."""
    return _shaped(solution.trace(partial(_slopes, composite_bodies.sensitivity), t))


def differences(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return central differences of the recursive torques, the step being STEP."""
    return _shaped(solution.trace(_differences, t))


def closed(solution: Solution, t: np.ndarray, load: float, gravity: float) -> np.ndarray:
    """Return the closed forms of Xiang et al. (2009), eqs. 71-82.

    `load` (N) and `gravity` (m/s2) pull down.
    """
    q, qd, qdd = solution.q(t), solution.qd(t), solution.qdd(t)
    m, long, l, moment = MASS, LENGTH, LENGTH / 2, INERTIA
    s1, s2, c2, s12 = np.sin(q[0]), np.sin(q[1]), np.cos(q[1]), np.sin(q[0] + q[1])
    lift = -m * gravity * l * s12 - load * long * s12
    both = moment + m * l**2 + m * long * l * c2
    whole = 2 * moment + m * l**2 + m * (long**2 + l**2 + 2 * long * l * c2)
    pull, turn = m * long * l * s2, m * long * l * c2
    outer = np.full_like(s2, moment + m * l**2)
    first = (
        lift - m * gravity * (l + long) * s1 - load * long * s1,
        -pull * (2 * qdd[0] + qdd[1]) - turn * (2 * qd[0] + qd[1]) * qd[1] + lift,
        -2 * pull * qd[1],
        -2 * pull * (qd[0] + qd[1]),
        whole,
        both,
    )
    second = (lift, -pull * qdd[0] + turn * qd[0] ** 2 + lift, 2 * pull * qd[0], 0 * s2, both)
    return np.array([first, (*second, outer)])


def _slopes(sensitivity: Any, at: Any) -> ca.SX:
    slopes = sensitivity(at.tree, at.q, at.qd, at.qdd, at.current_loads)[:3]
    return ca.vec(ca.densify(ca.horzcat(*slopes)))


def _differences(at: Any) -> ca.SX:
    columns = []
    for k in range(6):
        ends = []
        for way in (STEP, -STEP):
            motion = ca.vertcat(at.q, at.qd, at.qdd)
            motion[k] += way
            q, qd, qdd = ca.vertsplit(motion, 2)
            ends.append(hollerbach_4x4.inverse(at.tree, q, qd, qdd, at.current_loads))
        columns.append((ends[0] - ends[1]) / (2 * STEP))
    return ca.vertcat(*columns)


def _shaped(values: np.ndarray) -> np.ndarray:
    return values.reshape(6, 2, -1).transpose(1, 0, 2)
