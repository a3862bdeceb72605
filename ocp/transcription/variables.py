"""The variables of the NLP: the duration (if free), the control points, joint by joint for each of them, then what is lifted, node by node.

Lifted are joint torques, forces of cut joints and ground wrenches, in this order, when they are variables themselves, bound to the motion by
equalities. They count in body weights (N or N m over the tree's weight), so that they are of the size of the angles.
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ocp.mechanics.structure import structure
from ocp.mechanics.zero_moment import body_weight
from ocp.motion.mesh import Mesh, basis, between
from ocp.motion.spline import sample
from ocp.problem.ground import bearing_slots, slots
from ocp.problem.statement import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where everything stands in x: `nodes` (N,) at which something is lifted, and the `place` (width, N) of each such number in x, -1 where
    it is not there and zero."""

    problem: Problem
    nodes: np.ndarray = field(default_factory=lambda: np.empty(0))
    place: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=int))

    @property
    def size(self):
        """Number of variables of the NLP."""
        return motion_size(self.problem) + int((self.place >= 0).sum())

    @property
    def width(self):
        """Number of inputs of a kernel."""
        return motion_width(self.problem) + len(self.place)


def free_duration(problem):
    """Tell whether the duration is a variable."""
    return problem.duration[0] < problem.duration[1]


def motion_size(problem):
    """Number of variables that make the motion: duration and control points."""
    return free_duration(problem) + problem.tree.dof * problem.motion.points


def motion_width(problem):
    """Number of inputs of a kernel that make the motion: (T, q, q', q'') when the duration is free, else (q, qd, qdd)."""
    return free_duration(problem) + 3 * problem.tree.dof


def grid(problem, per_segment):
    """Return `per_segment` equal steps through every segment of the spline; where the ground has a contact schedule, the node nearest to
    each of its switches is moved there, or one added where none is left to move. On a mesh, return its positions."""
    if isinstance(problem.motion, Mesh):
        return problem.motion.positions
    s = sample(problem.motion, per_segment)
    for switch in () if problem.ground is None else problem.ground.switches:
        near, taken = np.abs(s - switch), np.isin(s, (0.0, 1.0, *problem.ground.switches))
        if near.min() > 1e-9 and taken.all():
            s = np.append(s, switch)
        else:
            s[np.argmin(near if near.min() <= 1e-9 else np.where(taken, np.inf, near))] = switch
    return np.sort(s)


def lifted_layout(problem, nodes):
    """Return the Layout with all that can be lifted as variables at the nodes; a foot has none where it bears nothing."""
    rows = structure(problem.tree).internal
    names = () if problem.ground is None else slots(problem.ground)
    there = np.ones((rows + 6 * len(names), len(nodes)), dtype=bool)
    for k, s in enumerate(nodes):
        bearing = () if problem.ground is None else bearing_slots(problem.ground, s)
        there[rows:, k] = np.repeat([slot in bearing for slot in names], 6)
    place = np.full(there.shape, -1)
    place.T[there.T] = motion_size(problem) + np.arange(there.sum())
    return Layout(problem=problem, nodes=np.asarray(nodes), place=place)


def split(layout, x):
    """Return (control points (n, points), duration, lifted (width, N) in N and N m) from the NLP's variables x."""
    problem = layout.problem
    duration = float(x[0]) if free_duration(problem) else problem.duration[0]
    points = np.reshape(
        x[free_duration(problem) : motion_size(problem)], (problem.tree.dof, -1), order="F"
    )
    lifted = np.where(layout.place >= 0, np.append(x, 0.0)[layout.place], 0.0) * body_weight(
        problem.tree
    )
    return points, duration, lifted


def join(layout, control_points, duration, lifted=None):
    """Return the NLP's variables x from control points (n, points), the duration, and what is lifted (zero if None)."""
    x = np.zeros(layout.size)
    x[: motion_size(layout.problem)] = np.concatenate(
        [[duration] if free_duration(layout.problem) else [], np.ravel(control_points, order="F")]
    )
    if lifted is not None:
        x[layout.place[layout.place >= 0]] = lifted[layout.place >= 0] / body_weight(
            layout.problem.tree
        )
    return x


def kernel_inputs(problem, control_points, duration, s):
    """Return y (width of the motion, N), what kernels take at the instants s."""
    curve = [control_points @ basis(problem.motion, s, order).T for order in range(3)]
    if free_duration(problem):
        return np.vstack([np.full((1, len(s)), duration), *curve])
    return np.vstack([part / problem.duration[0] ** order for order, part in enumerate(curve)])


def motion_map(layout, s, hull=False):
    """Return M with the kernel inputs of all instants stacked = M x.

    With `hull` the instants stand for the control points: q is each of them in turn, at rest.
    """
    problem = layout.problem
    n, free, width, count = problem.tree.dof, free_duration(problem), layout.width, len(s)
    still = np.eye(count, problem.motion.points)
    stack = np.stack(
        [still * (order == 0) if hull else basis(problem.motion, s, order) for order in range(3)]
    )  # (3, N, points)
    if not free:
        stack = stack / problem.duration[0] ** np.arange(3)[:, None, None]
    order, at, point = np.nonzero(stack)
    joint = np.arange(n)
    entries = [
        (
            (at * width + free + order * n)[:, None] + joint,
            (free + point * n)[:, None] + joint,
            np.repeat(stack[order, at, point][:, None], n, axis=1),
        )
    ]
    if free:
        entries.append((np.arange(count) * width, np.zeros(count, dtype=int), np.ones(count)))
    if isinstance(problem.motion, Mesh):
        weigh = between(problem.motion, s)
        at, node = np.nonzero(weigh)
        for line, place in enumerate(layout.place):
            entries.append(
                (
                    at * width + motion_width(problem) + line,
                    place[node],
                    weigh[at, node] * body_weight(problem.tree),
                )
            )
    elif len(layout.nodes) and not hull:
        node = np.abs(layout.nodes - np.asarray(s)[:, None]).argmin(axis=1)
        at_node = np.abs(layout.nodes[node] - s) < 1e-9
        line, at = np.nonzero((layout.place[:, node] >= 0) & at_node)
        entries.append(
            (
                at * width + motion_width(problem) + line,
                layout.place[line, node[at]],
                np.full(len(at), body_weight(problem.tree)),
            )
        )
    row, column, value = (
        np.concatenate([np.ravel(entry[k]) for entry in entries]) for k in range(3)
    )
    return ca.DM.triplet(row.tolist(), column.tolist(), ca.DM(value), width * count, layout.size)
