"""Functions of OpenSim's files as curves of one coordinate."""

from collections.abc import Callable
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.interchange.opensim.properties import number_of, numbers_of
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.coordinates import Nested, PiecewiseLine, Polynomial
from ocp.mechanics.muscles.simm_splines import SimmSpline
from ocp.mechanics.values.types import Matrix

Curve: TypeAlias = Callable[[Matrix], Matrix]
IDENTITY = Polynomial((0.0, 1.0))


def _constant(element: Element) -> Curve:
    return Polynomial((number_of(element, "value", 0.0),))


def _line(element: Element) -> Curve:
    slope, offset = numbers_of(element, "coefficients", 2, (1.0, 0.0))
    return Polynomial((offset, slope))


def _polynomial(element: Element) -> Curve:
    return Polynomial(tuple(reversed(numbers_of(element, "coefficients"))))


def _spline(element: Element) -> Curve:
    x = numbers_of(element, "x")
    y = numbers_of(element, "y", len(x))
    with element.located_errors():
        return SimmSpline(places=x, values=y)


def _pieces(element: Element) -> Curve:
    x = numbers_of(element, "x")
    y = numbers_of(element, "y", len(x))
    with element.located_errors():
        return PiecewiseLine(places=x, values=y)


def _multiple(element: Element) -> Curve:
    """Return a multiple of an inner function, as scaled models have them."""
    inner = function_in(element, "function")
    if inner is None:
        raise element.wrong("<function> is missing")
    return scale_curve(inner, number_of(element, "scale", 1.0))


FUNCTIONS: dict[str, Callable[[Element], Curve]] = {
    "Constant": _constant,
    "LinearFunction": _line,
    "PolynomialFunction": _polynomial,
    "SimmSpline": _spline,
    "NaturalCubicSpline": _spline,  # the name of SimmSpline before version 2
    "natCubicSpline": _spline,
    "PiecewiseLinearFunction": _pieces,
    "MultiplierFunction": _multiple,
}


def function_in(owner: Element, *tags: str) -> Curve | None:
    """Return the function that an object holds, in a property or by itself; None for none.

    Args:
        owner: the object.
        tags: of properties that may hold it, as "function".

    Raises:
        ValueError: naming a function of another class.
    """
    holders = [owner, *(each for tag in tags for each in owner.every(tag))]
    for holder in holders:
        for child in holder.children:
            if child.tag in FUNCTIONS:
                return FUNCTIONS[child.tag](child)
            of_class = child.tag.endswith(("Function", "Spline")) and child.tag not in tags
            if of_class or (holder is not owner):
                raise child.wrong(
                    f"functions of this class are not read, but {', '.join(FUNCTIONS)}; put one of "
                    "them in its place"
                )
    return None


def scale_curve(curve: Curve, factor: float) -> Curve:
    """Return a curve times a factor."""
    if isinstance(curve, Polynomial):
        return Polynomial(tuple(factor * each for each in curve.coefficients))
    if isinstance(curve, Nested):
        return Nested(scale_curve(curve.outer, factor), curve.inner)
    if isinstance(curve, SimmSpline | PiecewiseLine):
        values = tuple(factor * each for each in curve.values)
        return type(curve)(places=curve.places, values=values)
    return Nested(Polynomial((0.0, factor)), curve)


def compose_curves(outer: Curve, inner: Curve) -> Curve:
    """Return outer(inner(x)), as a plain curve where one of both is a straight line."""
    if isinstance(inner, Polynomial) and len(inner.coefficients) <= 2:
        offset, slope = (*inner.coefficients, 0.0)[:2]
        if slope == 0:
            return Polynomial((value_at(outer, offset),))
        if isinstance(outer, Polynomial):
            whole = np.polynomial.Polynomial(outer.coefficients)(
                np.polynomial.Polynomial([offset, slope])
            )
            return Polynomial(tuple(np.atleast_1d(whole.coef).tolist()))
        if isinstance(outer, SimmSpline | PiecewiseLine):
            order = 1 if slope > 0 else -1
            places = [(place - offset) / slope for place in outer.places[::order]]
            return type(outer)(places=places, values=outer.values[::order])
    if isinstance(outer, Polynomial) and len(outer.coefficients) <= 2:
        offset, slope = (*outer.coefficients, 0.0)[:2]
        if isinstance(inner, SimmSpline | PiecewiseLine):
            values = tuple(offset + slope * each for each in inner.values)
            return type(inner)(places=inner.places, values=values)
    return Nested(outer, inner)


def value_at(curve: Curve, place: float) -> float:
    """Return the value of a curve at a place."""
    return float(ca.DM(curve(ca.DM(place))))


def is_constant(curve: Curve) -> bool:
    """Tell whether a curve has one value everywhere."""
    if isinstance(curve, Polynomial):
        return not any(curve.coefficients[1:])
    if isinstance(curve, Nested):
        return is_constant(curve.outer) or is_constant(curve.inner)
    return isinstance(curve, SimmSpline | PiecewiseLine) and len(set(curve.values)) == 1
