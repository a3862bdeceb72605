"""Formulas of OpenSim's files, as "10*q^2 - exp(qdot)", of numbers by their names."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca

from ocp.interchange.xml_elements import Element
from ocp.mechanics.values.types import Matrix

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
