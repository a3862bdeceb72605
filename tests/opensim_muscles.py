"""Values of OpenSim's own muscle classes: a script, since OpenSim brings a CasADi of its own, which
no process can have beside ours. Requests come as JSON on its input; it prints the answers."""

import json
import random
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


def muscle_on_slider(**properties: float) -> tuple[osim.Model, osim.DeGrooteFregly2016Muscle]:
    """A muscle with a rigid tendon of 0.1 m that a slider lengthens."""
    model = osim.Model()
    muscle = osim.DeGrooteFregly2016Muscle()
    muscle.setName("muscle")
    muscle.set_ignore_tendon_compliance(True)
    muscle.set_tendon_slack_length(0.1)
    muscle.set_pennation_angle_at_optimal(0.0)
    for name, value in properties.items():
        getattr(muscle, f"set_{name}")(value)
    body = osim.Body("body", 1, osim.Vec3(0), osim.Inertia(1, 1, 1))
    model.addBody(body)
    joint = osim.SliderJoint("slider", model.getGround(), body)
    joint.updCoordinate().setName("slide")
    model.addJoint(joint)
    muscle.addNewPathPoint("a", model.updGround(), osim.Vec3(0))
    muscle.addNewPathPoint("b", body, osim.Vec3(0))
    model.addForce(muscle)
    return model, muscle


def activation_rates(request: dict) -> list[float]:
    """Rates of activation of a muscle at excitations and activations."""
    model, _ = muscle_on_slider(activation_dynamics_smoothing=request["smoothing"])
    model.finalizeConnections()
    state = model.initSystem()
    model.updCoordinateSet().get("slide").setValue(state, 0.3)
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


def metabolics(request: dict) -> list[dict[str, float]]:
    """Metabolic powers of a muscle by OpenSim's classes, with what they depend on."""
    model, muscle = muscle_on_slider(
        max_isometric_force=request["force"], optimal_fiber_length=request["length"]
    )
    share, tension = request["slow_twitch"], 0.25e6
    umbergers = {"umberger_2003": (False, True, False), "uchida_2016": (True, True, True)}
    for name, (recruits, negative, clamps) in umbergers.items():
        probe = osim.Umberger2010MuscleMetabolicsProbe()
        probe.setName(name)
        probe.set_basal_rate_on(False)
        probe.set_use_Bhargava_recruitment_model(recruits)
        probe.set_include_negative_mechanical_work(negative)
        probe.set_forbid_negative_total_power(clamps)
        model.addProbe(probe)
        probe.addMuscle("muscle", share)
    flags = {
        "bhargava_2004": (True, False),
        "no negative": (False, False),
        "by force": (True, True),
    }
    for name, (negative, by_force) in flags.items():
        rate = osim.Bhargava2004SmoothedMuscleMetabolics()
        rate.setName(name.replace(" ", "_"))
        rate.set_use_smoothing(False)
        rate.set_include_negative_mechanical_work(negative)
        rate.set_use_force_dependent_shortening_prop_constant(by_force)
        rate.addMuscle("muscle", muscle, share, tension)
        model.addComponent(rate)
    model.finalizeConnections()
    state = model.initSystem()
    muscle = osim.DeGrooteFregly2016Muscle.safeDownCast(model.updMuscles().get(0))
    slide = model.updCoordinateSet().get("slide")
    answers = []
    for length, velocity, activation, excitation in request["states"]:
        slide.setValue(state, 0.1 + length * request["length"])
        slide.setSpeedValue(state, velocity * request["length"] * 10)
        muscle.setActivation(state, activation)
        model.setControls(state, osim.Vector(1, excitation))
        model.realizeReport(state)
        answer = {
            "length": muscle.getNormalizedFiberLength(state),
            "velocity": muscle.getFiberVelocity(state),
            "active": muscle.getActiveFiberForce(state),
            "passive": muscle.getPassiveFiberForce(state),
            "isometric": muscle.getActiveForceLengthMultiplier(state),
        }
        for name in umbergers:
            probe = osim.Umberger2010MuscleMetabolicsProbe.safeDownCast(
                model.getProbeSet().get(name)
            )
            answer[name] = probe.computeProbeInputs(state).get(0)
        for name in flags:
            rate = osim.Bhargava2004SmoothedMuscleMetabolics.safeDownCast(
                model.getComponent(name.replace(" ", "_"))
            )
            answer[name] = rate.getMuscleMetabolicRate(state, "/forceset/muscle")
        answers.append(answer)
    return answers


def millard_curves(request: dict) -> dict[str, list[float]]:
    """Millard's curves at places."""
    passive, tendon = osim.FiberForceLengthCurve(), osim.TendonForceLengthCurve()
    passive.set_strain_at_one_norm_force(request["fibre_strain"])
    tendon.set_strain_at_one_norm_force(request["tendon_strain"])
    passive.ensureCurveUpToDate()
    tendon.ensureCurveUpToDate()
    known = {
        "active_force": osim.ActiveForceLengthCurve(),
        "passive_force": passive,
        "force_velocity": osim.ForceVelocityCurve(),
        "tendon_force": tendon,
    }
    return {name: [known[name].calcValue(x) for x in request["places"][name]] for name in known}


def thelen_curves(request: list[float]) -> dict[str, list[float]]:
    """Thelen's active and passive curves at lengths."""
    model, _ = muscle_on_slider()
    model.updForceSet().clearAndDestroy()
    muscle = osim.Thelen2003Muscle("thelen", 1000.0, 0.1, 0.1, 0.0)
    muscle.addNewPathPoint("a", model.updGround(), osim.Vec3(0))
    muscle.addNewPathPoint("b", model.getBodySet().get(0), osim.Vec3(0))
    model.addForce(muscle)
    model.finalizeConnections()
    state = model.initSystem()
    slide = model.updCoordinateSet().get("slide")
    answer: dict[str, list[float]] = {"active_force": [], "passive_force": []}
    for length in request:
        slide.setValue(state, 0.1 + 0.1 * length)
        muscle.setFiberLength(state, 0.1 * length)
        model.realizeDynamics(state)
        answer["active_force"].append(muscle.getActiveForceLengthMultiplier(state))
        answer["passive_force"].append(muscle.getPassiveForceMultiplier(state))
    return answer


def path_samples(request: dict) -> dict[str, dict[str, list]]:
    """Coordinates, lengths and slopes of a model's muscles whose names end so, in random postures.

    Each muscle has the coordinates by which its length changes.
    """
    model = osim.Model(request["model"])
    state = model.initSystem()
    coordinates = {name: model.updCoordinateSet().get(name) for name in request["ranges"]}
    muscles = [each for each in model.getComponentsList() if each.getName().endswith("_r")]
    paths = {}
    for each in muscles:
        muscle = osim.Muscle.safeDownCast(each)
        if muscle is not None:
            paths[muscle.getName()] = muscle.getGeometryPath()
    bounds = [*request["ranges"].values()]
    draws = random.Random(request["seed"])
    rows = []
    for _ in range(request["count"]):
        place = [draws.uniform(*pair) for pair in bounds]
        for coordinate, value in zip(coordinates.values(), place):
            coordinate.setValue(state, value, False)
        model.realizePosition(state)
        arms = {
            name: [path.computeMomentArm(state, each) for each in coordinates.values()]
            for name, path in paths.items()
        }
        rows.append((place, {name: path.getLength(state) for name, path in paths.items()}, arms))
    answer = {}
    for name in paths:
        crossed = [
            k for k in range(len(bounds)) if any(abs(arms[name][k]) > 1e-6 for _, _, arms in rows)
        ]
        answer[name] = {
            "joints": [[*request["ranges"]][k] for k in crossed],
            "coordinates": [[place[k] for k in crossed] for place, _, _ in rows],
            "lengths": [lengths[name] for _, lengths, _ in rows],
            "slopes": [[-arms[name][k] for k in crossed] for _, _, arms in rows],
        }
    return answer


ANSWERS = {
    "curves": curves,
    "activation_rates": activation_rates,
    "splines": splines,
    "metabolics": metabolics,
    "path_samples": path_samples,
    "millard_curves": millard_curves,
    "thelen_curves": thelen_curves,
}

if __name__ == "__main__":
    osim.Logger.setLevelString("off")
    asked = json.load(sys.stdin)
    print(json.dumps({name: ANSWERS[name](request) for name, request in asked.items()}))
