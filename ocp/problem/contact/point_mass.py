"""A mass that the motion carries at a point, given or sought."""

from dataclasses import dataclass
from typing import NoReturn

from ocp.mechanics.model.loads import Load
from ocp.mechanics.values.parameters import Number, matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_type, positive
from ocp.problem.motion_state import MotionState
from ocp.spelling import suggest_fields


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class PointMass:
    """A point mass at the named point, which pulls there by its weight and against acceleration.

    Its pull, F = m (g - a) with the point's acceleration a, is a load of inverse dynamics, exact at
    every instant. `mass` (kg) is a number, which may be open. Raises ValueError for a negative one.
    """

    point: str
    mass: Number

    def __post_init__(self) -> None:
        what = f"point mass at {check_type('point mass: point', self.point, str)!r}: mass"
        positive(what, self.mass, zero=True, unit="kg")

    @property
    def varies(self) -> bool:
        """False: it pulls the same at the end of a motion as at the start of its image."""
        return False

    def load_at(self, at: MotionState) -> Load:
        """Return the load (N) that it is at an instant."""
        fall = matrix(at.tree.gravity) - at.acceleration(self.point)
        return Load(point=self.point, force=self.mass * fall)

    def at(self, t: Matrix) -> NoReturn:
        """Raise ValueError: the pull is known of an Instant of a motion, not of a time alone."""
        raise ValueError(
            f"point mass at {self.point!r}: its pull follows from accelerations, which are not "
            "known here; carry it as a part of the link"
        )
