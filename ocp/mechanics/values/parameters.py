"""Numbers that a statement leaves open: given per solve, or found with the motion.

A Parameter stands wherever a record takes a number, alone or in an expression. Records keep it as
an Open number, which is compared and hashed by its graph, so that they stay values; functions of an
Instant see it as any CasADi expression. What needs numbers asks for them: `nominal` gives those
of the parameters' own values, `with_values` the record with given ones in their place.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from math import inf, isfinite, isnan
from operator import add, is_, mul, sub, truediv
from types import FrameType, MappingProxyType
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.values.expression_data import ExpressionData
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.types import Matrix
from ocp.pickling import CARRIERS, portable
from ocp.spelling import suggest_fields

PLAIN = frozenset((float, int, str, bool, type(None)))  # types of values with nothing inside
_KNOWN: dict[int, "Parameter"] = {}  # by the node of its symbol, which it keeps alive
MAKERS = (__name__, "dataclasses", "ocp.spelling")  # modules that make records for others
Key: TypeAlias = tuple[object, ...]
KEYS: dict[int, Key] = {}  # of parameters by their nodes: the same in all processes
_BY_KEY: dict[Key, "Parameter"] = {}
_COUNTS: dict[tuple, int] = {}  # of parameters that are stated alike in one place
STATED = ("name", "value", "unit", "lower", "upper", "free")


def _both(operation: Callable[[Matrix, Matrix], Matrix]) -> Any:
    """Return the methods of an operation with an open number first, and with it last."""
    return (
        lambda self, other: _combined(operation, self.expression, other),
        lambda self, other: _combined(operation, other, self.expression),
    )


def _combined(operation: Callable[[Matrix, Matrix], Matrix], one: object, other: object) -> Any:
    """Return operation(one, other) as `as_open` has it; of arrays numpy makes it by entries."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return NotImplemented
    result = operation(one, other)
    numbers = any(isinstance(each, Open | int | float | np.number) for each in (one, other))
    return _open_or_float(result) if numbers else as_open(result)


class Open:
    """A scalar expression of parameters in place of a number.

    Arithmetic with numbers and open numbers gives such again, with arrays of numpy arrays of such,
    with anything else what CasADi makes of it. Two are equal if they are one node of a graph.
    """

    __slots__ = ()
    expression: Matrix  # (1, 1)

    def __SX__(self) -> Matrix:
        return self.expression

    def __hash__(self) -> int:
        return int(self.expression.element_hash())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Open) and hash(self) == hash(other)

    def __repr__(self) -> str:
        return str(self.expression)

    def __format__(self, words: str) -> str:
        return format(str(self), words if words[-1:] in ("", "s") else "")

    def __bool__(self) -> bool:
        raise ValueError(
            f"{_unknown(self)} so that if, and, or, not, max and min cannot tell; take "
            "casadi.if_else, casadi.fmax, casadi.fmin, or state a constraint, as by path"
        )

    def __float__(self) -> float:
        raise TypeError(
            f"{_unknown(self)} and it is no float; of the functions of math take casadi's, as "
            "casadi.sqrt, or its own `value`"
        )

    def __reduce__(self) -> tuple:
        return as_open, (_graph(self.expression),)

    def __deepcopy__(self, memo: dict) -> "Open":
        return self

    def __neg__(self) -> "Number":
        return as_open(-self.expression)

    def __pos__(self) -> "Open":
        return self

    def __abs__(self) -> "Number":
        return as_open(ca.fabs(self.expression))

    __add__, __radd__ = _both(add)
    __sub__, __rsub__ = _both(sub)
    __mul__, __rmul__ = _both(mul)
    __truediv__, __rtruediv__ = _both(truediv)
    __pow__, __rpow__ = _both(pow)

    def __lt__(self, other: "Number") -> "Number":
        return as_open(self.expression < other)

    def __le__(self, other: "Number") -> "Number":
        return as_open(self.expression <= other)

    def __gt__(self, other: "Number") -> "Number":
        return as_open(self.expression > other)

    def __ge__(self, other: "Number") -> "Number":
        return as_open(self.expression >= other)

    # what numpy calls on entries of arrays
    def sin(self) -> "Number":
        """Return the sine."""
        return as_open(ca.sin(self.expression))

    def cos(self) -> "Number":
        """Return the cosine."""
        return as_open(ca.cos(self.expression))

    def sqrt(self) -> "Number":
        """Return the square root."""
        return as_open(ca.sqrt(self.expression))


# A number of a record: given as that or as an expression of parameters, kept as a float or Open.
Number: TypeAlias = float | Open | ca.SX


def _unknown(number: Open) -> str:
    """Return in words that an open number has no value yet, by the names of its parameters."""
    names = ", ".join(repr(each.name) for each in parameters_of(number))
    return f"parameter {names}: its value is not known while a problem is stated,"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression(Open):
    """An open number that is made of parameters."""

    expression: Matrix


@suggest_fields
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parameter(Open):
    """A named number that a problem leaves open.

    It is given per solve, `plan.solve(speed=1.25)`, by default its `value`; or, when `free`, a
    variable of the optimisation, which starts at `value`. Given or found, it stays within `lower`
    and `upper`. `unit` is of the SI, as "kg" or "m/s"; records that know theirs refuse another.
    Raises ValueError naming the parameter.
    """

    name: str
    value: float
    unit: str = ""
    lower: float = -inf
    upper: float = inf
    free: bool = False
    expression: Matrix = field(init=False)
    node: int = field(init=False)  # of the graph, which is asked for often

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ValueError(
                f"parameter: name: expected a word like 'payload_mass', got {self.name!r}"
            )
        what = f"parameter {self.name!r}"
        if not isinstance(self.unit, str):
            raise ValueError(f"{what}: unit: expected a word like 'kg', got {self.unit!r}")
        if not isinstance(self.free, bool):
            raise ValueError(f"{what}: free: expected True or False, got {self.free!r}")
        for side in ("value", "lower", "upper"):
            number = _number(f"{what}: {side}", getattr(self, side))
            object.__setattr__(self, side, number)
        if not isfinite(self.value):
            raise ValueError(f"{what}: value: expected a finite number, got {self.value}")
        if not self.lower <= self.upper:
            raise ValueError(
                f"{what}: lower bound {self.lower:g} is above upper bound {self.upper:g}"
            )
        self.check(self.value)
        object.__setattr__(self, "expression", ca.SX.sym(self.name))
        object.__setattr__(self, "node", int(self.expression.element_hash()))
        _KNOWN[hash(self)] = self
        _know(self, _key(self, sys._getframe(1)))

    def __hash__(self) -> int:
        return self.node

    def __reduce__(self) -> tuple:
        return parameter_by_key, (KEYS[self.node], *_stated(self))

    def check(self, value: float) -> float:
        """Return a value as a number; raise ValueError unless it is one within the bounds."""
        number, what = _number(f"parameter {self.name!r}", value), f"parameter {self.name!r}"
        if not self.lower <= number <= self.upper or not isfinite(number):
            unit = f" {self.unit}" if self.unit else ""
            raise ValueError(
                f"{what}: expected a number within {self.lower:g} and {self.upper:g}{unit}, "
                f"got {number:g}"
            )
        return number


def parameter_by_key(key: Key, *stated: Any) -> Parameter:
    """Return the parameter of a key; made anew where this process has none, as it was `stated`."""
    if key not in _BY_KEY:
        _know(Parameter(*stated), key)
    return _BY_KEY[key]


def _know(parameter: Parameter, key: Key) -> None:
    KEYS[parameter.node], _BY_KEY[key] = key, parameter


def _key(parameter: Parameter, frame: FrameType) -> Key:
    """Return the key of a parameter, the same in every process that comes by the same line of a
    module: it is the first, second, .. that is stated so there."""
    while frame.f_globals.get("__name__") in MAKERS and frame.f_back is not None:
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    place = "__main__" if module == "__mp_main__" else module, frame.f_lineno, *_stated(parameter)
    count = _COUNTS[place] = _COUNTS.get(place, 0) + 1
    return *place, count


def _stated(parameter: Parameter) -> tuple:
    return tuple(getattr(parameter, name) for name in STATED)


def _graph(expression: Matrix) -> ExpressionData:
    """Return the data that are pickled in place of an expression of parameters."""
    return ExpressionData(expression, parameters_of)


CARRIERS[ca.SX] = _graph
Values = Mapping[Parameter, float]


def _number(what: str, value: Number | str) -> float:
    try:
        number = np.nan if isinstance(value, str | bytes | bool | np.bool_) else float(value)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{what}: expected a number, got {value!r}") from None
    if isnan(number):
        raise ValueError(f"{what}: expected a number, got {value!r}")
    return number


def as_open(value: Any) -> Any:
    """Return a scalar expression of parameters as an Open number, or as a float if it is constant;
    anything else as it is."""
    if not isinstance(value, ca.SX) or value.numel() != 1:
        return value
    if any(int(symbol.element_hash()) not in _KNOWN for symbol in ca.symvar(value)):
        return value
    return _open_or_float(value)


def _open_or_float(value: Matrix) -> float | Open:
    """Return a scalar expression of parameters alone as an Open number, a constant one as float."""
    value = value if value.is_dense() else ca.densify(value)
    if value.is_constant():
        return float(value)
    return _KNOWN.get(int(value.element_hash()), Expression(value))


def anything_open() -> bool:
    """Tell whether there is any parameter at all."""
    return bool(_KNOWN)


def every_parameter() -> tuple["Parameter", ...]:
    """Return all parameters that there are, of whatever problem."""
    return tuple(_KNOWN.values())


def is_open(value: object) -> bool:
    """Tell whether a number, or any entry of nested sequences of numbers, is open."""
    if type(value) in PLAIN:
        return False
    if isinstance(value, list | tuple):
        return not PLAIN.issuperset(map(type, value)) and any(map(is_open, value))
    if isinstance(value, Open):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(is_open(entry) for entry in value.ravel())
    return isinstance(value, ca.SX) and not value.is_constant()


def array(value: object) -> np.ndarray:
    """Return nested sequences of numbers as an array: of floats, or where an entry is open of
    objects, floats and Open numbers. Raises TypeError or ValueError for anything else."""
    if isinstance(value, ca.SX):
        value = [[value[i, j] for j in range(value.shape[1])] for i in range(value.shape[0])]
        value = [row[0] for row in value] if len(value[0]) == 1 else value
    if not is_open(value):
        return np.asarray(value, dtype=float)
    entries = np.asarray(_plain(value), dtype=object)
    return entrywise(lambda entry: entry if isinstance(entry, Open) else float(entry), entries)


def entrywise(function: Callable[[Number], Number], entries: np.ndarray) -> np.ndarray:
    """Return an array of objects with a function's values in place of its entries."""
    return np.asarray(np.frompyfunc(function, 1, 1)(entries), dtype=object)


def _plain(value: object) -> object:
    """Return nested lists with Open numbers in place of scalar expressions."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    number = as_open(value)
    if isinstance(number, ca.SX):
        raise TypeError(f"{number}: expected numbers and parameters")
    return number


def matrix(value: object) -> Matrix:
    """Return nested sequences of numbers, a vector or the rows of a matrix, as DM; as SX where an
    entry is open."""
    entries = array(value)
    if entries.dtype != object:
        return ca.DM(entries)
    if entries.ndim == 0:
        return ca.SX(entries.item())
    rows = [ca.horzcat(*row) for row in np.atleast_2d(entries.T).T.tolist()]
    return ca.SX(ca.vertcat(*rows))


def expression_of(number: Number) -> Matrix:
    """Return a number, open or not, as an SX (1, 1)."""
    return ca.SX(ca.vertcat(number))


def parameters_of(value: object) -> tuple[Parameter, ...]:
    """Return the parameters in a record, an expression, or nested sequences of these.

    They come in the order in which they are met. What is inside functions is not seen.
    """
    if not anything_open():
        return ()
    kind: type = type(value)
    return (_parameters_in_record if _is_frozen(kind) else _parameters_in)(value)


@cache
def _is_frozen(kind: type) -> bool:
    """Tell whether values of a kind are records that cannot change."""
    return bool(getattr(getattr(kind, "__dataclass_params__", None), "frozen", False))


def _parameters_in(value: object) -> tuple[Parameter, ...]:
    met: dict[Parameter, None] = {}
    _meet(value, met)
    return tuple(met)


_parameters_in_record = memoize(8)(_parameters_in)


def _meet(value: Any, met: dict[Parameter, None]) -> None:
    """Add the parameters in a value to those `met` before."""
    kind: type = type(value)
    if kind in PLAIN or (kind is tuple and PLAIN.issuperset(map(type, value))):
        return
    if isinstance(value, Parameter):
        met[value] = None
    elif isinstance(value, Open):
        _meet(value.expression, met)
    elif isinstance(value, ca.SX):
        known = (_KNOWN.get(int(symbol.element_hash())) for symbol in ca.symvar(value))
        met.update((parameter, None) for parameter in known if parameter is not None)
    elif _names(kind):
        for name in _names(kind):
            _meet(getattr(value, name), met)
    elif isinstance(value, Mapping):
        for part in value.values():
            _meet(part, met)
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            _meet(value.ravel().tolist(), met)
    elif isinstance(value, list | tuple):
        for part in value:
            _meet(part, met)


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields; nothing of what is no record."""
    return tuple(entry.name for entry in fields(kind)) if is_dataclass(kind) else ()


def any_nonzero(values: Iterable[object]) -> bool:
    """Tell whether any of the `values` is open or not zero."""
    return any(isinstance(each, Open | ca.SX) or each for each in values)


def evaluate(expression: Matrix, values: Values) -> Matrix:
    """Return an expression with numbers in place of parameters: DM if no other symbol is left."""
    chosen = [each for each in parameters_of(expression) if each in values]
    if chosen:
        symbols = ca.vertcat(*(each.expression for each in chosen))
        numbers = ca.DM([values[each] for each in chosen])
        expression = ca.substitute(expression, symbols, numbers)
    return ca.evalf(expression) if not ca.symvar(expression) else expression


def nominal(value: object) -> Any:
    """Return a record, an open number, or nested sequences of such, with every parameter at its own
    value."""
    return with_values(value, {each: each.value for each in parameters_of(value)})


@portable
@dataclass(frozen=True, slots=True, eq=False)
class FunctionWithValues:
    """A function of a statement with numbers in place of the parameters that it has inside."""

    function: Callable[..., Matrix]
    values: Values

    @property
    def __wrapped__(self) -> Callable[..., Matrix]:
        return self.function

    def __call__(self, *arguments: object) -> Matrix:
        result = self.function(*arguments)
        if isinstance(result, Open | list | tuple) or (
            isinstance(result, np.ndarray) and result.dtype == object
        ):
            result = with_values(result, self.values)
        return evaluate(result, self.values) if isinstance(result, ca.SX) else result


def with_values(value: object, values: Values, same: dict[int, object] | None = None) -> Any:
    """Return a record, a number or nested sequences of these with numbers in place of parameters.

    Records are made anew where something in them was open, and so checked as if they had been
    stated with these numbers; what has nothing open in it is returned as it is, and kept in `same`
    for the next time, with other values of the same parameters. Functions become
    `FunctionWithValues`. Raises ValueError as the records do.
    """
    same = {} if same is None else same
    if not values or id(value) in same:
        return value
    if isinstance(value, Parameter) and value in values:
        return float(values[value])
    if isinstance(value, Open):
        left = evaluate(value.expression, values)
        return float(left) if isinstance(left, ca.DM) else as_open(left)
    if isinstance(value, ca.SX):
        return evaluate(value, values)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _closed_array(value, values)
    anew = _closed_parts(value, values, same)
    if anew is value:
        same[id(value)] = value
    return anew


def _closed_parts(value: object, values: Values, same: dict[int, object]) -> object:
    """Return a record whose parts have numbers in place of parameters, itself if none changes."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {entry.name: getattr(value, entry.name) for entry in fields(value) if entry.init}
        anew = {name: with_values(part, values, same) for name, part in parts.items()}
        changed = {name: part for name, part in anew.items() if part is not parts[name]}
        return replace(value, **changed) if changed else value
    if isinstance(value, list | tuple):
        listed = [with_values(part, values, same) for part in value]
        return value if all(map(is_, listed, value)) else type(value)(listed)
    if isinstance(value, Mapping):
        anew = {name: with_values(part, values, same) for name, part in value.items()}
        return value if all(anew[name] is value[name] for name in anew) else MappingProxyType(anew)
    if callable(value) and not isinstance(value, type):
        return FunctionWithValues(value, values)
    return value


def _closed_array(entries: np.ndarray, values: Values) -> np.ndarray:
    """Return an array of objects with numbers in place of parameters, all evaluated at once."""
    anew, places = entries.ravel(), [k for k, entry in enumerate(entries.flat) if is_open(entry)]
    if places:
        left = evaluate(ca.vertcat(*(anew[k].expression for k in places)), values)
        anew = anew.copy()
        anew[places] = np.array(left).ravel() if isinstance(left, ca.DM) else array(left)
    return array(anew.reshape(entries.shape))
