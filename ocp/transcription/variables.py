"""The variables of the NLP: the duration (if free), the control points, joint by joint for each of
them, then what is lifted, node by node; and y = M x, what kernels take of them.

Lifted are joint torques, forces of cut joints and stays and ground wrenches, in this order, when
they are variables themselves, bound to the motion by equalities. They count in body weights (N or
N m over the tree's weight), so that they are of the size of the angles.

A kernel's inputs at an instant are y = (T, q, q', q'', lifted), with primes for d/ds, when the
duration T is free, else (q, qd, qdd, lifted).
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ocp.mechanics.structure import structure
from ocp.mechanics.zero_moment import body_weight
from ocp.problem.ground import bearing_slots, slots
from ocp.problem.statement import Problem
from ocp.transcription.between import torques_between, wrenches_between


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Layout:
    """Where everything stands in x: `nodes` (N,) at which something is lifted, and the `place`
    (width, N) of each such number in x, -1 where it is not there and zero."""

    problem: Problem
    nodes: np.ndarray = field(default_factory=lambda: np.empty(0))
    place: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=int))

    def __repr__(self) -> str:
        return f"Layout({self.size} variables, lifted at {len(self.nodes)} nodes)"

    @property
    def size(self) -> int:
        """Number of variables of the NLP."""
        return motion_size(self.problem) + int((self.place >= 0).sum())

    @property
    def width(self) -> int:
        """Number of inputs of a kernel."""
        return motion_width(self.problem) + len(self.place)

    @property
    def lifts(self) -> bool:
        """Whether torques, forces of cut joints and ground wrenches are variables."""
        return bool(len(self.nodes))


def free_duration(problem: Problem) -> bool:
    """Tell whether the duration is a variable."""
    return problem.duration[0] < problem.duration[1]


def motion_size(problem: Problem) -> int:
    """Number of variables that make the motion: duration and control points."""
    return free_duration(problem) + problem.tree.dof * problem.motion.points


def motion_width(problem: Problem) -> int:
    """Number of inputs of a kernel that make the motion: (T, q, q', q'') when the duration is free,
    else (q, qd, qdd)."""
    return free_duration(problem) + 3 * problem.tree.dof


def lifted_layout(problem: Problem, nodes) -> Layout:
    """Return the Layout with all that can be lifted as variables at the nodes.

    A foot has none where it bears nothing, a stay where it is prescribed to be open.
    """
    rows = structure(problem.tree).internal
    names = () if problem.ground is None else slots(problem.ground)
    present = np.ones((rows + 6 * len(names), len(nodes)), dtype=bool)
    sides = [stay for stay in problem.tree.stays for _ in stay.sides]
    for row, stay in enumerate(sides, start=rows - len(sides)):
        present[row] = stay.closes(nodes, before=problem.motion.collocated)
    for k, s in enumerate(nodes):
        bearing = () if problem.ground is None else bearing_slots(problem.ground, s)
        present[rows:, k] = np.repeat([slot in bearing for slot in names], 6)
    place = np.full(present.shape, -1)
    place.T[present.T] = motion_size(problem) + np.arange(present.sum())
    return Layout(problem=problem, nodes=np.asarray(nodes), place=place)


def split(layout: Layout, x):
    """Return (control points (n, points), duration, lifted (width, N) in N and N m) from the NLP's
    variables x."""
    problem, x = layout.problem, np.asarray(x, dtype=float).ravel()
    free = free_duration(problem)
    duration = float(x[0]) if free else problem.duration[0]
    points = np.reshape(x[free : motion_size(problem)], (problem.tree.dof, -1), order="F")
    lifted = np.where(layout.place >= 0, np.append(x, 0.0)[layout.place], 0.0)
    return points, duration, lifted * body_weight(problem.tree)


def join(layout: Layout, control_points, duration: float, lifted=None) -> np.ndarray:
    """Return the NLP's variables x from control points (n, points), the duration, and what is
    lifted (zero if None)."""
    x = np.zeros(layout.size)
    first = [duration] if free_duration(layout.problem) else []
    x[: motion_size(layout.problem)] = np.append(first, np.ravel(control_points, order="F"))
    if lifted is not None:
        present = layout.place >= 0
        x[layout.place[present]] = lifted[present] / body_weight(layout.problem.tree)
    return x


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionMap:
    """M with y = M x, the kernel inputs of all instants stacked, as triplets.

    `shape` is M's, and `divisor` (width,) what the entries of one y are divided by: powers of a
    given duration.
    """

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    shape: tuple[int, int]
    divisor: np.ndarray

    @property
    def matrix(self) -> ca.DM:
        """M, sparse."""
        value = ca.DM(self.value / self.divisor[self.row % len(self.divisor)])
        return ca.DM.triplet(self.row.tolist(), self.column.tolist(), value, *self.shape)

    def __call__(self, x) -> np.ndarray:
        """Return y (width, N) of variables x."""
        weights = self.value * np.asarray(x, dtype=float)[self.column]
        stacked = np.bincount(self.row, weights=weights, minlength=self.shape[0])
        return stacked.reshape(len(self.divisor), -1, order="F") / self.divisor[:, None]


def motion_map(layout: Layout, s, hull: bool = False) -> MotionMap:
    """Return the MotionMap of the instants s (N,).

    With `hull` the instants stand for the control points: q is each of them in turn, at rest.
    """
    s, width = np.asarray(s, dtype=float), layout.width
    parts = [_duration_entries(layout, len(s)), _motion_entries(layout, s, hull)]
    if layout.lifts and not hull:
        parts.append(_lifted_entries(layout, s))
    row, column, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
    shape = (width * len(s), layout.size)
    return MotionMap(row=row, column=column, value=value, shape=shape, divisor=_divisor(layout))


def _divisor(layout):
    """Return what the entries of y are divided by: T and T^2 for qd and qdd where the duration T is
    given."""
    problem, divisor = layout.problem, np.ones(layout.width)
    if not free_duration(problem):
        powers = np.repeat(np.arange(3), problem.tree.dof)
        divisor[: len(powers)] = problem.duration[0] ** powers
    return divisor


def motion_inputs(problem: Problem, control_points, duration: float, s) -> np.ndarray:
    """Return y (width of the motion, N), what kernels take of the motion alone at the instants
    s."""
    layout = Layout(problem=problem)
    return motion_map(layout, s)(join(layout, control_points, duration))


def _duration_entries(layout, count):
    """Return the triplets of T, which stands first in y and x where it is free."""
    if not free_duration(layout.problem):
        return np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0)
    return np.arange(count) * layout.width, np.zeros(count, dtype=int), np.ones(count)


def _motion_entries(layout, s, hull):
    """Return the triplets of q, q' and q'' (or qd and qdd, where the duration is given) from
    control points."""
    problem = layout.problem
    n, free, width = problem.tree.dof, free_duration(problem), layout.width
    if hull:
        still = np.eye(len(s), problem.motion.points)
        stack = np.stack([still * (order == 0) for order in range(3)])
    else:
        stack = np.stack([problem.motion.values(s, order) for order in range(3)])  # (3, N, points)
    order, instant, point = np.nonzero(stack)
    joint = np.arange(n)
    row = (instant * width + free + order * n)[:, None] + joint
    column = (free + point * n)[:, None] + joint
    value = np.repeat(stack[order, instant, point][:, None], n, axis=1)
    return row.ravel(), column.ravel(), value.ravel()


def _lifted_entries(layout, s):
    """Return the triplets of what is lifted, at nodes and between them."""
    problem, count = layout.problem, len(structure(layout.problem.tree).drives)
    parts = []
    for rows, between in ((slice(count), torques_between), (slice(count, None), wrenches_between)):
        weights, place = between(problem, layout.nodes, s), layout.place[rows]
        instant, node = np.nonzero(weights)
        line, entry = np.nonzero(place[:, node] >= 0)
        row = instant[entry] * layout.width + motion_width(problem) + line + (rows.start or 0)
        value = weights[instant, node][entry] * body_weight(problem.tree)
        parts.append((row, place[line, node[entry]], value))
    row, column, value = (np.concatenate(part) for part in zip(*parts))
    return row, column, value
