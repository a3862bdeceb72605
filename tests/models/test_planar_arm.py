"""The planar arm: ten numbers tell its torques, as parameters tell them."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import inverse_dynamics
from ocp.mechanics.values.parameters import nominal, parameters_of
from ocp.models.arms.planar_arm import (
    BODIES,
    LENGTHS,
    Body,
    base_parameters,
    open_bodies,
    planar_arm,
)

STATES = np.random.default_rng(0).uniform(-2, 2, (3, 4))


def torques(bodies):
    """Torques of the arm at a seeded state (4, N m)."""
    return np.array(inverse_dynamics(planar_arm(bodies), *map(ca.DM, STATES))).ravel()


def disguised(bodies, masses):
    """Bodies of other masses with the same base parameters, and a first one that gives the rest."""
    base, others = base_parameters(bodies), list(bodies)
    names = [name.removesuffix(".J") for name in base if name.endswith(".J")]
    for k in (3, 2, 1, 0):
        later = sum(each.mass for each in others[k + 1 :])
        ahead = (base[f"{names[k]}.Hx"] - later * LENGTHS[k]) / masses[k] if k else 0.2
        left = base[f"{names[k]}.Hy"] / masses[k] if k else -0.03
        about = base[f"{names[k]}.J"] - masses[k] * (ahead**2 + left**2) - later * LENGTHS[k] ** 2
        others[k] = Body(mass=masses[k], ahead=ahead, left=left, inertia=about)
    return others


def test_arms_of_the_same_base_parameters_need_the_same_torques():
    others = disguised(BODIES, (7.0, 4.1, 2.4, 0.97))
    assert base_parameters(others) == pytest.approx(base_parameters(BODIES))
    assert torques(others) == pytest.approx(torques(BODIES), abs=1e-12)
    heavier = [replace(BODIES[0], mass=7.0), *BODIES[1:]]
    assert np.abs(torques(heavier) - torques(BODIES)).max() > 1e-3


def test_an_open_arm_has_sixteen_parameters_and_the_bodies_at_their_values():
    bodies = open_bodies()
    assert len(parameters_of(planar_arm(bodies))) == 16
    assert nominal(bodies) == BODIES
    assert len(base_parameters(bodies)) == 10
