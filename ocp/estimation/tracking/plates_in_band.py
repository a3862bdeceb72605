"""Wrenches of plates in the band of motion, with their errors; the instants at which they count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ocp.motion import BSpline
from ocp.problem import Series

# Hz: of forces and changes; 99 % of a step's forces is below 15 (Antonsson & Mann 1985)
BAND = 24.0
PER_SEGMENT = 3  # instants of conditions: one more than a cubic piece of forces has freedom
SAMPLES = 8  # of forces, whose mean over a segment is taken
DEGREE = 3  # of forces, as of accelerations
EDGE = 2  # segments: beside a load, in which its edge is blurred
LOADED = 20.0  # N: of a foot whose pressure has a place
CORNER = 0.36  # m: from the middle of a plate of .4 m by .6 to its corners, where sensors sit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Instants:
    """Instants of a motion: times t (K,) s, the first control point that moves each (K,), and the
    `weights` (K, 3, degree + 1) of these for q, qd and qdd."""

    t: np.ndarray
    first: np.ndarray
    weights: np.ndarray

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return q, qd and qdd (3 n, K) of control points (points, n)."""
        near = points[self.first[:, None] + np.arange(self.weights.shape[2])]
        return np.einsum("kda,kan->dnk", self.weights, near).reshape(-1, len(self.t))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Plates:
    """Wrenches of plates as cubic splines: `points` (points, 6 plates) from `start` (s) on for
    `span` (s), and their standard deviations: `force` (N), `pressure` (m)."""

    points: np.ndarray
    start: float
    span: float
    force: float
    pressure: float

    def at(self, t: np.ndarray) -> np.ndarray:
        """Return the wrenches (6 plates, K) at times (K,)."""
        basis = BSpline(points=len(self.points), degree=DEGREE)
        return (basis.values((t - self.start) / self.span) @ self.points).T

    def covariance(self, t: np.ndarray) -> np.ndarray:
        """Return the covariances (K, 6 plates, 6 plates) of wrenches about the origin at times
        (K,).

        Those of forces at the centre of pressure, and of moments about it: `pressure` times the
        load across the force, as of another place of it, and a couple of forces at the plate's
        corners; none where a plate bears nothing, and less and less of it for EDGE segments beside
        a load, whose edge the band of forces blurs.
        """
        wrenches, count = self.at(t), len(t)
        reach = EDGE * self.span / (len(self.points) - DEGREE)
        found = np.zeros((count, len(wrenches), len(wrenches)))
        for k in range(0, len(wrenches), 6):
            moment, push = wrenches[k : k + 3].T, wrenches[k + 3 : k + 6].T
            load = np.linalg.norm(push, axis=1)
            loaded = np.flatnonzero(load > LOADED)
            if not len(loaded):
                continue
            place = pressure_centre(moment.T, push.T).T
            arm = np.zeros((count, 6, 3))
            arm[:, 3:] = np.eye(3)
            arm[:, :3] = np.cross(place[:, None], np.eye(3)).transpose(0, 2, 1)
            own = self.force**2 * arm @ arm.transpose(0, 2, 1)
            aside = load[:, None, None] ** 2 * np.eye(3) - push[:, :, None] * push[:, None, :]
            own[:, :3, :3] += self.pressure**2 * aside + (self.force * CORNER) ** 2 * np.eye(3)
            gaps = np.abs(t[:, None] - t[loaded])
            borne = np.maximum(1.0 - gaps.min(axis=1) / reach, 0.0)
            part = slice(k, k + 6)
            found[:, part, part] = borne[:, None, None] * own[loaded[gaps.argmin(axis=1)]]
        return found


def pressure_centre(moment: np.ndarray, push: np.ndarray) -> np.ndarray:
    """Return the places (3, N) m nearest to the origin about which moments (3, N) N m of forces
    (3, N) N are along these, of loads below LOADED as of that."""
    return np.cross(push, moment, axis=0) / np.maximum(np.sum(push**2, axis=0), LOADED**2)


def instants_of(motion: BSpline, t: np.ndarray, count: int) -> Instants:
    """Return `count` instants in each segment of a motion from t[0] to t[-1], none at a knot."""
    span, segments = float(t[-1] - t[0]), motion.segments
    inner = (np.arange(count) + 0.5) / count
    s = ((np.arange(segments)[:, None] + inner) / segments).ravel()
    first = np.repeat(np.arange(segments), count)
    near = first[:, None] + np.arange(motion.degree + 1)
    orders = [motion.values(s, k) / span**k for k in range(3)]
    weights = [np.take_along_axis(values, near, axis=1) for values in orders]
    return Instants(t=t[0] + span * s, first=first, weights=np.stack(weights, axis=1))


def plates_in_band(
    motion: BSpline, t: np.ndarray, forces: Series, noise: Sequence[float]
) -> Plates:
    """Return the Plates of recorded forces, on the segments of a motion from t[0] to t[-1].

    Each control point is the mean over a segment about its abscissa, which does not ring at strikes
    (de Boor 1978, chapter XI: Schoenberg's variation diminishing spline).
    """
    span = float(t[-1] - t[0])
    basis = BSpline(points=motion.segments + DEGREE, degree=DEGREE)
    near = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    at = np.clip(basis.nodes[:, None] + near / motion.segments, 0.0, 1.0) * span + t[0]
    rows = np.nan_to_num(np.vstack(list(forces.values.values())))
    means = [np.interp(at.ravel(), forces.t, row).reshape(at.shape).mean(axis=1) for row in rows]
    return Plates(
        points=np.array(means).T,
        start=float(t[0]),
        span=span,
        force=noise[0],
        pressure=noise[1],
    )
