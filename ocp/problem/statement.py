"""The statement of an optimal motion: what is asked, and nothing about how it is computed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import inf, isnan
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.checks import (
    called,
    check_units,
    instance,
    refuse_open,
    set_fields,
    several,
    shortened,
    shown,
)
from ocp.mechanics.loads import Load
from ocp.mechanics.parameters import Open, array, is_open, opened, reference
from ocp.mechanics.structure import floating_root
from ocp.mechanics.tree import Tree
from ocp.motion.basis import Basis
from ocp.problem.ground import Ground
from ocp.problem.names import RESERVED
from ocp.problem.point_mass import PointMass
from ocp.problem.symmetry import Symmetry
from ocp.problem.terms import Objective
from ocp.problem.units import unit_of

INSTANTS = ("path", "start", "end", "ends", "joined", "hull")
DEPTH = 50  # of operations, to which two open bounds are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The instants from `start` to `end` of s; an end that is open is left out itself."""

    start: float
    end: float
    open_start: bool = False
    open_end: bool = False

    def __post_init__(self) -> None:
        refuse_open("span", (self.start, self.end))
        if not 0 <= self.start <= self.end <= 1:
            raise ValueError(f"expected 0 <= a <= b <= 1, got {(self.start, self.end)!r}")

    def holds(self, s: Any) -> Any:
        """Tell whether the instants s, a number or an array, lie in the span."""
        s = np.asarray(s)
        after = s > self.start + 1e-9 if self.open_start else s >= self.start - 1e-9
        return after & (s < self.end - 1e-9 if self.open_end else s <= self.end + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The one instant s of the motion, while it is open."""

    s: Any

    def __post_init__(self) -> None:
        if not 0 <= reference(self.s) <= 1:
            raise ValueError(f"when: expected an instant within 0 and 1, got {self.s:g}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Constraint:
    """lower <= function(Instant) <= upper at every instant that `when` names.

    Equal bounds make an equality. `when` is "path", "start", "end", "ends", a Span, an interval (a,
    b) of s, or one instant s that is open, such as that of a via point; "joined" hands the
    function both ends of the motion at once, two Instants; "hull" holds the function, linear in q,
    for every control point, and so for the whole curve. Bounds are numbers, which may be open, or
    one per row; `labels` and `units` name the rows. Equalities hold at the Greville abscissae of
    the spline, inequalities, and all rows on torques that are variables, at the nodes of the
    transcription. Raises ValueError naming the constraint, the field, what was expected and what
    came.
    """

    name: str
    function: Callable[..., Any]
    lower: Any
    upper: Any
    when: Any = "path"
    labels: Sequence[str] = ()
    units: str | Sequence[str] = ""

    def __post_init__(self) -> None:
        if not instance("constraint: name", self.name, str):
            raise ValueError("constraint: name: expected a word, got ''")
        what = f"constraint {self.name!r}"
        called(f"{what}: function", self.function)
        set_fields(
            self,
            lower=_bound(f"{what}: lower bound", self.lower),
            upper=_bound(f"{what}: upper bound", self.upper),
            when=_when(f"{what}: when", self.when),
            labels=_words(f"{what}: labels", self.labels),
        )
        if not isinstance(self.units, str):
            set_fields(self, units=_words(f"{what}: units", self.units))
        self._check_rows(what)

    def _check_rows(self, what: str) -> None:
        sides = np.broadcast_arrays(np.atleast_1d(self.lower), np.atleast_1d(self.upper))
        for row, (lower, upper) in enumerate(zip(*sides)):
            if is_open([lower, upper]):
                known = isinstance(self.units, str) or row < len(self.units)
                unit = self.unit(row) if known else ""
                check_units(f"{what}: {self.label(row)}", (lower, upper), unit)
            elif lower > upper:
                raise ValueError(
                    f"{what}: {self.label(row)}: "
                    f"lower bound {lower:g} is above upper bound {upper:g}"
                )

    def __repr__(self) -> str:
        rows = f"{', '.join(self.labels)}" or "rows"
        return f"Constraint({self.name!r}, {shortened(rows)}, when={self.when!r})"

    @property
    def open(self) -> bool:
        """Tell whether a bound, or the instant, is open: given with the problem's parameters."""
        return is_open([self.lower, self.upper]) or isinstance(self.when, Moment)

    def bounds(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (lower, upper), each (size,), of objects where bounds are open.

        Raise ValueError if the given bounds have another length.
        """
        for side in (self.lower, self.upper):
            if np.ndim(side) and len(side) != size:
                raise ValueError(
                    f"constraint {self.name!r}: its function has {size} rows, "
                    f"its bounds {len(side)}"
                )
        for what, words in (("labels", self.labels), ("units", self.units)):
            if words and not isinstance(words, str) and len(words) != size:
                raise ValueError(
                    f"constraint {self.name!r}: its function has {size} rows, "
                    f"its {what} {len(words)}"
                )
        return np.broadcast_to(self.lower, size), np.broadcast_to(self.upper, size)

    def lower_of(self, row: int) -> Any:
        """Return the lower bound of a row, a number or an Open one."""
        return self.lower[row] if isinstance(self.lower, tuple) else self.lower

    def upper_of(self, row: int) -> Any:
        """Return the upper bound of a row, a number or an Open one."""
        return self.upper[row] if isinstance(self.upper, tuple) else self.upper

    def equal(self, row: int) -> bool:
        """Tell whether a row is an equality: its bounds are one number, or alike expressions."""
        lower, upper = self.lower_of(row), self.upper_of(row)
        if isinstance(lower, Open) and isinstance(upper, Open):
            return bool(ca.is_equal(lower.expression, upper.expression, DEPTH))
        return bool(lower == upper)

    def bounded(self, row: int) -> tuple[bool, bool]:
        """Tell whether a row has a lower and an upper bound; open ones are bounds."""
        sides = self.lower_of(row), self.upper_of(row)
        return is_open(sides[0]) or sides[0] > -inf, is_open(sides[1]) or sides[1] < inf

    def label(self, row: int) -> str:
        """Return the name of a row: the joint or direction it belongs to."""
        return self.labels[row] if row < len(self.labels) else f"row {row}"

    def unit(self, row: int) -> str:
        """Return the unit of q, qd, qdd or tau of a joint that turns or slides."""
        return self.units if isinstance(self.units, str) else self.units[row]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem:
    """An optimal motion: all that is asked, as a value.

    `tree` is what moves, `motion` the basis of its motion, `duration` (s) a number or a Parameter,
    or (lower, upper) where it is free, `objective` what is to be least. `constraints` may be nested
    tuples; `loads` act all along, point masses among them; `ground` says who stands where and when.
    `symmetry` says that the end is the image of the start, as it is in half a gait cycle or in a
    periodic motion: it adds its constraints, "mirrored.q" and so on, to those listed, and both
    together are the `requirements`.
    `outputs` {name: function(Instant)} are what one wants to see of the motion: traced by
    `Solution.output` and drawn by name, they ask nothing of it. Raises ValueError naming the field,
    what was expected and what came.
    """

    tree: Tree
    motion: Basis
    duration: Any
    objective: Objective
    constraints: Sequence[Any] = ()
    loads: Sequence[Load | PointMass] = ()
    ground: Ground | None = None
    symmetry: Symmetry | None = None
    outputs: Mapping[str, Callable[..., Any]] = field(default_factory=dict, hash=False)
    requirements: tuple[Constraint, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_types()
        set_fields(
            self,
            duration=_duration(self.duration),
            constraints=tuple(_flat(self.constraints)),
            loads=several("loads", self.loads, Load, PointMass),
            outputs=MappingProxyType(dict(self.outputs)),
        )
        set_fields(self, requirements=(*self.constraints, *_images(self.tree, self.symmetry)))
        _check_names([constraint.name for constraint in self.requirements])
        for load in self.loads:
            self.tree.point(load.point)
        if self.ground is not None:
            _check_ground(self.tree, self.ground)

    def _check_types(self) -> None:
        instance("tree", self.tree, Tree)
        if not isinstance(self.motion, Basis):
            raise ValueError(f"motion: expected BSpline or Mesh, got {shown(self.motion)}")
        if not isinstance(self.objective, Objective):
            raise ValueError(
                f"objective: expected Objective, got {shown(self.objective)}; duration(), "
                "effort() or integral(name, function) are some"
            )
        instance("ground", self.ground, Ground, type(None))
        instance("symmetry", self.symmetry, Symmetry, type(None))
        for name, function in instance("outputs", self.outputs, Mapping).items():
            called(f"output {instance('outputs: name', name, str)!r}", function)
        if not self.tree.dof:
            raise ValueError("tree: none of its joints moves")

    def __repr__(self) -> str:
        lower, upper = self.duration
        constraints = ", ".join(each.name for each in self.requirements)
        parts = [
            f"{self.tree.dof} coordinates",
            f"{type(self.motion).__name__} of {self.motion.points} points",
            f"duration {lower:g} s" if lower == upper else f"duration {lower:g} to {upper:g} s",
            f"minimise {repr(self.objective)[10:-1]}",
            f"constraints {shortened(constraints) or 'none'}",
        ]
        if self.ground is not None:
            parts.append(
                f"ground under {shortened(', '.join(foot.name for foot in self.ground.feet))}"
            )
        return f"Problem({'; '.join(parts)})"

    @property
    def cyclic(self) -> bool:
        """Tell whether the end is the start's image in everything, forces included.

        Limits of its own there would only leave multipliers undetermined. On a mesh,
        whose accelerations have values of their own at either end, and under loads that vary in
        time the end is asked for all the same.
        """
        same = not any(load.varies for load in self.loads)
        image = self.symmetry is not None and self.symmetry.accelerations
        return image and same and not self.motion.collocated


def _bound(what: str, value: Any) -> Any:
    try:
        bound = array(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, got {value!r}") from None
    if bound.ndim > 1 or any(entry != entry for entry in bound.ravel()):
        raise ValueError(f"{what}: expected numbers, got {bound.tolist()}")
    return bound.item() if bound.ndim == 0 else tuple(bound.tolist())


def _when(what: str, value: Any) -> Any:
    if isinstance(value, Span):
        return value
    if isinstance(value, str):
        if value not in INSTANTS:
            raise ValueError(
                f"{what}: expected one of {', '.join(INSTANTS)} or (a, b), got {value!r}"
            )
        return value
    if isinstance(value, Moment):
        return value if is_open(value.s) else Span(start=value.s, end=value.s)
    if isinstance(opened(value), Open):
        return Moment(s=opened(value))
    if isinstance(value, list | tuple):
        refuse_open(what, value)
    try:
        start, end = map(float, value)
        return Span(start=start, end=end)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what}: expected 0 <= a <= b <= 1 or one of {', '.join(INSTANTS)}, got {value!r}"
        ) from None


def _words(what: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{what}: expected a tuple of words, got {value!r}")
    return tuple(instance(what, word, str) for word in value)


def _duration(value: Any) -> tuple[Any, Any]:
    """Return (lower, upper) (s), two times the same where it is one number or one expression."""
    try:
        value = opened(value)
        alone = isinstance(value, ca.SX) or np.ndim(value) == 0
        sides = repeat(value, 2) if alone else value
        lower, upper = (array(side).item() for side in sides)
    except (TypeError, ValueError):
        raise ValueError(
            f"duration: expected a number or (lower, upper) (s), got {value!r}"
        ) from None
    check_units("duration", (lower, upper), "s")
    least, most = reference((lower, upper))
    if isnan(least) or isnan(most) or not 0 < least <= most < inf:
        raise ValueError(f"duration: expected 0 < lower <= upper (s), got ({least:g}, {most:g})")
    return lower, upper


def _flat(constraints: Any) -> Iterator[Constraint]:
    if not isinstance(constraints, Iterable):
        raise ValueError(f"constraints: expected a tuple of them, got {shown(constraints)}")
    for item in constraints:
        if isinstance(item, (tuple, list)):
            yield from _flat(item)
        else:
            yield instance("constraints", item, Constraint)


def _images(tree: Tree, symmetry: Symmetry | None) -> Iterator[Constraint]:
    """Yield the constraints that make the end of a motion the image of its start."""
    if symmetry is None:
        return
    if len(symmetry.index) != tree.dof:
        raise ValueError(
            f"symmetry: expected the image of {tree.dof} coordinates, got {len(symmetry.index)}"
        )
    index, sign = list(symmetry.index), ca.DM(symmetry.sign)
    still = tuple(0.0 * way for way in symmetry.shift)
    goals = {"q": symmetry.shift, "qd": still, "qdd": still}
    for quantity in ("q", "qd", "qdd") if symmetry.accelerations else ("q", "qd"):
        yield Constraint(
            name=f"mirrored.{quantity}",
            lower=goals[quantity],
            upper=goals[quantity],
            when="joined",
            function=lambda start, end, quantity=quantity: (
                getattr(end, quantity) - sign * getattr(start, quantity)[index]
            ),
            labels=tuple(joint.name for joint in tree.moving),
            units=tuple(unit_of(joint, quantity) for joint in tree.moving),
        )


def _check_names(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"constraint {name!r}: the name is used twice")
        if name in RESERVED:
            raise ValueError(
                f"constraint {name!r}: the name is that of the law of motion or of the duration's "
                f"bounds; reserved are {', '.join(RESERVED)}"
            )


def _check_ground(tree: Tree, ground: Ground) -> None:
    """Raise ValueError if the tree does not float, or lacks links and points of its feet."""
    floating_root(tree)
    for foot in ground.feet:
        for support in foot.supports:
            tree.link_index(support.link)
            for pin in support.pins:
                tree.point(pin.point)
