"""Provider of a formulation's published recursion for first derivatives, and automatic
differentiation for second ones."""

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from ocp.dynamics.derivatives.chart_wrappers import split_loads
from ocp.dynamics.formulation_record import Formulation, Provider
from ocp.dynamics.signatures import AnyLoads, Parts
from ocp.mechanics.kinematics.kinematics import motions, wrench_torques
from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

SX = ca.SX


def published_provider(formulation: Formulation) -> Provider:
    """Return the Provider of a formulation's own `sensitivity`.

    Raises ValueError if it has none.
    """
    sensitivity = formulation.sensitivity
    if sensitivity is None:
        raise ValueError(
            f"derivatives 'published': formulation {formulation.name!r} has no sensitivities of "
            "its own"
        )

    def torques(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads) -> Matrix:
        carried, wrenches = split_loads(loads)
        return formulation.inverse(tree, q, qd, qdd, carried) - _ground_torques(tree, q, wrenches)

    def slope_parts(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()) -> Parts:
        symbols, symbolic = _symbolic_loads(loads)
        by_load = ca.jacobian(torques(tree, q, qd, qdd, symbolic), symbols)  # tau is linear in them
        carried, wrenches = split_loads(loads)
        at = SX.sym("q", tree.dof)
        by_place = ca.jacobian(_ground_torques(tree, at, wrenches), at)
        by_q, by_qd, by_qdd = sensitivity(tree, q, qd, qdd, carried)
        return by_q - ca.substitute(by_place, at, q), by_qd, by_qdd, by_load

    def curvature_parts(
        tree: Tree, multipliers: Matrix, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()
    ) -> Parts:
        n, (symbols, symbolic) = tree.dof, _symbolic_loads(loads)
        z, zd, zdd = (SX.sym(name, n) for name in ("q", "qd", "qdd"))
        variables = ca.vertcat(z, zd, zdd, symbols)
        work = ca.dot(multipliers, torques(tree, z, zd, zdd, symbolic))
        vectors: list[Matrix] = [part for load in loads for part in (load.moment, load.force)]
        entries = (SX(vector[k]) for vector in vectors for k in range(3))
        values = ca.densify(ca.vertcat(q, qd, qdd, *entries))
        hessian, gradient = ca.substitute(list(ca.hessian(work, variables)), [variables], [values])
        a, b, c, d = slice(n), slice(n, 2 * n), slice(2 * n, 3 * n), slice(3 * n, None)
        return (
            ca.triu(hessian[a, a]),
            hessian[a, b],
            hessian[a, c],
            ca.triu(hessian[b, b]),
            hessian[a, d],
            gradient,
        )

    def join(tree: Tree, parts: Parts) -> Parts:
        return tuple(parts)

    return Provider(
        slope_parts=slope_parts,
        join_slopes=join,
        curvature_parts=curvature_parts,
        join_curvature=join,
    )


def _symbolic_loads(loads: AnyLoads) -> tuple[Matrix, AnyLoads]:
    """Return symbols for (moment, force) of every load, stacked, and the loads made of them."""
    symbols = SX.sym("wrench", 6 * len(loads))
    parts = [symbols[6 * k : 6 * k + 6] for k in range(len(loads))]
    return symbols, tuple(
        replace(load, moment=part[:3], force=part[3:]) for load, part in zip(loads, parts)
    )


def _ground_torques(tree: Tree, q: Matrix, wrenches: Sequence[Wrench]) -> Matrix:
    """Return the generalized forces (n,) of wrenches that stay in the ground."""
    moves, total = motions(tree, q) if wrenches else (), SX(tree.dof, 1)
    for wrench in wrenches:
        total += wrench_torques(tree, moves, wrench)
    return total
