"""Poses that a motion begins or ends with, keeps to or follows: place (m) and turn (rad) of a point
of the tree against a target.

No smooth map from rotations to three numbers is zero at one rotation alone and of full rank there,
since a regular value has an even number of origins: an error of three rows has false zeros, a fold
or a cut somewhere. The logarithm has its cut at half turns. Here a turn is counted on the joints'
half angles instead, where both signs of a quaternion are one rotation; the error

    4 tan(f / 4) axis = 4 v / (1 + w),  of the quaternion (w, v) = target^-1 now, of angle f,

has full rank at every f below a full turn, so that half turns are nothing special. The sign, that
is the way round, is the shorter one from a configuration where the motion comes from, or a little
longer one: up to TURNED, lest rounding decide at half turns. Within CLOSE of the target, reached
the other way, it is that way which counts: nothing grows without bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import acos, sqrt

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.rotations import quaternion, quaternion_conjugate, quaternion_product
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, array, matrix, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, freeze, positive, rigid_pose
from ocp.pickling import portable
from ocp.problem.constraint import Constraint, When
from ocp.problem.instant import Instant
from ocp.problem.objectives import Objective, squares
from ocp.problem.tree_reach import reach

Target = (
    Matrix | Callable[[Instant], Matrix]
)  # a pose (4x4), or a function of an Instant that returns one
ROWS = ("x", "y", "z", "about x", "about y", "about z")
TURNED, CLOSE = 2 * acos(-0.1), 2 * acos(0.9)  # rad
SAMPLES = 6  # configurations that tell what a tree can do


def pose_at_start(
    tree: Tree, point: str, target: Target, *, rows: Sequence[str] = ROWS
) -> Constraint:
    """Prescribe the pose of a point, or of a link, at s = 0, as `pose_at_end` does at s = 1.

    `target` and `rows` are as there; the way round is counted from the configuration q = 0.
    """
    name = f"pose_at_start.{point}"
    home = _home(tree, name, point)
    return _prescribe(tree, name, point, target, rows, "start", home)


def pose_at_end(
    tree: Tree, point: str, target: Target, *, rows: Sequence[str] = ROWS
) -> Constraint:
    """Prescribe the pose of a point, or of a link, at s = 1: `target` (4x4), in global axes.

    Rows are the place (m) in global axes and the turn (rad) about the target's, or those of them
    that `rows` names; a row that no joint moves is left out where it is met. The way round is
    counted from the motion's start. Raises ValueError for a target that is no rigid pose, lies
    farther off than the links reach or where no joint can bring the point, and for more rows than
    the joints can move independently; and for flexible links.
    """
    name = f"pose_at_end.{point}"
    _home(tree, name, point)
    return _prescribe(tree, name, point, target, rows, "joined", None)


def pose_along(
    tree: Tree,
    point: str,
    target: Target,
    *,
    place: Number = 0.0,
    turn: Number = 0.0,
    rows: Sequence[str] = ROWS,
    when: When = "path",
) -> Constraint:
    """Keep the pose of a point, or of a link, within `place` (m) and `turn` (rad) of a target.

    That is a pose (4x4), or a function(Instant) that returns one. Every row has its own tolerance,
    0 means exactly; `when` as in `Constraint`; rows, way round (from q = 0) and errors as in
    `pose_at_end`.
    """
    name = f"pose_along.{point}"
    home = _home(tree, name, point)
    width = [positive(f"{name}: place", place, zero=True, unit="m")] * 3
    width += [positive(f"{name}: turn", turn, zero=True, unit="rad")] * 3
    return _prescribe(tree, name, point, target, rows, when, home, width=array(width))


def upright(tree: Tree, point: str, lean: Number, *, when: When = "path") -> Constraint:
    """Keep the own axis z of a point's link, up or down, within `lean` (rad) of the global z.

    Ahead and aside it leans so far each, turned any way about itself; `when` as in `Constraint`.
    """
    name = f"upright.{point}"
    kinematics.point_named(check_type(f"{name}: tree", tree, Tree), point)
    most = np.sin(positive(f"{name}: lean", lean, unit="rad"))
    return Constraint(
        name=name,
        function=lambda at: at.pose(point)[:2, 2],
        lower=-most,
        upper=most,
        when=when,
        labels=("ahead", "aside"),
    )


def pose_tracking(
    tree: Tree, point: str, target: Target, *, place: Number = 1.0, turn: Number = 1.0
) -> Objective:
    """Return the integral of the squared deviation of a point's pose from a target (s).

    |p - p_t|^2 / place^2 + |R - R_t|^2 / (2 turn^2), the latter 4 sin^2(f / 2) / turn^2 of the
    angle f between them: f^2 where it is small, and smooth everywhere. `target` is a pose (4x4) or
    a function(Instant) that returns one; `place` (m) and `turn` (rad) are what counts as 1.
    """
    name = f"pose_tracking.{point}"
    kinematics.point_named(check_type(f"{name}: tree", tree, Tree), point)
    goal = _goal(name, target)
    far = positive(f"{name}: place", place, unit="m")
    turned = positive(f"{name}: turn", turn, unit="rad") * sqrt(2)

    def deviation(at: Instant) -> Matrix:
        off = at.pose(point) - goal(at)
        return ca.vertcat(off[:3, 3] / far, ca.vec(off[:3, :3]) / turned)

    return squares(name, deviation)


def pose_error(pose: Matrix, unit: Matrix, target: Matrix, origin: Matrix) -> Matrix:
    """Return place (3, m) and turn (3, rad) by which a `pose` (4x4) is off its target (4x4).

    `unit` is the quaternion of its axes, `origin` the one from which the way round is counted.
    """
    back = quaternion_conjugate(quaternion(target[:3, :3]))
    now, before = quaternion_product(back, unit), quaternion_product(back, origin)
    way = ca.if_else(before[0] >= np.cos(TURNED / 2), 1, -1)
    arrived = ca.fabs(now[0]) > np.cos(CLOSE / 2)
    way = ca.if_else(arrived, ca.if_else(now[0] < 0, -1, 1), way)
    return ca.vertcat(pose[:3, 3] - target[:3, 3], 4 * way * now[1:] / (1 + way * now[0]))


def _prescribe(
    tree: Tree,
    name: str,
    point: str,
    target: Target,
    rows: Sequence[str],
    when: When,
    home: Matrix | None,
    width: Numbers = 0.0,
) -> Constraint:
    """Return the Constraint; the way round is counted from the quaternion `home`, or where that is
    None from the motion's start, which `when` hands over beside the end."""
    goal = _goal(name, target)
    asked = _row_numbers(name, rows)
    here = None if callable(target) else matrix(nominal(array(goal(None))))
    chosen = _movable(nominal(tree), name, point, here, asked)
    fixed = target if callable(target) else freeze(array(target))
    bound = np.broadcast_to(width, 6)[chosen]
    return Constraint(
        name=name,
        function=Deviation(
            name=name, tree=tree, point=point, target=fixed, rows=tuple(chosen), home=home
        ),
        lower=-bound,
        upper=bound,
        when=when,
        labels=tuple(ROWS[row] for row in chosen),
        units=tuple(_unit(row) for row in chosen),
    )


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deviation:
    """How far a point's pose is off its target, in some `rows`: a function of an Instant, or where
    `home` is None of the motion's start and end.

    Raises ValueError for a target farther off than the links reach, of an open one for the numbers
    that take the place of its parameters.
    """

    name: str
    tree: Tree
    point: str
    target: Target
    rows: tuple[int, ...]
    home: Matrix | None

    def __post_init__(self) -> None:
        if not callable(self.target):
            here = matrix(nominal(rigid_pose(f"{self.name}: target", self.target, "m")))
            _check_reach(nominal(self.tree), self.name, self.point, here)

    def __call__(self, *instants: Instant) -> Matrix:
        at, point = instants[-1], self.point
        origin = instants[0].orientation(point) if self.home is None else self.home
        target = _goal(self.name, self.target)(at)
        off = pose_error(at.pose(point), at.orientation(point), target, origin)
        return off[list(self.rows)]


def _home(tree: Tree, name: str, point: str) -> Matrix:
    """Return the quaternion (4,) of a point's axes where no joint turns.

    Raises ValueError for what has none.
    """
    check_type(f"{name}: tree", tree, Tree)
    if tree.flexible:
        raise ValueError(
            f"{name}: link {tree.flexible[0]!r} is flexible; poses are prescribed of rigid trees "
            "only, and pose_tracking follows them"
        )
    return kinematics.orientation(tree, ca.DM(tree.neutral), point)


def _goal(name: str, target: Target) -> Callable:
    """Return the target as a function of an Instant."""
    if callable(target):
        return lambda at: _target_pose(f"{name}: target", target(at))
    fixed = matrix(rigid_pose(f"{name}: target", target, "m"))
    return lambda at: fixed


def _target_pose(what: str, value: Matrix) -> Matrix:
    """Return the pose of a target's function; raise ValueError unless it is one (4x4)."""
    if isinstance(value, ca.SX | ca.MX) and value.is_constant():
        value = ca.evalf(value)
    if not isinstance(value, ca.SX | ca.MX):
        return ca.DM(rigid_pose(what, value))
    if value.shape != (4, 4):
        raise ValueError(f"{what}: expected shape (4, 4), got {value.shape}")
    return value


def _row_numbers(name: str, rows: Sequence[str]) -> list[int]:
    """Return the numbers of the rows that are named."""
    named = [rows] if isinstance(rows, str) else list(rows)
    unknown = [row for row in named if row not in ROWS]
    if unknown or not named:
        raise ValueError(f"{name}: rows: expected some of {', '.join(ROWS)}, got {rows!r}")
    return [number for number, row in enumerate(ROWS) if row in named]


def _movable(
    tree: Tree, name: str, point: str, target: Matrix | None, asked: list[int]
) -> list[int]:
    """Return the rows that joints can move; raise ValueError where they cannot do what is asked."""
    errors, slopes = _sample_errors(tree, point, target)
    free = list(asked)
    if target is not None:
        _check_reach(tree, name, point, target)
        still = [row for row in asked if np.ptp(errors[:, row]) < 1e-9]
        for row in still:
            if abs(errors[0, row]) > 1e-9:
                raise ValueError(
                    f"{name}: {ROWS[row]}: the target is {abs(errors[0, row]):.4g} {_unit(row)} "
                    "away in a direction in which no joint moves the point"
                )
        free = [row for row in asked if row not in still]
    ways = max(np.linalg.matrix_rank(slope, 1e-9) for slope in slopes)
    if len(free) > ways:
        labels = ", ".join(ROWS[row] for row in free)
        raise ValueError(
            f"{name}: the joints move the point in {ways} independent ways, which cannot meet "
            f"{len(free)} rows: {labels}; name {ways} of them in rows"
        )
    return free


def _sample_errors(tree: Tree, point: str, target: Matrix | None) -> tuple[np.ndarray, list]:
    """Return errors (SAMPLES, 6), zero without a target, and Jacobians (6, n) of configurations."""
    rng, place = np.random.default_rng(0), kinematics.point_named(tree, point)
    errors, slopes = np.zeros((SAMPLES, len(ROWS))), []
    for k, q in enumerate(rng.uniform(-1, 1, (SAMPLES, tree.dof))):
        moves = kinematics.motions(tree, ca.DM(q))
        slopes.append(np.array(kinematics.jacobian_at(tree, moves, place)))
        if target is not None:
            pose = kinematics.point_motion(tree, moves, place).pose
            unit = kinematics.orientation(tree, ca.DM(q), place)
            errors[k] = np.array(pose_error(pose, unit, target, unit)).ravel()
    return errors, slopes


def _check_reach(tree: Tree, name: str, point: str, target: Matrix) -> None:
    """Raise ValueError if a target lies farther from the first moving joint's axis than the way
    from axis to axis is long."""
    known = reach(tree, point)
    if known is None:
        return
    tip, length, axis = known
    far = float(np.linalg.norm(np.array(target)[:3, 3] - tip))
    if far > length + 1e-9:
        raise ValueError(
            f"{name}: the target lies {far:.4g} m from joint {axis!r}, and {point!r} is never more "
            f"than {length:.4g} m from it"
        )


def _unit(row: int) -> str:
    return "m" if row < 3 else "rad"
