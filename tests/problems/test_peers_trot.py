"""Crocoddyl's trot, stated here: its posture at rest, its feet and their targets."""

import casadi as ca
import numpy as np
import pytest

from ocp.mechanics.kinematics import kinematics
from ocp.models.public import public_robot
from ocp.problems.benchmarks.peers.trot.statement import FILE, SWINGS, standing, trot
from ocp.version import MissingExtra

ANGLES = {"HAA": 0.1, "HFE": 0.7, "KFE": -1.0}  # rad, of its posture at rest


@pytest.fixture(scope="module")
def answer():
    """What the other program says, as far as the statement asks."""
    try:
        tree = public_robot(FILE, base="free", repair="balance")
    except MissingExtra:
        pytest.skip("needs the extra `robots`")
    joints = [joint.name for joint in tree.moving if joint.actuated]
    signs = {"HAA": {"L": -1, "R": 1}, "HFE": {"F": 1, "H": -1}, "KFE": {"F": 1, "H": -1}}
    angles = []
    for name in joints:
        leg, joint = name.split("_")
        angles.append(ANGLES[joint] * signs[joint][leg[0] if joint == "HAA" else leg[1]])
    posture = [0.0, 0.0, 0.4792, 0.0, 0.0, 0.0, 1.0, *angles]
    said = {"joints": joints, "standing": posture, "length": 0.15, "lift": 0.1}
    said |= {"swing": 0.25, "support": 0.02}
    at_rest = standing(said)
    q = ca.DM([at_rest[joint.name] for joint in tree.moving])
    feet = {name: kinematics.position(tree, q, name) for pair in SWINGS for name in pair}
    said["feet"] = {name: place.full()[:, 0].tolist() for name, place in feet.items()}
    said["height"] = float(kinematics.center_of_mass(tree, q)[2])
    return said


def test_phases_follow_each_other_and_land_where_feet_stand_next(answer):
    problem = trot(answer, points=12)
    names = [phase.name for phase in problem.phases]
    assert names == ["stand 1", "step 1", "stand 2", "step 2", "end"]
    stance = [{foot.name for foot in phase.ground.feet} for phase in problem.phases]
    assert stance[1] == {"LF_FOOT", "RH_FOOT"} and stance[3] == {"RF_FOOT", "LH_FOOT"}
    way = {
        foot.name: foot.supports[0].pins[0].target[0] - answer["feet"][foot.name][0]
        for foot in problem.phases[4].ground.feet
    }
    assert way == pytest.approx(
        {"RF_FOOT": 0.075, "LH_FOOT": 0.075, "LF_FOOT": 0.15, "RH_FOOT": 0.15}
    )


def test_the_posture_at_rest_stands_with_its_feet_on_one_plane(answer):
    heights = [place[2] for place in answer["feet"].values()]
    assert np.ptp(heights) < 1e-6 and answer["height"] == pytest.approx(0.4578288, abs=1e-6)
