"""Compliant contact: the force as published, and what bodies do on it."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from dropped_bodies import GRAVITY, MASS, RADIUS, ball, block, published, sunk

from ocp import Parameter, simulate
from ocp.problem import Compliant, ForceLaw, contacts
from ocp.problem.load_evaluation import loads_in_state

RUBBER = Compliant(radius=RADIUS, stiffness=2e5, dissipation=0.8, static=0.9, dynamic=0.6)


def pushed(tree, loads, q, qd):
    """Force and moment (3 each) of one load in a state, as numbers."""
    (load,) = loads_in_state(tree, loads, 0.0, ca.SX(ca.DM(q)), ca.SX(ca.DM(qd)))
    return [
        np.array([float(ca.DM(part[k])) for k in range(3)]) for part in (load.force, load.moment)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_force_is_the_published_one_at_the_point_between_the_surfaces(seed):
    random = np.random.default_rng(seed)
    normal = random.normal(size=3)
    normal /= np.linalg.norm(normal)
    place, q = random.normal(size=3), random.normal(size=3)
    tree = block()
    depth, qd = random.uniform(-0.01, 0.02), random.normal(size=3)
    q = place + (RADIUS - depth) * normal + np.cross(normal, q)
    loads = contacts(tree, "sole", model=RUBBER, normal=normal, place=place)
    force, moment = pushed(tree, loads, q, qd)
    push, friction = published(RUBBER, depth, -qd @ normal, qd - qd @ normal * normal)
    expected = push * normal + friction
    assert np.abs(force - expected).max() < 1e-9 * (1 + np.abs(expected).max())
    lever = -(RADIUS - depth / 2) * normal
    assert np.abs(moment - np.cross(lever, expected)).max() < 1e-9 * (1 + np.abs(expected).max())


def test_a_ball_that_rolls_without_slip_feels_no_friction():
    depth, speed = 0.001, 0.7
    state = [0.0, RADIUS - depth, 0.3], [speed, 0.0, speed / (RADIUS - depth / 2)]
    force, _ = pushed(ball(), contacts(ball(), "centre", model=RUBBER), *state)
    assert abs(force[0]) < 1e-12 < force[2]


def test_a_sphere_sinks_until_it_bears_its_weight():
    dropped = simulate(
        block(),
        np.zeros(3),
        ([0, 0, RADIUS], np.zeros(3)),
        3.0,
        contacts(block(), "sole", model=RUBBER),
    )
    assert dropped.q[2, -1] == pytest.approx(RADIUS - sunk(RUBBER, MASS * GRAVITY), abs=1e-7)
    assert np.abs(dropped.qd[:, -1]).max() < 1e-6


def fallen(material, height, duration, steps):
    """Height and speed (m, m/s) of a ball dropped from rest: Runge and Kutta's steps."""

    def slope(x):
        push = published(material, material.radius - x[0], -x[1], np.zeros(3))[0]
        return np.array([x[1], push / MASS - GRAVITY])

    x, h = np.array([height, 0.0]), duration / steps
    for _ in range(steps):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3))
    return x


def test_a_bounce_loses_what_the_law_dissipates():
    springy, start = replace(RUBBER, dissipation=0.1), ([0.0, 0.4, 0.0], np.zeros(3))
    loads = contacts(ball(), "centre", model=springy)
    up = simulate(ball(), np.zeros(3), start, 0.45, loads, count=2)
    height, speed = fallen(springy, 0.4, 0.45, 4000)
    assert up.q[1, -1] == pytest.approx(height, abs=1e-6)
    assert up.qd[1, -1] == pytest.approx(speed, abs=1e-5)
    gone = MASS * (GRAVITY * (0.4 - height) - speed**2 / 2)
    assert 0.2 < gone / (MASS * GRAVITY * 0.35) < 0.6
    assert speed > 0.8  # it is on its way up


def test_a_sliding_block_is_slowed_by_its_friction_alone():
    dry = replace(RUBBER, viscous=0.0)
    rest = RADIUS - sunk(dry, MASS * GRAVITY)
    start = [0.0, 0.0, rest], [3.0, -4.0, 0.0]
    loads = contacts(block(), "sole", model=dry)
    slid = simulate(block(), np.zeros(3), start, 0.2, loads, count=3)
    slope = dry.dynamic * GRAVITY + (dry.static - dry.dynamic) * GRAVITY * 16 * 0.2**3 / 4.4**3
    speed = np.linalg.norm(slid.qd[:2], axis=0)
    assert speed[0] - speed[-1] == pytest.approx(0.2 * slope, rel=1e-3)
    assert np.allclose(slid.qd[0] / slid.qd[1], -0.75)  # it goes straight on


def test_a_law_of_ones_own_is_a_spring_with_a_damper():
    rate, damping = 80.0, 3.0  # N/m, N s/m

    def spring(at):
        pull = -rate * at.position("sole") - damping * at.velocity("sole")
        return ca.vertcat(pull, ca.cross(at.angular_velocity("sole"), pull))

    still = replace(block(), gravity=(0.0, 0.0, 0.0))
    loads = (ForceLaw(point="sole", law=spring),)
    swung = simulate(still, np.zeros(3), ([0.2, 0.0, -0.1], np.zeros(3)), 1.0, loads)
    fade, turn = damping / (2 * MASS), np.sqrt(rate / MASS - (damping / (2 * MASS)) ** 2)
    swing = np.exp(-fade * swung.t) * (
        np.cos(turn * swung.t) + fade / turn * np.sin(turn * swung.t)
    )
    assert np.allclose(swung.q, np.outer([0.2, 0.0, -0.1], swing), atol=1e-7)


def test_numbers_of_the_law_may_be_open():
    soft = Compliant(stiffness=Parameter("stiffness", 1e6, "N/m2"))
    assert isinstance(contacts(block(), "sole", model=soft)[0], ForceLaw)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Compliant(stiffness=-1.0), "compliant: stiffness: expected a number above 0"),
        (lambda: Compliant(dynamic=-0.1), "compliant: dynamic: expected a number of at least 0"),
        (lambda: contacts(block(), "hoof"), "point 'hoof'"),
        (lambda: contacts(block(), ("sole", "sole")), "contacts: point 'sole' is named twice"),
        (lambda: contacts(block(), "sole", normal=(0, 0, 2)), "normal: expected unit length"),
        (lambda: contacts(block(), "sole", model="soft"), "contacts: model: expected Compliant"),
        (lambda: ForceLaw(point="sole", law=3.0), "force law at 'sole': law: expected a function"),
    ],
)
def test_contacts_that_are_none_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda at: at.qdd, "force law at 'sole': expected a function of q, qd and t"),
        (lambda at: at.tau, "a force law asks for forces"),
        (lambda at: at.q[:2], "force law at 'sole': expected 3 numbers or expressions"),
    ],
)
def test_laws_of_what_follows_from_forces_are_refused(law, message):
    tree, start = block(), (np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match=message):
        simulate(tree, np.zeros(3), start, 0.1, (ForceLaw(point="sole", law=law),))
