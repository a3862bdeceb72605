"""The human's arm in the sagittal plane has what the skeleton's has."""

import numpy as np
import pytest

from ocp.mechanics import kinetic_energy
from ocp.models.arms.thrower import thrower
from ocp.models.human import human
from ocp.models.human.sagittal import drive, proximal, together

PERSON = human(frozen=())
ARM = ("shou_rot_r", "elb_pron_r", "wri_rad_r")


def test_turning_an_arm_as_one_costs_the_same_energy():
    rates = np.zeros(PERSON.dof)
    rates[PERSON.coordinate("shou_flex_r")] = 1.0
    arm = together(PERSON, ARM, proximal(PERSON, "upper_arm"))
    inertia = arm.inertia[2][2] + arm.mass * (arm.com[0] ** 2 + arm.com[1] ** 2)
    energy = float(kinetic_energy(PERSON, np.zeros(PERSON.dof), rates))
    assert inertia / 2 == pytest.approx(energy, rel=1e-5)


def test_the_thrower_has_one_arm_its_ranges_and_its_ball():
    arm = together(PERSON, ARM, (0.0, 0.0)).mass
    for ball in (0.0, 0.3):
        made = thrower(2, ball)
        assert sum(link.mass for link in made.links) == pytest.approx(arm + ball)
    elbow = next(joint for joint in PERSON.moving if joint.name == "elb_flex_r")
    assert drive(PERSON, "elb_flex_r") == {"position": elbow.position, "torque": elbow.torque}
    assert proximal(PERSON, "upper_arm")[1] == pytest.approx(1.4217)
    with pytest.raises(ValueError, match="links: expected 1, 2 or 3, got 4"):
        thrower(4)
