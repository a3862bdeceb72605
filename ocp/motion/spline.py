"""B-spline motions over the normalised time s in [0, 1]: bases as constant matrices.

A curve is q(s) = B(s) c with control points c. The segments (knot spans) are equal unless knots are
given. (de Boor 1978, chapters IX-X; Xiang, Arora & Abdel-Malek 2009, eqs. 39-42; knot insertion:
Boehm 1980)
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ocp.motion.basis import Array, Basis, Curve
from ocp.motion.quadrature import sample
from ocp.spelling import suggest_fields

ALIKE = 1e-9  # of the motion: instants so close are one
APART = 1e-6  # of the motion: distinct knots are at least so far from each other
SIDE = 1e-8  # of the motion: how far before a jump the value from the left is taken
SPACING = 1e-3  # of the motion: free knots are at least so far from each other
CLOSEST = 10 * APART  # of the motion: the least spacing
KNOTS = ("given", "free")
CONTAINED = 1e-7  # of a control point: how far a curve may be off a basis that contains it


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class BSpline:
    """A basis of `points` control points of the given degree.

    `clamped` repeats the end knots, so that the curve starts at c_0. Clamped and uniform knots span
    the same curves. `inner` are the knots between 0 and 1 where they are not equally spaced, one
    for each point beyond degree + 1; a knot that stands there m times leaves degree - m derivatives
    continuous, degree - 1 times the accelerations jump.

    `curves` are splines of the coordinates, one for each, where these differ: each is one that this
    basis contains, whose control points are the unknowns (`curve_matrix`); () where all have the
    control points of this one.

    `knots` are "given", or "free": then the inner ones are variables of the program (Xiang et al.
    2009, eq. 42; Barman 2020, x = [P, s]), no nearer to each other and to the ends than `spacing`
    (of the motion), and `inner` is where they begin. Raises ValueError when the points are too few
    for one segment, or the knots are none of a motion.
    """

    points: int
    degree: int = 3
    clamped: bool = True
    inner: tuple[float, ...] = ()
    knots: str = "given"
    spacing: float = SPACING
    curves: tuple["BSpline", ...] = ()

    collocated: ClassVar[bool] = False
    hull: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for what, value in (("points", self.points), ("degree", self.degree)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise ValueError(f"{what}: expected a whole number, got {value!r}")
        if not isinstance(self.clamped, (bool, np.bool_)):
            raise ValueError(f"clamped: expected True or False, got {self.clamped!r}")
        if self.degree < 2:
            raise ValueError(
                f"degree: expected at least 2 (accelerations must exist), got {self.degree}"
            )
        if self.points < self.degree + 1:
            raise ValueError(
                f"control points: a spline of degree {self.degree} needs at least "
                f"{self.degree + 1}, got {self.points}"
            )
        object.__setattr__(self, "inner", _numbers(self.inner))
        if self.inner:
            _check_inner(self)
            equal = np.linspace(0.0, 1.0, len(self.inner) + 2)[1:-1]
            if np.abs(equal - self.inner).max() < ALIKE:
                object.__setattr__(self, "inner", ())
        _check_knots(self)
        if self.curves:
            object.__setattr__(self, "curves", _contained_curves(self))

    @property
    def moving(self) -> bool:
        """Whether knots are variables."""
        return self.knots == "free" and self.segments > 1

    @property
    def segments(self) -> int:
        """Number of polynomial pieces."""
        return len(set(self.inner)) + 1 if self.inner else self.points - self.degree

    @property
    def breaks(self) -> Array:
        """Ends of the segments in s, (segments + 1,)."""
        if self.inner:
            return np.array([0.0, *dict.fromkeys(self.inner), 1.0])
        return np.linspace(0.0, 1.0, self.segments + 1)

    @property
    def jumps(self) -> Array:
        """The knots at which accelerations jump."""
        times = {knot: self.inner.count(knot) for knot in dict.fromkeys(self.inner)}
        return np.array([knot for knot, count in times.items() if count >= self.degree - 1])

    @property
    def kinks(self) -> Array:
        """The knots at which d3q/ds3 jumps."""
        inner = self.inner or self.breaks[1:-1].tolist()
        knots = dict.fromkeys(inner)
        return np.array([knot for knot in knots if inner.count(knot) >= self.degree - 2])

    @property
    def nodes(self) -> Array:
        """The Greville abscissae (points,), one instant per control point, where equalities are
        well posed.

        They are those of the clamped knots, which span the same curves, for unclamped ones too: the
        latter's own lie partly outside [0, 1]. Where knots are free they are those of equal knots,
        and move with the segment that they lie in.
        """
        return self._greville(self.degree, self.points)

    @property
    def knot_vector(self) -> Array:
        """All knots, (points + degree + 1,)."""
        if self.clamped:
            return self._clamped_to(self.degree)
        return np.arange(-self.degree, self.segments + self.degree + 1) / self.segments

    def _clamped_to(self, degree: int) -> Array:
        """Return the knots with ends repeated for that degree."""
        inner = self.inner or self.breaks[1:-1]
        return np.concatenate([np.zeros(degree + 1), inner, np.ones(degree + 1)])

    def _greville(self, degree: int, count: int) -> Array:
        """Return the Greville abscissae (count,) of splines of that degree on these segments."""
        if self.knots == "free" and self.inner:
            equal = BSpline(points=self.points, degree=self.degree)
            means = _means(equal._clamped_to(degree), degree, count)
            return np.interp(means, equal.breaks, self.breaks)
        return _means(self._clamped_to(degree), degree, count)

    def values(self, s: ArrayLike, order: int = 0) -> Array:
        """Return B (N, points) with d^order q / ds^order (s) = B c.

        At a knot where that derivative jumps the value from the right is taken, at s = 1 from the
        left.
        """
        s = np.atleast_1d(np.asarray(s, dtype=float))
        if order > self.degree:
            return np.zeros((len(s), self.points))
        return _basis(self.knot_vector, self.degree, s, order)

    def interpolation(self, s: ArrayLike, nodes: ArrayLike) -> Array:
        """Return the matrix (N, nodes) that picks what is known at a node, and zero between
        nodes."""
        gaps = np.abs(np.asarray(nodes) - np.asarray(s)[:, None])
        picked = np.zeros(gaps.shape)
        nearest = gaps.argmin(axis=1)
        at_node = gaps[np.arange(len(gaps)), nearest] < ALIKE
        picked[at_node, nearest[at_node]] = 1.0
        return picked

    def abscissae(self, order: int = 0) -> Array:
        """Return the Greville abscissae of d^order q / ds^order, order 0, 2 or 3: as many instants
        as it has freedom."""
        if order == 0:
            return self.nodes
        degree = self.degree - order
        if degree == 0:
            return (self.breaks[:-1] + self.breaks[1:]) / 2
        means = self._greville(degree, self.points - order)
        return means - SIDE * np.append(np.diff(means) < ALIKE, False)  # a jump: from either side

    def grid(self, per_segment: int) -> Array:
        """Return `per_segment` equal steps through every segment, knots and both ends included,
        where accelerations jump from either side."""
        steps = sample(self, per_segment)
        return np.sort(np.append(steps, self.jumps - SIDE)) if self.inner else steps

    def closing(self, level: int, implied: tuple[frozenset, frozenset]) -> Array:
        """Return the abscissae for level 0, with the rate (level 1) at both ends in place of the
        second and the second last of them: as many rows as there are points, less what is implied
        at the ends."""
        if level == 2:
            return np.empty(0)
        if level == 1:
            return np.array([float(end) for end in (0, 1) if 1 not in implied[end]])
        dropped = {1 % self.points, -2 % self.points}
        for end, first, third in ((0, 0, 2), (1, -1, -3)):
            dropped |= {first % self.points} if 0 in implied[end] else set()
            dropped |= {third % self.points} if 2 in implied[end] else set()
        return np.delete(self.nodes, sorted(dropped))

    @property
    def rows_by_curve(self) -> dict["BSpline", Array]:
        """{spline: the rows of q whose curve it is}, where coordinates have curves of their own."""
        rows: dict[BSpline, list[int]] = {}
        for row, curve in enumerate(self.curves):
            rows.setdefault(curve, []).append(row)
        return {curve: np.array(numbers) for curve, numbers in rows.items()}

    def through(self, curve: Curve, *, rough: bool = False) -> Array:
        """Return control points (n, points) of the spline that interpolates a curve at the Greville
        abscissae; of a rough one, that comes nearest to it at many instants."""
        if rough:
            return self.fit(curve(self._many, 0), self._many)
        s, matrix = _at_nodes(self)
        return _fitted(matrix, curve(s, 0))

    @property
    def _many(self) -> Array:
        """Instants that tell a rough curve's points, some in every segment."""
        if self.inner:
            return sample(self, 2 * self.degree)
        return np.linspace(0.0, 1.0, 4 * self.points + 1)

    def fit(self, values: ArrayLike, s: ArrayLike) -> Array:
        """Return control points (n, points) whose curve meets values (n, N) at s (N,) in the
        least-squares sense, of least norm if open."""
        return _fitted(self.values(s), values)


def coarsest_curve(motion: Basis) -> Basis:
    """Return the curve with the fewest points, of coordinates that follow no others; the basis
    itself where all have it."""
    return min(motion.curves, key=lambda curve: curve.points) if motion.curves else motion


def spline_of_curves(curves: Iterable[BSpline], degree: int) -> BSpline:
    """Return the spline of coordinates' own curves, whose basis is the least of a degree that
    contains them; knots of theirs that are nearer than APART become one."""
    curves = tuple(curves)
    known: list[float] = []
    for s in sorted({float(s) for curve in curves for s in curve.breaks[1:-1]}):
        if not known or s - known[-1] >= APART:
            known.append(s)
    times: dict[float, int] = {}
    kept: dict[BSpline, BSpline] = {}
    for curve in dict.fromkeys(curves):
        places = np.searchsorted(known, np.array(curve.inner or curve.breaks[1:-1]) + ALIKE) - 1
        inner = [known[place] for place in places]
        kept[curve] = spline_with_knots(curve.degree, inner)
        for s in inner:
            times[s] = max(times.get(s, 0), inner.count(s) + degree - curve.degree)
    whole = spline_with_knots(degree, (s for s, count in times.items() for _ in range(count)))
    return replace(whole, curves=tuple(kept[curve] for curve in curves))


def curve_matrix(motion: BSpline, curve: BSpline) -> Array:
    """Return the matrix (points of the motion, points of the curve) that makes control points of
    the motion's basis from those of a curve that it contains."""
    return _curve_matrix(replace(motion, curves=()), curve)


@lru_cache(maxsize=128)
def _curve_matrix(whole: BSpline, curve: BSpline) -> Array:
    s, basis = _at_nodes(whole)
    matrix = np.linalg.solve(basis, curve.values(s))
    matrix[np.abs(matrix) < ALIKE] = 0.0
    matrix.setflags(write=False)  # it is shared
    return matrix


def split_segments(motion: BSpline, times: int = 2) -> BSpline:
    """Return the BSpline with every segment split into `times`."""
    if not motion.inner:
        points = times * motion.segments + motion.degree
        return BSpline(points=points, degree=motion.degree, clamped=motion.clamped)
    steps = sample(motion, times)
    return spline_with_knots(motion.degree, (*motion.inner, *np.setdiff1d(steps, motion.breaks)))


def insert_knots(
    motion: BSpline, control_points: ArrayLike, knots: Iterable[float]
) -> tuple[BSpline, Array]:
    """Return (BSpline, its control points (n, points)) of the same curve with more inner knots.

    A knot x between t_k and t_k+1 makes each point between c_i-1 and c_i, at
    (x - t_i) / (t_i+p - t_i) of the way (Boehm 1980). Raises ValueError for knots that a motion
    cannot have.
    """
    knots, p = sorted(float(knot) for knot in knots), motion.degree
    inner = motion.inner or motion.breaks[1:-1]
    more = spline_with_knots(p, (*inner, *knots))
    t, points = motion._clamped_to(p), clamped_points(motion, control_points)
    for x in knots:
        k = int(np.searchsorted(t, x, side="right")) - 1
        i = np.arange(points.shape[1] + 1)
        share = np.where(i <= k - p, 1.0, 0.0)
        within = i[(i > k - p) & (i <= k)]
        share[within] = (x - t[within]) / (t[within + p] - t[within])
        before, after = np.pad(points, ((0, 0), (1, 0))), np.pad(points, ((0, 0), (0, 1)))
        points, t = share * after + (1 - share) * before, np.insert(t, k + 1, x)
    return more, points


def clamped_points(motion: BSpline, control_points: ArrayLike) -> Array:
    """Return the control points (n, points) of the same curve on clamped knots."""
    points = np.atleast_2d(np.asarray(control_points, dtype=float))
    if motion.clamped:
        return points
    clamped = BSpline(points=motion.points, degree=motion.degree)
    return clamped.through(lambda s, order: points @ motion.values(s, order).T)


def spline_with_knots(degree: int, inner: Iterable[float]) -> BSpline:
    """Return the clamped BSpline with these inner knots, in any order."""
    inner = tuple(sorted(float(knot) for knot in inner))
    return BSpline(points=len(inner) + degree + 1, degree=degree, inner=inner)


def _numbers(inner: Iterable[float]) -> tuple[float, ...]:
    """Return inner knots as numbers; raise ValueError if they are none."""
    try:
        return tuple(float(knot) for knot in inner)
    except (TypeError, ValueError):
        raise ValueError(f"inner: expected numbers, one for each knot, got {inner!r}") from None


def _check_inner(motion: BSpline) -> None:
    """Raise ValueError for inner knots that are none of a motion."""
    inner, count = np.array(motion.inner), motion.points - motion.degree - 1
    if not motion.clamped:
        raise ValueError("inner: knots of one's own are clamped; leave clamped True")
    if len(inner) != count:
        raise ValueError(
            f"inner: {motion.points} control points of degree {motion.degree} have {count} inner "
            f"knots, got {len(inner)}"
        )
    gaps = np.diff(np.concatenate([[0.0], inner, [1.0]]))
    ends = min(gaps[0], gaps[-1])
    if not (gaps >= 0).all() or not ends >= APART or ((gaps > 0) & (gaps < APART)).any():
        raise ValueError(
            "inner: expected knots between 0 and 1 in order, the same or at least "
            f"{APART:g} apart, got {motion.inner}"
        )
    most = max(motion.inner.count(knot) for knot in motion.inner)
    if most > motion.degree - 1:
        raise ValueError(
            f"inner: expected a knot at most {motion.degree - 1} times, so that rates are "
            f"continuous, got one {most} times"
        )


def _check_knots(motion: BSpline) -> None:
    """Raise ValueError for a word or a spacing that is none, and for knots that cannot be free."""
    if not isinstance(motion.knots, str) or motion.knots not in KNOTS:
        raise ValueError(f"knots: expected {' or '.join(KNOTS)}, got {motion.knots!r}")
    number = isinstance(motion.spacing, Real) and not isinstance(motion.spacing, bool)
    if not number or not CLOSEST <= motion.spacing < 1:
        raise ValueError(
            f"spacing: expected a part of the motion, {CLOSEST:g} or more and below 1, "
            f"got {motion.spacing!r}"
        )
    if motion.knots == "given":
        return
    if motion.degree < 3 or not motion.clamped:
        raise ValueError(
            "knots: free ones are those of a clamped spline of degree 3 or more, got "
            f"degree {motion.degree}{'' if motion.clamped else ', clamped False'}"
        )
    gaps = np.diff((0.0, *(motion.inner or motion.breaks[1:-1]), 1.0))
    if gaps.min() < motion.spacing - ALIKE:
        raise ValueError(
            f"knots: free ones begin at least {motion.spacing:g} apart (spacing), got "
            f"{motion.inner or f'{motion.segments} equal segments'}"
        )


def _contained_curves(motion: BSpline) -> tuple[BSpline, ...]:
    """Return the curves of a motion's coordinates; raise ValueError for one that it does not
    contain, and on free knots."""
    curves = tuple(motion.curves)
    whole = replace(motion, curves=()) if curves else motion
    if curves and whole.moving:
        raise ValueError("curves: of coordinates are those on given knots, got knots 'free'")
    for number, curve in enumerate(curves):
        if not isinstance(curve, BSpline) or curve.curves or curve.moving:
            raise ValueError(f"curves: expected BSplines on given knots, got {curve!r}")
        s = sample(whole, 2 * motion.degree)
        off = curve.values(s) - whole.values(s) @ curve_matrix(whole, curve)
        if not np.abs(off).max() < CONTAINED:
            raise ValueError(
                f"curves: that of row {number} of q is none of the motion's basis: it is "
                f"{np.abs(off).max():.2g} off; its degree may not be higher, nor its knots others"
            )
    return curves


@lru_cache(maxsize=32)
def _at_nodes(motion: BSpline) -> tuple[Array, Array]:
    """Return the Greville abscissae (points,) of a spline, and its basis there."""
    nodes = motion.nodes
    known = nodes, motion.values(nodes)
    for array in known:
        array.setflags(write=False)  # they are shared
    return known


def _fitted(matrix: Array, values: ArrayLike) -> Array:
    """Return control points (n, points) whose curve meets values (n, N) in the least-squares
    sense, where the basis is a matrix (N, points)."""
    return np.linalg.lstsq(matrix, np.asarray(values, dtype=float).T, rcond=None)[0].T


def _means(knots: Array, degree: int, count: int) -> Array:
    return np.array([knots[k + 1 : k + degree + 1].mean() for k in range(count)])


def _basis(knots: Array, degree: int, s: Array, order: int) -> Array:
    """Return the basis functions' derivatives at s (N, functions); at any, degree + 1 are not zero:
    values by de Boor's recursion up to degree - order, then differences."""
    spans = np.nonzero(np.diff(knots) > 0)[0]
    inside = spans[(knots[spans] >= -1e-12) & (knots[spans] < 1 - 1e-12)]
    number = np.searchsorted(knots[inside] - 1e-12, s, side="right") - 1
    span = inside[np.clip(number, 0, None)]  # the knot that the segment of each s begins with
    local = np.ones((len(s), 1))
    for p in range(1, degree + 1):
        first = span[:, None] - np.arange(p, -1, -1)  # functions of degree p that are not zero
        lower = np.zeros((len(s), p + 2))
        lower[:, 1:-1] = local
        lengths = knots[p:] - knots[:-p]
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        left, right = scale[first], scale[first + 1]
        if p <= degree - order:
            left = (s[:, None] - knots[first]) * left
            right = (knots[first + p + 1] - s[:, None]) * right
            local = left * lower[:, :-1] + right * lower[:, 1:]
        else:
            local = p * left * lower[:, :-1] - p * right * lower[:, 1:]
    values = np.zeros((len(s), len(knots) - degree - 1))
    values[np.arange(len(s))[:, None], span[:, None] - np.arange(degree, -1, -1)] = local
    return values
