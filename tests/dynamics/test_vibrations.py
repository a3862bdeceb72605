"""Beams in motion: frequencies against Euler and Bernoulli, energy, buckling and centrifugal
stiffening."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from random_trees import random_link, random_motion

from ocp import Link, Load, Tree, fixed, revolute
from ocp.dynamics.formulations import book
from ocp.mechanics import Beam, Body, assumed_modes
from ocp.mechanics.flexible.beam_shapes import bending_roots
from ocp.mechanics.flexible.flexible_kinematics import damping_power
from ocp.mechanics.kinematics import kinematics
from ocp.models.arms.flexible_arm import LENGTH, cantilever, flexible_arm, strip

ZERO = ca.DM.zeros


def numbers(expression):
    """The entries of a matrix of numbers."""
    return np.array(ca.DM(expression))


def frequencies(tree):
    """Natural frequencies (rad/s) at q = 0 without gravity, from Book's inertia matrix and the
    forces' slope."""
    at = ca.SX.sym("q", tree.dof)
    slope = ca.jacobian(
        book.inverse(replace(tree, gravity=(0, 0, 0)), at, ZERO(tree.dof), ZERO(tree.dof)),
        at,
    )
    stiffness = numbers(ca.Function("slope", [at], [slope])(0))
    return np.sort(
        np.sqrt(
            np.abs(
                np.linalg.eigvals(
                    np.linalg.solve(numbers(book.inertia(tree, ZERO(tree.dof))), stiffness)
                )
            )
        )
    )


SLENDER = replace(
    strip(), gyration=(0.0, 0.0)
)  # its sections have no inertia, as Euler and Bernoulli have it


def turning(modes, hub=0.0):
    """A beam on a free joint with a hub of that inertia about it (kg m2)."""
    links = (
        (Link(mass=1.0, inertia=np.diag([hub, hub, hub])), Link(modes=modes))
        if hub
        else (Link(modes=modes),)
    )
    joints = (revolute("hub"), fixed("beam", "hub")) if hub else (revolute("beam"),)
    return Tree(links=links, joints=joints)


def rates(**ends):
    """Euler and Bernoulli's first three frequencies of the strip (rad/s)."""
    beam = strip()
    return np.array(bending_roots(3, **ends)[0]) ** 2 * np.sqrt(
        beam.bending[1] / (beam.mass * LENGTH**3)
    )


def test_a_clamped_beam_vibrates_as_euler_and_bernoulli_say():
    np.testing.assert_allclose(frequencies(cantilever()), rates(), rtol=1e-9)
    np.testing.assert_allclose(
        frequencies(cantilever(load=0.25)),
        rates(tip=0.25 / 0.675, inertia=0.25 * 0.04**2 / 0.675),
        rtol=1e-9,
    )


@pytest.mark.parametrize(("shapes", "hub"), [("pinned", 0.0), ("hub", 0.02)])
def test_a_turning_beam_vibrates_as_euler_and_bernoulli_say(shapes, hub):
    """The shapes less the turn of their base and the joint's own variable are together the
    vibrations of beam and hub."""
    actual = frequencies(turning(assumed_modes(SLENDER, bend_z=3, shapes=shapes, hub=hub), hub))
    assert actual[0] < 1e-3
    np.testing.assert_allclose(actual[1:], rates(base=hub / 0.675), rtol=1e-9)


@pytest.mark.parametrize("shapes", ["clamped-free", "polynomial"])
def test_a_turning_beam_of_other_shapes_comes_near(shapes):
    errors = np.array(
        [
            frequencies(turning(assumed_modes(SLENDER, bend_z=count, shapes=shapes)))[1:4]
            / rates(base=0.0)
            - 1
            for count in (3, 5, 8)
        ]
    )
    assert (errors > -1e-9).all()
    assert (np.diff(errors, axis=0) < 0).all()
    assert (errors[-1] < 1e-2).all()
    assert (errors[0] > errors[-1]).all()
    assert shapes != "polynomial" or (errors[-1] < 1e-3).all()


def test_a_tip_body_is_a_link_fixed_to_the_tip():
    rng, bare = np.random.default_rng(3), strip()
    body = random_link(rng)
    tip = Body(mass=body.mass, com=body.com, inertia=body.inertia)
    shapes = {"bend_y": 1, "bend_z": 2, "torsion": 1, "shapes": "polynomial"}
    one = Tree(
        links=(Link(modes=assumed_modes(replace(bare, tip=tip), **shapes)),),
        joints=(revolute("arm"),),
        gravity=(1, 2, 3),
    )
    two = Tree(
        links=(Link(modes=assumed_modes(bare, **shapes)), body),
        joints=(revolute("arm"), fixed("tip", "arm", home=(LENGTH, 0, 0))),
        gravity=(1, 2, 3),
    )
    motion = [ca.DM(part) for part in 0.3 * random_motion(rng, one)]
    expected = numbers(book.inverse(one, *motion))
    np.testing.assert_allclose(
        numbers(book.inverse(two, *motion)), expected, atol=1e-12 * np.abs(expected).max()
    )


def simulated(tree, start, duration):
    """State at the end (2 n,) of free motion from `start`, and the work that damping took."""
    n = tree.dof
    state = ca.SX.sym("state", 2 * n)
    rates = ca.vertcat(
        state[n:],
        book.forward(tree, state[:n], state[n:], ca.SX.zeros(n)),
        damping_power(tree, state[n:]),
    )
    system = {"x": ca.vertcat(state, ca.SX.sym("work")), "ode": rates}
    actual = ca.integrator(
        "free", "cvodes", system, 0.0, duration, {"abstol": 1e-11, "reltol": 1e-11}
    )(x0=ca.vertcat(start, 0))["xf"]
    return actual[: 2 * n], float(actual[2 * n])


@pytest.mark.parametrize(
    "options", [{"stiffening": False}, {}, {"damping": 0.02}], ids=["linear", "stiffened", "damped"]
)
def test_energy_is_kept_as_closely_as_the_integrator_steps(options):
    arm = flexible_arm(bend=1, gravity=9.81, **options)
    start = ca.DM([0.4, 0.02, -0.7, -0.02, 0, 0, 0, 0])

    def energy(state):
        return float(
            kinematics.kinetic_energy(arm, state[:4], state[4:])
            + kinematics.potential_energy(arm, state[:4])
        )

    end, lost = simulated(arm, start, 0.5)
    swing = float(kinematics.kinetic_energy(arm, end[:4], end[4:]))
    assert swing > 1.0 and (lost > 1e-3) == ("damping" in options)
    assert energy(end) + lost == pytest.approx(energy(start), abs=1e-8 * swing)


def test_a_loaded_column_bends_as_theory_has_it_only_with_stiffening():
    """Deflection F (tan kL - kL) / (P k) of a column under P with a small F across; the linear
    shapes give F L^3 / (3 E I)."""
    stiffness, actual = strip().bending[1], {}
    k = 0.63 * np.pi / 2 / LENGTH  # P is 0.4 of Euler's pi^2 E I / (4 L^2)
    for stiffening in (False, True):
        column = cantilever(bend=5, shapes="polynomial", stiffening=stiffening)
        d = ca.SX.sym("d", 5)
        balance = book.inverse(
            column, d, ZERO(5), ZERO(5), (Load(point="tip", force=(-(k**2) * stiffness, 1e-4, 0)),)
        )
        slope, rest = (
            numbers(ca.Function("f", [d], [part])(0)) for part in (ca.jacobian(balance, d), balance)
        )
        actual[stiffening] = numbers(
            kinematics.position(column, -np.linalg.solve(slope, rest).ravel(), "tip")
        )[1, 0]
    exact = 1e-4 * (np.tan(k * LENGTH) - k * LENGTH) / (k**3 * stiffness)
    assert actual[True] == pytest.approx(exact, rel=1e-6)
    assert actual[False] == pytest.approx(1e-4 * LENGTH**3 / (3 * stiffness), rel=1e-9)
    assert actual[False] / exact == pytest.approx(0.6, abs=0.02)


@cache
def whirling():
    """Slope of the forces by the coordinates and inertia matrix, at rest in a beam that whirls, as
    a function of its speed."""
    tree = turning(
        assumed_modes(Beam(length=1.0, mass=1.0, bending=(1.0, 1.0)), bend_y=6, shapes="polynomial")
    )
    q, speed = ca.SX.sym("q", 7), ca.SX.sym("speed")
    slope = ca.jacobian(book.inverse(tree, q, ca.vertcat(speed, ca.SX.zeros(6)), ZERO(7)), q)
    return ca.Function(
        "whirling",
        [speed],
        [ca.substitute(slope, q, ZERO(7)), book.inertia(tree, ZERO(7))],
    )


@pytest.mark.parametrize(
    ("speed", "expected"), [(0, 3.5160), (1, 3.6817), (2, 4.1373), (6, 7.3604), (12, 13.1702)]
)
def test_a_whirling_beam_stiffens(speed, expected):
    """Flapping of a beam whirled about its root, omega sqrt(mu L^4 / E I) (Wright, Smith, Thresher
    & Wang 1982)."""
    slope, matrix = (numbers(part)[1:, 1:] for part in whirling()(speed))
    squares = np.linalg.eigvals(np.linalg.solve(matrix, slope)).real
    assert np.sqrt(squares.min()) == pytest.approx(expected, abs=3e-4)
