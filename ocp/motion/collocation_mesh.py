"""Motions of direct collocation: states and torques as polynomials over a mesh of intervals.

On every interval of length h the rates w and the accelerations a run through their values at the
stages c_1 .. c_m, and

    q(s) = q_k + h sum_j w_j int l_j,   w(s) = w_k + h sum_j a_j int l_j,   a(s) = sum_j a_j l_j

(primes are d/ds; l_j of Lagrange) so that q' = w and w' = a hold at the stages. Stages 0, 1/2, 1
are Hermite and Simpson's rule, its midpoints kept as unknowns (Kelly 2017); roots of P_m - P_(m-1),
with 1 the last one, are Radau's (Garg et al. 2010).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ocp.motion.basis import Array, Curve
from ocp.motion.spline import APART, CLOSEST, SIDE, SPACING, BSpline
from ocp.motion.spline_part import Part
from ocp.spelling import suggest_fields

MESHES = ("hermite-simpson", "radau")
LENGTHS = ("given", "free")
ALIKE = 1e-12  # of the motion: instants so close are one


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """A basis of piecewise polynomials on `intervals` intervals.

    `method`: "hermite-simpson" or "radau"; `order`: the number of stages of "radau" on each. They
    are equal unless `inner` gives the instants between 0 and 1 at which they meet. `lengths` of
    "radau" may be "free": then those instants are variables of the program, and no interval is
    shorter than `shortest` (of the motion); `inner` is where they begin.

    As a BSpline has control points, it has `points` numbers per joint: q and q' at all `positions`,
    then q'' at the `nodes`, where the stages lie. Raises ValueError naming what is wrong.
    """

    method: str
    intervals: int
    order: int = 3
    inner: tuple[float, ...] = ()
    lengths: str = "given"
    shortest: float = SPACING

    collocated: ClassVar[bool] = True
    curves: ClassVar[tuple] = ()
    hull: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.method not in MESHES:
            raise ValueError(f"method: expected one of {', '.join(MESHES)}, got {self.method!r}")
        for what in ("intervals", "order"):
            value = getattr(self, what)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or value < 1:
                raise ValueError(f"{what}: expected a whole number of at least 1, got {value!r}")
        object.__setattr__(self, "inner", interval_ends(self.inner, self.intervals))
        check_lengths(self.method, self.intervals, self.lengths, self.shortest)

    @property
    def moving(self) -> bool:
        """Whether the lengths of the intervals are variables."""
        return self.lengths == "free" and self.intervals > 1

    @property
    def spacing(self) -> float:
        """The least length of a free interval (of the motion)."""
        return self.shortest

    @property
    def segments(self) -> int:
        """Number of polynomial pieces."""
        return self.intervals

    @property
    def breaks(self) -> Array:
        """Ends of the intervals in s, (intervals + 1,)."""
        return _breaks(self)

    @property
    def widths(self) -> Array:
        """Lengths of the intervals in s, (intervals,)."""
        return np.diff(self.breaks)

    @property
    def stages(self) -> Array:
        """Where the stages lie on an interval, between 0 and 1."""
        return np.array([0.0, 0.5, 1.0]) if self.method == MESHES[0] else _radau(self.order)

    @property
    def degree(self) -> int:
        """Degree of the polynomials of q and q'."""
        return len(self.stages)

    @property
    def positions(self) -> Array:
        """Instants at which q and q' are unknowns: the start and all stages."""
        return _positions(self)

    @property
    def nodes(self) -> Array:
        """Instants at which q'' is an unknown, and the law of motion holds: the stages."""
        return self.positions[self._skipped :]

    @property
    def _skipped(self) -> int:
        """How many positions come before the first stage."""
        return 0 if self.stages[0] == 0 else 1

    @property
    def points(self) -> int:
        """Unknowns per joint."""
        return 2 * len(self.positions) + len(self.nodes)

    @property
    def weights(self) -> Array:
        """Weights of the nodes in integrals over [0, 1]."""
        total, last = np.zeros(len(self.nodes)), _integrals(self, np.ones(1))[0]
        for interval in range(self.intervals):
            total[interval_indices(self, interval)[1]] += last * self.widths[interval]
        return total

    def values(self, s: ArrayLike, order: int = 0) -> Array:
        """Return B (N, points) with d^order q / ds^order (s) = B c: q, q' and q'' are polynomials
        of their own; where they meet at the end of an interval, they are those of its stages.

        q''' is the slope of polynomials through the values of q'' at an interval's nodes, the start
        among them where that is one; where two meet, from the right.
        """
        s = np.atleast_1d(np.asarray(s, dtype=float))
        if order == 3:
            return np.hstack([np.zeros((len(s), 2 * len(self.positions))), self._slopes(s)])
        values, line = np.zeros((len(s), self.points)), np.arange(len(s))
        first, size = (self._skipped if order == 2 else 0), len(self.positions)
        nearest, known = _nearest(self.positions, s, first)
        values[line[known], order * size + nearest[known] - first] = 1.0
        line = line[~known]
        interval = np.searchsorted(self.breaks[1:-1], s[line], side="right")
        start, stages = interval_indices(self, interval[:, None])
        width = self.widths[interval]
        place = (s[line] - self.breaks[interval]) / width
        if order == 2:
            values[line[:, None], 2 * size + stages] = lagrange(self, place)
            return values
        slopes = (order + 1) * size + stages + (0 if order else self._skipped)
        values[line, order * size + start[:, 0]] = 1.0
        values[line[:, None], slopes] += _integrals(self, place) * width[:, None]
        return values

    def first_order_values(self, s: ArrayLike, order: int = 0) -> Array:
        """Return B (N, points) as `values` does, of what has a law of first order: q' is the
        polynomial through its values at an interval's stages, and may jump between intervals; of
        q'' nothing is known, and it is zero."""
        if order == 0:
            return self.values(s)
        s = np.atleast_1d(np.asarray(s, dtype=float))
        values, line = np.zeros((len(s), self.points)), np.arange(len(s))
        if order > 1:
            return values
        size = len(self.positions)
        nearest, known = _nearest(self.positions, s, self._skipped)
        values[line[known], size + nearest[known]] = 1.0
        line = line[~known]
        interval = np.searchsorted(self.breaks[1:-1], s[line], side="right")
        stages = interval_indices(self, interval[:, None])[1]
        place = (s[line] - self.breaks[interval]) / self.widths[interval]
        values[line[:, None], size + self._skipped + stages] = lagrange(self, place)
        return values

    @property
    def second_order(self) -> Array:
        """Numbers of the points that a law of first order does not know: q' where no stage is, and
        q''."""
        size = len(self.positions)
        return np.append(size + np.arange(self._skipped), np.arange(2 * size, self.points))

    def _slopes(self, s: Array) -> Array:
        """Return the matrix (N, nodes) that makes slopes of q'' from its values at the nodes."""
        slopes = np.zeros((len(s), len(self.nodes)))
        intervals = np.searchsorted(self.breaks[1:-1], s + ALIKE, side="right")
        for interval in np.unique(intervals):
            inside, (numbers, places) = intervals == interval, self._through(interval)
            start, width = self.breaks[interval], self.widths[interval]
            values = _inclines(places, (s[inside] - start) / width) / width
            slopes[np.ix_(inside, numbers)] = values
        return slopes

    def _through(self, interval: int) -> tuple[Array, Array]:
        """Return the numbers of the nodes that q''' is known by on an interval, and where they lie
        there."""
        numbers, places = interval_indices(self, interval)[1], self.stages
        if self._skipped and interval > 0:
            return np.append(numbers[0] - 1, numbers), np.append(0.0, places)
        return numbers, places

    def interpolation(self, s: ArrayLike, nodes: ArrayLike | None = None) -> Array:
        """Return the matrix (N, nodes) that runs the polynomials through values at the nodes, as
        torques do."""
        return self.values(s, 2)[:, 2 * len(self.positions) :]

    def abscissae(self, order: int = 0) -> Array:
        """Return the nodes, where equalities are well posed; those on q''' are so where its
        polynomials or differences are known, once for each that is free."""
        return self.rates if order == 3 else self.nodes

    @property
    def rates(self) -> Array:
        """Instants that tell all of q''': on every interval as many as its polynomial has freedom,
        both ends from the inside among them, or the middle where it is constant."""
        instants = []
        for interval, (start, end) in enumerate(pairwise(self.breaks.tolist())):
            count = len(self._through(interval)[0]) - 1
            last = end - (SIDE if end < 1 else 0.0)
            instants.append(np.linspace(start, last, count) if count > 1 else (start + end) / 2)
        return np.hstack(instants)

    def grid(self, per_segment: int = 1) -> Array:
        """Return the positions, where inequalities hold."""
        return self.positions

    def closing(self, level: int, implied: tuple[frozenset, frozenset]) -> Array:
        """Return for levels 0 and 1 the ends of every interval, and for level 2 its inner stages
        but the middle one: as many rows as an interval has accelerations, less what is implied at
        the ends of the motion."""
        if len(self.stages) < 2:
            raise ValueError("order: expected at least 2 to keep loops closed, got 1")
        ends = [end for end in (0, 1) if level not in implied[end]]
        if level < 2:
            return np.array([s for s in self.breaks.tolist() if 0 < s < 1 or s in ends])
        inner = self.stages[(self.stages > 0) & (self.stages < 1)]
        inner = np.delete(inner, len(inner) // 2)
        begin = [0.0] if self.stages[0] == 0 and 0 in ends else []
        return np.append(begin, (self.breaks[:-1, None] + np.outer(self.widths, inner)).ravel())

    def through(self, curve: Curve, *, rough: bool = False) -> Array:
        """Return the points (n, points) of a curve: q and q' at the positions, q'' at the nodes."""
        places = (self.positions, self.positions, self.nodes)
        return np.hstack([curve(s, order) for order, s in enumerate(places)])


def interval_indices(mesh: Mesh, interval: Any) -> tuple[Any, Array]:
    """Return of an interval, or of a column of them, the index of its start among the positions,
    and of its stages among the nodes."""
    count, skipped = len(mesh.stages), int(mesh.stages[0] > 0)
    start = interval * (count - 1 + skipped)
    return start, start + np.arange(count)


def lagrange(mesh: Mesh, places: ArrayLike) -> Array:
    """Return l_j at places of an interval, (places, stages)."""
    degree = len(mesh.stages) - 1
    vandermonde = np.polynomial.legendre.legvander
    inverse = np.linalg.inv(vandermonde(2 * mesh.stages - 1, degree))
    return vandermonde(2 * np.asarray(places) - 1, degree) @ inverse


def _inclines(nodes: Array, places: Array) -> Array:
    """Return the slopes at places of the polynomials that are 1 at one of the nodes and 0 at the
    others, (places, nodes)."""
    powers, power = np.vander(nodes, increasing=True), np.arange(1, len(nodes))
    return power * places[:, None] ** (power - 1) @ np.linalg.inv(powers)[1:]


def defects(mesh: Mesh) -> Array:
    """Return the matrix D (2 (positions - 1), points) with D c = 0 where q' = w and w' = a at all
    stages; first q, then w, at each."""
    gains, integrals = stage_parts(mesh)
    return gains - np.repeat(widths_of_stages(mesh), 2)[:, None] * integrals


def widths_of_stages(mesh: Mesh) -> Array:
    """Return the length of the interval of every position but the first, (positions - 1,)."""
    return np.repeat(mesh.widths, len(mesh.positions[1:]) // mesh.intervals)


def stage_parts(mesh: Mesh) -> tuple[Array, Array]:
    """Return the matrices G and I (2 (positions - 1), points): what q and w gain from the start of
    an interval to a stage is G c, and their integrals that far I c times the interval's length."""
    size, first = len(mesh.positions), len(mesh.positions) - len(mesh.nodes)
    gains, areas = np.zeros((2, size - 1, 2, mesh.points))
    integrals = _integrals(mesh, mesh.stages)
    for interval in range(mesh.intervals):
        start, stages = interval_indices(mesh, interval)
        for position, line in zip(stages + first, integrals):
            if position == start:
                continue
            for order in (0, 1):
                slopes = (order + 1) * size + stages + (0 if order else first)
                ends = [order * size + position, order * size + start]
                gains[position - 1, order, ends] = 1.0, -1.0
                areas[position - 1, order, slopes] = line
    return gains.reshape(-1, mesh.points), areas.reshape(-1, mesh.points)


def power_series(mesh: Mesh, values: Array, interval: int) -> Array:
    """Return the coefficients (rows, stages) of powers of (s - s_k) / h that give values (rows,
    nodes) on an interval."""
    powers = np.vander(mesh.stages, increasing=True)
    return values[:, interval_indices(mesh, interval)[1]] @ np.linalg.inv(powers).T


def interval_ends(inner: Iterable[float], intervals: int) -> tuple[float, ...]:
    """Return the instants at which so many intervals meet, none if they are equal.

    Raises ValueError unless they lie between 0 and 1 in order.
    """
    inner = tuple(float(instant) for instant in inner)
    if not inner:
        return ()
    if len(inner) != intervals - 1:
        raise ValueError(
            f"inner: {intervals} intervals meet at {intervals - 1} instants, got {len(inner)}"
        )
    if not np.diff((0.0, *inner, 1.0)).min() >= APART:
        raise ValueError(
            f"inner: expected instants between 0 and 1 in order, at least {APART:g} apart, "
            f"got {inner}"
        )
    equal = np.linspace(0.0, 1.0, intervals + 1)[1:-1]
    return () if np.abs(equal - inner).max() < ALIKE else inner


def check_lengths(method: str, intervals: int, lengths: str, shortest: float) -> None:
    """Raise ValueError for lengths of intervals that are neither given nor free, or cannot be
    so."""
    if lengths not in LENGTHS:
        raise ValueError(f"lengths: expected one of {', '.join(LENGTHS)}, got {lengths!r}")
    if lengths == "free" and method != MESHES[1]:
        raise ValueError(f"lengths: those of {MESHES[1]!r} may be free, not those of {method!r}")
    if isinstance(shortest, bool) or not isinstance(shortest, (int, float)):
        raise ValueError(f"shortest: expected a number, got {shortest!r}")
    if lengths == "free" and not CLOSEST <= shortest <= 1 / intervals:
        raise ValueError(
            f"shortest: expected {CLOSEST:g} to {1 / intervals:.4g}, the equal share of "
            f"{intervals} intervals, got {shortest:g}"
        )


def motion_from_data(data: dict) -> BSpline | Mesh | Part:
    """Return the BSpline, the Mesh or the Part of a spline whose fields `data` holds."""
    if "whole" in data:
        return Part(**data | {"whole": BSpline(**data["whole"])})
    if "intervals" in data:
        return Mesh(**data)
    curves = tuple(BSpline(**each | {"curves": ()}) for each in data.get("curves", ()))
    return BSpline(**data | {"curves": curves})


def _nearest(positions: Array, s: Array, first: int) -> tuple[Array, Array]:
    """Return the index of the position nearest to each s, and whether it is one of those from
    `first` on, and there."""
    right = np.clip(np.searchsorted(positions, s), 1, len(positions) - 1)
    left_is_nearer = positions[right] - s >= s - positions[right - 1]
    nearest = np.where(left_is_nearer, right - 1, right)
    return nearest, (np.abs(positions[nearest] - s) <= ALIKE) & (nearest >= first)


@lru_cache(maxsize=32)
def _breaks(mesh: Mesh) -> Array:
    ends = [0.0, *mesh.inner, 1.0] if mesh.inner else np.linspace(0.0, 1.0, mesh.intervals + 1)
    return _kept(np.array(ends))


@lru_cache(maxsize=32)
def _positions(mesh: Mesh) -> Array:
    inner = mesh.stages[mesh.stages > 0]
    within = mesh.breaks[:-1, None] + np.outer(mesh.widths, inner)
    within[:, -1] = mesh.breaks[1:]
    return _kept(np.append(0.0, within.ravel()))


def _kept(values: Array) -> Array:
    """Return an array that nobody changes."""
    values.flags.writeable = False
    return values


@lru_cache(maxsize=32)
def _radau(order: int) -> Array:
    legendre = np.polynomial.legendre
    roots = np.sort(legendre.legroots(np.append(np.zeros(order - 1), [-1.0, 1.0])).real)
    for _ in range(2):  # Newton's steps polish what the companion matrix gives
        series = np.append(np.zeros(order - 1), [-1.0, 1.0])
        roots -= legendre.legval(roots, series) / legendre.legval(roots, legendre.legder(series))
    roots[-1] = 1.0
    return (roots + 1) / 2


def _integrals(mesh: Mesh, places: ArrayLike) -> Array:
    """Return the integral of l_j from 0 to each place of an interval, (places, stages)."""
    nodes, weights = np.polynomial.legendre.leggauss(len(mesh.stages))
    places, count = np.asarray(places), len(mesh.stages)
    inner = np.outer(places, (nodes + 1) / 2).ravel()
    values = lagrange(mesh, inner).reshape(len(places), count, count)
    return places[:, None] / 2 * np.einsum("k,pkj->pj", weights, values)
