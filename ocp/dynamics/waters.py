"""Waters' Lagrangian dynamics with 4x4 link transformations, O(n^2): recursive motions, torques as
sums over the links outside.

Hollerbach (1980), eqs. 6-10, after Waters (1979). Every joint kind is one case, since dT/dq = T [S]
with the joint's constant screw matrix [S]. Loads act through the Jacobian of their point (Xiang,
Arora & Abdel-Malek 2009, eqs. 6, 10), which is part of dW/dq.
"""

from collections.abc import Sequence

import casadi as ca

from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.formulation import Formulation
from ocp.dynamics.links import Links, given_matrices, push_of, torques_by
from ocp.mechanics.loads import AppliedLoads, Load
from ocp.mechanics.tree import Tree, outward
from ocp.mechanics.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return torques_by(torques, tree, q, qd, qdd, loads)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4.

    Under gravity (4) and `applied` loads,

        W = W_p T,  dW = dW_p T + W_p T' qd
        ddW = ddW_p T + 2 dW_p T' qd + W_p (T'' qd^2 + T' qdd)  (Hollerbach 1980, eqs. 8-10)
        tau_i = sum over the links j that joint i moves of
                tr(dW_j/dq_i (J_j ddW_j' - m_j r_j g' - P_j'))  (eq. 6; m r = J's last column)
    """
    rows, zero = tree.rows, ca.DM(4, 4)

    def motion(k, parent):
        (w, dw, ddw, slopes), (t, t1, t2, _), row = parent, links[k], rows[k]
        slopes = {i: slope @ t for i, slope in slopes.items()}
        if row is None:
            return w @ t, dw @ t, ddw @ t, slopes
        slope, rate = w @ t1, qd[row]
        accelerated = ddw @ t + dw @ t1 * (2 * rate) + w @ t2 * rate**2 + slope * qdd[row]
        return w @ t, dw @ t + slope * rate, accelerated, slopes | {row: slope}

    tau = [0] * tree.dof
    for k, (w, _, ddw, slopes) in enumerate(outward(tree, motion, (ca.DM.eye(4), zero, zero, {}))):
        pseudo = links[k][3]
        needed = ddw @ pseudo.T - gravity @ pseudo[:, 3].T - push_of(loads, k, w)
        for i, slope in slopes.items():
            tau[i] = tau[i] + ca.dot(slope, needed)
    return ca.vertcat(*tau)


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return inputs and torques (n,) of `given_matrices`, as Hollerbach (1980, table I) counts."""
    return given_matrices(n, torques)


WATERS = Formulation(name="waters", inverse=inverse, derivatives=COMPOSITE)
