"""Values of OpenSim's own muscle classes: a script, since OpenSim brings a CasADi of its own, which
no process can have beside ours. Requests come as JSON on its input; it prints the answers."""

import json
import sys

import opensim as osim


def curves(request: dict) -> dict[str, list]:
    """De Groote's curves at lengths, velocities and forces."""
    muscle = osim.DeGrooteFregly2016Muscle()
    muscle.set_active_force_width_scale(request["width"])
    muscle.set_passive_fiber_strain_at_one_norm_force(request["fibre_strain"])
    muscle.set_tendon_strain_at_one_norm_force(request["tendon_strain"])
    model = osim.Model()
    model.addForce(muscle)
    muscle.addNewPathPoint("a", model.updGround(), osim.Vec3(0))
    muscle.addNewPathPoint("b", model.updGround(), osim.Vec3(1, 0, 0))
    model.finalizeFromProperties()
    active, passive = muscle.calcActiveForceLengthMultiplier, muscle.calcPassiveForceMultiplier
    return {
        "active_force": [active(x) for x in request["lengths"]],
        "passive_force": [passive(x) for x in request["lengths"]],
        "force_velocity": [muscle.calcForceVelocityMultiplier(x) for x in request["velocities"]],
        "force_velocity_inverse": [
            muscle.calcForceVelocityInverseCurve(x) for x in request["factors"]
        ],
        "tendon_force": [muscle.calcTendonForceMultiplier(x) for x in request["tendons"]],
        "tendon_length": [muscle.calcTendonForceLengthInverseCurve(x) for x in request["forces"]],
    }


def activation_rates(request: dict) -> list[float]:
    """Rates of activation of a muscle at excitations and activations."""
    model = osim.Model()
    muscle = osim.DeGrooteFregly2016Muscle()
    muscle.setName("muscle")
    muscle.set_activation_dynamics_smoothing(request["smoothing"])
    muscle.set_ignore_tendon_compliance(True)
    body = osim.Body("body", 1, osim.Vec3(0), osim.Inertia(1, 1, 1))
    model.addBody(body)
    model.addJoint(osim.SliderJoint("slider", model.getGround(), body))
    muscle.addNewPathPoint("a", model.updGround(), osim.Vec3(0))
    muscle.addNewPathPoint("b", body, osim.Vec3(0.3, 0, 0))
    model.addForce(muscle)
    model.finalizeConnections()
    state = model.initSystem()
    rates = []
    for excitation, activation in request["pairs"]:
        muscle = osim.DeGrooteFregly2016Muscle.safeDownCast(model.updMuscles().get(0))
        muscle.setActivation(state, activation)
        model.setControls(state, osim.Vector(1, excitation))
        model.realizeAcceleration(state)
        rates.append(muscle.getStateVariableDerivativeValue(state, "activation"))
    return rates


def splines(request: list) -> list[list[float]]:
    """Values and slopes of SimmSplines at places."""
    answers = []
    for places, values, asked in request:
        spline = osim.SimmSpline()
        for x, y in zip(places, values):
            spline.addPoint(x, y)
        once = osim.StdVectorInt()
        once.append(0)
        numbers = [spline.calcValue(osim.Vector(1, x)) for x in asked]
        slopes = [spline.calcDerivative(once, osim.Vector(1, x)) for x in asked]
        answers.append([numbers, slopes])
    return answers


ANSWERS = {"curves": curves, "activation_rates": activation_rates, "splines": splines}

if __name__ == "__main__":
    osim.Logger.setLevelString("off")
    asked = json.load(sys.stdin)
    print(json.dumps({name: ANSWERS[name](request) for name, request in asked.items()}))
