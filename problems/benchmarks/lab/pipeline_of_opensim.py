"""Inverse kinematics and dynamics of a trial by OpenSim's own tools: a script, since OpenSim brings
a CasADi of its own, which no process can have beside ours. It reads a JSON file and writes
another."""

import json
import sys
import time
from pathlib import Path

import opensim as osim

osim.Logger.setLevelString("error")
PARTS = ("force_identifier", "point_identifier", "torque_identifier")


def pipeline(request: dict) -> dict:
    """Return angles and moments {coordinate: values} at times of their own, and the seconds that
    kinematics took.

    The request has a `model`, the files of `markers` and `forces`, `weights` of markers, the
    `places` (m) of markers on their bodies that are not the model's own, the `plates` {the name
    before v, p and the axis: body}, and a `cutoff` (Hz).
    """
    begun = time.process_time()
    _kinematics(request)
    kinematics = time.process_time() - begun
    _dynamics(request)
    return {
        "angles": _columns("ik.mot"),
        "moments": _columns("id.sto"),
        "kinematics": kinematics,
    }


def _kinematics(request: dict) -> None:
    model = osim.Model(request["model"])  # tools do not keep what they are given
    markers = model.updMarkerSet()
    for name, place in request["places"].items():
        markers.get(name).set_location(osim.Vec3(*place))
    tool = osim.InverseKinematicsTool()
    tool.setModel(model)
    tool.setMarkerDataFileName(request["markers"])
    tool.setOutputMotionFileName("ik.mot")
    tool.set_report_errors(False)
    seen = osim.TimeSeriesTableVec3(request["markers"])
    times = [*seen.getIndependentColumn()]
    tool.setStartTime(times[0])
    tool.setEndTime(times[-1])
    tasks = tool.getIKTaskSet()
    for name, weight in request["weights"].items():
        task = osim.IKMarkerTask()
        task.setName(name)
        task.setWeight(weight)
        tasks.cloneAndAppend(task)
    tool.run()


def _dynamics(request: dict) -> None:
    loads = osim.ExternalLoads()
    loads.setDataFileName(request["forces"])
    for plate, (body, marks) in request["plates"].items():
        load = osim.ExternalForce()
        load.setName(f"plate_{plate}")
        load.set_applied_to_body(body)
        load.set_force_expressed_in_body("ground")
        load.set_point_expressed_in_body("ground")
        for part, mark in zip(PARTS, marks):
            getattr(load, f"set_{part}")(mark)
        loads.cloneAndAppend(load)
    loads.printToXML("loads.xml")
    model = osim.Model(request["model"])
    tool = osim.InverseDynamicsTool()
    tool.setModel(model)
    tool.setCoordinatesFileName("ik.mot")
    tool.setExternalLoadsFileName("loads.xml")
    tool.setLowpassCutoffFrequency(request["cutoff"])
    motion = osim.TimeSeriesTable("ik.mot")
    times = [*motion.getIndependentColumn()]
    tool.setStartTime(times[0])
    tool.setEndTime(times[-1])
    excluded = osim.ArrayStr()
    excluded.append("Muscles")
    tool.setExcludedForces(excluded)
    tool.setResultsDir(".")
    tool.setOutputGenForceFileName("id.sto")
    tool.run()


def _columns(file: str) -> dict:
    table = osim.TimeSeriesTable(file)
    rows = {name: [*table.getDependentColumn(name).to_numpy()] for name in table.getColumnLabels()}
    return {"time": [*table.getIndependentColumn()], **rows}


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(pipeline(json.loads(asked.read_text()))))
