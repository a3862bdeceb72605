"""Limits of ball joints: swing within a cone, twist between two angles, or the whole turn.

Of a quaternion p = (w, v), beside that of the pose at rest, and an axis a of the link

    1 - cos(swing) = 2 |v - (v.a) a|^2 / |p|^2        by which the axis leaves its place
    twist = 2 atan2(v.a, w)                           about the axis
    1 - cos(turn) = 2 |v|^2 / |p|^2

(the decomposition into swing and twist: Dobrowolski 2015), the same for p and -p and for
quaternions of any length. Cosines are smooth where a turn begins, as an angle is not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi

import casadi as ca
import numpy as np

from ocp.mechanics.model.quaternions_and_couplings import conjugate_matrix
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, is_open, matrix, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import limits, numbers
from ocp.problem.constraint import Constraint
from ocp.problem.constraints.attitudes import ball_rows, unit_quaternion
from ocp.problem.instant import Instant

SWING, TWIST, TURN = "swing", "twist", "turn"
AHEAD = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BallReach:
    """How far a ball has turned, as a function of an Instant: what is limited of it, row by row.

    `rows` are those of its quaternion in q, `axis` (3,) that of its twist, in the link, `rest` (4,)
    the quaternion at rest; `bounds` are {"swing" | "twist" | "turn": (lower, upper) rad}.
    """

    joint: str
    rows: tuple[int, ...]
    axis: tuple[float, ...]
    rest: tuple[float, ...]
    bounds: tuple[tuple[str, tuple[Number, Number]], ...]

    def __call__(self, at: Instant) -> Matrix:
        """Return one less the cosine of swing or turn, and by how much the twist (rad) is off the
        middle of its bounds."""
        known = dict(self.bounds)
        return ca.vertcat(*(self._row(what, known[what], at.q) for what in known))

    def angles(self, at: Instant) -> Matrix:
        """Return the limited quantities as angles (rad), swing and turn from 0 on."""
        w, along, across = self._parts(at.q)
        off = ca.norm_2(across)
        every = {
            SWING: 2 * ca.atan2(off, ca.sqrt(w**2 + along**2)),
            TWIST: ca.atan2(2 * w * along, w**2 - along**2),
            TURN: 2 * ca.atan2(ca.sqrt(off**2 + along**2), ca.fabs(w)),
        }
        return ca.vertcat(*(every[what] for what, _ in self.bounds))

    def _row(self, what: str, bounds: tuple[Number, Number], q: Matrix) -> Matrix:
        w, along, across = self._parts(q)
        length = w**2 + along**2 + ca.sumsqr(across)
        if what == TWIST:
            middle = matrix(bounds[0] + bounds[1]) / 2
            sine, cosine = 2 * w * along, w**2 - along**2
            far = ca.cos(middle) * cosine + ca.sin(middle) * sine
            return ca.atan2(ca.cos(middle) * sine - ca.sin(middle) * cosine, far)
        beside = ca.sumsqr(across) + (along**2 if what == TURN else 0)
        return 2 * beside / length

    def _parts(self, q: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return w, v.a and v - (v.a) a of the quaternion beside that at rest."""
        p = conjugate_matrix(ca.DM(self.rest)) @ q[list(self.rows)]
        axis = ca.DM(self.axis)
        along = ca.dot(p[1:], axis)
        return p[0], along, p[1:] - along * axis


def ball_limits(
    tree: Tree,
    joint: str,
    *,
    swing: Number | None = None,
    twist: Numbers = None,
    turn: Numbers = None,
    axis: Sequence[float] = AHEAD,
    rest: Numbers = (1.0, 0.0, 0.0, 0.0),
) -> Constraint:
    """Keep the ball `joint` within a cone, a range of twist, or an angle of its whole turn.

    `swing` (rad) is the half-angle of the cone in which the link's `axis` (3,) stays, about its
    place at rest; `twist` (rad) a pair of bounds of the turn about that axis, or one number for
    both ways; `turn` (rad) the most by which it may turn at all; any of them may be left out, and
    all may be open. `rest` is the pose from which all count, a rotation (3x3) or a unit quaternion
    (4,), by default that of the joint's home. Rows are one less the cosines of swing and turn, and
    by how much the twist (rad) is off the middle of its bounds. Raises ValueError naming the joint.
    """
    what = f"ball_limits of {joint!r}"
    rows = tuple(ball_rows(what, tree, joint))
    known: dict[str, tuple[Number, Number]] = {}
    if swing is not None:
        known[SWING] = _angle(f"{what}: swing", swing)
    if twist is not None:
        known[TWIST] = _range(f"{what}: twist", twist)
    if turn is not None:
        known[TURN] = _angle(f"{what}: turn", turn)
    if not known:
        raise ValueError(
            f"{what}: expected a swing and a twist (rad), or a turn (rad), got none of them"
        )
    reach = BallReach(
        joint=joint,
        rows=rows,
        axis=_unit(f"{what}: axis", axis),
        rest=tuple(unit_quaternion(f"{what}: rest", rest).tolist()),
        bounds=tuple(known.items()),
    )
    half = {name: (upper - lower) / 2 for name, (lower, upper) in known.items()}
    return Constraint(
        name=f"ball_limits.{joint}",
        function=reach,
        lower=[-half[name] if name == TWIST else -np.inf for name in known],
        upper=[half[name] if name == TWIST else _less_cos(known[name][1]) for name in known],
        labels=tuple(
            f"{joint}: twist off the middle of its bounds"
            if name == TWIST
            else f"{joint}: 1 - cos {name}"
            for name in known
        ),
        units=tuple("rad" if name == TWIST else "" for name in known),
    )


def reaches(constraints: Sequence[Constraint]) -> tuple[BallReach, ...]:
    """Return the limits of balls among constraints."""
    known: tuple[Callable, ...] = tuple(each.function for each in constraints)
    return tuple(each for each in known if isinstance(each, BallReach))


def _angle(what: str, value: Numbers) -> tuple[Number, Number]:
    if np.ndim(nominal(value)) != 0:
        raise ValueError(f"{what}: expected one angle (rad), got {value!r}")
    _, angle = limits(what, value, "rad")
    if not 0 < nominal(angle) < pi:
        raise ValueError(
            f"{what}: expected an angle above 0 and below pi (rad), got {nominal(angle):g}"
        )
    return 0.0 * angle, angle


def _range(what: str, value: Numbers) -> tuple[Number, Number]:
    lower, upper = limits(what, value, "rad")
    least, most = nominal((lower, upper))
    if not -pi <= least < most <= pi or most - least >= 2 * pi:
        raise ValueError(
            f"{what}: expected lower < upper within -pi and pi (rad), no whole turn, got {least:g} "
            f"and {most:g}"
        )
    return lower, upper


def _less_cos(angle: Number) -> Number:
    return 1 - ca.cos(matrix(angle)) if is_open(angle) else float(1 - np.cos(float(angle)))


def _unit(what: str, value: Numbers) -> tuple[float, ...]:
    axis = numbers(what, value, (3,))
    length = float(np.linalg.norm(axis))
    if not length > 0:
        raise ValueError(f"{what}: expected a direction (3,), got {value!r}")
    return tuple((np.asarray(axis, dtype=float) / length).tolist())
