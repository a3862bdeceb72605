"""Requirements on free parameters that keep a tree valid.

They are the checks of its records, as expressions of the parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from math import inf
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements import Element
from ocp.mechanics.model.joints import LIMITED, Joint
from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.model.unilateral_joints import Stay
from ocp.mechanics.values.parameters import (
    Parameter,
    array,
    as_open,
    is_open,
    matrix,
    nominal,
    parameters_of,
)
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import is_identically_zero, unit_of

# name, expression, lower and upper bound of it, unit
Requirement: TypeAlias = tuple[str, Matrix, float, float, str]

ROOM = 1e-6  # of its size, by which bounds of parameters keep an expression from its end
SIZES = (  # of elements, that are not negative
    *("stiffness", "damping", "inertia", "dynamic", "static", "transition", "rounding", "slack"),
    *("stall", "no_load", "time"),
)
OTHER = {"lower": "upper", "upper": "lower"}


def requirements(tree: Tree) -> tuple[Requirement, ...]:
    """Return the requirements on the open numbers of a tree.

    Masses are not negative, inertias are those of bodies, stiffness and damping of modes positive
    semidefinite, limits and bounds of stays in their order, bounds of distances and sizes of
    elements positive. What axes and rotations must be they are for all values, or else no joint has
    them.
    """
    return tuple(_required(tree))


def _required(tree: Tree) -> Iterator[Requirement]:
    for joint, link in zip(tree.joints, tree.links):
        label = f"link {joint.name!r}"
        if is_open(link.mass):
            yield f"{label}: mass", matrix(link.mass), 0.0, inf, "kg"
        yield from _of_inertia(label, link)
        yield from _of_modes(label, link)
        yield from _of_limits(joint)
    for stay in tree.stays:
        yield from _of_stay(stay)
    for element in tree.elements:
        yield from _of_element(element)


def _of_inertia(label: str, link: Link) -> Iterator[Requirement]:
    """Yield that the pseudo-inertia about the centre of mass, the integral of r r', is positive
    semidefinite: moments are and keep the triangle inequality (Wensing, Kim & Slotine 2018)."""
    inertia = array(link.inertia)
    spread = np.trace(inertia) / 2 * np.eye(3) - inertia
    yield from _of_matrix(f"{label}: inertia", spread, "xyz", "kg m2")


def _of_modes(label: str, link: Link) -> Iterator[Requirement]:
    if link.modes is not None:
        for what in ("stiffness", "damping"):
            entries = array(getattr(link.modes, what))
            yield from _of_matrix(f"{label}: {what}", entries, link.modes.names, "")


def _of_matrix(
    what: str, entries: np.ndarray, names: Sequence[str], unit: str
) -> Iterator[Requirement]:
    """Yield that a symmetric matrix is positive semidefinite: that the pivots of its elimination,
    as far as they are open, are not negative; rows that vanish for all values ask nothing."""
    rest = entries
    for name in names:
        pivot, column = rest[0, 0], rest[1:, 0]
        rest = rest[1:, 1:]
        if _is_zero(pivot):
            continue
        rest = rest - np.outer(column, column) / pivot
        if is_open(pivot):
            yield f"{what} {name}", matrix(pivot), 0.0, inf, unit


def _is_zero(value: object) -> bool:
    return is_identically_zero(value) if is_open(value) else value == 0


def _of_limits(joint: Joint) -> Iterator[Requirement]:
    for what, quantity in LIMITED.items():
        lower, upper = getattr(joint, what)
        if is_open([lower, upper]) and np.isfinite(nominal([lower, upper])).all():
            between = matrix(as_open(upper - lower))
            unit = unit_of(joint, quantity)
            yield f"joint {joint.name!r}: {what} limits", between, 0.0, inf, unit


def _of_stay(stay: Stay) -> Iterator[Requirement]:
    sides = [getattr(stay, side) for side in stay.sides]
    unit = "" if stay.joint else "m"
    if not stay.joint:
        for side, bound in zip(stay.sides, sides):
            if is_open(bound):
                yield f"stay {stay.name!r}: {side} bound", matrix(bound), 0.0, inf, unit
    if len(sides) == 2 and is_open(sides):
        yield f"stay {stay.name!r}: bounds", matrix(sides[1] - sides[0]), 0.0, inf, unit


def _of_element(element: Element) -> Iterator[Requirement]:
    """Yield that sizes of an element are not negative, and its levels and ends in order."""
    label = f"element {element.name!r}"
    for entry in fields(element):
        value = getattr(element, entry.name)
        if entry.name in SIZES and is_open(value):
            yield f"{label}: {entry.name}", matrix(value), 0.0, inf, ""
    for lower, upper in (("dynamic", "static"), ("lower", "upper")):
        ends: list[Numbers] = [getattr(element, end, None) for end in (lower, upper)]
        if is_open(ends) and np.isfinite(nominal(ends)).all():
            yield f"{label}: {lower}, {upper}", matrix(as_open(ends[1] - ends[0])), 0.0, inf, ""


def is_assured(requirement: Requirement) -> bool:
    """Tell whether the parameters' own bounds keep a requirement: of an expression that is affine
    in them, by more than rounding."""
    _, expression, lower, upper, _ = requirement
    parameters = parameters_of(expression)
    symbols = ca.vertcat(*(each.expression for each in parameters))
    slope = ca.gradient(expression, symbols)
    if not slope.is_constant():
        return False
    slopes, here = np.array(ca.DM(slope)).ravel(), float(nominal(as_open(expression)))
    centre = here - slopes @ [each.value for each in parameters]
    least, most = (centre + _end(slopes, parameters, side) for side in ("lower", "upper"))
    room = ROOM * (abs(here) or 1.0)
    return bool(least >= lower + room and most <= upper - room)


def _end(slopes: np.ndarray, parameters: Sequence[Parameter], side: str) -> float:
    """Return the least ("lower") or greatest sum of slopes times parameters within bounds."""
    ways = (side if slope > 0 else OTHER[side] for slope in slopes)
    ends = (getattr(each, way) for each, way in zip(parameters, ways))
    return sum(slope * end for slope, end in zip(slopes, ends) if slope)
