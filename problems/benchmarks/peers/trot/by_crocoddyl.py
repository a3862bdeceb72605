"""Crocoddyl's own trot of ANYmal, solved by its FDDP: run by a Python that has crocoddyl."""

import time
from collections.abc import Callable
from importlib import metadata

import crocoddyl
import example_robot_data
import numpy as np
import pinocchio as pin
from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
LENGTH, HEIGHT = 0.15, 0.1  # m, of steps, as in its example `quadrupedal_gaits`
SWING, SUPPORT = 0.25, 0.02  # s, of phases, likewise
ITERATIONS = 100


def version() -> str:
    """Return the release."""
    return metadata.version("crocoddyl")


def trot(step: float) -> Callable:
    """Two steps of a trot, on a `step` of time (s)."""
    robot = example_robot_data.load("anymal")
    model, data = robot.model, robot.model.createData()
    q0 = model.referenceConfigurations["standing"].copy()
    x0 = np.concatenate([q0, np.zeros(model.nv)])
    begin = time.process_time()
    gait = SimpleQuadrupedalGaitProblem(model, *FEET)
    counts = round(SWING / step), round(SUPPORT / step)
    problem = gait.createTrottingProblem(x0, LENGTH, HEIGHT, step, *counts)
    built = time.process_time()
    solver = crocoddyl.SolverFDDP(problem)
    states = [x0] * (problem.T + 1)
    solver.solve(states, problem.quasiStatic(states[:-1]), ITERATIONS, False, 0.1)
    searched = time.process_time()
    pin.forwardKinematics(model, data, q0)
    pin.updateFramePlacements(model, data)
    return lambda: {
        "building": built - begin,
        "search": searched - built,
        "iterations": solver.iter,
        "objective": float(solver.cost),
        "joints": list(model.names)[2:],
        "standing": q0.tolist(),
        "feet": {name: data.oMf[model.getFrameId(name)].translation.tolist() for name in FEET},
        "height": float(pin.centerOfMass(model, data, q0)[2]),
        "length": LENGTH,
        "lift": HEIGHT,
        "swing": SWING,
        "support": SUPPORT,
    }


TASKS = {"trot": trot}
