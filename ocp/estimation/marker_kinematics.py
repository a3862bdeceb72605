"""Inverse kinematics: the motion of a tree whose points come nearest to measured markers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from ocp.estimation.frame_starts import follow_frames
from ocp.estimation.limited_fit import Limits, fit_within_limits
from ocp.estimation.marker_axes import check_axes
from ocp.estimation.marker_residuals import Sightings, point_places
from ocp.estimation.segment_scaling import SPREAD, Scaling
from ocp.estimation.spline_fit import Search, SplineFit, Unknowns, fit_spline
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.scaling import scale_links
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_numeric, check_type, numbers, positive, unit_of
from ocp.motion import BSpline, cross_validate, fit_samples
from ocp.pickling import portable
from ocp.problem import Series, match_markers, weight_roots
from ocp.solving.starts.warm_start import Guess

ITERATIONS = 50  # of a search
NOISE = 1e-3  # m: of markers, where nobody says it, beside what lengths of segments differ by
DEGREE = 5  # of the splines: accelerations are smooth
FINER = 1.5  # times the segments that cross-validation chooses: what is left over is noise then
BLIND = 1e-9  # of the largest share of what markers see: a direction below it they do not see
FAINT = 1e-12  # rad or m: by which nobody leaves a limit
TINY = 1e-12  # m: noise of exact markers, by which deviations are divided
PART = 0.1  # of such a direction: a joint with less is not named


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarkerFit:
    """The motion nearest to markers.

    Attributes:
        tree: the Tree, with scaled segments where a scaling was given.
        t: times of the markers (N,) s.
        q, qd, qdd: coordinates, rates and accelerations (n, N).
        motion, points: its basis and control points (n, points).
        residuals: {marker: (3, N)} m, measured less fitted, nan where it was missing.
        deviation: standard deviation (m) of the noise per coordinate of a marker.
        deviations: (n, N) standard deviations of q, to first order; inf for joints in `unseen`.
        unseen: joints that no marker determines, alone or together.
        beyond: joints that leave their limits, with the amount.
        active: {joint: (N,)}: 1 where a joint is held at its upper limit, -1 at its lower one.
        lengths, length_deviations: {segment: factor} found, and their standard deviations.
        status, iterations: how the search ended.
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
    active: Mapping[str, np.ndarray]
    lengths: Mapping[str, float]
    length_deviations: Mapping[str, float]
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

    def residuals_along(
        self, q: np.ndarray, frames: np.ndarray | slice = slice(None)
    ) -> Mapping[str, np.ndarray]:
        """Return the residuals {marker: (3, M)} m that other coordinates (n, M) leave in some of
        the frames."""
        names = tuple(self.residuals)
        here, own = (
            point_places(self.tree, names, each)[0].reshape(-1, 3, q.shape[1])
            for each in (q, self.q[:, frames])
        )
        left = (rows[:, frames] for rows in self.residuals.values())
        return _by_name(names, [rows + far for rows, far in zip(left, own - here)])

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
        more = f"; held at limits: {', '.join(self.active)}" if self.active else ""
        if self.lengths:
            least, most = min(self.lengths.values()), max(self.lengths.values())
            more += f"; {len(self.lengths)} segments {least:.3f} to {most:.3f} times as long"
        return (
            f"MarkerFit({len(self.residuals)} markers, {len(self.t)} times, {self.status} in "
            f"{self.iterations} iterations; largest rms {self.rms[worst]:.3g} m of {worst}{more})"
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
    limits: bool | Sequence[str] = False,
    scaling: Scaling | None = None,
) -> MarkerFit:
    """Return the motion whose points come nearest to markers, all frames at once.

        minimise the sum over frames of w |p(q(t)) - p_measured|^2

    over the control points of q. Quaternions have length one as nearly as the basis allows. Warns
    of markers in other axes than the tree's.

    Args:
        tree: a Tree without open parameters.
        markers: Series {marker: (3, N)} m; missing samples are nan.
        points: {marker: point of the tree} where names differ.
        weights: {marker: number of at least 0}.
        motion: basis of q; by default quintic splines of half as many segments again as generalised
            cross-validation of the markers chooses.
        start: coordinates (n,) near the first frame, by default `tree.neutral`.
        deviation: standard deviation (m) of the noise, estimated by default.
        limits: whether joint limits are imposed in every frame, or names of the joints.
        scaling: a Scaling: lengths of segments are found too, the same in all frames.

    Raises:
        ValueError: for markers without a point or of another size than the tree (as millimetres),
            fewer frames than control points, joints without limits, and segments that do not fit.
    """
    name = "inverse_kinematics"
    check_numeric(f"{name}: tree", check_type(f"{name}: tree", tree, Tree))
    places = match_markers(name, tree, markers, points)
    rows = np.vstack(list(markers.values.values()))
    seen = np.isfinite(rows)
    roots = weight_roots(name, markers, weights)[:, None] * seen
    first = numbers(f"{name}: start", tree.neutral if start is None else start, (tree.dof,))
    groups = (
        {}
        if scaling is None
        else check_type(f"{name}: scaling", scaling, Scaling).groups(name, tree)
    )
    sightings = Sightings(
        tree=tree,
        points=places,
        places=np.where(seen, rows, 0.0),
        roots=roots,
        groups=tuple(groups.values()),
    )
    limited = _imposed_limits(name, tree, limits)
    s = (markers.t - markers.t[0]) / (markers.t[-1] - markers.t[0])
    given = None if motion is None else check_type(f"{name}: motion", motion, BSpline)
    basis = given or _refine_basis(cross_validate(s, rows, DEGREE))
    if basis.points > len(s):
        raise ValueError(
            f"{name}: {markers.source}: {basis.points} control points want as many frames at "
            f"least, got {len(s)}"
        )
    noise = NOISE if deviation is None else positive(f"{name}: deviation", deviation, zero=True)
    spread = SPREAD if scaling is None else scaling.spread
    search = Search(
        sightings=sightings,
        degree=basis.degree,
        weights=basis.values(s),
        prior=(max(noise, TINY) / spread) ** 2,
    )
    begin = _first_unknowns(search, basis, s, first, markers.source)
    if limited is None:
        least = fit_spline(search, begin, ITERATIONS)
    else:
        least = fit_within_limits(search, begin, limited, 2 * ITERATIONS)
    return _marker_fit(search, markers, basis, least, tuple(groups), (deviation, spread))


def _imposed_limits(name: str, tree: Tree, limits: bool | Sequence[str]) -> Limits | None:
    """Return the limits that are imposed, None where none are."""
    lower, upper = np.array([joint.position for joint in tree.moving]).T
    limited = np.isfinite(lower) | np.isfinite(upper)
    if isinstance(limits, str):
        raise ValueError(f"{name}: limits: expected True, False or names of joints, got {limits!r}")
    if isinstance(limits, bool):
        chosen = limited & limits
    else:
        chosen = np.zeros(tree.dof, dtype=bool)
        chosen[[_limited_row(name, tree, joint) for joint in limits]] = True
    if not chosen.any():
        return None
    return Limits(lower=np.where(chosen, lower, -np.inf), upper=np.where(chosen, upper, np.inf))


def _limited_row(name: str, tree: Tree, joint: str) -> int:
    """Return the row of a joint; raise ValueError unless it has limits."""
    row = tree.coordinate(joint)
    if not np.isfinite(np.array(tree.moving[row].position)).any():
        raise ValueError(f"{name}: limits: joint {joint!r} has none")
    return row


def _first_unknowns(
    search: Search, basis: BSpline, s: np.ndarray, first: np.ndarray, source: str
) -> Unknowns:
    """Return the unknowns at which the search begins: met frame after frame from a first posture
    (n,), with segments as they are in the tree. Warn of markers in other axes."""
    frames, path = follow_frames(search.sightings, first, 2 * basis.points + 1)
    one = search.sightings.frame(int(frames[0]))
    check_axes(one, first, path[:, 0], source)
    whole = np.array([np.interp(np.arange(len(s)), frames, row) for row in path])
    factors = np.ones(len(search.sightings.groups))
    return Unknowns(points=fit_samples(basis, s, whole).T, factors=factors)


def _refine_basis(basis: BSpline) -> BSpline:
    """Return the basis with FINER segments: cross-validation weighs bias against noise, and here
    deviations are told of noise alone."""
    return replace(basis, points=ceil(FINER * basis.segments) + basis.degree)


def _marker_fit(
    search: Search,
    markers: Series,
    basis: BSpline,
    least: SplineFit,
    segments: tuple[str, ...],
    known: tuple[float | None, float],
) -> MarkerFit:
    """Return the MarkerFit of what least squares found; `known` are the deviation (m) of noise, if
    it is given, and the spread of lengths."""
    sightings, span = search.sightings, float(markers.t[-1] - markers.t[0])
    points, factors = least.unknowns.points, least.unknowns.factors
    longer = {link: f for group, f in zip(sightings.groups, factors) for link in group}
    tree = scale_links(sightings.tree, longer) if longer else sightings.tree
    s = (markers.t - markers.t[0]) / span
    q, qd, qdd = (points.T @ basis.values(s, k).T / span**k for k in range(3))
    here, _ = point_places(tree, sightings.points, q)
    rows = np.vstack(list(markers.values.values()))
    blind = _unseen_directions(least.seen)
    size = _noise(sightings, here, least, len(blind)) if known[0] is None else float(known[0])
    error = max(size, TINY)
    variances = least.system.variances(search.weights, error, known[1]).T
    deviations = np.sqrt(np.maximum(variances, 0.0))  # where limits hold they are rounding noise
    names = [joint.name for joint in tree.moving]
    deviations[np.abs(blind).max(axis=0, initial=0.0) > PART] = np.inf
    wide = np.sqrt(np.diag(least.system.covariance(error, known[1])))
    return MarkerFit(
        tree=tree,
        t=markers.t,
        q=q,
        qd=qd,
        qdd=qdd,
        motion=basis,
        points=points.T,
        residuals=_by_name(markers.values, np.split(rows - here, len(markers.values))),
        deviation=size,
        deviations=deviations,
        unseen=tuple(_direction_words(row, names) for row in blind),
        beyond=tuple(_limit_lines(tree, q)),
        active=MappingProxyType({n: row for n, row in zip(names, least.pressed) if row.any()}),
        lengths=_by_name(segments, factors.tolist()),
        length_deviations=_by_name(segments, wide.tolist()),
        status=least.status,
        iterations=least.iterations,
    )


def _by_name(names: Iterable[str], values: Iterable[Numbers]) -> Mapping[str, Numbers]:
    return MappingProxyType(dict(zip(names, values)))


def _noise(sightings: Sightings, here: np.ndarray, least: SplineFit, blind: int) -> float:
    """Return the noise's standard deviation (m), of the residuals over their degrees of freedom."""
    squares = float(np.sum((sightings.roots * (here - sightings.places)) ** 2))
    known = blind + len(sightings.tree.balls)  # lengths of quaternions are given
    count, n = least.unknowns.points.shape
    unknowns = count * (n - known) + len(least.unknowns.factors)
    return float(np.sqrt(squares / max(int((sightings.roots > 0).sum()) - unknowns, 1)))


def _unseen_directions(normal: np.ndarray) -> np.ndarray:
    """Return the directions (k, n) of coordinates of which no frame's markers tell."""
    values, vectors = np.linalg.eigh(normal)
    return vectors[:, values <= BLIND * values.max()].T


def _direction_words(row: np.ndarray, names: list[str]) -> str:
    """Return the joints of a direction in words."""
    parts = [name for name, share in zip(names, row) if abs(share) > PART]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts)} together"


def _limit_lines(tree: Tree, q: np.ndarray) -> Iterator[str]:
    """Yield a line for every joint that leaves its limits."""
    for joint, row in zip(tree.moving, q):
        lower, upper = joint.position
        far = max(lower - row.min(), row.max() - upper)
        if far > FAINT:
            yield f"{joint.name} leaves its limits by {far:.3g} {unit_of(joint, 'q')}"
