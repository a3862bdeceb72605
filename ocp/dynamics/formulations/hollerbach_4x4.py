"""Recursive Lagrangian dynamics with 4x4 link transformations, O(n), with external forces and
moments.

Hollerbach (1980), eqs. 11-14, in the notation of Xiang, Arora & Abdel-Malek (2009), eqs. 12-20:
A, B, C carry position, velocity and acceleration outward; D (inertia), E (gravity), F (external
forces) and G (external moments) are gathered inward. Every joint kind is one case, since
dT/dq = T [S] with the joint's constant screw matrix [S]. The sensitivities follow the paper's
eqs. 21-35.
"""

from collections.abc import Sequence

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation import Formulation, aligned
from ocp.dynamics.formulations.transforms_4x4 import (
    Links,
    given_matrices,
    link_matrices,
    matrix_of,
    screw_matrices,
    torques_by,
)
from ocp.mechanics.model.loads import AppliedLoads, Load, applied
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return torques_by(torques, tree, q, qd, qdd, loads)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4.

    Under gravity (4) and `applied` loads,

        outward:  A = A_p T,  B = B_p T + A_p T' qd
                  C = C_p T + 2 B_p T' qd + A_p (T'' qd^2 + T' qdd)  (eqs. 12-14)
        inward:   D = J C' + T_c D_c,  E = m r + T_c E_c
                  F = r_f + T_c F_c,   G = h + G_c                   (eqs. 17-20)
        tau = tr(A_i' D) - g' A_i' E - f' A_i' F - G . axis          (eq. 16)

    with A_i' = dA_i/dq_i = A_p T' and m r = J's last column (Xiang et al. 2009).
    """
    rows, zero = tree.rows, ca.DM(4, 4)
    forces, carried, turning = _external(links, gravity, loads)

    def motion(k, parent):
        (a, b, c, _), (t, t1, t2, _), row = parent, links[k], rows[k]
        if row is None:
            return a @ t, b @ t, c @ t, None
        slope, rate = a @ t1, qd[row]
        return (
            a @ t,
            b @ t + slope * rate,
            c @ t + b @ t1 * (2 * rate) + a @ t2 * rate**2 + slope * qdd[row],
            slope,
        )

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


def sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other.

        dtau_i = tr(dA_i' D + A_i' dD) - g'(dA_i' E + A_i' dE) - f'(dA_i' F + A_i' dF) - G . daxis

    (Xiang et al. 2009, eqs. 33-35) with dA_i' = dA [S_i], which also holds for the derivative by
    q_i itself; dA = 0 by rates, accelerations and the joints that i carries.
    """
    tree, _ = aligned(tree)
    links, screws = link_matrices(tree, q), screw_matrices(tree)
    forces, carried, turning = _external(links, matrix([*tree.gravity, 0]), applied(tree, loads))
    moves = _moved(tree, links, screws, qd, qdd)
    entries, still = {}, (ca.DM(4, 4),)
    for k, (d, e, g, slopes) in enumerate(_gathered(tree, links, screws, moves, carried, turning)):
        if tree.rows[k] is not None:
            (a, _, _), by = moves[k]
            slope, pull, axis = a @ screws[k], d - e @ forces.T, matrix(tree.joints[k].screw[:3])
            for (what, j), (slope_d, slope_e) in slopes.items():
                slope_a = by.get((what, j), still)[0]
                entries[what, tree.rows[k], j] = (
                    ca.dot((slope_a @ screws[k]).T, pull)
                    + ca.dot(slope.T, slope_d - slope_e @ forces.T)
                    - ca.dot(g, slope_a[:3, :3] @ axis)
                )
    return tuple(matrix_of(tree.dof, what, entries) for what in ("q", "qd", "qdd"))


def _moved(tree, links, screws, qd, qdd):
    """Return for every link (A, B, C) and their derivatives {(variable, row): (dA, dB, dC)} by its
    own and its ancestors' coordinates.

    A, B, C are linear in the parent's, so the derivatives by an ancestor's coordinate go outward as
    A, B, C themselves do. Since dT = T [S], d2T = T [S]^2, d3T = T [S]^3, those by the link's own
    are (Xiang et al. 2009, eqs. 21-26)

        d(A, B, C)/dq = (A, B, C) [S],   d(B, C)/dqd = (A, 2 B) [S],   dC/dqdd = A [S]
    """
    rows, zero = tree.rows, ca.DM(4, 4)

    def carry(k, parent):
        (a, b, c), (t, t1, t2, _), row = parent, links[k], rows[k]
        if row is None:
            return a @ t, b @ t, c @ t
        return (
            a @ t,
            b @ t + a @ t1 * qd[row],
            c @ t + b @ t1 * (2 * qd[row]) + a @ (t2 * qd[row] ** 2 + t1 * qdd[row]),
        )

    def motion(k, parent):
        (a, b, c), slopes = (
            carry(k, parent[0]),
            {key: carry(k, slope) for key, slope in parent[1].items()},
        )
        if rows[k] is not None:
            turned_a, turned_b, turned_c = a @ screws[k], b @ screws[k], c @ screws[k]
            slopes["q", rows[k]] = turned_a, turned_b, turned_c
            slopes["qd", rows[k]] = zero, turned_a, 2 * turned_b
            slopes["qdd", rows[k]] = zero, zero, turned_a
        return (a, b, c), slopes

    return outward(tree, motion, ((ca.DM.eye(4), zero, zero), {}))


def _gathered(tree, links, screws, moves, carried, turning):
    """Return for every link D, (E, F) as columns, G, and {(variable, row): (dD, d(E, F))}; G has no
    derivatives (eq. 32).

        dD = J dC' + T_c dD_c,   d(E, F) = T_c d(E, F)_c

    and by the child's own q also T_c [S] (D, E, F)_c (Xiang et al. 2009, eqs. 27-31).
    """
    rows, zero = tree.rows, (ca.DM(4, 4), ca.DM(*carried[0].shape))

    def gather(k, children):
        (_, _, c), by = moves[k]
        pseudo = links[k][3]
        d, e, g = pseudo @ c.T, carried[k], turning[k]
        slopes = {key: (pseudo @ slope_c.T, zero[1]) for key, (_, _, slope_c) in by.items()}
        for child, (inner_d, inner_e, inner_g, inner_slopes) in children:
            t = links[child][0]
            moved_d, moved_e = t @ inner_d, t @ inner_e
            d, e, g = d + moved_d, e + moved_e, g + inner_g
            for key, (slope_d, slope_e) in inner_slopes.items():
                if key == ("q", rows[child]):
                    slope_d, slope_e = (
                        slope_d + screws[child] @ inner_d,
                        slope_e + screws[child] @ inner_e,
                    )
                before_d, before_e = slopes.get(key, zero)
                slopes[key] = before_d + t @ slope_d, before_e + t @ slope_e
        return d, e, g, slopes

    return inward(tree, gather)


def dense(n: int) -> tuple[list[Matrix], Matrix]:
    """Return inputs and torques (n,) of `given_matrices`, as Hollerbach (1980, table I) counts."""
    return given_matrices(n, torques)


def _external(links, gravity, loads):
    """Return the forces that act at carried points and those points, link by link, and each link's
    moment.

    Column 0 is gravity, acting at the first moment m r (E of eq. 18); column 1 + l is load l,
    acting at its point (F of eq. 19).
    """
    forces = [gravity]
    carried = [[pseudo[:, 3]] + [ca.DM(4, 1)] * len(loads) for *_, pseudo in links]
    turning = [ca.DM(3, 1)] * len(links)
    for column, (k, place, moment, force) in enumerate(loads, start=1):
        forces.append(ca.vertcat(force[0], force[1], force[2], 0))
        carried[k][column] = matrix([*place, 1.0])
        turning[k] = turning[k] + ca.vertcat(moment[0], moment[1], moment[2])
    return ca.horzcat(*forces), [ca.horzcat(*columns) for columns in carried], turning


HOLLERBACH_4X4 = Formulation(
    name="hollerbach_4x4", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity
)
