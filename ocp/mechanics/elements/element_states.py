"""States of elements: what an element remembers beside the motion, as activation or tendon force.

A state x is a coordinate of the tree without a link, after all others in q. Its law is of first
order and takes one of two forms:

    driven      x' = f(q, qd, x, u)        a control u drives it, the "torque" of its coordinate
    implicit    r(q, qd, x, x') = 0        nothing does, and the residual r is what vanishes

Of a state of motion an element gives the control u that its rate needs, or r, as inverse dynamics
gives torques (`state_needs`), of a control the rate, as forward dynamics does (`state_rates`), and
of a posture its states at rest, where first guesses begin.
Forces of an element depend on its states and not on their rates.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeGuard, runtime_checkable

from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree_validation import Mechanism
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import limits, set_fields
from ocp.spelling import suggest_fields

ANY = (float("-inf"), float("inf"))
_STATEFUL: dict[type, bool] = {}  # by kind of element


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class StateVariable:
    """A state of an element.

    Args:
        name: of its coordinate, as "soleus.activation".
        bounds: (lower, upper) within which it stays all along.
        control: (lower, upper) of the control that drives it, None of a state whose law is
            implicit.
        rest: value in no posture in particular.
        unit: of the state and of its control or residual.

    Raises:
        ValueError: for bounds upside down, or a value at rest outside them.
    """

    name: str
    bounds: tuple[float, float] = ANY
    control: tuple[float, float] | None = None
    rest: float = 0.0
    unit: str = ""

    def __post_init__(self) -> None:
        label = f"state {self.name!r}"
        set_fields(self, bounds=limits(f"{label}: bounds", self.bounds))
        if self.control is not None:
            set_fields(self, control=limits(f"{label}: control", self.control))
        if not self.bounds[0] <= self.rest <= self.bounds[1]:
            raise ValueError(
                f"{label}: rest: expected a number within {self.bounds[0]:g} and "
                f"{self.bounds[1]:g}, got {self.rest:g}"
            )

    @property
    def coordinate(self) -> Joint:
        """The record of its coordinate in `Tree.moving`."""
        return _coordinate(self)


@lru_cache(maxsize=1024)
def _coordinate(variable: StateVariable) -> Joint:
    return Joint(
        name=variable.name,
        unit=variable.unit,
        position=variable.bounds,
        torque=variable.control or ANY,
        actuated=variable.control is not None,
    )


@runtime_checkable
class Stateful(Protocol):
    """An element with states of its own."""

    @property
    def name(self) -> str:
        """By which it is known."""
        ...

    @property
    def states(self) -> tuple[StateVariable, ...]:
        """Its states, none where its settings leave them out."""
        ...

    def state_needs(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: control, or residual, that the rates of its states need}."""
        ...

    def state_rates(self, state: MotionState, controls: Matrix) -> dict[int, Matrix]:
        """Return {row of q: rate (1/s)} under `controls` (n,), of which it knows its own rows."""
        ...

    def states_at_rest(self, tree: Mechanism, state: MotionState) -> dict[int, float]:
        """Return {row of q: value} of its states where the tree rests in a posture, by numbers;
        raise ValueError where it cannot be there."""
        ...


def is_stateful(element: object) -> TypeGuard[Stateful]:
    """Tell whether an element has states of its own, looking at one of each kind alone."""
    kind = type(element)
    if kind not in _STATEFUL:  # to look takes long before Python 3.12
        _STATEFUL[kind] = isinstance(element, Stateful)
    return _STATEFUL[kind]
