"""Dynamics on the Lie group SE(3): inverse, forward and every mixture of the two in one O(n)
recursion, and its derivatives.

After Sohl & Bobrow (2001). A link's pose in its parent is T = M exp([S] q), the paper's second
product of exponentials; M itself is here a product of exponentials about coordinate axes, so that
every Ad acts by plane turns and shifts. V is a link's twist (angular, linear) and F = (moment,
force) the wrench through its joint, both in and about the link's frame, J its inertia. The base
accelerates by -g, and

    V = Ad V_p + S qd,  a = [V, S] qd,  dV/dt = Ad dV_p/dt + a + S qdd
    F = J dV/dt - ad*_V (J V) + sum of Ad* F_c,  tau = S.F

(eqs. 22-28) with Ad of the inverse of T. Misprints: eq. 27 needs J V, not J dV/dt, within ad*; in
algorithm 4.1 both terms of db/dx are negative, and tau counts against S.z in eq. 75 and dz+/dx as
it does in eqs. 57 and 74; F' in eq. 55 is what a link exerts on the world.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import casadi as ca

from ocp.dynamics.derivatives.chart_wrappers import extend_hybrid, extend_mass_matrix
from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.dynamics.exponentials import ad, bend_to_parent, inertia_to_parent, to_parent
from ocp.dynamics.formulation_record import Formulation
from ocp.dynamics.formulations.articulated_body import (
    Articulation,
    HybridProblem,
    hybrid_problem,
    solve_hybrid,
)
from ocp.dynamics.matrix_entries import sparse_matrix
from ocp.dynamics.signatures import Loads, Slopes
from ocp.mechanics.kinematics.spatial import skew
from ocp.mechanics.model.tree import Tree, inward
from ocp.mechanics.values.types import Matrix


def inverse(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,): all joints active.

    Sohl & Bobrow (2001), algorithm 3.1.
    """
    return hybrid(tree, q, qd, qdd, (True,) * tree.dof, loads)[1]


def forward(tree: Tree, q: Matrix, qd: Matrix, tau: Matrix, loads: Loads = ()) -> Matrix:
    """Return the accelerations (n,) under joint torques: all joints passive.

    Massless links: see `hybrid`.
    """
    return hybrid(tree, q, qd, tau, (False,) * tree.dof, loads)[0]


def bias(tree: Tree, q: Matrix, qd: Matrix, loads: Loads = ()) -> Matrix:
    """Return h (n,) in M qdd + h = tau: the torques that gravity, velocities and loads ask for."""
    return inverse(tree, q, qd, [0.0] * tree.dof, loads)


def gravity_torques(tree: Tree, q: Matrix) -> Matrix:
    """Return the torques (n,) that hold the tree at rest."""
    return bias(tree, q, [0.0] * tree.dof)


@extend_hybrid
def hybrid(
    tree: Tree, q: Matrix, qd: Matrix, known: Matrix, active: Sequence[bool], loads: Loads = ()
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques, each (n,), from one of the two at every joint.

    Args:
        known: qdd at active joints and tau at passive ones, (n,).
        active: whether a joint's acceleration is known, n booleans in the order of q.

    With the articulated inertia J^ of a link, F = J^ dV/dt + B, and at a passive joint
    U = J^ S, D = S.U (Sohl & Bobrow 2001, algorithms 3.4-3.6, eqs. 49-60):

        inward:   J^ = J + sum of Ad* J^+ Ad,   B = -ad*_V (J V) - load + sum of Ad* z+
                  passive:  J^+ = J^ - U U'/D,  z+ = B + J^+ a + U (tau - S.B) / D
                  active:   J^+ = J^,           z+ = B + J^ a + U qdd
        outward:  qdd = (tau - S.B - U.(Ad dV_p/dt + a)) / D   or   tau = U.dV/dt + S.B

    Links whose joints are active down to the ground need no J^: their motion is known. Divides by
    zero where D = 0, that is where a passive joint moves no inertia, as before a last massless
    link. Raises ValueError if `active` has not n entries.
    """
    solution = solve_hybrid(hybrid_problem(tree, q, qd, known, active, loads))
    return ca.vertcat(*solution.accelerations), ca.vertcat(*solution.torques)


@extend_mass_matrix
def mass_matrix(tree: Tree, q: Matrix) -> Matrix:
    """Return M (n, n), symmetric, with structural zeros for joints of different branches.

        M_ij = S_j.(Ad* I S_i)

    for j = i or between the ground and i, I being the inertia of all links that joint i carries.
    """
    task, entries = hybrid_problem(tree, q, None, None, (True,) * tree.dof, ()), {}
    for k, body in enumerate(_carried_sums(task, task.bodies, inertia_to_parent)):
        for i, parent, j, image in _toward_ground(task, k, body @ task.axes[k]):
            entries[i, j] = entries[j, i] = ca.dot(task.axes[parent], image)
    return sparse_matrix(tree.dof, entries)


def sensitivity(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Loads = ()) -> Slopes:
    """Return dtau/dq, dtau/dqd, dtau/dqdd, each (n, n), of inverse dynamics.

    Loads keep their direction in the ground.

    Algorithm 4.1 of Sohl & Bobrow (2001) for active joints, summed over the links before it is
    multiplied out. With phi = [V_p, S] and psi = [dV_p/dt, S] + [V_p, phi] of joint j, the twist of
    every link that j carries changes by phi_j with q_j and its acceleration by psi_j + [phi_j, V],
    hence its wrench by I psi_j + B phi_j + E S_j. Here

        B x = I [x, V] - ad*_x (I V) - ad*_V (I x)

    and E x is how a load turns against a link that turns by x. With the sums of I, F, B, E over
    what joint i carries, for j = i or between the ground and i,

        dtau_j/dq_i  = S_j.(B phi_i + I psi_i + E S_i - ad*_S F)
        dtau_i/dq_j  = phi_j.B'S_i + psi_j.I S_i + S_j.E'S_i
        dtau_j/dqd_i = S_j.(B S_i + 2 I phi_i)
        dtau_i/dqd_j = S_j.B'S_i + 2 phi_j.I S_i
    """
    return _slopes(hybrid_problem(tree, q, qd, qdd, (True,) * tree.dof, loads))


def hybrid_sensitivity(
    tree: Tree, q: Matrix, qd: Matrix, known: Matrix, active: Sequence[bool], loads: Loads = ()
) -> tuple[Slopes, Slopes]:
    """Return the derivatives of qdd and those of tau by (q, qd, known), (n, n) each.

    Arguments as in `hybrid`.

    What algorithm 4.1 of Sohl & Bobrow (2001) computes, yet without dJ^/dx: the differentiated
    equations of motion are again a hybrid problem with the same J^. With X = dtau/dx at fixed qdd
    (`sensitivity`), A the projection on active joints, and N the inverse of the passive part of M,
    zero elsewhere,

        dqdd/dx = -N X,                      dtau/dx = A (X + M dqdd/dx)
        dqdd/dknown = N + (1 - N M) A,       dtau/dknown = 1 - A + A M dqdd/dknown
    """
    task = hybrid_problem(tree, q, qd, known, active, loads)
    solution, firm = solve_hybrid(task), [False] * len(task.rows)
    by_q, by_qd, mass = _slopes(
        replace(task, known=solution.accelerations, passive=firm, loose=firm)
    )
    driven, free = (
        sparse_matrix(
            tree.dof, {(i, i): 1.0 for i, flag in enumerate(active) if bool(flag) is side}
        )
        for side in (True, False)
    )
    mobility = _passive_inverse(task, solution.articulations)
    by_known = mobility + driven - mobility @ (mass @ driven)
    rates = -(mobility @ by_q), -(mobility @ by_qd), by_known
    return rates, (
        driven @ (by_q + mass @ rates[0]),
        driven @ (by_qd + mass @ rates[1]),
        free + driven @ (mass @ by_known),
    )


def _passive_inverse(task: HybridProblem, held: list[Articulation]) -> Matrix:
    """Return N (n, n), the inverse of the passive part of M and zero elsewhere, as W' D^-1 W.

    Column i of W is tau - S.B of all passive joints in an inward sweep with a unit torque at joint
    i and nothing else.
    """
    passive = {k: row for k, row in enumerate(task.rows) if row is not None and task.passive[k]}
    parents, entries, pivots = task.tree.parents, {}, {}
    for i, column in passive.items():
        wrench, k, pivots[column, column] = held[i].image / held[i].pivot, i, 1 / held[i].pivot
        entries[column, column] = 1.0
        while parents[k] >= 0:
            wrench, k = to_parent(task.factors[k], wrench), parents[k]
            if k in passive:
                drive = entries[passive[k], column] = -ca.dot(task.axes[k], wrench)
                wrench = wrench + held[k].image * (drive / held[k].pivot)
    innovations = sparse_matrix(task.tree.dof, entries)
    return innovations.T @ (sparse_matrix(task.tree.dof, pivots) @ innovations)


def _slopes(task: HybridProblem) -> Slopes:
    """Return the derivatives of tau by q, qd and qdd of a problem whose joints are all active."""
    solution = solve_hybrid(task)
    rates = [
        (phi, ad(acceleration) @ axis + ad(twist) @ phi)
        for axis, (twist, phi, acceleration) in zip(task.axes, solution.twists)
    ]
    by_q, by_qd, mass = {}, {}, {}
    bodies = _carried_sums(task, task.bodies, inertia_to_parent)
    own_bends = [_bend(task, k, twist) for k, (twist, *_) in enumerate(solution.twists)]
    bends = _carried_sums(task, own_bends, bend_to_parent)
    for k, held in enumerate(solution.articulations):
        wrenches = _columns(task.axes[k], rates[k], held.wrench, bodies[k], bends[k])
        for i, parent, j, moved in _toward_ground(task, k, wrenches):
            axis, (phi, psi) = task.axes[parent], rates[parent]
            by_place, by_rate, image, back, turned = ca.horzsplit(moved)
            by_q[j, i], by_qd[j, i] = ca.dot(axis, by_place), ca.dot(axis, by_rate)
            mass[j, i] = mass[i, j] = ca.dot(axis, image)
            if i != j:
                by_q[i, j] = ca.dot(phi, back) + ca.dot(psi, image) + ca.dot(axis, turned)
                by_qd[i, j] = ca.dot(axis, back) + 2.0 * ca.dot(phi, image)
    n = task.tree.dof
    return sparse_matrix(n, by_q), sparse_matrix(n, by_qd), sparse_matrix(n, mass)


def _columns(
    axis: Matrix, rates: tuple[Matrix, Matrix], wrench: Matrix, body: Matrix, bend: Matrix
) -> Matrix:
    """Return (6, 5) of joint i: B phi + I psi + E S - ad*_S F, B S + 2 I phi, I S, B'S and E'S."""
    (phi, psi), (b, e) = rates, ca.horzsplit(bend, 3)
    by_place = b @ phi[:3] + body @ psi + e @ axis[:3] - ad(axis).T @ wrench
    back = ca.vertcat(ca.horzcat(b.T @ axis, e.T @ axis), ca.DM(3, 2))
    return ca.horzcat(by_place, b @ axis[:3] + 2.0 * (body @ phi), body @ axis, back)


def _bend(task: HybridProblem, k: int, twist: Matrix) -> Matrix:
    """Return a link's own B and E (6, 3 + 3) without their linear columns, which vanish."""
    half, (moment, force) = task.bodies[k] @ ad(twist), ca.vertsplit(task.bodies[k] @ twist, 3)
    b = ca.vertcat(
        skew(moment) + half[:3, :3] + half[:3, :3].T, skew(force) + half[3:, :3] + half[:3, 3:].T
    )
    e = ca.DM(6, 3)
    for link, place, push_moment, push in task.loads:
        if link == k:
            e = e + ca.vertcat(skew(push_moment) + skew(place) @ skew(push), skew(push))
    return -ca.horzcat(b, e)


def _carried_sums(
    task: HybridProblem, own: Sequence[Matrix], to_parent: Callable[..., Matrix]
) -> list[Matrix]:
    """Return for each link the sum of its own and of all that it carries."""
    return inward(
        task.tree,
        lambda k, children: sum(
            (to_parent(task.factors[child], inner) for child, inner in children), own[k]
        ),
    )


def _toward_ground(
    task: HybridProblem, k: int, wrenches: Matrix
) -> Iterator[tuple[int, int, int, Matrix]]:
    """Yield the row of joint k, each moving joint from there to the ground with its own row, and
    the wrenches (6, m) in and about its frame; nothing where k is fixed."""
    first = task.rows[k]
    while first is not None and k >= 0:
        row = task.rows[k]
        if row is not None:
            yield first, k, row, wrenches
        wrenches, k = to_parent(task.factors[k], wrenches), task.tree.parents[k]


LIE_GROUP = Formulation(
    name="lie_group", inverse=inverse, derivatives=COMPOSITE, sensitivity=sensitivity
)
