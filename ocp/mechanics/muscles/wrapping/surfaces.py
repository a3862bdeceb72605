"""Surfaces on links that paths wrap over."""

from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.muscles.wrapping.circle_wrapping import past_circle, within_circle
from ocp.mechanics.muscles.wrapping.geodesics import over_ellipsoid
from ocp.mechanics.muscles.wrapping.tangents import (
    QUADRANTS,
    Touch,
    over_cylinder,
    over_sphere,
    plane_through,
)
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import freeze, numbers, positive, rigid_pose, set_fields
from ocp.spelling import suggest_fields

HOME = tuple(map(tuple, np.eye(4).tolist()))
SHAPES = "cylinder", "sphere"  # of surfaces that paths pass


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapCylinder:
    """A cylinder on a link that a path wraps over, along the z axis of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radius: m.
        pose: its frame (4x4) in the link's.
        quadrant: side of its axis on which the path lies: +x, -x, +y or -y; "" for the shorter way.

    Raises:
        ValueError: naming the link, for a radius that is not positive or an unknown quadrant.
    """

    link: str
    radius: float
    pose: Numbers = HOME
    quadrant: str = ""

    def __post_init__(self) -> None:
        label = _check_surface(self, "cylinder")
        if self.quadrant not in QUADRANTS:
            raise ValueError(
                f"{label}: quadrant: expected one of {', '.join(filter(None, QUADRANTS))} or "
                f'"", got {self.quadrant!r}'
            )
        set_fields(self, radius=positive(f"{label}: radius", self.radius))

    def touch(self, start: Matrix, end: Matrix) -> Touch:
        """Touch of a path from place to place (3, m, own frame), as `over_cylinder` gives it."""
        return over_cylinder(start, end, self.radius, self.quadrant)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapSphere:
    """A sphere on a link that a path wraps over, about the origin of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radius: m.
        pose: its frame (4x4) in the link's.

    Raises:
        ValueError: naming the link, for a radius that is not positive.
    """

    link: str
    radius: float
    pose: Numbers = HOME

    def __post_init__(self) -> None:
        label = _check_surface(self, "sphere")
        set_fields(self, radius=positive(f"{label}: radius", self.radius))

    def touch(self, start: Matrix, end: Matrix) -> Touch:
        """Touch of a path from place to place (3, m, own frame), as `over_sphere` gives it."""
        return over_sphere(start, end, self.radius)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapEllipsoid:
    """An ellipsoid on a link that a path wraps over, about the origin of its own frame.

    Args:
        link: name of the link that carries it, or of the ground.
        radii: (3,) m, along the axes of its own frame.
        pose: its frame (4x4) in the link's.

    Raises:
        ValueError: naming the link, for a radius that is not positive.
    """

    link: str
    radii: Numbers
    pose: Numbers = HOME

    def __post_init__(self) -> None:
        label = _check_surface(self, "ellipsoid")
        radii = numbers(f"{label}: radii", self.radii, (3,))
        for radius in radii:
            positive(f"{label}: radii", radius)
        set_fields(self, radii=freeze(radii))

    def touch(self, start: Matrix, end: Matrix) -> Touch:
        """Touch of a path from place to place (3, m, own frame), as `over_ellipsoid` gives it."""
        return over_ellipsoid(start, end, self.radii)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class WrapPast:
    """A cylinder along z, or a sphere, that a path passes by the laws of MuJoCo's tendons.

    It goes round where the straight line meets the surface or leaves it on its other side than
    `side`, on the side where its tangents touch nearer to that (MuJoCo 3), or the longer way where
    the line passes the axis `behind`, as seen from the side, and else the shorter one (MuJoCo 4). A
    `side` within the surface leads the path through it, so that it touches from inside at one
    place.

    Args:
        link: name of the link that carries it, or of the ground.
        radius: m.
        pose: its frame (4x4) in the link's.
        shape: "cylinder" or "sphere".
        side: place (3, m) in its own frame; None for the shorter way.
        behind: which of both laws it is.

    Raises:
        ValueError: naming the link, for a radius that is not positive or an unknown shape.
    """

    link: str
    radius: float
    pose: Numbers = HOME
    shape: str = SHAPES[0]
    side: Numbers = None
    behind: bool = False

    def __post_init__(self) -> None:
        label = _check_surface(self, "surface")
        if self.shape not in SHAPES:
            raise ValueError(f"{label}: shape: expected cylinder or sphere, got {self.shape!r}")
        set_fields(self, radius=positive(f"{label}: radius", self.radius))
        if self.side is not None:
            set_fields(self, side=freeze(numbers(f"{label}: side", self.side, (3,), "m")))

    @property
    def touched_within(self) -> bool:
        """Whether its side leads the path through it, so that it touches from inside."""
        return self.side is not None and float(np.linalg.norm(self.side)) < self.radius

    def touch(self, start: Matrix, end: Matrix) -> Touch:
        """Touch of a path from place to place (3, m, own frame), as `past_circle` gives it."""
        axes = ca.DM.eye(3) if self.shape == SHAPES[0] else plane_through(start, end)[0]
        flat = [(axes[:, :2].T @ place) for place in (start, end)]
        side = None if self.side is None else axes[:, :2].T @ ca.DM(self.side)
        if self.touched_within:
            touch = within_circle(flat[0], flat[1], self.radius)
        else:
            touch = past_circle(flat[0], flat[1], self.radius, side, self.behind)
        places = [axes[:, :2] @ place for place in (touch.first, touch.last)]
        if self.shape != SHAPES[0]:
            return Touch(first=places[0], last=places[1], arc=touch.arc, angle=touch.angle)
        ways = ca.norm_2(flat[0] - touch.first), touch.arc, ca.norm_2(flat[1] - touch.last)
        rise = (end[2] - start[2]) / sum(ways)
        heights = start[2] + rise * ways[0], end[2] - rise * ways[2]
        first, last = (ca.vertcat(place[:2], z) for place, z in zip(places, heights))
        arc = touch.arc * ca.sqrt(1 + rise**2)
        return Touch(first=first, last=last, arc=arc, angle=touch.angle)


Surface: TypeAlias = WrapCylinder | WrapSphere | WrapEllipsoid | WrapPast
SURFACES = WrapCylinder, WrapSphere, WrapEllipsoid, WrapPast


def _check_surface(surface: Surface, kind: str) -> str:
    """Check a surface's link and pose; return what begins messages on it."""
    if not isinstance(surface.link, str) or not surface.link:
        raise ValueError(f"{kind}: link: expected a link's name, got {surface.link!r}")
    label = f"{kind} on {surface.link!r}"
    set_fields(surface, pose=freeze(rigid_pose(f"{label}: pose", surface.pose)))
    return label
