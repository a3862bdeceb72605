"""The human in the sagittal plane has what the skeleton has."""

import numpy as np
import pytest

from ocp.mechanics import center_of_mass, kinetic_energy, position
from ocp.models.arms.thrower import thrower
from ocp.models.human import human
from ocp.models.human.sagittal import drive, proximal, together
from ocp.models.walkers.jumper import jumper

PERSON = human(frozen=())
STANDING = {"y": 0.9275}


def standing(tree):
    """Return the coordinates (n,) of a jumper that stands upright."""
    return np.array([STANDING.get(joint.name, 0.0) for joint in tree.moving])


def test_a_jumper_weighs_and_stands_as_the_skeleton_does():
    tree, upright = jumper(), np.zeros(PERSON.dof)
    assert sum(link.mass for link in tree.links) == pytest.approx(75.0, rel=1e-8)
    flat = np.array(center_of_mass(tree, standing(tree))).ravel()
    solid = np.array(center_of_mass(PERSON, upright)).ravel()
    np.testing.assert_allclose(flat[:2], solid[[2, 1]], atol=1e-6)
    for point, height in (("heel", 0.0), ("ball", 0.0), ("head", 1.75)):
        place = np.array(position(tree, standing(tree), point)).ravel()
        assert place[1] == pytest.approx(height, abs=1e-9)


@pytest.mark.parametrize(
    ("joint", "names", "sign"),
    [("hip", ("hip_flex",), 1), ("knee", ("knee_flex",), -1), ("shoulder", ("shou_flex",), 1)],
)
def test_turning_both_sides_costs_the_same_energy(joint, names, sign):
    tree, upright = jumper(), np.zeros(PERSON.dof)
    rates, own = np.zeros(tree.dof), np.zeros(PERSON.dof)
    rates[tree.coordinate(joint)] = sign
    for name in names:
        for side in "rl":
            own[PERSON.coordinate(f"{name}_{side}")] = 1.0
    flat = float(kinetic_energy(tree, standing(tree), rates))
    assert flat == pytest.approx(float(kinetic_energy(PERSON, upright, own)), rel=1e-5)


def test_arms_that_hang_still_belong_to_the_trunk():
    tree, still = jumper(), jumper(arms=False)
    assert [joint.name for joint in still.moving] == [
        joint.name for joint in tree.moving if joint.name != "shoulder"
    ]
    for q in ({"torso": 0.4}, {"torso": -0.3, "hip": 1.2}):
        centres, tips = [], []
        for body in (tree, still):
            posture = np.array([(STANDING | q).get(joint.name, 0.0) for joint in body.moving])
            centres.append(np.array(center_of_mass(body, posture)).ravel())
            tips.append(np.array(position(body, posture, "fingertip")).ravel())
        np.testing.assert_allclose(centres[0], centres[1], atol=1e-9)
        np.testing.assert_allclose(tips[0], tips[1], atol=1e-9)


def test_ranges_and_torques_are_those_of_both_sides():
    knee = next(joint for joint in PERSON.moving if joint.name == "knee_flex_r")
    made = drive(PERSON, "knee_flex_r", -1, 2)
    assert made["position"] == (-knee.position[1], -knee.position[0])
    hip = next(joint for joint in jumper().moving if joint.name == "hip")
    assert hip.torque == (-540.0, 356.0)
    assert made["torque"] == (-2 * knee.torque[1], -2 * knee.torque[0])


def test_the_thrower_has_one_arm_and_its_ball():
    arm = sum(
        together(PERSON, (f"{name}_r",), (0, 0)).mass
        for name in ("shou_rot", "elb_pron", "wri_rad")
    )
    for ball in (0.0, 0.3):
        masses = [link.mass for link in thrower(2, ball).links]
        assert sum(masses) == pytest.approx(arm + ball)
    assert proximal(PERSON, "upper_arm")[1] == pytest.approx(1.4217)
    with pytest.raises(ValueError, match="links: expected 1, 2 or 3, got 4"):
        thrower(4)
