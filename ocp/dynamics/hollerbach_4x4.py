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
from ocp.tree import inward, outward


def inverse(tree, q, qd, qdd, loads=()):
    """Return the joint torques (N m) or forces (N), (n,).

    outward:  A = A_p T,  B = B_p T + A_p T' qd,  C = C_p T + 2 B_p T' qd + A_p (T'' qd^2 + T' qdd)   (Xiang et al. 2009, eqs. 12-14)
    inward:   D = J C' + T_c D_c,  E = m r + T_c E_c,  F = r_f + T_c F_c,  G = h + G_c                 (eqs. 17-20)
    tau = tr(A_i' D) - g' A_i' E - f' A_i' F - G . (axis),  A_i' = dA_i/dq_i = A_i [S_i]               (eq. 16)
    """
    tree, _ = aligned(tree)
    rows, hats = tree.rows, [None if joint.screw is None else ca.DM(screw_matrix(np.array(joint.screw))) for joint in tree.joints]
    local = [joint_pose(joint, None if row is None else q[row]) for joint, row in zip(tree.joints, rows)]

    def motion(k, parent):
        (a, b, c), t, row = parent, local[k], rows[k]
        if row is None:
            return a @ t, b @ t, c @ t
        t1 = t @ hats[k]
        return (a @ t, b @ t + a @ t1 * qd[row],
                c @ t + 2 * (b @ t1) * qd[row] + a @ (t1 @ hats[k] * qd[row] ** 2 + t1 * qdd[row]))

    zero = ca.DM(4, 4)
    moves = outward(tree, motion, (ca.DM.eye(4), zero, zero))
    weights, carried, turning = _external(tree, loads)

    def gather(k, children):
        mass, first, second = first_moment(tree.links[k])
        pseudo = ca.DM(np.block([[second, first[:, None]], [first[None, :], np.array([[mass]])]]))
        d, e, g = pseudo @ moves[k][2].T, carried[k], turning[k]
        for child, (inner_d, inner_e, inner_g) in children:
            d, e, g = d + local[child] @ inner_d, e + local[child] @ inner_e, g + inner_g
        return d, e, g

    torques = []
    for k, (d, e, g) in enumerate(inward(tree, gather)):
        if rows[k] is not None:
            slope = moves[k][0] @ hats[k]                     # dA/dq
            torque = ca.dot(slope.T, d) - ca.dot(weights, slope @ e)
            torques.append(torque - ca.dot(g, moves[k][0][:3, :3] @ ca.DM(tree.joints[k].screw[:3])))
    return ca.vertcat(*torques)


def _external(tree, loads):
    """Return the forces that act at carried points and those points, link by link, and each link's moment.

    Column 0 is gravity, acting at the first moment m r (E of eq. 18); column 1 + l is load l, acting at its point (F of eq. 19).
    """
    forces = [ca.vertcat(ca.DM(tree.gravity), 0)]
    carried = [[ca.DM([*(link.mass * np.array(link.com)), link.mass])] + [ca.DM(4, 1)] * len(loads) for link in tree.links]
    turning = [ca.DM.zeros(3)] * len(tree.links)
    for column, (k, place, force, moment) in enumerate(applied(tree, loads), start=1):
        forces.append(ca.vertcat(force[0], force[1], force[2], 0))
        carried[k][column] = ca.DM([*place, 1.0])
        turning[k] = turning[k] + ca.vertcat(moment[0], moment[1], moment[2])
    return ca.horzcat(*forces), [ca.horzcat(*columns) for columns in carried], turning


HOLLERBACH_4X4 = Formulation(name="hollerbach_4x4", inverse=inverse)
