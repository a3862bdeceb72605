"""The first guess of an NLP: the straightest motion, its loops closed, and feet that share the weight."""

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS
from ocp.mechanics.structure import structure
from ocp.mechanics.zero_moment import body_weight
from ocp.motion.mesh import Mesh, basis
from ocp.motion.spline import quadrature
from ocp.problem.ground import slots
from ocp.transcription.kernels import trace
from ocp.transcription.loop_laws import closed_points
from ocp.transcription.rows import linear_rows
from ocp.transcription.variables import free_duration, join, kernel_inputs


def straight_guess(layout, groups):
    """Return x of the motion of least integral |dq/ds|^2 that meets the linear equalities, its loops then closed, at the geometric mean of the
    duration's bounds, with what is lifted as `first_lifted` says."""
    problem = layout.problem
    n, points, free = problem.tree.dof, problem.motion.points, free_duration(problem)
    s, weight = quadrature(problem.motion, "gauss", problem.motion.degree)
    slope = basis(problem.motion, s, 1)
    stiffness = np.kron(slope.T @ (weight[:, None] * slope) + 1e-9 * np.eye(points), np.eye(n))
    lines, values = [np.empty((0, n * points))], [np.empty(0)]
    for group in groups:
        found = linear_rows(group)
        goal = (
            np.array(
                [
                    constraint.lower_of(row)
                    if constraint.lower_of(row) == constraint.upper_of(row)
                    else np.nan
                    for constraint, row in group.owners
                ]
            )[:, None]
            - found.constant
        )
        chosen = found.known & group.asked & np.isfinite(goal) & (found.count > 0)
        index = np.full(chosen.shape, -1)
        index.T[chosen.T] = np.arange(chosen.sum())
        dense = np.zeros((chosen.sum(), layout.size))
        mine = chosen[found.row, found.instant]
        dense[index[found.row, found.instant][mine], found.variable[mine]] = found.coefficient[mine]
        lines.append(dense[:, free : free + n * points])
        values.append(goal.T[chosen.T])
    lines, values = np.vstack(lines), np.concatenate(values)
    system = np.block([[stiffness, lines.T], [lines, np.zeros((len(lines), len(lines)))]])
    solution = np.linalg.lstsq(system, np.concatenate([np.zeros(n * points), values]), rcond=None)[
        0
    ]
    found, T = (
        closed_points(problem, np.reshape(solution[: n * points], (n, points), order="F")),
        np.sqrt(np.prod(problem.duration)),
    )
    return join(layout, found, T, first_lifted(layout, found, T))


def first_lifted(layout, points, T):
    """Return lifted quantities (width, N) for a spline of control points (n, points) and duration T (s): around loops what drives and cut
    joints must give where that is determined, otherwise `standing`."""
    problem = layout.problem
    loose = (
        problem.ground is not None
        or isinstance(problem.motion, Mesh)
        or not structure(problem.tree).determined
    )
    if not problem.tree.loops or not len(layout.nodes) or loose:
        return standing(layout)
    chosen = list(structure(problem.tree).drives), list(structure(problem.tree).cuts)
    look = trace(
        problem,
        FORMULATIONS["newton_euler"],
        lambda at: ca.vertcat(at.tau[chosen[0]], at.loop_forces[chosen[1]]),
    )
    return look(kernel_inputs(problem, points, T, layout.nodes), layout.nodes)


def standing(layout):
    """Return lifted quantities (width, N) with no torques, and the weight shared equally by the feet that bear."""
    problem = layout.problem
    lifted, rows = np.zeros(layout.place.shape), structure(problem.tree).internal
    if problem.ground is None or not len(layout.nodes):
        return lifted
    there = layout.place[rows::6] >= 0
    push = (
        -np.array(problem.tree.gravity)
        * body_weight(problem.tree)
        / max(np.linalg.norm(problem.tree.gravity), 1e-12)
    )
    for k in range(len(slots(problem.ground))):
        lifted[rows + 6 * k + 3 : rows + 6 * k + 6] = push[:, None] * there[k] / there.sum(axis=0)
    return lifted
