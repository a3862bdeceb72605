"""Loops that close within bounds: a coordinate or a distance that stops there, by a force that only
pushes or only pulls.

The cut joint of Xiang, Arora & Abdel-Malek (2009, eq. 38b) asks for g(r) <= 0 with a force of its
own; a `Stay` is its data, `ocp.mechanics.kinematics.unilateral_forces` its gaps and forces.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np

from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import freeze, limits, numbers, positive, set_fields
from ocp.spelling import suggest_fields

End: TypeAlias = str | Sequence[float]
Spans: TypeAlias = Sequence[tuple[float, float]]

ALIKE = 1e-10  # of the motion: instants so close are one
THROUGHOUT = ((0.0, 1.0),)
LEAK = 1e-4  # J: what gap times force may be


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """What holds a measure between `lower` and `upper`, with a force where it reaches them.

    The measure is the coordinate of the named `joint` (rad or m), or the distance (m) from `start`
    to `end`, each the name of a point or a place (3, m, global axes) of the ground. At its lower
    bound a push of at least zero holds it, at its upper one a pull. It never leaves its bounds,
    and what it has left to a bound times the force there is at most `leak` (J): a force acts only
    where it is closed. When that is follows from the motion, or is prescribed: `closed` names spans
    (a, b) of s, over which it lies at its bound and outside of which there is no force; () is
    never. Constructors are `cable`, `stop` and `slot`.

    A stay with a `tension` is a wire that something hauls: its force is chosen, between (least,
    most) N, whatever its length over the points of its `path`, or places (3, m) of the ground,
    which it runs over without friction; `speed` (m/s) is the most at which it is hauled in or paid
    out. `wire` is its constructor. Raises ValueError naming the stay.
    """

    name: str
    joint: str = ""
    start: End = ""
    end: End = ""
    lower: float = -inf
    upper: float = inf
    leak: float = LEAK
    closed: Spans | None = None
    path: Sequence[End] = ()
    tension: Numbers = None
    speed: Numbers = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"stay: name: expected a word, got {self.name!r}")
        label = f"stay {self.name!r}"
        if self.tension is not None or len(self.path):
            self._check_wire(f"wire {self.name!r}")
            return
        unit = "" if self.joint else "m"
        lower, upper = limits(f"{label}: bounds", (self.lower, self.upper), unit)
        leak = positive(f"{label}: leak (J)", self.leak)
        set_fields(self, lower=lower, upper=upper, leak=leak, path=())
        for what in ("start", "end"):
            value = getattr(self, what)
            if not isinstance(value, str):
                set_fields(self, **{what: freeze(numbers(f"{label}: {what}", value, (3,), "m"))})
        if self.closed is not None:
            set_fields(self, closed=_spans(f"{label}: closed", self.closed))
            if len(self.sides) > 1:
                raise ValueError(
                    f"{label}: closed: which of its two bounds? expected a stay for each of them"
                )
        if bool(self.joint) == bool(self.start or self.end):
            raise ValueError(f"{label}: expected a joint, or a start and an end; got both or none")
        if not self.joint and not (self.start and self.end):
            raise ValueError(f"{label}: expected a start and an end, got one of them")
        lower, upper = nominal((lower, upper))
        if not (isfinite(lower) or isfinite(upper)) or lower == upper:
            raise ValueError(
                f"{label}: expected a bound, or two different ones, got {lower:g} and {upper:g}"
            )
        if not self.joint and not (upper > 0 and (lower > 0 or lower == -inf)):
            raise ValueError(
                f"{label}: bounds of a distance: expected numbers above 0 m, got {lower:g} and "
                f"{upper:g}"
            )

    def _check_wire(self, label: str) -> None:
        closed = self.closed is None or _spans(f"{label}: closed", self.closed) == THROUGHOUT
        if self.joint or self.start or self.end or not closed:
            raise ValueError(f"{label}: expected a path and a tension alone")
        set_fields(self, path=path_of(label, self.path), closed=THROUGHOUT)
        if self.tension is None or np.ndim(self.tension) != 1:
            raise ValueError(f"{label}: tension: expected (least, most) N, got {self.tension!r}")
        tension = limits(f"{label}: tension", self.tension, "N")
        least, most = nominal(tension)
        if not 0 <= least < most:
            raise ValueError(
                f"{label}: tension: expected 0 <= least < most, since it only pulls, got {least:g} "
                f"and {most:g} N"
            )
        set_fields(self, tension=tension, lower=-inf, upper=inf)
        if self.speed is not None:
            set_fields(self, speed=positive(f"{label}: speed", self.speed, unit="m/s"))

    def closes(self, s: Matrix, *, before: bool = False) -> Matrix:
        """Tell at which instants s (N,) there may be a force: over the spans that are prescribed,
        or at all of them where none are.

        At an inner end of a span, where accelerations jump, values are those after it, or with
        `before` those before it.
        """
        s = np.asarray(s)
        if self.closed is None:
            return np.full(s.shape, True)
        shift = ALIKE if before else -ALIKE
        inside = np.full(s.shape, False)
        for start, end in self.closed:
            inside |= (s > (start + shift if start > 0 else -1)) & (
                s < (end + shift if end < 1 else 2)
            )
        return inside

    @property
    def sides(self) -> tuple[str, ...]:
        """The bounds that it has, "lower" before "upper"; of a wire its "tension"."""
        if len(self.path):
            return ("tension",)
        return tuple(side for side in ("lower", "upper") if isfinite(nominal(getattr(self, side))))


def cable(name: str, start: End, end: End, length: float, **options: Any) -> Stay:
    """Return a Stay that pulls where `start` and `end` are its `length` (m) apart.

    Else it hangs slack. `options`: `leak`, `closed`.
    """
    return Stay(name=name, start=start, end=end, upper=length, **options)


def stop(name: str, joint: str, **options: Any) -> Stay:
    """Return a Stay on which a joint's coordinate (rad or m) comes to lie.

    `options`: its bounds `lower` and `upper`, one or both, and `leak`, `closed`.
    """
    return Stay(name=name, joint=joint, **options)


def slot(
    name: str, start: End, end: End, shortest: float, longest: float, *, leak: float = LEAK
) -> Stay:
    """Return a Stay of a pin in a slot.

    It pushes at the `shortest` distance (m) of `start` and `end` and pulls at the `longest`; `leak`
    (J) is what gap times force may be.
    """
    return Stay(name=name, start=start, end=end, lower=shortest, upper=longest, leak=leak)


def wire(name: str, path: Sequence[End], tension: Numbers, speed: Numbers = None) -> Stay:
    """Return a Stay whose force is chosen: a cable over the points of a `path`, hauled with a
    `tension` of (least, most) N, and at most at a `speed` (m/s)."""
    return Stay(name=name, path=path, tension=tension, speed=speed)


def path_of(label: str, path: object) -> tuple[End, ...]:
    """Return a path of two ends or more; raise ValueError beginning with `label`."""
    if isinstance(path, str) or not isinstance(path, Sequence) or len(path) < 2:
        raise ValueError(f"{label}: path: expected two points or more, got {path!r}")
    return tuple(
        end
        if isinstance(end, str)
        else freeze(numbers(f"{label}: place {k + 1} of its path", end, (3,), "m"))
        for k, end in enumerate(path)
    )


def _spans(what: str, value: Iterable[Sequence[float]]) -> Spans:
    try:
        spans = tuple((float(start), float(end)) for start, end in value)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected pairs (a, b) of s, got {value!r}") from None
    edges = [edge for span in spans for edge in span]
    if not all(0 <= start < end <= 1 for start, end in spans) or edges != sorted(edges):
        raise ValueError(f"{what}: expected 0 <= a < b <= 1 one after the other, got {spans}")
    return spans
