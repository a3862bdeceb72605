"""Paths of muscles: length over coordinates by points, by polynomials or by a given function.

A path knows the joints that it crosses, its length (m) in a state of motion and the slope of that,
dl/dq (m/rad), of which the moment arm is the negative: a muscle that shortens pulls the coordinate
up where its arm is positive.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements.joint_elements import MotionState, gradient_at, row_of
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.quaternions_and_couplings import Follows, value_and_derivatives
from ocp.mechanics.model.tree_validation import Mechanism, carrier, known_names
from ocp.mechanics.model.unilateral_joints import End
from ocp.mechanics.muscles.path_segments import Anchor, Route, between_anchors, end_anchor
from ocp.mechanics.muscles.wrapping import SURFACES, Surface, WrapPast, wrap_route
from ocp.mechanics.values.callback_checks import as_column, check_callback
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import (
    check_callable,
    check_type,
    freeze,
    limits,
    numbers,
    set_fields,
)
from ocp.pickling import portable
from ocp.spelling import suggest_fields

RIGID = "its path crosses no joint: its length never changes"
EDGE = 1e-5  # rad or m, by which the range of a conditional point is widened, as OpenSim does
Slope: TypeAlias = dict[int, Matrix]


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class PathPoint:
    """A point of a path on a link: fixed, moving with coordinates, or there over a range only.

    Args:
        link: name of the link that carries it.
        position: (3, m) in the link's frame; entries may be functions of a coordinate, `Follows`.
        coordinate: name of the coordinate on which it depends whether the path runs to it.
        within: (lower, upper) of that coordinate (rad or m) between which the path does. There the
            length jumps, or bends, as the place of the point has it.

    Raises:
        ValueError: naming the link, for a position that is none, or a coordinate without a range.
    """

    link: str
    position: Numbers
    coordinate: str = ""
    within: Numbers = None

    def __post_init__(self) -> None:
        label = f"path point on {self.link!r}"
        if not isinstance(self.link, str) or not self.link:
            raise ValueError(f"path point: link: expected a link's name, got {self.link!r}")
        if np.ndim(np.asarray(self.position, dtype=object)) != 1 or len(self.position) != 3:
            raise ValueError(f"{label}: position: expected 3 entries, got {self.position!r}")
        entries = [
            each
            if isinstance(each, Follows)
            else freeze(numbers(f"{label}: position", each, (), "m")[()])
            for each in self.position
        ]
        set_fields(self, position=tuple(entries))
        if bool(self.coordinate) != (self.within is not None):
            raise ValueError(
                f"{label}: expected a coordinate and the range within which it counts, or none, "
                f"got {self.coordinate!r} and {self.within!r}"
            )
        if self.within is not None:
            set_fields(self, within=limits(f"{label}: within", self.within))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates on which its place on the link or its presence depends."""
        moving = [each.coordinate for each in self.position if isinstance(each, Follows)]
        return tuple(dict.fromkeys([*moving, *filter(None, (self.coordinate,))]))

    def anchor(self, state: MotionState) -> Anchor:
        """The point in a posture.

        Args:
            state: the posture.

        Returns:
            Its place, and how it moves on its link.
        """
        entries: list[Matrix] = []
        slopes: dict[int, list[Matrix]] = {}
        for axis, entry in enumerate(self.position):
            if isinstance(entry, Follows):
                row = state.row(entry.coordinate)
                value, slope, _ = value_and_derivatives(entry.function, state.q[row])
                slopes.setdefault(row, [0.0, 0.0, 0.0])[axis] = slope
                entries.append(value)
            else:
                entries.append(matrix([entry]))
        local = ca.vertcat(*entries)
        rotation, origin = state.link_frame(self.link)
        drift = {row: rotation @ ca.vertcat(*slope) for row, slope in slopes.items()}
        presence = None
        if self.within is not None:
            x = state.q[state.row(self.coordinate)]
            lower, upper = self.within
            presence = ca.logic_and(x >= lower - EDGE, x <= upper + EDGE)
        place = rotation @ local + origin
        return Anchor(place=place, link=self.link, drift=drift, presence=presence)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class PointPath:
    """A path that runs straight from point to point, or over surfaces between them.

    Args:
        points: two or more: `PathPoint`, names of points of the tree, or places (3, m, global axes)
            of the ground; between two that are always there one surface, or two, that the path
            may wrap over: `WrapCylinder`, `WrapSphere`, `WrapEllipsoid`; or one `WrapPast`.

    Raises:
        ValueError: for fewer points, a conditional end, or surfaces elsewhere.
    """

    points: Sequence[PathPoint | Surface | End]

    def __post_init__(self) -> None:
        points = self.points
        if isinstance(points, str) or not isinstance(points, Sequence) or len(points) < 2:
            raise ValueError(f"path: points: expected two or more, got {points!r}")
        entries = [
            each
            if isinstance(each, (PathPoint, str, *SURFACES))
            else freeze(numbers(f"path: point {k + 1}", each, (3,), "m"))
            for k, each in enumerate(points)
        ]
        set_fields(self, points=tuple(entries))
        runs, surfaces = _runs(entries)
        for run in runs:
            if not run:
                raise ValueError("path: expected points before, between and after surfaces")
            for end in (run[0], run[-1]):
                if isinstance(end, PathPoint) and end.within is not None:
                    raise ValueError(
                        "path: an end, or a point beside a surface, cannot be conditional, as "
                        f"point {entries.index(end) + 1} is"
                    )
        for over in surfaces:
            if len(over) > 2 or (len(over) == 2 and any(isinstance(e, WrapPast) for e in over)):
                kinds = ", ".join(type(each).__name__ for each in over)
                raise ValueError(
                    "path: expected one surface, or two, between two points, got "
                    f"{kinds}; only one WrapPast is read"
                )

    def joints(self, tree: Mechanism) -> tuple[str, ...]:
        """The coordinates on which the length depends, in the order of the tree.

        Args:
            tree: the mechanism.

        Returns:
            Names of those by which joints between the links of its points move, and of those that
            its points follow. A coordinate may move joints on both sides of a path, and within it.
        """
        chains = [_chain(tree, "path", point) for point in self.points]
        links = set().union(*chains) - chains[0].intersection(*chains)
        crossed: set[int] = {row for k in links for row in tree.spans[k]}
        for point in self.points:
            if isinstance(point, PathPoint):
                crossed |= {row_of("path", tree, name) for name in point.coordinates}
        return tuple(tree.moving[row].name for row in sorted(crossed))

    def check(self, label: str, tree: Mechanism) -> None:
        """Check that a tree has the path's links, points and coordinates.

        Args:
            label: what begins messages.
            tree: the mechanism.

        Raises:
            ValueError: for what the tree does not have, and a path over no joint.
        """
        for point in self.points:
            _chain(tree, label, point)
            for name in point.coordinates if isinstance(point, PathPoint) else ():
                row_of(label, tree, name)
        if not self.joints(tree):
            raise ValueError(f"{label}: {RIGID}")

    @memoize(4)  # length and slope ask for it in the same state
    def route(self, state: MotionState) -> Route:
        """The course of the path in a posture.

        Args:
            state: the posture.

        Returns:
            Its segments and arcs.
        """
        runs, surfaces = _runs(self.points)
        anchors = [
            [
                each.anchor(state) if isinstance(each, PathPoint) else end_anchor(state, each)
                for each in run
            ]
            for run in runs
        ]
        parts = [Route(segments=between_anchors(anchors[0]), stops=anchors[0])]
        for before, over, after in zip(anchors, surfaces, anchors[1:]):
            parts.append(wrap_route(state, before[-1], over, after[0]))
            parts.append(Route(segments=between_anchors(after), stops=after))
        return Route(
            segments=[each for part in parts for each in part.segments],
            stops=[each for part in parts for each in part.stops],
        )

    def length(self, state: MotionState) -> Matrix:
        """Length (m) in a state of motion."""
        return self.route(state).length

    def slope(self, state: MotionState) -> Slope:
        """Slope {row of q: dl/dq (m/rad or 1)} of the length, the negative of its moment arms."""
        return self.route(state).slope(state)


def _runs(
    points: Sequence[PathPoint | Surface | End],
) -> tuple[list[list[PathPoint | End]], list[list[Surface]]]:
    """Return the points of a path between its surfaces, and the surfaces between those."""
    runs: list[list[PathPoint | End]] = [[]]
    surfaces: list[list[Surface]] = []
    for k, each in enumerate(points):
        if not isinstance(each, SURFACES):
            runs[-1].append(each)
        elif k and isinstance(points[k - 1], SURFACES):
            surfaces[-1].append(each)
        else:
            surfaces.append([each])
            runs.append([])
    return runs, surfaces


def _chain(tree: Mechanism, label: str, point: PathPoint | Surface | End) -> set[int]:
    """Return the numbers of the links from the ground to a point or a surface."""
    if isinstance(point, (PathPoint, *SURFACES)):
        if point.link == GROUND:
            return set()
        if point.link not in tree.link_names:
            raise ValueError(
                f"{label}: unknown link {point.link!r}"
                f"{known_names('links', tree.link_names, point.link)}"
            )
        if tree.flexible:
            raise ValueError(
                f"{label}: on trees with links that bend ({', '.join(tree.flexible)}) paths run "
                "over named points of the tree"
            )
        k = tree.link_index(point.link)
    else:
        k = carrier(label, tree, point)
    links: set[int] = set()
    while k >= 0:
        links.add(k)
        k = tree.parents[k]
    return links


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPath:
    """A path whose length is a given function of coordinates.

    Args:
        joints: names of the k joints that it crosses.
        function: length (m) of their coordinates x (k,), an expression smooth twice or more.

    Raises:
        ValueError: for no joint, one named twice, or no such function.
    """

    joints: Sequence[str]
    function: Callable[[Matrix], Matrix]

    def __post_init__(self) -> None:
        set_fields(self, joints=_joint_names("path", self.joints))
        check_callback(
            "path: function",
            check_callable("path: function", self.function),
            (len(self.joints),),
            1,
        )

    def check(self, label: str, tree: Mechanism) -> None:
        """Check that a tree has the path's coordinates; raise ValueError beginning with `label`."""
        for joint in self.joints:
            row_of(label, tree, joint)

    def length(self, state: MotionState) -> Matrix:
        """Length (m) in a state of motion."""
        return as_column("path: function", self.function(_coordinates(self, state)))

    def slope(self, state: MotionState) -> Slope:
        """Slope {row of q: dl/dq (m/rad or 1)} of the length, the negative of its moment arms."""
        return _gradient(self, self.function, state)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialPath:
    """A path whose length is a polynomial of coordinates, in nested (Horner) form.

    Args:
        joints: names of the k joints that it crosses.
        exponents: (terms, k) whole numbers of at least 0.
        coefficients: (terms,) m/rad^exponent.
        lower: (k,) coordinates (rad or m) from which the fit holds; None for no bound.
        upper: (k,) coordinates to which it does.
        rms: error of the fit (m), root mean square; None where none is stated.
        largest: largest error of the fit (m).

    Raises:
        ValueError: for numbers of another shape, negative exponents, or a range upside down.
    """

    joints: Sequence[str]
    exponents: Numbers
    coefficients: Numbers
    lower: Numbers = None
    upper: Numbers = None
    rms: float | None = None
    largest: float | None = None

    def __post_init__(self) -> None:
        joints = _joint_names("path", self.joints)
        count, terms = len(joints), np.size(self.coefficients)
        exponents = numbers("path: exponents", self.exponents, (terms, count))
        if (exponents < 0).any() or (exponents % 1).any():
            raise ValueError(
                f"path: exponents: expected whole numbers of at least 0, got {exponents.tolist()}"
            )
        coefficients = numbers("path: coefficients", self.coefficients, (terms,))
        ends = []
        for what, sign in (("lower", -1), ("upper", 1)):
            value = getattr(self, what)
            bound = np.full(count, sign * inf)
            open_end = value is None or np.array_equal(value, bound)
            ends.append(bound if open_end else numbers(f"path: {what}", value, (count,)))
        if not (ends[0] < ends[1]).all():
            raise ValueError(
                f"path: expected lower < upper, got {ends[0].tolist()} and {ends[1].tolist()}"
            )
        set_fields(
            self,
            joints=joints,
            exponents=tuple(tuple(row) for row in exponents.astype(int).tolist()),
            coefficients=freeze(coefficients),
            lower=tuple(ends[0].tolist()),
            upper=tuple(ends[1].tolist()),
        )

    def check(self, label: str, tree: Mechanism) -> None:
        """Check that a tree has the path's coordinates, with which the length changes; raise
        ValueError beginning with `label`."""
        for joint in self.joints:
            row_of(label, tree, joint)
        if not any(map(any, self.exponents)):
            raise ValueError(f"{label}: {RIGID}")

    def check_range(self, label: str, values: Mapping[str, float]) -> None:
        """Check that coordinates lie within the range of the fit.

        Args:
            label: what begins messages, as "muscle 'soleus'".
            values: {joint: coordinate (rad or m)}.

        Raises:
            ValueError: naming the first coordinate outside, where it is and the range.
        """
        for joint, lower, upper in zip(self.joints, self.lower, self.upper):
            if not lower - EDGE <= values[joint] <= upper + EDGE:
                raise ValueError(
                    f"{label}: its polynomial was fitted for {joint!r} within {lower:g} and "
                    f"{upper:g}, and {values[joint]:g} is outside"
                )

    def polynomial(self, x: Matrix) -> Matrix:
        """Length (m) of coordinates x (k,): numbers, expressions, or k arrays."""
        terms = dict(zip(self.exponents, self.coefficients))
        return _horner(terms, [x[k] for k in range(len(self.joints))])

    def length(self, state: MotionState) -> Matrix:
        """Length (m) in a state of motion."""
        return self.polynomial(_coordinates(self, state))

    def slope(self, state: MotionState) -> Slope:
        """Slope {row of q: dl/dq (m/rad or 1)} of the length, the negative of its moment arms."""
        return _gradient(self, self.polynomial, state)


Path: TypeAlias = PointPath | PolynomialPath | GivenPath


def _joint_names(label: str, joints: object) -> tuple[str, ...]:
    if isinstance(joints, str) or not isinstance(joints, Sequence) or not joints:
        raise ValueError(f"{label}: joints: expected one name or more, got {joints!r}")
    names = tuple(check_type(f"{label}: joints", each, str) for each in joints)
    if len(set(names)) < len(names):
        raise ValueError(f"{label}: joints: expected each once, got {', '.join(names)}")
    return names


def _coordinates(path: GivenPath | PolynomialPath, state: MotionState) -> Matrix:
    return state.q[[state.row(joint) for joint in path.joints]]


def _gradient(
    path: GivenPath | PolynomialPath, function: Callable[[Matrix], Matrix], state: MotionState
) -> Slope:
    """Return {row of q: slope of a function of the path's coordinates}."""
    here = _coordinates(path, state)
    slope = gradient_at(function, here)
    return {state.row(joint): slope[k] for k, joint in enumerate(path.joints)}


def _horner(terms: Mapping[tuple[int, ...], float], x: Sequence[Matrix]) -> Matrix:
    """Return the sum of c x^e over {exponents: c}, by powers of the first of its variables."""
    if not x:
        return sum(terms.values())
    by_power: dict[int, dict[tuple[int, ...], float]] = {}
    for (power, *others), coefficient in terms.items():
        inner = by_power.setdefault(power, {})
        inner[tuple(others)] = inner.get(tuple(others), 0.0) + coefficient
    powers = sorted(by_power, reverse=True)
    total, at = _horner(by_power[powers[0]], x[1:]), powers[0]
    for power in [*powers[1:], 0]:
        for _ in range(at - power):
            total = total * x[0]
        if power in by_power and power < at:
            total = total + _horner(by_power[power], x[1:])
        at = power
    return total
