"""Derivatives of any tree's inverse dynamics from those of trees of single-coordinate joints.

With z the inner coordinates of a tree's chart, C = dz/dq, tau = C' tau_z, and L = multipliers . tau
= mu . tau_z, mu = C multipliers: L is a function of mu and of z, zd, zdd, each a function of q, qd,
qdd, whose own second derivatives W has (see `ocp.dynamics.derivatives.charts`).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import casadi as ca

from ocp.dynamics.derivatives.chart_wrappers import inner_torques, own_slopes, slopes_back, twist
from ocp.dynamics.derivatives.charts import INERTIA, Place, chart_of
from ocp.dynamics.formulation import Provider
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

SX = ca.SX


@lru_cache(maxsize=64)
def provided(provider: Provider, inverse: Callable[..., Matrix]) -> Provider:
    """Return the Provider of mapped trees from that of trees of single-coordinate joints, whose
    torques are those of `inverse`."""

    def slope_parts(tree, q, qd, qdd, loads=()):
        place = chart_of(tree).at(q, qd, qdd)
        inner = provider.slope_parts(place.chart.plain, *place.motion, loads)
        return (*place.slopes, twist(place, inverse, loads), *place.home(inner))

    def join_slopes(tree, parts):
        *slopes, turning = parts[:4]
        *inner, by_load = provider.join_slopes(chart_of(tree).plain, parts[4:])
        back = slopes_back(slopes, own_slopes(tree, inner), turning)
        return (*back, slopes[0].T @ _padded(tree, by_load))

    def curvature_parts(tree, multipliers, q, qd, qdd, loads=()):
        place = chart_of(tree).at(q, qd, qdd)
        virtual = ca.densify(place.slope @ multipliers)
        held = provider.curvature_parts(
            place.chart.plain, virtual[: place.count], *place.motion, loads
        )
        inner = place.home(held)
        gradient = inner[-1]
        torques = inner_torques(place, inverse, loads)
        g = _with_lengths(place, gradient, virtual)
        total, *bends, by_q = place.bends(g, torques, multipliers)
        crossed = _crossed(tree, place, provider, by_q, loads)
        terms = [bend + cross for bend, cross in zip(bends, crossed[:3])]
        terms[0] = ca.triu(terms[0] + crossed[0].T)
        loaded = gradient[3 * place.count :]
        whole = ca.vertcat(total, loaded)
        extra = (*terms, ca.triu(bends[3]), crossed[3], whole)
        return (*place.slopes, *map(ca.sparsify, extra), *inner)

    def join_curvature(tree, parts):
        slopes, extra, inner = parts[:3], parts[3:9], parts[9:]
        *second, _ = provider.join_curvature(chart_of(tree).plain, inner)
        back = _curved(tree, slopes, second)
        terms = [own + more for own, more in zip(back, extra[:5])]
        return (ca.triu(terms[0]), terms[1], terms[2], ca.triu(terms[3]), terms[4], extra[5])

    return Provider(
        slope_parts=slope_parts,
        join_slopes=join_slopes,
        curvature_parts=curvature_parts,
        join_curvature=join_curvature,
    )


def _padded(tree: Tree, columns: Matrix) -> Matrix:
    """Return rows of the plain tree's coordinates with empty ones for lengths."""
    return ca.vertcat(columns, type(columns)(len(chart_of(tree).balls), columns.shape[1]))


def _with_lengths(place: Place, gradient: Matrix, virtual: Matrix) -> Matrix:
    """Return the gradient (3 m,) of L by z, zd and zdd, mu fixed, lengths with them."""
    count, balls = place.count, len(place.chart.balls)
    by_q, by_qd, by_qdd = ca.vertsplit(gradient[: 3 * count], count)
    return ca.vertcat(
        by_q, SX.zeros(balls), by_qd, SX.zeros(balls), by_qdd, INERTIA * virtual[count:]
    )


def _crossed(
    tree: Tree, place: Place, provider: Provider, by_q: Matrix, loads: Sequence[Any]
) -> list[Matrix]:
    """Return dmu/dq' dtau_z by q, qd, qdd and the loads."""
    plain = place.chart.plain
    parts = provider.join_slopes(plain, provider.slope_parts(plain, *place.motion, loads))
    *inner, by_load = parts
    slope, rate, acceleration = place.slopes
    own = own_slopes(tree, inner)
    blocks = [
        own[0] @ slope + own[1] @ rate + own[2] @ acceleration,
        own[1] @ slope + 2 * (own[2] @ rate),
        own[2] @ slope,
        _padded(tree, by_load),
    ]
    return place.home([by_q.T @ block for block in blocks])


def _curved(tree: Tree, slopes: Sequence[Matrix], second: Sequence[Matrix]) -> list[Matrix]:
    """Return a'H a and its like: what the plain tree's second derivatives are by q, qd and qdd, as
    SX or MX."""
    count = chart_of(tree).plain.dof
    slope, rate, acceleration = (part[:count, :] for part in slopes)
    upper_qq, by_q_qd, by_q_qdd, upper_qd_qd, by_q_load = second
    by_qq, by_qd_qd = (ca.triu2symm(part) for part in (upper_qq, upper_qd_qd))
    half = slope.T @ (by_qq @ slope) / 2 + slope.T @ (by_q_qd @ rate + by_q_qdd @ acceleration)
    half += rate.T @ (by_qd_qd @ rate) / 2
    across = slope.T @ (by_q_qd @ slope + 2 * (by_q_qdd @ rate)) + rate.T @ (by_qd_qd @ slope)
    return [
        half + half.T,
        across,
        slope.T @ (by_q_qdd @ slope),
        slope.T @ (by_qd_qd @ slope),
        slope.T @ by_q_load,
    ]
