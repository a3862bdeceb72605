"""Crocoddyl: shooting nodes with Pinocchio's derivatives, by mim_solvers' CSQP or its own FDDP.

CSQP takes limits and the end as constraints; FDDP knows neither, so that both are penalties there.
"""

from collections.abc import Callable
from importlib import metadata
from typing import Any

import crocoddyl
import mim_solvers
import numpy as np
import pinocchio as pin

ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
START = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.0])  # of the UR5, rad
GOAL = np.array([0.6, -0.8, 1.0, -1.5, -1.27, 0.5])
MOST = 200  # iterations
NEAR, NEARER = 1e-4, 1e-6  # residuals of CSQP, and of its quadratic programs, efforts being near 1
STEPS = 1000  # of a quadratic program
STOP = 1e-9  # of FDDP: expected improvement


def version() -> str:
    """Return the release."""
    return metadata.version("crocoddyl")


class Driven(crocoddyl.ActuationModelAbstract):
    """A force on the first coordinate alone."""

    def __init__(self, state: Any) -> None:
        super().__init__(state, 1)

    def calc(self, data: Any, x: np.ndarray, u: np.ndarray | None = None) -> None:
        """Set the generalised forces."""
        if u is not None:
            data.tau = np.array([u[0], 0.0])

    def calcDiff(self, data: Any, x: np.ndarray, u: np.ndarray | None = None) -> None:
        """Set their derivatives."""
        data.dtau_du = np.array([[1.0], [0.0]])


def cart_pole(solver: str, nodes: int, **settings: float) -> Callable:
    """A cart swings its pole up within two seconds by the least squared force (Kelly 2017)."""
    model, place = pin.Model(), pin.SE3.Identity()
    cart = model.addJoint(0, pin.JointModelPX(), place, "cart")
    model.appendBodyToJoint(cart, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), place)
    pole = model.addJoint(cart, pin.JointModelRY(), place, "pole")
    bob = pin.Inertia(0.3, np.array([0.0, 0.0, -0.5]), np.zeros((3, 3)))
    model.appendBodyToJoint(pole, bob, place)
    state = crocoddyl.StateMultibody(model)
    ends = np.zeros(4), np.array([1.0, -np.pi, 0.0, 0.0])  # by RY a pole turns the other way
    box = np.array([2.0, np.inf, np.inf, np.inf])
    limits = np.array([20.0]), box
    return _solved(state, Driven(state), ends, 2.0, limits, solver, nodes, effort=59.0, **settings)


def ur5_effort(solver: str, nodes: int, **settings: float) -> Callable:
    """A UR5 from rest to rest within 0.5 s by the least squared torques, within its limits."""
    file = f"{ROBOTS}/ur_description/urdf/ur5_robot.urdf"
    distribution = metadata.distribution("example-robot-data")
    model = pin.buildModelFromUrdf(str(distribution.locate_file(file)))
    state = crocoddyl.StateMultibody(model)
    ends = tuple(np.append(q, np.zeros(model.nv)) for q in (START, GOAL))
    box = np.append(model.upperPositionLimit, model.velocityLimit)
    limits = model.effortLimit, box
    actuation = crocoddyl.ActuationModelFull(state)
    return _solved(state, actuation, ends, 0.5, limits, solver, nodes, effort=961.0, **settings)


def _solved(
    state: Any,
    actuation: Any,
    ends: tuple[np.ndarray, np.ndarray],
    duration: float,
    limits: tuple[np.ndarray, np.ndarray],
    solver: str,
    nodes: int,
    penalty: float = 1e4,
    effort: float = 1.0,
) -> Callable:
    """Solve for torques that are constant over each of the nodes' intervals, from the straight
    line.

    `limits` of torques and of states, symmetric; `penalty` of the end, and of limits of states,
    beside the `effort`'s own size.
    """
    hard, dt = solver == "csqp", duration / nodes
    begin, end = ends
    box = limits[1]

    def action(last: bool) -> Any:
        costs = crocoddyl.CostModelSum(state, actuation.nu)
        control = crocoddyl.ResidualModelControl(state, actuation.nu)
        goal = crocoddyl.ResidualModelState(state, end, actuation.nu)
        place = crocoddyl.ResidualModelState(state, np.zeros(state.nx), actuation.nu)
        rules = crocoddyl.ConstraintModelManager(state, actuation.nu)
        if not last:
            costs.addCost("effort", crocoddyl.CostModelResidual(state, control), 2.0 / effort)
        if hard and last:
            none = np.zeros(state.ndx)
            rules.addConstraint("end", _bounded(state, goal, none, none))
        elif hard:
            rules.addConstraint("torques", _bounded(state, control, -limits[0], limits[0]))
            rules.addConstraint("limits", _bounded(state, place, -box, box))
        elif last:
            costs.addCost("end", crocoddyl.CostModelResidual(state, goal), penalty)
        else:
            inside = crocoddyl.ActivationBounds(-box, box)
            barrier = crocoddyl.ActivationModelQuadraticBarrier(inside)
            costs.addCost("limits", crocoddyl.CostModelResidual(state, barrier, place), penalty)
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(
            state, actuation, costs, rules if hard else None
        )
        if last:
            return crocoddyl.IntegratedActionModelEuler(dynamics, 0.0)
        model = crocoddyl.IntegratedActionModelRK(dynamics, crocoddyl.RKType.four, dt)
        if not hard:
            model.u_lb, model.u_ub = -limits[0], limits[0]
        return model

    problem = crocoddyl.ShootingProblem(begin, [action(False)] * nodes, action(True))
    problem.nthreads = 1
    line = np.linspace(begin, end, nodes + 1)
    if hard:
        search = mim_solvers.SolverCSQP(problem)
        search.eps_abs = search.eps_rel = NEARER
        search.max_qp_iters, search.termination_tolerance = STEPS, NEAR
        success = search.solve(list(line), [np.zeros(actuation.nu)] * nodes, MOST, False)
        iterations = search.iter
    else:
        search = crocoddyl.SolverBoxFDDP(problem)
        search.th_stop = STOP
        success = search.solve(list(line), [np.zeros(actuation.nu)] * nodes, MOST, False)
        iterations = search.iter
    times, torques = np.linspace(0.0, duration, nodes + 1), np.array(search.us).T
    return lambda: {
        "objective": float((torques**2).sum() * dt),
        "success": bool(success),
        "iterations": int(iterations),
        "t": np.repeat(times, 2)[1:-1].tolist(),
        "tau": np.repeat(torques, 2, axis=1).tolist(),
    }


def _bounded(state: Any, residual: Any, lower: np.ndarray, upper: np.ndarray) -> Any:
    """Return bounds of a residual as a constraint."""
    return crocoddyl.ConstraintModelResidual(state, residual, lower, upper)


TASKS = {"cart_pole": cart_pole, "ur5_effort": ur5_effort}
