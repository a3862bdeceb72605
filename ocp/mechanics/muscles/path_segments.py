"""Course of a path in a posture: straight segments between anchors on links, arcs on surfaces.

A path without friction pulls its anchors along its segments alone, so that its length changes as
they do, whatever it does on the surfaces that it wraps over:

    dl/dq = sum over segments of e . (d end / dq - d start / dq),   e the segment's direction

with the ends moving as their links do (principle of virtual work). For wraps that holds because a
path of stationary length has no slope by the places where it touches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.unilateral_joints import End
from ocp.mechanics.values.types import Matrix

SHARES = np.linspace(0, 1, 6)  # of an arc: where its course is told


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anchor:
    """A place on a link that a path runs to.

    Args:
        place: where it is (3, m), in global axes.
        link: name of the link that carries it, or of the ground.
        point: name of the point of the tree that it is; "" for none.
        drift: {row of q: its motion (3) on the link by that coordinate} of a moving point.
        presence: expression that is 1 where the path runs to it, 0 where not; None for always.
    """

    place: Matrix
    link: str = GROUND
    point: str = ""
    drift: Mapping[int, Matrix] = field(default_factory=dict)
    presence: Matrix = None

    def moves(self, state: MotionState) -> dict[int, Matrix]:
        """Motion {row of q: d place / dq (3)} of the place, with its link and on it."""
        slides: dict[int, Matrix] = {}
        if self.point:
            slides = state.point_slides(self.point)
        elif self.link != GROUND:
            slides = state.link_slides(self.link, self.place)
        both = {row: slides[row] + self.drift[row] for row in slides if row in self.drift}
        return {**slides, **self.drift, **both}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """A straight part of a path, from `start` to `end`, there where `presence` is 1."""

    start: Anchor
    end: Anchor
    presence: Matrix = None

    @property
    def length(self) -> Matrix:
        """Its length (m), 0 where it is not."""
        return present(self.presence, ca.norm_2(self.end.place - self.start.place))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arc:
    """A part of a path on a surface, there where `presence` is 1.

    Args:
        length: m, 0 where it is not.
        place: function of a share (0 to 1) of it that gives the place (3, m) in global axes.
        presence: expression that is 1 where the path touches the surface, 0 where not.
    """

    length: Matrix
    place: Callable[[float], Matrix]
    presence: Matrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Route:
    """The course of a path in a posture.

    Args:
        segments: its straight parts.
        stops: its anchors and its arcs on surfaces, in order.
    """

    segments: Sequence[Segment]
    stops: Sequence[Anchor | Arc]

    @property
    def length(self) -> Matrix:
        """The path's length (m)."""
        straight = sum((each.length for each in self.segments), 0.0)
        return straight + sum((each.length for each in self.stops if isinstance(each, Arc)), 0.0)

    @property
    def course(self) -> list[Matrix]:
        """Places (3, m) along it, in order; one to which it does not run is where the one before
        is."""
        places: list[Matrix] = []
        for stop in self.stops:
            if isinstance(stop, Anchor):
                own = [stop.place]
            else:
                own = [stop.place(share) for share in SHARES]
            if stop.presence is not None:
                own = [ca.if_else(stop.presence, place, places[-1]) for place in own]
            places += own
        return places

    @property
    def pulls(self) -> list[tuple[Anchor, Matrix]]:
        """The anchors, and dl / d place (3) of each: away from its neighbours."""
        pulls: dict[int, tuple[Anchor, Matrix]] = {}
        for each in self.segments:
            way = each.end.place - each.start.place
            direction = present(each.presence, way / ca.norm_2(way))
            for anchor, pull in ((each.start, -direction), (each.end, direction)):
                known = pulls.get(id(anchor))
                pulls[id(anchor)] = anchor, pull if known is None else known[1] + pull
        return [*pulls.values()]

    def slope(self, state: MotionState) -> dict[int, Matrix]:
        """Slope of the length by the coordinates, the negative of the moment arms.

        Args:
            state: the posture in which the route is.

        Returns:
            {row of q: dl/dq (m/rad or 1)}, without rows of which it does not depend.
        """
        total: dict[int, Matrix] = {}
        for anchor, pull in self.pulls:
            for row, move in anchor.moves(state).items():
                share = ca.dot(pull, move)
                total[row] = total[row] + share if row in total else share
        return total


def end_anchor(state: MotionState, end: End) -> Anchor:
    """Anchor of a path at a named point of the tree, or at a place of the ground.

    Args:
        state: the posture.
        end: the point's name, or the place (3, m) in global axes.

    Returns:
        The anchor.
    """
    return Anchor(place=state.place(end), point=end if isinstance(end, str) else "")


def present(presence: Matrix, value: Matrix) -> Matrix:
    """A value where something is present, 0 where not, even if the value is no number there.

    Args:
        presence: expression that is 1 or 0; None for 1.
        value: the value.

    Returns:
        The value, or 0.
    """
    return value if presence is None else ca.if_else(presence, value, 0)


def between_anchors(anchors: Sequence[Anchor]) -> list[Segment]:
    """Straight segments of a path over anchors, some of which are conditional.

    A segment between two anchors is there where both are and none between them is.

    Args:
        anchors: two or more; the first and the last are always present.

    Returns:
        All segments that can be there.
    """
    segments = []
    for k, start in enumerate(anchors[:-1]):
        skipped: list[Matrix] = []
        for end in anchors[k + 1 :]:
            conditions = [start.presence, end.presence, *skipped]
            presence = _product([each for each in conditions if each is not None])
            segments.append(Segment(start=start, end=end, presence=presence))
            if end.presence is None:
                break
            skipped.append(ca.logic_not(end.presence))
    return segments


def _product(conditions: Sequence[Matrix]) -> Matrix:
    """Return whether all conditions hold; None if there are none."""
    total = None
    for each in conditions:
        total = each if total is None else ca.logic_and(total, each)
    return total
