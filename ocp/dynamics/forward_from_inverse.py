"""Accelerations from inverse dynamics, which is linear in them: tau = M qdd + h, whatever the
formulation.

Force elements and rotors of the tree are in M and h.
"""

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from ocp.dynamics.signatures import Inverse, Loads
from ocp.mechanics.elements.generalized_forces import (
    armatures,
    element_torques,
    forces_of,
    has_rotors,
    with_elements,
)
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

LINEAR = 1e-9  # relative: what changes by no more is constant


def linear_in_accelerations(
    inverse: Inverse, tree: Tree, q: Matrix, qd: Matrix, loads: Loads = ()
) -> tuple[Matrix, Matrix]:
    """Return M (n, n) and h (n,) with inverse(tree, q, qd, qdd, loads) + A qdd - e = M qdd + h.

    A are the rotors of the tree, e the torques of its elements. M and h are numbers where q and qd
    are. An inverse that knows its own gives them by its `linear` (tree, q, qd, loads). Raises
    ValueError if the inverse is not linear in the accelerations.
    """
    mass, bias = _bodies_alone(inverse, tree, q, qd, loads)
    if forces_of(tree):
        bias = bias - element_torques(tree, q, qd)
    return add_rotors(tree, mass), bias


def add_rotors(tree: Tree, mass: Matrix) -> Matrix:
    """Return a mass matrix (n, n) of bodies with that of the tree's rotors added."""
    return mass + ca.diag(armatures(tree)) if has_rotors(tree) else mass


def suits_articulated_bodies(tree: Tree) -> bool:
    """Tell whether articulated bodies know all of a tree: links that do not bend, and no rotors
    where joints follow others."""
    follows = any(joint.follows is not None for joint in tree.joints)
    return not tree.flexible and not (has_rotors(tree) and follows)


def accelerations_by(
    forward: Callable[..., Matrix] | None,
    inverse: Inverse,
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    loads: Loads,
) -> Matrix:
    """Return the accelerations (n,) of an open tree.

    They are by `forward`, a function of bodies that knows no rotors, or by the M and h of
    `inverse`.
    """
    if forward is not None and not has_rotors(tree):
        return forward(tree, q, qd, with_elements(tree, tau, q, qd), loads)
    mass, bias = linear_in_accelerations(inverse, tree, q, qd, loads)
    return solve_mass_matrix(mass, tau - bias)


def solve_mass_matrix(mass: Matrix, right: Matrix) -> Matrix:
    """Return x (n,) of M x = right, by the factors L D L' of a mass matrix M (n, n).

    Their rounding errors are those of M with ones on its diagonal, whatever the units and sizes of
    its rows (Higham 2002, theorem 10.6); those of Q R grow with the largest row over the smallest.
    """
    whole = ca.triu2symm(ca.triu(mass))
    if isinstance(whole, ca.MX):
        return ca.solve(whole, ca.densify(right), "ldl")
    return ca.ldl_solve(ca.densify(right), *ca.ldl(whole, True))


def _bodies_alone(
    inverse: Inverse, tree: Tree, q: Matrix, qd: Matrix, loads: Loads
) -> tuple[Matrix, Matrix]:
    """Return M (n, n) and h (n,) of the bodies alone."""
    own: Callable[..., tuple[Matrix, Matrix]] | None = getattr(inverse, "linear", None)
    if own is not None:
        return own(tree, q, qd, loads)
    kind = ca.MX if isinstance(q, ca.MX) or isinstance(qd, ca.MX) else ca.SX
    qdd: Matrix = kind.sym("qdd", tree.dof)
    needed = inverse(tree, q, qd, qdd, loads)
    mass: Matrix = ca.jacobian(needed, qdd)
    rest: Matrix = kind.zeros(tree.dof)
    if ca.depends_on(mass, qdd):
        if _varies(mass, qdd):
            raise ValueError(
                "inverse dynamics: expected a function that is linear in the accelerations"
            )
        mass = ca.substitute(mass, qdd, rest)
    bias = ca.substitute(needed, qdd, rest)
    if isinstance(q, ca.DM) and isinstance(qd, ca.DM) and bias.is_constant():
        return ca.evalf(mass), ca.evalf(bias)
    return mass, bias


def _varies(mass: Matrix, qdd: Matrix) -> bool:
    """Tell whether a matrix changes with the accelerations, by numbers.

    Graphs with calls of other functions, as look-ups in tables, also hold terms that are zero.
    """
    rng = np.random.default_rng(0)
    others = [symbol for symbol in ca.symvar(mass) if not ca.depends_on(symbol, qdd)]
    places = [ca.DM(rng.uniform(-1.0, 1.0, other.shape)) for other in others]
    one, two = (
        np.array(ca.evalf(ca.densify(at)))
        for acceleration in rng.uniform(-1.0, 1.0, (2, *qdd.shape))
        for at in ca.substitute([mass], [qdd, *others], [ca.DM(acceleration), *places])
    )
    return bool(np.abs(one - two).max(initial=0.0) > LINEAR * np.abs(one).max(initial=0.0))


def solve_mixed(
    mass: Matrix, bias: Matrix, known: Matrix, active: Sequence[bool]
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques, each (n,), of M qdd + h = tau.

    Args:
        known: of each coordinate its acceleration or its torque, (n,).
        active: of each coordinate whether its acceleration is known, and not its torque.
    """
    driven = [row for row, flag in enumerate(active) if flag]
    free = [row for row, flag in enumerate(active) if not flag]
    rest = known[free] - bias[free]
    if driven:
        rest = rest - mass[free, driven] @ known[driven]
    found = ca.vertsplit(solve_mass_matrix(mass[free, free], rest)) if free else []
    accelerations = _replace_rows(known, dict(zip(free, found)))
    torques = mass @ accelerations + bias
    return accelerations, _replace_rows(torques, {row: known[row] for row in free})


def _replace_rows(vector: Matrix, rows: dict[int, Matrix]) -> Matrix:
    return ca.vertcat(*(rows.get(row, vector[row]) for row in range(vector.shape[0])))
