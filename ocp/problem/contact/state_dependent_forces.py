"""Forces that follow from the state of motion: springs, dampers, contact that gives way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import casadi as ca

from ocp.mechanics.model.loads import Load
from ocp.mechanics.values.callback_checks import as_column, describe_error
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_callable, check_type
from ocp.pickling import portable
from ocp.problem.contact.complementarity import Touch
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.motion_state import MotionState
from ocp.spelling import suggest_fields


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class ForceLaw:
    """A force at the named point, in global axes, that follows from where the tree is and how it
    moves.

    `law` is a function of an Instant that returns the force (3, N), or the force and below it a
    moment (3, N m) on the point's link. It may ask for q, qd, t, and what follows from these, as
    positions and velocities of points; accelerations and torques follow from forces, and s and T
    from a plan that a simulation does not know. Raises ValueError for a law that is no function,
    and where it returns anything else.
    """

    point: str
    law: Callable[..., Matrix]

    def __post_init__(self) -> None:
        check_callable(
            f"force law at {check_type('force law: point', self.point, str)!r}: law", self.law
        )

    @property
    def varies(self) -> bool:
        """True: nothing tells that the end of a motion has the image of the start's force."""
        return True

    def load_at(self, at: MotionState) -> Load:
        """Return the load that it is at an instant."""
        entries = as_column(f"force law at {self.point!r}: law", self._answer(at))
        parts = ca.vertsplit(entries) if entries.numel() in (3, 6) else None
        if parts is None:
            raise ValueError(
                f"force law at {self.point!r}: expected 3 numbers or expressions of a force (N), "
                f"or 6 with a moment (N m) below it, got {entries.numel()}"
            )
        moment = ca.vertcat(*parts[3:]) if len(parts) == 6 else (0.0, 0.0, 0.0)
        return Load(point=self.point, force=ca.vertcat(*parts[:3]), moment=moment)

    def _answer(self, at: MotionState) -> Matrix:
        try:
            return self.law(at)
        except (ValueError, Warning):  # which say what is wrong already
            raise
        except Exception as error:
            raise ValueError(
                f"force law at {self.point!r}: law fails: {describe_error(error)}"
            ) from error

    def at(self, t: Matrix) -> NoReturn:
        """Raise ValueError: the force is known of an Instant of a motion, not of a time alone."""
        raise ValueError(
            f"force law at {self.point!r}: its force follows from the state of motion, which is "
            "not known here; give what it is as a Load"
        )


# What may act on a tree, as a Problem and a simulation take it
Acting: TypeAlias = Load | PointMass | ForceLaw | Touch
