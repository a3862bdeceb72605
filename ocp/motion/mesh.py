"""Motions of direct collocation: states and torques as polynomials over a mesh of equal intervals; and what they share with splines.

On every interval of length h the rates w and the accelerations a run through their values at the stages c_1 .. c_m, and

    q(s) = q_k + h sum_j w_j int l_j,   w(s) = w_k + h sum_j a_j int l_j,   a(s) = sum_j a_j l_j       (primes are d/ds; l_j of Lagrange)

so that q' = w and w' = a hold at the stages. Stages 0, 1/2, 1 are Hermite and Simpson's rule, its midpoints kept as unknowns (Kelly
2017); roots of P_m - P_(m-1), with 1 the last one, are Radau's (Garg et al. 2010).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ocp.motion import spline
from ocp.motion.spline import BSpline

MESHES = ("hermite-simpson", "radau")
ALIKE = 1e-12  # of the motion: instants so close are one


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """A basis of piecewise polynomials on `intervals` equal intervals; `order`: the number of stages of "radau" on each.

    As a BSpline has control points, it has `points` numbers per joint: q and q' at all `positions`, then q'' at the `nodes`, where the
    stages lie. Raises ValueError naming what is wrong.
    """

    method: str
    intervals: int
    order: int = 3

    def __post_init__(self):
        if self.method not in MESHES:
            raise ValueError(f"method: expected one of {', '.join(MESHES)}, got {self.method!r}")
        for what in ("intervals", "order"):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{what}: expected a whole number of at least 1, got {value!r}")

    @property
    def segments(self):
        """Number of polynomial pieces."""
        return self.intervals

    @property
    def breaks(self):
        """Ends of the intervals in s, (intervals + 1,)."""
        return np.linspace(0.0, 1.0, self.intervals + 1)

    @property
    def stages(self):
        """Where the stages lie on an interval, between 0 and 1."""
        return np.array([0.0, 0.5, 1.0]) if self.method == MESHES[0] else _radau(self.order)

    @property
    def degree(self):
        """Degree of the polynomials of q and q'."""
        return len(self.stages)

    @property
    def positions(self):
        """Instants at which q and q' are unknowns: the start and all stages."""
        inner = self.stages[self.stages > 0]
        within = (np.arange(self.intervals)[:, None] + inner) / self.intervals
        within[:, -1] = self.breaks[1:]
        return np.append(0.0, within.ravel())

    @property
    def nodes(self):
        """Instants at which q'' is an unknown, and the law of motion holds: the stages."""
        return self.positions[0 if self.stages[0] == 0 else 1 :]

    @property
    def points(self):
        """Unknowns per joint."""
        return 2 * len(self.positions) + len(self.nodes)

    def members(self, interval):
        """Return of an interval, or of a column of them, the index of its start among the positions, and of its stages among the nodes."""
        count, skipped = len(self.stages), int(self.stages[0] > 0)
        start = interval * (count - 1 + skipped)
        return start, start + np.arange(count)

    @property
    def weights(self):
        """Weights of the nodes in integrals over [0, 1]."""
        total, last = np.zeros(len(self.nodes)), _integrals(self, np.ones(1))[0]
        for interval in range(self.intervals):
            total[self.members(interval)[1]] += last / self.intervals
        return total


@lru_cache(maxsize=32)
def _radau(order):
    legendre = np.polynomial.legendre
    roots = np.sort(legendre.legroots(np.append(np.zeros(order - 1), [-1.0, 1.0])).real)
    for _ in range(2):  # Newton's steps polish what the companion matrix gives
        series = np.append(np.zeros(order - 1), [-1.0, 1.0])
        roots -= legendre.legval(roots, series) / legendre.legval(roots, legendre.legder(series))
    roots[-1] = 1.0
    return (roots + 1) / 2


def lagrange(mesh, places):
    """Return l_j at places of an interval, (places, stages)."""
    degree = len(mesh.stages) - 1
    vandermonde = np.polynomial.legendre.legvander
    return vandermonde(2 * np.asarray(places) - 1, degree) @ np.linalg.inv(
        vandermonde(2 * mesh.stages - 1, degree)
    )


def _integrals(mesh, places):
    """Return the integral of l_j from 0 to each place of an interval, (places, stages)."""
    nodes, weights = np.polynomial.legendre.leggauss(len(mesh.stages))
    places = np.asarray(places)
    values = lagrange(mesh, np.outer(places, (nodes + 1) / 2).ravel()).reshape(
        len(places), len(nodes), len(nodes)
    )
    return places[:, None] / 2 * np.einsum("k,pkj->pj", weights, values)


def basis(motion, s, order=0):
    """Return the matrix B (len(s), points) with d^order q / ds^order (s) = B c, for a BSpline or a Mesh.

    Of a Mesh, q, q' and q'' are polynomials of their own; where they meet at the end of an interval, they are those of its stages.
    """
    if isinstance(motion, BSpline):
        return spline.basis(motion, s, order)
    positions, skipped = motion.positions, len(motion.positions) - len(motion.nodes)
    s, size, first = (
        np.atleast_1d(np.asarray(s, dtype=float)),
        len(positions),
        skipped if order == 2 else 0,
    )
    found, line = np.zeros((len(s), motion.points)), np.arange(len(s))
    right = np.clip(np.searchsorted(positions, s), 1, size - 1)
    near = np.where(positions[right] - s < s - positions[right - 1], right, right - 1)
    known = (np.abs(positions[near] - s) <= ALIKE) & (near >= first)
    found[line[known], order * size + near[known] - first] = 1.0
    line = line[~known]
    interval = np.clip(np.floor(s[line] * motion.intervals), 0, motion.intervals - 1).astype(int)
    start, stages = motion.members(interval[:, None])
    place = s[line] * motion.intervals - interval
    if order == 2:
        found[line[:, None], 2 * size + stages] = lagrange(motion, place)
    else:
        found[line, order * size + start[:, 0]] = 1.0
        found[line[:, None], (order + 1) * size + stages + (0 if order else skipped)] += (
            _integrals(motion, place) / motion.intervals
        )
    return found


def between(mesh, s):
    """Return the matrix (len(s), nodes) that runs the polynomials through values at the nodes, as torques are."""
    return basis(mesh, s, 2)[:, 2 * len(mesh.positions) :]


def defects(mesh):
    """Return the matrix D (2 (positions - 1), points) with D c = 0 where q' = w and w' = a at all stages; first q, then w, at each."""
    size, first = len(mesh.positions), len(mesh.positions) - len(mesh.nodes)
    found, integrals = (
        np.zeros((size - 1, 2, mesh.points)),
        _integrals(mesh, mesh.stages) / mesh.intervals,
    )
    for interval in range(mesh.intervals):
        start, stages = mesh.members(interval)
        for own, line in zip(stages + first, integrals):
            if own != start:
                for order in (0, 1):
                    found[own - 1, order, [order * size + own, order * size + start]] = 1.0, -1.0
                    found[
                        own - 1, order, (order + 1) * size + stages + (0 if order else first)
                    ] -= line
    return found.reshape(-1, mesh.points)


def transfer(motion, points, target):
    """Return points (n, ..) on the basis `target` for the same motion, between BSplines and Meshes."""
    if isinstance(target, Mesh):
        return (
            points
            @ np.vstack(
                [
                    basis(motion, s, order)
                    for order, s in enumerate((target.positions, target.positions, target.nodes))
                ]
            ).T
        )
    if isinstance(motion, BSpline):
        return spline.transfer(motion, points, target)
    s = np.linspace(0.0, 1.0, 4 * target.points + 1)
    return spline.fit(target, points @ basis(motion, s).T, s)


def abscissae(motion, order=2):
    """Return the instants at which an equality on d^order q / ds^order, order 0 or 2, is well posed: the Greville abscissae of the spline that
    it is, which are as many as it has freedom; the nodes of a Mesh."""
    if isinstance(motion, Mesh):
        return motion.nodes
    if order == 0:
        return spline.greville(motion)
    degree = motion.degree - 2
    if degree == 0:
        return (motion.breaks[:-1] + motion.breaks[1:]) / 2
    knots = np.concatenate([[0.0] * degree, motion.breaks, [1.0] * degree])
    return np.array([knots[k + 1 : k + degree + 1].mean() for k in range(motion.points - 2)])


def motion_of(data):
    """Return the BSpline or Mesh whose fields `data` holds."""
    return Mesh(**data) if "intervals" in data else BSpline(**data)
