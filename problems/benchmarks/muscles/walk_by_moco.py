"""A planar walk tracked and predicted by OpenSim Moco: a script, since OpenSim brings a CasADi of
its own, which no process can have beside ours. It reads a JSON file and writes another. A solve
ends early where the file that Moco makes for it is deleted."""

import json
import sys
import time
from pathlib import Path

import opensim as osim

osim.Logger.setLevelString("info")
TRACKING, EFFORT = 1.0, 10.0  # weights of Moco's example of this walk (example2DWalking)
DURATIONS = (0.4, 0.6)  # s, of a predicted step, as there
TOLERANCE, MOST = 1e-4, 1000  # of both solves


def paths(model: osim.Model) -> tuple[dict[str, str], dict[str, str]]:
    """Return {coordinate: its path} and {muscle: its path} of a model."""
    coordinates = {
        each.getName(): each.getAbsolutePathString() for each in model.getCoordinateSet()
    }
    muscles = {}
    for component in model.getComponentsList():
        if osim.Muscle.safeDownCast(component) is not None:
            muscles[component.getName()] = component.getAbsolutePathString()
    return coordinates, muscles


def mirrored(path: str) -> str:
    """Return the path of the image of what is on one side."""
    other = {"_r": "_l", "_l": "_r"}
    return "/".join(
        part[:-2] + other[part[-2:]] if part[-2:] in other else part for part in path.split("/")
    )


def state(problem: osim.MocoProblem, request: dict, model: osim.Model) -> None:
    """State what tracking and prediction share: half a cycle by symmetry, and bounds."""
    coordinates, muscles = paths(model)
    symmetry = osim.MocoPeriodicityGoal("symmetry")
    rows = [f"{path}/{what}" for path in coordinates.values() for what in ("value", "speed")]
    rows += [f"{path}/activation" for path in muscles.values()]
    for row in rows:
        if not row.endswith("pelvis_tx/value"):
            symmetry.addStatePair(osim.MocoPeriodicityGoalPair(row, mirrored(row)))
    symmetry.addControlPair(osim.MocoPeriodicityGoalPair("/lumbarAct"))
    problem.addGoal(symmetry)
    for name, bounds in request["bounds"].items():
        problem.setStateInfo(f"{coordinates[name]}/value", bounds)


def settle(solver: osim.MocoCasADiSolver, request: dict) -> None:
    """Set the options of a solver."""
    solver.set_num_mesh_intervals(request["intervals"])
    solver.set_verbosity(1)
    solver.set_optim_solver("ipopt")
    solver.set_optim_convergence_tolerance(TOLERANCE)
    solver.set_optim_constraint_tolerance(TOLERANCE)
    solver.set_optim_max_iterations(MOST)
    solver.set_parallel(0)


def tracked(request: dict) -> osim.MocoSolution:
    """Return the step that follows the motion asked for with squared controls beside it."""
    tool = osim.MocoTrack()
    tool.setModel(osim.ModelProcessor(request["model"]))
    model = osim.Model(request["model"])
    model.initSystem()
    coordinates, _ = paths(model)
    table = osim.TimeSeriesTable(osim.StdVectorDouble(request["times"]))
    for name, values in request["motion"].items():
        table.appendColumn(f"{coordinates[name]}/value", osim.Vector(values))
    table.addTableMetaDataString("inDegrees", "no")
    tool.setStatesReference(osim.TableProcessor(table))
    tool.set_states_global_tracking_weight(TRACKING)
    tool.set_allow_unused_references(True)
    tool.set_track_reference_position_derivatives(True)
    tool.set_apply_tracked_states_to_guess(True)
    tool.set_initial_time(request["times"][0])
    tool.set_final_time(request["times"][-1])
    study = tool.initialize()
    problem = study.updProblem()
    state(problem, request, model)
    osim.MocoControlGoal.safeDownCast(problem.updGoal("control_effort")).setWeight(EFFORT)
    settle(osim.MocoCasADiSolver.safeDownCast(study.updSolver()), request)
    return study.solve()


def predicted(request: dict, guess: osim.MocoSolution) -> osim.MocoSolution:
    """Return the step of the least cubed controls over its way at a speed, from a tracked one."""
    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModelProcessor(osim.ModelProcessor(request["model"]))
    model = osim.Model(request["model"])
    model.initSystem()
    state(problem, request, model)
    speed = osim.MocoAverageSpeedGoal("speed")
    speed.set_desired_average_speed(request["speed"])
    problem.addGoal(speed)
    effort = osim.MocoControlGoal("effort", EFFORT)
    effort.setExponent(3)
    effort.setDivideByDisplacement(True)
    problem.addGoal(effort)
    problem.setTimeBounds(0, list(DURATIONS))
    solver = study.initCasADiSolver()
    settle(solver, request)
    solver.setGuess(guess)
    return study.solve()


def row(solution: osim.MocoSolution, seconds: float) -> dict:
    """Return the record of a solve; `seconds` are of the processor."""
    success = solution.success()
    if not success:
        solution.unseal()
    return {
        "success": success,
        "iterations": solution.getNumIterations(),
        "objective": solution.getObjective(),
        "seconds": seconds,
    }


def main(asked: Path, answer: Path) -> None:
    """Track, then predict from what was tracked, and write down each."""
    request = json.loads(asked.read_text())
    begun = time.process_time()
    guess = tracked(request)
    rows = {"tracked": row(guess, time.process_time() - begun)}
    begun = time.process_time()
    step = predicted(request, guess)
    rows["predicted"] = row(step, time.process_time() - begun)
    answer.write_text(json.dumps(rows))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
