"""Contact quality on a dense grid: heights, slips, pressures, friction and balance.

Nothing is clipped. Every number is the worst of its kind, with the place and the time where it
occurs. Signs are kept: a margin below zero is a fault.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocp.certificate.certificate_lines import Figures
from ocp.mechanics.kinematics.zero_moment import body_weight, convex_hull
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Span
from ocp.problem.contact.ground import Foot, Ground, Pin, Support, bears, in_force
from ocp.problem.contact.transmitted_wrenches import is_corrected
from ocp.problem.instant import Instant
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.sampling import dense_instants, traces
from ocp.solution.solution import Solution
from ocp.transcription.variables.interpolation import wrench_interpolation

FAINT = (
    0.02  # of the body weight: of a fainter force no centre of pressure is told, as on force plates
)
AXES = "xyz"
LEVEL = 1e-9  # of a unit normal: below which an axis does not hold a height
PINNED = ("height", "place", "slip", "slip_speed", "strike_speed")
Entry = tuple[str, np.ndarray, np.ndarray]  # where or what, values (N,), mask (N,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """A worst value with its unit, where it is (foot, point or joint) and at what `time` (s)."""

    value: float
    unit: str
    where: str
    time: float


def extremes_data(value: "Extreme | Figures") -> Figures:
    """Return Extremes, alone or in mappings, as plain data; None stays None."""
    if isinstance(value, Extreme):
        return asdict(value)
    return value if value is None else {key: extremes_data(entry) for key, entry in value.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactQuality:
    """Contact quality of a motion, in extremes.

    Attributes:
        height, place: largest error of pinned points along the normal, and along the ground.
        slip, slip_speed: longest way of pinned points while held, and largest speed after the
            strike.
        strike_speed: their speed at the strike.
        margins: {foot: least distance of the centre of pressure from the edge of its polygon},
            negative outside; points have none.
        zmp: likewise of the zero moment point and the hull of all that bear; nan where feet are no
            areas on one plane.
        push: least normal force while a foot bears, in body weights; of feet that do not grip.
        friction: largest tangential over normal force, of feet that do not grip.
        unbalanced: residual of the root's joints, in body weights (N, N m); zero by construction
            where wrenches are corrected for balance.
        before_correction: imbalance of ground wrenches between the nodes before that; None if they
            are no variables, or are not corrected.
    """

    height: Extreme
    place: Extreme
    slip: Extreme
    slip_speed: Extreme
    strike_speed: Extreme
    margins: Mapping[str, Extreme]
    zmp: Extreme
    push: Extreme
    friction: Extreme
    unbalanced: Extreme
    before_correction: Extreme | None


def contact_quality(solution: Solution) -> ContactQuality:
    """Return the ContactQuality of a solution; raise ValueError if its problem has no ground."""
    problem, ground = solution.problem, solution.problem.ground
    refuse_phases("footing", problem)
    if ground is None:
        raise ValueError("footing: this problem has no ground")
    s = dense_instants(solution)
    t = s * solution.duration
    motion = Motion(
        problem=problem,
        ground=ground,
        s=s,
        t=t,
        traced=traces(solution, _traced_functions(problem), t),
    )
    return ContactQuality(
        **_pin_extremes(motion),
        push=_least_push(motion),
        friction=_largest_friction(motion),
        margins={foot.name: _pressure_margin(motion, foot) for foot in ground.feet if _soles(foot)},
        zmp=_zmp_margin(motion),
        unbalanced=_root_residual(motion),
        before_correction=_wrench_gap(solution, motion),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """A motion over its ground at instants s and times t (s), (N,).

    Beside them stands what was traced of it, {what: (m, N)}.
    """

    problem: Problem
    ground: Ground
    s: np.ndarray
    t: np.ndarray
    traced: Mapping[str, np.ndarray]

    @property
    def weight(self) -> float:
        """The body's weight (N)."""
        return body_weight(self.problem.tree)

    def push(self, foot: Foot) -> np.ndarray:
        """Normal force (N,) on a foot (N)."""
        return self.normal(foot) @ self.traced[f"force {foot.name}"]

    def normal(self, foot: Foot) -> np.ndarray:
        """The unit normal (3,) of a foot's plane."""
        return np.array(self.ground.plane(foot).normal)

    def extreme(self, entries: Sequence[Entry], unit: str, worst: Callable = max) -> Extreme:
        """Return the `worst` Extreme over (where, values (N,), mask (N,)).

        Not a number if every mask is empty.
        """
        pick = np.argmax if worst is max else np.argmin
        extremes = []
        for where, values, mask in entries:
            if mask.any():
                k = np.flatnonzero(mask)[pick(values[mask])]
                value, time = float(values[k]), float(self.t[k])
                extremes.append(Extreme(value=value, unit=unit, where=where, time=time))
        if not extremes:
            return Extreme(value=np.nan, unit=unit, where="nowhere", time=np.nan)
        return worst(extremes, key=lambda extreme: extreme.value)


def polygon_margin(polygon: ArrayLike, points: np.ndarray, normal: Sequence[float]) -> np.ndarray:
    """Return the distances (N,) of points (3, N) on the ground from the edge of a polygon (k, 3).

    That is of its hull, seen along the upward `normal` (3,); the distance is negative outside.
    """
    corners = convex_hull(polygon, normal)
    edges = np.roll(corners, -1, axis=0) - corners
    away = points.T[:, None, :] - corners  # (N, k, 3)
    along = np.clip((away * edges).sum(axis=2) / (edges**2).sum(axis=1), 0.0, 1.0)
    distance = np.linalg.norm(away - along[:, :, None] * edges, axis=2).min(axis=1)
    inside = (np.cross(edges, away) @ np.asarray(normal) >= 0).all(axis=1)
    return np.where(inside, distance, -distance)


def line_margin(ends: ArrayLike, points: np.ndarray) -> np.ndarray:
    """Return the distances (N,) of points (3, N) on a line from the nearer one of its `ends` (2,
    3); negative outside."""
    first, last = np.asarray(ends, dtype=float)
    length = float(np.linalg.norm(last - first))
    along = (last - first) / length @ (points - first[:, None])
    return np.minimum(along, length - along)


def _soles(foot: Foot) -> list[tuple[int, Support]]:
    """Return the numbered supports of a foot that have a polygon or a line."""
    return [(k, each) for k, each in enumerate(foot.supports) if each.kind != "point"]


def _is_corrected(problem: Problem) -> bool:
    """Tell whether what feet give is corrected to balance the motion."""
    return problem.ground is not None and is_corrected(problem.tree, problem.ground)


def _is_level(problem: Problem) -> bool:
    """Tell whether all feet are areas on one plane and always bear a floating body."""
    ground = problem.ground
    return (
        ground is not None
        and _is_corrected(problem)
        and not any(each.plane for each in ground.feet)
    )


def _traced_functions(problem: Problem) -> dict[str, Callable[[Instant], Matrix]]:
    """Return {what: function(Instant)} of all that a Footing is made of."""
    ground: Any = problem.ground
    pins = [pin for foot in ground.feet for support in foot.supports for pin in support.pins]
    points = list(dict.fromkeys(pin.point for pin in pins))
    feet = [foot.name for foot in ground.feet]
    return {
        **{f"place {name}": partial(Instant.position, point=name) for name in points},
        **{f"speed {name}": partial(Instant.velocity, point=name) for name in points},
        **{f"force {name}": partial(_force, foot=name) for name in feet},
        **{
            f"pressure {foot.name}": partial(_pressure, foot=foot.name)
            for foot in ground.feet
            if _soles(foot)
        },
        "force": lambda at: at.reaction.force(),
        "moment": lambda at: at.reaction.moment(),
        **({"zmp": lambda at: at.reaction.pressure()} if _is_level(problem) else {}),
        "left": lambda at: at.required_torques,
    }


def _force(at: Instant, foot: str) -> Matrix:
    return at.reaction.force(foot)


def _pressure(at: Instant, foot: str) -> Matrix:
    return at.reaction.pressure(foot)


def _pin_extremes(motion: Motion) -> dict[str, Extreme]:
    """Return the extremes of pinned points, by the names of the fields."""
    kinds: dict[str, list[Entry]] = {kind: [] for kind in PINNED}
    for foot in motion.ground.feet:
        for support in foot.supports:
            on = Span(start=support.when[0], end=support.when[1]).holds(motion.s)
            strike = on & np.isclose(motion.s, foot.bears[0])
            for pin in support.pins:
                for kind, values, mask in _pin_errors(motion, foot, pin, on, strike):
                    kinds[kind].append((pin.point, values, mask))
    return {
        kind: motion.extreme(entries, "m/s" if "speed" in kind else "m")
        for kind, entries in kinds.items()
    }


def _pin_errors(
    motion: Motion, foot: Foot, pin: Pin, on: np.ndarray, strike: np.ndarray
) -> Iterator[Entry]:
    """Yield (kind, values (N,), mask (N,)) of a pinned point `on` the ground, at its `strike`.

    Heights are along the normal of the foot's plane, of what the pin holds.
    """
    held = np.array([axis in pin.axes for axis in AXES], dtype=float)[:, None]
    error = held * (motion.traced[f"place {pin.point}"] - np.array(pin.target)[:, None])
    speed, up = held * motion.traced[f"speed {pin.point}"], motion.normal(foot)
    flat = [vector - np.outer(up, up @ vector) for vector in (error, speed)]
    if np.abs(up * held[:, 0]).max() > LEVEL:
        yield "height", np.abs(up @ error), on
    if held.sum() > 1 or np.abs(up * held[:, 0]).max() <= LEVEL:
        way = flat[0] - flat[0][:, on][:, :1]
        yield "place", np.linalg.norm(flat[0], axis=0), on
        yield "slip", np.linalg.norm(way, axis=0), on
        yield "slip_speed", np.linalg.norm(flat[1], axis=0), on & ~strike
    yield "strike_speed", np.linalg.norm(speed, axis=0), strike


def _least_push(motion: Motion) -> Extreme:
    """Return the least normal force on a foot while it bears, in body weights."""
    s, entries = motion.s, []
    for foot in (each for each in motion.ground.feet if not each.grips):
        bearing = (s > foot.bears[0] + 1e-9) & (s < foot.bears[1] - 1e-9)
        entries.append((foot.name, motion.push(foot) / motion.weight, bearing))
    return motion.extreme(entries, "body weights", min)


def _largest_friction(motion: Motion) -> Extreme:
    """Return the largest tangential force over normal force."""
    entries = []
    for foot in (each for each in motion.ground.feet if not each.grips):
        force, push = motion.traced[f"force {foot.name}"], motion.push(foot)
        pull = np.linalg.norm(force - np.outer(motion.normal(foot), push), axis=0)
        ratio = np.divide(pull, push, out=np.full_like(pull, -np.inf), where=push != 0)
        entries.append((foot.name, ratio, push > FAINT * motion.weight))
    return motion.extreme(entries, "")


def _pressure_margin(motion: Motion, foot: Foot) -> Extreme:
    """Return the least distance of a foot's centre of pressure from the edge of its polygon."""
    entries, loaded = [], motion.push(foot) > FAINT * motion.weight
    pressure = motion.traced[f"pressure {foot.name}"]
    for number, support in _soles(foot):
        on = loaded & Span(start=support.when[0], end=support.when[1]).holds(motion.s)
        distance, points = np.full(len(motion.s), np.inf), pressure[:, on]
        if support.kind == "line":
            distance[on] = line_margin(support.polygon, points)
        else:
            distance[on] = polygon_margin(support.polygon, points, motion.normal(foot).tolist())
        entries.append((f"{foot.name}, support {number + 1}", distance, on))
    return motion.extreme(entries, "m", min)


def _zmp_margin(motion: Motion) -> Extreme:
    """Return the least distance of the zero moment point from the hull of all that bears."""
    if not _is_level(motion.problem):
        return motion.extreme([], "m")
    feet = motion.ground.feet
    polygons = {
        (foot.name, support.when): support.polygon for foot in feet for support in foot.supports
    }
    standing = [_bearing_supports(feet, value) for value in motion.s]
    entries = []
    for stand in dict.fromkeys(standing):
        on = np.array([other == stand for other in standing])
        distance = np.full(len(motion.s), np.inf)
        corners = [corner for key in stand for corner in polygons[key]]
        distance[on] = polygon_margin(corners, motion.traced["zmp"][:, on], motion.ground.normal)
        entries.append((" and ".join(name for name, _ in stand), distance, on))
    return motion.extreme(entries, "m", min)


def _bearing_supports(
    feet: Sequence[Foot], s: float
) -> tuple[tuple[str, tuple[float, float]], ...]:
    """Return (foot, span) of the supports on which feet bear at the instant s."""
    supports = [(foot.name, in_force(foot, s)) for foot in feet if bears(foot, s)]
    return tuple((name, support.when) for name, support in supports if support is not None)


def _root_residual(motion: Motion) -> Extreme:
    """Return the residual forces of the root's joints, in body weights (N, N m)."""
    tree, always = motion.problem.tree, np.full(len(motion.t), True)
    return motion.extreme(
        [
            (tree.moving[row].name, np.abs(motion.traced["left"][row]) / motion.weight, always)
            for row in structure(tree).root
        ],
        "body weights",
    )


def _wrench_gap(solution: Solution, motion: Motion) -> Extreme | None:
    """Return the imbalance of wrenches between the nodes; None if they are no variables, or are not
    corrected.
    """
    if not solution.stands or not _is_corrected(solution.problem):
        return None
    known = sum(
        wrench @ wrench_interpolation(solution.problem, solution.nodes, motion.s).T
        for wrench in solution.wrenches().values()
    )
    needed = np.vstack([motion.traced["moment"], motion.traced["force"]])
    gap, within = np.abs(known - needed) / motion.weight, motion.s <= solution.nodes[-1]
    rows = [f"{what} {axis}" for what in ("moment", "force") for axis in AXES]
    return motion.extreme([(row, line, within) for row, line in zip(rows, gap)], "body weights")
