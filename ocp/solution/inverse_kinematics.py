"""Inverse kinematics: the motion of a tree whose points come nearest to measured markers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.checks import check_closed, instance, numbers, positive
from ocp.mechanics.tree import Tree
from ocp.mechanics.units import unit_of
from ocp.motion import BSpline, cross_validated, nearest
from ocp.problem import Series, matched, weighed
from ocp.solution.marker_fit import (
    FAINT,
    Sightings,
    Splined,
    marched,
    seen_from,
    splined,
    variances,
)
from ocp.solution.starts import Guess

DEGREE = 5  # of the splines: accelerations are smooth
FINER = 1.5  # times the segments that cross-validation chooses: what is left over is noise then
BLIND = 1e-9  # of the largest share of what markers see: a direction below it they do not see
PART = 0.1  # of such a direction: a joint with less is not named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarkerFit:
    """The motion nearest to markers, at their times `t` (N,) s: coordinates `q`, rates `qd`,
    accelerations `qdd` (n, N), on the basis `motion` with control points `points` (n, points).

    `residuals` {marker: (3, N)} m, measured less fitted, nan where it was missing, `rms` {marker:
    m} their root mean square of distances. `deviations` (n, N) are the standard deviations of q,
    to first order, by the least squares' covariance, of noise of `deviation` (m) per coordinate of
    a marker, given or estimated; inf for joints that are not `seen`. `unseen` says which joints no
    marker tells of, alone or together; `beyond` which leave their limits, by how much. `status`
    says how the search ended after so many `iterations`, and `success` whether it converged.
    """

    tree: Tree
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    motion: BSpline
    points: np.ndarray
    residuals: Mapping[str, np.ndarray]
    deviation: float
    deviations: np.ndarray
    unseen: tuple[str, ...]
    beyond: tuple[str, ...]
    status: str
    iterations: int

    @property
    def success(self) -> bool:
        """Tell whether the search converged."""
        return self.status == "converged"

    @property
    def rms(self) -> dict[str, float]:
        """The root mean square distance (m) of every marker from its point."""
        return {
            name: float(np.sqrt(np.nanmean(np.sum(rows**2, axis=0))))
            for name, rows in self.residuals.items()
        }

    @property
    def angles(self) -> Series:
        """The coordinates as a Series {joint: (1, N)}, for `angle_tracking`."""
        names = [joint.name for joint in self.tree.moving]
        return Series(t=self.t, values=dict(zip(names, self.q)), source="inverse kinematics")

    @property
    def guess(self) -> Guess:
        """A start of a solve that takes as long as the markers do."""
        return Guess(q=self.q, duration=float(self.t[-1] - self.t[0]))

    def __repr__(self) -> str:
        worst = max(self.rms, key=self.rms.__getitem__)
        return (
            f"MarkerFit({len(self.residuals)} markers, {len(self.t)} times, {self.status} in "
            f"{self.iterations} iterations; largest rms {self.rms[worst]:.3g} m of {worst})"
        )


def inverse_kinematics(
    tree: Tree,
    markers: Series,
    *,
    points: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    motion: BSpline | None = None,
    start: ArrayLike | None = None,
    deviation: float | None = None,
    iterations: int = 50,
) -> MarkerFit:
    """Return the motion whose points come nearest to `markers` {marker: (3, N)} m, all frames at
    once.

    The sum over frames of w |p(q(t)) - p_measured|^2 is least over the control points of q on the
    basis `motion`, by default quintic splines of half as many segments again as generalised
    cross-validation of the markers chooses. Samples that are missing weigh nothing. `points`
    {marker: point} where names differ, `weights` {marker: number of at least 0}; `start` (n,) are
    coordinates near the first frame, by default `tree.neutral`; `deviation` (m) is that of the
    noise, estimated where it is not given; the search takes at most so many `iterations`. Limits of
    joints are not imposed but told; quaternions have length one as nearly as the basis lets them.
    Raises ValueError for markers without a point, for fewer frames than control points, and for
    parameters in the tree.
    """
    name = "inverse_kinematics"
    check_closed(f"{name}: tree", instance(f"{name}: tree", tree, Tree))
    places = matched(name, tree, markers, points)
    rows = np.vstack(list(markers.values.values()))
    seen = np.isfinite(rows)
    roots = weighed(name, markers, weights)[:, None] * seen
    sightings = Sightings(tree=tree, points=places, places=np.where(seen, rows, 0.0), roots=roots)
    s = (markers.t - markers.t[0]) / (markers.t[-1] - markers.t[0])
    basis = motion or _fine(cross_validated(s, rows, DEGREE))
    if basis.points > len(s):
        raise ValueError(
            f"{name}: {markers.source}: {basis.points} control points want as many frames at "
            f"least, got {len(s)}"
        )
    first = numbers(f"{name}: start", tree.neutral if start is None else start, (tree.dof,))
    frames, path = marched(sightings, first, 2 * basis.points + 1)
    whole = np.array([np.interp(np.arange(len(s)), frames, row) for row in path])
    begin = nearest(basis, s, whole).T
    least = splined(sightings, basis, basis.values(s), begin, iterations)
    return _fitted(sightings, markers, basis, s, least, deviation)


def _fine(basis: BSpline) -> BSpline:
    """Return the basis with FINER segments: cross-validation weighs bias against noise, and here
    deviations are told of noise alone."""
    return replace(basis, points=ceil(FINER * basis.segments) + basis.degree)


def _fitted(
    sightings: Sightings,
    markers: Series,
    basis: BSpline,
    s: np.ndarray,
    least: Splined,
    deviation: float | None,
) -> MarkerFit:
    """Return the MarkerFit of what least squares found at s (N,)."""
    tree, span = sightings.tree, float(markers.t[-1] - markers.t[0])
    curves = [least.points.T @ basis.values(s, k).T / span**k for k in range(3)]
    here, _ = seen_from(tree, sightings.points, curves[0])
    rows = np.vstack(list(markers.values.values()))
    off = np.split(rows - here, len(markers.values))
    blind = _unseen(least.seen)
    size = _noise(sightings, here, least, len(blind)) if deviation is None else deviation
    spread = variances(least.factors, basis.degree, basis.values(s), tree.dof).T
    deviations = positive("inverse_kinematics: deviation", size, zero=True) * np.sqrt(spread)
    names = [joint.name for joint in tree.moving]
    lost = np.abs(blind).max(axis=0, initial=0.0) > PART
    deviations[lost] = np.inf
    return MarkerFit(
        tree=tree,
        t=markers.t,
        q=curves[0],
        qd=curves[1],
        qdd=curves[2],
        motion=basis,
        points=least.points.T,
        residuals=MappingProxyType(dict(zip(markers.values, off))),
        deviation=float(size),
        deviations=deviations,
        unseen=tuple(_together(row, names) for row in blind),
        beyond=tuple(_beyond(tree, curves[0])),
        status=least.status,
        iterations=least.iterations,
    )


def _noise(sightings: Sightings, here: np.ndarray, least: Splined, blind: int) -> float:
    """Return the noise's standard deviation (m), of the residuals over their degrees of freedom."""
    squares = float(np.sum((sightings.roots * (here - sightings.places)) ** 2))
    known = blind + len(sightings.tree.balls)  # lengths of quaternions are given
    unknowns = least.points.shape[0] * (least.points.shape[1] - known)
    return float(np.sqrt(squares / max(int((sightings.roots > 0).sum()) - unknowns, 1)))


def _unseen(normal: np.ndarray) -> np.ndarray:
    """Return the directions (k, n) of coordinates of which no frame's markers tell."""
    values, vectors = np.linalg.eigh(normal)
    return vectors[:, values <= BLIND * values.max()].T


def _together(row: np.ndarray, names: list[str]) -> str:
    """Return the joints of a direction in words."""
    parts = [name for name, share in zip(names, row) if abs(share) > PART]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts)} together"


def _beyond(tree: Tree, q: np.ndarray) -> Any:
    """Yield a line for every joint that leaves its limits."""
    for joint, row in zip(tree.moving, q):
        lower, upper = joint.position
        far = max(lower - row.min(), row.max() - upper)
        if far > FAINT:
            yield f"{joint.name} leaves its limits by {far:.3g} {unit_of(joint, 'q')}"
