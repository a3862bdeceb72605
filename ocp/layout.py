"""The variables of the NLP: the duration (if free), then the control points, joint by joint for each control point."""
import casadi as ca
import numpy as np

from ocp.spline import basis


def free_duration(problem):
    """Tell whether the duration is a variable."""
    return problem.duration[0] < problem.duration[1]


def variables(problem):
    """Number of variables of the NLP."""
    return free_duration(problem) + problem.tree.dof * problem.motion.points


def split(problem, x):
    """Return (control points (n, points), duration) from the NLP's variables x."""
    duration = float(x[0]) if free_duration(problem) else problem.duration[0]
    return np.reshape(x[free_duration(problem):], (problem.tree.dof, -1), order="F"), duration


def join(problem, control_points, duration):
    """Return the NLP's variables x from control points (n, points) and the duration."""
    return np.concatenate([[duration] if free_duration(problem) else [], np.ravel(control_points, order="F")])


def kernel_inputs(problem, control_points, duration, s):
    """Return y (3 n + 1, N), what kernels take at the instants s: T, q, dq/ds, d2q/ds2."""
    curve = [control_points @ basis(problem.motion, s, order).T for order in range(3)]
    return np.vstack([np.full((1, len(s)), duration), *curve])


def motion_map(problem, s):
    """Return (M, m) with the kernel inputs of all instants stacked = M x + m."""
    n, free = problem.tree.dof, free_duration(problem)
    width, count = 3 * n + 1, len(s)
    stack = np.stack([basis(problem.motion, s, order) for order in range(3)])            # (3, N, points)
    order, at, point = np.nonzero(stack)
    joint = np.arange(n)
    row = (at * width + 1 + order * n)[:, None] + joint
    column = (free + point * n)[:, None] + joint
    value = np.repeat(stack[order, at, point][:, None], n, axis=1)
    row, column, value = row.ravel(), column.ravel(), value.ravel()
    offset = np.zeros(width * count)
    if free:
        row = np.concatenate([np.arange(count) * width, row])
        column, value = np.concatenate([np.zeros(count, dtype=int), column]), np.concatenate([np.ones(count), value])
    else:
        offset[::width] = problem.duration[0]
    return ca.DM.triplet(row.tolist(), column.tolist(), ca.DM(value), width * count, variables(problem)), offset
