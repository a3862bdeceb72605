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

from ocp.dynamics.formulation import Formulation
from ocp.dynamics.from_inverse import mixed
from ocp.mechanics.flexible.kinematics import (
    Bent,
    bend_at,
    bends,
    bent_first_moment,
    integrals,
    moved,
    slopes,
    weighed,
)
from ocp.mechanics.kinematics.spatial import screw_matrix, skew
from ocp.mechanics.model.loads import Load, applied
from ocp.mechanics.model.tree import Tree, inward
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) and the forces on the modal amplitudes (N or N m), (n,), that
    the motion needs.

    Zero force on an amplitude makes it vibrate freely. Raises ValueError naming a joint that
    slides, if a link is flexible.
    """
    _check(tree)
    return _needed(tree, moved(tree, q, qd, qdd), q, qd, loads, printed=False)


def inertia(tree: Tree, q: Matrix, printed: bool = False) -> Matrix:
    """Return the inertia matrix J (n, n) of z = q by the recursions of eqs. 66-81.

        F_h = P_h + sum over children (E A) F_c (E A)'

    and with the slope of x by z, Y_z = the integral of h dx'/dz of all that link h carries:

        joint:        Y = F_h (W_h [S_h])'
        amplitude k:  Y = (D_hk + sum over children E_c A_c F_c A_c' M_ck') W_h'
        J_jz  = tr(W_j [S_j] jW_h Y_z)
        J_jfz = tr(W_j M_cjf A_c cW_h Y_z)  for z outside of link j, by its child c  (eqs. 66-76)
    """
    _check(tree)
    arm = _resting(tree, q, printed)
    entries: dict[tuple[int, int], Matrix] = {}
    for h, row in enumerate(tree.rows):
        pushes = {} if row is None else {row: arm.carried[h] @ _slope(tree, arm.links, h).T}
        if tree.amplitude_rows[h]:
            bending, among = _by_amplitudes(arm, h, printed)
            pushes |= bending
            entries |= among
        for other, push in pushes.items():
            entries |= _toward_ground(arm, h, other, push)
    return _symmetric(tree.dof, entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A tree bent by `q`, at rest.

    Of every link: its Bent motion, E A (4x4) `steps` from its parent, F (4x4) of what it carries,
    and `children`; `levers` (link, child): matrices M (4x4) of the child's place by each amplitude.
    """

    tree: Tree
    q: Matrix
    links: list[Bent]
    steps: list[Matrix]
    carried: list[Matrix]
    children: list[list[int]]
    levers: dict[tuple[int, int], list[Matrix]]


def _resting(tree, q, printed):
    """Return the Arm of a tree at q."""
    links, count = moved(tree, q), len(tree.links)
    steps = [link.bend[0] @ link.joint for link in links]
    children = [[c for c in range(count) if tree.parents[c] == k] for k in range(count)]
    bending = [k for k in range(count) if tree.amplitude_rows[k]]
    return Arm(
        tree=tree,
        q=q,
        links=links,
        steps=steps,
        carried=_composites(tree, links, steps, printed),
        children=children,
        levers={(k, c): _levers(tree, q, k, c) for k in bending for c in children[k]},
    )


def _levers(tree, q, k, c):
    """Return the matrices M (4x4) of the place of child c by each amplitude of link k."""
    modes, values = tree.links[k].modes, [q[row] for row in tree.amplitude_rows[k]]
    fixed = bends(modes, _home(tree, c))
    return [sum(slope * fixed[t] for t, slope in pairs) for pairs in slopes(modes, values)]


def _by_amplitudes(arm, h, printed):
    """Return {row: Y (4x4)} of link h's amplitudes, and entries of J among them (eqs. 70-76)."""
    tree, link, rows = arm.tree, arm.links[h], arm.tree.amplitude_rows[h]
    own, both = _own(tree.links[h], arm.q, rows, link.terms[0])
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


def _toward_ground(arm, h, row, push):
    """Return the entries of J between a variable of link h, whose Y (4x4) is `push`, and all from
    there to the ground."""
    tree, entries, j, below = arm.tree, {}, h, None
    while j >= 0:
        if below is not None:
            for f, other in enumerate(tree.amplitude_rows[j]):
                lever = arm.links[j].pose @ arm.levers[j, below][f] @ arm.links[below].joint
                entries[other, row] = ca.dot(lever.T, push)
            push = arm.steps[below] @ push
        if tree.rows[j] is not None:
            entries[tree.rows[j], row] = ca.dot(_slope(tree, arm.links, j).T, push)
        j, below = tree.parents[j], j
    return entries


def remainder(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    loads: Sequence[Load] = (),
    printed: bool = False,
) -> Matrix:
    """Return R (n,) of J z'' = R: all that stands beside the accelerations (eqs. 83-90), for
    torques and forces on amplitudes tau (n,)."""
    _check(tree)
    return tau - _needed(tree, moved(tree, q, qd), q, qd, loads, printed)


def forward(tree: Tree, q: Matrix, qd: Matrix, tau: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the accelerations (n,): the solution of J z'' = R   (eq. 82)."""
    return ca.solve(inertia(tree, q), remainder(tree, q, qd, tau, loads))


def hybrid(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    known: Matrix,
    active: Sequence[bool],
    loads: Sequence[Load] = (),
) -> tuple[Matrix, Matrix]:
    """Return accelerations and forces, each (n,), from z'' where `active` says so and from the
    forces elsewhere, of J z'' = R + forces.

    `active` has a boolean and `known` (n,) the given acceleration or force of each coordinate, as
    in `ocp.dynamics.formulations.lie_group.hybrid`.
    """
    rest = remainder(tree, q, qd, ca.DM.zeros(tree.dof), loads)
    return mixed(inertia(tree, q), -rest, known, active)


def reactions(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix]:
    """Return the moment and the force that each joint passes to its link, (3, links) each.

    They are in N m and N, in the axes of the link's frame at its base. They are Newton's and
    Euler's laws of all that the joint carries, integrals over particles x,

        f = sum of (x'' - g) dm less loads
        n = sum of x x (x'' - g) dm less theirs

    moved to the joint's `anchor`, which on the link's base does not bend. The moment's part along
    the axis differs from the torque by what is of second order in the amplitudes, where the link
    hangs on one whose turns are of first order.
    """
    links, gravity = moved(tree, q, qd, qdd), matrix([*tree.gravity, 0.0])
    given: list[list[Matrix]] = [[] for _ in links]
    for k, position, moment, force in applied(tree, loads):
        bend, force, moment = (
            bend_at(tree.links[k], position, links[k].terms)[0],
            *(ca.vertcat(v[0], v[1], v[2]) for v in (force, moment)),
        )
        given[k].append(
            ca.vertcat(
                force,
                moment + ca.cross((links[k].pose @ bend @ matrix([*position, 1.0]))[:3], force),
            )
        )

    def gather(k, children):
        link, bent, (b, bd, bdd) = tree.links[k], links[k], links[k].terms
        second, mixed = weighed(link, b)
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
        return (
            ca.vertcat(push[:3], moment)
            + sum((wrench for _, wrench in children), ca.DM.zeros(6))
            - sum(given[k], ca.DM.zeros(6))
        )

    forces, moments = [], []
    for joint, link, wrench in zip(tree.joints, links, inward(tree, gather)):
        place, turn = (link.pose @ matrix([*joint.anchor, 1.0]))[:3], link.pose[:3, :3].T
        forces.append(turn @ wrench[:3])
        moments.append(turn @ (wrench[3:] - ca.cross(place, wrench[:3])))
    return ca.horzcat(*moments), ca.horzcat(*forces)


def _needed(tree, links, q, qd, loads, printed):
    """Return the forces (n,) on joints and amplitudes of links in motion.

        Q = P ddW' + 2 (sum db_t D_t) dW' + (sum ddb_t D_t) W' + sum over children E A Q_c
        tau_j  = tr(W [S] Q) - g' W [S] p
        tau_jf = tr(sum over children W M_cf A_c Q_c + (own) W') - gravity's share
                 + K delta + damping

    with g, gathered likewise from first moments (eqs. 87-90).
    """
    tau, gravity = [0] * tree.dof, matrix([*tree.gravity, 0.0])
    rows, amplitudes, pushes = tree.rows, tree.amplitude_rows, _pushes(tree, links, loads)

    def gather(k, children):
        link, bent, (b, bd, bdd) = tree.links[k], links[k], links[k].terms
        second, mixed = _second(link, b, printed)
        total = second @ bent.acceleration.T - bent_first_moment(link, b) @ gravity.T
        if link.modes is not None:
            total += (
                2 * sum(rate * d for rate, d in zip(bd, mixed)) @ bent.rate.T
                + sum(rate * d for rate, d in zip(bdd, mixed)) @ bent.pose.T
            )
        held = [
            (_home(tree, c), links[c].bend[0], links[c].joint @ inner) for c, inner in children
        ] + pushes[k]
        if link.modes is not None:
            for row, force in zip(
                amplitudes[k],
                _bending(link, bent, mixed, held, gravity, [q[r] for r in amplitudes[k]]),
            ):
                tau[row] = force
            values, rates = (ca.vertcat(*(x[row] for row in amplitudes[k])) for x in (q, qd))
            elastic = (
                matrix(link.modes.stiffness) @ values
                + ca.sparsify(matrix(link.modes.damping)) @ rates
            )
            for number, row in enumerate(amplitudes[k]):
                tau[row] += elastic[number]
        for _, bend, inner in held:
            total += bend @ inner
        if rows[k] is not None:
            tau[rows[k]] = ca.dot(_slope(tree, links, k).T, total)
        return total

    inward(tree, gather)
    return ca.vertcat(*tau)


def _pushes(tree, links, loads):
    """Return for every link [(position, E, -B)] of its loads, which do the work tr(d(W E) B)."""
    pushes = [[] for _ in links]
    for k, position, moment, force in applied(tree, loads):
        bend = bend_at(tree.links[k], position, links[k].terms)[0]
        turned = skew(moment) @ (links[k].pose @ bend)[:3, :3] / 2  # tr([h] X dX') = 2 h . axis
        force = ca.vertcat(force[0], force[1], force[2], 0)
        work = matrix([*position, 1.0]) @ force.T + ca.diagcat(turned, ca.DM(1, 1)).T
        pushes[k].append((tuple(position), bend, -work))
    return pushes


def _bending(link, bent, mixed, held, gravity, values):
    """Return the forces on amplitudes but for elasticity and damping (eqs. 39, 54; 85, 86)."""
    (_, bd, bdd), (_, with_place, coupling), by_term = bent.terms, integrals(link), []
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
            (bends(link.modes, position)[t] @ inner for position, _, inner in held), ca.DM(4, 4)
        )
        by_term.append(ca.dot(bent.pose.T, own))
    return [sum(slope * by_term[t] for t, slope in pairs) for pairs in slopes(link.modes, values)]


def _composites(tree, links, steps, printed):
    """Return F (4x4) of every link: its own P and its children's, moved   (eqs. 77-79)."""

    def gather(k, children):
        total = _second(tree.links[k], links[k].terms[0], printed)[0]
        return total + sum((steps[c] @ inner @ steps[c].T for c, inner in children), ca.DM(4, 4))

    return inward(tree, gather)


def _second(link, b, printed):
    """Return P and D_t (4x4); as `printed`, P without products of amplitudes (eqs. 36, 37)."""
    second, mixed = weighed(link, b)
    if printed:
        whole, with_place, _ = integrals(link)
        second = whole + sum(value * (c + c.T) for value, c in zip(b, with_place))
    return second, mixed


def _own(link, q, rows, b):
    """Return D_k and C_fk (4x4) by amplitudes: integrals of terms weighed by the terms' slopes."""
    _, _, coupling = integrals(link)
    mixed, pairs = weighed(link, b)[1], slopes(link.modes, [q[row] for row in rows])
    both = [
        [sum(f * k * coupling[t][u] for t, f in left for u, k in right) for right in pairs]
        for left in pairs
    ]
    return [sum(slope * mixed[t] for t, slope in found) for found in pairs], both


def _slope(tree, links, k):
    """Return W [S] (4x4), the derivative of W by the joint's own variable."""
    return links[k].pose @ matrix(screw_matrix(tree.joints[k].screw))


def _home(tree, k):
    return tuple(row[3] for row in tree.joints[k].home[:3])


def _symmetric(n, entries):
    """Return the matrix (n, n) with the given entries in either triangle, zeros elsewhere."""
    return ca.vertcat(
        *(
            ca.horzcat(*(entries.get((i, j), entries.get((j, i), ca.DM(1, 1))) for j in range(n)))
            for i in range(n)
        )
    )


def _check(tree):
    for joint in tree.joints if tree.flexible else ():
        if joint.kind in ("prismatic", "screw"):
            raise ValueError(
                f"book: joint {joint.name!r} is {joint.kind}: in a tree with flexible links (here "
                f"{', '.join(tree.flexible)}) "
                "the method treats revolute and fixed joints only"
            )


BOOK = Formulation(name="book", inverse=inverse, reactions=reactions, flexible=True)
