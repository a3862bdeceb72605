"""Angular momentum of a whole tree about its centre of mass, with its first and second derivatives
in closed form, by composite inertias in the ground frame, O(n d) for n joints at depth d.

With the joint's twist S, phi = v_p x S of its parent's twist v_p, inertia I and momentum h of all
that it carries (Featherstone 2008, chapter 2; Orin & Goswami 2008; Wensing & Orin 2016), the
momentum of the whole, h0, is a function of q and qd with

    dh0/dqd_j = a_j = I S_j                 dh0/dq_j = u_j = S_j x* h + I phi_j
    dI/dq_j = B_j = S_j x* I - I S_j x

with I, h of joint j. For a fixed motion Lambda and an ancestor i of j, or i = j where marked *,

    q_i q_j   Lambda . h0:  phi_i.(B_j Lambda) - S_i.(Lambda x* u_j) *
    q_i qd_j                -(S_i x Lambda).a_j *
    qd_i q_j                S_i.(B_j Lambda)

and zero where neither is the other's ancestor. About the centre of mass c = P / M, with the linear
momentum p = dP/dt, L = (moment of h0) - c x p, and P, p have the derivatives n_j = dP/dq_j =
dp/dqd_j and m_j = dp/dq_j, the linear parts of a_j and u_j. So l . L is Lambda . h0 with Lambda =
(l, c x l), taken as fixed, and beside that, at all pairs of joints,

    q_i q_j   -(l.(n_i x m_j) + l.(n_j x m_i)) / M,   and w_i.((l x p) x -n_j) / M * with w of S_i
    q_i qd_j  -l.(n_i x n_j) / M

(Derived here.) L does not depend on where the tree is as a whole, nor how that moves: its leading
slides take no part.
"""

from dataclasses import dataclass

import casadi as ca

from ocp.dynamics.derivatives.ancestor_products import products
from ocp.dynamics.derivatives.composite_inertias import (
    Bodies,
    bodies_of,
    stack_bodies,
    unstack_bodies,
    wrench_of,
)
from ocp.dynamics.derivatives.ground_frame import Chain, carried_sums, chain_of, ground_frames
from ocp.dynamics.matrix_entries import split_rows
from ocp.dynamics.signatures import Parts
from ocp.mechanics.kinematics.spatial import cross_force, cross_motion, cross_with_vector, dot
from ocp.mechanics.model.inertia import resting_mass
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import any_nonzero, anything_open, matrix, parameters_of
from ocp.mechanics.values.types import Matrix

SX = ca.SX


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A moving tree about the base of its Frames.

    Fields: of every joint, as columns, twist S and phi (6, n), what it carries and the momentum of
    that (6, n); and of all together mass (kg), centre of mass, linear momentum, and moment of
    momentum (3 each).
    """

    screw: Matrix
    phi: Matrix
    carried: Bodies
    momentum: Matrix
    mass: float
    center: Matrix
    linear: Matrix
    moment: Matrix

    @property
    def by_rate(self) -> Matrix:
        """The derivatives a (6, n) of the momentum by qd."""
        return wrench_of(self.carried, self.screw)

    @property
    def by_place(self) -> Matrix:
        """The derivatives u (6, n) of the momentum by q."""
        turned = cross_force(self.screw, *split_rows(self.momentum, 3))
        return turned + wrench_of(self.carried, self.phi)


def has_momentum_slopes(tree: Tree) -> bool:
    """Tell whether the derivatives here hold for a tree: of rigid links with mass and no parameters
    in it, whose joints move by coordinates of their own, and elements without states."""
    if tree.flexible or tree.mapped or tree.states or (anything_open() and parameters_of(tree)):
        return False
    return bool(tree.dof) and any_nonzero(link.mass for link in tree.links)


def angular_momentum(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the angular momentum (3, kg m2/s) of a tree about its centre of mass, global axes."""
    whole = _whole(chain_of(tree, regroup=True), q, qd)
    return whole.moment - ca.cross(whole.center, whole.linear)


def momentum_slope(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the derivatives (3, 2 n) of the angular momentum by q and qd."""
    chain = chain_of(tree, regroup=True)
    whole, turning = _whole(chain, q, qd), _without_slides(chain)
    a, u = whole.by_rate, whole.by_place
    by_q, by_qd = (part[:3, :] + cross_with_vector(part[3:, :], whole.center) for part in (u, a))
    by_q -= cross_with_vector(a[3:, :], whole.linear / whole.mass)
    return ca.horzcat(by_q @ turning, by_qd @ turning)


def momentum_curvature_parts(tree: Tree, multipliers: Matrix, q: Matrix, qd: Matrix) -> Parts:
    """Return the parts from which `join_momentum_curvature` makes the second derivatives of
    multipliers . L.

    They are three vectors of each joint (18, 3 n), to be multiplied by S, phi and S x Lambda of
    its ancestors (18, n), n x multipliers / M, m and n (3, n each), and the gradient (2 n,).
    """
    chain, n = chain_of(tree, regroup=True), tree.dof
    whole, turning = _whole(chain, q, qd), _without_slides(chain)
    s, a, u = whole.screw, whole.by_rate, whole.by_place
    arm = ca.vertcat(multipliers, ca.cross(whole.center, multipliers))
    fixed, pull = ca.repmat(arm, 1, n), ca.cross(multipliers, whole.linear / whole.mass)
    image, swung = wrench_of(whole.carried, fixed), cross_motion(s, fixed)
    bent = cross_force(s, *split_rows(image, 3)) - wrench_of(whole.carried, swung)
    by_place = ca.vertcat(cross_with_vector(a[3:, :], pull), SX(3, n))
    by_place -= cross_force(fixed, *split_rows(u, 3))
    kinds = ca.horzcat(
        ca.vertcat(by_place, bent, SX(6, n)),
        ca.vertcat(SX(12, n), -a),
        ca.vertcat(bent, SX(12, n)),
    )
    gradient = dot(fixed, u) + pull.T @ a[3:, :], dot(fixed, a)
    return (
        ca.densify(kinds[:, [part * n + k for k in range(n) for part in range(3)]]),
        ca.densify(ca.vertcat(s, whole.phi, swung)),
        cross_with_vector(a[3:, :], multipliers / whole.mass) @ turning,
        u[3:, :] @ turning,
        a[3:, :] @ turning,
        ca.vertcat(*((part @ turning).T for part in gradient)),
    )


def join_momentum_curvature(tree: Tree, parts: Parts) -> Parts:
    """Return the second derivatives (n, n) by (q, q), as an upper triangle, and by (q, qd), and the
    gradient (2 n,), from `momentum_curvature_parts`, as SX or MX; those by (qd, qd) vanish."""
    kinds, motions, levers, moved, ways, gradient = parts
    turning = _without_slides(chain_of(tree, regroup=True))
    by_qq, by_q_qd = (
        turning @ part @ turning for part in products(tree, kinds, motions, ((0, None), (1, 2)))
    )
    crossed, swept = levers.T @ moved, ca.triu(levers.T @ ways, False)
    return by_qq + ca.triu(crossed + crossed.T), by_q_qd + swept - swept.T, gradient


def _without_slides(chain: Chain) -> Matrix:
    """Return the matrix (n, n) that takes the columns of joints as they are, and those of leading
    slides as zero."""
    return ca.diag(ca.sparsify(ca.DM([k not in chain.still for k in range(len(chain.homes))])))


@memoize(4)
def _whole(chain: Chain, q: Matrix, qd: Matrix) -> Whole:
    """Return the Whole of a chain, as it moves beside its leading slides."""
    rates = ca.densify(_without_slides(chain) @ qd)
    frames = ground_frames(chain, q, rates, SX.zeros(len(chain.homes)))
    bodies, momenta = bodies_of(chain, frames)
    sums = carried_sums(chain, ca.vertcat(stack_bodies(bodies), momenta))
    together, momentum = unstack_bodies(sums[:28, :]), sums[28:, :]
    roots = [k for k, p in enumerate(chain.parents) if p < 0]
    _, still = resting_mass(chain.tree)
    mass = sum(link.mass for link in chain.tree.links)
    moment, linear = split_rows(ca.sum2(momentum[:, roots]), 3)
    return Whole(
        screw=frames.screw,
        phi=frames.phi,
        carried=together,
        momentum=momentum,
        mass=mass,
        center=(ca.sum2(together.first[:, roots]) + matrix(still)) / mass,
        linear=linear,
        moment=moment,
    )
