"""Drives of limited strength that come on late, springs, friction and rotors, on ground that gives
way: the powers of all of them balance."""

import casadi as ca
import numpy as np
from dropped_bodies import FOOT, GRAVITY, MASS, piston, raised, sunk

import ocp
from ocp.mechanics import element_loss
from ocp.mechanics.kinematics import kinematics
from ocp.problem import Compliant
from ocp.problem.constraints.activations import drive_states

GROUND = Compliant(radius=0.05, stiffness=5e4, dissipation=1.0)
LEG = (
    ocp.Spring(joint="leg", stiffness=40.0, rest=0.35),
    ocp.Damper(joint="leg", damping=1.5),
    ocp.Friction(joint="leg", dynamic=0.6),
    ocp.Armature(joint="leg", inertia=0.02, gear=4.0),
    ocp.Bumper(joint="leg", lower=0.3, upper=0.6, stiffness=2e3, damping=5.0, rounding=0.01),
    *(
        ocp.Strength(
            joint="leg", direction=side, capacity=lambda x, speed: 45.0 - 30.0 * x - 8.0 * speed
        )
        for side in (1, -1)
    ),
    ocp.Activation(joint="leg", time=0.03, release=0.06),
)


def lift():
    """The mass raised by 0.1 m in 0.5 s, on a foot that nothing holds."""
    rest = GROUND.radius - sunk(GROUND, (MASS + FOOT) * GRAVITY)
    return raised(piston(elements=LEG), GROUND, rest, {"leg": 0.5}, duration=0.5, points=20)


def test_powers_of_drives_elements_and_ground_make_the_energy_change(tmp_path):
    solution = ocp.solve(lift(), ocp.Transcription(method=ocp.Radau(intervals=14))).require(
        coarse=True
    )
    t = solution.times(41)
    powers = solution.trace(balance, t)
    energy, change, given, lost, pushed = powers
    scale = np.abs([given, lost, pushed]).max()
    assert np.abs(change - (given + pushed - lost)).max() < 1e-8 * max(1.0, scale)
    assert (lost > 0).any() and np.ptp(energy) > 1.0 and np.abs(pushed).max() > 1e-2
    certificate = ocp.verify(solution)
    assert certificate.energy_error < 1e-3
    assert certificate.violations["activation"].nodes < 1e-7
    assert certificate.violations["strength"].nodes < 1e-7
    shares = solution.trace(drive_states, t)[1]
    assert np.abs(shares).max() <= 1 + 1e-6 and np.abs(shares).max() > 0.2
    ocp.save(solution, tmp_path / "piston.npz")
    again = ocp.load(tmp_path / "piston.npz")
    assert not again.missing
    np.testing.assert_allclose(again.trace(balance, t), powers, rtol=1e-9, atol=1e-9)


def balance(at):
    """Energy of bodies, rotors and springs, its change along the motion, and the power of drives,
    the loss of elements, and the power of the ground."""
    q, qd = ca.SX.sym("q", 2), ca.SX.sym("qd", 2)
    energy = kinematics.kinetic_energy(at.tree, q, qd) + kinematics.potential_energy(at.tree, q)
    change = ca.jtimes(energy, q, qd) + ca.jtimes(energy, qd, at.qdd)
    level, change = ca.substitute([energy, change], [q, qd], [at.q, at.qd])
    pushed = kinematics.load_power(at.tree, at.q, at.qd, at.current_loads)
    lost = element_loss(at.tree, at.q, at.qd)
    return ca.vertcat(level, change, ca.dot(at.required_torques, at.qd), lost, pushed)
