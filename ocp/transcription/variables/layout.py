"""The variables of the NLP: the duration (if free), the control points, joint by joint for each of
them, the widths of the segments (if knots are free), what is lifted, node by node, then the
parameters, free ones first; and y = M x, what kernels take of them.

Lifted are joint torques, forces of cut joints and stays and ground wrenches, in this order, when
they are variables themselves, bound to the motion by equalities. They count in body weights (N or
N m over the tree's weight), so that they are of the size of the angles; controls of elements'
states as they are.

A kernel's inputs at an instant are y = (T, q, q', q'', lifted), with primes for d/ds, when the
duration T is free, else (q, qd, qdd, lifted). Where knots are free too, it is (T if free, control
points of the segment, distances back and on to the knots around it, s, lifted): all of that is
linear in x, and the kernel makes the curve of it. Parameters stand at the end of y at all
instants. (x = [P, s]: Xiang, Arora & Abdel-Malek 2009, eq. 42; Barman 2020, section 4)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import Number, Parameter, with_values
from ocp.motion.basis import Basis
from ocp.motion.collocation_mesh import Mesh
from ocp.motion.free_knots import Moving, elapsed_share, knot_distances, locate, with_widths
from ocp.motion.spline import ALIKE, BSpline, curve_matrix
from ocp.problem.contact.complementarity import touch_size
from ocp.problem.contact.ground import bearing_slots
from ocp.problem.contact.transmitted_wrenches import transmissions
from ocp.problem.statement import Problem
from ocp.transcription.variables.interpolation import torque_interpolation, wrench_interpolation
from ocp.transcription.variables.parameter_places import (
    freed_parameters,
    held_places,
    parameter_places,
    parameter_slice,
    sought_parameters,
)

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, values
Curve = Callable[[np.ndarray, int], np.ndarray]  # values (N, points) of an order at instants (N,)


@dataclass(frozen=True, kw_only=True, repr=False)
class Layout:
    """Where everything stands in x: `nodes` (N,) at which something is lifted, and the `place`
    (width, N) of each such number in x, -1 where it is not there and zero; whether the knots are
    `moving`, and the widths of the segments in x. Instants are then those of the problem's own
    knots, with which they move.

    The `problem` has numbers in place of its `values` {Parameter: number}, of which the first
    `free` ones are sought unless they are among the `held_names`. `timed` is the duration where
    that is open, and what is lifted counts in `weight`s of the tree (N), those of its parameters'
    own values."""

    problem: Problem
    nodes: np.ndarray = field(default_factory=lambda: np.empty(0))
    place: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=int))
    moving: bool = False
    values: Mapping[Parameter, float] = field(default_factory=dict)
    free: int = 0
    held_names: frozenset[str] = frozenset()
    timed: Number | None = None
    own_weight: float | None = None

    def __repr__(self) -> str:
        return f"Layout({self.size} variables, lifted at {len(self.nodes)} nodes)"

    @cached_property
    def size(self) -> int:
        """Number of variables of the NLP."""
        lifted = self.place.max(initial=-1) + 1 - self.widths.stop  # several may be one
        return self.widths.stop + max(int(lifted), 0) + len(self.values)

    parameters = property(parameter_slice)
    freed = property(freed_parameters)
    sought = property(sought_parameters)
    places = property(parameter_places)
    held_places = property(held_places)

    @property
    def weight(self) -> float:
        """What is lifted counts in this (N)."""
        return body_weight(self.problem.tree) if self.own_weight is None else self.own_weight

    @property
    def measures(self) -> np.ndarray:
        """In what each number lifted counts (width,): `weight`, or one of a state's control."""
        drives, states = structure(self.problem.tree).drives, self.problem.tree.states
        measures = np.full(len(self.place), self.weight)
        controls = [place for place, row in enumerate(drives) if row in states]
        measures[controls if self.lifts else []] = 1.0
        return measures

    @property
    def widths(self) -> slice:
        """Where the widths of the segments stand in x; nowhere if knots are given."""
        first = motion_size(self.problem)
        return slice(first, first + self.moving * self.problem.motion.segments)

    @property
    def motion_width(self) -> int:
        """Number of inputs of a kernel that make the motion."""
        if not self.moving:
            return motion_width(self.problem)
        return free_duration(self.problem) + moving_width(self.problem)

    @property
    def width(self) -> int:
        """Number of inputs of a kernel."""
        return self.motion_width + len(self.place) + len(self.values)

    @property
    def lifts(self) -> bool:
        """Whether torques, forces of cut joints and ground wrenches are variables."""
        return bool(len(self.nodes))


def free_duration(problem: Problem) -> bool:
    """Tell whether the duration is a variable of its own."""
    lower, upper = problem.duration
    return lower != upper


def free_knots(problem: Problem) -> bool:
    """Tell whether knots, or lengths of intervals, are variables."""
    return isinstance(problem.motion, BSpline | Mesh) and problem.motion.moving


def motion_size(problem: Problem) -> int:
    """Number of variables that make the motion on given knots: duration and control points."""
    return free_duration(problem) + problem.tree.dof * problem.motion.points


def motion_width(problem: Problem) -> int:
    """Number of inputs of a kernel that make the motion on given knots: (T, q, q', q'') when the
    duration is free, else (q, qd, qdd)."""
    return free_duration(problem) + 3 * problem.tree.dof


def moving_width(problem: Problem) -> int:
    """Number of inputs of a kernel that make the motion on free knots, beside a free duration:
    control points of a segment, distances, s; on intervals of free lengths q, q', q'', s and the
    length."""
    dof, degree = problem.tree.dof, problem.motion.degree
    return 3 * dof + 2 if problem.motion.collocated else dof * (degree + 1) + 2 * degree + 1


def constant_layout(layout: Layout) -> Layout:
    """Return the Layout in which all that is lifted on an interval of a mesh is one number each."""
    mesh, place = cast(Mesh, layout.problem.motion), layout.place
    first = np.searchsorted(locate(mesh, layout.nodes)[0], np.arange(mesh.intervals))
    kept = place[:, first]
    there = kept >= 0
    numbered = np.full(kept.shape, -1)
    numbered.T[there.T] = layout.widths.stop + np.arange(there.sum())
    return replace(layout, place=np.repeat(numbered, len(mesh.stages), axis=1))


def lifted_layout(problem: Problem, nodes: np.ndarray) -> Layout:
    """Return the Layout with all that can be lifted as variables at the nodes.

    A foot has none where it bears nothing, nor for what its kind does not pass on or no motion
    feels; a stay has none where it is prescribed to be open.
    """
    inner, ground = structure(problem.tree).internal, problem.ground
    rows = inner + touch_size(problem.loads)
    given = () if ground is None else transmissions(problem.tree, ground)
    names = [(each.foot, each.link) for each in given]
    present = np.ones((rows + 6 * len(names), len(nodes)), dtype=bool)
    sides = [stay for stay in problem.tree.stays for _ in stay.sides]
    for row, stay in enumerate(sides, start=inner - len(sides)):
        present[row] = stay.closes(nodes, before=problem.motion.collocated)
    for k, s in enumerate(nodes):
        bearing = () if ground is None else bearing_slots(ground, s)
        standing = [np.array(each.present) & (name in bearing) for each, name in zip(given, names)]
        present[rows:, k] = np.ravel(standing)
    place, still = np.full(present.shape, -1), Layout(problem=problem, moving=free_knots(problem))
    place.T[present.T] = still.size + np.arange(present.sum())
    return replace(still, nodes=np.asarray(nodes), place=place)


def split_variables(layout: Layout, x: ArrayLike) -> tuple[np.ndarray, float, np.ndarray]:
    """Return (control points (n, points), duration, lifted (width, N) in N and N m) from the NLP's
    variables x; where knots are free, `motion_at` tells the basis of these points."""
    problem, x = layout.problem, np.asarray(x, dtype=float).ravel()
    free = free_duration(problem)
    points = np.reshape(x[free : motion_size(problem)], (problem.tree.dof, -1), order="F")
    points = points_of_curves(problem.motion, points) if problem.motion.curves else points
    lifted = np.where(layout.place >= 0, np.append(x, 0.0)[layout.place], 0.0)
    lifted = lifted * layout.measures[:, None] if layout.lifts else lifted
    return points, duration_at(layout, x), lifted


def duration_at(layout: Layout, x: np.ndarray) -> float:
    """Return the duration (s) of the motion of variables x."""
    if free_duration(layout.problem):
        return float(x[0])
    open_one = layout.problem.duration[0] if layout.timed is None else layout.timed
    return float(with_values(open_one, values_at(layout, x)))


def values_at(layout: Any, x: ArrayLike) -> dict[Parameter, float]:
    """Return {Parameter: number} of variables x of a Layout, or of the Order of phases."""
    return dict(zip(layout.values, np.asarray(x, dtype=float)[layout.parameters].tolist()))


def motion_at(layout: Layout, x: ArrayLike) -> Basis:
    """Return the basis of the motion of variables x: the problem's, with its knots where they are
    if these are free."""
    motion = layout.problem.motion
    return (
        with_widths(cast(Moving, motion), np.asarray(x)[layout.widths]) if layout.moving else motion
    )


def instants_at(layout: Layout, x: ArrayLike, s: ArrayLike) -> np.ndarray:
    """Return the instants of the motion of variables x that are s (N,) of the layout."""
    motion, s = layout.problem.motion, np.asarray(s, dtype=float)
    return np.interp(s, motion.breaks, motion_at(layout, x).breaks) if layout.moving else s


def join_variables(
    layout: Layout,
    control_points: ArrayLike,
    duration: float,
    lifted: np.ndarray | None = None,
    motion: Basis | None = None,
) -> np.ndarray:
    """Return the NLP's variables x from control points (n, points), the duration, and what is
    lifted (zero if None); free knots are those of the `motion`, by default the problem's."""
    x = np.zeros(layout.size)
    first = [duration] if free_duration(layout.problem) else []
    points, motion_of_layout = np.atleast_2d(control_points), layout.problem.motion
    if motion_of_layout.curves:
        points = points_of_motion(motion_of_layout, points)
    x[: motion_size(layout.problem)] = np.append(first, np.ravel(points, order="F"))
    if layout.moving:
        x[layout.widths] = np.diff((motion or layout.problem.motion).breaks)
    if lifted is not None:
        present = layout.place >= 0
        x[layout.place[present]] = (lifted / layout.measures[:, None])[present]
    x[layout.parameters] = list(layout.values.values())
    return x


def points_of_curves(motion: Basis, own: np.ndarray) -> np.ndarray:
    """Return the control points (n, points) of a motion from those of its coordinates' own curves,
    which stand first in each row."""
    points = np.zeros(own.shape)
    for curve, rows in cast(BSpline, motion).rows_by_curve.items():
        points[rows] = own[rows, : curve.points] @ curve_matrix(cast(BSpline, motion), curve).T
    return points


def points_of_motion(motion: Basis, points: np.ndarray) -> np.ndarray:
    """Return the control points of the coordinates' own curves, first in each row, that come
    nearest to those (n, points) of the motion."""
    own = np.zeros(points.shape)
    for curve, rows in cast(BSpline, motion).rows_by_curve.items():
        matrix = curve_matrix(cast(BSpline, motion), curve)
        own[rows, : curve.points] = np.linalg.lstsq(matrix, points[rows].T, rcond=None)[0].T
    return own


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
        value = self.value / self.divisor[self.row % len(self.divisor)]
        parts = self.row.tolist(), self.column.tolist(), ca.DM(value.tolist())
        return ca.DM.triplet(*parts, *self.shape)

    def __call__(self, x: ArrayLike) -> np.ndarray:
        """Return y (width, N) of variables x."""
        weights = self.value * np.asarray(x, dtype=float)[self.column]
        stacked = np.bincount(self.row, weights=weights, minlength=self.shape[0])
        return stacked.reshape(len(self.divisor), -1, order="F") / self.divisor[:, None]


def motion_map(layout: Layout, s: ArrayLike, hull: bool = False) -> MotionMap:
    """Return the MotionMap of the instants s (N,).

    With `hull` the instants stand for the control points: q is each of them in turn, at rest, on
    given knots.
    """
    s, moving = np.asarray(s, dtype=float), layout.moving and not hull
    beside = len(layout.place) + len(layout.values)
    width = layout.width if moving else motion_width(layout.problem) + beside
    on_free = _moving_stages if layout.problem.motion.collocated else _moving_entries
    entries = on_free(layout, s) if moving else _motion_entries(layout, width, s, hull)
    parts = [entries]
    if free_duration(layout.problem):  # T stands first in y and x
        instants = np.arange(len(s))
        parts.insert(0, (instants * width, np.zeros(len(s), dtype=int), np.ones(len(s))))
    if layout.lifts and not hull:
        parts.append(lifted_entries(layout, s, width, layout.motion_width))
    if layout.values:
        parts.append(_parameter_entries(layout, width, len(s)))
    row, column, value = (np.concatenate([part[k] for part in parts]) for k in range(3))
    shape, divisor, problem = (width * len(s), layout.size), np.ones(width), layout.problem
    if not moving and not free_duration(problem) and layout.timed is None:
        powers = np.repeat(np.arange(3), problem.tree.dof)  # of the duration, in qd and qdd
        divisor[: len(powers)] = problem.duration[0] ** powers
    return MotionMap(row=row, column=column, value=value, shape=shape, divisor=divisor)


def motion_inputs(
    problem: Problem, control_points: ArrayLike, duration: float, s: ArrayLike
) -> np.ndarray:
    """Return y (width of the motion, N), what kernels take of the motion alone at the instants
    s."""
    layout = Layout(problem=problem)
    return motion_map(layout, s)(join_variables(layout, control_points, duration))


def _parameter_entries(layout: Layout, width: int, count: int) -> Triplets:
    """Return the triplets of the parameters, which stand last in y and x."""
    size, variables = len(layout.values), range(layout.size)[layout.parameters]
    row = (np.arange(count) * width)[:, None] + np.arange(width - size, width)
    return row.ravel(), np.tile(np.array(variables), count), np.ones(row.size)


def _motion_entries(layout: Layout, width: int, s: np.ndarray, hull: bool) -> Triplets:
    """Return the triplets of q, q' and q'' (or qd and qdd, where the duration is given) from
    control points."""
    problem = layout.problem
    n, free = problem.tree.dof, free_duration(problem)
    motion, joints, states = problem.motion, np.arange(n), np.array(problem.tree.states, dtype=int)
    first_order = len(states) if motion.collocated and not hull else 0
    parts: list[tuple[Curve, np.ndarray]] = [(motion.values, joints[: n - first_order])]
    if motion.curves:
        own = cast(BSpline, motion).rows_by_curve.items()
        parts = [(curve.values, rows) for curve, rows in own]
    if hull:
        parts = [(_each_point(motion.points), joints)]
        if motion.curves:
            parts = [(_each_point(curve.points), rows) for curve, rows in own]
    if first_order:
        parts.append((cast(Mesh, motion).first_order_values, states))
    triplets = []
    for curve, joints in parts:
        for order in range(3):
            known = curve(s, order)
            place = np.flatnonzero(known != 0)  # of one axis, of truths: fast
            instant, point = np.divmod(place, known.shape[1])
            row = (instant * width + free + order * n)[:, None] + joints
            column = (free + point * n)[:, None] + joints
            value = np.repeat(known.ravel()[place], len(joints))
            triplets.append((row.ravel(), column.ravel(), value))
    row, column, value = (np.concatenate(part) for part in zip(*triplets))
    return row, column, value


def _each_point(count: int) -> Curve:
    """Return the curve that is each of so many control points in turn, and then the last one."""

    def values(s: np.ndarray, order: int) -> np.ndarray:
        return np.eye(count)[np.minimum(np.arange(len(s)), count - 1)] * (order == 0)

    return values


def unused_variables(layout: Layout) -> np.ndarray:
    """Return the numbers in x of what laws of elements' states do not know on a mesh, or of control
    points that the coordinates' own curves do not have."""
    problem = layout.problem
    if problem.motion.curves:
        counts = np.array([curve.points for curve in problem.motion.curves])
        point, row = np.nonzero(np.arange(problem.motion.points)[:, None] >= counts)
        return free_duration(problem) + point * problem.tree.dof + row
    if not (problem.tree.states and problem.motion.collocated):
        return np.empty(0, dtype=int)
    points = cast(Mesh, problem.motion).second_order
    first = free_duration(problem) + points * problem.tree.dof
    return np.ravel(first[:, None] + np.array(problem.tree.states))


def _moving_entries(layout: Layout, s: np.ndarray) -> Triplets:
    """Return the triplets of the control points of a segment, one after the other, and of the
    distances back and on to the knots around an instant, and from the start."""
    problem, motion = layout.problem, cast(BSpline, layout.problem.motion)
    n, free, p = problem.tree.dof, free_duration(problem), motion.degree
    instant, local, joint = np.indices((len(s), p + 1, n)).reshape(3, -1)
    chosen = instant * layout.width + free + local * n + joint
    column = free + (locate(motion, s)[0][instant] + local) * n + joint
    back, on, past = knot_distances(motion, s)
    stack = np.concatenate([back, on, past[:, None]], axis=1)  # (N, 2 degree + 1, segments)
    instant, kind, segment = np.nonzero(stack)
    row = instant * layout.width + free + n * (p + 1) + kind
    return (
        np.append(chosen, row),
        np.append(column, layout.widths.start + segment),
        np.append(np.ones(len(chosen)), stack[instant, kind, segment]),
    )


def _moving_stages(layout: Layout, s: np.ndarray) -> Triplets:
    """Return the triplets of q, q' and q'' at stages of intervals of free lengths, where they are
    variables; then those of how much of the motion has passed, and of the interval's length.

    Raises ValueError for other instants, where the curve is no variable.
    """
    problem, mesh = layout.problem, cast(Mesh, layout.problem.motion)
    apart = np.abs(mesh.positions - s[:, None]).min(axis=1, initial=np.inf)
    if (apart > ALIKE).any():
        raise ValueError(
            f"lengths: something is asked at s = {s[np.argmax(apart)]:.4g}, and on intervals of "
            "free lengths the motion is known at their stages alone; give the lengths"
        )
    parts = _motion_entries(layout, layout.width, s, hull=False)
    first = free_duration(problem) + 3 * problem.tree.dof
    instant, interval = np.nonzero(elapsed_share(mesh, s))
    row, own = np.arange(len(s)) * layout.width + first + 1, locate(mesh, s)[0]
    return (
        np.concatenate([parts[0], instant * layout.width + first, row]),
        np.concatenate([parts[1], layout.widths.start + interval, layout.widths.start + own]),
        np.concatenate([parts[2], elapsed_share(mesh, s)[instant, interval], np.ones(len(s))]),
    )


def lifted_entries(
    layout: Layout,
    s: np.ndarray,
    width: int,
    first: int,
    order: int = 0,
    scale: np.ndarray | float = 1.0,
) -> tuple:
    """Return the triplets of what is lifted, at nodes and between them, or with `order` 1 of its
    slopes by s, times a `scale` (N, 1): of its inputs, of each instant's `width`, the `first` one
    and those after it."""
    problem, count = layout.problem, len(structure(layout.problem.tree).drives)
    parts = []
    for rows, between in (
        (slice(count), torque_interpolation),
        (slice(count, None), wrench_interpolation),
    ):
        weights, place = scale * between(problem, layout.nodes, s, order), layout.place[rows]
        instant, node = np.nonzero(weights)
        line, entry = np.nonzero(place[:, node] >= 0)
        row = instant[entry] * width + first + line + (rows.start or 0)
        value = weights[instant, node][entry] * layout.measures[rows][line]
        parts.append((row, place[line, node[entry]], value))
    row, column, value = (np.concatenate(part) for part in zip(*parts))
    return row, column, value
