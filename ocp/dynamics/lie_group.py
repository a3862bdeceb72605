"""Dynamics on the Lie group SE(3): inverse, forward and every mixture of the two in one O(n)
recursion, and its derivatives.

After Sohl & Bobrow (2001). A link's pose in its parent is T = M exp([S] q), the paper's second
product of exponentials; M itself is here a product of exponentials about coordinate axes, so that
every Ad acts by plane turns and shifts. V is a link's twist (angular, linear) and F = (moment,
force) the wrench through its joint, both in and about the link's frame, J its inertia. The base
accelerates by -g, and

    V = Ad V_p + S qd,  a = [V, S] qd,  dV/dt = Ad dV_p/dt + a + S qdd,  F = J dV/dt - ad*_V (J V) +
    sum of Ad* F_c,  tau = S.F

(eqs. 22-28) with Ad of the inverse of T. Misprints: eq. 27 needs J V, not J dV/dt, within ad*; in
algorithm 4.1 both terms of db/dx are negative, and tau counts against S.z in eq. 75 and dz+/dx as
it does in eqs. 57 and 74; F' in eq. 55 is what a link exerts on the world.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from ocp.dynamics.composite import COMPOSITE
from ocp.dynamics.exponentials import (
    ad,
    bend_to_parent,
    body_matrix,
    exponentials,
    inertia_to_parent,
    seen_from,
    sparse_matrix,
    to_child,
    to_parent,
)
from ocp.dynamics.formulation import Formulation, aligned
from ocp.mechanics.inertia import regrouped
from ocp.mechanics.loads import Load, applied
from ocp.mechanics.spatial import skew
from ocp.mechanics.tree import Tree, inward, outward
from ocp.mechanics.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,): all joints active (Sohl & Bobrow 2001,
    algorithm 3.1)."""
    return hybrid(tree, q, qd, qdd, (True,) * tree.dof, loads)[1]


def forward(tree: Tree, q: Matrix, qd: Matrix, tau: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return the accelerations (n,) under joint torques: all joints passive. Massless links: see
    `hybrid`."""
    return hybrid(tree, q, qd, tau, (False,) * tree.dof, loads)[0]


def bias(tree: Tree, q: Matrix, qd: Matrix, loads: Sequence[Load] = ()) -> Matrix:
    """Return h (n,) in M qdd + h = tau: the torques that gravity, velocities and loads ask for."""
    return inverse(tree, q, qd, [0.0] * tree.dof, loads)


def gravity_torques(tree: Tree, q: Matrix) -> Matrix:
    """Return the torques (n,) that hold the tree at rest."""
    return bias(tree, q, [0.0] * tree.dof)


def hybrid(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    known: Matrix,
    active: Sequence[bool],
    loads: Sequence[Load] = (),
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques, each (n,), from qdd at the active joints and tau at the
    passive ones.

    `active` has a boolean and `known` (n,) the given acceleration or torque of each joint, in the
    order of q. With the articulated inertia J^ of a link, F = J^ dV/dt + B, and at a passive joint
    U = J^ S, D = S.U (Sohl & Bobrow 2001, algorithms 3.4-3.6, eqs. 49-60):

        inward:   J^ = J + sum of Ad* J^+ Ad,   B = -ad*_V (J V) - load + sum of Ad* z+
                  passive: J^+ = J^ - U U'/D,  z+ = B + J^+ a + U (tau - S.B) / D        active: J^+
                  = J^,  z+ = B + J^ a + U qdd
        outward:  qdd = (tau - S.B - U.(Ad dV_p/dt + a)) / D   or   tau = U.dV/dt + S.B

    Links whose joints are active down to the ground need no J^: their motion is known. Divides by
    zero where D = 0, that is where a passive joint moves no inertia, as before a last massless
    link. Raises ValueError if `active` has not n entries.
    """
    _, _, accelerations, torques = _solve(_prepare(tree, q, qd, known, active, loads))
    return ca.vertcat(*accelerations), ca.vertcat(*torques)


def mass_matrix(tree: Tree, q: Matrix) -> Matrix:
    """Return M (n, n), symmetric, with structural zeros for joints of different branches.

    M_ij = S_j.(Ad* I S_i) for j = i or between the ground and i, I being the inertia of all links
    that joint i carries.
    """
    task, entries = _prepare(tree, q, None, None, (True,) * tree.dof, ()), {}
    for k, body in enumerate(_carried(task, task.bodies, inertia_to_parent)):
        for parent, image in _toward_ground(task, k, body @ task.axes[k]):
            i, j = task.rows[k], task.rows[parent]
            entries[i, j] = entries[j, i] = ca.dot(task.axes[parent], image)
    return sparse_matrix(tree.dof, entries)


def sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, each (n, n), of inverse dynamics; loads keep their
    direction in the ground.

    Algorithm 4.1 of Sohl & Bobrow (2001) for active joints, summed over the links before it is
    multiplied out. With phi = [V_p, S] and psi = [dV_p/dt, S] + [V_p, phi] of joint j, the twist of
    every link that j carries changes by phi_j with q_j and its acceleration by psi_j + [phi_j, V],
    hence its wrench by I psi_j + B phi_j + E S_j: B x = I [x, V] - ad*_x (I V) - ad*_V (I x), and E
    x is how a load turns against a link that turns by x. With the sums of I, F, B, E over what
    joint i carries, for j = i or between the ground and i,

        dtau_j/dq_i  = S_j.(B phi_i + I psi_i + E S_i - ad*_S F)         dtau_i/dq_j  = phi_j.B'S_i
        + psi_j.I S_i + S_j.E'S_i
        dtau_j/dqd_i = S_j.(B S_i + 2 I phi_i)                           dtau_i/dqd_j = S_j.B'S_i +
        2 phi_j.I S_i
    """
    return _slopes(_prepare(tree, q, qd, qdd, (True,) * tree.dof, loads))


def hybrid_sensitivity(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    known: Matrix,
    active: Sequence[bool],
    loads: Sequence[Load] = (),
) -> tuple[tuple[Matrix, Matrix, Matrix], tuple[Matrix, Matrix, Matrix]]:
    """Return the derivatives of qdd and those of tau by (q, qd, known): two triples of matrices (n,
    n); arguments as in `hybrid`.

    What algorithm 4.1 of Sohl & Bobrow (2001) computes, yet without dJ^/dx: the differentiated
    equations of motion are again a hybrid problem with the same J^. With X = dtau/dx at fixed qdd
    (`sensitivity`), A the projection on active joints, and N the inverse of the
    passive part of M, zero elsewhere,   dqdd/dx = -N X,   dtau/dx = A (X + M dqdd/dx),
    dqdd/dknown = N + (1 - N M) A,   dtau/dknown = 1 - A + A M dqdd/dknown.
    """
    task = _prepare(tree, q, qd, known, active, loads)
    _, held, accelerations, _ = _solve(task)
    firm = [False] * len(task.rows)
    by_q, by_qd, mass = _slopes(replace(task, known=accelerations, passive=firm, loose=firm))
    chosen, others = (
        sparse_matrix(
            tree.dof, {(i, i): 1.0 for i, flag in enumerate(active) if bool(flag) is side}
        )
        for side in (True, False)
    )
    released = _passive_inverse(task, held)
    by_known = released + chosen - released @ (mass @ chosen)
    rates = -(released @ by_q), -(released @ by_qd), by_known
    return rates, (
        chosen @ (by_q + mass @ rates[0]),
        chosen @ (by_qd + mass @ rates[1]),
        others + chosen @ (mass @ by_known),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A hybrid problem on an aligned tree. Per link: row of q, factors of T, S (6), J (6x6), and
    whether its joint is passive, and loose: passive or moved by a passive one. `loads` holds (link,
    place, moment, force) in the axes of the link."""

    tree: Tree
    rows: tuple[int | None, ...]
    factors: list
    axes: list
    bodies: list
    loads: list
    passive: list
    loose: list
    qd: Matrix
    known: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a joint hands inward, J^+ (None where the link's motion is known) and z+; its U, D, and
    tau - S.B or, where active, S.B."""

    inertia: Matrix
    wrench: Matrix
    image: Matrix = None
    pivot: Matrix = None
    drive: Matrix = None


def _prepare(tree, q, qd, known, active, loads):
    if len(active) != tree.dof:
        names = ", ".join(joint.name for joint in tree.moving)
        raise ValueError(
            f"active: expected a boolean for each of the {tree.dof} moving joints ({names}), got "
            f"{len(active)}"
        )
    tree, _ = aligned(tree)
    rows, factors = (
        tree.rows,
        [
            exponentials(joint, None if row is None else q[row])
            for joint, row in zip(tree.joints, tree.rows)
        ],
    )
    passive = [row is not None and not active[row] for row in rows]
    pushed = []
    for k, place, *vectors in applied(tree, loads):
        both = seen_from(
            tree.parents,
            factors,
            k,
            ca.vertcat(*(vector[i] for vector in vectors for i in range(3))),
        )
        pushed.append((k, ca.DM(place), both[:3], both[3:]))
    return Task(
        tree=tree,
        rows=rows,
        factors=factors,
        axes=[ca.sparsify(ca.DM(joint.screw or [0] * 6)) for joint in tree.joints],
        bodies=[body_matrix(*parts) for parts in regrouped(tree)],
        loads=pushed,
        passive=passive,
        loose=outward(tree, lambda k, above: above or passive[k], False),
        qd=qd,
        known=known,
    )


def _solve(task):
    """Return each link's (V, [V, S], dV/dt or None), what each joint holds, and accelerations and
    torques as lists of n."""
    still, rest = ca.DM(6, 1), ca.sparsify(ca.DM([0, 0, 0, *(-g for g in task.tree.gravity)]))
    moves = outward(task.tree, lambda k, parent: _move(task, k, parent), (still, still, rest))
    held = inward(task.tree, lambda k, children: _hold(task, moves, k, children))
    found = outward(
        task.tree,
        lambda k, parent: _release(task, moves[k], held[k], k, parent[0]),
        (rest, None, None),
    )
    moving = [outcome for outcome, row in zip(found, task.rows) if row is not None]
    return moves, held, [outcome[1] for outcome in moving], [outcome[2] for outcome in moving]


def _move(task, k, parent):
    """Eqs. 49-51, and 60 where all joints down to the ground are active."""
    row, axis, (twist, _, acceleration) = task.rows[k], task.axes[k], parent
    if row is None:  # an aligned fixed link shares its parent's frame
        return twist, ca.DM(6, 1), acceleration
    twist = to_child(task.factors[k], twist)
    phi = ad(twist) @ axis
    if not task.loose[k]:
        acceleration = (
            to_child(task.factors[k], acceleration) + phi * task.qd[row] + axis * task.known[row]
        )
    return twist + axis * task.qd[row], phi, None if task.loose[k] else acceleration


def _hold(task, moves, k, children):
    """Eqs. 52-55: J^ and B, or F where the motion is known, of a link with what it carries; then
    inward through its joint."""
    (twist, phi, acceleration), body, parent = moves[k], task.bodies[k], task.tree.parents[k]
    pushes = (
        ca.vertcat(moment + ca.cross(place, force), force)
        for link, place, moment, force in task.loads
        if link == k
    )
    wrench = -ad(twist).T @ (body @ twist) - sum(pushes, ca.DM(6, 1))
    wrench = sum(
        (to_parent(task.factors[child], inner.wrench) for child, inner in children), wrench
    )
    if not task.loose[k]:
        return Held(inertia=None, wrench=wrench + body @ acceleration)
    inertia = sum(
        (inertia_to_parent(task.factors[child], inner.inertia) for child, inner in children), body
    )
    held = (
        Held(inertia=inertia, wrench=wrench)
        if task.rows[k] is None
        else _through(task, k, inertia, wrench, phi)
    )
    if parent < 0 or task.loose[parent]:
        return held
    return replace(
        held,
        inertia=None,
        wrench=held.wrench + held.inertia @ to_child(task.factors[k], moves[parent][2]),
    )


def _through(task, k, inertia, wrench, phi):
    """Eqs. 55-57."""
    row, axis = task.rows[k], task.axes[k]
    image, drive, known = inertia @ axis, ca.dot(axis, wrench), task.known[row]
    pivot = ca.dot(axis, image)
    if task.passive[k]:
        drive = known - drive
        known, inertia = drive / pivot, _deflated(axis, inertia, image, 1 / pivot)
    return Held(
        inertia=inertia,
        wrench=wrench + inertia @ phi * task.qd[row] + image * known,
        image=image,
        pivot=pivot,
        drive=drive,
    )


def _deflated(axis, inertia, image, inverse):
    """Return J^ - U U'/D, whose products with S vanish: structurally where S is a unit vector."""
    kept = ca.sparsify(ca.diag(1 - axis)) if axis.nnz() == 1 else ca.DM.eye(6)
    image = kept @ image
    return ca.triu2symm(ca.triu(kept @ inertia @ kept - image @ (inverse * image).T))


def _release(task, move, held, k, acceleration):
    """Return dV/dt, qdd and tau of a joint, given dV_p/dt (eqs. 58-60)."""
    row, axis = task.rows[k], task.axes[k]
    if row is None:
        return acceleration, None, None
    known = task.known[row]
    if not task.loose[k]:
        return move[2], known, ca.dot(axis, held.wrench)
    before = to_child(task.factors[k], acceleration) + move[1] * task.qd[row]
    rate = (held.drive - ca.dot(held.image, before)) / held.pivot if task.passive[k] else known
    after = before + axis * rate
    return after, rate, known if task.passive[k] else ca.dot(held.image, after) + held.drive


def _passive_inverse(task, held):
    """Return N (n, n), the inverse of the passive part of M and zero elsewhere, as W' D^-1 W.

    Column i of W is tau - S.B of all passive joints in an inward sweep with a unit torque at joint
    i and nothing else.
    """
    parents, rows, entries, pivots = task.tree.parents, task.rows, {}, {}
    for i in (k for k, passive in enumerate(task.passive) if passive):
        wrench, k, pivots[rows[i], rows[i]] = held[i].image / held[i].pivot, i, 1 / held[i].pivot
        entries[rows[i], rows[i]] = 1.0
        while parents[k] >= 0:
            wrench, k = to_parent(task.factors[k], wrench), parents[k]
            if task.passive[k]:
                drive = entries[rows[k], rows[i]] = -ca.dot(task.axes[k], wrench)
                wrench = wrench + held[k].image * (drive / held[k].pivot)
    innovations = sparse_matrix(task.tree.dof, entries)
    return innovations.T @ (sparse_matrix(task.tree.dof, pivots) @ innovations)


def _slopes(task):
    """Return the derivatives of tau by q, qd and qdd of a task whose joints are all active."""
    moves, held, _, _ = _solve(task)
    rates = [
        (phi, ad(acceleration) @ axis + ad(twist) @ phi)
        for axis, (twist, phi, acceleration) in zip(task.axes, moves)
    ]
    by_q, by_qd, mass = {}, {}, {}
    bodies = _carried(task, task.bodies, inertia_to_parent)
    bends = _carried(
        task, [_bend(task, k, move[0]) for k, move in enumerate(moves)], bend_to_parent
    )
    for k in range(len(moves)):
        for parent, wrenches in _toward_ground(
            task, k, _columns(task.axes[k], rates[k], held[k].wrench, bodies[k], bends[k])
        ):
            i, j, axis, (phi, psi) = (
                task.rows[k],
                task.rows[parent],
                task.axes[parent],
                rates[parent],
            )
            place, rate, image, back, turned = ca.horzsplit(wrenches)
            by_q[j, i], by_qd[j, i] = ca.dot(axis, place), ca.dot(axis, rate)
            mass[j, i] = mass[i, j] = ca.dot(axis, image)
            if i != j:
                by_q[i, j] = ca.dot(phi, back) + ca.dot(psi, image) + ca.dot(axis, turned)
                by_qd[i, j] = ca.dot(axis, back) + 2.0 * ca.dot(phi, image)
    return tuple(sparse_matrix(task.tree.dof, entries) for entries in (by_q, by_qd, mass))


def _columns(axis, rates, wrench, body, bend):
    """Return (6, 5) of joint i: B phi + I psi + E S - ad*_S F, B S + 2 I phi, I S, B'S and E'S."""
    (phi, psi), (b, e) = rates, ca.horzsplit(bend, 3)
    place = b @ phi[:3] + body @ psi + e @ axis[:3] - ad(axis).T @ wrench
    back = ca.vertcat(ca.horzcat(b.T @ axis, e.T @ axis), ca.DM(3, 2))
    return ca.horzcat(place, b @ axis[:3] + 2.0 * (body @ phi), body @ axis, back)


def _bend(task, k, twist):
    """Return a link's own B and E (6, 3 + 3) without their linear columns, which vanish."""
    half, (moment, force) = task.bodies[k] @ ad(twist), ca.vertsplit(task.bodies[k] @ twist, 3)
    b = ca.vertcat(
        skew(moment) + half[:3, :3] + half[:3, :3].T, skew(force) + half[3:, :3] + half[:3, 3:].T
    )
    loads = (load[1:] for load in task.loads if load[0] == k)
    e = sum(
        (
            ca.vertcat(skew(moment) + skew(place) @ skew(force), skew(force))
            for place, moment, force in loads
        ),
        ca.DM(6, 3),
    )
    return -ca.horzcat(b, e)


def _carried(task, own, to_parent):
    """Return for each link the sum of its own and of all that it carries."""
    return inward(
        task.tree,
        lambda k, children: sum(
            (to_parent(task.factors[child], inner) for child, inner in children), own[k]
        ),
    )


def _toward_ground(task, k, wrenches):
    """Yield each moving joint from k to the ground and the wrenches (6, m) in and about its frame;
    nothing where k is fixed."""
    if task.rows[k] is None:
        return
    while k >= 0:
        if task.rows[k] is not None:
            yield k, wrenches
        wrenches, k = to_parent(task.factors[k], wrenches), task.tree.parents[k]


LIE_GROUP = Formulation(
    name="lie_group",
    inverse=inverse,
    derivatives=COMPOSITE,
    sensitivity=sensitivity,
)
