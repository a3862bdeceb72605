"""Accelerations from inverse dynamics alone, which is linear in them: tau = M qdd + h, whatever the
formulation."""

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.loads import Load
from ocp.mechanics.tree import Tree
from ocp.mechanics.types import Matrix

LINEAR = 1e-9  # relative: what changes by no more is constant


def linear_in_accelerations(
    inverse: Callable[..., Matrix], tree: Tree, q: Matrix, qd: Matrix, loads: Sequence[Load] = ()
) -> tuple[Matrix, Matrix]:
    """Return M (n, n) and h (n,) with inverse(tree, q, qd, qdd, loads) = M qdd + h.

    They are numbers where q and qd are. An inverse that knows them gives them by its own `linear`
    (tree, q, qd, loads). Raises ValueError if the inverse is not linear in the accelerations.
    """
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
    rest = known[free] - bias[free] - mass[free, given] @ known[given]
    released = ca.vertsplit(ca.solve(mass[free, free], rest)) if free else []
    accelerations = ca.vertcat(*_placed(known, dict(zip(free, released))))
    torques = mass @ accelerations + bias
    return accelerations, ca.vertcat(*_placed(torques, {row: known[row] for row in free}))


def _placed(vector: Matrix, others: dict[int, Matrix]) -> list[Matrix]:
    return [others.get(row, vector[row]) for row in range(vector.shape[0])]
