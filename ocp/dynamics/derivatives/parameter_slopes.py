"""Derivatives of inverse dynamics by kinematic and inertial parameters, O(n) for each one.

A parameter that moves the home of joint k displaces all from there outward by a twist x, as a
joint before k would that stands still: in recursive gradients (Sohl & Bobrow 2001) it is one more
coordinate. So with p the parent, phi = v_p x x, psi = a_p x x + v_p x phi, and I, B and F of all
that a joint carries (`ocp.dynamics.derivatives.composite_bodies`),

    dtau_i = (B'S)_i.Phi_i + (I S)_i.Psi_i    Phi, Psi: sums of phi, psi from the ground to i
           + S_i.(sum of B_k phi_k + I_k psi_k + x_k x* F_k)      k outward of i

A parameter of masses adds S_i.dF_i, the force of what changes them, in which bodies are linear; one
of gravity adds S_i.I_i (0, -dg). Loads keep moments and forces, and their points are differentiated
automatically.
"""

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ocp.dynamics.derivatives.composite_inertias import (
    bodies_of,
    coriolis_moment,
    coriolis_wrench,
    stack_bodies,
    unstack_bodies,
    wrench_of,
)
from ocp.dynamics.derivatives.ground_frame import (
    Body,
    Chain,
    Frames,
    carried_sums,
    chain_of,
    ground_frames,
    parent_columns,
    path_sums,
)
from ocp.dynamics.derivatives.load_derivatives import load_slopes
from ocp.dynamics.signatures import AnyLoads
from ocp.mechanics.kinematics.spatial import cross, cross_force, cross_motion, dot
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import array, is_open, matrix
from ocp.mechanics.values.types import Matrix

SX = ca.SX


def parameter_slopes(
    tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads, parameters: Matrix
) -> Matrix | None:
    """Return dtau/d parameters (n, p) of a tree of which some numbers are open, the motion and the
    loads' moments and forces held; None where the pitch of a screw is open.

    Args:
        tree: a rigid one of single-coordinate joints.
        q, qd, qdd: the motion (n,), as SX.
        loads: Loads or Wrenches.
        parameters: their symbols (p,).
    """
    if is_open([joint.pitch for joint in tree.joints if joint.kind == "screw"]):
        return None
    chain = chain_of(tree)
    frames = ground_frames(chain, q, qd, qdd)
    carried = unstack_bodies(carried_sums(chain, stack_bodies(bodies_of(chain, frames)[0])))
    image, back = wrench_of(carried, frames.screw), coriolis_moment(carried, frames.screw)
    above = _parent_motions(chain, frames)
    masses = _mass_forces(chain, frames, parameters)
    gravity = ca.jacobian(SX(matrix(array(chain.tree.gravity))), parameters)
    columns = []
    for number, twists in enumerate(_home_twists(chain, frames, parameters)):
        phi = cross_motion(above[0], twists)
        psi = cross_motion(above[1], twists) + cross_motion(above[0], phi)
        own = coriolis_wrench(carried, phi) + wrench_of(carried, psi)
        own += cross_force(twists, carried.moment, carried.force)
        pulled = ca.vertcat(SX(3, 1), -gravity[:, number])
        phi, psi = path_sums(chain, phi, SX(6, 1)), path_sums(chain, psi, pulled)
        wrench = _outward_sums(chain, own) + masses[number]
        column = dot(phi[:3, :], back) + dot(psi, image) + dot(frames.screw, wrench)
        columns.append(column.T)
    return ca.horzcat(SX(tree.dof, 0), *columns) + _load_slopes(tree, q, loads, parameters)


def _parent_motions(chain: Chain, frames: Frames) -> tuple[Matrix, Matrix]:
    """Return the twist and the acceleration (6, n) of every joint's parent about the base."""
    w, dw, origin = frames.angular, frames.angular_acceleration, frames.origin
    linear = frames.linear - cross(w, origin)
    pull = frames.linear_acceleration - cross(w, frames.linear) - cross(dw, origin)
    gravity = SX(matrix(array(chain.tree.gravity)))
    twists = parent_columns(chain, ca.vertcat(w, linear), SX(6, 1))
    return twists, parent_columns(chain, ca.vertcat(dw, pull), ca.vertcat(SX(3, 1), -gravity))


def _home_twists(chain: Chain, frames: Frames, parameters: Matrix) -> list[Matrix]:
    """Return for each parameter the twists (6, n), about the base, by which it displaces homes."""
    moved: list[list[Matrix]] = [[] for _ in range(parameters.numel())]
    for numbers, p in zip(chain.homes, chain.parents):
        home = SX(matrix(numbers))
        slopes = ca.jacobian(ca.vec(home[:3, :]), parameters)
        turn, place = SX.eye(3), SX.zeros(3)
        if p >= 0:
            turn, place = frames.rotation[p], frames.origin[:, p]
        place = place + turn @ home[:3, 3]  # before the joint slides
        for number, columns in enumerate(moved):
            slope = ca.reshape(slopes[:, number], 3, 4)
            if not slope.nnz():
                columns.append(SX(6, 1))
                continue
            spin = slope[:, :3] @ home[:3, :3].T  # of a home's axes, whose turns are orthonormal
            angular = turn @ ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
            linear = turn @ slope[:, 3] - ca.cross(angular, place)
            columns.append(ca.vertcat(angular, linear))
    return [ca.horzcat(*columns) for columns in moved]


def _mass_forces(chain: Chain, frames: Frames, parameters: Matrix) -> list[Matrix]:
    """Return for each parameter the wrenches (6, n) by which what every joint carries needs more,
    since it changes masses and where these are."""
    changes: list[list[Body]] = [[] for _ in range(parameters.numel())]
    for body in chain.bodies:
        place = body.place
        first = body.first + body.mass * place
        arm = np.outer(body.first, place)
        second = body.second + arm + arm.T + body.mass * np.outer(place, place)
        numbers = SX(matrix(array([body.mass, *first, *second.ravel()])))
        slopes = ca.jacobian(numbers, parameters)
        for number, bodies in enumerate(changes):
            slope = ca.densify(slopes[:, number])
            if slopes[:, number].nnz():
                entries = array(slope)
                bodies.append(
                    replace(
                        body,
                        place=np.zeros(3),
                        mass=entries[0],
                        first=entries[1:4],
                        second=entries[4:].reshape(3, 3),
                    )
                )
    forces = []
    for bodies in changes:
        changed = replace(chain, bodies=tuple(bodies))
        added: Matrix = SX(6, 0)
        if bodies:
            own, _ = bodies_of(changed, frames)
            added = ca.vertcat(own.moment, own.force)
        forces.append(carried_sums(changed, added))
    return forces


def _outward_sums(chain: Chain, columns: Matrix) -> Matrix:
    """Return the sums (6, n) of the columns of all joints outward of each, without its own."""
    own = ca.horzsplit(columns)
    sums = [SX(6, 1)] * len(own)
    for k, p in reversed(list(enumerate(chain.parents))):
        if p >= 0:
            sums[p] = sums[p] + own[k] + sums[k]
    return ca.horzcat(*sums)


def _load_slopes(tree: Tree, q: Matrix, loads: AnyLoads, parameters: Matrix) -> Matrix:
    """Return the loads' share (n, p): what their points and the homes do to their levers."""
    if not loads:
        return SX(tree.dof, parameters.numel())
    still: Matrix = SX.zeros(tree.dof)
    place: Matrix = SX.sym("q", tree.dof)
    pushes: Sequence[Matrix] = [part for load in loads for part in (load.moment, load.force)]
    given = ca.vertcat(*(SX(part[k]) for part in pushes for k in range(3)))
    held: Matrix = SX.sym("load", given.shape[0])
    chain = chain_of(tree)
    frames = ground_frames(chain, place, still, still)
    slopes = ca.jacobian(load_slopes(chain, frames, loads)[1] @ held, parameters)
    return ca.substitute(slopes, ca.vertcat(place, held), ca.vertcat(SX(q), given))
