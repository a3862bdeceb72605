"""Objectives that follow what was measured: markers, coordinates, forces of the ground.

Each is the integral over the motion of weighted squares of the deviation from smooth curves through
the samples, and so does not depend on how often these were taken; or, of a motion whose `duration`
(s) is told, the sum over the raw samples themselves, each over its noise, which is the size then.
Where a thing was not measured its weight is zero. The instant t of a motion is the recording's t +
offset, which may be a Parameter, also a free one, where no samples count; in a phase t counts from
the phase's start.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, matrix, nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, freeze, numbers, positive
from ocp.problem.constraints.marker_unit_check import check_size
from ocp.problem.constraints.time_series import Curves, SampleTable, Series, curves
from ocp.problem.contact.ground import Ground, feet_of
from ocp.problem.instant import Instant
from ocp.problem.objectives import Objective, samples, squares

ALIKE = 1e-9  # s: times so close are one


def marker_tracking(
    tree: Tree,
    markers: Series,
    *,
    points: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    size: Number = 0.01,
    offset: Numbers = 0.0,
    duration: float | None = None,
) -> Objective:
    """Return the integral of the squared distances of points of the tree from markers (s).

    Of each marker w |p(q) - p_measured|^2 / size^2. `markers` {marker: (3, N)} m, global axes, are
    those of the points of the same names, or of those that `points` {marker: point} names;
    `weights` {marker: number of at least 0}, 1 where none is given; `size` (m) is what counts as 1,
    `offset` (s) the time in the recording at which the motion starts; of a motion of a `duration`
    (s) the samples count, and not an integral. Raises ValueError for markers that have no point,
    listing both, for weights of unknown markers, and for an offset at which nothing was recorded.
    """
    name = "marker_tracking"
    places = match_markers(name, tree, markers, points)
    scale = positive(f"{name}: size", size, unit="m")
    return _follow(
        name,
        markers,
        weights,
        (offset, duration),
        lambda at: ca.vertcat(*(at.position(point) for point in places)),
        scale,
    )


def angle_tracking(
    tree: Tree,
    angles: Series,
    *,
    weights: Mapping[str, float] | None = None,
    size: Number = 0.1,
    offset: Numbers = 0.0,
    duration: float | None = None,
) -> Objective:
    """Return the integral of the squared deviations of coordinates from measured ones (s).

    Of each joint w (q - q_measured)^2 / size^2. `angles` {joint: (1, N)}, rad or m; `weights`
    {joint: number of at least 0}, 1 where none is given; `size` (rad or m) is what counts as 1,
    `offset` and `duration` (s) as in `marker_tracking`. Raises ValueError for a joint that the tree
    does not have.
    """
    name = "angle_tracking"
    check_type(f"{name}: tree", tree, Tree)
    rows = [_coordinate(tree, joint, angles) for joint in _check_sizes(name, angles, (1,)).values]
    scale = positive(f"{name}: size", size, unit="")
    return _follow(name, angles, weights, (offset, duration), lambda at: at.q[rows], scale)


def force_tracking(
    ground: Ground,
    forces: Series,
    *,
    weights: Mapping[str, float] | None = None,
    force: Numbers = 100.0,
    moment: Numbers = 20.0,
    offset: Numbers = 0.0,
    duration: float | None = None,
) -> Objective:
    """Return the integral of the squared deviations of ground forces from measured ones (s).

    `forces` {foot: (3, N)} N, or {foot: (6, N)} with the moment about the global origin (N m) above
    the force: of each foot w |F - F_measured|^2 / force^2 + w |M - M_measured|^2 / moment^2.
    `weights` {foot: number of at least 0}, 1 where none is given; `force` (N) and `moment` (N m)
    are what counts as 1, `offset` and `duration` (s) as in `marker_tracking`. In a phase whose
    ground does not have a foot its force is zero. Raises ValueError for a foot that the ground does
    not have.
    """
    name = "force_tracking"
    feet = [foot.name for foot in check_type(f"{name}: ground", ground, Ground).feet]
    for foot in _check_sizes(name, forces, (3, 6)).values:
        if foot not in feet:
            raise ValueError(
                f"{name}: {forces.source}: {foot!r} is no foot of the ground; the feet are "
                f"{', '.join(feet)}"
            )
    sizes = [
        positive(f"{name}: moment", moment, unit="N m"),
        positive(f"{name}: force", force, unit="N"),
    ]
    scale = ca.vertcat(
        *(
            matrix([sizes[k]] * 3)
            for rows in forces.values.values()
            for k in (range(2) if len(rows) == 6 else (1,))
        )
    )
    return _follow(
        name,
        forces,
        weights,
        (offset, duration),
        lambda at: ca.vertcat(
            *(_foot_wrench(at, foot, len(rows)) for foot, rows in forces.values.items())
        ),
        scale,
    )


def match_markers(
    what: str, tree: Tree, markers: Series, points: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the names of the points that markers stand for, in their order.

    `points` {marker: point} names those of other names. Raises ValueError, in the name of `what`
    asks, listing the markers that have no point, and the tree's points, and for markers of another
    size than these.
    """
    named = dict(check_type(f"{what}: points", points or {}, Mapping))
    check_type(f"{what}: tree", tree, Tree)
    known = {point.name for point in tree.points}
    stray = [marker for marker in named if marker not in markers.values]
    if stray:
        raise ValueError(
            f"{what}: points: {markers.source} has no marker {stray[0]!r}; it has "
            f"{', '.join(markers.values)}"
        )
    places = tuple(named.get(marker, marker) for marker in _check_sizes(what, markers, (3,)).values)
    lost = [marker for marker, point in zip(markers.values, places) if point not in known]
    if lost:
        raise ValueError(
            f"{what}: {markers.source}: markers {', '.join(lost)} match no point of the tree, "
            f"whose points are {', '.join(sorted(known)) or 'none'}; name theirs in points="
            "{marker: point}, or take markers.only([...])"
        )
    check_size(what, tree, markers, places)
    return places


def weight_roots(what: str, series: Series, weights: Mapping[str, float] | None) -> np.ndarray:
    """Return the roots of the weights of all rows of a series.

    Weights are numbers of at least 0, 1 where none is given. Raises ValueError, in the name of
    `what` asks, for unknown names, and where all are 0.
    """
    given = dict(check_type(f"{what}: weights", weights or {}, Mapping))
    unknown = [name for name in given if name not in series.values]
    if unknown:
        raise ValueError(
            f"{what}: weights: {series.source} has no {unknown[0]!r}; it has "
            f"{', '.join(series.values)}"
        )
    roots = [
        np.full(len(rows), positive(f"{what}: weight of {name!r}", given.get(name, 1.0), zero=True))
        for name, rows in series.values.items()
    ]
    if not np.concatenate(roots).any():
        raise ValueError(f"{what}: weights: {series.source}: all are 0")
    return np.sqrt(np.concatenate(roots))


def _follow(
    name: str,
    series: Series,
    weights: Mapping[str, float] | None,
    span: tuple[Numbers, float | None],
    here: Callable[[Instant], Matrix],
    scale: Matrix | Number,
) -> Objective:
    """Return the objective that follows a series: what is `here`, over its scale.

    `span`: the offset at which the motion starts, and its duration where samples count.
    """
    weight, (offset, duration) = weight_roots(name, series, weights), span
    begin = _begin(name, series, offset)
    if duration is not None:
        return _follow_samples(name, series, weight, (begin, duration), here, scale)
    aim = curves(series)

    def off(at: Instant) -> Matrix:
        _warn_beyond(aim, at, begin)
        t = at.t + matrix(begin)
        seen = ca.DM(weight) if not aim.missing else ca.DM(weight) * aim.is_measured(t)
        return seen * (here(at) - aim.at(t)) / scale

    return squares(name, off)


def _follow_samples(
    name: str,
    series: Series,
    weight: np.ndarray,
    span: tuple[Number, float],
    here: Callable[[Instant], Matrix],
    scale: Matrix | Number,
) -> Objective:
    """Return the sum over the samples that are taken during the motion, each with what was measured
    then, which between them is nothing."""
    begin, seconds = span[0], positive(f"{name}: duration", span[1], unit="s")
    if not isinstance(begin, float):
        raise ValueError(f"{name}: offset: expected a number beside a duration, got {begin!r}")
    inside = (series.t >= begin - ALIKE) & (series.t <= begin + seconds + ALIKE)
    if not inside.any():
        raise ValueError(f"{name}: {series.source}: no sample is taken in {seconds:g} s")
    t = np.clip(series.t[inside] - begin, 0.0, seconds)
    rows = np.vstack(list(series.values.values()))[:, inside]
    known = np.isfinite(rows)
    values = SampleTable(t=t, values=np.where(known, rows, 0.0))
    there = SampleTable(t=t, values=weight[:, None] * known)

    def off(at: Instant) -> Matrix:
        return there.at(at.t) * (here(at) - values.at(at.t)) / scale

    return samples(name, off, t / seconds)


def _begin(name: str, series: Series, offset: Numbers) -> Number:
    """Return the time (s) in a recording at which a motion starts, open or not.

    Raises ValueError where that is not within the recording, nor less than a sample before it.
    """
    begin = numbers(f"{name}: offset", offset, (), "s")[()]
    t, value = series.t, float(nominal(begin))
    if not t[0] - np.median(np.diff(t)) <= value < t[-1]:
        raise ValueError(
            f"{name}: {series.source}: offset: expected a time from {t[0]:g} to {t[-1]:g} s, which "
            f"were recorded, got {value:g} s"
        )
    return freeze(begin)


def _warn_beyond(aim: Curves, at: Instant, begin: Number) -> None:
    """Warn of a motion of fixed duration that goes on for more than a segment of the curve after
    the last sample, whose values are then held."""
    seconds = ca.DM(at.T) if isinstance(at.T, float | int) else at.T
    if isinstance(begin, float) and seconds.is_constant():
        over = begin + float(at.T) - aim.end
        if over > aim.step:
            warnings.warn(
                f"what is followed was recorded until {aim.end:g} s, {over:g} s before the end of "
                "the motion: the last values are held",
                UserWarning,
                stacklevel=2,
            )


def _foot_wrench(at: Instant, foot: str, rows: int) -> Matrix:
    """Return the force (3, N) on a foot, under the moment (3, N m) about the origin if 6 rows are
    asked for; zero where the ground of the instant's phase does not have it."""
    if foot not in feet_of(at.ground):
        return ca.DM.zeros(rows)
    force = at.reaction.force(foot)
    return force if rows == 3 else ca.vertcat(at.reaction.moment(foot), force)


def _coordinate(tree: Tree, joint: str, angles: Series) -> int:
    try:
        return tree.coordinate(joint)
    except ValueError as error:
        raise ValueError(f"angle_tracking: {angles.source}: {error}") from None


def _check_sizes(what: str, series: Series, sizes: Sequence[int]) -> Series:
    """Return the series; raise ValueError unless every name has one of these numbers of rows."""
    for name, rows in check_type(f"{what}: measured", series, Series).values.items():
        if len(rows) not in sizes:
            raise ValueError(
                f"{what}: {series.source}: {name!r}: expected {' or '.join(map(str, sizes))} rows, "
                f"got {len(rows)}"
            )
    return series
