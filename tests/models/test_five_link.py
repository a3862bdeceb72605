"""The five-link biped moves and strikes the ground as Kelly's (2017) balances of moments say, each
of them about a joint, for the links beyond it."""

import casadi as ca
import numpy as np
import pytest

from ocp import inverse_dynamics, kinematics, mass_matrix
from ocp.models.walkers.five_link import SHANK, THIGH, TORSO, five_link

MASSES = np.array([3.2, 6.8, 20.0, 6.8, 3.2])  # kg: stance shank and thigh, torso, swing ones
INERTIAS = np.array([0.93, 1.08, 2.22, 1.08, 0.93])
LENGTHS = np.array([0.4, 0.4, 0.625, 0.4, 0.4])
CENTRES = np.array([0.128, 0.163, 0.2, 0.163, 0.128])
WEIGHT = np.array([0.0, -9.81])
BEYOND = [range(k, 5) for k in range(5)]  # links that each joint of the stance chain carries
FLIP = [4, 3, 2, 1, 0]
TURNING = np.array(
    [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 1, 1]]
)


def across(a, b):
    return a[0] * b[1] - a[1] * b[0]


def chained(vectors):
    """Return joints (5) and centres of mass (5) of vectors along the links, or of their rates."""
    shank, thigh, torso, swing_thigh, swing_shank = vectors
    knee = LENGTHS[0] * shank
    hip = knee + LENGTHS[1] * thigh
    swing_knee = hip - LENGTHS[3] * swing_thigh
    centres = [
        knee - CENTRES[0] * shank,
        hip - CENTRES[1] * thigh,
        hip + (LENGTHS[2] - CENTRES[2]) * torso,
        hip - CENTRES[3] * swing_thigh,
        swing_knee - CENTRES[4] * swing_shank,
    ]
    foot = swing_knee - LENGTHS[4] * swing_shank
    return [0 * knee, knee, hip, hip, swing_knee, foot], centres


def along(angles):
    return np.array([-np.sin(angles), np.cos(angles)]).T


def turned(angles, rates):
    return np.array([-np.cos(angles), -np.sin(angles)]).T * rates[:, None]


def moments(angles, rates, accelerations):
    """Return Kelly's torques (5): of the ground, stance knee and hip, swing hip and knee."""
    joints, centres = chained(along(angles))
    curve = turned(angles, accelerations) - along(angles) * rates[:, None] ** 2
    _, pushed = chained(curve)
    torques = []
    for joint, links in zip(joints, BEYOND):
        needed = [
            across(centres[k] - joint, MASSES[k] * (pushed[k] - WEIGHT))
            + INERTIAS[k] * accelerations[k]
            for k in links
        ]
        torques.append(sum(needed))
    return np.array(torques), sum(MASSES[k] * (pushed[k] - WEIGHT) for k in range(5))


def angular_momenta(joints, centres, speeds, rates, beyond):
    """Return the angular momentum (5) about each joint of the links that are beyond it."""
    return np.array(
        [
            sum(
                across(centres[k] - joint, MASSES[k] * speeds[k]) + INERTIAS[k] * rates[k]
                for k in links
            )
            for joint, links in zip(joints, beyond)
        ]
    )


def struck(angles, rates):
    """Return the rates (5) after the heel strike, the legs' names exchanged."""
    joints, centres = chained(along(angles))
    _, speeds = chained(turned(angles, rates))
    old = [joints[5], joints[4], joints[2], joints[2], joints[1]]
    beyond = [range(5), range(4), range(3), range(2), range(1)]
    before = angular_momenta(old, centres, speeds, rates, beyond)
    new_joints, new_centres = chained(along(angles[FLIP]))

    def after(unit):
        _, moved = chained(turned(angles[FLIP], unit))
        return angular_momenta(new_joints[:5], new_centres, moved, unit, BEYOND)

    return np.linalg.solve(np.array([after(unit) for unit in np.eye(5)]).T, before)


def relative(angles, rates, accelerations):
    """Return q, qd, qdd (7) of the tree that stands on its left foot at the origin."""
    joints, _ = chained(along(angles))
    moving, _ = chained(turned(angles, rates))
    curve, _ = chained(turned(angles, accelerations) - along(angles) * rates[:, None] ** 2)
    return tuple(
        np.concatenate([hip[2], np.linalg.solve(TURNING, values)])
        for hip, values in ((joints, angles), (moving, rates), (curve, accelerations))
    )


def pushing(tree, q, point):
    """Return J (2, 7) of a point in the plane."""
    return np.array(kinematics.jacobian(tree, ca.DM(q), point))[3:5]


@pytest.fixture(name="state")
def random_state():
    return np.random.default_rng(15).uniform(-1, 1, (3, 5))


def test_torques_are_those_of_balances_of_moments(state):
    tree = five_link()
    q, qd, qdd = relative(*state)
    torques, force = moments(*state)
    foot = pushing(tree, q, "left foot")
    needed = np.array(inverse_dynamics(tree, q, qd, qdd)).ravel() - foot.T @ force
    ground, knee, hip, swing_hip, swing_knee = torques
    np.testing.assert_allclose(
        needed, [0, 0, ground, ground - hip, ground - knee, swing_hip, swing_knee], atol=1e-11
    )


def test_the_impact_is_that_of_angular_momenta_and_loses_energy_by_the_impulse(state):
    tree = five_link()
    angles, rates, _ = state
    q, before, _ = relative(angles, rates, rates)
    mass = np.array(mass_matrix(tree, q))
    foot = pushing(tree, q, "right foot")
    system = np.block([[mass, -foot.T], [foot, np.zeros((2, 2))]])
    solved = np.linalg.solve(system, np.concatenate([mass @ before, [0, 0]]))
    after, impulse = np.split(solved, [7])
    np.testing.assert_allclose(TURNING @ after[2:], struck(angles, rates)[FLIP], atol=1e-11)
    lost = (before @ mass @ before - after @ mass @ after) / 2
    assert lost > 0
    assert lost == pytest.approx(-impulse @ (foot @ before) / 2, rel=1e-11)


def test_a_straight_biped_stands_as_tall_as_its_links():
    tree = five_link()
    place = kinematics.position(tree, ca.DM(7, 1), "left foot")
    assert float(place[1]) == -(THIGH.length + SHANK.length)
    assert float(kinematics.position(tree, ca.DM(7, 1), "shoulder")[1]) == TORSO.length
    assert sum(link.mass for link in tree.links) == pytest.approx(MASSES.sum())
