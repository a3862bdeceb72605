"""Sensitivities of the Lagrangian methods: many random trees, and an arm on a screw that slides,
whose closed form is written by hand."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from random_trees import over
from slope_cases import METHODS, assert_close, mechanism, symbolic, valued

from ocp import Joint, Link, Load, Point, Tree
from ocp.dynamics.formulations import newton_euler
from ocp.mechanics import GROUND

LAGRANGIAN = ("uicker_kahn", "waters", "hollerbach_3x3")
every_method = pytest.mark.parametrize("name", LAGRANGIAN)
INERTIA, MASS, PITCH, GRAVITY = 0.3, 1.7, 0.4, 9.81  # kg m2, kg, m/rad, m/s2
FORCE, MOMENT = np.array([2.0, -3.0, 5.0]), np.array([0.7, -1.1, 1.9])  # N, N m


@cache
def by_casadi(seed):
    """Derivatives of newton_euler's torques by the motion, of a tree of 1 to 4 joints."""
    tree, motion, _, loads = mechanism(seed, branching=0.4, largest=4)
    x, _, arguments = symbolic(tree, ())
    torques = newton_euler.inverse(tree, *arguments[:3], loads)
    return valued([x], ca.jacobian(torques, x), motion)


@over(range(100, 116))
@every_method
def test_random_trees_have_the_sensitivities_that_casadi_finds(name, seed):
    tree, motion, _, loads = mechanism(seed, branching=0.4, largest=4)
    parts = METHODS[name].sensitivity(tree, *map(ca.DM, np.split(motion, 3)), loads)
    assert_close(np.array(ca.horzcat(*parts)), by_casadi(seed), 1e-10)


def screw_and_slide():
    """A bar that turns and rises on a vertical screw, and a ball that slides along it."""
    bar = Link(mass=MASS)
    ball = Link(mass=MASS, inertia=INERTIA * np.eye(3))
    return Tree(
        links=[bar, ball],
        joints=[
            Joint(name="screw", parent=GROUND, screw=(0, 0, 1, 0, 0, PITCH)),
            Joint(name="slide", parent="screw", screw=(0, 0, 0, 1, 0, 0)),
        ],
        points=(Point(name="ball", link="slide"),),
        gravity=(0.0, 0.0, -GRAVITY),
    )


def closed_form(q, qd, qdd):
    """Derivatives (2, 6) of

        tau_1 = (I + m r^2 + 2 m h^2) q'' + 2 m r r' q' + 2 m h g - f . (r e_2 + h e_3) - M_3
        tau_2 = m r'' - m r q'^2 - f . e_1

    for pitch h, distance r, force f and moment M, and e_1, e_2, e_3 along the bar, across it, up.
    """
    (angle, r), (rate, speed), (turning, _) = q, qd, qdd
    along = np.array([np.cos(angle), np.sin(angle)]) @ FORCE[:2]
    across = np.array([-np.sin(angle), np.cos(angle)]) @ FORCE[:2]
    by_q = [
        [r * along, 2 * MASS * (r * turning + speed * rate) - across],
        [-across, -MASS * rate**2],
    ]
    by_qd = [[2 * MASS * r * speed, 2 * MASS * r * rate], [-2 * MASS * r * rate, 0.0]]
    by_qdd = [[INERTIA + MASS * r**2 + 2 * MASS * PITCH**2, 0.0], [0.0, MASS]]
    return np.hstack([by_q, by_qd, by_qdd])


@over(range(20))
@every_method
def test_an_arm_on_a_screw_that_slides_obeys_its_closed_form(name, seed):
    motion = np.random.default_rng(seed).uniform(-2, 2, (3, 2))
    loads = (Load(point="ball", force=FORCE, moment=MOMENT),)
    parts = METHODS[name].sensitivity(screw_and_slide(), *map(ca.DM, motion), loads)
    assert_close(np.array(ca.horzcat(*parts)), closed_form(*motion), 1e-12)
