"""Functions of OpenSim's files as curves of one coordinate, and expressions of several numbers."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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


# Expressions --------------------------------------------------------------------------------------

LONGEST = 2000  # letters of an expression
ACTS: Mapping[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
CALLS: Mapping[str, Callable] = {
    **{name: getattr(ca, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "asin")},
    **{name: getattr(ca, name) for name in ("acos", "atan", "sinh", "cosh", "tanh", "erf")},
    **{name: getattr(ca, name) for name in ("floor", "ceil", "atan2")},
    "abs": ca.fabs,
    "min": ca.fmin,
    "max": ca.fmax,
    "sec": lambda x: 1 / ca.cos(x),
    "csc": lambda x: 1 / ca.sin(x),
    "cot": lambda x: 1 / ca.tan(x),
    "erfc": lambda x: 1 - ca.erf(x),
    "step": lambda x: x >= 0,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "recip": lambda x: 1 / x,
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula of OpenSim's, as "10*q^2 - exp(qdot)", of the numbers called `names`."""

    text: str
    names: tuple[str, ...]

    def __call__(self, x: Matrix) -> Matrix:
        """Return its value at numbers x (k,); raise ValueError naming what of it is unknown."""
        known = {name: x[k] for k, name in enumerate(self.names)}
        return _value(_formula(self.text), known)


@lru_cache(maxsize=64)
def _formula(text: str) -> ast.expr:
    try:
        return ast.parse(text[: LONGEST + 1].replace("^", "**").strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{text[:80]!r} is no formula") from None


def _value(part: ast.expr, known: Mapping[str, Matrix]) -> Matrix:
    number = part.value if isinstance(part, ast.Constant) else None
    if isinstance(number, int | float) and not isinstance(number, bool):
        return ca.DM(float(number))
    if isinstance(part, ast.Name) and part.id in known:
        return known[part.id]
    if isinstance(part, ast.BinOp) and type(part.op) in ACTS:
        return ACTS[type(part.op)](_value(part.left, known), _value(part.right, known))
    if isinstance(part, ast.UnaryOp) and type(part.op) in ACTS:
        return ACTS[type(part.op)](_value(part.operand, known))
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in CALLS:
        return CALLS[part.func.id](*(_value(each, known) for each in part.args))
    word = ast.unparse(part).replace("**", "^")
    raise ValueError(f"{word[:80]!r}: expected numbers, {', '.join(known)}, or {', '.join(CALLS)}")


def expression_in(owner: Element, tag: str, *names: str) -> Expression:
    """Return the formula of a property, "0" where it is not there.

    Args:
        owner: the object.
        tag: of the property.
        names: of the numbers that the formula may have.

    Raises:
        ValueError: naming what of it is not known.
    """
    stated = owner.one(tag)
    formula = Expression("0" if stated is None else stated.content, names)
    if len(formula.text) > LONGEST:
        raise owner.wrong(f"<{tag}>: expected at most {LONGEST} letters, got {len(formula.text)}")
    try:
        formula(ca.SX.sym("x", len(names)))
    except (ValueError, TypeError, NotImplementedError, RecursionError, OverflowError) as error:
        reason = str(error).splitlines()[0] if isinstance(error, ValueError) else "it is too deep"
        if isinstance(error, TypeError | NotImplementedError):
            reason = "a function has another count of numbers"
        raise (owner if stated is None else stated).wrong(f"<{tag}>: {reason}") from None
    return formula
