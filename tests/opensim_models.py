"""Mechanics of OpenSim's models, answered by OpenSim: a script, since OpenSim brings a CasADi of
its own, which no process can have beside ours.

It reads requests {function: {"model": path, "states": [{coordinate: [value, rate, acceleration]},
...]}} as JSON from its input, and prints the answers.
"""

import json
import sys

import numpy as np
import opensim as osim

osim.Logger.setLevelString("off")


def vector(values):
    """A vector of OpenSim."""
    made = osim.Vector(len(values), 0.0)
    for k, value in enumerate(values):
        made.set(k, value)
    return made


def couplers(model):
    """[(follower, leader, function, factor)] of a model's couplers."""
    known = []
    constraints = model.getConstraintSet()
    for k in range(constraints.getSize()):
        each = osim.CoordinateCouplerConstraint.safeDownCast(constraints.get(k))
        if each is not None and each.get_isEnforced():
            names = each.getIndependentCoordinateNames()
            factor = float(each.getPropertyByName("scale_factor").toString())
            known.append(
                (each.getDependentCoordinateName(), names.get(0), each.getFunction(), factor)
            )
    return known


def derivatives(function, place):
    """Value and two derivatives of a function of one number."""
    at = vector([place])
    orders = [osim.StdVectorInt(), osim.StdVectorInt(), osim.StdVectorInt()]
    orders[1].append(0)
    orders[2].append(0)
    orders[2].append(0)
    slopes = [function.calcDerivative(order, at) for order in orders[1:]]
    return function.calcValue(at), *slopes


def followed(model, known):
    """All coordinates {name: [value, rate, acceleration]}, and {follower: (leader, slope)}."""
    coordinates = model.getCoordinateSet()
    whole, slopes = dict(known), {}
    for k in range(coordinates.getSize()):
        each = coordinates.get(k)
        if each.getDefaultLocked():
            whole[each.getName()] = [each.getDefaultValue(), 0.0, 0.0]
    waiting = couplers(model)
    while waiting:
        follower, leader, function, factor = waiting.pop(0)
        if follower in whole:
            continue
        if leader not in whole:
            waiting.append((follower, leader, function, factor))
            continue
        x, rate, acceleration = whole[leader]
        value, slope, bend = (factor * part for part in derivatives(function, x))
        whole[follower] = [value, slope * rate, slope * acceleration + bend * rate**2]
        slopes[follower] = leader, slope
    return whole, slopes


def loaded(path):
    """A model without its controllers, which may ask for actuators of other programs."""
    model = osim.Model(path)
    model.updControllerSet().clearAndDestroy()
    return model


def still_forces(model, keep=()):
    """Switch off all forces of a model but some by their names."""
    for each in model.getComponentsList():
        force = osim.Force.safeDownCast(each)
        if force is not None and force.getName() not in keep:
            force.set_appliesForce(False)


def places_of(model, state):
    """{body: [rotation (9), origin (3)]}."""
    model.realizePosition(state)
    bodies, known = (osim.Body.safeDownCast(each) for each in model.getComponentsList()), {}
    for body in bodies:
        if body is None:
            continue
        transform = body.getTransformInGround(state)
        turn, place = transform.R(), transform.p()
        rotation = [turn.get(row, column) for row in range(3) for column in range(3)]
        known[body.getName()] = [rotation, [place.get(axis) for axis in range(3)]]
    return known


def set_motion(model, state, whole):
    """Give a state coordinates and rates; return [coordinate] in the order of speeds."""
    coordinates = [model.getCoordinateSet().get(k) for k in range(model.getNumCoordinates())]
    order = {}
    for each in coordinates:
        each.setSpeedValue(state, 0.0)
    for each in coordinates:
        each.setSpeedValue(state, 1.0)
        speeds = state.getU()
        order[next(k for k in range(speeds.size()) if speeds.get(k) == 1.0)] = each
        each.setSpeedValue(state, 0.0)
    for each in coordinates:
        each.setLocked(state, False)
    for each in coordinates:
        value, rate, _ = whole[each.getName()]
        each.setValue(state, value, False)
        each.setSpeedValue(state, rate)
    for names in turns_of(model):
        _, rates, _ = angular(names, whole)
        for name, rate in zip(names, rates):
            model.getCoordinateSet().get(name).setSpeedValue(state, float(rate))
    return [order[k] for k in range(len(coordinates))]


def turns_of(model):
    """Names of three angles of each joint whose speeds are an angular velocity."""
    joints = [model.getJointSet().get(k) for k in range(model.getNumJoints())]
    return [
        [each.get_coordinates(k).getName() for k in range(3)]
        for each in joints
        if each.getConcreteClassName() in ("BallJoint", "FreeJoint", "EllipsoidJoint")
    ]


def angular(names, whole):
    """Slope (3, 3) of the angular velocity in the parent's axes by the rates of three angles about
    x, y, z, each axis turned by those before, and both the velocity and its rate."""
    (a, b, _), (da, db, _), _ = np.transpose([whole[name] for name in names])
    sa, ca, sb, cb = np.sin(a), np.cos(a), np.sin(b), np.cos(b)
    slope = np.array([[1, 0, sb], [0, ca, -sa * cb], [0, sa, ca * cb]])
    turning = np.array(
        [
            [0, 0, cb * db],
            [0, -sa * da, -ca * cb * da + sa * sb * db],
            [0, ca * da, -sa * cb * da - ca * sb * db],
        ]
    )
    rates, accelerations = (np.array([whole[name][k] for name in names]) for k in (1, 2))
    return slope, slope @ rates, slope @ accelerations + turning @ rates


def mechanics(request):
    """Places of bodies, and generalized forces on the coordinates that are free, in every state."""
    model = loaded(request["model"])
    if not request.get("forces"):
        still_forces(model, request.get("keep", ()))
    state = model.initSystem()
    solver = osim.InverseDynamicsSolver(model)
    answers = []
    for known in request["states"]:
        whole, slopes = followed(model, known)
        order = set_motion(model, state, whole)
        places = places_of(model, state)
        model.realizeDynamics(state)
        names = [each.getName() for each in order]
        rates = {name: whole[name][2] for name in names}
        for turns in turns_of(model):
            rates |= dict(zip(turns, angular(turns, whole)[2].tolist()))
        residual = solver.solve(state, vector([rates[name] for name in names]))
        forces = {name: residual.get(k) for k, name in enumerate(names)}
        for turns in turns_of(model):
            moments = angular(turns, whole)[0].T @ [forces[name] for name in turns]
            forces |= dict(zip(turns, moments.tolist()))
        for follower in reversed(list(slopes)):
            leader, slope = slopes[follower]
            forces[leader] += slope * forces[follower]
        answers.append({"places": places, "forces": {name: forces[name] for name in known}})
    return answers


def muscles_of(model):
    """All muscles, those among the model's components too."""
    known = (osim.Muscle.safeDownCast(each) for each in model.getComponentsList())
    return [each for each in known if each is not None]


def paths(request):
    """{muscle: [length, {coordinate: moment arm}]} in every state."""
    model = loaded(request["model"])
    state = model.initSystem()
    answers = []
    for known in request["states"]:
        whole, _ = followed(model, known)
        set_motion(model, state, whole)
        model.realizePosition(state)
        answers.append(
            {
                each.getName(): [
                    each.getLength(state),
                    arms_of(model, state, each, whole, known) if request.get("arms", True) else {},
                ]
                for each in muscles_of(model)
            }
        )
    return answers


def arms_of(model, state, muscle, whole, known):
    """{coordinate: moment arm} of a muscle, none where constraints cannot be met; by the angles of
    joints whose speeds are an angular velocity."""
    coordinates = model.getCoordinateSet()
    try:
        arms = {name: muscle.computeMomentArm(state, coordinates.get(name)) for name in known}
    except RuntimeError:
        return {}
    for turns in turns_of(model):
        if all(name in arms for name in turns):
            moments = angular(turns, whole)[0].T @ [arms[name] for name in turns]
            arms |= dict(zip(turns, moments.tolist()))
    return arms


def muscle_forces(request):
    """{muscle: [tendon force, normalised tendon force or None where it is rigid]} of muscles on De
    Groote's curves, as OpenSim converts others, at an activation in every state; compliant tendons
    in equilibrium with fibres at rest."""
    model = loaded(request["model"])
    model.finalizeConnections()
    if any(each.getConcreteClassName()[:2] != "De" for each in muscles_of(model)):
        osim.DeGrooteFregly2016Muscle.replaceMuscles(model, True)
    state = model.initSystem()
    answers = []
    for known in request["states"]:
        whole, _ = followed(model, known)
        set_motion(model, state, whole)
        forces = {}
        known = [osim.DeGrooteFregly2016Muscle.safeDownCast(each) for each in muscles_of(model)]
        known = [each for each in known if each is not None]  # others are not converted
        for each in known:
            if not each.get_ignore_activation_dynamics():
                each.setActivation(state, request["activation"])
        for muscle in known:
            if muscle.get_ignore_activation_dynamics():
                continue
            share = None
            if not muscle.get_ignore_tendon_compliance():
                model.realizeVelocity(state)
                try:
                    muscle.computeInitialFiberEquilibrium(state)
                except RuntimeError:  # there is none between forces of 0 and 5
                    continue
                share = muscle.getNormalizedTendonForce(state)
            model.realizeDynamics(state)
            forces[muscle.getName()] = [muscle.getTendonForce(state), share]
        answers.append(forces)
    return answers


def converted(request):
    """Write a model as OpenSim's newest version has it."""
    loaded(request["model"]).printToXML(request["to"])


def states_of_table(request):
    """{coordinate: values} of the states that OpenSim makes of a table."""
    model = loaded(request["model"])
    model.initSystem()
    table = osim.TimeSeriesTable(request["table"])
    trajectory = osim.StatesTrajectory.createFromStatesTable(model, table, True, True, False)
    coordinates = [model.getCoordinateSet().get(k) for k in range(model.getNumCoordinates())]
    return {
        each.getName(): [each.getValue(trajectory.get(k)) for k in range(trajectory.getSize())]
        for each in coordinates
    }


def passive(request):
    """Mechanics with the forces of the names to keep alone."""
    return mechanics(request)


def several(request):
    """Mechanics of several models."""
    return [mechanics(each) for each in request["of"]]


def lagrange(request):
    """Generalized forces on the free coordinates by Lagrange's equations of OpenSim's own energies:
    d/dt dT/du - dT/dq + dV/dq, by differences of fourth order."""
    model = loaded(request["model"])
    still_forces(model)
    state, step = model.initSystem(), 1e-3
    weights = ((1, 8), (-1, -8), (2, -1), (-2, 1))

    def energies(known):
        whole, _ = followed(model, known)
        set_motion(model, state, whole)
        model.realizeVelocity(state)
        return model.calcKineticEnergy(state), model.calcPotentialEnergy(state)

    def moved(known, name, place, rate):
        x, v, a = known[name]
        return {**known, name: [x + place, v + rate, a]}

    def momentum(known, name):
        ends = (energies(moved(known, name, 0, rate))[0] for rate in (1, -1))
        return (next(ends) - next(ends)) / 2

    def later(known, t):
        return {name: [x + v * t + a * t**2 / 2, v + a * t, a] for name, (x, v, a) in known.items()}

    answers = []
    for known in request["states"]:
        forces = {}
        for name in known:
            total = 0.0
            for way, weight in weights:
                total += weight * momentum(later(known, way * step), name)
                kinetic, potential = energies(moved(known, name, way * step, 0))
                total -= weight * (kinetic - potential)
            forces[name] = total / (12 * step)
        answers.append({"forces": forces})
    return answers


if __name__ == "__main__":
    requests = json.loads(sys.stdin.read())
    print(json.dumps({name: globals()[name](request) for name, request in requests.items()}))
