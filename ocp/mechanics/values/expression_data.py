"""Expressions of parameters as they are pickled: as functions of these, in the text of CasADi."""

import os
from collections.abc import Callable
from pickle import PicklingError

import casadi as ca

from ocp.mechanics.values.types import Matrix

_GRAPHS: dict[str, Matrix] = {}  # by keys that are the same in all processes
_KEYS: dict[int, str] = {}  # of scalar ones by their nodes, which _GRAPHS keeps alive


class ExpressionData:
    """What is pickled in place of an expression; a scalar one that was pickled or read here before
    is the same node again. Copied, it is the expression itself."""

    __slots__ = ("expression", "parameters_of")

    def __init__(self, expression: Matrix, parameters_of: Callable[[Matrix], tuple]) -> None:
        self.expression = expression
        self.parameters_of = parameters_of  # given, since parameters stand upon this module

    def __deepcopy__(self, memo: dict) -> Matrix:
        return self.expression

    def __reduce__(self) -> tuple:
        known, symbols = self.parameters_of(self.expression), ca.symvar(self.expression)
        if len(known) < len(symbols):
            words = ", ".join(sorted({str(symbol) for symbol in symbols}))
            raise PicklingError(f"an expression of {words}, not all parameters, cannot be pickled")
        function = ca.Function("graph", [each.expression for each in known], [self.expression])
        return _expression, (_key(self.expression), function.serialize(), known)


def _expression(key: str, text: str, known: tuple) -> Matrix:
    """Return the expression of a key, or of parameters whose function this text is."""
    if key in _GRAPHS:
        return _GRAPHS[key]
    expression = ca.Function.deserialize(text)(*(each.expression for each in known))
    _know(expression, key)
    return expression


def _key(expression: Matrix) -> str:
    """Return the key of a scalar expression, "" of others, whose nodes nobody compares."""
    if not expression.is_scalar():
        return ""
    node = int(expression.element_hash())
    if node not in _KEYS:
        _know(expression, os.urandom(16).hex())
    return _KEYS[node]


def _know(expression: Matrix, key: str) -> None:
    if key:
        _GRAPHS[key], _KEYS[int(expression.element_hash())] = expression, key
