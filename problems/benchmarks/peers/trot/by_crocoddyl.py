"""Crocoddyl's own trot of ANYmal, solved by its FDDP: run by a Python that has crocoddyl.

`python by_crocoddyl.py STEP REPEATS`: the step of time (s), and how often it is solved. The last
line of what it prints is JSON.
"""

import json
import sys
import time

import crocoddyl
import example_robot_data
import numpy as np
import pinocchio as pin
from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
LENGTH, HEIGHT = 0.15, 0.1  # m, of steps, as in its example `quadrupedal_gaits`
SWING, SUPPORT = 0.25, 0.02  # s, of phases, likewise
ITERATIONS = 100


def main() -> None:
    """Print what the trot came to."""
    step, repeats = float(sys.argv[1]), int(sys.argv[2])
    robot = example_robot_data.load("anymal")
    model, data = robot.model, robot.model.createData()
    q0 = model.referenceConfigurations["standing"].copy()
    x0 = np.concatenate([q0, np.zeros(model.nv)])
    pin.forwardKinematics(model, data, q0)
    pin.updateFramePlacements(model, data)
    feet = {name: data.oMf[model.getFrameId(name)].translation.tolist() for name in FEET}
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        gait = SimpleQuadrupedalGaitProblem(model, *FEET)
        problem = gait.createTrottingProblem(
            x0, LENGTH, HEIGHT, step, round(SWING / step), round(SUPPORT / step)
        )
        built = time.process_time()
        solver = crocoddyl.SolverFDDP(problem)
        states = [x0] * (problem.T + 1)
        solver.solve(states, problem.quasiStatic(states[:-1]), ITERATIONS, False, 0.1)
        seconds.append((built - begin, time.process_time() - built))
    masses = [inertia.mass for inertia in model.inertias]
    answer = {
        "seconds": min(seconds, key=sum),
        "iterations": solver.iter,
        "stop": float(solver.stoppingCriteria()),
        "objective": float(solver.cost),
        "joints": list(model.names)[2:],
        "standing": q0.tolist(),
        "feet": feet,
        "height": float(pin.centerOfMass(model, data, q0)[2]),
        "mass": float(sum(masses)),
        "length": LENGTH,
        "lift": HEIGHT,
        "swing": SWING,
        "support": SUPPORT,
        "states": np.array(solver.xs).tolist(),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
