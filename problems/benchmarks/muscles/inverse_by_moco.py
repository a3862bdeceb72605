"""Excitations along a given motion by MocoInverse: a script, since OpenSim brings a CasADi of its
own, which no process can have beside ours. It reads a JSON file and writes another."""

import json
import sys
import time
from pathlib import Path

import opensim as osim

osim.Logger.setLevelString("error")
MOST = 100.0  # of the reserves' controls


def inverse(request: dict) -> dict:
    """Return the result of MocoInverse for a model, times (s) and coordinates (rad) of a motion
    between two `ends` (s), `settings` of muscles, polynomial `paths` of some, `reserve` torques
    (N m) and a `mesh` (s)."""
    muscles = osim.ModelProcessor(request["model"])
    muscles.append(osim.ModOpReplaceMusclesWithDeGrooteFregly2016())
    muscles.append(osim.ModOpTendonComplianceDynamicsModeDGF("implicit"))
    model = muscles.process()
    model.initSystem()
    paths = {name: fitted(model, path) for name, path in request["paths"].items()}
    for muscle in model.updMuscles():
        ours = osim.DeGrooteFregly2016Muscle.safeDownCast(muscle)
        for name, value in request["settings"].items():
            getattr(ours, f"set_{name}")(value)
        if muscle.getName() in paths:
            ours.set_path(paths[muscle.getName()])
    model.finalizeConnections()
    table = osim.TimeSeriesTable(osim.StdVectorDouble(request["times"]))
    for coordinate in model.getCoordinateSet():
        path = f"{coordinate.getAbsolutePathString()}/value"
        table.appendColumn(path, osim.Vector(request["motion"][coordinate.getName()]))
    table.addTableMetaDataString("inDegrees", "no")
    processor = osim.ModelProcessor(model)
    processor.append(osim.ModOpAddReserves(request["reserve"], MOST, True))
    tool = osim.MocoInverse()
    tool.setModel(processor)
    tool.setKinematics(osim.TableProcessor(table))
    tool.set_initial_time(request["ends"][0])
    tool.set_final_time(request["ends"][1])
    tool.set_mesh_interval(request["mesh"])
    tool.set_convergence_tolerance(1e-4)
    tool.set_constraint_tolerance(1e-4)
    begun = time.process_time()
    result = tool.solve()  # owns its solution
    solution = result.getMocoSolution()
    seconds = time.process_time() - begun
    success = solution.success()
    if not success:
        solution.unseal()
    whole = solution.getObjectiveTerm("excitation_effort")
    reserves = squares(solution, "reserve")
    return {
        "success": success,
        "iterations": solution.getNumIterations(),
        "seconds": seconds,
        "terms": (
            whole - reserves,
            reserves,
            solution.getObjectiveTerm("auxiliary_derivatives"),
        ),
    }


def squares(solution: osim.MocoSolution, word: str) -> float:
    """Return the integral, by Simpson's rule, of the squared controls with a word in their names:
    every second time is the middle of an interval."""
    times = solution.getTimeMat()
    total = 0.0
    for name in solution.getControlNames():
        if word in name:
            values = solution.getControlMat(name) ** 2
            pieces = values[:-2:2] + 4 * values[1::2] + values[2::2]
            total += float(((times[2::2] - times[:-2:2]) * pieces).sum()) / 6
    return total


def fitted(model: osim.Model, path: dict) -> osim.FunctionBasedPath:
    """Return a path whose length is a polynomial of total degree `order` in coordinates by name."""
    names = path["coordinates"]
    places = {each.getName(): each.getAbsolutePathString() for each in model.getCoordinateSet()}
    made = osim.FunctionBasedPath()
    for name in names:
        made.appendCoordinatePath(places[name])
    coefficients = osim.Vector(path["coefficients"])
    made.setLengthFunction(
        osim.MultivariatePolynomialFunction(coefficients, len(names), path["order"])
    )
    return made


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(inverse(json.loads(asked.read_text()))))
