"""Spline fit to all frames of markers at once: Gauss-Newton on a banded system.

A frame depends on the few control points of its segment, so the normal equations are banded, and
their inverse is known where frames are. Length factors of segments, on which all frames depend,
border the band: their Schur complement is small.
"""

from dataclasses import dataclass

import numpy as np

from ocp.estimation.marker_residuals import Sightings
from ocp.mechanics.values.types import Numbers
from ocp.solvers.linear_algebra.banded import Factors, factorise

FAINT = 1e-12  # of the largest diagonal entry: what keeps directions that nobody sees regular
GENTLE = 1e-8  # likewise: the damping of every step, so that what is hardly seen stays where it is
DAMPED = 1e-3  # likewise, after a step that failed
POOR, GOOD = 0.25, 0.75  # of the decrease that was promised: more damping, and less
EASED = 10.0  # by which damping changes
STIFF = 1e9  # the damping beyond which no step is left
STILL = 1e-10  # rad or m: a step below it ends the search
SPENT = 1e-4  # of the noise's variance: a step that brings less is far below what noise does
SMALL = 1e-3  # of the sum of squares: where a step promises less, the curvature of places counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Unknowns:
    """Control points (points, n) and length factors (groups,)."""

    points: np.ndarray
    factors: np.ndarray

    def plus(self, step: "Unknowns") -> "Unknowns":
        """Return the sum with a step."""
        return Unknowns(points=self.points + step.points, factors=self.factors + step.factors)

    def times(self, share: float) -> "Unknowns":
        """Return a share of a step."""
        return Unknowns(points=share * self.points, factors=share * self.factors)

    def along(self, step: "Unknowns") -> float:
        """Return the inner product with a step."""
        return float(np.sum(self.points * step.points) + np.sum(self.factors * step.factors))

    @property
    def largest(self) -> float:
        """The largest entry, without its sign."""
        return float(max(np.abs(self.points).max(), np.abs(self.factors).max(initial=0.0)))

    def at(self, weights: np.ndarray) -> np.ndarray:
        """Return coordinates and factors y (n + groups, N) at frames of `weights` (N, points)."""
        factors = np.repeat(self.factors[:, None], len(weights), axis=1)
        return np.vstack([(weights @ self.points).T, factors])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class System:
    """The factored normal equations: those of the `band` of control points, their `border` (points,
    n, groups) with factors of length, `beside` the band's inverse times that, and `inner` (groups,
    groups) the Schur complement, to which the weight `prior` of (factor - 1)^2 comes."""

    band: Factors
    degree: int
    border: np.ndarray
    beside: np.ndarray
    inner: np.ndarray
    prior: float

    def solve(self, right: Unknowns) -> Unknowns:
        """Return the solution for a right side."""
        points = _grouped_solve(self.band, right.points, self.degree)
        if not len(self.inner):
            return Unknowns(points=points, factors=right.factors)
        left = right.factors - np.tensordot(self.border, points, axes=((0, 1), (0, 1)))
        factors = np.linalg.solve(self.inner + self.prior * np.eye(len(left)), left)
        return Unknowns(points=points - self.beside @ factors, factors=factors)

    def covariance(self, noise: float, spread: float) -> np.ndarray:
        """Return the covariance (groups, groups) of the factors, of markers' deviations `noise` (m)
        and those of factors themselves, `spread`."""
        return np.linalg.inv(self.inner / noise**2 + np.eye(len(self.inner)) / spread**2)

    def variances(self, weights: np.ndarray, noise: float, spread: float) -> np.ndarray:
        """Return the variances (N, n) of the coordinates at frames of `weights` (N, points): b' S b
        of the blocks S of the inverse of a frame's points."""
        own = noise**2 * _banded_variances(self.band, self.degree, weights, self.border.shape[1])
        if not len(self.inner):
            return own
        carried = np.tensordot(weights, self.beside, axes=1)
        factors = self.covariance(noise, spread)
        return own + np.einsum("knl,lm,knm->kn", carried, factors, carried)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SplineFit:
    """Least-squares splines.

    Attributes:
        unknowns: control points and length factors.
        status, iterations: how the search ended.
        system: the normal equations there, damped by FAINT of the largest entry.
        seen: sum of all frames' normal matrices (n, n).
        pressed: sign of the limit at which a coordinate is held (n, N), zero at none.
    """

    unknowns: Unknowns
    status: str
    iterations: int
    system: System
    seen: np.ndarray
    pressed: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Search:
    """Least-squares problem: `sightings` at frames where the basis of a `degree` has `weights` (N,
    points), and the weight `prior` of (factor - 1)^2.
    """

    sightings: Sightings
    degree: int
    weights: np.ndarray
    prior: float

    def cost(self, x: Unknowns) -> float:
        """Return the sum of squares."""
        off = float(np.sum((x.factors - 1.0) ** 2))
        return self.sightings.cost(x.at(self.weights)) + self.prior * off

    def normal(self, x: Unknowns) -> tuple[np.ndarray, Unknowns]:
        """Return the normal matrices (N, n + groups, n + groups) of the frames, and the downhill
        pull."""
        normals, pulls = self.sightings.normal(x.at(self.weights))
        n = self.sightings.tree.dof
        factors = pulls[:, n:].sum(axis=0) - self.prior * (x.factors - 1.0)
        return normals, Unknowns(points=self.weights.T @ pulls[:, :n], factors=factors)

    def system(self, normals: np.ndarray, damping: float, held: Numbers = 0.0) -> System:
        """Return the System of normal matrices (N, n + groups, n + groups), damped by a share of
        their largest entry, and with what limits add to the diagonal of q's part, `held` (N, n).

        Raises LinAlgError where it is not positive definite.
        """
        n = self.sightings.tree.dof
        groups = normals.shape[1] - n
        own = normals[:, :n, :n]
        largest = ((self.weights**2).T @ np.diagonal(own, axis1=1, axis2=2)).max()
        own = own + held[:, :, None] * np.eye(n) if np.ndim(held) else own
        band = _factor_normals(self.degree, self.weights, own, damping * max(largest, 1e-300))
        border = np.tensordot(self.weights.T, normals[:, :n, n:], axes=1)
        beside, inner = border, np.empty((0, 0))
        if groups:
            beside = _grouped_solve(band, border, self.degree)
            own = normals[:, n:, n:].sum(axis=0)
            own += damping * float(np.diag(own).max()) * np.eye(groups)
            inner = own - np.tensordot(border, beside, axes=((0, 1), (0, 1)))
            inner = (inner + inner.T) / 2
            np.linalg.cholesky(inner + self.prior * np.eye(groups))
        return System(
            band=band,
            degree=self.degree,
            border=border,
            beside=beside,
            inner=inner,
            prior=self.prior,
        )


def fit_spline(search: Search, start: Unknowns, iterations: int) -> SplineFit:
    """Return the Splined of unknowns, from a start on.

    A direction that no marker sees stays where it began.
    """
    x, status, count = _least_squares(search, start, iterations)
    normals, _ = search.normal(x)
    n = search.sightings.tree.dof
    return SplineFit(
        unknowns=x,
        status=status,
        iterations=count,
        system=search.system(normals, FAINT),
        seen=normals[:, :n, :n].sum(axis=0),
        pressed=np.zeros((n, len(search.weights))),
    )


def _least_squares(search: Search, x: Unknowns, iterations: int) -> tuple[Unknowns, str, int]:
    """Return the minimiser of the sum of squares from x on, how the search ended, and its
    iterations.
    """
    damping, status = GENTLE, "too many iterations"
    cost, count = search.cost(x), 0
    normals, pull = search.normal(x)
    spent = SPENT / max(int((search.sightings.roots > 0).sum()), 1)
    while count < iterations:
        step = search.system(normals, damping).solve(pull)
        trial, promised = search.cost(x.plus(step)), pull.along(step)
        count += 1
        still = step.largest < STILL or promised <= spent * cost
        if not still and damping <= GENTLE and promised <= SMALL * cost:
            bent = _curved_step(search, x, normals, pull)
            further = search.cost(x.plus(bent))
            if further < trial:
                step, trial, promised = bent, further, cost - further
        brought = cost - trial
        if brought >= 0:
            x, cost = x.plus(step), trial
        if still:
            status = "converged"
            break
        if brought >= 0:
            normals, pull = search.normal(x)
        if brought >= GOOD * promised:
            damping = max(damping / EASED, GENTLE)
        elif brought < POOR * promised:
            damping = max(EASED * damping, DAMPED if brought < 0 else GENTLE)
        if damping > STIFF:
            status = "no step brings the markers nearer"
            break
    return x, status, count


def _curved_step(search: Search, x: Unknowns, normals: np.ndarray, pull: Unknowns) -> Unknowns:
    """Return Newton's step, or none where its system is not positive definite.

    Where markers are off by more than noise, Gauss's steps alone are many and short.
    """
    bends = search.sightings.curvature(x.at(search.weights))
    try:
        return search.system(normals + bends, GENTLE).solve(pull)
    except np.linalg.LinAlgError:
        return Unknowns(points=np.zeros_like(x.points), factors=np.zeros_like(x.factors))


def _factor_normals(degree: int, weights: np.ndarray, normals: np.ndarray, ridge: float) -> Factors:
    """Return the factors of the sum over frames of (b b') x normal, b a frame's weights, and of a
    `ridge` on the diagonal, in groups of as many control points as the degree: then neighbours
    alone touch."""
    count, n = weights.shape[1], normals.shape[1]
    groups = -(-count // degree)
    size = degree * n
    diagonal = [np.zeros((degree, n, degree, n)) for _ in range(groups)]
    below = [np.zeros((degree, n, degree, n)) for _ in range(groups - 1)]
    for i in range(count):
        for j in range(max(0, i - degree), i + 1):
            both = weights[:, i] * weights[:, j]
            frames = np.flatnonzero(both)
            block = np.tensordot(both[frames], normals[frames], axes=1)
            (gi, ri), (gj, rj) = divmod(i, degree), divmod(j, degree)
            if gi == gj:
                diagonal[gi][ri, :, rj, :] = block
                diagonal[gi][rj, :, ri, :] = block.T
            else:
                below[gj][ri, :, rj, :] = block
    for k in range(groups):
        for row in range(degree):
            beyond = k * degree + row >= count
            diagonal[k][row, :, row, :] += (1.0 if beyond else ridge) * np.eye(n)
    return factorise(
        [block.reshape(size, size) for block in diagonal],
        [block.reshape(size, size) for block in below],
    )


def _grouped_solve(factors: Factors, right: np.ndarray, degree: int) -> np.ndarray:
    """Return the solution (points, n, ...) for right sides (points, n, ...)."""
    count, n, *rest = right.shape
    padded = np.zeros((len(factors.lower) * degree, n, *rest))
    padded[:count] = right
    solved = factors.solve(padded.reshape(len(factors.lower), degree * n, *rest))
    return solved.reshape(-1, n, *rest)[:count]


def _banded_variances(factors: Factors, degree: int, weights: np.ndarray, n: int) -> np.ndarray:
    """Return the variances (N, n) of the coordinates at the frames by the band alone."""
    count = weights.shape[1]
    diagonal, right = factors.inverse()
    total = np.zeros((len(weights), n))
    for i in range(count):
        for j in range(max(0, i - degree), i + 1):
            (gi, ri), (gj, rj) = divmod(i, degree), divmod(j, degree)
            block = diagonal[gi] if gi == gj else right[gj].T
            own = block[ri * n : (ri + 1) * n, rj * n : (rj + 1) * n]
            both = weights[:, i] * weights[:, j] * (1.0 if i == j else 2.0)
            total += both[:, None] * np.diag(own)
    return total
