"""Recursive Lagrangian dynamics with 4x4 link transformations, O(n), with external forces and moments.

Hollerbach (1980), eqs. 11-14, in the notation of Xiang, Arora & Abdel-Malek (2009), eqs. 12-20: A, B, C carry position, velocity and
acceleration outward; D (inertia), E (gravity), F (external forces) and G (external moments) are gathered inward. Every joint kind is
one case, since dT/dq = T [S] with the joint's constant screw matrix [S].
"""
import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Formulation, aligned, applied, first_moment
from ocp.kinematics import joint_pose
from ocp.spatial import screw_matrix
from ocp.tree import GROUND, Link, Tree, inward, outward, revolute


def inverse(tree, q, qd, qdd, loads=()):
    """Return the joint torques (N m) or forces (N), (n,)."""
    tree, _ = aligned(tree)
    return torques(tree, _links(tree, q), qd=qd, qdd=qdd, gravity=ca.DM([*tree.gravity, 0]), loads=applied(tree, loads))


def torques(tree, links, *, qd, qdd, gravity, loads=()):
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4, under gravity (4) and `applied` loads.

    outward:  A = A_p T,  B = B_p T + A_p T' qd,  C = C_p T + 2 B_p T' qd + A_p (T'' qd^2 + T' qdd)   (Xiang et al. 2009, eqs. 12-14)
    inward:   D = J C' + T_c D_c,  E = m r + T_c E_c,  F = r_f + T_c F_c,  G = h + G_c                 (eqs. 17-20; m r = J's last column)
    tau = tr(A_i' D) - g' A_i' E - f' A_i' F - G . axis,  A_i' = dA_i/dq_i = A_p T'                    (eq. 16)
    """
    rows, zero = tree.rows, ca.DM(4, 4)
    forces, carried, turning = _external(links, gravity, loads)

    def motion(k, parent):
        (a, b, c, _), (t, t1, t2, _), row = parent, links[k], rows[k]
        if row is None:
            return a @ t, b @ t, c @ t, None
        slope, rate = a @ t1, qd[row]
        return a @ t, b @ t + slope * rate, c @ t + b @ t1 * (2 * rate) + a @ t2 * rate ** 2 + slope * qdd[row], slope

    moves = outward(tree, motion, (ca.DM.eye(4), zero, zero, None))

    def gather(k, children):
        d, e, g = links[k][3] @ moves[k][2].T, carried[k], turning[k]
        for child, (inner_d, inner_e, inner_g) in children:
            d, e, g = d + links[child][0] @ inner_d, e + links[child][0] @ inner_e, g + inner_g
        return d, e, g

    tau = []
    for (a, _, _, slope), (d, e, g) in zip(moves, inward(tree, gather)):
        if slope is not None:
            axis = ca.inv_skew(slope[:3, :3] @ a[:3, :3].T)
            tau.append(ca.dot(slope.T, d - e @ forces.T) - ca.dot(g, axis))
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


def _external(links, gravity, loads):
    """Return the forces that act at carried points and those points, link by link, and each link's moment.

    Column 0 is gravity, acting at the first moment m r (E of eq. 18); column 1 + l is load l, acting at its point (F of eq. 19).
    """
    forces = [gravity]
    carried = [[pseudo[:, 3]] + [ca.DM(4, 1)] * len(loads) for *_, pseudo in links]
    turning = [ca.DM(3, 1)] * len(links)
    for column, (k, place, force, moment) in enumerate(loads, start=1):
        forces.append(ca.vertcat(force[0], force[1], force[2], 0))
        carried[k][column] = ca.DM([*place, 1.0])
        turning[k] = turning[k] + ca.vertcat(moment[0], moment[1], moment[2])
    return ca.horzcat(*forces), [ca.horzcat(*columns) for columns in carried], turning


HOLLERBACH_4X4 = Formulation(name="hollerbach_4x4", inverse=inverse)
