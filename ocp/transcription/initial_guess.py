"""The first guess of an NLP: the straightest motion, its loops closed, and feet that share the
weight."""

from collections.abc import Iterable
from typing import cast

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS
from ocp.mechanics.elements.generalized_forces import state_needs, states_at_rest
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.motion.quadrature import quadrature
from ocp.motion.spline import BSpline, curve_matrix
from ocp.problem.contact.complementarity import touches
from ocp.problem.contact.transmitted_wrenches import transmissions
from ocp.problem.statement import Problem
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.motion_traces import trace
from ocp.transcription.laws.loop_laws import close_loops
from ocp.transcription.variables.layout import (
    Layout,
    free_duration,
    join_variables,
    motion_inputs,
    points_of_curves,
)

SHORT = 0.3  # length of a quaternion below which a guess leaves the straight way
POSTURES = 41  # along a motion, in which elements rest
PULL = 1e-9  # toward the coordinates at which no joint turns or slides
# Of balls by the end of the motion, in no plane of symmetry: a limb that hangs straight has no side
# to which it would rather swing, and searches from there end where the objective falls aside
LEAN = 1e-6 * np.array([[1.0], [0.618], [0.382]])


def straight_guess(layout: Layout, groups: Iterable[Group]) -> np.ndarray:
    """Return x of the motion of least integral |dq/ds|^2 that meets the linear equalities, its
    loops then closed, at the geometric mean of the duration's bounds, with what is lifted as
    `lifted_guess` says."""
    problem = layout.problem
    n, count = problem.tree.dof, problem.motion.points
    equalities = [_linear_equalities(group, layout) for group in groups]
    lines = np.vstack([np.empty((0, n * count)), *(lines for lines, _ in equalities)])
    values = np.concatenate([np.empty(0), *(values for _, values in equalities)])
    rest = np.repeat(np.array([problem.tree.neutral]).T, count, axis=1)
    for _, *turns in problem.tree.balls:
        rest[turns] += LEAN * np.linspace(0.0, 1.0, count) ** 2
    change = _least_change(problem, lines, values - lines @ rest.ravel(order="F"))
    own = rest + np.reshape(change, (n, count), order="F")
    own = points_of_curves(problem.motion, own) if problem.motion.curves else own
    points = normalise_quaternions(problem.tree, own)
    points = close_loops(problem, points) if problem.tree.loops else points
    points = rest_states(problem, points) if problem.tree.states else points
    T = np.sqrt(np.prod(problem.duration))
    lifted = lifted_guess(layout, points, T) if layout.lifts else None
    return join_variables(layout, points, T, lifted)


def _least_change(problem: Problem, lines: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Return changes x (n points,) of control points from rest that bring `lines` x next to `off`
    (rows,), of all such those of least x' K x: the integral |dq/ds|^2 ds and a pull on points of
    the motion. Points of coordinates' own curves stand first in each row.

    K is banded and nearly singular: the integral leaves out how far a curve moves as a whole, here
    its first point u = e' x. Then x = (K + e e')^-1 (e u - lines' y) where K x + lines' y = 0, and
    what is left are equations of u and y alone.
    """
    n, count = problem.tree.dof, problem.motion.points
    s, weight = quadrature(problem.motion, "gauss", problem.motion.degree)
    slope = ca.sparsify(ca.DM(np.sqrt(weight)[:, None] * problem.motion.values(s, 1)))
    matrix = slope.T @ slope + PULL * ca.DM.eye(count)
    size = np.linalg.norm(lines, axis=1)
    size[size == 0.0] = 1.0  # of rows without points
    lines, off = lines / size[:, None], off / size
    changes, whole, pulls = np.zeros(lines.shape), np.zeros((n * count, n)), np.zeros(n)
    motion = cast(BSpline, problem.motion)
    own = [*motion.rows_by_curve.items()] if motion.curves else [(motion, np.arange(n))]
    for curve, rows in own:
        points = curve.points  # of its own, from which `spread` makes the motion's
        spread = ca.DM(curve_matrix(motion, curve)) if motion.curves else ca.DM.eye(count)
        first = ca.DM.triplet([0], [0], [1.0], points, points)
        factors = ca.ldl(ca.sparsify(spread.T @ matrix @ spread) + first)
        pulled = np.array(ca.ldl_solve(PULL * ca.sum1(spread).T, *factors)).ravel()
        for row in rows:
            place = np.arange(points) * n + row
            changes[:, place] = np.array(ca.ldl_solve(ca.DM(lines[:, place].T), *factors)).T
            whole[place, row], pulls[row] = 1.0 - pulled, pulled[0]
    moved = lines @ whole
    system = np.block([[np.diag(pulls), moved.T], [moved, -lines @ changes.T]])
    u, y = np.split(np.linalg.lstsq(system, np.append(np.zeros(n), off), rcond=None)[0], [n])
    return whole @ u - y @ changes


def rest_states(problem: Problem, points: np.ndarray) -> np.ndarray:
    """Return points (n, N) of a motion whose elements' states are where they are at rest in its
    postures."""
    tree, motion = problem.tree, problem.motion
    if not tree.states:
        return points
    s = np.linspace(0.0, 1.0, POSTURES)
    known = states_at_rest(tree, points @ motion.values(s).T)

    def curve(at: np.ndarray, order: int = 0) -> np.ndarray:
        values = np.array([np.interp(at, s, line) for line in known])
        return values if order == 0 else np.zeros_like(values)

    settled = np.array(points)
    settled[list(tree.states)] = motion.through(curve, rough=True)
    return settled


def normalise_quaternions(tree: Tree, points: np.ndarray) -> np.ndarray:
    """Return points (n, N) whose quaternions have length one, none of them zero: what passes near
    that turns on the way by one of the axes x, y, z."""
    points = np.array(points)
    for rows in map(list, tree.balls):
        part = points[rows]
        length = np.linalg.norm(part, axis=0)
        aside = np.eye(4)[1 + np.argmin(np.abs(part[1:]).max(axis=1))][:, None]
        part = np.where(length < SHORT, part + aside, part)
        points[rows] = part / np.linalg.norm(part, axis=0)
    return points


def _linear_equalities(group: Group, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Return the lines (rows, n points) and values (rows,) of a group's equalities that are linear
    in control points."""
    rows = group.lines
    bounds = [(owner.lower_of(number), owner.upper_of(number)) for owner, number in group.owners]
    goal = np.array([lower if lower == upper else np.nan for lower, upper in bounds])
    goal = goal[:, None] - rows.constant
    chosen = rows.known & group.active & np.isfinite(goal) & (rows.count > 0)
    index = np.full(chosen.shape, -1)
    index.T[chosen.T] = np.arange(chosen.sum())
    dense = np.zeros((chosen.sum(), layout.size))
    wanted = chosen[rows.row, rows.instant]
    line = index[rows.row, rows.instant][wanted]
    dense[line, rows.variable[wanted]] = rows.coefficient[wanted]
    first, problem = free_duration(layout.problem), layout.problem
    points = slice(first, first + problem.tree.dof * problem.motion.points)
    known = dense[:, layout.parameters] @ np.array([*layout.values.values()])
    return dense[:, points], goal.T[chosen.T] - known


def lifted_guess(layout: Layout, points: np.ndarray, T: float) -> np.ndarray:
    """Return lifted quantities (width, N) for a spline of control points (n, points) and duration T
    (s): around loops what drives and cut joints must give where that is determined, otherwise
    `static_forces`."""
    problem, shape = layout.problem, structure(layout.problem.tree)
    bound = problem.ground is None and not problem.motion.collocated and shape.determined
    bound &= not (problem.tree.stays or touches(problem.loads))
    if not (shape.closed and layout.lifts and bound):
        return static_forces(layout)
    drives, cuts = list(shape.drives), list(shape.cuts)
    look = trace(
        problem,
        FORMULATIONS["newton_euler"],
        lambda at: ca.vertcat(at.tau[drives], at.loop_forces[cuts]),
    )
    return look(motion_inputs(problem, points, T, layout.nodes), layout.nodes)


def static_forces(layout: Layout) -> np.ndarray:
    """Return lifted quantities (width, N) with no torques, controls of elements' states as these
    need them at rest, and the weight shared equally by the feet that bear."""
    problem, shape = layout.problem, structure(layout.problem.tree)
    lifted, rows = np.zeros(layout.place.shape), shape.internal
    if problem.tree.states and layout.lifts:
        needs = state_needs(problem.tree, ca.DM(problem.tree.neutral), ca.DM(problem.tree.dof, 1))
        for place, row in enumerate(shape.drives):
            lifted[place] = float(needs[row])
    for touch in touches(problem.loads) if len(layout.nodes) else ():
        lifted[rows] = body_weight(problem.tree) / len(touches(problem.loads))
        rows += touch.size
    if problem.ground is None or not len(layout.nodes):
        return lifted
    given = transmissions(problem.tree, problem.ground)
    size = len(given), 6, len(layout.nodes)
    present = np.any((layout.place[rows:] >= 0).reshape(size), axis=1)
    gravity = np.array(problem.tree.gravity)
    strength = max(float(np.linalg.norm(gravity)), 1e-12)
    push = -gravity * body_weight(problem.tree) / strength
    for k, each in enumerate(given):
        share = present[k] / np.maximum(present.sum(axis=0), 1)
        along = push if each.axes is None else np.array(each.axes).T @ push
        lifted[rows + 6 * k + 3 : rows + 6 * k + 6] = along[:, None] * share
    return lifted
