"""Parts of a motion, and how one goes over into the next.

A phase has a basis, a duration, a ground, constraints and an objective of its own; for all that
looks at it alone it is a problem like any other, whose s runs from 0 to 1 and whose time counts
from its own start. A transition says what is the same on both sides, what strikes there, and under
which symmetry the motion goes on: the last one may lead back to the first phase.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np

from ocp.mechanics.kinematics.zero_moment import Z
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number, is_open
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import (
    check_records,
    check_type,
    describe_value,
    freeze,
    numbers,
    set_fields,
)
from ocp.motion.basis import Basis
from ocp.problem.constraint import Constraint, require_bound
from ocp.problem.contact.ground import Ground
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.objectives import Objective
from ocp.problem.reserved_names import SEPARATOR
from ocp.problem.symmetry import Symmetry
from ocp.spelling import suggest_fields

QUANTITIES = ("q", "qd", "qdd", "qddd", "tau")
Duration: TypeAlias = Number | Sequence[Number]  # (s), or its bounds
Statement: TypeAlias = Any  # a Problem, whose module stands on those of its phases


@suggest_fields
@dataclass(frozen=True, slots=True, repr=False)
class Phase:
    """A part of a motion: its `name`, and what `Problem` takes of a whole one.

    `duration` (s) is a number, a Parameter, or (lower, upper) where it is free. The `tree` may
    differ from the problem's in what it carries, not in its coordinates. What the problem states
    beside its phases, loads, constraints and objective, holds in each of them. Raises ValueError
    naming the phase.
    """

    name: str
    _: KW_ONLY
    motion: Basis
    duration: Duration
    ground: Ground | None = None
    constraints: Sequence[Any] = ()
    objective: Objective | None = None
    loads: Sequence[Acting] = ()
    tree: Tree | None = None

    def __post_init__(self) -> None:
        if not check_type("phase: name", self.name, str):
            raise ValueError("phase: name: expected a word, got ''")
        what = f"phase {self.name!r}"
        if not isinstance(self.motion, Basis):
            raise ValueError(
                f"{what}: motion: expected BSpline or Mesh, got {describe_value(self.motion)}"
            )
        if SEPARATOR in self.name:
            raise ValueError(f"{what}: name: expected none with {SEPARATOR!r}")
        if isinstance(self.loads, str) or not isinstance(self.loads, Iterable):
            raise ValueError(
                f"{what}: loads: expected a tuple of them, got {describe_value(self.loads)}"
            )
        check_type(f"{what}: ground", self.ground, Ground, type(None))
        check_type(f"{what}: objective", self.objective, Objective, type(None))
        check_type(f"{what}: tree", self.tree, Tree, type(None))

    def __repr__(self) -> str:
        return f"Phase({self.name!r}, {type(self.motion).__name__} of {self.motion.points} points)"


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """A named point that strikes, and is pushed by an impulse (3, N s, global axes).

    The plane that it strikes has the upward unit `normal` (3). Along that the point leaves with
    `restitution` times the speed with which it came; across it sticks, or without any friction
    slides. The impulse pushes only, and within the pyramid inside the cone of `friction`, or where
    that is None in any direction across. What `slips` sticks only where its impulse is within the
    cone, and otherwise slides on, with an impulse on the cone's edge against where it then goes
    (Coulomb's law between impulses and what is left of velocities: Moreau 1988). Raises ValueError
    naming the point.
    """

    point: str
    friction: Number | None = None
    restitution: Number = 0.0
    normal: Numbers = Z
    slips: bool = False

    def __post_init__(self) -> None:
        what = f"impact of {check_type('impact: point', self.point, str)!r}"
        normal = numbers(f"{what}: normal", self.normal, (3,))
        if abs(np.linalg.norm(normal) - 1) > 1e-9:
            raise ValueError(
                f"{what}: normal: expected unit length, got {np.linalg.norm(normal):.9g}"
            )
        for name, most in (("friction", inf), ("restitution", 1.0)):
            number = getattr(self, name)
            if number is not None and not is_open(number):
                value = float(numbers(f"{what}: {name}", number, ()))
                if not 0.0 <= value <= most:
                    raise ValueError(f"{what}: {name}: expected within 0 and {most:g}, got {value}")
        if check_type(f"{what}: slips", self.slips, bool) and (
            self.friction is None or self.slides
        ):
            raise ValueError(
                f"{what}: slips: expected a coefficient of friction above 0, got {self.friction}"
            )
        set_fields(self, normal=freeze(normal))

    @property
    def slides(self) -> bool:
        """Tell whether nothing keeps the point from going on across."""
        return not is_open(self.friction) and bool(self.friction == 0)

    @property
    def sticks(self) -> bool:
        """Tell whether the point rests across whatever its impulse."""
        return not (self.slides or self.slips)


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transition:
    """How the end of the phase `before` goes over into the start of the phase `after`.

    Phases are named, or where "" follow each other as listed. The `quantities` are the same on both
    sides: "q", "qd", "qdd", "qddd" and "tau" are known; under a `symmetry` the state before is the
    image of the state after. Where points strike, velocities jump by their impulses. `constraints`
    are of both sides: functions of two Instants, the end before and the start after. Raises
    ValueError naming the transition.
    """

    name: str = ""
    before: str = ""
    after: str = ""
    quantities: Sequence[str] = ("q", "qd")
    symmetry: Symmetry | None = None
    strikes: Sequence[Strike] = ()
    constraints: Sequence[Constraint] = ()

    def __post_init__(self) -> None:
        for what in ("name", "before", "after"):
            check_type(f"transition: {what}", getattr(self, what), str)
        what = f"transition {self.name!r}"
        quantities = tuple(self.quantities)
        for each in quantities:
            if each not in QUANTITIES:
                raise ValueError(
                    f"{what}: expected of {', '.join(QUANTITIES)} what is the same on both sides, "
                    f"got {each!r}"
                )
        set_fields(
            self,
            quantities=quantities,
            strikes=check_records(f"{what}: strikes", self.strikes, Strike),
            constraints=check_records(f"{what}: constraints", self.constraints, Constraint),
        )
        check_type(f"{what}: symmetry", self.symmetry, Symmetry, type(None))
        points = self.points
        if len(set(points)) < len(points):
            raise ValueError(f"{what}: a point strikes twice: {', '.join(points)}")
        if self.strikes and "qd" in quantities:
            raise ValueError(
                f"{what}: velocities jump where {', '.join(points)} strikes; "
                "they cannot be the same on both sides"
            )
        for constraint in map(require_bound, check_records(what, self.constraints, Constraint)):
            if constraint.when != "joined":
                raise ValueError(
                    f"{what}: constraint {constraint.name!r}: expected when='joined', got "
                    f"{constraint.when!r}"
                )

    @property
    def points(self) -> tuple[str, ...]:
        """The named points that strike."""
        return tuple(strike.point for strike in self.strikes)

    def __repr__(self) -> str:
        strikes = ", ".join(self.points)
        parts = [self.name or "by place", f"same {', '.join(self.quantities) or 'nothing'}"]
        return f"Transition({'; '.join(parts + [f'{strikes} strike'] * bool(strikes))})"


def continuous(
    *quantities: str, symmetry: Symmetry | None = None, before: str = "", after: str = ""
) -> Transition:
    """Return the Transition across which `quantities` are the same, by default q and qd.

    Under a `symmetry`, as that of `mirrored` or `periodic`, the state before is the image of the
    state after. Phases are those named `before` and `after`, or follow each other as listed. Raises
    ValueError for a quantity that is not known.
    """
    same = quantities or ("q", "qd")
    return Transition(quantities=same, symmetry=symmetry, before=before, after=after)


def impact(
    *points: str,
    friction: Number | None = None,
    restitution: Number = 0.0,
    normal: Numbers = Z,
    slips: bool = False,
    symmetry: Symmetry | None = None,
    before: str = "",
    after: str = "",
) -> Transition:
    """Return the Transition at which named points strike, and velocities jump by their impulses.

    M(q) (v+ - v-) = sum of J' L over the points, with impulses L as variables (Hurmuzlu & Marghitu
    1994). Coordinates are the same on both sides, under a `symmetry` as in `continuous`.
    `friction`, `restitution`, the upward unit `normal` (3) of the plane that is struck and `slips`
    are those of `Strike`. What stands before and after takes part in a blow, and is named too.
    Phases are those named `before` and `after`, or follow each other as listed. Raises ValueError
    if no point is named.
    """
    if not points:
        raise ValueError("impact: expected the names of points that strike, got none")
    strikes = tuple(
        Strike(point=point, friction=friction, restitution=restitution, normal=normal, slips=slips)
        for point in points
    )
    return Transition(
        quantities=("q",), strikes=strikes, symmetry=symmetry, before=before, after=after
    )


def link_constraint(
    name: str,
    function: Callable[..., Matrix],
    lower: Numbers = 0.0,
    upper: Numbers = 0.0,
    *,
    quantities: Sequence[str] = ("q", "qd"),
    units: str = "",
    before: str = "",
    after: str = "",
) -> Transition:
    """Return the Transition with lower <= function(end before, start after) <= upper.

    The `quantities` are the same on both sides beside it; `units` are those of its rows. Phases are
    those named `before` and `after`, or follow each other as listed. Raises ValueError for a
    quantity that is not known.
    """
    own = Constraint(
        name=name, function=function, lower=lower, upper=upper, when="joined", units=units
    )
    return Transition(quantities=quantities, constraints=(own,), before=before, after=after)
