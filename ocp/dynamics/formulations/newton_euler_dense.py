"""Newton-Euler dynamics with a symbol for every entry of every matrix, as Hollerbach (1980) counts
work."""

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from ocp.dynamics.formulations.newton_euler import joint_wrenches
from ocp.dynamics.formulations.transforms_4x4 import revolute_chain
from ocp.mechanics.values.types import Matrix


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return the inputs and the torques (n,) of a serial chain of n revolute joints.

    Inputs are the rotations R_k (3x3) to the parent, the offsets p_k (3), mass, first moment and
    pseudo-inertia (13) of every link, qd and qdd; gravity is a number.
    """
    rotations = [ca.SX.sym("R", 3, 3) for _ in range(n)]
    offsets = [ca.SX.sym("p", 3) for _ in range(n)]
    bodies = [ca.SX.sym("body", 13) for _ in range(n)]
    qd, qdd = ca.SX.sym("qd", n), ca.SX.sym("qdd", n)
    inertias = [
        (mass, rest[:3], [rest[3 + row :: 3] for row in range(3)])
        for mass, *rest in map(ca.vertsplit, bodies)
    ]
    tree = replace(revolute_chain(n), gravity=(1.1, 1.2, 1.3))
    wrenches = joint_wrenches(tree, _Rotations(rotations, offsets), qd, qdd, {}, inertias)
    tau = ca.vertcat(*(moment[2] for moment, _ in wrenches))
    return [*rotations, *offsets, *bodies, qd, qdd], tau


class _Rotations:
    """Rotations and offsets as matrices of symbols, in the form that the recursion takes."""

    def __init__(self, rotations: Sequence[Matrix], offsets: Sequence[Matrix]) -> None:
        self.rotations, self.offsets = rotations, [ca.vertsplit(offset) for offset in offsets]

    def to_child(self, k: int, v: Sequence[Matrix]) -> list[Matrix]:
        """Return R'v."""
        return ca.vertsplit(self.rotations[k].T @ ca.vertcat(*v))

    def to_parent(self, k: int, v: Sequence[Matrix]) -> list[Matrix]:
        """Return R v."""
        return ca.vertsplit(self.rotations[k] @ ca.vertcat(*v))

    def offset(self, k: int) -> list[Matrix]:
        """Return the position (3) of link k's origin in its parent's frame."""
        return self.offsets[k]
