"""First and second derivatives of inverse dynamics by a composite recursion in the ground frame,
O(n d) for n joints at depth d.

With the joint's twist S, the link's twist v and acceleration a (the base accelerating by -g), p the
parent, the derivatives of S along the motion are  phi = v_p x S,  psi = a_p x S + v_p x phi.  Every
link has an inertia I, a force f and a matrix B, the derivative of f by the link's twist; I, F and B
denote their sums over the links that a joint carries. For an ancestor j of i, or j = i,

    dtau_i/dq_j  = S_i.(B phi_j + I psi_j)         dtau_j/dq_i  = S_j.(B phi_i + I psi_i + S_i x* F)
    dtau_i/dqd_j = S_i.(B S_j + 2 I phi_j)         dtau_j/dqd_i = S_j.(B S_i + 2 I phi_i)
    dtau/dqdd = S_i.I S_j

with I, F, B of joint i. (After Jain & Rodriguez 1993; Singh, Russell & Wensing 2022.) Twists and
wrenches are (angular, linear) about one point fixed in the ground. A load keeps its direction when
its link turns, which F's turning with S_i does not know; it is added apart.

Vectors of all joints are columns of matrices (3, n) or (6, n), entries of their matrices are rows,
so a graph takes few calls to build.
"""

import casadi as ca

from ocp.dynamics.derivatives.ancestor_products import bilinear, products
from ocp.dynamics.derivatives.axis_intersections import intersection_slopes
from ocp.dynamics.derivatives.composite_inertias import (
    bodies_of,
    coriolis_moment,
    coriolis_wrench,
    duals_of,
    stack_bodies,
    unstack_bodies,
    wrench_of,
)
from ocp.dynamics.derivatives.ground_frame import (
    body_columns,
    carried_sums,
    chain_of,
    ground_frames,
    parent_columns,
    path_sums,
)
from ocp.dynamics.derivatives.load_derivatives import load_curvatures, load_slopes
from ocp.dynamics.derivatives.parameter_slopes import parameter_slopes
from ocp.dynamics.formulation_record import Provider
from ocp.dynamics.matrix_entries import split_rows
from ocp.dynamics.signatures import AnyLoads, Parts
from ocp.mechanics.kinematics.spatial import (
    cross,
    cross_force,
    cross_motion,
    dot,
    repeat_rows,
    symmetric_product,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

SX = ca.SX


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()) -> Parts:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, each (n, n), and dtau/d(moment, force) of each load in
    turn, (n, 6 loads)."""
    parts = join_slopes(tree, slope_parts(tree, q, qd, qdd, loads))
    return tuple(map(ca.sparsify, parts))


def curvature(
    tree: Tree, multipliers: Matrix, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()
) -> Parts:
    """Return the second derivatives of L = multipliers . tau.

    They are matrices (n, n) by (q, q), (q, qd), (q, qdd), (qd, qd), the symmetric ones as upper
    triangles, and (n, 6 loads) by q and (moment, force) of each load; all others vanish.

    With the virtual twist w of each link, whose joints move by the multipliers, u_j = w_p x S_j,
    and summed like I, F and B

        G = I w,   D = B'w,   K = I [w x] + its transpose

    the second derivatives are, for an ancestor i of j, or i = j where marked *,

        q_i q_j   = u_i.(S x* F + I psi + B phi) + phi_i.(B'u + K phi + phi x* G + S x* D)
                    + psi_i.(I u + S x* G) *
        q_i qd_j  = u_i.(2 I phi + B S) + phi_i.(S x* G + K S) *
        q_i qdd_j = u_i.I S *
        qd_i qd_j = S_i.(S x* G + K S) *
        qd_i q_j  = S_i.(B'u + K phi + phi x* G + S x* D) + 2 phi_i.(I u + S x* G)
        qdd_i q_j = S_i.(I u + S x* G)

    with all of joint j. The forces of K m + m x* G and of B'm vanish, which leaves three entries of
    six. (Re-derived from the first derivatives; the loads apart, as there.)
    """
    parts = join_curvature(tree, curvature_parts(tree, multipliers, q, qd, qdd, loads))
    return tuple(map(ca.sparsify, parts[:5]))


def slope_parts(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()) -> Parts:
    """Return the parts from which `join_slopes` makes the derivatives.

    They are what the m joints carry that differ in it (28, m), S, phi and psi of all joints
    (18, n), the `centers` of their frames (9, n), and the loads' two parts.
    """
    chain = chain_of(tree)
    frames = ground_frames(chain, q, qd, qdd)
    carried = carried_sums(chain, stack_bodies(bodies_of(chain, frames)[0]))
    return (
        carried[:, sorted(set(chain.alike))],
        ca.densify(ca.vertcat(frames.screw, frames.phi, frames.psi)),
        frames.centers,
        *load_slopes(chain, frames, loads),
    )


def join_slopes(tree: Tree, parts: Parts) -> Parts:
    """Return the four derivatives from `slope_parts`, as SX or MX."""
    carried, motions, centers, load_places, by_load = parts
    carried = _spread_alike(tree, carried)
    if isinstance(carried, SX):
        by_q, by_qd, by_qdd = intersection_slopes(chain_of(tree), carried, motions, centers)
        return by_q - load_places, by_qd, by_qdd, by_load
    motions = ca.vertcat(motions[:6, :], 2 * motions[6:12, :], motions[12:, :])
    by_q, by_qd, by_qdd = products(
        tree, bilinear(_slope_kinds, carried, motions), motions, ((0, 1), (2, 3), (4, 4))
    )
    return by_q - load_places, by_qd, by_qdd, by_load


def _spread_alike(tree: Tree, columns: Matrix) -> Matrix:
    """Return the columns of all joints from those of joints that carry different bodies."""
    alike = chain_of(tree).alike
    known = sorted(set(alike))
    return columns[:, [known.index(k) for k in alike]]


def _slope_kinds(carried: Matrix, motions: Matrix) -> Matrix:
    """Return five vectors of one joint as columns (18, 5), to be multiplied by S, 2 phi and psi of
    its ancestors."""
    bodies, (s, twice_phi, psi) = unstack_bodies(carried), split_rows(motions, 6)
    turned, back = wrench_of(bodies, s), coriolis_moment(bodies, s)
    by_rate = coriolis_wrench(bodies, s) + wrench_of(bodies, twice_phi)
    swung = cross_force(s, bodies.moment, bodies.force)
    by_place = coriolis_wrench(bodies, twice_phi / 2) + wrench_of(bodies, psi) + swung
    return ca.horzcat(
        ca.vertcat(by_place, SX(12, 1)),
        ca.vertcat(SX(6, 1), back / 2, SX(3, 1), turned),
        ca.vertcat(by_rate, SX(12, 1)),
        ca.vertcat(back, SX(3, 1), turned, SX(6, 1)),
        ca.vertcat(turned, SX(12, 1)),
    )


def curvature_parts(
    tree: Tree, multipliers: Matrix, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()
) -> Parts:
    """Return the parts from which `join_curvature` makes the second derivatives.

    They are what the joints carry with its duals (43, m), their S, phi, lift and psi (24, n), the
    loads' two parts, and the gradient by (q, qd, qdd, loads) of L = multipliers . tau.
    """
    chain = chain_of(tree)
    frames = ground_frames(chain, q, qd, qdd)
    bodies, _ = bodies_of(chain, frames)
    s, phi, psi = frames.screw, frames.phi, frames.psi
    virtual = path_sums(chain, s * repeat_rows(multipliers, 6), SX.zeros(6))
    lift = cross_motion(parent_columns(chain, virtual, SX.zeros(6)), s)
    duals = duals_of(bodies, body_columns(chain, virtual))
    sums = carried_sums(chain, ca.vertcat(stack_bodies(bodies), duals))
    _, force, image, back, _ = split_rows(sums, [0, 22, 28, 34, 37, 43])
    slopes = (
        dot(lift, force) + dot(psi, image) + dot(phi[:3, :], back),
        2 * dot(phi, image) + dot(s[:3, :], back),
        dot(s, image),
    )
    by_qq, by_q_load, by_q, by_load = load_curvatures(chain, frames, virtual, loads)
    gradient = ca.vertcat(slopes[0].T - by_q, slopes[1].T, slopes[2].T, by_load)
    sums = sums[:, sorted(set(chain.alike))]
    return sums, ca.densify(ca.vertcat(s, phi, lift, psi)), by_qq, by_q_load, gradient


def join_curvature(tree: Tree, parts: Parts) -> Parts:
    """Return the five second derivatives and the gradient from `curvature_parts`, as SX or MX."""
    carried, motions, load_places, by_q_load, gradient = parts
    kinds = bilinear(_curvature_kinds, _spread_alike(tree, carried), motions)
    places = (0, None), (1, 2), (3, 4), (5, None)
    by_qq, by_q_qd, by_q_qdd, by_qd_qd = products(tree, kinds, motions, places)
    return by_qq - load_places, by_q_qd, by_q_qdd, by_qd_qd, by_q_load, gradient


def _curvature_kinds(carried: Matrix, motions: Matrix) -> Matrix:
    """Return six vectors of one joint as columns (24, 6), to be multiplied by S, phi, lift and psi
    of its ancestors."""
    rows, g, g_force, back, upper = split_rows(carried, [0, 28, 31, 34, 37, 43])
    bodies, (s, phi, lift, psi) = unstack_bodies(rows), split_rows(motions, 6)

    def dual_moment(motion: Matrix) -> Matrix:
        """Return the moment of K m + m x* G, whose force is zero."""
        w, v = split_rows(motion, 3)
        return symmetric_product(upper, w) + cross(w, g) + cross(v, 2 * g_force)

    swung = cross_force(s, bodies.moment, bodies.force)
    a = swung + wrench_of(bodies, psi) + coriolis_wrench(bodies, phi)
    bq = coriolis_moment(bodies, lift) + dual_moment(phi) + cross(s[:3, :], back)
    c = wrench_of(bodies, lift) + cross_force(s, g, g_force)
    a1 = wrench_of(bodies, 2 * phi) + coriolis_wrench(bodies, s)
    b1, a2 = dual_moment(s), wrench_of(bodies, s)
    return ca.horzcat(
        ca.vertcat(SX(6, 1), bq, SX(3, 1), a, c),
        ca.vertcat(SX(6, 1), b1, SX(3, 1), a1, SX(6, 1)),
        ca.vertcat(bq, SX(3, 1), 2 * c, SX(12, 1)),
        ca.vertcat(SX(12, 1), a2, SX(6, 1)),
        ca.vertcat(c, SX(18, 1)),
        ca.vertcat(b1, SX(21, 1)),
    )


COMPOSITE = Provider(
    slope_parts=slope_parts,
    join_slopes=join_slopes,
    curvature_parts=curvature_parts,
    join_curvature=join_curvature,
    parameter_slopes=parameter_slopes,
)
