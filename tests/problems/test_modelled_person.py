"""A scaled model of somebody else gives back the motion and moments that its markers were made
of, under the human's names."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from refusals import refused

from ocp import Link, Point, Series, Tree, measured_torques, prismatic, revolute
from ocp.estimation.marker_residuals import point_places
from ocp.problems.lab import analyse, person_of_model

RATE, FRAMES, MASS = 100.0, 121, 50.0
X, Y, Z = np.eye(3).tolist()
SITES = {  # OpenSim's Gait2392 markers on bodies of its names, X ahead, Y up, Z to the right (m)
    "pelvis": {"*.ASIS": (0.1, 0.02, 0.12), "V.Sacral": (-0.1, 0.03, 0.0)},
    "torso": {"*.Acromium": (0.0, 0.45, 0.18), "Sternum": (0.1, 0.3, 0.0)},
    "femur": {
        "*.Knee.Lat": (0.0, -0.4, 0.05),
        "*.Knee.Med": (0.0, -0.4, -0.05),
        "*.Thigh.Upper": (0.06, -0.15, 0.03),
        "*.Thigh.Front": (0.08, -0.25, 0.02),
    },
    "tibia": {
        "*.Ankle.Lat": (0.0, -0.4, 0.04),
        "*.Ankle.Med": (0.0, -0.4, -0.04),
        "*.Shank.Upper": (0.05, -0.1, 0.03),
        "*.Shank.Front": (0.06, -0.2, 0.0),
    },
    "calcn": {"*.Heel": (-0.06, -0.03, 0.0), "*.Toe.Tip": (0.2, -0.03, 0.0)},
}
CHAIN = (  # coordinates of a leg: name, axis, the body that it moves, masses (kg)
    ("hip_flexion", Z, "", 0.0),
    ("hip_adduction", X, "", 0.0),
    ("hip_rotation", Y, "femur", 6.0),
    ("knee_angle", Z, "tibia", 3.0),
    ("ankle_angle", Z, "calcn", 1.0),
)
LIMITS = {"knee_angle": (-2.1, 0.17)}  # flexion is negative, as in Gait2392


@cache
def model():
    """A pelvis with a stiff trunk and two legs."""
    ways = zip(("tx", "ty", "tz", "tilt", "list", "rotation"), (X, Y, Z, Z, X, Y))
    joints, before = [], "ground"
    for name, axis in ways:
        slide = name.startswith("t") and len(name) == 2
        make = prismatic if slide else revolute
        joints.append(make(f"pelvis_{name}", before, axis=axis, actuated=False))
        before = f"pelvis_{name}"
    links = [Link(name=joint.name, mass=0.0) for joint in joints[:-1]]
    links.append(Link(name="pelvis", mass=30.0, com=(0, 0.2, 0), inertia=np.diag([2.0, 1.0, 2.0])))
    for side, way in (("r", 1.0), ("l", -1.0)):
        before, home = "pelvis", (0.0, 0.0, 0.09 * way)
        for name, axis, body, mass in CHAIN:
            limits = {"position": LIMITS[name]} if name in LIMITS else {"position": 2.0}
            label = f"{name}_{side}"
            joint = revolute(label, before, axis=axis, home=home, actuated=False, **limits)
            joints.append(joint)
            before = f"{body}_{side}" if body else label
            inertia = 0.02 * mass * np.eye(3)
            links.append(Link(name=before, mass=mass, com=(0, -0.15, 0), inertia=inertia))
            home = (0.0, -0.4, 0.0) if body in ("femur", "tibia") else (0.0, 0.0, 0.0)
    points = [
        Point(name=name.replace("*", side.upper()), link=link, position=(x, y, z * way))
        for body, marks in SITES.items()
        for name, (x, y, z) in marks.items()
        for side, way in ((("r", 1.0), ("l", -1.0)) if "*" in name else (("", 1.0),))
        for link in [body.replace("torso", "pelvis")]
        for link in [link if body in ("pelvis", "torso") else f"{body}_{side}"]
    ]
    return Tree(joints=joints, links=links, points=points, gravity=(0, -9.81, 0))


@cache
def walked():
    """Coordinates, their rates and accelerations of somebody who walks, and the markers."""
    tree, t = model(), np.arange(FRAMES) / RATE
    q, qd, qdd = (np.zeros((tree.dof, FRAMES)) for _ in range(3))

    def swing(name, mean, size, phase):
        k, w = tree.coordinate(name), 2 * np.pi
        q[k] += mean + size * np.sin(w * t + phase)
        qd[k] += size * w * np.cos(w * t + phase)
        qdd[k] -= size * w * w * np.sin(w * t + phase)

    q[tree.coordinate("pelvis_ty")] = 0.85
    q[tree.coordinate("pelvis_tx")], qd[tree.coordinate("pelvis_tx")] = 2.0 + 1.2 * t, 1.2
    swing("pelvis_list", 0.0, 0.08, 1.0)
    for side, phase in (("r", 0.0), ("l", np.pi)):
        swing(f"hip_flexion_{side}", 0.1, 0.4, phase)
        swing(f"hip_adduction_{side}", 0.0, 0.1, phase + 1.0)
        swing(f"knee_angle_{side}", -0.5, 0.45, phase + 0.4)
        swing(f"ankle_angle_{side}", 0.0, 0.15, phase + 2.0)
    names = tuple(point.name for point in tree.points)
    places = np.split(point_places(tree, names, q)[0], len(names))
    seen = Series(t=t, values=dict(zip(names, places)), source="walk.trc")
    return t, q, qd, qdd, seen


@cache
def person():
    return person_of_model(model(), walked()[-1])


def test_angles_come_back_under_the_models_and_the_humans_names():
    _t, q, *_, seen = walked()
    found = analyse(person(), seen)
    tree, own = found.person.tree, model()
    inner = slice(8, -8)
    for name, *_ in CHAIN:
        for side in "rl":
            k = tree.coordinate(f"{name}_{side}")
            true = q[own.coordinate(f"{name}_{side}")]
            assert np.abs(found.fit.q[k] - true)[inner].max() < 0.01
    assert found.person.names["knee_angle_r"] == ("knee_flex_r", -1.0)
    assert found.person.names["hip_adduction_l"] == ("hip_abd_l", -1.0)
    assert found.person.mass == pytest.approx(MASS) and found.person.feet["r"] == "calcn_r"


def test_moments_are_those_of_the_motion_under_the_forces_of_a_plate():
    """A plate that bears the right foot: moments are those of the model's own inverse dynamics."""
    t, q, qd, qdd, seen = walked()
    heel, force = seen.values["R.Heel"], np.array([[20.0], [450.0], [10.0]])
    at = heel * np.array([[1.0], [0.0], [1.0]])
    wrench = np.vstack([np.cross(at.T, force.T).T, np.repeat(force, len(t), axis=1)])
    plate = Series(t=t, values={"plate": wrench}, source="walk.mot")
    true = measured_torques(model(), t, q, qd, qdd, plate, {"plate": "calcn_r"})
    found = analyse(person(), seen, plate)
    assert {tread.foot for tread in found.treads} == {"r"}
    for name, *_ in CHAIN:
        rows = true[model().coordinate(f"{name}_r")]
        ours = found.torques[found.person.tree.coordinate(f"{name}_r")]
        assert np.abs(ours - rows)[10:-10].max() < 0.05 * np.abs(rows).max()


def test_a_turned_laboratory_is_the_same():
    seen = walked()[-1]
    turned = seen.rotate(((0, 0, -1.0), (1.0, 0, 0), (0, -1.0, 0)))
    found = analyse(person_of_model(model(), turned), turned)
    k = found.person.tree.coordinate("knee_angle_l")
    true = walked()[1][model().coordinate("knee_angle_l")]
    assert np.abs(found.fit.q[k] - true)[8:-8].max() < 0.01


def test_a_model_of_other_markers_is_refused():
    seen = walked()[-1]
    named = {f"m{k}": rows for k, rows in enumerate(seen.values.values())}
    with refused("model: has no marker of walk.trc; it has R.ASIS, L.ASIS, V.Sacral"):
        person_of_model(model(), replace(seen, values=named))


@pytest.mark.parametrize("lost", ["Heel", "Toe.Tip"])
def test_a_model_or_a_recording_without_feet_is_refused_by_name(lost):
    """Of either the landmarks that are not there are told."""
    seen, tree = walked()[-1], model()
    mark = lost[:4].lower().rstrip(".")
    words = f"walk.trc: expected markers at heels and toes, .* none of {mark}_r, {mark}_l"
    footless = replace(tree, points=[point for point in tree.points if lost not in point.name])
    with pytest.raises(ValueError, match=words):
        analyse(person_of_model(footless, seen), seen)
    fewer = {name: rows for name, rows in seen.values.items() if lost not in name}
    with pytest.raises(ValueError, match=words):
        analyse(person(), replace(seen, values=fewer))


def test_markers_of_a_model_are_put_where_a_static_trial_has_them():
    tree, (_t, q, *_, seen) = model(), walked()
    moved = [
        replace(point, position=tuple(np.array(point.position) + (0.05, 0.0, 0.03)))
        if "Thigh" in point.name or "Shank" in point.name
        else point
        for point in tree.points
    ]
    upright = np.zeros(tree.dof)
    upright[tree.coordinate("pelvis_ty")] = 0.85
    names = tuple(point.name for point in tree.points)
    places = np.split(
        point_places(tree, names, np.repeat(upright[:, None], 6, axis=1))[0], len(names)
    )
    static = Series(t=np.arange(6.0), values=dict(zip(names, places)), source="static.trc")
    who = person_of_model(replace(tree, points=moved), seen, static=static)
    found = analyse(who, seen)
    assert max(found.fit.rms.values()) < 1e-3
    k = found.person.tree.coordinate("hip_rotation_r")
    assert np.abs(found.fit.q[k] - q[tree.coordinate("hip_rotation_r")])[8:-8].max() < 0.01
    assert (
        max(analyse(person_of_model(replace(tree, points=moved), seen), seen).fit.rms.values())
        > 0.01
    )
