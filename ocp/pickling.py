"""Pickling of records that hold functions, read-only arrays and mappings, and expressions.

Python pickles a function by its name, so no lambda and no function defined inside another one. Here
such a function travels by value: its code, its captured variables, and those of a script's own
names that it uses. A process that has the function already finds it again.
"""

import builtins
import marshal
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import fields
from functools import cache, partial
from importlib import import_module
from types import CellType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

import numpy as np

Record = TypeVar("Record", bound=type)
Value = TypeVar("Value")
SCRIPT = ("__main__", "__mp_main__")  # modules that other processes do not import by name
PICKLABLE = ("ocp", "numpy", "casadi")  # packages whose objects Python can pickle
PLAIN = frozenset((float, int, complex, str, bytes, bool, type(None)))
CACHED = type(cache(len))
CARRIERS: dict[type, Callable] = {}  # of types that only upper layers know
_KEYS: WeakKeyDictionary[FunctionType, str] = WeakKeyDictionary()
_FUNCTIONS: WeakValueDictionary[str, FunctionType] = WeakValueDictionary()
_UNFILLED: WeakSet[FunctionType] = WeakSet()  # unpickled, and still without captured variables
_STAND_INS: WeakValueDictionary[int, "FunctionStandIn"] = (
    WeakValueDictionary()
)  # while they are pickled


def portable(record: Record) -> Record:
    """Decorate a frozen dataclass so that its records can be pickled.

    Fields may hold functions, read-only arrays and mappings, and expressions. A shallow copy is the
    record itself.
    """

    def __reduce__(self: Any) -> tuple:
        name = getattr(self, "name", None)
        what = f"{record.__name__}{f' {name!r}' if isinstance(name, str) else ''}"
        state = [
            portable_value(getattr(self, each.name), f"{what}: {each.name}")
            for each in fields(self)
        ]
        return object.__new__, (type(self),), state

    def __setstate__(self: Any, state: list) -> None:
        for each, value in zip(fields(self), state):
            object.__setattr__(self, each.name, value)

    kind: Any = record
    kind.__reduce__, kind.__setstate__, kind.__copy__ = __reduce__, __setstate__, _identity
    return record


def portable_value(value: Any, what: str) -> object:
    """Return a stand-in that can be pickled for a value, the value itself if Python can pickle it.

    `what` it belongs to begins error messages.
    """
    kind = type(value)
    if kind in PLAIN or isinstance(value, type) or _is_found(value):
        return value
    if kind in CARRIERS:
        return CARRIERS[kind](value)
    if kind is FunctionType:
        if id(value) not in _STAND_INS:
            held = _STAND_INS[id(value)] = FunctionStandIn(value, what)
            return held
        return _STAND_INS[id(value)]
    if kind is MappingProxyType:
        return CallStandIn(_read_only, portable_value(dict(value), what))
    if kind is np.ndarray and not value.flags.writeable:
        return CallStandIn(_freeze, value.copy())
    if kind is ModuleType:
        return CallStandIn(import_module, value.__name__)
    if kind is partial:
        parts = value.func, *value.args
        return CallStandIn(
            _partial, portable_value(parts, what), portable_value(value.keywords, what)
        )
    if kind is CACHED:
        return CallStandIn(cache, portable_value(value.__wrapped__, what))
    if kind in (list, tuple, dict):
        return _portable_parts(value, kind, what)
    own = kind.__module__.partition(".")[0] in PICKLABLE and kind.__name__ not in ("MX", "Function")
    return value if own else ObjectStandIn(value, what)


def _portable_parts(value: Any, kind: type, what: str) -> object:
    """Return a container with stand-ins for its parts, itself if none is needed."""
    if kind is dict:
        entries = {key: portable_value(part, f"{what}: {key!r}") for key, part in value.items()}
        return value if all(entries[key] is part for key, part in value.items()) else entries
    parts = [portable_value(part, what) for part in value]
    return value if all(one is other for one, other in zip(parts, value)) else kind(parts)


def _is_found(value: object) -> bool:
    """Tell whether other processes find a function by its name in its module."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module in SCRIPT:
        return False
    place: object = sys.modules.get(module)
    for part in name.split("."):
        place = getattr(place, part, None)
    return place is value


class CallStandIn:
    """Stand-in that is pickled, and copied, as the call of a function."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable, *arguments: object) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple:
        return self.function, self.arguments

    def __deepcopy__(self, memo: dict) -> object:
        return self.function(*deepcopy(self.arguments, memo))


class ObjectStandIn:
    """Stand-in for an object of another package; errors of pickling say what holds it."""

    __slots__ = ("value", "what")

    def __init__(self, value: object, what: str) -> None:
        self.value, self.what = value, what

    def __reduce__(self) -> tuple:
        words = _refusal(self.value)
        if words:
            kind = type(self.value).__name__
            raise pickle.PicklingError(f"{self.what}: {kind} cannot be pickled: {words}")
        return _identity, (self.value,)

    def __deepcopy__(self, memo: dict) -> object:
        return deepcopy(self.value, memo)


class FunctionStandIn:
    """Stand-in for a function, pickled by its code and captured variables; copies are shared."""

    __slots__ = ("__weakref__", "function", "what")

    def __init__(self, function: FunctionType, what: str) -> None:
        self.function, self.what = function, what

    def __deepcopy__(self, memo: dict) -> object:
        return self.function

    def __reduce__(self) -> tuple:
        function, code = self.function, self.function.__code__
        key = _KEYS.get(function) or os.urandom(16).hex()
        _KEYS[function], _FUNCTIONS[key] = key, function
        what = f"{self.what}: {function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
        cells = function.__closure__ or ()
        captured = {
            name: portable_value(cell.cell_contents, f"{what}: its {name!r}")
            for name, cell in zip(code.co_freevars, cells)
            if _is_filled(cell)
        }
        script = _of_script(function)
        known = function.__globals__
        names = {each for each in _globals(code) if each in known} if script else set()
        state = {
            "captured": captured,
            "globals": {
                each: portable_value(known[each], f"{what}: {each!r}") for each in sorted(names)
            },
            "defaults": portable_value(function.__defaults__, what),
            "keywords": portable_value(function.__kwdefaults__, what),
            "attributes": portable_value(function.__dict__, what),
        }
        module = "" if script else function.__module__
        version = sys.implementation.cache_tag
        arguments = key, version, marshal.dumps(code), module, function.__qualname__
        return _function, arguments, state, None, None, _fill


def _function(key: str, version: str, code: bytes, module: str, name: str) -> FunctionType:
    """Return the function of a key, a new one without captured variables if there is none yet."""
    if key in _FUNCTIONS:
        return _FUNCTIONS[key]
    if version != sys.implementation.cache_tag:
        raise pickle.UnpicklingError(
            f"{name}: was pickled by {version}, this is {sys.implementation.cache_tag}; between "
            "versions of Python a solution travels in its file"
        )
    body: CodeType = marshal.loads(code)
    place = vars(import_module(module)) if module else {"__builtins__": builtins}
    cells = tuple(CellType() for _ in body.co_freevars)
    function = FunctionType(body, place, body.co_name, None, cells)
    function.__qualname__, function.__module__ = name, module or SCRIPT[0]
    _KEYS[function], _FUNCTIONS[key] = key, function
    _UNFILLED.add(function)
    return function


def _fill(function: FunctionType, state: Mapping) -> None:
    """Set the captured variables of a function that was just made."""
    if function not in _UNFILLED:
        return
    _UNFILLED.discard(function)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if name in state["captured"]:
            cell.cell_contents = state["captured"][name]
    function.__globals__.update(state["globals"])
    function.__defaults__, function.__kwdefaults__ = state["defaults"], state["keywords"]
    function.__dict__.update(state["attributes"])


def _of_script(function: FunctionType) -> bool:
    """Tell whether other processes cannot import a function's module by its name."""
    module = sys.modules.get(function.__module__)
    return function.__module__ in SCRIPT or vars(module or builtins) is not function.__globals__


def _globals(code: CodeType) -> Iterator[str]:
    """Yield the global names that code uses, those of functions inside it too."""
    import dis  # few programs need it

    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:  # a variable without a value yet
        return False


def _refusal(value: object) -> str:
    """Return why an object cannot be pickled, "" if it can."""
    ways = [pickle, *(sys.modules[name] for name in ("cloudpickle",) if name in sys.modules)]
    words = ""
    for way in ways:  # workers of joblib and Dask take what cloudpickle can
        try:
            way.dumps(value)
            return ""
        except Exception as error:  # of any type, as objects like
            words = words or str(error) or type(error).__name__
    return words


def _read_only(mapping: dict) -> Mapping:
    return MappingProxyType(mapping)


def _freeze(array: np.ndarray) -> np.ndarray:
    """Return the array, made read-only."""
    array.flags.writeable = False
    return array


def _partial(parts: Any, keywords: Mapping) -> partial:
    return partial(*parts, **keywords)


def _identity(value: Value) -> Value:
    return value
