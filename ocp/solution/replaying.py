"""The planned torques replayed.

What a finished motion becomes without its plan, simulated by other dynamics than the planner's.
"""

from math import factorial
from typing import cast

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS
from ocp.dynamics.catalogue import is_built_in
from ocp.dynamics.closed_loops import eliminated
from ocp.dynamics.formulation import Formulation
from ocp.dynamics.lie_group import LIE_GROUP
from ocp.mechanics.kinematics import poses
from ocp.mechanics.loads import acting
from ocp.mechanics.loops import gap_slope
from ocp.mechanics.structure import structure
from ocp.mechanics.tree import Tree
from ocp.motion.mesh import Mesh, power_series
from ocp.solution.simulation import accelerations, march, stepper
from ocp.solution.solution import Solution


def judge(planner: Formulation) -> Formulation | None:
    """Return the formulation that simulates the plans of another; None is what suits the tree.

    Methods of the house state the same mechanics, and are judged by another of them: articulated
    inertias, and for plans by that recursion the mass matrix of Newton and Euler. A formulation of
    one's own may mean other mechanics, friction for instance, and is simulated by itself.
    """
    if not is_built_in(planner):
        return planner
    return FORMULATIONS["newton_euler"] if planner.name == LIE_GROUP.name else None


def replay(solution: Solution) -> np.ndarray:
    """Return the states (2 n, segments + 1), at the motion's breaks, of a forward simulation.

    Coordinates in rad or m, then their rates. Under the planned torques, segment by segment from
    the planned start and without any feedback; NaN from where it blew up. The plan's torques come
    from its own formulation, the simulated motion from another one, so that no formulation vouches
    for itself; but for those that are not of the house, whose mechanics may be others.
    """
    return march(_segment(solution), planned(solution)[:, 0], _coefficients(solution))


def drifts(solution: Solution) -> tuple[float, float, float]:
    """Return drifts of a replay: the largest, that at the end, a segment's by itself (rad or m)."""
    plan, segment, coefficients = planned(solution), _segment(solution), _coefficients(solution)
    n = solution.problem.tree.dof
    whole = march(segment, plan[:, 0], coefficients)
    single = march(segment, plan[:, 0], coefficients, anew=plan)
    drift, defect = (np.abs(states[:n] - plan[:n]).max(axis=0) for states in (whole, single))
    drift_most, drift_end, defect_most = (
        float(value) if np.isfinite(value) else np.inf
        for value in (drift.max(), drift[-1], defect.max())
    )
    return drift_most, drift_end, defect_most


def planned(solution: Solution) -> np.ndarray:
    """Return the planned states (2 n, segments + 1), rad or m and rates, at the motion's breaks."""
    breaks = solution.problem.motion.breaks * solution.duration
    return np.vstack([solution.q(breaks), solution.qd(breaks)])


def _coefficients(solution: Solution) -> np.ndarray:
    """Return the parameters of each segment (segments, ..).

    Its start and its length (s), and the coefficients of its polynomials of time.

    They are those of the planned q, or of the torques where these are polynomials of their own.
    """
    motion, T = solution.problem.motion, solution.duration
    starts, lengths = motion.breaks[:-1] * T, np.diff(motion.breaks) * T
    if motion.collocated:
        torques, powers = solution.tau(motion.nodes * T), np.arange(motion.degree)
        plans = [
            power_series(cast(Mesh, motion), torques, k) / length**powers
            for k, length in enumerate(lengths)
        ]
        plan = np.array([plan.T.ravel() for plan in plans])
        return np.column_stack([starts, lengths, plan])
    orders = range(motion.degree + 1)
    taylor = [
        solution.points @ motion.values(motion.breaks[:-1], k).T / factorial(k) / T**k
        for k in orders
    ]
    return np.vstack([starts, lengths, *taylor]).T


def _segment(solution: Solution) -> ca.Function:
    """Return the integrator over one segment, with the parameters of `_coefficients`.

    Passive joints get no torque.
    """
    problem, planner = solution.problem, solution.formulation
    tree, n, given = problem.tree, problem.tree.dof, problem.motion.collocated
    clock, state = ca.SX.sym("clock"), ca.SX.sym("x", 2 * n)
    start, length = ca.SX.sym("start"), ca.SX.sym("length")
    t = clock * length
    count = problem.motion.degree + (not given)
    taylor, loads = ca.SX.sym("taylor", n, count), acting(problem.loads, start + t)
    q, qd, qdd = (_polynomial(taylor, t, order) for order in range(3))
    if given:
        torque = ca.SX(q)
    else:
        torque = _drive(tree, q, planner.inverse(tree, q, qd, qdd, loads))
    for row in structure(tree).passive:
        torque[row] = 0
    acceleration = accelerations(tree, judge(planner), state[:n], state[n:], torque, loads)
    parameters = ca.vertcat(start, length, ca.vec(taylor))
    return stepper(clock, state, parameters, acceleration, 1.0, pace=length)


def _polynomial(taylor: ca.SX, t: ca.SX, order: int) -> ca.SX:
    """Return a derivative (n,) of the polynomial with coefficients (n, count) at t."""
    terms = (
        factorial(k) / factorial(k - order) * taylor[:, k] * t ** (k - order)
        for k in range(order, taylor.shape[1])
    )
    return sum(terms, ca.SX(0))


def _drive(tree: Tree, q: ca.SX, needed: ca.SX) -> ca.SX:
    """Return the torques (n,) that move a tree as planned.

    Those its open loops would need, less what cut joints give. Where these forces are not
    determined, the least, for all that spare passive joints move it alike.
    """
    if not structure(tree).closed:
        return ca.SX(needed)
    frames, free, rows = poses(tree, q), list(structure(tree).passive), list(structure(tree).cuts)
    slope = gap_slope(tree, frames)
    if structure(tree).determined:
        return needed - slope.T @ eliminated(tree, frames, needed, tuple(free))
    if not free:
        return ca.SX(needed)
    pull = slope[rows, free]
    return needed - slope[rows, :].T @ (pull @ ca.solve(pull.T @ pull, needed[free]))
