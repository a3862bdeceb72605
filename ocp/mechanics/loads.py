"""Forces and moments on bodies, in global axes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ocp.mechanics.checks import frozen, numbers, set_fields
from ocp.mechanics.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrench:
    """A moment (3, N m) and a force (3, N) on the named link at a `place` (3, m) that stays where it is when the link moves, global axes."""

    link: str
    place: object
    moment: object
    force: object


def acting(loads: Sequence["Load"], t: Matrix) -> tuple["Load", ...]:
    """Return the loads as they are at the instant `t` (s): functions of time replaced by their values."""
    return tuple(load.at(t) for load in loads)


def applied(tree, loads):
    """Return for each loaded point its (link index, position (3, link frame), force, moment); raise ValueError for unknown points."""
    points = [tree.point(load.point) for load in loads]
    return [
        (tree.link_index(point.link), np.array(point.position), load.force, load.moment)
        for point, load in zip(points, loads)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A force (3, N) at the named point and a moment (3, N m) on its link, in global axes.

    Each may be numbers, a CasADi expression, or a function of time t (s) that returns one of these.
    """

    point: str
    force: object = (0.0, 0.0, 0.0)
    moment: object = (0.0, 0.0, 0.0)

    def __post_init__(self):
        for what in ("force", "moment"):
            value, label = getattr(self, what), f"load at {self.point!r}: {what}"
            if isinstance(value, (tuple, list, np.ndarray)) and all(
                isinstance(entry, (int, float, np.number)) for entry in value
            ):
                set_fields(self, **{what: frozen(numbers(label, value, (3,)))})
            elif (
                not callable(value)
                and np.prod(value.shape if hasattr(value, "shape") else np.shape(value)) != 3
            ):
                raise ValueError(
                    f"{label}: expected 3 numbers or expressions, or a function of time, got {value!r}"
                )

    def at(self, t):
        """Return the load of the instant t: functions of time replaced by their values."""
        return Load(
            point=self.point,
            force=self.force(t) if callable(self.force) else self.force,
            moment=self.moment(t) if callable(self.moment) else self.moment,
        )
