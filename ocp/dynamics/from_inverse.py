"""Accelerations from inverse dynamics alone, which is linear in them: tau = M qdd + h, whatever the
formulation; force elements and rotors of the tree are in M and h."""

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.elements.forces import (
    armatures,
    element_torques,
    forces_of,
    has_rotors,
    with_elements,
)
from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

LINEAR = 1e-9  # relative: what changes by no more is constant


def linear_in_accelerations(
    inverse: Callable[..., Matrix], tree: Tree, q: Matrix, qd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix]:
    """Return M (n, n) and h (n,) with inverse(tree, q, qd, qdd, loads) + A qdd - e = M qdd + h.

    A are the rotors of the tree, e what its elements give. M and h are numbers where q and qd are.
    An inverse that knows its own gives them by its `linear` (tree, q, qd, loads). Raises ValueError
    if the inverse is not linear in the accelerations.
    """
    mass, bias = _of_bodies(inverse, tree, q, qd, loads)
    if forces_of(tree):
        bias = bias - element_torques(tree, q, qd)
    return beside_rotors(tree, mass), bias


def beside_rotors(tree: Tree, mass: Matrix) -> Matrix:
    """Return a mass matrix (n, n) of bodies with that of the tree's rotors added."""
    return mass + ca.diag(armatures(tree)) if has_rotors(tree) else mass


def articulates(tree: Tree) -> bool:
    """Tell whether articulated bodies know all of a tree: links that do not bend, and no rotors
    where joints follow others."""
    follows = any(joint.follows is not None for joint in tree.joints)
    return not tree.flexible and not (has_rotors(tree) and follows)


def released(
    forward: Callable[..., Matrix] | None, inverse: Callable[..., Matrix], tree: Tree, *instant: Any
) -> Matrix:
    """Return the accelerations (n,) of an open tree at an `instant`, q, qd, tau and loads.

    They are by `forward`, a function of bodies that knows no rotors, or by the M and h of
    `inverse`.
    """
    q, qd, tau, loads = instant
    if forward is not None and not has_rotors(tree):
        return forward(tree, q, qd, with_elements(tree, tau, q, qd), loads)
    mass, bias = linear_in_accelerations(inverse, tree, q, qd, loads)
    return solved(mass, tau - bias)


def solved(mass: Matrix, right: Matrix) -> Matrix:
    """Return x (n,) of M x = right, by the factors L D L' of a mass matrix M (n, n).

    Their rounding errors are those of M with ones on its diagonal, whatever the units and sizes of
    its rows (Higham 2002, theorem 10.6); those of Q R grow with the largest row over the smallest.
    """
    whole = ca.triu2symm(ca.triu(mass))
    if isinstance(whole, ca.MX):
        return ca.solve(whole, ca.densify(right), "ldl")
    return ca.ldl_solve(ca.densify(right), *ca.ldl(whole, True))


def _of_bodies(
    inverse: Callable[..., Matrix], tree: Tree, q: Matrix, qd: Matrix, loads: Sequence[Load]
) -> tuple[Matrix, Matrix]:
    """Return M (n, n) and h (n,) of the bodies alone."""
    known: Any = getattr(inverse, "linear", None)
    if known is not None:
        mass, bias = known(tree, q, qd, loads)
        return mass, bias
    kind: Any = ca.MX if isinstance(q, ca.MX) or isinstance(qd, ca.MX) else ca.SX
    qdd = kind.sym("qdd", tree.dof)
    needed = inverse(tree, q, qd, qdd, loads)
    mass = ca.jacobian(needed, qdd)
    rest = kind.zeros(tree.dof)
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


def mixed(
    mass: Matrix, bias: Matrix, known: Matrix, active: Sequence[bool]
) -> tuple[Matrix, Matrix]:
    """Return accelerations and torques, each (n,), of M qdd + h = tau, from `known` (n,) of either
    kind.

    `active` has a boolean for each coordinate: whether its acceleration is known, and not its
    torque.
    """
    given = [row for row, flag in enumerate(active) if flag]
    free = [row for row, flag in enumerate(active) if not flag]
    rest = known[free] - bias[free]
    if given:
        rest = rest - mass[free, given] @ known[given]
    released = ca.vertsplit(solved(mass[free, free], rest)) if free else []
    accelerations = ca.vertcat(*_placed(known, dict(zip(free, released))))
    torques = mass @ accelerations + bias
    return accelerations, ca.vertcat(*_placed(torques, {row: known[row] for row in free}))


def _placed(vector: Matrix, others: dict[int, Matrix]) -> list[Matrix]:
    return [others.get(row, vector[row]) for row in range(vector.shape[0])]
