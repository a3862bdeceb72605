"""Derivatives of any tree's inverse dynamics from those of trees of single-coordinate joints.

With z the inner coordinates of a tree's chart, C = dz/dq, tau = C' tau_z, and L = multipliers . tau
= mu . tau_z, mu = C multipliers: L is a function of mu and of z, zd, zdd, each a function of q, qd,
qdd, whose own second derivatives W has (see `ocp.dynamics.derivatives.charts`).
"""

from functools import lru_cache

import casadi as ca

from ocp.dynamics.derivatives.chart_wrappers import (
    chart_turning,
    inner_torques,
    own_slopes,
    slopes_back,
)
from ocp.dynamics.derivatives.charts import INERTIA, Place, chart_of
from ocp.dynamics.derivatives.element_states import insert_blocks, insert_rows, moving_parts
from ocp.dynamics.formulation_record import Provider
from ocp.dynamics.signatures import AnyLoads, Inverse, Parts
from ocp.mechanics.elements.generalized_forces import bodies_of
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix

SX = ca.SX


@lru_cache(maxsize=64)
def charted_provider(provider: Provider, inverse: Inverse) -> Provider:
    """Return the Provider of mapped trees from that of trees of single-coordinate joints, whose
    torques are those of `inverse`."""

    def slope_parts(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()) -> Parts:
        place = chart_of(tree).at(q, qd, qdd)
        inner = provider.slope_parts(place.chart.plain, *place.motion, loads)
        turning = chart_turning(place, inverse, loads)
        return (*place.slopes, turning, *place.insert_quaternions(inner))

    def join_slopes(tree: Tree, parts: Parts) -> Parts:
        *slopes, turning = parts[:4]
        *inner, by_load = provider.join_slopes(chart_of(tree).plain, parts[4:])
        back = slopes_back(slopes, own_slopes(tree, inner), turning)
        return (*back, slopes[0].T @ _with_length_rows(tree, by_load))

    def curvature_parts(
        tree: Tree, multipliers: Matrix, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()
    ) -> Parts:
        place = chart_of(tree).at(q, qd, qdd)
        plain, count = place.chart.plain, place.count
        virtual = ca.densify(place.slope @ multipliers)
        inner = place.insert_quaternions(
            provider.curvature_parts(plain, virtual[:count], *place.motion, loads)
        )
        gradient, balls = inner[-1], SX.zeros(len(place.chart.balls))
        by_z, by_zd, by_zdd = ca.vertsplit(gradient[: 3 * count], count)
        lengths = INERTIA * virtual[count:]
        g = ca.vertcat(by_z, balls, by_zd, balls, by_zdd, lengths)  # of L, mu fixed
        torques = inner_torques(place, inverse, loads)
        total, *bends, by_q = place.work_derivatives(g, torques, multipliers)
        crossed = _cross_terms(place, provider, by_q, loads)
        terms = [bend + cross for bend, cross in zip(bends, crossed[:3])]
        terms[0] = ca.triu(terms[0] + crossed[0].T)
        whole = ca.vertcat(total, gradient[3 * count :])
        extra = (*terms, ca.triu(bends[3]), crossed[3], whole)
        return (*place.slopes, *map(ca.sparsify, extra), *inner)

    def join_curvature(tree: Tree, parts: Parts) -> Parts:
        slopes, extra, inner = parts[:3], parts[3:9], parts[9:]
        *second, _ = provider.join_curvature(chart_of(tree).plain, inner)
        back = _curvature_back(tree, slopes, second)
        terms = [own + more for own, more in zip(back, extra[:5])]
        return (ca.triu(terms[0]), terms[1], terms[2], ca.triu(terms[3]), terms[4], extra[5])

    return Provider(
        slope_parts=slope_parts,
        join_slopes=join_slopes,
        curvature_parts=curvature_parts,
        join_curvature=join_curvature,
    )


@lru_cache(maxsize=64)
def provider_beside_states(provider: Provider) -> Provider:
    """Return the Provider of trees whose elements have states from that of their bodies."""

    def slope_parts(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()) -> Parts:
        return provider.slope_parts(bodies_of(tree), *moving_parts(tree, q, qd, qdd), loads)

    def join_slopes(tree: Tree, parts: Parts) -> Parts:
        *slopes, by_load = provider.join_slopes(bodies_of(tree), parts)
        return (*(insert_blocks(tree, each) for each in slopes), insert_rows(tree, by_load))

    def curvature_parts(
        tree: Tree, multipliers: Matrix, q: Matrix, qd: Matrix, qdd: Matrix, loads: AnyLoads = ()
    ) -> Parts:
        parts = moving_parts(tree, multipliers, q, qd, qdd)
        return provider.curvature_parts(bodies_of(tree), *parts, loads)

    def join_curvature(tree: Tree, parts: Parts) -> Parts:
        bodies = bodies_of(tree)
        *second, by_load, gradient = provider.join_curvature(bodies, parts)
        ends = [k * bodies.dof for k in range(4)]
        by_q, by_qd, by_qdd, rest = ca.vertsplit(gradient, [*ends, gradient.shape[0]])
        motion = (insert_rows(tree, each) for each in (by_q, by_qd, by_qdd))
        return (
            *(insert_blocks(tree, each) for each in second),
            insert_rows(tree, by_load),
            ca.vertcat(*motion, rest),
        )

    return Provider(
        slope_parts=slope_parts,
        join_slopes=join_slopes,
        curvature_parts=curvature_parts,
        join_curvature=join_curvature,
    )


def _with_length_rows(tree: Tree, columns: Matrix) -> Matrix:
    """Return rows of the plain tree's coordinates with empty ones for lengths."""
    return ca.vertcat(columns, type(columns)(len(chart_of(tree).balls), columns.shape[1]))


def _cross_terms(place: Place, provider: Provider, by_q: Matrix, loads: AnyLoads) -> list[Matrix]:
    """Return dmu/dq' dtau_z by q, qd, qdd and the loads."""
    tree, plain = place.chart.tree, place.chart.plain
    parts = provider.slope_parts(plain, *place.motion, loads)
    *inner, by_load = provider.join_slopes(plain, parts)
    slope, rate, acceleration = place.slopes
    own = own_slopes(tree, inner)
    blocks = [
        own[0] @ slope + own[1] @ rate + own[2] @ acceleration,
        own[1] @ slope + 2 * (own[2] @ rate),
        own[2] @ slope,
        _with_length_rows(tree, by_load),
    ]
    return place.insert_quaternions([by_q.T @ block for block in blocks])


def _curvature_back(tree: Tree, slopes: tuple[Matrix, ...], second: list[Matrix]) -> list[Matrix]:
    """Return the plain tree's second derivatives by q, qd and qdd, C'H C and its like."""
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
