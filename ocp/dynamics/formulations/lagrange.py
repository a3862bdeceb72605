"""Forward dynamics by Lagrange's equations, from the energies by automatic differentiation: no
recursion, and so a witness to those that are."""

import casadi as ca

from ocp.dynamics.signatures import Loads
from ocp.mechanics.elements.generalized_forces import kinematics_of
from ocp.mechanics.flexible.flexible_kinematics import damping_power
from ocp.mechanics.kinematics.kinematics import kinetic_energy, load_power
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix


def forward(tree: Tree, q: Matrix, qd: Matrix, tau: Matrix, loads: Loads = ()) -> Matrix:
    """Return the accelerations (n,) under joint torques and forces on modal amplitudes tau (n,), as
    SX; rotors are among the bodies, and what force elements give is to be in tau.

        M qdd + d(M qd)/dq qd - dT/dq + dV/dq + dD/dqd / 2 - dP/dqd = tau,   M = d2T/dqd2

    with the kinetic energy T, the potential energy V of gravity and of bent links, the power D of
    the modes' damping, and that of the loads P.
    """
    at, rate = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    kinetic, bodies = kinetic_energy(tree, at, rate), kinematics_of(tree)
    momentum, potential = ca.gradient(kinetic, rate), bodies.potential_energy(tree, at)
    rest = ca.jtimes(momentum, at, rate) + ca.gradient(potential - kinetic, at)
    rest += ca.gradient(damping_power(tree, rate) / 2 - load_power(tree, at, rate, loads), rate)
    values = [ca.densify(ca.SX(part)) for part in (q, qd)]
    mass, rest = ca.substitute([ca.jacobian(momentum, rate), rest], [at, rate], values)
    return ca.solve(mass, tau - rest)
