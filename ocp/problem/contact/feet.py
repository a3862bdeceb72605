"""Constraints on feet in stance and swing: pins that hold, points that do not sink."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics.zero_moment import Z
from ocp.mechanics.model.tree import Tree, points_of
from ocp.mechanics.values.parameters import Number, any_nonzero, matrix, nominal
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Constraint, Span, When
from ocp.problem.contact.ground import Foot, Ground, Pin, Support
from ocp.problem.instant import Instant
from ocp.problem.symmetry import Symmetry

AXES = "xyz"


def foot_contact(
    ground: Ground,
    *,
    position: Number = 0.002,
    velocity: Number = 0.1,
    symmetry: Symmetry | None = None,
    axes: str = AXES,
    switches: bool = False,
    between: int = 0,
) -> tuple[Constraint, ...]:
    """Hold the pins of every support within `position` (m) of their targets.

    They are slower than `velocity` (m/s), at a strike too: there is no impact, and what is slow
    after it must be so before; at as many instants `between` each two nodes as well, since feet
    that come and go are fastest at first and at last. At a switch the support that holds more axes
    holds, the earlier one of two alike. Under a `symmetry` of the motion the rows of the end are
    left out: their image holds at the start, and twice the same row would leave its multiplier
    undetermined. Places are held along those of the global `axes` only, rates along all that a pin
    has. With `switches` what a later support holds and the earlier one does not is slow at the
    switch too: without, it may be faster there, and until the next node.
    """
    constraints = []
    for foot in ground.feet:
        for number, support in enumerate(foot.supports):
            if support.pins:
                opened = _open_ends(foot, number, symmetry is not None)
                name = f"{foot.name}.{number + 1}"
                span = Span(start=support.when[0], end=support.when[1], **opened)
                placed = along(support.pins, axes)
                if placed:
                    row = in_place(f"contact.{name}", placed, position=position, when=span)
                    constraints.append(row)
                moving = replace(span, between=between)
                constraints.append(_held_still(name, support, velocity, moving))
                pins = _new_pins(foot, number) if switches and opened["open_start"] else ()
                if pins:
                    added, begins = replace(support, pins=pins), (support.when[0],) * 2
                    constraints.append(_held_still(f"{name}.start", added, velocity, begins))
    return tuple(constraints)


def in_place(
    name: str, pins: Iterable[Pin], *, position: Number, when: When = "path"
) -> Constraint:
    """Hold pins within `position` (m) of their targets; `when` as in `Constraint`."""
    pins = tuple(pins)
    return Constraint(
        name=name,
        function=lambda at: _gaps(at, pins),
        lower=-position,
        upper=position,
        when=when,
        labels=_labels(pins),
        units="m",
    )


def along(pins: Iterable[Pin], axes: str) -> tuple[Pin, ...]:
    """Return pins that hold along some axes only, without those that then hold nothing."""
    kept = ((pin, "".join(axis for axis in pin.axes if axis in axes)) for pin in pins)
    return tuple(replace(pin, axes=held) for pin, held in kept if held)


def _new_pins(foot: Foot, number: int) -> tuple[Pin, ...]:
    """Return the pins that a support, by its number, adds to those of the one before it."""
    before = {(pin.point, axis) for pin in foot.supports[number - 1].pins for axis in pin.axes}
    pins = foot.supports[number].pins
    left = (
        (pin, "".join(axis for axis in pin.axes if (pin.point, axis) not in before)) for pin in pins
    )
    return tuple(replace(pin, axes=axes) for pin, axes in left if axes)


def _held_still(name: str, support: Support, tolerance: Number, span: When) -> Constraint:
    return Constraint(
        name=f"slip.{name}",
        function=lambda at: _rates(at, support.pins),
        lower=-tolerance,
        upper=tolerance,
        when=span,
        labels=_labels(support.pins),
        units="m/s",
    )


def _open_ends(foot: Foot, number: int, imaged: bool) -> dict[str, bool]:
    """Return which ends of a support's span are left out.

    There a neighbour holds instead, or the end is the start's image.
    """
    supports = foot.supports
    here = supports[number]
    ends = {"open_start": False, "open_end": imaged and here.when[1] == 1.0}
    if number > 0 and supports[number - 1].when[1] == here.when[0]:
        ends["open_start"] = _axes_held(supports[number - 1]) >= _axes_held(here)
    if number + 1 < len(supports) and supports[number + 1].when[0] == here.when[1]:
        ends["open_end"] |= _axes_held(supports[number + 1]) > _axes_held(here)
    return ends


def _axes_held(support: Support) -> int:
    return sum(len(pin.axes) for pin in support.pins)


def _labels(pins: Iterable[Pin]) -> tuple[str, ...]:
    return tuple(f"{pin.point}.{axis}" for pin in pins for axis in pin.axes)


def _gaps(at: Instant, pins: Iterable[Pin]) -> Matrix:
    """Return the distances (m) of pins from their targets along the axes in which they are held."""
    return ca.vertcat(
        *(
            at.position(pin.point)[AXES.index(axis)] - pin.target[AXES.index(axis)]
            for pin in pins
            for axis in pin.axes
        )
    )


def _rates(at: Instant, pins: Iterable[Pin]) -> Matrix:
    """Return the speeds (m/s) of pins along the axes in which they are held."""
    return ca.vertcat(
        *(at.velocity(pin.point)[AXES.index(axis)] for pin in pins for axis in pin.axes)
    )


def no_penetration(ground: Ground, points: Mapping[str, Iterable[str]]) -> tuple[Constraint, ...]:
    """Keep the points {foot: names} above the foot's plane wherever no pin holds their height."""
    return tuple(
        constraint
        for foot in ground.feet
        for point in points[foot.name]
        for constraint in _above(ground, foot, point)
    )


def clearance(
    tree: Tree, points: str | Sequence[str], lift: Number = 0.0, *, when: When = "path"
) -> Constraint:
    """Keep what swings above the ground through the origin, across gravity: points, or all that
    links have, or their origins.

    Heights are above a wave of the height `lift` (m) that begins and ends flat, lift (4 s (1 -
    s))^2; `when` as in `Constraint`. Raises ValueError for an unknown point.
    """
    names = points_of(tree, points)
    gravity = np.array(nominal(tree.gravity), dtype=float)
    up = -gravity / (np.linalg.norm(gravity) or 1.0) if gravity.any() else np.array(Z)

    def heights(at: Instant) -> Matrix:
        places = (at.position(name) for name in names)
        wave = lift * (4 * at.s * (1 - at.s)) ** 2 if any_nonzero([lift]) else 0.0
        return ca.vertcat(*(_height(place, up) - wave for place in places))

    return Constraint(
        name="clear", function=heights, lower=0.0, upper=inf, when=when, labels=names, units="m"
    )


def _height(place: Matrix, up: np.ndarray) -> Matrix:
    axis = int(np.argmax(np.abs(up)))
    return place[axis] if up[axis] == 1.0 else ca.dot(ca.DM(up), place)


def _above(ground: Ground, foot: Foot, point: str) -> Iterator[Constraint]:
    """Yield the constraints that keep a point above the ground between the times it is pinned."""
    plane = ground.plane(foot)
    normal, height = matrix(plane.normal), matrix(plane.height)
    up = AXES[int(np.argmax(np.abs(nominal(plane.normal))))]
    pinned = [
        support.when
        for support in foot.supports
        for pin in support.pins
        if pin.point == point and up in pin.axes
    ]
    for k, (a, b) in enumerate(_complement(pinned)):
        yield Constraint(
            name=f"penetration.{point}" + (f".{k + 1}" if k else ""),
            function=lambda at: ca.dot(normal, at.position(point)) - height,
            lower=0.0,
            upper=inf,
            when=Span(start=a, end=b, open_start=a > 0, open_end=b < 1),
            labels=(point,),
            units="m",
        )


def _complement(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the parts of [0, 1] that spans, closed ones, leave over."""
    edge = 0.0
    parts = []
    for a, b in sorted(spans):
        if a > edge + 1e-9:
            parts.append((edge, a))
        edge = max(edge, b)
    return parts + ([(edge, 1.0)] if edge < 1 - 1e-9 else [])
