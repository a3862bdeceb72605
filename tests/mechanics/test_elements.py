"""Force elements give what their equations say."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from element_arm import ARM, ROD

import ocp
from ocp.mechanics import (
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    PassiveMoment,
    Spring,
    Strut,
    Tendon,
    elastic_energy,
    element_loss,
    element_torques,
    kinetic_energy,
    potential_energy,
    powers_by_element,
)

MASS = 2.0
SLIDER = ocp.Tree(links=(ocp.Link(mass=MASS),), joints=(ocp.prismatic("x", axis=(1, 0, 0)),))
PLANE = ocp.Tree(
    links=(ocp.Link(), ocp.Link(mass=MASS)),
    joints=(ocp.prismatic("x", axis=(1, 0, 0)), ocp.prismatic("y", "x", axis=(0, 1, 0))),
    points=(ocp.Point(name="body", link="y"),),
    gravity=(0.0, -9.81, 0.0),
)


def given(element, q, qd, tree=SLIDER):
    """What an element gives at q and qd."""
    moved = element_torques(replace(tree, elements=(element,)), ca.DM(q), ca.DM(qd))
    return np.array(ca.DM(moved)).ravel()


def simulated(tree, start, duration=1.0):
    return ocp.simulate(tree, np.zeros(tree.dof), start, duration, count=11, tolerance=1e-13)


def reference(right, start, duration=1.0):
    """States (m, 11) of equations of one's own, by CVODES."""
    x = ca.SX.sym("x", len(start))
    options = {"abstol": 1e-13, "reltol": 1e-13}
    t = np.linspace(0, duration, 11)
    problem = {"x": x, "ode": ca.vertcat(*right(x))}
    step = ca.integrator("step", "cvodes", problem, 0.0, t[1:].tolist(), options)
    return np.hstack([np.reshape(start, (-1, 1)), np.array(step(x0=start)["xf"])])


def test_spring_damper_and_rotor_swing_as_the_closed_form_says():
    elements = (
        Spring(joint="x", stiffness=30.0, rest=0.2),
        Damper(joint="x", damping=1.5),
        Armature(joint="x", inertia=0.25, gear=2.0),
    )
    found = simulated(replace(SLIDER, elements=elements), ([0.7], [0.0]))
    mass = MASS + 0.25 * 2.0**2
    decay = 1.5 / (2 * mass)
    frequency = np.sqrt(30.0 / mass - decay**2)
    t = found.t
    wave = np.cos(frequency * t) + decay / frequency * np.sin(frequency * t)
    assert np.abs(found.q[0] - 0.2 - 0.5 * np.exp(-decay * t) * wave).max() < 1e-9


def test_friction_has_its_peak_at_the_speed_of_transition_and_stops_a_body():
    drag = Friction(joint="x", dynamic=2.0, static=3.0, transition=0.1)
    speeds = np.linspace(0.0, 1.0, 2001)
    curve = np.array([-given(drag, [0.0], [speed])[0] for speed in speeds])
    assert speeds[curve.argmax()] == pytest.approx(0.1, abs=2e-3)
    assert curve.max() == pytest.approx(3.0, rel=1e-3) and curve[-1] == pytest.approx(2.0, rel=0.03)

    def right(x):
        u = x[1] / 0.1
        return x[1], -(2.0 * ca.tanh(4 * u) + u / (u**2 / 4 + 0.75) ** 2) / MASS

    found = simulated(replace(SLIDER, elements=(drag,)), ([0.0], [0.8]))
    assert np.abs(found.q[0] - reference(right, [0.0, 0.8])[0]).max() < 1e-9


def test_a_curved_spring_runs_through_its_points_and_stores_their_work():
    places, forces = (-1.0, -0.2, 0.3, 1.0), (4.0, 0.5, -0.1, -3.0)
    spring = CurvedSpring(joint="x", places=places, forces=forces)
    for place, force in zip(places, forces):
        assert given(spring, [place], [0.0])[0] == pytest.approx(force, abs=1e-12)
    beyond = [given(spring, [x], [0.0])[0] for x in (1.0, 1.5, 2.0)]
    assert np.diff(beyond, 2)[0] == pytest.approx(0.0, abs=1e-12)
    line = CurvedSpring(joint="x", places=(0.0, 0.4, 1.0), forces=(2.0, 1.2, 0.0))
    tree, x = replace(SLIDER, elements=(line,)), ca.DM([0.7])
    assert float(elastic_energy(tree, x)) == pytest.approx(-(2.0 + 0.6) / 2 * 0.7)


def test_a_bumper_throws_back_and_never_pulls():
    bumper = Bumper(joint="x", upper=0.1, stiffness=500.0, damping=4.0, rounding=0.02)
    depths = np.linspace(-0.2, 0.2, 41)
    pushes = [given(bumper, [0.1 + e], [rate])[0] for e in depths for rate in (-9.0, 0.0, 9.0)]
    assert max(pushes) <= 0.0
    free = replace(bumper, damping=0.0)
    for each, gains in ((free, 0.0), (bumper, -0.02)):
        tree = replace(SLIDER, elements=(each,))
        found = simulated(tree, ([0.0], [1.0]))
        energies = [
            float(kinetic_energy(tree, q, qd) + potential_energy(tree, q))
            for q, qd in zip(found.q.T, found.qd.T)
        ]
        assert found.qd[0, -1] < 0
        gained = energies[-1] - energies[0]
        assert abs(gained) < 1e-8 if not gains else gained < gains


def test_a_body_on_a_tendon_moves_as_its_own_equations_say():
    tendon = Tendon(
        name="rope", path=((0, 1, 0), "body"), stiffness=80.0, slack=1.0, damping=3.0, rounding=0.01
    )

    def right(x):
        reach = ca.sqrt(x[0] ** 2 + (x[1] - 1) ** 2)
        rate = (x[0] * x[2] + (x[1] - 1) * x[3]) / reach
        root = ca.sqrt((reach - 1) ** 2 + 0.01**2)
        pull = 80 * (reach - 1) + 3 * (1 + (reach - 1) / root) / 2 * rate
        pull = (pull + ca.sqrt(pull**2 + 0.8**2)) / 2
        return x[2], x[3], -pull * x[0] / reach / MASS, -pull * (x[1] - 1) / reach / MASS - 9.81

    found = simulated(replace(PLANE, elements=(tendon,)), ([0.3, 0.3], [1.0, 0.0]))
    own = reference(right, [0.3, 0.3, 1.0, 0.0])
    assert np.abs(np.vstack([found.q, found.qd]) - own).max() < 1e-9
    assert given(tendon, [0.0, 0.5], [0.0, 0.0], PLANE)[1] < 80 * 0.01**2 / 4 / 0.5 * 1.01


def test_a_winch_lifts_a_body_by_its_tendon_as_their_own_equations_say():
    """A drum of radius r winds up a tendon from which a body hangs."""
    tree = ocp.Tree(
        links=(ocp.Link(mass=MASS), ocp.Link()),
        joints=(ocp.prismatic("up", axis=(0, 1, 0)), ocp.revolute("drum", home=(0, 2, 0))),
        points=(ocp.Point(name="hook", link="up"),),
        gravity=(0.0, -9.81, 0.0),
        elements=(
            Armature(joint="drum", inertia=0.01, gear=2.0),
            Tendon(
                name="rope",
                path=((0, 2, 0), "hook"),
                stiffness=500.0,
                slack=2.0,
                damping=4.0,
                rounding=0.01,
                winch="drum",
                radius=0.1,
            ),
        ),
    )

    def right(x):
        stretch, rate = 0.1 * x[1] - x[0], 0.1 * x[3] - x[2]
        root = ca.sqrt(stretch**2 + 0.01**2)
        pull = 500 * stretch + 4 * (1 + stretch / root) / 2 * rate
        pull = (pull + ca.sqrt(pull**2 + 5.0**2)) / 2
        return x[2], x[3], pull / MASS - 9.81, (3.0 - 0.1 * pull) / 0.04

    found = ocp.simulate(tree, (0.0, 3.0), ([0.0, 0.0], [0.0, 0.0]), 1.0, count=11, tolerance=1e-13)
    own = reference(right, [0.0, 0.0, 0.0, 0.0])
    assert np.abs(np.vstack([found.q, found.qd]) - own).max() < 1e-9
    assert found.q[0, -1] > 0.5


def test_a_strut_is_a_spring_and_a_damper_along_its_line():
    strut = Strut(name="strut", start=(3, 0, 0), end="body", stiffness=7.0, rest=2.0, damping=0.5)
    force = given(strut, [0.0, 4.0], [3.0, 0.0], PLANE)
    away = np.array([-3.0, 4.0]) / 5
    assert force == pytest.approx(-(7 * 3 + 0.5 * (away @ [3.0, 0.0])) * away)


def rounded(force, width):
    return (force + ca.sqrt(force**2 + width**2)) / 2


OWN = {  # an element of a body in the plane, and what it gives by x, y and their rates
    "bumper": (
        Bumper(joint="x", lower=-0.3, stiffness=90.0, damping=2.0, rounding=0.02),
        lambda x, y, u, v: (
            rounded(
                90 * (-0.3 - x) - 2 * (1 + (-0.3 - x) / ca.sqrt((-0.3 - x) ** 2 + 0.02**2)) / 2 * u,
                90 * 0.02,
            ),
            0.0,
        ),
    ),
    "curved spring": (
        CurvedSpring(joint="y", places=(-9.0, -3.0, 2.0), forces=(36.0, 12.0, -8.0)),
        lambda x, y, u, v: (0.0, -4.0 * y),
    ),
    "strut": (
        Strut(name="s", start=(2.0, 1.0, 0.0), end="body", stiffness=40, rest=1.5, damping=3),
        lambda x, y, u, v: tuple(
            -part
            / ca.hypot(x - 2, y - 1)
            * (
                40 * (ca.hypot(x - 2, y - 1) - 1.5)
                + 3 * ((x - 2) * u + (y - 1) * v) / ca.hypot(x - 2, y - 1)
            )
            for part in (x - 2, y - 1)
        ),
    ),
    "passive moment": (
        PassiveMoment(
            name="p",
            joints=("y", "x"),
            energy=lambda z: ca.cosh(z[0] + 2 * z[1]),
            moment=lambda z, rate: (-(rate[0] ** 3), 2 * rate[0] * rate[1]),
        ),
        lambda x, y, u, v: (-2 * ca.sinh(y + 2 * x) + 2 * u * v, -ca.sinh(y + 2 * x) - v**3),
    ),
}


@pytest.mark.parametrize("kind", OWN)
def test_a_body_moves_by_an_element_as_its_own_equations_say(kind):
    element, force = OWN[kind]

    def right(state):
        x, y, u, v = ca.vertsplit(state)
        a, b = force(x, y, u, v)
        return u, v, a / MASS, b / MASS - 9.81

    start = ([-0.1, 0.2], [-1.0, 0.5])
    found = simulated(replace(PLANE, elements=(element,)), start)
    own = reference(right, [*start[0], *start[1]])
    assert np.abs(np.vstack([found.q, found.qd]) - own).max() < 1e-9


def test_elements_that_lose_nothing_keep_the_energy():
    tree = replace(
        PLANE,
        elements=(
            Armature(joint="x", inertia=0.2),
            Spring(joint="x", stiffness=20.0),
            CurvedSpring(joint="y", places=(-2, -0.5, 1), forces=(30, 5, -9)),
            Bumper(joint="y", lower=-0.2, stiffness=300.0, rounding=0.05),
            Strut(name="s", start=(3.0, 0.0, 0.0), end="body", stiffness=9.0, rest=2.0),
            Tendon(
                name="t", path=((0.0, 1.0, 0.0), "body"), stiffness=50.0, slack=0.9, rounding=0.05
            ),
            PassiveMoment(name="p", joints=("x", "y"), energy=lambda z: ca.exp(z[0] - z[1])),
        ),
    )
    found = simulated(tree, ([0.4, 0.3], [1.0, -2.0]), 2.0)
    energies = [
        float(kinetic_energy(tree, ca.DM(q), ca.DM(qd)) + potential_energy(tree, ca.DM(q)))
        for q, qd in zip(found.q.T, found.qd.T)
    ]
    assert np.ptp(energies) < 1e-8 * max(map(abs, energies))


def test_a_path_over_several_points_gives_what_its_length_says():
    tendon = Tendon(
        name="cord", path=((0, 1, 0), "thigh", "shank", "toe"), stiffness=50.0, slack=1.0
    )
    tree, q = replace(ARM, elements=(tendon,)), ca.SX.sym("q", 2)
    force = element_torques(tree, q, ca.SX.zeros(2)) + ca.gradient(elastic_energy(tree, q), q)
    assert np.abs(np.array(ca.Function("f", [q], [force])([0.3, -0.8]))).max() < 1e-12


def test_a_strut_acts_over_a_ball():
    tip = ocp.Point(name="tip", link="shoulder", position=(0, 0, -1))
    strut = Strut(name="strut", start=(1, 0, -1), end="tip", stiffness=3.0, rest=0.4)
    tree = ocp.Tree(links=(ROD,), joints=(ocp.ball("shoulder"),), points=(tip,), elements=(strut,))
    moment = element_torques(tree, ca.DM(tree.neutral), ca.DM.zeros(4))
    assert np.array(moment).ravel() == pytest.approx([0.0, 0.0, 2 * -3.0 * 0.6, 0.0])


def test_points_are_on_links_by_the_links_own_names():
    links = tuple(replace(link, name=f"link{k}") for k, link in enumerate(ARM.links))
    carriers = dict(zip(ARM.names, ("link0", "link1", "link2")))
    points = tuple(replace(point, link=carriers[point.link]) for point in ARM.points)
    joints = tuple(
        replace(joint, parent=carriers.get(joint.parent, joint.parent)) for joint in ARM.joints
    )
    cord = Strut(name="cord", start="thigh", end="toe", stiffness=3.0)
    named = replace(ARM, links=links, joints=joints, points=points, elements=(cord,))
    q, still = ca.DM([0.3, -0.8]), ca.DM.zeros(2)
    apart = element_torques(named, q, still) - element_torques(
        replace(ARM, elements=(cord,)), q, still
    )
    assert np.abs(np.array(apart)).max() == 0.0
    with pytest.raises(ValueError, match="are all on one link"):
        replace(named, elements=(replace(cord, end="heel"),))


def test_a_passive_moment_couples_joints_by_its_energy_and_its_law():
    tissue = PassiveMoment(
        name="hamstrings",
        joints=("knee", "hip"),
        energy=lambda x: ca.exp(x[0] - 2 * x[1]),
        moment=lambda x, rate: (-3.0 * rate[0], -5.0 * rate[1]),
    )
    force = given(tissue, [0.2, 0.7], [0.1, -0.4], ARM)
    bent = np.exp(0.7 - 0.4)
    assert force == pytest.approx([2 * bent - 0.5, -bent + 1.2], rel=1e-12)
    tree = replace(ARM, elements=(tissue,))
    state = ca.DM([0.2, 0.7]), ca.DM([0.1, -0.4])
    assert float(element_loss(tree, *state)) == pytest.approx(5 * 0.01 + 3 * 0.16)
    powers = powers_by_element(tree, *state, ca.DM([0.0, 0.0]))
    assert float(powers["hamstrings"]) == pytest.approx(force @ [0.1, -0.4])


def test_a_rotor_adds_its_inertia_times_the_square_of_the_gear():
    geared = replace(ARM, elements=(Armature(joint="knee", inertia=1e-4, gear=100.0),))
    motion = [ca.DM(part) for part in ((0.3, -0.5), (1.0, 2.0), (0.7, -3.0))]
    more = ocp.inverse_dynamics(geared, *motion) - ocp.inverse_dynamics(ARM, *motion)
    assert np.array(more).ravel() == pytest.approx([0.0, -3.0], abs=1e-12)
