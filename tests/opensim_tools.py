"""Results of OpenSim's own tools, written into the working folder: a script, since OpenSim brings a
CasADi of its own, which no process can have beside ours. It prints what OpenSim reads of them."""

import glob
import json

import numpy as np
import opensim as osim

NAMES = ("shoulder", "elbow")
KINDS = (
    *("Kinematics", "BodyKinematics", "Actuation", "StaticOptimization", "StatesReporter"),
    *("ForceReporter", "JointReaction"),
)
MOTION = "arm\nversion=1\nnRows=26\nnColumns=3\ninDegrees=yes\nendheader\n"
MARKERS = (
    "PathFileType\t4\t(X/Y/Z)\tm.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame"
    "\tOrigNumFrames\n100\t100\t6\t2\tm\t100\t1\t6\n"
    "Frame#\tTime\tMshoulder\t\t\tMelbow\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
)


def arm() -> osim.Model:
    """Two links of 0.3 m with a marker and a motor each."""
    model, before, length = osim.Model(), None, 0.0
    for name in NAMES:
        inertia = osim.Inertia(0.01, 0.01, 0.01)
        body = osim.Body(f"{name}_link", 1.0, osim.Vec3(0, -0.15, 0), inertia)
        model.addBody(body)
        ends = (before or model.getGround(), osim.Vec3(0, -length, 0), osim.Vec3(0))
        joint = osim.PinJoint(f"{name}_pin", *ends, body, osim.Vec3(0), osim.Vec3(0))
        joint.updCoordinate().setName(name)
        model.addJoint(joint)
        model.addMarker(osim.Marker(f"M{name}", body, osim.Vec3(0.02, -0.2, 0)))
        motor = osim.CoordinateActuator(name)
        motor.setName(f"{name}_motor")
        motor.setOptimalForce(10)
        model.addForce(motor)
        before, length = body, 0.3
    model.finalizeConnections()
    return model


def analyse() -> None:
    """Run inverse dynamics and analyses of a motion in degrees."""
    times = np.linspace(0, 0.5, 26)
    angles = [times, 20 + 30 * np.sin(4 * times), 50 * np.cos(3 * times)]
    lines = ["\t".join(("time", *NAMES))]
    lines += ["\t".join(map(repr, row)) for row in np.transpose(angles).tolist()]
    with open("arm.mot", "w") as file:
        file.write(MOTION + "\n".join(lines) + "\n")
    tool = osim.InverseDynamicsTool()
    tool.setModelFileName("arm.osim")
    tool.setCoordinatesFileName("arm.mot")
    tool.setEndTime(0.5)
    tool.setResultsDir(".")
    tool.setOutputGenForceFileName("dynamics.sto")
    tool.run()
    tool = osim.AnalyzeTool()
    tool.setName("arm")
    tool.setModelFilename("arm.osim")
    tool.setCoordinatesFileName("arm.mot")
    tool.setInitialTime(0.1)
    tool.setFinalTime(0.4)
    tool.setResultsDir(".")
    for kind in KINDS:
        analysis = getattr(osim, kind)()
        analysis.setName(kind)
        analysis.setStartTime(0.1)
        analysis.setEndTime(0.4)
        tool.updAnalysisSet().cloneAndAppend(analysis)
    tool.printToXML("tool.xml")
    osim.AnalyzeTool("tool.xml").run()


def find_angles(model: osim.Model) -> None:
    """Run inverse kinematics of markers while the elbow turns by 0.1 rad a frame."""
    state = model.initSystem()
    markers = [model.getMarkerSet().get(k) for k in range(2)]
    lines = []
    for k in range(6):
        model.getCoordinateSet().get("elbow").setValue(state, 0.1 * k)
        model.realizePosition(state)
        places = [x for each in markers for x in each.getLocationInGround(state).to_numpy()]
        lines.append("\t".join(map(str, (k + 1, k / 100, *places))))
    with open("m.trc", "w") as file:
        file.write(MARKERS + "\n".join(lines) + "\n")
    tool = osim.InverseKinematicsTool()
    tool.setModel(model)
    tool.setMarkerDataFileName("m.trc")
    tool.setStartTime(0)
    tool.setEndTime(0.05)
    tool.setResultsDir(".")
    tool.setOutputMotionFileName("kinematics.mot")
    tool.set_report_errors(False)
    for each in markers:
        task = osim.IKMarkerTask()
        task.setName(each.getName())
        task.setApply(True)
        task.setWeight(1)
        tool.getIKTaskSet().cloneAndAppend(task)
    tool.run()


def tables() -> dict[str, dict[str, list]]:
    """Return labels, times and values of every result, as OpenSim reads them."""
    seen = {}
    for name in sorted([*glob.glob("*.sto"), "kinematics.mot"]):
        table = osim.TimeSeriesTable(name)
        seen[name] = {
            "labels": list(table.getColumnLabels()),
            "t": list(table.getIndependentColumn()),
            "values": table.getMatrix().to_numpy().tolist(),
        }
    return seen


if __name__ == "__main__":
    osim.Logger.setLevelString("off")
    built = arm()
    built.printToXML("arm.osim")
    analyse()
    find_angles(built)
    print(json.dumps(tables()))
