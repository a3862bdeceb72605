"""Newton-Euler dynamics with a symbol for every entry of every matrix, as Hollerbach (1980) counts
work."""

import casadi as ca

from ocp.dynamics.formulations.newton_euler import joint_wrenches
from ocp.mechanics.model.joints import GROUND, revolute
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.values.types import Matrix


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return the inputs and the torques (n,) of revolute joints all of whose matrices are symbols,
    as Hollerbach (1980) counts work.

    Inputs are the rotations R_k (3x3) to the parent, the offsets p_k (3), mass, first moment and
    pseudo-inertia (13) of every link, qd and qdd; gravity is a number.
    """
    joints = [revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND) for k in range(n)]
    tree = Tree(links=[Link()] * n, joints=joints, gravity=(1.1, 1.2, 1.3))
    rotations, offsets = (
        [ca.SX.sym("R", 3, 3) for _ in range(n)],
        [ca.SX.sym("p", 3) for _ in range(n)],
    )
    bodies, motion = (
        [ca.SX.sym("body", 13) for _ in range(n)],
        [ca.SX.sym(name, n) for name in ("qd", "qdd")],
    )
    entries = [ca.vertsplit(body) for body in bodies]
    inertias = [
        (mass, rest[:3], [rest[3 + row :: 3] for row in range(3)]) for mass, *rest in entries
    ]
    qd, qdd = motion
    turns = _Rotations(rotations, offsets)
    wrenches = joint_wrenches(tree, turns, qd, qdd, (), inertias)
    return [*rotations, *offsets, *bodies, *motion], ca.vertcat(
        *(moment[2] for moment, _ in wrenches)
    )


class _Rotations:
    """Rotations and offsets that are matrices of symbols, as the recursion takes them."""

    def __init__(self, rotations, offsets):
        self.rotations, self.offsets = rotations, [ca.vertsplit(offset) for offset in offsets]

    def to_child(self, k, v):
        """Return R'v."""
        return ca.vertsplit(self.rotations[k].T @ ca.vertcat(*v))

    def to_parent(self, k, v):
        """Return R v."""
        return ca.vertsplit(self.rotations[k] @ ca.vertcat(*v))

    def offset(self, k):
        """Return the position (3) of link k's origin in its parent's frame."""
        return self.offsets[k]
