"""Digests of all that a cell depends on beside its settings: the problem as built, own functions.

Two cells with the same settings are one only if these digests agree. A problem is digested as the
data that a result file holds. A function of one's own is digested as its code, with the values
that it has in it and the definitions of its module that it uses: comments, docstrings and line
numbers are no part of that.
"""

import ast
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem import Problem
from ocp.storage.problem_data import problem_data
from ocp.transcription.parameters.parameter_substitution import open_parameters

PACKAGE = "ocp"  # whose version stands for its code
GOLDEN = 0.6180339887498949  # its multiples modulo 1 fill an interval evenly (Weyl)
ADDRESS = re.compile(r" at 0x[0-9a-f]+|<function .*?>")  # which differ from process to process
NUMBERS = (bool, int, float, complex, str, bytes, type(None), type(...))


def digest(data: object) -> str:
    """Return the hash of plain data."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def problem_digest(build: Callable[[], Problem], source: object) -> str:
    """Return the digest of the problem that `build` returns, or of the error that it raises.

    What the problem leaves open is digested at the parameters' own values and at a second, generic
    point, since a change may vanish at the first one. Where a function cannot be written as data,
    the code of `source`, the function that makes the problem, stands for it.
    """
    try:
        problem = build()
        known = open_parameters(problem)
    except Exception as error:  # the cell fails with the same words when it is solved
        return digest(_refusal(error))
    points = [{each: each.value for each in known}]
    if known:
        points.append({each: _generic(each, k) for k, each in enumerate(known, start=1)})
    parts = [_data_digest(problem, values) for values in points]
    names = ("name", "value", "unit", "lower", "upper", "free")
    data: dict[str, object] = {
        "parameters": [[getattr(each, name) for name in names] for each in known],
        "statements": [text for text, _ in parts],
    }
    if not all(whole for _, whole in parts):
        data["source"] = code_digest(source)
    return digest(data)


def code_digest(value: object) -> str | None:
    """Return the digest of the code of a function of one's own, or of such functions in a record;
    None where there are none."""
    if value is None or isinstance(value, str):
        return None
    kind = value if isinstance(value, (type, FunctionType, BuiltinFunctionType)) else type(value)
    if _is_own(kind):
        return digest(_facts(value, set()))
    parts = {name: code_digest(part) for name, part in _fields(value)}
    own = {name: text for name, text in parts.items() if text is not None}
    return digest(own) if own else None


def _data_digest(problem: Problem, values: Mapping[Parameter, float]) -> tuple[str, bool]:
    """Return the digest of a problem with numbers for what it leaves open, and whether all of it
    could be written as data."""
    try:
        statement = problem_data(with_values(problem, values))
    except Exception as error:
        return _refusal(error), False
    return statement.digest, not statement.missing


def _refusal(error: Exception) -> str:
    return f"{type(error).__name__}: {ADDRESS.sub('', str(error))}"


def _generic(parameter: Parameter, number: int) -> float:
    """Return a value of a parameter, within its bounds, at which nothing vanishes by chance."""
    share = number * GOLDEN % 1.0
    lower, upper = parameter.lower, parameter.upper
    if isfinite(lower) and isfinite(upper):
        return lower + share * (upper - lower)
    shifted = parameter.value + share * max(1.0, abs(parameter.value))
    return shifted if shifted <= upper else 2 * parameter.value - shifted


def _facts(value: object, seen: set[int]) -> object:
    """Return plain data that tell a value apart, the name of what is not one's own."""
    if isinstance(value, NUMBERS):
        return [type(value).__name__, repr(value)]
    if isinstance(value, np.ndarray) and value.dtype != object:
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return [str(value.dtype), list(value.shape), content]
    if isinstance(value, CodeType):
        return _code(value, seen)
    if isinstance(value, (list, tuple)):
        return [_facts(entry, seen) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_facts(entry, seen)) for entry in value)
    if isinstance(value, Mapping):
        return [[repr(key), _facts(entry, seen)] for key, entry in value.items()]
    if isinstance(value, MethodType):
        return [_facts(part, seen) for part in (value.__self__, value.__func__)]
    if id(value) in seen:  # functions that call one another
        return f"as before: {type(value).__name__}"
    seen.add(id(value))
    if isinstance(value, (type, FunctionType)) and _is_own(value):
        if isinstance(value, FunctionType):
            return _function(value, seen)
        name = value.__qualname__
        return [name, _definitions(value.__module__, [name.split(".")[0]])]
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        return f"{value.__module__}:{value.__qualname__}"
    parts = [[name, _facts(part, seen)] for name, part in _fields(value)]
    return [_facts(type(value), seen), parts]


def _function(function: FunctionType, seen: set[int]) -> object:
    """Return the code of a function, with its defaults, its closure and what it uses of its
    module."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    defaults = [function.__defaults__, function.__kwdefaults__]
    return [
        _code(function.__code__, seen, function.__doc__),
        _facts([*defaults, cells], seen),
        _definitions(function.__module__, _names(function.__code__)),
    ]


def _code(code: CodeType, seen: set[int], page: str | None = None) -> object:
    """Return compiled code as plain data, without the docstring `page`."""
    constants = [None if each == page else each for each in code.co_consts]
    names = [list(code.co_names), list(code.co_varnames)]
    return [code.co_code.hex(), _facts(constants, seen), *names]


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, and code within it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _definitions(module: str, names: Iterable[str]) -> object:
    """Return the definitions of names in a module, and the names that these use.

    It is read from the module's file, since values may have changed while the program ran.
    """
    try:
        source = inspect.getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):  # typed at a prompt
        return None
    known, waiting, met = _bindings(source), list(names), dict[str, object]()
    while waiting:
        name = waiting.pop()
        if name in known and name not in met:
            met[name] = [text for text, _ in known[name]]
            waiting += (used for _, others in known[name] for used in others)
    return met


@lru_cache(maxsize=8)
def _bindings(source: str) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return {name: statements} of a module's text that bind it, each as its syntax and the names
    that it uses."""
    bindings: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for statement in ast.parse(source).body:
        nodes = list(ast.walk(statement))
        for node in filter(None, map(_with_docstring, nodes)):
            node.body = node.body[1:] or [ast.Pass()]  # a docstring
        used = tuple({node.id for node in nodes if isinstance(node, ast.Name)})
        entry = ast.dump(statement), used
        for name in dict.fromkeys(_bound_names(statement)):
            bindings.setdefault(name, []).append(entry)
    return bindings


def _with_docstring(node: ast.AST) -> Any:
    """Return a function or class that has a docstring, None for anything else."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return node if isinstance(node, kinds) and ast.get_docstring(node, clean=False) else None


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def _fields(value: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of a record, or what a partial function is made of."""
    if is_dataclass(value):
        names = [entry.name for entry in fields(value)]
    else:
        names = [name for name in ("func", "args", "keywords") if hasattr(value, name)]
    for name in names:
        yield name, getattr(value, name, None)


def _is_own(value: object) -> bool:
    """Tell whether a function or a class is neither of the package nor of an installed library."""
    root = (getattr(value, "__module__", None) or PACKAGE).partition(".")[0]
    if root == PACKAGE or root in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return "site-packages" not in Path(file).parts
