"""A squat to stand by torques, predicted by OpenSim Moco: a script, as `moco` says. It reads a JSON
file and writes another."""

import json
import sys
import time
from pathlib import Path

import opensim as osim

osim.Logger.setLevelString("error")
TOLERANCE = 1e-4  # of Moco's example


def predicted(request: dict) -> dict:
    """Return the motion of the least squared controls of torques by coordinate, between two
    postures at rest: {coordinate: torque at most (N m), bounds, first and last value}."""
    model = osim.Model(request["model"])
    model.updForceSet().clearAndDestroy()
    model.initSystem()
    paths = {}
    for name, (torque, *_) in request["coordinates"].items():
        coordinate = model.updCoordinateSet().get(name)
        paths[name] = f"{coordinate.getAbsolutePathString()}/value"
        actuator = osim.CoordinateActuator()
        actuator.setName(f"torque_{name}")
        actuator.setCoordinate(coordinate)
        actuator.setOptimalForce(torque)
        actuator.setMinControl(-1)
        actuator.setMaxControl(1)
        model.addComponent(actuator)
    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModel(model)
    problem.setTimeBounds(0, request["duration"])
    for name, (_, bounds, first, last) in request["coordinates"].items():
        problem.setStateInfo(paths[name], bounds, first, last)
    problem.setStateInfoPattern("/jointset/.*/speed", [], 0, 0)
    problem.addGoal(osim.MocoControlGoal("effort"))
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(request["intervals"])
    solver.set_optim_convergence_tolerance(TOLERANCE)
    solver.set_optim_constraint_tolerance(TOLERANCE)
    begun = time.process_time()
    solution = study.solve()
    seconds = time.process_time() - begun
    success = solution.success()
    if not success:
        solution.unseal()
    return {
        "success": success,
        "objective": solution.getObjective(),
        "iterations": solution.getNumIterations(),
        "seconds": seconds,
    }


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(predicted(json.loads(asked.read_text()))))
