"""Motion of trees with flexible links: Book's (1983) chain of joint transforms A and deflection
transforms E, and integrals over bent links.

W_k = W_p E_k A_k (eq. 3), where E_k = 1 + sum b_t M_t bends the parent p at the home of joint k
(eqs. 5, 7; the home itself is in A_k), and x = W_k (r + sum b_t phi_t) is a particle of link k. E
is a rotation to first order in the amplitudes, to second with the terms of stiffening, and so is W.
Angular velocities are the axes of the skew parts of dW W', exact where the rotation is. Matrices
are 4x4, homogeneous.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.flexible.link_modes import Modes
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.kinematics.spatial import exp_screw, screw_matrix, translate
from ocp.mechanics.model.tree import Link, Point, Tree, outward
from ocp.mechanics.values.parameters import array, matrix
from ocp.mechanics.values.types import Matrix, Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Bent:
    """A link in motion: W (4x4) and its rate and acceleration, E with its own, A, and its terms b,
    db/dt, d2b/dt2 as lists."""

    pose: Matrix
    rate: Matrix
    acceleration: Matrix
    bend: tuple[Matrix, ...]
    joint: Matrix
    terms: tuple[Sequence[Matrix], ...] = ((), (), ())


def amplitude_terms(
    modes: Modes, values: Sequence[Matrix], rates: Sequence[Matrix], accelerations: Sequence[Matrix]
) -> tuple[list[Matrix], list[Matrix], list[Matrix]]:
    """Return the lists b, db/dt and d2b/dt2 of the modes' terms, from their amplitudes (m,)."""
    b, bd, bdd = [], [], []
    for k, *other in modes.terms:
        if other:
            (l,) = other
            b.append(values[k] * values[l])
            bd.append(rates[k] * values[l] + values[k] * rates[l])
            bdd.append(
                accelerations[k] * values[l]
                + 2 * rates[k] * rates[l]
                + values[k] * accelerations[l]
            )
        else:
            b.append(values[k])
            bd.append(rates[k])
            bdd.append(accelerations[k])
    return b, bd, bdd


def term_slopes(modes: Modes, values: Sequence[Matrix]) -> list[list[tuple[int, Matrix]]]:
    """Return for each amplitude the pairs (term t, db_t / d amplitude) that are not zero."""
    columns: list[list[tuple[int, Matrix]]] = [[] for _ in modes.names]
    for t, term in enumerate(modes.terms):
        for k in set(term):
            columns[k].append(
                (
                    t,
                    1
                    if len(term) == 1
                    else 2 * values[k]
                    if term[0] == term[1]
                    else values[sum(term) - k],
                )
            )
    return columns


@lru_cache(maxsize=512)
def bend_matrices(modes: Modes, position: Numbers) -> tuple[Matrix, ...]:
    """Return the constant matrices M_t (4x4) of a place on a flexible link."""
    return tuple(ca.sparsify(ca.DM(each)) for each in modes.at(position))


def bend_at(link: Link, position: Numbers, terms: Sequence[Sequence[Matrix]]) -> tuple[Matrix, ...]:
    """Return E, dE/dt, d2E/dt2 (4x4) of a place on the link: identity and zeros on a rigid one.

    Book (1983), eqs. 5, 16, 17.
    """
    if link.modes is None:
        return ca.DM.eye(4), ca.DM(4, 4), ca.DM(4, 4)
    matrices = bend_matrices(link.modes, tuple(position))
    return tuple(
        start + sum(value * each for value, each in zip(values, matrices))
        for start, values in zip((ca.DM.eye(4), ca.DM(4, 4), ca.DM(4, 4)), terms)
    )


def product_rates(
    before: Sequence[Matrix], step: Sequence[Matrix]
) -> tuple[Matrix, Matrix, Matrix]:
    """Return a product of two matrices with its first two derivatives by time.

    Book (1983), eqs. 9, 10, 13-15.
    """
    (a, ad, add), (b, bd, bdd) = before, step
    return a @ b, ad @ b + a @ bd, add @ b + 2 * (ad @ bd) + a @ bdd


def bent_links(tree: Tree, q: Matrix, qd: Matrix = None, qdd: Matrix = None) -> list[Bent]:
    """Return the Bent motion of every link.

    Without rates or accelerations those are of zero qd or qdd.
    """
    rows, amplitudes, parents = tree.rows, tree.amplitude_rows, tree.parents
    qd, qdd = (ca.DM.zeros(tree.dof) if values is None else values for values in (qd, qdd))

    def step(k: int, parent: Bent) -> Bent:
        joint, link, row = tree.joints[k], tree.links[k], rows[k]
        home = ca.sparsify(matrix(joint.home))
        turned = home, ca.DM(4, 4), ca.DM(4, 4)
        if row is not None:
            a, hat = (home @ exp_screw(joint.screw, q[row]), matrix(screw_matrix(joint.screw)))
            turned = a, a @ hat * qd[row], a @ hat @ hat * qd[row] ** 2 + a @ hat * qdd[row]
        bend = ca.DM.eye(4), ca.DM(4, 4), ca.DM(4, 4)
        end = product_rates((parent.pose, parent.rate, parent.acceleration), turned)
        if parents[k] >= 0 and tree.links[parents[k]].modes is not None:
            bend = bend_at(tree.links[parents[k]], array(joint.home)[:3, 3], parent.terms)
            end = product_rates(
                product_rates((parent.pose, parent.rate, parent.acceleration), bend), turned
            )
        terms: tuple = ((), (), ())
        if link.modes is not None:
            terms = amplitude_terms(
                link.modes, *([values[row] for row in amplitudes[k]] for values in (q, qd, qdd))
            )
        return Bent(
            pose=end[0], rate=end[1], acceleration=end[2], bend=bend, joint=turned[0], terms=terms
        )

    still = ca.DM.eye(4), ca.DM(4, 4), ca.DM(4, 4)
    return outward(
        tree,
        step,
        Bent(pose=still[0], rate=still[1], acceleration=still[2], bend=still, joint=still[0]),
    )


def motions(tree: Tree, q: Matrix, qd: Matrix = None, qdd: Matrix = None) -> list[Motion]:
    """Return the Motion of every link's base, as far as rates and accelerations are given."""
    order = 0 if qd is None else 1 if qdd is None else 2
    return [
        _motion((link.pose, link.rate, link.acceleration), order, link)
        for link in bent_links(tree, q, qd, qdd)
    ]


def point_motion(tree: Tree, moves: Sequence[Motion], point: Point) -> Motion:
    """Return the Motion of the frame at a point that moves with its section of the link, from those
    of all links."""
    move = moves[tree.link_index(point.link)]
    order = sum(part is not None for part in (move.linear, move.linear_acceleration))
    return _motion(frame_at(tree, [each.bent for each in moves], point), order)


def point_position(tree: Tree, moves: Sequence[Motion], point: Point) -> Matrix:
    """Return the position (3, m) of a point, from the motions of all links."""
    return point_motion(tree, moves, point).origin


def jacobian(tree: Tree, q: Matrix, point: Point) -> Matrix:
    """Return J (6, n) with (angular, linear velocity of the point's frame) = J qd."""
    columns = []
    for unit in ca.horzsplit(ca.DM.eye(tree.dof)):
        move = point_motion(tree, motions(tree, q, unit), point)
        columns.append(ca.vertcat(move.angular, move.linear))
    return ca.horzcat(*columns)


def _motion(frame: tuple[Matrix, Matrix, Matrix], order: int, bent: Bent | None = None) -> Motion:
    """Return the Motion of a frame from its pose, rate and acceleration (4x4), of which `order`
    tells the last."""
    pose, rate, acceleration = frame
    move = Motion(rotation=pose[:3, :3], origin=pose[:3, 3], bent=bent)
    if order > 0:
        move = replace(move, angular=rotation_rate(rate, pose), linear=rate[:3, 3])
    if order > 1:
        move = replace(
            move,
            angular_acceleration=rotation_rate(acceleration, pose),
            linear_acceleration=acceleration[:3, 3],
        )
    return move


def frame_at(tree: Tree, links: Sequence[Bent], point: Point) -> tuple[Matrix, Matrix, Matrix]:
    """Return X, dX/dt, d2X/dt2 (4x4) of the frame at a point that moves with its section of the
    link."""
    k = tree.link_index(point.link)
    link = links[k]
    bent = product_rates(
        (link.pose, link.rate, link.acceleration),
        bend_at(tree.links[k], point.position, link.terms),
    )
    place = matrix(translate(*point.position))
    return tuple(each @ place for each in bent)


def rotation_rate(rate: Matrix, pose: Matrix) -> Matrix:
    """Return the axis (3) of dX/dt X': the angular velocity, or from a second derivative the
    angular acceleration."""
    spin = rate[:3, :3] @ pose[:3, :3].T
    return ca.vertcat(spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]) / 2


# Integrals over a link ----------------------------------------------------------------------------


@lru_cache(maxsize=512)
def link_integrals(link: Link) -> tuple[Matrix, tuple, tuple]:
    """Return the constant matrices (4x4) C of r r', C_t of r phi_t' and C_tu of phi_t phi_u'
    (twice those of Book 1983, eqs. 30, 28, 25)."""
    com, inertia = array(link.com), array(link.inertia)
    second = np.trace(inertia) / 2 * np.eye(3) - inertia + link.mass * np.outer(com, com)
    whole = matrix(np.block([[second, link.mass * com[:, None]], [link.mass * com, link.mass]]))
    if link.modes is None:
        return whole, (), ()

    def add_border(block: Matrix, row: Matrix) -> Matrix:
        return ca.sparsify(
            ca.DM(np.block([[np.array(block), np.zeros((3, 1))], [np.array(row), 0.0]]))
        )

    with_place = tuple(
        add_border(moment, first) for moment, first in zip(link.modes.moment, link.modes.first)
    )
    return (
        whole,
        with_place,
        tuple(
            tuple(add_border(block, np.zeros(3)) for block in blocks)
            for blocks in link.modes.coupling
        ),
    )


def bent_moments(link: Link, b: Sequence[Matrix]) -> tuple[Matrix, list[Matrix]]:
    """Return P, integral of h h' for h = r + sum b_t phi_t, and D_t, integral of h phi_t'.

    Book (1983), eqs. 35, 36.
    """
    whole, with_place, coupling = link_integrals(link)
    mixed = [
        c + sum(value * row[t] for value, row in zip(b, coupling)) for t, c in enumerate(with_place)
    ]
    return whole + sum(value * (c.T + d) for value, c, d in zip(b, with_place, mixed)), mixed


def kinetic_energy(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the kinetic energy (J): half of tr(dW P dW' + 2 dW Q W' + W R W').

    Book (1983), eq. 22.
    """
    energy = 0
    for link, bent in zip(tree.links, bent_links(tree, q, qd)):
        b, bd, _ = bent.terms
        second, mixed = bent_moments(link, b)
        energy += ca.trace(bent.rate @ second @ bent.rate.T)
        if link.modes is not None:
            energy += 2 * ca.trace(
                bent.rate @ sum(rate * d for rate, d in zip(bd, mixed)) @ bent.pose.T
            )
            both = sum(
                bd[t] * bd[u] * c
                for t, row in enumerate(link_integrals(link)[2])
                for u, c in enumerate(row)
            )
            energy += ca.trace(bent.pose @ both @ bent.pose.T)
    return energy / 2


def potential_energy(tree: Tree, q: Matrix) -> Matrix:
    """Return the potential energy (J) of gravity, zero at the global origin, and of bending.

    Book (1983), eqs. 46, 50.
    """
    gravity, energy = matrix([*tree.gravity, 0.0]), 0
    for link, bent, rows in zip(tree.links, bent_links(tree, q), tree.amplitude_rows):
        energy -= ca.dot(gravity, bent.pose @ bent_first_moment(link, bent.terms[0]))
        if rows and link.modes is not None:
            values = ca.vertcat(*(q[row] for row in rows))
            energy += ca.bilin(matrix(link.modes.stiffness), values, values) / 2
    return energy


def damping_power(tree: Tree, qd: Matrix) -> Matrix:
    """Return the power (W) that the damping of the modes takes out of the tree."""
    power: Matrix = 0
    for link, rows in zip(tree.links, tree.amplitude_rows):
        if rows and link.modes is not None:
            rates = ca.vertcat(*(qd[row] for row in rows))
            power += ca.bilin(matrix(link.modes.damping), rates, rates)
    return power


def bent_first_moment(link: Link, b: Sequence[Matrix]) -> Matrix:
    """Return the integral of h (4): first moment (3, kg m) and mass of a bent link.

    Book (1983), eq. 51.
    """
    fixed = matrix([*(link.mass * array(link.com)), link.mass])
    return (
        fixed
        if link.modes is None
        else fixed + sum(value * ca.DM([*row, 0.0]) for value, row in zip(b, link.modes.first))
    )


def first_moment(tree: Tree, q: Matrix) -> Matrix:
    """Return the sum of mass times place (3, kg m)."""
    return sum(
        bent.pose @ bent_first_moment(link, bent.terms[0])
        for link, bent in zip(tree.links, bent_links(tree, q))
    )[:3]


def momentum(tree: Tree, q: Matrix, qd: Matrix, about: Sequence[float]) -> tuple[Matrix, Matrix]:
    """Return angular momentum about a fixed point and linear momentum (3 each).

    They are in kg m2/s and kg m/s.
    """
    angular = linear = ca.DM.zeros(3)
    for link, bent in zip(tree.links, bent_links(tree, q, qd)):
        b, bd, _ = bent.terms
        second, mixed = bent_moments(link, b)
        spread = second @ bent.rate.T
        push = bent.rate @ bent_first_moment(link, b)
        if link.modes is not None:
            spread += sum(rate * d for rate, d in zip(bd, mixed)) @ bent.pose.T
            push += bent.pose @ sum(
                rate * ca.DM([*row, 0.0]) for rate, row in zip(bd, link.modes.first)
            )
        spin = (bent.pose @ spread)[:3, :3].T  # integral of (dx/dt) x'
        angular += ca.vertcat(
            spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]
        ) - ca.cross(matrix(about), push[:3])
        linear += push[:3]
    return angular, linear
