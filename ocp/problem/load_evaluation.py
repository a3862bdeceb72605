"""Loads as a state of motion has them, for whoever knows q and qd but no plan."""

from collections.abc import Sequence
from typing import Any, NoReturn

import casadi as ca

from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix
from ocp.problem.contact.state_dependent_forces import Acting, ForceLaw
from ocp.problem.instant import Forces, Instant


def loads_in_state(
    tree: Tree, loads: Sequence[Acting], t: Matrix, q: Matrix, qd: Matrix
) -> tuple[Load, ...]:
    """Return the loads at the time t (s) in a state of motion, q and qd (n,).

    Raises ValueError naming a force law that asks for accelerations or forces.
    """
    if not any(isinstance(load, ForceLaw) for load in loads):
        return tuple(load.at(t) for load in loads)
    qdd = ca.SX.sym("qdd", tree.dof)
    known = Forces(inverse=_unknown, torques=_unknown)
    at = Instant(tree=tree, s=t, T=1.0, q=q, qd=qd, qdd=qdd, loads=tuple(loads), forces=known)
    return tuple(
        _of_state(load, at) if isinstance(load, ForceLaw) else load.at(t) for load in loads
    )


def _of_state(law: ForceLaw, at: Instant) -> Load:
    load: Any = law.load_at(at)
    parts = [ca.SX(part[k]) for part in (load.force, load.moment) for k in range(3)]
    if ca.depends_on(ca.vertcat(*parts), at.qdd):
        raise ValueError(
            f"force law at {law.point!r}: expected a function of q, qd and t, got one of "
            "accelerations"
        )
    return load


def _unknown(*_: object) -> NoReturn:
    raise ValueError("a force law asks for forces, which follow from its own")
