"""Surfaces on links that paths wrap over."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ocp.mechanics.muscles.wrapping.geodesics import over_ellipsoid
from ocp.mechanics.muscles.wrapping.tangents import QUADRANTS, Touch, over_cylinder, over_sphere
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import freeze, numbers, positive, rigid_pose, set_fields
from ocp.spelling import suggest_fields

HOME = tuple(map(tuple, np.eye(4).tolist()))


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


Surface: TypeAlias = WrapCylinder | WrapSphere | WrapEllipsoid
SURFACES = WrapCylinder, WrapSphere, WrapEllipsoid


def _check_surface(surface: Surface, kind: str) -> str:
    """Check a surface's link and pose; return what begins messages on it."""
    if not isinstance(surface.link, str) or not surface.link:
        raise ValueError(f"{kind}: link: expected a link's name, got {surface.link!r}")
    label = f"{kind} on {surface.link!r}"
    set_fields(surface, pose=freeze(rigid_pose(f"{label}: pose", surface.pose)))
    return label
