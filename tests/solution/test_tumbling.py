"""Free bodies tumble as closed forms and Euler's equations say, past every attitude at which three
angles would lose a turn."""

import casadi as ca
import numpy as np

from ocp.mechanics import Link, Tree, ball, free, kinematics
from ocp.mechanics.logarithm import product
from ocp.solution import simulate


def body(*moments):
    """A body of principal moments (kg m2) that turns freely."""
    return Tree(links=(Link(mass=1.0, inertia=np.diag(moments)),), joints=(ball("body"),))


def begun(p, spin):
    """A quaternion, and its rate at an angular velocity in the body's axes."""
    return np.array(p), np.array(product(p, [0.0, *spin])).ravel() / 2


def turn(axis, angle):
    """The quaternion of a turn."""
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis))])


def spins(tree, motion):
    """Angular velocities (3, N) in the body's axes."""
    q, qd = ca.SX.sym("q", 4), ca.SX.sym("qd", 4)
    move = kinematics.motions(tree, q, qd)[-1]
    look = ca.Function("spin", [q, qd], [move.rotation.T @ move.angular])
    return np.array(look(motion.q, motion.qd))


def test_a_symmetric_top_precesses_as_its_closed_form():
    across, along, spin = 2.0, 0.7, np.array([0.8, 0.0, 3.0])
    start = turn([0.6, 0.0, 0.8], 1.1)
    motion = simulate(
        body(across, across, along),
        np.zeros(4),
        start=begun(start, spin),
        duration=4.0,
        count=41,
        tolerance=1e-12,
    )
    momentum = np.array(
        product(product(start, [0, *(np.array([across, across, along]) * spin)]), conjugate(start))
    ).ravel()[1:]
    size = np.linalg.norm(momentum)
    own = spin[2] * (1 - along / across)  # about the top's own axis, beside the precession
    for t, q in zip(motion.t, motion.q.T):
        before = product(turn(momentum / size, size / across * t), start)
        right = np.array(product(before, turn([0, 0, 1], own * t))).ravel()
        np.testing.assert_allclose(q, right, atol=2e-9)


def conjugate(p):
    """The turn back."""
    return [p[0], -p[1], -p[2], -p[3]]


def test_the_middle_axis_flips_as_eulers_equations_say():
    """Dzhanibekov's effect: the body turns over again and again, half a turn each time."""
    moments, spin = np.array([1.0, 2.0, 3.0]), np.array([0.02, 4.0, 0.01])
    tree = body(*moments)
    motion = simulate(
        tree,
        np.zeros(4),
        start=begun([1.0, 0.0, 0.0, 0.0], spin),
        duration=8.0,
        count=81,
        tolerance=1e-13,
    )
    w = ca.SX.sym("w", 3)
    rates = -ca.cross(w, ca.DM(moments) * w) / ca.DM(moments)
    tight = {"abstol": 1e-13, "reltol": 1e-13, "max_num_steps": 100000}
    euler = ca.integrator("euler", "cvodes", {"x": w, "ode": rates}, 0.0, motion.t[1:], tight)
    right = np.hstack([spin[:, None], np.array(euler(x0=spin)["xf"])])
    got = spins(tree, motion)
    np.testing.assert_allclose(got, right, atol=2e-7)
    assert got[1].min() < -3.9 and got[1].max() > 3.9  # it did turn over
    np.testing.assert_allclose(np.linalg.norm(motion.q, axis=0), 1.0, atol=1e-9)


def test_two_somersaults_pass_every_attitude_and_come_back():
    motion = simulate(
        body(1.0, 2.0, 3.0),
        np.zeros(4),
        start=begun([1.0, 0.0, 0.0, 0.0], [0.0, 2 * np.pi, 0.0]),
        duration=2.0,
        count=33,
        tolerance=1e-12,
    )
    right = np.array([turn([0, 1, 0], 2 * np.pi * t) for t in motion.t]).T
    np.testing.assert_allclose(motion.q, right, atol=1e-8)
    np.testing.assert_allclose(motion.q[:, -1], [1, 0, 0, 0], atol=1e-8)


def test_a_free_body_falls_on_a_parabola_while_it_turns():
    tree = Tree(
        links=(Link(), Link(), Link(), Link(mass=2.0, inertia=np.diag((1.0, 2.0, 2.5)))),
        joints=free("body"),
        gravity=(0.0, 0.0, -9.81),
    )
    p, rate = begun([1.0, 0.0, 0.0, 0.0], [0.5, 3.0, 1.0])
    start = np.array([0, 0, 1, *p]), np.array([1.0, 2.0, 3.0, *rate])
    motion = simulate(tree, np.zeros(7), start=start, duration=1.0, count=11, tolerance=1e-12)
    t = motion.t
    right = np.vstack([t, 2 * t, 1 + 3 * t - 9.81 * t**2 / 2])
    np.testing.assert_allclose(motion.q[:3], right, atol=1e-10)
