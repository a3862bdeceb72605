"""Check a motion by its torques alone: simulated from the start, it must end where it should.

The same code, of another kind than all the transcriptions, for every system: Runge and Kutta's
fourth-order steps of our forward dynamics, which the dynamics' own rows compare with Pinocchio's.
"""

from typing import Any

import casadi as ca
import numpy as np

from ocp import forward_dynamics
from ocp.problems.benchmarks.peers.tasks import MOTIONS

STEPS = 16  # between two entries of the table of torques


def checked(task: str, t: np.ndarray, tau: np.ndarray) -> dict[str, float]:
    """Return the motion under torques (n, m) at times t (m,), linear from one to the next.

    `missed`: the farthest of all coordinates and rates from the end that is asked (rad or m and
    per s); `beyond`: how far limits of torques and speeds are exceeded, as a part of them;
    `effort`: the integral of the squared torques (N2 m2 s). An entry that has its time twice jumps.
    """
    statement = MOTIONS[task].statement()
    tree, (begin, end) = statement.tree, MOTIONS[task].ends
    tau = np.concatenate([tau, np.zeros((tree.dof - len(tau), len(t)))])  # of what nothing drives
    states = simulated(tree, np.array(begin), t, tau)
    goal = np.concatenate([end, np.zeros(tree.dof)])
    limits = [
        (np.array([pair[1] for pair in pairs], dtype=float), values)
        for pairs, values in (
            ([joint.torque for joint in tree.moving], tau),
            ([joint.velocity for joint in tree.moving], states[tree.dof :]),
        )
    ]
    beyond = [
        np.abs(values[row]).max() / limit[row] - 1.0
        for limit, values in limits
        for row in range(tree.dof)
        if np.isfinite(limit[row]) and limit[row] > 0
    ]
    squares = (tau[:, :-1] ** 2 + tau[:, :-1] * tau[:, 1:] + tau[:, 1:] ** 2).sum(axis=0) / 3
    return {
        "missed": float(np.abs(states[:, -1] - goal).max()),
        "beyond": float(max(0.0, *beyond)),
        "effort": float(squares @ np.diff(t)),
    }


def simulated(tree: Any, start: np.ndarray, t: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return the states (2 n, m) of a tree from rest at `start` (n,) under those torques."""
    n = tree.dof
    x, u = ca.SX.sym("x", 2 * n), ca.SX.sym("u", n)
    slope = ca.Function(
        "slope", [x, u], [ca.vertcat(x[n:], forward_dynamics(tree, x[:n], x[n:], u))]
    )
    x, h = ca.MX.sym("x", 2 * n), ca.MX.sym("h")
    first, last = ca.MX.sym("first", n), ca.MX.sym("last", n)
    state, step = x, h / STEPS
    for k in range(STEPS):
        u = [first + (last - first) * (k + part) / STEPS for part in (0.0, 0.5, 1.0)]
        k1 = slope(state, u[0])
        k2 = slope(state + step / 2 * k1, u[1])
        k3 = slope(state + step / 2 * k2, u[1])
        k4 = slope(state + step * k3, u[2])
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    cell = ca.Function("cell", [x, first, last, h], [state])
    walk = cell.mapaccum(len(t) - 1)
    begin = np.concatenate([start, np.zeros(n)])
    states = np.array(walk(begin, tau[:, :-1], tau[:, 1:], np.diff(t)[None]))
    return np.column_stack([begin, states])
