"""The statement of an optimal motion: what is asked, and nothing about how it is computed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, isnan

import numpy as np

from ocp.mechanics.loads import Load
from ocp.mechanics.structure import floating_root
from ocp.mechanics.tree import Tree
from ocp.motion.mesh import Mesh
from ocp.motion.spline import BSpline
from ocp.problem.ground import Ground

INSTANTS = ("path", "start", "end", "ends", "joined", "hull")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The instants from `start` to `end` of s; an end that is open is left out itself."""

    start: float
    end: float
    open_start: bool = False
    open_end: bool = False

    def __post_init__(self):
        if not 0 <= self.start <= self.end <= 1:
            raise ValueError(f"expected 0 <= a <= b <= 1, got {(self.start, self.end)!r}")

    def holds(self, s):
        """Tell whether the instants s, a number or an array, lie in the span."""
        s = np.asarray(s)
        after = s > self.start + 1e-9 if self.open_start else s >= self.start - 1e-9
        return after & (s < self.end - 1e-9 if self.open_end else s <= self.end + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """lower <= function(Instant) <= upper at every instant that `when` names; equal bounds make an equality.

    `when` is "path", "start", "end", "ends", a Span or an interval (a, b) of s; "joined" hands the function both ends of the motion at
    once, two Instants; "hull" holds the function, linear in q, for every control point, and so for the whole curve. Bounds are numbers or
    one per row; `labels` and `units` name the rows. Equalities hold at the Greville abscissae of the spline, inequalities, and all rows on
    torques that are variables, at the nodes of the transcription.
    """

    name: str
    function: Callable = field(repr=False)
    lower: object
    upper: object
    when: object = "path"
    labels: tuple = ()
    units: object = ""

    def __post_init__(self):
        for side in ("lower", "upper"):
            bound = np.asarray(getattr(self, side), dtype=float)
            if np.isnan(bound).any():
                raise ValueError(
                    f"constraint {self.name!r}: {side} bound: expected numbers, got {bound.tolist()}"
                )
            object.__setattr__(
                self, side, float(bound) if bound.ndim == 0 else tuple(bound.tolist())
            )
        for row, (lower, upper) in enumerate(
            zip(*np.broadcast_arrays(np.atleast_1d(self.lower), np.atleast_1d(self.upper)))
        ):
            if lower > upper:
                raise ValueError(
                    f"constraint {self.name!r}: {self.label(row)}: lower bound {lower:g} is above upper bound {upper:g}"
                )
        if isinstance(self.when, str):
            if self.when not in INSTANTS:
                raise ValueError(
                    f"constraint {self.name!r}: when: expected one of {', '.join(INSTANTS)} or (a, b), got {self.when!r}"
                )
        elif not isinstance(self.when, Span):
            if len(self.when) != 2:
                raise ValueError(
                    f"constraint {self.name!r}: when: expected 0 <= a <= b <= 1, got {self.when!r}"
                )
            try:
                object.__setattr__(self, "when", Span(start=self.when[0], end=self.when[1]))
            except ValueError as error:
                raise ValueError(f"constraint {self.name!r}: when: {error}") from None

    def bounds(self, size):
        """Return (lower, upper), each (size,); raise ValueError if the given bounds have another length."""
        for side in (self.lower, self.upper):
            if np.ndim(side) and len(side) != size:
                raise ValueError(
                    f"constraint {self.name!r}: its function has {size} rows, its bounds {len(side)}"
                )
        return np.broadcast_to(self.lower, size), np.broadcast_to(self.upper, size)

    def lower_of(self, row):
        """Lower bound of a row."""
        return self.lower[row] if np.ndim(self.lower) else self.lower

    def upper_of(self, row):
        """Upper bound of a row."""
        return self.upper[row] if np.ndim(self.upper) else self.upper

    def label(self, row):
        """Name of a row: the joint or direction it belongs to."""
        return self.labels[row] if row < len(self.labels) else f"row {row}"

    def unit(self, row):
        """Unit of a row."""
        return self.units if isinstance(self.units, str) else self.units[row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One part of an objective: a function of an Instant, taken at the end ("end"), integrated over time ("integral"), or
    squared, summed and integrated ("squares": the function gives the residuals, which Gauss-Newton then uses)."""

    name: str
    function: Callable = field(repr=False)
    kind: str

    def __post_init__(self):
        if self.kind not in ("end", "integral", "squares"):
            raise ValueError(
                f"objective {self.name!r}: kind: expected end, integral or squares, got {self.kind!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A weighted sum of terms, ((weight, Term), ...); `+` joins objectives and a number scales one."""

    terms: tuple

    def __post_init__(self):
        for weight, term in self.terms:
            if not isfinite(weight):
                raise ValueError(f"objective {term.name!r}: expected a finite weight, got {weight}")

    def __add__(self, other):
        return Objective(terms=self.terms + other.terms)

    def __mul__(self, factor):
        return Objective(terms=tuple((factor * weight, term) for weight, term in self.terms))

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An optimal motion: the tree, the basis of its motion, the duration (a number, or (lower, upper) when free, s), objective, constraints.

    `constraints` may be nested tuples; `loads` act all along; `ground` says who stands where and when. `cyclic` says that the end is the
    image of the start in everything, as `mirrored` asks for: limits of lifted quantities and of the last control point then are not asked
    again at the end, where they would only leave multipliers undetermined. Raises ValueError naming what is wrong.
    """

    tree: Tree
    motion: BSpline | Mesh
    duration: object
    objective: Objective
    constraints: tuple = ()
    loads: tuple = ()
    ground: Ground | None = None
    cyclic: bool = False

    def __post_init__(self):
        if not self.tree.dof:
            raise ValueError("tree: none of its joints moves")
        lower, upper = _duration(self.duration)
        object.__setattr__(self, "duration", (lower, upper))
        object.__setattr__(self, "constraints", tuple(_flat(self.constraints)))
        object.__setattr__(self, "loads", tuple(self.loads))
        names = [constraint.name for constraint in self.constraints]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"constraint {name!r}: the name is used twice")
        for load in self.loads:
            if not isinstance(load, Load):
                raise ValueError(f"loads: expected Load records, got {load!r}")
            self.tree.point(load.point)
        if self.ground is not None:
            floating_root(self.tree)
            for foot in self.ground.feet:
                for support in foot.supports:
                    self.tree.link_index(support.link)
                    for pin in support.pins:
                        self.tree.point(pin.point)


def _duration(value):
    lower, upper = (value, value) if np.ndim(value) == 0 else value
    lower, upper = float(lower), float(upper)
    if isnan(lower) or isnan(upper) or not 0 < lower <= upper < np.inf:
        raise ValueError(f"duration: expected 0 < lower <= upper (s), got ({lower:g}, {upper:g})")
    return lower, upper


def _flat(constraints):
    for item in constraints:
        if isinstance(item, Constraint):
            yield item
        elif isinstance(item, (tuple, list)):
            yield from _flat(item)
        else:
            raise ValueError(f"constraints: expected Constraint records, got {item!r}")
