"""Book's recursive Lagrangian dynamics of flexible arms with 4x4 matrices, in inverse and in
simulation form, for branched trees.

Book (1983). Joint transforms A, deflection transforms E; Lagrange's equations of joints (eqs. 38,
53, 56) and of amplitudes (eqs. 39, 54, 57), gathered inward, give the inverse form; J z'' = R (eqs.
82-90) with the inertia coefficients of eqs. 66-81 is the simulation form. Here every amplitude may
besides enter by products of two (geometric stiffening), shapes may move loaded points, and
vibrations may be damped.

Integrals here are without the paper's factor 1/2, so its 2 Tr is tr. Where the paper drops what is
of second order in the amplitudes, from P (eq. 37) and by taking W W' for 1 (eqs. 72, 73), energy is
not quite kept; here this is done with `printed=True` only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ocp.dynamics.formulation_record import Formulation
from ocp.dynamics.formulations.transforms_4x4 import direction
from ocp.dynamics.forward_from_inverse import solve_mixed
from ocp.dynamics.matrix_entries import filled_matrix
from ocp.dynamics.signatures import Loads, Reactions
from ocp.mechanics.flexible.flexible_kinematics import (
    Bent,
    bend_at,
    bend_matrices,
    bent_first_moment,
    bent_links,
    bent_moments,
    link_integrals,
    term_slopes,
)
from ocp.mechanics.kinematics.spatial import screw_matrix, skew
from ocp.mechanics.model.loads import applied_loads
from ocp.mechanics.model.tree import Link, Tree, inward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) and the forces on the modal amplitudes (N or N m), (n,), that
    the motion needs.

    Zero force on an amplitude makes it vibrate freely. Raises ValueError naming a joint that
    slides, if a link is flexible.
    """
    _check_joints(tree)
    return _forces(tree, bent_links(tree, q, qd, qdd), q, qd, loads, printed=False)


def inertia(tree: Tree, q: Matrix, printed: bool = False) -> Matrix:
    """Return the inertia matrix J (n, n) of z = q by the recursions of eqs. 66-81.

        F_h = P_h + sum over children (E A) F_c (E A)'

    and with the slope of x by z, Y_z = the integral of h dx'/dz of all that link h carries:

        joint:        Y = F_h (W_h [S_h])'
        amplitude k:  Y = (D_hk + sum over children E_c A_c F_c A_c' M_ck') W_h'
        J_jz  = tr(W_j [S_j] jW_h Y_z)
        J_jfz = tr(W_j M_cjf A_c cW_h Y_z)  for z outside of link j, by its child c  (eqs. 66-76)
    """
    _check_joints(tree)
    arm = _arm_at_rest(tree, q, printed)
    entries: dict[tuple[int, int], Matrix] = {}
    for h, row in enumerate(tree.rows):
        pushes = {} if row is None else {row: arm.carried[h] @ _joint_slope(tree, arm.links, h).T}
        if tree.amplitude_rows[h]:
            bending, among = _by_amplitudes(arm, h, printed)
            pushes |= bending
            entries |= among
        for other, push in pushes.items():
            entries |= _toward_ground(arm, h, other, push)
    return filled_matrix(tree.dof, {(j, i): entry for (i, j), entry in entries.items()} | entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A tree bent by `q`, at rest.

    Fields: of every link its Bent motion, the `steps` E A (4x4) from its parent, F (4x4) of what it
    carries, its children; and by (link, child) the `levers` M (4x4) of the child's place by each
    amplitude.
    """

    tree: Tree
    q: Matrix
    links: list[Bent]
    steps: list[Matrix]
    carried: list[Matrix]
    children: list[list[int]]
    levers: dict[tuple[int, int], list[Matrix]]


def _arm_at_rest(tree: Tree, q: Matrix, printed: bool) -> Arm:
    """Return the Arm of a tree at q."""
    links, count = bent_links(tree, q), len(tree.links)
    steps = [link.bend[0] @ link.joint for link in links]
    children = [[c for c in range(count) if tree.parents[c] == k] for k in range(count)]

    def composite(k: int, inner: list) -> Matrix:  # eqs. 77-79
        own = _second_moments(tree.links[k], links[k].terms[0], printed)[0]
        return own + sum((steps[c] @ f @ steps[c].T for c, f in inner), ca.DM(4, 4))

    levers = {}
    for k, rows in enumerate(tree.amplitude_rows):
        modes = tree.links[k].modes
        if modes is None:
            continue
        by_amplitude = term_slopes(modes, [q[row] for row in rows])
        for c in children[k]:
            fixed = bend_matrices(modes, _home(tree, c))
            levers[k, c] = [sum(f * fixed[t] for t, f in pairs) for pairs in by_amplitude]
    return Arm(
        tree=tree,
        q=q,
        links=links,
        steps=steps,
        carried=inward(tree, composite),
        children=children,
        levers=levers,
    )


def _by_amplitudes(
    arm: Arm, h: int, printed: bool
) -> tuple[dict[int, Matrix], dict[tuple[int, int], Matrix]]:
    """Return {row: Y (4x4)} of link h's amplitudes, and entries of J among them (eqs. 70-76)."""
    link, rows = arm.links[h], arm.tree.amplitude_rows[h]
    own, both = _amplitude_moments(arm.tree.links[h], [arm.q[row] for row in rows], link.terms[0])
    pushes, entries = {}, {}
    for k, row in enumerate(rows):
        branches = [
            (c, arm.carried[c] @ arm.links[c].joint.T @ arm.levers[h, c][k].T)
            for c in arm.children[h]
        ]
        pushes[row] = (own[k] + sum(arm.steps[c] @ inner for c, inner in branches)) @ link.pose.T
        for f in range(k + 1):
            moving = ca.DM(4, 4)
            for c, inner in branches:
                moving = moving + arm.levers[h, c][f] @ arm.links[c].joint @ inner
            spread = moving + both[f][k]
            turned = spread if printed else link.pose @ spread @ link.pose.T  # eqs. 72, 73
            entries[rows[f], row] = ca.trace(turned)
    return pushes, entries


def _toward_ground(arm: Arm, h: int, row: int, push: Matrix) -> dict[tuple[int, int], Matrix]:
    """Return the entries of J between a variable of link h, whose Y (4x4) is `push`, and all from
    there to the ground."""
    entries: dict[tuple[int, int], Matrix] = {}
    tree, j, below = arm.tree, h, -1
    while j >= 0:
        if below >= 0:
            for f, other in enumerate(tree.amplitude_rows[j]):
                lever = arm.links[j].pose @ arm.levers[j, below][f] @ arm.links[below].joint
                entries[other, row] = ca.dot(lever.T, push)
            push = arm.steps[below] @ push
        own = tree.rows[j]
        if own is not None:
            entries[own, row] = ca.dot(_joint_slope(tree, arm.links, j).T, push)
        j, below = tree.parents[j], j
    return entries


def remainder(
    tree: Tree, q: Matrix, qd: Matrix, tau: Matrix, loads: Loads = (), printed: bool = False
) -> Matrix:
    """Return R (n,) of J z'' = R: all that stands beside the accelerations (eqs. 83-90), for
    torques and forces on amplitudes tau (n,)."""
    _check_joints(tree)
    return tau - _forces(tree, bent_links(tree, q, qd), q, qd, loads, printed)


def forward(tree: Tree, q: Matrix, qd: Matrix, tau: Matrix, loads: Loads = ()) -> Matrix:
    """Return the accelerations (n,): the solution of J z'' = R   (eq. 82)."""
    return ca.solve(inertia(tree, q), remainder(tree, q, qd, tau, loads))


def hybrid(
    tree: Tree, q: Matrix, qd: Matrix, known: Matrix, active: Sequence[bool], loads: Loads = ()
) -> tuple[Matrix, Matrix]:
    """Return accelerations and forces, each (n,), from z'' where `active` says so and from the
    forces elsewhere, of J z'' = R + forces.

    `active` has a boolean and `known` (n,) the given acceleration or force of each coordinate, as
    in `ocp.dynamics.formulations.lie_group.hybrid`.
    """
    rest = remainder(tree, q, qd, ca.DM.zeros(tree.dof), loads)
    return solve_mixed(inertia(tree, q), -rest, known, active)


def reactions(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Reactions:
    """Return the moment and the force that each joint passes to its link, (3, links) each.

    They are in N m and N, in the axes of the link's frame at its base. They are Newton's and
    Euler's laws of all that the joint carries, integrals over particles x,

        f = sum of (x'' - g) dm less loads
        n = sum of x x (x'' - g) dm less theirs

    moved to the joint's `anchor`, which on the link's base does not bend. The moment's part along
    the axis differs from the torque by what is of second order in the amplitudes, where the link
    hangs on one whose turns are of first order.
    """
    links, gravity = bent_links(tree, q, qd, qdd), matrix([*tree.gravity, 0.0])
    external: list[list[Matrix]] = [[] for _ in links]
    for k, position, *pushes in applied_loads(tree, loads):
        bend = bend_at(tree.links[k], position, links[k].terms)[0]
        moment, force = (ca.vertcat(v[0], v[1], v[2]) for v in pushes)
        place = (links[k].pose @ bend @ matrix([*position, 1.0]))[:3]
        external[k].append(ca.vertcat(force, moment + ca.cross(place, force)))

    def gather(k: int, children: list) -> Matrix:
        link, bent, (b, bd, bdd) = tree.links[k], links[k], links[k].terms
        second, mixed = bent_moments(link, b)
        first = bent_first_moment(link, b)
        push, spread = bent.acceleration @ first - first[3] * gravity, bent.acceleration @ second
        if link.modes is not None:
            rate, change = (
                sum(value * ca.DM([*row, 0.0]) for value, row in zip(values, link.modes.first))
                for values in (bd, bdd)
            )
            push += 2 * bent.rate @ rate + bent.pose @ change
            inner = [sum(value * d.T for value, d in zip(values, mixed)) for values in (bd, bdd)]
            spread += 2 * bent.rate @ inner[0] + bent.pose @ inner[1]
        turned = spread @ bent.pose.T - gravity @ (bent.pose @ first).T  # integral of (x'' - g) x'
        moment = ca.vertcat(
            turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]
        )
        outer = sum((wrench for _, wrench in children), ca.DM.zeros(6))
        return ca.vertcat(push[:3], moment) + outer - sum(external[k], ca.DM.zeros(6))

    forces, moments = [], []
    for joint, link, wrench in zip(tree.joints, links, inward(tree, gather)):
        place, turn = (link.pose @ matrix([*joint.anchor, 1.0]))[:3], link.pose[:3, :3].T
        forces.append(turn @ wrench[:3])
        moments.append(turn @ (wrench[3:] - ca.cross(place, wrench[:3])))
    return ca.horzcat(*moments), ca.horzcat(*forces)


def _forces(
    tree: Tree, links: list[Bent], q: Matrix, qd: Matrix, loads: Loads, printed: bool
) -> Matrix:
    """Return the forces (n,) on joints and amplitudes of links in motion.

        Q = P ddW' + 2 (sum db_t D_t) dW' + (sum ddb_t D_t) W' + sum over children E A Q_c
        tau_j  = tr(W [S] Q) - g' W [S] p
        tau_jf = tr(sum over children W M_cf A_c Q_c + (own) W') - gravity's share
                 + K delta + damping

    with g, gathered likewise from first moments (eqs. 87-90).
    """
    tau, gravity = [0] * tree.dof, matrix([*tree.gravity, 0.0])
    pushes = _pushes(tree, links, loads)

    def gather(k: int, children: list) -> Matrix:
        link, bent, rows = tree.links[k], links[k], tree.amplitude_rows[k]
        b, bd, bdd = bent.terms
        second, mixed = _second_moments(link, b, printed)
        total = second @ bent.acceleration.T - bent_first_moment(link, b) @ gravity.T
        inner = [(_home(tree, c), links[c].bend[0], links[c].joint @ part) for c, part in children]
        inner += pushes[k]
        if link.modes is not None:
            total += (
                2 * sum(rate * d for rate, d in zip(bd, mixed)) @ bent.rate.T
                + sum(rate * d for rate, d in zip(bdd, mixed)) @ bent.pose.T
            )
            values, rates = (ca.vertcat(*(x[row] for row in rows)) for x in (q, qd))
            elastic = (
                matrix(link.modes.stiffness) @ values
                + ca.sparsify(matrix(link.modes.damping)) @ rates
            )
            by_term = _bending_forces(link, bent, mixed, inner, gravity)
            for number, pairs in enumerate(term_slopes(link.modes, [q[row] for row in rows])):
                bending = sum(slope * by_term[t] for t, slope in pairs)
                tau[rows[number]] = bending + elastic[number]
        for _, bend, part in inner:
            total += bend @ part
        own = tree.rows[k]
        if own is not None:
            tau[own] = ca.dot(_joint_slope(tree, links, k).T, total)
        return total

    inward(tree, gather)
    return ca.vertcat(*tau)


def _pushes(tree: Tree, links: list[Bent], loads: Loads) -> list[list[tuple]]:
    """Return for every link [(position, E, -B)] of its loads, which do the work tr(d(W E) B)."""
    pushes: list[list[tuple]] = [[] for _ in links]
    for k, position, moment, force in applied_loads(tree, loads):
        bend = bend_at(tree.links[k], position, links[k].terms)[0]
        turned = skew(moment) @ (links[k].pose @ bend)[:3, :3] / 2  # tr([h] X dX') = 2 h . axis
        lever = matrix([*position, 1.0]) @ direction(force).T
        pushes[k].append((tuple(position), bend, -(lever + ca.diagcat(turned, ca.DM(1, 1)).T)))
    return pushes


def _bending_forces(
    link: Link, bent: Bent, mixed: list[Matrix], inner: list[tuple], gravity: Matrix
) -> list[Matrix]:
    """Return the forces on the modes' terms but for elasticity and damping (eqs. 39, 54; 85,
    86)."""
    (_, bd, bdd), (_, with_place, coupling), by_term = bent.terms, link_integrals(link), []
    for t, d in enumerate(mixed):
        own = (
            d.T @ bent.acceleration.T
            + 2 * sum(rate * c for rate, c in zip(bd, coupling[t])) @ bent.rate.T
        )
        own += (
            sum(rate * c for rate, c in zip(bdd, coupling[t])) @ bent.pose.T
            - with_place[t][3, :].T @ gravity.T
        )
        own += sum(
            (bend_matrices(link.modes, position)[t] @ part for position, _, part in inner),
            ca.DM(4, 4),
        )
        by_term.append(ca.dot(bent.pose.T, own))
    return by_term


def _second_moments(link: Link, b: Sequence[Matrix], printed: bool) -> tuple[Matrix, list[Matrix]]:
    """Return P and D_t (4x4); as `printed`, P without products of amplitudes (eqs. 36, 37)."""
    second, mixed = bent_moments(link, b)
    if printed:
        whole, with_place, _ = link_integrals(link)
        second = whole + sum(value * (c + c.T) for value, c in zip(b, with_place))
    return second, mixed


def _amplitude_moments(
    link: Link, values: Sequence[Matrix], b: Sequence[Matrix]
) -> tuple[list[Matrix], list[list[Matrix]]]:
    """Return D_k and C_fk (4x4) by amplitudes: integrals of terms weighed by the terms' slopes."""
    (_, _, coupling), mixed = link_integrals(link), bent_moments(link, b)[1]
    by_amplitude = [] if link.modes is None else term_slopes(link.modes, values)
    both = [
        [sum(f * k * coupling[t][u] for t, f in left for u, k in right) for right in by_amplitude]
        for left in by_amplitude
    ]
    return [sum(slope * mixed[t] for t, slope in pairs) for pairs in by_amplitude], both


def _joint_slope(tree: Tree, links: list[Bent], k: int) -> Matrix:
    """Return W [S] (4x4), the derivative of W by the joint's own variable."""
    return links[k].pose @ matrix(screw_matrix(tree.joints[k].screw))


def _home(tree: Tree, k: int) -> tuple[float, ...]:
    """Return the position (3) of link k's base in its parent's frame."""
    return tuple(row[3] for row in tree.joints[k].home[:3])


def _check_joints(tree: Tree) -> None:
    for joint in tree.joints if tree.flexible else ():
        if joint.kind in ("prismatic", "screw"):
            raise ValueError(
                f"book: joint {joint.name!r} is {joint.kind}: in a tree with flexible links (here "
                f"{', '.join(tree.flexible)}) the method treats revolute and fixed joints only"
            )


BOOK = Formulation(name="book", inverse=inverse, reactions=reactions, flexible=True)
