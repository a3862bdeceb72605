"""Waters' Lagrangian dynamics with 4x4 link transformations, O(n^2): recursive motions, torques as sums over the links outside.

Hollerbach (1980), eqs. 6-10, after Waters (1979). Every joint kind is one case, since dT/dq = T [S] with the joint's constant screw
matrix [S]. Loads act through the Jacobian of their point (Xiang, Arora & Abdel-Malek 2009, eqs. 6, 10), which is part of dW/dq.
"""
import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Formulation, aligned, applied, first_moment
from ocp.kinematics import joint_pose
from ocp.spatial import screw_matrix, skew
from ocp.tree import GROUND, Link, Tree, outward, revolute


def inverse(tree, q, qd, qdd, loads=()):
    """Return the joint torques (N m) or forces (N), (n,)."""
    tree, _ = aligned(tree)
    return torques(tree, _links(tree, q), qd=qd, qdd=qdd, gravity=ca.DM([*tree.gravity, 0]), loads=applied(tree, loads))


def torques(tree, links, *, qd, qdd, gravity, loads=()):
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4, under gravity (4) and `applied` loads.

    W = W_p T,  dW = dW_p T + W_p T' qd,  ddW = ddW_p T + 2 dW_p T' qd + W_p (T'' qd^2 + T' qdd)       (Hollerbach 1980, eqs. 8-10)
    tau_i = sum over the links j that joint i moves of  tr(dW_j/dq_i (J_j ddW_j' - m_j r_j g' - P_j')) (eq. 6; m r = J's last column)
    """
    rows, zero = tree.rows, ca.DM(4, 4)

    def motion(k, parent):
        (w, dw, ddw, slopes), (t, t1, t2, _), row = parent, links[k], rows[k]
        slopes = {i: slope @ t for i, slope in slopes.items()}
        if row is None:
            return w @ t, dw @ t, ddw @ t, slopes
        slope, rate = w @ t1, qd[row]
        accelerated = ddw @ t + dw @ t1 * (2 * rate) + w @ t2 * rate ** 2 + slope * qdd[row]
        return w @ t, dw @ t + slope * rate, accelerated, slopes | {row: slope}

    tau = [0] * tree.dof
    for k, (w, _, ddw, slopes) in enumerate(outward(tree, motion, (ca.DM.eye(4), zero, zero, {}))):
        pseudo = links[k][3]
        needed = ddw @ pseudo.T - gravity @ pseudo[:, 3].T - _push(loads, k, w)
        for i, slope in slopes.items():
            tau[i] = tau[i] + ca.dot(slope, needed)
    return ca.vertcat(*tau)


def dense(n):
    """Return the inputs (list of SX) and the torques (n,) of a serial chain of n joints with a symbol for every matrix entry.

    So Hollerbach (1980, table I) counts: link matrices and their derivatives are given, and none of their entries is known to be 0 or 1.
    """
    links = [tuple(ca.SX.sym(f"{name}_{k}", 4, 4) for name in ("T", "dT", "ddT", "J")) for k in range(n)]
    gravity, qd, qdd = ca.SX.sym("g", 4), ca.SX.sym("qd", n), ca.SX.sym("qdd", n)
    chain = Tree(links=[Link()] * n, joints=[revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND) for k in range(n)])
    return [*sum(links, ()), gravity, qd, qdd], torques(chain, links, qd=qd, qdd=qdd, gravity=gravity)


def _links(tree, q):
    """Return T, T' = T [S], T'' = T [S]^2 and the pseudo-inertia J (4x4, last column m r and m) of every link."""
    links = []
    for joint, link, row in zip(tree.joints, tree.links, tree.rows):
        t, hat = joint_pose(joint, None if row is None else q[row]), ca.DM(4, 4)
        if row is not None:
            hat = ca.DM(screw_matrix(np.array(joint.screw)))
        mass, first, second = first_moment(link)
        links.append((t, t @ hat, t @ hat @ hat, ca.DM(np.block([[second, first[:, None]], [first, mass]]))))
    return links


def _push(loads, k, w):
    """Return P (4x4), the sum of f r' for a force f at r and [h] W / 2 for a moment h on link k.

    What these loads do at joint i is tr(dW/dq_i P'), as tr([h] W dW'/dq_i) = 2 h . axis.
    """
    push = ca.DM(4, 4)
    for link, place, force, moment in loads:
        if link == k:
            push = push + ca.vertcat(force[0], force[1], force[2], 0) @ ca.DM([*place, 1]).T
            push = push + ca.diagcat(skew(moment) @ w[:3, :3] / 2, 0)
    return push


WATERS = Formulation(name="waters", inverse=inverse)
