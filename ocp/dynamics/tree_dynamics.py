"""Inverse, forward and hybrid dynamics of a tree by any formulation, and its mass matrix."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import casadi as ca

from ocp.dynamics import closed_loops
from ocp.dynamics.catalogue import AUTO, formulation_of, is_built_in
from ocp.dynamics.derivatives.element_states import insert_rows, moving_parts
from ocp.dynamics.formulation_record import Formulation
from ocp.dynamics.forward_from_inverse import (
    accelerations_by,
    add_rotors,
    linear_in_accelerations,
    solve_mixed,
    suits_articulated_bodies,
)
from ocp.dynamics.signatures import Inverse, Loads
from ocp.mechanics.elements.generalized_forces import (
    bodies_of,
    drive_torques,
    element_torques,
    forces_of,
    rotors,
    state_needs,
    with_elements,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix


def inverse_dynamics(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    qdd: Matrix,
    loads: Loads = (),
    formulation: Formulation | str = AUTO,
) -> Matrix:
    """Return the joint torques (N m) or forces (N), (n,), that a motion needs beside the loads and
    the tree's force elements.

    Loops count as open (see `ocp.dynamics.closed_loops`).

    Args:
        q, qd, qdd: the motion, (n,) each, numbers or expressions (SX, MX).
        loads: forces and moments on links.
        formulation: a Formulation or its name; "auto" suits the tree.

    Raises ValueError for sizes that are not n, and for flexible links under a formulation of rigid
    bodies.
    """
    q, qd, qdd = _expressions(tree, q=q, qd=qd, qdd=qdd)
    needed = formulation_of(formulation, tree).inverse(tree, q, qd, qdd, loads)
    return drive_torques(tree, needed, q, qd, qdd)


def forward_dynamics(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    loads: Loads = (),
    formulation: Formulation | str = AUTO,
) -> Matrix:
    """Return the accelerations (n,), rad/s2 or m/s2, under joint torques, loads and elements.

    Loops stay closed, by the forces of their cut joints. States of elements have none, which is
    zero; `ocp.mechanics.state_rates` gives their rates.

    Args:
        q, qd: place and rates, (n,) each, numbers or expressions.
        tau: torques (N m) and forces (N), (n,).
        loads, formulation: as in `inverse_dynamics`.

    Raises ValueError for sizes that are not n, for a tree with stays, and for numbers where the
    accelerations are not determined.
    """
    method = formulation_of(formulation, tree)
    q, qd, tau = _expressions(tree, q=q, qd=qd, tau=tau)
    if tree.stays:
        raise ValueError(
            f"forward_dynamics: forces of stays {', '.join(stay.name for stay in tree.stays)} are "
            "unknown; take replace(tree, stays=()) and state them as loads or torques"
        )
    if not structure(tree).closed:
        return accelerations(method, tree, q, qd, tau, loads)
    if tree.states:
        given = with_elements(tree, tau, q, qd)
        q, qd, given = moving_parts(tree, q, qd, given)
        return insert_rows(tree, forward_dynamics(bodies_of(tree), q, qd, given, loads, method))
    return closed_loops.forward(tree, q, qd, tau, loads, dynamics=own_inverse(method, tree))[0]


def accelerations(
    formulation: Formulation | str,
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    loads: Loads = (),
) -> Matrix:
    """Return the accelerations (n,) of a tree, its loops open.

    Built-in formulations take the articulated-body recursion, with flexible links Book's; others
    their own `forward`, or without one the M and h of their inverse; so do trees with rotors, of
    which only the articulated bodies know.
    """
    method = formulation_of(formulation, tree)
    if tree.states:
        given = with_elements(tree, tau, q, qd)
        q, qd, given = moving_parts(tree, q, qd, given)
        return insert_rows(tree, accelerations(method, bodies_of(tree), q, qd, given, loads))
    if is_built_in(method) and suits_articulated_bodies(tree):
        return recursions(tree).forward(tree, q, qd, with_elements(tree, tau, q, qd), loads)
    forward = recursions(tree).forward if is_built_in(method) else method.forward
    return accelerations_by(forward, method.inverse, tree, q, qd, tau, loads)


def hybrid_dynamics(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    known: Matrix,
    active: Sequence[bool],
    loads: Loads = (),
    formulation: Formulation | str = AUTO,
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques, each (n,), from one of the two at every joint.

    Loops count as open.

    Args:
        known: qdd at the active joints, and tau at the others, (n,).
        active: of each coordinate whether its acceleration is known.
        loads, formulation: as in `inverse_dynamics`.
    """
    method = formulation_of(formulation, tree)
    if tree.states:
        return _hybrid_beside_states(tree, q, qd, known, active, loads, method)
    if is_built_in(method) and not forces_of(tree):
        return recursions(tree).hybrid(tree, q, qd, known, active, loads)
    if is_built_in(method) and not structure(tree).flexible and not tree.mapped:
        return _hybrid_of_elements(tree, q, qd, known, active, loads)
    mass, bias = linear_in_accelerations(method.inverse, tree, q, qd, loads)
    return solve_mixed(mass, bias, known, active)


def _hybrid_beside_states(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    known: Matrix,
    active: Sequence[bool],
    loads: Loads,
    method: Formulation,
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques of a tree whose elements have states, which have none and
    their controls there."""
    elements, needs = element_torques(tree, q, qd), state_needs(tree, q, qd)
    bodies = bodies_of(tree)
    passive = ca.DM([0.0 if flag else 1.0 for flag in active])
    q, qd, known = moving_parts(tree, q, qd, known + passive * elements)
    qdd, torques = hybrid_dynamics(bodies, q, qd, known, active[: bodies.dof], loads, method)
    return insert_rows(tree, qdd), insert_rows(tree, torques) - elements + needs


def _hybrid_of_elements(
    tree: Tree, q: Matrix, qd: Matrix, known: Matrix, active: Sequence[bool], loads: Loads
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques of a tree with elements, by articulated bodies, which know
    rotors at passive joints."""
    elements, inertias = element_torques(tree, q, qd), rotors(tree)
    passive = ca.DM([0.0 if flag else 1.0 for flag in active])
    qdd, torques = recursions(tree).hybrid(tree, q, qd, known + passive * elements, active, loads)
    turned = (
        inertias[row] * qdd[row] if flag and row in inertias else 0.0
        for row, flag in enumerate(active)
    )
    return qdd, torques - elements + ca.vertcat(*turned)


def mass_matrix(tree: Tree, q: Matrix) -> Matrix:
    """Return M (n, n), symmetric, with M qdd + h = tau: kg m2, kg m or kg, by the rows' units.

    Rotors are in it. Loops count as open. `q` (n,) are numbers or an expression. Raises ValueError
    if its size is not n.
    """
    (q,) = _expressions(tree, q=q)
    module = recursions(tree)
    bodies = module.inertia if structure(tree).flexible else module.mass_matrix
    return add_rotors(tree, bodies(tree, q))


def recursions(tree: Tree) -> ModuleType:
    """Return the module that has `forward` and `hybrid` for a tree."""
    name = "book" if structure(tree).flexible else "lie_group"
    return import_module(f"ocp.dynamics.formulations.{name}")  # which no motion's plan needs


def own_inverse(formulation: Formulation | str, tree: Tree) -> Inverse | None:
    """Return the inverse that M and h follow from, None where the built-in recursions know them."""
    method = formulation_of(formulation, tree)
    return None if is_built_in(method) else method.inverse


def _expressions(tree: Tree, **vectors: Matrix) -> list[Matrix]:
    """Return vectors (n,) as expressions, and raise ValueError naming one of another size."""
    expressions = []
    for name, vector in vectors.items():
        value = closed_loops.expression(vector)
        if value.numel() != tree.dof:
            joints = ", ".join(joint.name for joint in tree.moving)
            raise ValueError(
                f"{name}: expected {tree.dof} entries, one for each of {joints}; got "
                f"{value.numel()}"
            )
        expressions.append(value)
    return expressions
