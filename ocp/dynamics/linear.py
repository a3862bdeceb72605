"""Accelerations from inverse dynamics alone, which is linear in them: tau = M qdd + h, whatever the
formulation."""

from collections.abc import Sequence
from typing import Any

import casadi as ca

from ocp.dynamics.formulation import Inverse
from ocp.mechanics.loads import Load
from ocp.mechanics.tree import Tree
from ocp.mechanics.types import Matrix


def linear_in_accelerations(
    inverse: Inverse, tree: Tree, q: Matrix, qd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix]:
    """Return M (n, n) and h (n,) with inverse(tree, q, qd, qdd, loads) = M qdd + h.

    They are numbers where q and qd are. Raises ValueError if the inverse is not linear in the
    accelerations.
    """
    kind: Any = ca.MX if isinstance(q, ca.MX) or isinstance(qd, ca.MX) else ca.SX
    qdd = kind.sym("qdd", tree.dof)
    needed = inverse(tree, q, qd, qdd, loads)
    mass = ca.jacobian(needed, qdd)
    if ca.depends_on(mass, qdd):
        raise ValueError(
            "inverse dynamics: expected a function that is linear in the accelerations"
        )
    bias = ca.substitute(needed, qdd, kind.zeros(tree.dof))
    if isinstance(q, ca.DM) and isinstance(qd, ca.DM) and bias.is_constant():
        return ca.evalf(mass), ca.evalf(bias)
    return mass, bias


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
    rest = known[free] - bias[free] - mass[free, given] @ known[given]
    released = ca.vertsplit(ca.solve(mass[free, free], rest)) if free else []
    accelerations = ca.vertcat(*_placed(known, dict(zip(free, released))))
    torques = mass @ accelerations + bias
    return accelerations, ca.vertcat(*_placed(torques, {row: known[row] for row in free}))


def _placed(vector: Matrix, others: dict[int, Matrix]) -> list[Matrix]:
    return [others.get(row, vector[row]) for row in range(vector.shape[0])]
