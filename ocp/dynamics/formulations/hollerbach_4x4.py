"""Recursive Lagrangian dynamics with 4x4 link transformations, O(n), with external forces and
moments.

Hollerbach (1980), eqs. 11-14, in the notation of Xiang, Arora & Abdel-Malek (2009), eqs. 12-20:
A, B, C carry position, velocity and acceleration outward; D (inertia), E (gravity), F (external
forces) and G (external moments) are gathered inward. The sensitivities follow the paper's
eqs. 21-35.
"""

from functools import partial
from typing import TypeAlias

import casadi as ca

from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.formulation_record import Formulation, align_frames
from ocp.dynamics.formulations.transforms_4x4 import (
    BASE,
    Links,
    Motion,
    advance,
    aligned_torques,
    carrier,
    direction,
    entry_matrices,
    link_matrices,
    screw_matrices,
    symbolic_chain,
)
from ocp.dynamics.signatures import Loads, Slopes
from ocp.mechanics.model.loads import AppliedLoads, applied_loads
from ocp.mechanics.model.tree import Tree, inward, outward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

# {("q", "qd" or "qdd", row of q): derivatives by it}
Derivatives: TypeAlias = dict[tuple[str, int], tuple[Matrix, ...]]


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,)."""
    return aligned_torques(torques, tree, q, qd, qdd, loads)


def torques(
    tree: Tree, links: Links, *, qd: Matrix, qdd: Matrix, gravity: Matrix, loads: AppliedLoads = ()
) -> Matrix:
    """Return the joint torques (n,) of links (T, T' = dT/dq, T'', pseudo-inertia J), each 4x4.

    Under gravity (4) and `applied_loads`,

        outward:  A, B, C as in `advance`                          (eqs. 12-14)
        inward:   D = J C' + T_c D_c,  E = m r + T_c E_c
                  F = r_f + T_c F_c,   G = h + G_c                   (eqs. 17-20)
        tau = tr(A_i' D) - g' A_i' E - f' A_i' F - G . axis          (eq. 16)

    with A_i' = dA_i/dq_i = A_p T' and m r = J's last column (Xiang et al. 2009).
    """
    forces, places, moments = _external(links, gravity, loads)
    moves = outward(
        tree, lambda k, parent: advance(links[k], tree.rows[k], qd, qdd, parent), (*BASE, None)
    )

    def gather(k: int, children: list) -> tuple[Matrix, Matrix, Matrix]:
        d, e, g = links[k][3] @ moves[k][2].T, places[k], moments[k]
        for child, (inner_d, inner_e, inner_g) in children:
            d, e, g = d + links[child][0] @ inner_d, e + links[child][0] @ inner_e, g + inner_g
        return d, e, g

    tau: list[Matrix] = []
    for (a, _, _, slope), (d, e, g) in zip(moves, inward(tree, gather)):
        if slope is not None:
            axis = ca.inv_skew(slope[:3, :3] @ a[:3, :3].T)
            tau.append(ca.dot(slope.T, d - e @ forces.T) - ca.dot(g, axis))
    return ca.vertcat(*tau)


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Slopes:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each, structurally zero where neither joint
    carries the other.

        dtau_i = tr(dA_i' D + A_i' dD) - g'(dA_i' E + A_i' dE) - f'(dA_i' F + A_i' dF) - G . daxis

    (Xiang et al. 2009, eqs. 33-35) with dA_i' = dA [S_i], which also holds for the derivative by
    q_i itself; dA = 0 by rates, accelerations and the joints that i carries.
    """
    tree, _ = align_frames(tree)
    links, screws = link_matrices(tree, q), screw_matrices(tree)
    forces, places, moments = _external(
        links, matrix([*tree.gravity, 0]), applied_loads(tree, loads)
    )
    moves = _motions(tree, links, screws, qd, qdd)
    sums = _inward_sums(tree, links, screws, moves, places, moments)
    entries, still = {}, (ca.DM(4, 4),)
    for k, (row, ((a, _, _), by), (d, e, g, slopes)) in enumerate(zip(tree.rows, moves, sums)):
        if row is None:
            continue
        slope, pull, axis = a @ screws[k], d - e @ forces.T, matrix(tree.joints[k].screw[:3])
        for (name, j), (slope_d, slope_e) in slopes.items():
            slope_a = by.get((name, j), still)[0]
            entries[name, row, j] = (
                ca.dot((slope_a @ screws[k]).T, pull)
                + ca.dot(slope.T, slope_d - slope_e @ forces.T)
                - ca.dot(g, slope_a[:3, :3] @ axis)
            )
    return entry_matrices(tree.dof, entries)


def _motions(
    tree: Tree, links: Links, screws: list[Matrix], qd: Matrix, qdd: Matrix
) -> list[tuple[Motion, Derivatives]]:
    """Return for every link (A, B, C) and their derivatives by its own and its ancestors'
    coordinates.

    Since dT = T [S], those by the link's own are (Xiang et al. 2009, eqs. 21-26)

        d(A, B, C)/dq = (A, B, C) [S],   d(B, C)/dqd = (A, 2 B) [S],   dC/dqdd = A [S]
    """
    carry, zero = carrier(tree, links, qd, qdd), ca.DM(4, 4)

    def motion(k: int, parent: tuple[Motion, Derivatives]) -> tuple[Motion, Derivatives]:
        whole, row = carry(k, parent[0]), tree.rows[k]
        slopes: Derivatives = {key: carry(k, slope) for key, slope in parent[1].items()}
        if row is not None:
            a, b, c = (part @ screws[k] for part in whole)
            slopes["q", row] = a, b, c
            slopes["qd", row] = zero, a, 2 * b
            slopes["qdd", row] = zero, zero, a
        return whole, slopes

    return outward(tree, motion, (BASE, {}))


def _inward_sums(
    tree: Tree,
    links: Links,
    screws: list[Matrix],
    moves: list[tuple[Motion, Derivatives]],
    places: list[Matrix],
    moments: list[Matrix],
) -> list[tuple[Matrix, Matrix, Matrix, Derivatives]]:
    """Return for every link D, (E, F) as columns, G, and the derivatives (dD, d(E, F)); G has none
    (eq. 32).

        dD = J dC' + T_c dD_c,   d(E, F) = T_c d(E, F)_c

    and by the child's own q also T_c [S] (D, E, F)_c (Xiang et al. 2009, eqs. 27-31).
    """
    zero = ca.DM(4, 4), ca.DM(*places[0].shape)

    def gather(k: int, children: list) -> tuple[Matrix, Matrix, Matrix, Derivatives]:
        ((_, _, c), by), pseudo = moves[k], links[k][3]
        d, e, g = pseudo @ c.T, places[k], moments[k]
        slopes: Derivatives = {key: (pseudo @ dc.T, zero[1]) for key, (_, _, dc) in by.items()}
        for child, (inner_d, inner_e, inner_g, inner_slopes) in children:
            t, own = links[child][0], ("q", tree.rows[child])
            d, e, g = d + t @ inner_d, e + t @ inner_e, g + inner_g
            for key, (slope_d, slope_e) in inner_slopes.items():
                if key == own:
                    slope_d = slope_d + screws[child] @ inner_d
                    slope_e = slope_e + screws[child] @ inner_e
                before_d, before_e = slopes.get(key, zero)
                slopes[key] = before_d + t @ slope_d, before_e + t @ slope_e
        return d, e, g, slopes

    return inward(tree, gather)


def _external(
    links: Links, gravity: Matrix, loads: AppliedLoads
) -> tuple[Matrix, list[Matrix], list[Matrix]]:
    """Return the forces as columns, the places where they act of each link, and its moment.

    Column 0 is gravity, acting at the first moment m r (E of eq. 18); column 1 + l is load l,
    acting at its point (F of eq. 19).
    """
    forces = [gravity]
    places = [[pseudo[:, 3]] + [ca.DM(4, 1)] * len(loads) for *_, pseudo in links]
    moments = [ca.DM(3, 1)] * len(links)
    for column, (k, place, moment, force) in enumerate(loads, start=1):
        forces.append(direction(force))
        places[k][column] = matrix([*place, 1.0])
        moments[k] = moments[k] + direction(moment)[:3]
    return ca.horzcat(*forces), [ca.horzcat(*columns) for columns in places], moments


dense = partial(symbolic_chain, torques)  # (n): inputs and torques (n,) as Hollerbach counts

HOLLERBACH_4X4 = Formulation(
    name="hollerbach_4x4", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity
)
