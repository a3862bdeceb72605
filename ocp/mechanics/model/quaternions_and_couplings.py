"""Coordinates that are no joint's own angle or way: quaternions of balls, and functions that a
joint follows.

The link of a ball turns by R(p / |p|), p = (w, x, y, z) being a quaternion of any length but zero.
With the quaternion's rate its angular velocity in the link's own axes is

    w = 2 E(p) pd / |p|^2,    E(p) pd = vector part of conj(p) pd      (Nikravesh 1988, section 6.2)

A follower's angle or way is a function of a coordinate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.mechanics.elements.smooth_curves import cubic
from ocp.mechanics.values.callback_checks import as_column, check_callback
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import describe_value, freeze, numbers, set_fields
from ocp.pickling import portable
from ocp.spelling import suggest_fields

COMPONENTS = ("w", "x", "y", "z")


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Follows:
    """What a joint's angle (rad) or way (m) is: a `function` of the coordinate of that name.

    `function` takes and gives an expression, as `Polynomial` and `Curve` do; it is smooth twice or
    more. A joint that follows the coordinate of its own name has that coordinate. Raises ValueError
    naming the coordinate.
    """

    coordinate: str
    function: Callable[[Matrix], Matrix]

    def __post_init__(self) -> None:
        if not isinstance(self.coordinate, str) or not self.coordinate:
            raise ValueError(f"follows: expected a coordinate's name, got {self.coordinate!r}")
        if not callable(self.function):
            raise ValueError(
                f"follows {self.coordinate!r}: expected a function, got "
                f"{describe_value(self.function)}"
            )
        check_callback(f"follows {self.coordinate!r}: function", self.function, (1,), 1)


def is_constant(follows: Follows) -> bool:
    """Tell whether what follows a coordinate is the same wherever that is."""
    x = ca.SX.sym("x")
    return not ca.jacobian(ca.SX(as_column("follows", follows.function(x))), x).nnz()


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The function c0 + c1 x + c2 x^2 + ... of its `coefficients`, a mimic joint's with two.

    Raises ValueError unless they are finite numbers.
    """

    coefficients: Sequence[float]

    def __post_init__(self) -> None:
        entries = np.asarray(self.coefficients, dtype=float)
        if entries.ndim != 1 or not entries.size or not np.isfinite(entries).all():
            raise ValueError(f"polynomial: expected finite numbers, got {self.coefficients!r}")
        set_fields(self, coefficients=freeze(entries))

    def __call__(self, x: Matrix) -> Matrix:
        total: Matrix = self.coefficients[-1]
        for coefficient in reversed(self.coefficients[:-1]):
            total = coefficient + x * total
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseLine:
    """Straight lines from point to point, going on beyond both ends.

    Args:
        places: coordinates x (k,), increasing, two or more.
        values: values y (k,) there.

    Raises:
        ValueError: unless the places increase and there are as many values.

    Its slope jumps at the points: a solver does better with a spline.
    """

    places: Sequence[float]
    values: Sequence[float]

    def __post_init__(self) -> None:
        places = numbers("line: places", self.places, (np.size(self.places),))
        values = numbers("line: values", self.values, places.shape)
        if len(places) < 2 or not (np.diff(places) > 0).all():
            raise ValueError(
                f"line: places: expected two or more that increase, got {places.tolist()}"
            )
        set_fields(self, places=tuple(places.tolist()), values=tuple(values.tolist()))

    def __call__(self, x: Matrix) -> Matrix:
        slopes = [
            (end - start) / (after - before)
            for before, after, start, end in zip(
                self.places, self.places[1:], self.values, self.values[1:]
            )
        ]
        total = self.values[0] + slopes[0] * (x - self.places[0])
        for place, before, after in zip(self.places[1:], slopes, slopes[1:]):
            total = total + (after - before) * ca.fmax(x - place, 0)
        return total


@dataclass(frozen=True, slots=True)
class Nested:
    """The function `outer` of the value of another, `inner`, of a coordinate."""

    outer: Callable[[Matrix], Matrix]
    inner: Callable[[Matrix], Matrix]

    def __call__(self, x: Matrix) -> Matrix:
        return self.outer(self.inner(x))


def polynomial(coordinate: str, *coefficients: float) -> Follows:
    """Return the law by which a coordinate follows another, c0 + c1 x + c2 x^2 + ..., c being the
    `coefficients`."""
    return Follows(coordinate=coordinate, function=Polynomial(coefficients))


def rotation_from_quaternion(p: Matrix) -> Matrix:
    """Return the rotation (3x3) of a quaternion p (4,), scalar first, of any length but zero.

    Nikravesh (1988), section 6.2, over |p|^2.
    """
    w, x, y, z = (p[k] for k in range(4))
    rotation = ca.vertcat(
        ca.horzcat(w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return rotation / (w * w + x * x + y * y + z * z)


def conjugate_matrix(p: Matrix) -> Matrix:
    """Return the matrix (4x4) with conj(p) r = matrix @ r; its last three rows are E(p)."""
    w, x, y, z = (p[k] for k in range(4))
    return ca.vertcat(
        ca.horzcat(w, x, y, z),
        ca.horzcat(-x, w, z, -y),
        ca.horzcat(-y, -z, w, x),
        ca.horzcat(-z, y, -x, w),
    )


def spin_matrix(p: Matrix) -> Matrix:
    """Return 2 E(p) / |p|^2 (3, 4): angular velocity in the link's axes by the quaternion's
    rate."""
    return 2 * conjugate_matrix(p)[1:, :] / ca.sumsqr(p)


def spin_rate(p: Matrix, rate: Matrix, acceleration: Matrix) -> Matrix:
    """Return the angular acceleration (3, rad/s2) in the link's axes.

    2 E(p) (pdd - 2 (p.pd) / |p|^2 pd) / |p|^2, since E(pd) pd = 0.
    """
    return spin_matrix(p) @ (acceleration - 2 * ca.dot(p, rate) / ca.sumsqr(p) * rate)


def quaternion_moments(p: Matrix, torque: Matrix) -> Matrix:
    """Return the moments (3, N m) in the link's axes behind generalized forces (4,) of a
    quaternion, whose power by its rate is theirs by the angular velocity."""
    return conjugate_matrix(p)[1:, :] @ torque / 2


def length_acceleration(p: Matrix, rate: Matrix, acceleration: Matrix) -> Matrix:
    """Return d2|p|/dt2 (1/s2) of a quaternion p (4,)."""
    size = ca.sumsqr(p)
    along = ca.dot(p, rate) ** 2 / size
    return (ca.dot(p, acceleration) + ca.sumsqr(rate) - along) / ca.sqrt(size)


def value_and_derivatives(
    function: Callable[[Matrix], Matrix], x: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the value, slope and curvature of a function of one coordinate at x."""
    kind: Matrix = ca.MX if isinstance(x, ca.MX) else ca.SX
    symbol, parts = _curves(function, kind)
    values = ca.substitute(list(parts), [symbol], [x if isinstance(x, kind) else kind(x)])
    if isinstance(x, ca.DM):
        values = [ca.evalf(value) for value in values]
    return values[0], values[1], values[2]


@lru_cache(maxsize=512)
def _curves(
    function: Callable[[Matrix], Matrix], kind: Matrix
) -> tuple[Matrix, tuple[Matrix, ...]]:
    """Return a symbol, and the function's value and two derivatives of it."""
    x = kind.sym("x")
    value = kind(function(x))
    slope = ca.jacobian(value, x)
    return x, tuple(ca.densify(part) for part in (value, slope, ca.jacobian(slope, x)))


def spline_through(coordinate: str, places: Sequence[float], values: Sequence[float]) -> Follows:
    """Return the law by which a coordinate follows another, the natural cubic spline through
    points, straight beyond them.

    `places` (k,) of the coordinate (rad or m), increasing, two or more, and `values` (k,) of the
    joint there (rad or m). Raises ValueError naming the coordinate.
    """
    what = f"follows {coordinate!r}"
    at = numbers(f"{what}: places", places, (np.size(places),))
    wanted = numbers(f"{what}: values", values, (len(at),))
    if len(at) < 2 or not (np.diff(at) > 0).all():
        raise ValueError(f"{what}: places: expected two or more that increase, got {at.tolist()}")
    return Follows(coordinate=coordinate, function=cubic(at.tolist(), wanted.tolist()))
