"""Functions of OpenSim's files as curves of one coordinate, and as functions of several."""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.interchange.opensim.expressions import expression_in
from ocp.interchange.opensim.properties import number_of, numbers_of, words_of
from ocp.interchange.xml_elements import Element
from ocp.mechanics.model.quaternions_and_couplings import Nested, PiecewiseLine, Polynomial
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sine:
    """A function A sin(w x + p) + o of an `amplitude` A, `omega` w, a `phase` p (rad) and an
    `offset` o."""

    amplitude: float
    omega: float
    phase: float
    offset: float

    def __call__(self, x: Matrix) -> Matrix:
        """Return its value at x."""
        return self.amplitude * ca.sin(self.omega * x + self.phase) + self.offset


def _sine(element: Element) -> Curve:
    return Sine(
        amplitude=number_of(element, "amplitude", 1.0),
        omega=number_of(element, "omega", 1.0),
        phase=number_of(element, "phase", 0.0),
        offset=number_of(element, "offset", 0.0),
    )


FUNCTIONS: dict[str, Callable[[Element], Curve]] = {
    "Constant": _constant,
    "LinearFunction": _line,
    "PolynomialFunction": _polynomial,
    "SimmSpline": _spline,
    "NaturalCubicSpline": _spline,  # the name of SimmSpline before version 2
    "natCubicSpline": _spline,
    "PiecewiseLinearFunction": _pieces,
    "MultiplierFunction": _multiple,
    "Sine": _sine,
    "MultivariatePolynomialFunction": lambda element: _polynomial_of_one(element),
    "ExpressionBasedFunction": lambda element: _formula_in(element, 1),
}


def function_in(owner: Element, *tags: str) -> Curve | None:
    """Return the function that an object holds, in a property or by itself; None for none.

    Args:
        owner: the object.
        tags: of properties that may hold it, as "function".

    Raises:
        ValueError: naming a function of another class.
    """
    stated = stated_function(owner, *tags)
    return None if stated is None else FUNCTIONS[stated.tag](stated)


def stated_function(owner: Element, *tags: str) -> Element | None:
    """Return the element of the function that `function_in` returns."""
    holders = [owner, *(each for tag in tags for each in owner.every(tag))]
    for holder in holders:
        for child in holder.children:
            if child.tag in FUNCTIONS:
                return child
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


# Several coordinates ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """A polynomial of several coordinates, the sum of `coefficients` (terms,) times their powers by
    `exponents` (terms, k)."""

    exponents: tuple[tuple[int, ...], ...]
    coefficients: tuple[float, ...]

    def __call__(self, x: Matrix) -> Matrix:
        """Return its value at coordinates x (k,)."""
        total: Matrix = 0.0
        for powers, coefficient in zip(self.exponents, self.coefficients):
            term: Matrix = coefficient
            for k, power in enumerate(powers):
                term = term * x[k] ** power if power else term
            total = total + term
        return total

    def of_one(self, k: int) -> Polynomial:
        """Return the terms of the coordinate k alone, without the constant one."""
        powers = {each[k]: c for each, c in self._by_powers.items() if each[k] == sum(each) > 0}
        return Polynomial(tuple(powers.get(power, 0.0) for power in range(max([0, *powers]) + 1)))

    @property
    def constant(self) -> float:
        """The term without coordinates."""
        return next((c for each, c in self._by_powers.items() if not any(each)), 0.0)

    @property
    def mixed(self) -> bool:
        """Whether a term has two coordinates."""
        return any(max(each, default=0) != sum(each) for each in self._by_powers)

    @property
    def _by_powers(self) -> dict[tuple[int, ...], float]:
        return {e: c for e, c in zip(self.exponents, self.coefficients) if c}


Several: TypeAlias = Callable[[Matrix], Matrix]


def terms_in(element: Element, count: int) -> Terms | None:
    """Return the terms of a function that is a polynomial of `count` coordinates, None for others.

    Raises ValueError naming a function that is stated wrong.
    """
    if element.tag == "Constant":
        return Terms(exponents=((0,) * count,), coefficients=(number_of(element, "value", 0.0),))
    if element.tag == "LinearFunction":
        slopes = numbers_of(element, "coefficients", count + 1)
        unit = [tuple(int(k == j) for j in range(count)) for k in range(count)]
        return Terms(exponents=(*unit, (0,) * count), coefficients=slopes)
    if element.tag == "MultivariatePolynomialFunction":
        return _polynomial_of_several(element, count)
    if element.tag == "MultiplierFunction":
        inner = terms_in(_inner(element), count)
        scale = number_of(element, "scale", 1.0)
        scaled = () if inner is None else tuple(scale * each for each in inner.coefficients)
        return None if inner is None else Terms(exponents=inner.exponents, coefficients=scaled)
    return None


def function_of_several(element: Element, count: int) -> Several:
    """Return the function that an element states, of `count` coordinates.

    Raises ValueError naming a function of another class, or one that is stated wrong.
    """
    terms = terms_in(element, count)
    if terms is not None:
        return terms
    if element.tag == "ExpressionBasedFunction":
        return _formula_in(element, count)
    if element.tag == "MultiplierFunction":
        scale = number_of(element, "scale", 1.0)
        return Nested(Polynomial((0.0, scale)), function_of_several(_inner(element), count))
    if count == 1 and element.tag in FUNCTIONS:
        return Nested(FUNCTIONS[element.tag](element), _first)
    known = "Constant, LinearFunction, MultivariatePolynomialFunction, ExpressionBasedFunction"
    raise element.wrong(
        f"functions of this class are not read of {count} coordinates, but {known}; put one of "
        "them in its place"
    )


def _first(x: Matrix) -> Matrix:
    return x[0]


def _inner(element: Element) -> Element:
    """Return the function within a MultiplierFunction."""
    holder = element.one("function")
    inside = element.children if holder is None else holder.children
    known = [each for each in inside if each.tag.endswith(("Function", "Spline", "Constant"))]
    if not known:
        raise element.wrong("<function> is missing")
    return known[0]


def _polynomial_of_several(element: Element, count: int) -> Terms:
    """Return a MultivariatePolynomialFunction: terms in ascending powers, of the last coordinate
    first, up to the order."""
    stated = [
        number_of(element, what, default) for what, default in (("dimension", 0), ("order", 0))
    ]
    coefficients = numbers_of(element, "coefficients")
    if stated[0] != count:
        raise element.wrong(f"<dimension>: expected {count}, by its coordinates, got {stated[0]:g}")
    order = int(stated[1]) if 0 <= stated[1] <= len(coefficients) else -1
    terms = comb(count + order, count) if order == stated[1] else 0
    if len(coefficients) != terms:
        raise element.wrong(
            f"<coefficients>: expected {terms}, by <order> {stated[1]:g}, got {len(coefficients)}"
        )
    return Terms(exponents=tuple(_powers(count, order)), coefficients=coefficients)


def _powers(count: int, order: int) -> list[tuple[int, ...]]:
    """Return the powers of all terms up to an order, those of the last coordinate rising first."""
    if not count:
        return [()]
    return [(k, *rest) for k in range(order + 1) for rest in _powers(count - 1, order - k)]


def _polynomial_of_one(element: Element) -> Curve:
    terms = _polynomial_of_several(element, 1)
    return Polynomial(terms.coefficients)


def _formula_in(element: Element, count: int) -> Several:
    """Return an ExpressionBasedFunction of `count` coordinates."""
    names = words_of(element, "variables")
    if len(names) != count:
        raise element.wrong(f"<variables>: expected {count}, got {', '.join(names) or 'none'}")
    return expression_in(element, "expression", *names)
