"""Forces and moments on bodies, in global axes: loads that go with a point, and wrenches that stay
where they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.model.tree import Point, Tree
from ocp.mechanics.values.parameters import Open, any_nonzero, array, matrix
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import freeze, numbers, set_fields
from ocp.pickling import portable
from ocp.spelling import suggest_fields

# Three numbers, an expression of three entries, or a function of time t (s) that returns one of
# these.
Push: TypeAlias = Sequence[float] | Matrix | Callable[[Matrix], Matrix]

# Link's index, position (3, m, link frame), moment and force of each load.
AppliedLoads: TypeAlias = Sequence[tuple[int, np.ndarray, Matrix, Matrix]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrench:
    """A moment (3, N m) and a force (3, N) on the named link, in global axes.

    The moment is taken about `place` (3, m, global axes), which stays where it is when the link
    moves; by default the global origin. A wrench of no link yet, such as a sum that is still to be
    shared, has the link "".
    """

    link: str
    moment: Matrix
    force: Matrix
    place: Sequence[float] = (0.0, 0.0, 0.0)

    @property
    def about_origin(self) -> Matrix:
        """The moment (3, N m) about the global origin."""
        if not any_nonzero(array(self.place)):
            return self.moment
        return self.moment + ca.cross(matrix(self.place), self.force)


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A force (3, N) at the named point and a moment (3, N m) on its link, in global axes.

    Each may be numbers, a CasADi expression, or a function of time t (s) that returns one of these.
    """

    point: str
    force: Push = (0.0, 0.0, 0.0)
    moment: Push = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for what in ("force", "moment"):
            value, label = getattr(self, what), f"load at {self.point!r}: {what}"
            listed = isinstance(value, (tuple, list, np.ndarray))
            if listed and all(isinstance(each, int | float | np.number | Open) for each in value):
                unit = "N" if what == "force" else "N m"
                set_fields(self, **{what: freeze(numbers(label, value, (3,), unit))})
            elif not callable(value) and _size(value) != 3:
                raise ValueError(
                    f"{label}: expected 3 numbers or expressions, or a function of time, "
                    f"got {value!r}"
                )

    @property
    def varies(self) -> bool:
        """Tell whether it is a function of time."""
        return callable(self.force) or callable(self.moment)

    def at(self, t: Matrix) -> "Load":
        """Return the load of the instant t (s): functions of time replaced by their values."""
        return Load(
            point=self.point,
            force=self.force(t) if callable(self.force) else self.force,
            moment=self.moment(t) if callable(self.moment) else self.moment,
        )


def loads_at(loads: Sequence[Load], t: Matrix) -> tuple[Load, ...]:
    """Return the loads as they are at the instant t (s).

    Functions of time are replaced by their values.
    """
    return tuple(load.at(t) for load in loads)


def applied_loads(tree: Tree, loads: Sequence[Load]) -> AppliedLoads:
    """Return for each load (link's index, position (3, m, link frame), moment, force).

    Raises ValueError for unknown points.
    """
    points = [tree.point(load.point) for load in loads]
    return [
        (tree.link_index(point.link), array(point.position), load.moment, load.force)
        for point, load in zip(points, loads)
    ]


def attach_wrenches(
    tree: Tree, frames: Sequence[Matrix], wrenches: Sequence[Wrench]
) -> tuple[Tree, tuple[Load, ...]]:
    """Return the wrenches as loads that do the same here, and the tree with their points.

    These are the origins of the links, whose poses (4x4) are `frames`.
    """
    loads = []
    for wrench in wrenches:
        origin = frames[tree.link_index(wrench.link)][:3, 3]
        loads.append(
            Load(
                point=_origin(wrench.link),
                force=wrench.force,
                moment=wrench.about_origin - ca.cross(origin, wrench.force),
            )
        )
    links = dict.fromkeys(wrench.link for wrench in wrenches)
    origins = [Point(name=_origin(link), link=link) for link in links]
    return replace(tree, points=(*tree.points, *origins)), tuple(loads)


def _origin(link: str) -> str:
    return f"origin of {link}"


def _size(value: Matrix) -> int:
    return int(np.prod(value.shape if hasattr(value, "shape") else np.shape(value)))
