"""Functions of single-coordinate trees made functions of any: what they need goes in by a tree's
chart, what they give comes back by it (see `ocp.dynamics.derivatives.charts`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any

import casadi as ca

from ocp.dynamics.derivatives.charts import INERTIA, Place, chart_of
from ocp.dynamics.from_inverse import mixed
from ocp.mechanics.kinematics.kinematics import motions, wrench_torques
from ocp.mechanics.model.loads import Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

SX = ca.SX


def _numbers(*values: Any) -> bool:
    """Tell whether matrices, or lists of entries, are numbers."""
    parts = (ca.vertcat(*value) if isinstance(value, list) else value for value in values)
    return all(isinstance(part, ca.DM) for part in parts)


def _evaluated(parts: Any, numbers: bool) -> Any:
    """Return expressions as numbers where they are."""
    if not numbers:
        return parts
    return [ca.evalf(part) if part.is_constant() else part for part in parts]


@lru_cache(maxsize=256)
def inverse_of_any(inverse: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Return inverse dynamics of any tree from those of trees of single-coordinate joints."""
    if hasattr(inverse, "linear") or hasattr(inverse, "of_any"):
        return inverse  # tables are of one tree, and refuse what they do not know

    @wraps(inverse)
    def of_any(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Any] = ()) -> Matrix:
        if not tree.mapped:
            return inverse(tree, q, qd, qdd, loads)
        place = chart_of(tree).at(q, qd, qdd)
        torques = inner_torques(place, inverse, loads)
        return _evaluated([place.slope.T @ torques], _numbers(q, qd, qdd))[0]

    of_any.of_any = True  # type: ignore[attr-defined]
    return of_any


def inner_torques(place: Place, inverse: Callable[..., Matrix], loads: Sequence[Any]) -> Matrix:
    """Return the generalized forces (m,) of inner coordinates beside `loads`, wrenches that stay in
    the ground among them."""
    plain, carried, held = place.chart.plain, *parted(loads)
    inner = inverse(plain, *place.motion, carried)
    moves = motions(plain, place.motion[0]) if held else ()
    for wrench in held:
        inner = inner - wrench_torques(plain, moves, wrench)
    return ca.vertcat(*place.home([inner]), place.radial)


def parted(loads: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the loads, and the wrenches that stay in the ground."""
    carried, held = (
        tuple(load for load in loads if isinstance(load, Wrench) == stays)
        for stays in (False, True)
    )
    return carried, held


@lru_cache(maxsize=256)
def reactions_of_any(reactions: Callable[..., Any]) -> Callable[..., Any]:
    """Return joint reactions of any tree, of a ball those of its last turn."""
    if hasattr(reactions, "of_any"):
        return reactions

    @wraps(reactions)
    def of_any(
        tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Any] = ()
    ) -> tuple[Matrix, Matrix]:
        if not tree.mapped:
            return reactions(tree, q, qd, qdd, loads)
        place = chart_of(tree).at(q, qd, qdd)
        chart, passed = place.chart, reactions(place.chart.plain, *place.motion, loads)
        moment, force = (part[:, list(chart.links)] for part in place.home(passed))
        moment, force = _evaluated([moment, force], _numbers(q, qd, qdd))
        return moment, force

    of_any.of_any = True  # type: ignore[attr-defined]
    return of_any


@lru_cache(maxsize=256)
def sensitivity_of_any(sensitivity: Callable, inverse: Callable) -> Callable:
    """Return the slopes of inverse dynamics of any tree."""
    if hasattr(sensitivity, "of_any"):
        return sensitivity

    @wraps(sensitivity)
    def of_any(
        tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: Sequence[Any] = ()
    ) -> tuple[Matrix, ...]:
        if not tree.mapped:
            return sensitivity(tree, q, qd, qdd, loads)
        place = chart_of(tree).at(q, qd, qdd)
        inner = place.home(sensitivity(place.chart.plain, *place.motion, loads))
        parts = slopes_back(place.slopes, own_slopes(tree, inner), twist(place, inverse, loads))
        return tuple(_evaluated(parts, _numbers(q, qd, qdd)))

    of_any.of_any = True  # type: ignore[attr-defined]
    return of_any


def own_slopes(tree: Tree, slopes: Sequence[Matrix]) -> tuple[Matrix, Matrix, Matrix]:
    """Return slopes (m, m) of inner torques by inner coordinates, rates and accelerations from
    those of the plain tree, those of lengths with them."""
    count, kind = len(chart_of(tree).balls), type(slopes[0])
    empty, inertia = kind(count, count), INERTIA * kind.eye(count)
    by_q, by_qd, by_qdd = (
        ca.diagcat(part, tail) for part, tail in zip(slopes, (empty, empty, inertia))
    )
    return by_q, by_qd, by_qdd


def twist(place: Place, inverse: Callable[..., Matrix], loads: Sequence[Any]) -> Matrix:
    """Return how C' turns under the inner torques: d(C' torques)/dq (n, n)."""
    torques = inner_torques(place, inverse, loads)
    m, n = torques.shape[0], place.q.shape[0]
    nothing = SX.zeros(3 * m)
    nothing[:m] = torques
    return place.bends(nothing, SX.zeros(m), SX.zeros(n))[1]


def slopes_back(
    slopes: Sequence[Matrix], inner: Sequence[Matrix], turning: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau/dq, dtau/dqd, dtau/dqdd (n, n) from those of inner torques (m, m), as SX or MX.

    `slopes` are C, dzd/dq and dzdd/dq (m, n), `turning` d(C' torques)/dq (n, n).
    """
    by_place, by_rate, by_acceleration = slopes
    first = inner[0] @ by_place + inner[1] @ by_rate + inner[2] @ by_acceleration
    second = inner[1] @ by_place + 2 * (inner[2] @ by_rate)
    return (
        by_place.T @ first + turning,
        by_place.T @ second,
        by_place.T @ (inner[2] @ by_place),
    )


def hybrid_of_any(hybrid: Callable) -> Callable:
    """Return accelerations and torques of any tree from one of the two at every joint."""

    @wraps(hybrid)
    def of_any(
        tree: Tree,
        q: Matrix,
        qd: Matrix,
        known: Matrix,
        active: Sequence[bool],
        loads: Sequence[Any] = (),
    ) -> tuple[Matrix, Matrix]:
        if not tree.mapped:
            return hybrid(tree, q, qd, known, active, loads)
        kinds, exact = (
            set(map(bool, active)),
            _numbers(q, qd, ca.DM(0, 1) if known is None else known),
        )
        known = ca.densify(SX(ca.vertcat(*known) if isinstance(known, list) else known))
        place = chart_of(tree).at(q, qd, SX.zeros(tree.dof))

        def inverse(plain, z, zd, zdd, loads):
            return hybrid(plain, z, zd, zdd, (True,) * plain.dof, loads)[1]

        if kinds == {True}:
            moving = chart_of(tree).at(q, qd, known)
            parts = known, moving.slope.T @ inner_torques(moving, inverse, loads)
        elif kinds == {False} and place.chart.square:
            parts = _released(place, hybrid, known, loads), known
        else:
            bias = place.slope.T @ inner_torques(place, inverse, loads)
            parts = mixed(_mass(place, inverse), bias, known, active)
        accelerations, torques = _evaluated(list(parts), exact)
        return accelerations, torques

    return of_any


def _released(place, hybrid, torques, loads):
    """Return the accelerations (n,) under torques (n,) of a tree without followers."""
    count, plain = place.count, place.chart.plain
    inner = ca.densify(place.inverse_slope.T @ torques)
    z, zd, _ = place.motion
    turning = place.home([hybrid(plain, z, zd, inner[:count], (False,) * count, loads)[0]])[0]
    accelerations = ca.vertcat(turning, inner[count:] / INERTIA)
    return ca.densify(place.inverse_slope @ (accelerations - place.drift()))


def _mass(place, inverse):
    """Return the mass matrix (n, n)."""
    plain = replace(place.chart.plain, gravity=(0.0, 0.0, 0.0))
    rest, kick = SX.zeros(plain.dof), SX.sym("kick", plain.dof)
    inner = ca.jacobian(inverse(plain, place.motion[0], rest, kick, ()), kick)
    return mass_back(place, place.home([inner])[0])


def mass_back(place: Place, inner: Matrix) -> Matrix:
    """Return the mass matrix (n, n) from that of the plain tree."""
    lengths = INERTIA * SX.eye(len(place.chart.balls))
    return place.slope.T @ ca.diagcat(inner, lengths) @ place.slope


def mass_of_any(mass_matrix: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Return the mass matrix of any tree."""

    @wraps(mass_matrix)
    def of_any(tree: Tree, q: Matrix) -> Matrix:
        if not tree.mapped:
            return mass_matrix(tree, q)
        still = SX.zeros(tree.dof)
        place = chart_of(tree).at(q, still, still)
        inner = place.home([mass_matrix(place.chart.plain, place.motion[0])])[0]
        return _evaluated([mass_back(place, inner)], _numbers(q))[0]

    return of_any
