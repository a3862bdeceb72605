"""MocoInverse along the walk of Moco's example3DWalking, as its exampleMocoInverse states it: a
script, since OpenSim brings a CasADi of its own. It reads a JSON file and writes another."""

import json
import os
import sys
from pathlib import Path

import opensim as osim

osim.Logger.setLevelString("error")


def inverse(request: dict) -> dict:
    """Return {muscle: activations} at times, for a `folder` of the example and a `span` (s)."""
    os.chdir(request["folder"])
    model = osim.ModelProcessor("subject_walk_scaled.osim")
    model.append(osim.ModOpAddExternalLoads("grf_walk.xml"))
    toes = osim.StdVectorString()
    for side in "rl":
        toes.append(f"mtp_{side}")
    model.append(osim.ModOpReplaceJointsWithWelds(toes))
    model.append(osim.ModOpAddResiduals(250.0, 50.0, 1.0))
    model.append(osim.ModOpIgnoreTendonCompliance())
    model.append(osim.ModOpReplaceMusclesWithDeGrooteFregly2016())
    model.append(osim.ModOpIgnorePassiveFiberForcesDGF())
    model.append(osim.ModOpScaleActiveFiberForceCurveWidthDGF(request["width"]))
    paths = "subject_walk_scaled_FunctionBasedPathSet.xml"
    model.append(osim.ModOpReplacePathsWithFunctionBasedPaths(paths))
    model.append(osim.ModOpAddReserves(request["reserve"]))
    tool = osim.MocoInverse()
    tool.setModel(model)
    tool.setKinematics(osim.TableProcessor("coordinates.sto"))
    tool.set_initial_time(request["span"][0])
    tool.set_final_time(request["span"][1])
    tool.set_mesh_interval(request["mesh"])
    tool.set_kinematics_allow_extra_columns(True)
    result = tool.solve()  # owns its solution
    solution = result.getMocoSolution()
    names = [each for each in solution.getStateNames() if each.endswith("/activation")]
    return {
        "success": solution.success(),
        "iterations": solution.getNumIterations(),
        "t": solution.getTimeMat().tolist(),
        "activations": {n.split("/")[-2]: solution.getStateMat(n).tolist() for n in names},
    }


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(inverse(json.loads(asked.read_text()))))
