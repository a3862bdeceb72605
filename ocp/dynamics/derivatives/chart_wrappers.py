"""Functions of single-coordinate trees extended to trees with balls and followers.

Arguments go in by a tree's chart, results come back by it (see `ocp.dynamics.derivatives.charts`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, wraps
from typing import TypeAlias

import casadi as ca

from ocp.dynamics.derivatives.charts import INERTIA, Place, chart_of
from ocp.dynamics.derivatives.element_states import insert_blocks, insert_rows, moving_parts
from ocp.dynamics.forward_from_inverse import solve_mixed
from ocp.dynamics.signatures import AnyLoads, Inverse, Loads, Reactions, Slopes
from ocp.mechanics.elements.generalized_forces import bodies_of
from ocp.mechanics.kinematics.kinematics import motions, wrench_torques
from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

SX = ca.SX
Results: TypeAlias = tuple[Matrix, ...]


def _are_numbers(*values: Matrix) -> bool:
    """Tell whether matrices, or lists of entries, are numbers."""
    parts = (ca.vertcat(*value) if isinstance(value, list) else value for value in values)
    return all(isinstance(part, ca.DM) for part in parts)


def _evaluate(parts: Sequence[Matrix]) -> Results:
    """Return expressions as numbers where they are."""
    return tuple(ca.evalf(part) if part.is_constant() else part for part in parts)


def _extend_function(
    function: Callable[..., Matrix],
    of_mapped: Callable[[Place, AnyLoads], Results],
    insert: Callable[[Tree, Matrix], Matrix] = lambda tree, result: result,
) -> Callable[..., Matrix]:
    """Return a function of motions and loads that takes any tree, `of_mapped` those with charts;
    `insert` the states of elements into a result.

    A function of one result returns it as it is, others a tuple.
    """
    if hasattr(function, "extended"):
        return function

    @wraps(function)
    def call(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()) -> Matrix:
        bodies = bodies_of(tree) if tree.states else tree
        q, qd, qdd = moving_parts(tree, q, qd, qdd) if tree.states else (q, qd, qdd)
        results: Matrix | Results
        if tree.mapped:
            parts = of_mapped(chart_of(bodies).at(q, qd, qdd), loads)
            parts = _evaluate(parts) if _are_numbers(q, qd, qdd) else parts
            results = parts if len(parts) > 1 else parts[0]
        else:
            results = function(bodies, q, qd, qdd, loads)
        if not tree.states:
            return results
        if isinstance(results, tuple):
            return tuple(insert(tree, result) for result in results)
        return insert(tree, results)

    call.extended = True  # type: ignore[attr-defined]
    return call


@lru_cache(maxsize=256)
def extend_inverse(inverse: Inverse) -> Inverse:
    """Return inverse dynamics of any tree from those of trees of single-coordinate joints."""
    if hasattr(inverse, "linear"):
        return inverse  # tables are of one tree, and refuse what they do not know

    def of_mapped(place: Place, loads: AnyLoads) -> Results:
        return (place.slope.T @ inner_torques(place, inverse, loads),)

    return _extend_function(inverse, of_mapped, insert_rows)


def inner_torques(place: Place, inverse: Inverse, loads: AnyLoads) -> Matrix:
    """Return the generalized forces (m,) of inner coordinates beside `loads`, wrenches that stay in
    the ground among them."""
    plain, (carried, wrenches) = place.chart.plain, split_loads(loads)
    inner = inverse(plain, *place.motion, carried)
    moves = motions(plain, place.motion[0]) if wrenches else ()
    for wrench in wrenches:
        inner = inner - wrench_torques(plain, moves, wrench)
    return ca.vertcat(*place.insert_quaternions([inner]), place.radial)


def split_loads(loads: AnyLoads) -> tuple[Loads, tuple[Wrench, ...]]:
    """Return the loads that go with links, and the wrenches that stay in the ground."""
    return (
        tuple(load for load in loads if isinstance(load, Load)),
        tuple(load for load in loads if isinstance(load, Wrench)),
    )


@lru_cache(maxsize=256)
def extend_reactions(reactions: Callable[..., Reactions]) -> Callable[..., Reactions]:
    """Return joint reactions of any tree, of a ball those of its last turn."""

    def of_mapped(place: Place, loads: AnyLoads) -> Results:
        parts = place.insert_quaternions(reactions(place.chart.plain, *place.motion, loads))
        return tuple(part[:, list(place.chart.links)] for part in parts)

    return _extend_function(reactions, of_mapped)


@lru_cache(maxsize=256)
def extend_sensitivity(
    sensitivity: Callable[..., Slopes], inverse: Inverse
) -> Callable[..., Slopes]:
    """Return the slopes of inverse dynamics of any tree."""

    def of_mapped(place: Place, loads: AnyLoads) -> Results:
        parts = place.insert_quaternions(sensitivity(place.chart.plain, *place.motion, loads))
        inner = own_slopes(place.chart.tree, parts)
        return slopes_back(place.slopes, inner, chart_turning(place, inverse, loads))

    return _extend_function(sensitivity, of_mapped, insert_blocks)


def own_slopes(tree: Tree, slopes: Sequence[Matrix]) -> Slopes:
    """Return slopes (m, m) of inner torques by inner coordinates, rates and accelerations from
    those of the plain tree, those of lengths with them."""
    count, kind = len(chart_of(tree).balls), type(slopes[0])
    empty, inertia = kind(count, count), INERTIA * kind.eye(count)
    by_q, by_qd, by_qdd = (
        ca.diagcat(part, tail) for part, tail in zip(slopes, (empty, empty, inertia))
    )
    return by_q, by_qd, by_qdd


def chart_turning(place: Place, inverse: Inverse, loads: AnyLoads) -> Matrix:
    """Return d(C' torques)/dq (n, n), the inner torques fixed."""
    torques = inner_torques(place, inverse, loads)
    m, n = torques.shape[0], place.q.shape[0]
    nothing = SX.zeros(3 * m)
    nothing[:m] = torques
    return place.work_derivatives(nothing, SX.zeros(m), SX.zeros(n))[1]


def slopes_back(slopes: Sequence[Matrix], inner: Sequence[Matrix], turning: Matrix) -> Slopes:
    """Return dtau/dq, dtau/dqd, dtau/dqdd (n, n) from those of inner torques, as SX or MX.

    Args:
        slopes: C, dzd/dq and dzdd/dq, (m, n) each.
        inner: slopes of the inner torques by z, zd and zdd, (m, m) each.
        turning: d(C' torques)/dq, (n, n).
    """
    by_place, by_rate, by_acceleration = slopes
    first = inner[0] @ by_place + inner[1] @ by_rate + inner[2] @ by_acceleration
    second = inner[1] @ by_place + 2 * (inner[2] @ by_rate)
    return (
        by_place.T @ first + turning,
        by_place.T @ second,
        by_place.T @ (inner[2] @ by_place),
    )


def extend_hybrid(hybrid: Callable[..., Reactions]) -> Callable[..., tuple[Matrix, Matrix]]:
    """Return accelerations and torques of any tree from one of the two at every joint."""

    def inverse(plain: Tree, z: Matrix, zd: Matrix, zdd: Matrix, loads: Loads) -> Matrix:
        return hybrid(plain, z, zd, zdd, (True,) * plain.dof, loads)[1]

    @wraps(hybrid)
    def call(
        tree: Tree,
        q: Matrix,
        qd: Matrix,
        known: Matrix,
        active: Sequence[bool],
        loads: AnyLoads = (),
    ) -> tuple[Matrix, Matrix]:
        if not tree.mapped:
            return hybrid(tree, q, qd, known, active, loads)
        exact = _are_numbers(q, qd, ca.DM(0, 1) if known is None else known)
        known = ca.densify(SX(ca.vertcat(*known) if isinstance(known, list) else known))
        place, kinds = chart_of(tree).at(q, qd, SX.zeros(tree.dof)), set(map(bool, active))
        if kinds == {True}:
            moving = chart_of(tree).at(q, qd, known)
            parts = known, moving.slope.T @ inner_torques(moving, inverse, loads)
        elif kinds == {False} and place.chart.square:
            parts = _accelerations(place, hybrid, known, loads), known
        else:
            bias = place.slope.T @ inner_torques(place, inverse, loads)
            plain = replace(place.chart.plain, gravity=(0.0, 0.0, 0.0))
            rest, kick = SX.zeros(plain.dof), SX.sym("kick", plain.dof)
            inner = ca.jacobian(inverse(plain, place.motion[0], rest, kick, ()), kick)
            parts = solve_mixed(_mass_back(place, inner), bias, known, active)
        accelerations, torques = _evaluate(parts) if exact else parts
        return accelerations, torques

    return call


def _accelerations(
    place: Place, hybrid: Callable[..., Reactions], torques: Matrix, loads: AnyLoads
) -> Matrix:
    """Return the accelerations (n,) under torques (n,) of a tree without followers."""
    count, plain = place.count, place.chart.plain
    inner = ca.densify(place.inverse_slope.T @ torques)
    z, zd, _ = place.motion
    turning = hybrid(plain, z, zd, inner[:count], (False,) * count, loads)[0]
    accelerations = ca.vertcat(*place.insert_quaternions([turning]), inner[count:] / INERTIA)
    return ca.densify(place.inverse_slope @ (accelerations - place.drift()))


def _mass_back(place: Place, inner: Matrix) -> Matrix:
    """Return the mass matrix (n, n) from that of the plain tree."""
    lengths = INERTIA * SX.eye(len(place.chart.balls))
    blocks = ca.diagcat(*place.insert_quaternions([inner]), lengths)
    return place.slope.T @ blocks @ place.slope


def extend_mass_matrix(mass_matrix: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Return the mass matrix of any tree."""

    @wraps(mass_matrix)
    def call(tree: Tree, q: Matrix) -> Matrix:
        if not tree.mapped:  # which leaves rows and columns of states empty
            return mass_matrix(tree, q)
        bodies = bodies_of(tree) if tree.states else tree
        (q,) = moving_parts(tree, q) if tree.states else (q,)
        still = SX.zeros(bodies.dof)
        place = chart_of(bodies).at(q, still, still)
        mass = _mass_back(place, mass_matrix(place.chart.plain, place.motion[0]))
        mass = _evaluate([mass])[0] if _are_numbers(q) else mass
        return insert_blocks(tree, mass) if tree.states else mass

    return call
