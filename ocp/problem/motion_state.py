"""Protocol of an instant as force laws see it: coordinates, places and their motion."""

from typing import Any, Protocol

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix


class MotionState(Protocol):
    """The part of an `Instant` that forces may depend on."""

    @property
    def tree(self) -> Tree:
        """The tree that moves."""

    @property
    def t(self) -> Matrix:
        """Time (s)."""

    def position(self, point: str) -> Matrix:
        """Return the position (3, m) of a named point."""

    def velocity(self, point: str) -> Matrix:
        """Return the velocity (3, m/s) of a named point."""

    def angular_velocity(self, point: str) -> Matrix:
        """Return the angular velocity (3, rad/s) of a named point's link."""

    def acceleration(self, point: str) -> Matrix:
        """Return the acceleration (3, m/s2) of a named point."""

    def contact(self, touch: Any) -> Matrix:
        """Return the force (3, N) of a sought contact."""
