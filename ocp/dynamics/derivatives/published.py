"""The provider that takes a formulation's own published recursion for first derivatives, and
automatic differentiation for second ones."""

from dataclasses import replace

import casadi as ca

from ocp.dynamics.derivatives.chart_wrappers import parted
from ocp.dynamics.formulation import Formulation, Provider
from ocp.mechanics.kinematics.kinematics import motions, wrench_torques

SX = ca.SX


def published(formulation: Formulation) -> Provider:
    """Return the Provider of a formulation's own `sensitivity`; raise ValueError if it has none."""
    if formulation.sensitivity is None:
        raise ValueError(
            f"derivatives 'published': formulation {formulation.name!r} has no sensitivities of "
            "its own"
        )

    def slope_parts(tree, q, qd, qdd, loads=()):
        wrenches, symbols = _symbolic(loads)
        by_load = ca.jacobian(
            _torques(formulation, tree, q, qd, qdd, symbols), wrenches
        )  # tau is linear in loads
        carried, held = parted(loads)
        at = SX.sym("q", tree.dof)
        by_place = ca.substitute(ca.jacobian(_held(tree, at, held), at), at, q)
        by_q, by_qd, by_qdd = formulation.sensitivity(tree, q, qd, qdd, carried)
        return by_q - by_place, by_qd, by_qdd, by_load

    def curvature_parts(tree, multipliers, q, qd, qdd, loads=()):
        n, (wrenches, symbols) = tree.dof, _symbolic(loads)
        motion = [SX.sym(name, n) for name in ("q", "qd", "qdd")]
        place = ca.vertcat(*motion, wrenches)
        hessian, gradient = ca.hessian(
            ca.dot(multipliers, _torques(formulation, tree, *motion, symbols)), place
        )
        values = ca.vertcat(
            q,
            qd,
            qdd,
            *(
                SX(part[k])
                for load in loads
                for part in (load.moment, load.force)
                for k in range(3)
            ),
        )
        hessian, gradient = ca.substitute([hessian, gradient], [place], [ca.densify(values)])
        a, b, c, d = slice(0, n), slice(n, 2 * n), slice(2 * n, 3 * n), slice(3 * n, place.shape[0])
        return (
            ca.triu(hessian[a, a]),
            hessian[a, b],
            hessian[a, c],
            ca.triu(hessian[b, b]),
            hessian[a, d],
            gradient,
        )

    return Provider(
        slope_parts=slope_parts,
        join_slopes=_as_they_are,
        curvature_parts=curvature_parts,
        join_curvature=_as_they_are,
    )


def _symbolic(loads):
    """Return symbols for (moment, force) of every load, stacked, and the loads made of them."""
    wrenches = SX.sym("wrench", 6 * len(loads))
    parts = [wrenches[6 * k : 6 * k + 6] for k in range(len(loads))]
    return wrenches, tuple(
        replace(load, moment=part[:3], force=part[3:]) for load, part in zip(loads, parts)
    )


def _torques(formulation, tree, q, qd, qdd, loads):
    """Return the joint torques (n,) that the motion needs beside loads and wrenches."""
    carried, held = parted(loads)
    return formulation.inverse(tree, q, qd, qdd, carried) - _held(tree, q, held)


def _held(tree, q, wrenches):
    """Return the generalized forces (n,) of wrenches that stay in the ground."""
    moves, total = motions(tree, q) if wrenches else (), SX(tree.dof, 1)
    for wrench in wrenches:
        total += wrench_torques(tree, moves, wrench)
    return total


def _as_they_are(tree, parts):
    return tuple(parts)
