"""Interpolation of lifted torques and ground wrenches between the nodes: piecewise polynomials.

They run as polynomials through a few nodes, from one kink to the next: from knot to knot of the
motion and from switch to switch of contact. Wrenches run straight from node to node while several
feet bear, unless their ground says that these share smoothly: they share freely, and what is
straight between two wrenches that push, within friction and through the soles, does too. So do
torques where feet strike or leave, since a load that passes from foot to foot within a few nodes
bends them there more than the motion does. So does all where a stay closes or opens, anywhere if
the motion finds that out. But where stays bear passive joints, or contacts leave a freedom to the
root, whose law is asked for at as many instants as accelerations have freedom, all runs as
accelerations do, as the spline through its values there: any other curve would part from them in
between.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.model.tree_structure import structure
from ocp.motion.basis import Array
from ocp.motion.quadrature import quadrature
from ocp.motion.spline import SIDE, coarsest_curve
from ocp.problem.contact.complementarity import touches
from ocp.problem.contact.ground import bearing_slots
from ocp.problem.contact.transmitted_wrenches import bears_root, passive_rows
from ocp.problem.statement import Problem

STEPS = 4  # at most, that one polynomial runs over: of higher degree it would swing between them
ALIKE = 1e-9  # of the motion: instants so close are one
JUMP = 1e-6  # of the motion: nodes so close stand on either side of a jump
LEAST = 3  # points of a rule on the shortest polynomials


def torque_interpolation(problem: Problem, nodes: ArrayLike, s: ArrayLike, order: int = 0) -> Array:
    """Return the matrix (N, nodes) that takes torques at the nodes to the instants s (N,), or with
    `order` 1 to their slopes there, d/ds, at a kink from the right.

    After the last node, as before the first, all stays as it is there.
    """
    return _interpolation(problem, np.asarray(nodes, dtype=float), s, False, order)


def wrench_interpolation(problem: Problem, nodes: ArrayLike, s: ArrayLike, order: int = 0) -> Array:
    """Return the matrix (N, nodes) that takes ground wrenches at the nodes to the instants s (N,),
    or to their slopes.

    Forces of cut joints too.
    """
    return _interpolation(problem, np.asarray(nodes, dtype=float), s, True, order)


def lifted_quadrature(problem: Problem, nodes: Array) -> tuple[Array, Array]:
    """Return instants s and weights w of integrals over [0, 1] of what is lifted at the nodes.

    They are those of Gauss and Legendre on every polynomial, as many points as it has nodes.
    """
    if follows_accelerations(problem):
        motion = coarsest_curve(problem.motion)
        return quadrature(motion, "gauss", motion.degree)
    s, weights = [], []
    for members in polynomial_runs(problem, nodes, wrenches=True):
        places, shares = np.polynomial.legendre.leggauss(max(LEAST, len(members)))
        start, end = nodes[members[0]], nodes[members[-1]]
        s.append(start + (end - start) * (places + 1) / 2)
        weights.append((end - start) * shares / 2)
    return np.concatenate(s), np.concatenate(weights)


def follows_accelerations(problem: Problem) -> bool:
    """Tell whether what is lifted runs as accelerations do: around passive joints with stays or
    contacts that are sought, and over contacts that do not bear the root all along, where loops are
    open."""
    tree, ground = problem.tree, problem.ground
    if problem.motion.collocated or structure(tree).closed:
        return False
    sought = bool(tree.stays or touches(problem.loads))
    held = sought and bool(passive_rows(tree, ground))
    return held or (ground is not None and not bears_root(tree, ground))


def polynomial_runs(problem: Problem, nodes: Array, *, wrenches: bool) -> list[Array]:
    """Return the numbers of the nodes of every polynomial, whose last is the next one's first.

    They are those of `wrenches`, or else of torques.
    """
    kinked = _kink_nodes(problem, nodes, wrenches)
    ends = [0, *np.flatnonzero(kinked[1:-1]) + 1, len(nodes) - 1]
    parts = []
    for first, last in pairwise(ends):
        pieces = -(-(last - first) // STEPS)
        for steps in np.array_split(np.arange(first, last), pieces):
            parts.append(np.append(steps, steps[-1] + 1))
    return parts


def slope_instants(problem: Problem, nodes: Array) -> Array:
    """Return the instants that tell the slopes of torques: on every polynomial as many as those
    have freedom, its ends from the inside among them, or the middle of a straight piece.

    There are none where torques jump.
    """
    s = []
    for members in polynomial_runs(problem, nodes, wrenches=False):
        start, end = nodes[members[0]], nodes[members[-1]]
        if len(members) > 2:
            s.append(np.linspace(start, end - (SIDE if end < 1 else 0.0), len(members) - 1))
        elif end - start > JUMP:
            s.append(np.array([(start + end) / 2]))
    return np.concatenate(s)


def _interpolation(
    problem: Problem, nodes: Array, s: ArrayLike, wrenches: bool, order: int
) -> Array:
    motion, s = coarsest_curve(problem.motion), np.asarray(s, dtype=float)
    if motion.collocated:
        return motion.values(s, 3)[:, -len(nodes) :] if order else motion.interpolation(s, nodes)
    if follows_accelerations(problem):
        return motion.values(s, 2 + order) @ np.linalg.pinv(motion.values(nodes, 2))
    s = _snap_to_nodes(nodes, np.clip(s, nodes[0], nodes[-1]))
    weights = _lagrange_slopes if order else _lagrange
    matrix = np.zeros((len(s), len(nodes)))
    runs, places = polynomial_runs(problem, nodes, wrenches=wrenches), np.argsort(s)
    starts = np.searchsorted(s[places], [nodes[members[0]] for members in runs[1:]])
    for members, inside in zip(runs, np.split(places, starts)):  # where two meet, the second holds
        matrix[np.ix_(inside, members)] = weights(nodes[members], s[inside])
    return matrix


def _kink_nodes(problem: Problem, nodes: Array, wrenches: bool) -> Array:
    """Tell at which nodes (N,) what is lifted may have a kink."""
    ground, middles = problem.ground, (nodes[1:] + nodes[:-1]) / 2
    switches = () if ground is None else ground.switches
    alone = np.diff(nodes) < JUMP
    alone |= bool(touches(problem.loads))
    for stay in problem.tree.stays:
        alone |= (np.diff(stay.closes(nodes).astype(int)) != 0) | (stay.closed is None)
    if ground is not None and ground.sharing == "straight":
        passes_over = bool(np.isfinite([foot.bears for foot in ground.feet]).any())
        if wrenches or passes_over:
            alone |= [len(bearing_slots(ground, s)) > 1 for s in middles]
    breaks = coarsest_curve(problem.motion).breaks
    edges = np.append(breaks, switches)
    kinked = (np.abs(nodes[:, None] - edges) < ALIKE).any(axis=1)
    return kinked | np.append(alone, False) | np.append(False, alone)


def _snap_to_nodes(nodes: Array, s: Array) -> Array:
    """Return the instants s, those that are alike to a node as it is."""
    end = np.searchsorted(nodes, s).clip(1, len(nodes) - 1)
    before, after = nodes[end - 1], nodes[end]
    nearest = np.where(s - before <= after - s, before, after)
    return np.where(np.abs(nearest - s) < ALIKE, nearest, s)


def _lagrange(nodes: Array, s: Array) -> Array:
    """Return the polynomials that are 1 at one of the nodes and 0 at the others, (N, nodes)."""
    values = np.ones((len(s), len(nodes)))
    for j, node in enumerate(nodes):
        for k, other in enumerate(nodes):
            if k != j:
                values[:, j] *= (s - other) / (node - other)
    return values


def _lagrange_slopes(nodes: Array, s: Array) -> Array:
    """Return the slopes of these polynomials, (N, nodes)."""
    slopes = np.zeros((len(s), len(nodes)))
    for j, node in enumerate(nodes):
        others = np.concatenate([nodes[:j], nodes[j + 1 :]])
        for k in range(len(others)):
            rest = np.concatenate([others[:k], others[k + 1 :]])
            slopes[:, j] += np.prod(s[:, None] - rest, axis=1)
        slopes[:, j] /= np.prod(node - others)
    return slopes
