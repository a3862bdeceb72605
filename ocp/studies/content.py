"""What a cell of a study is, as plain data: functions by their addresses, values as JSON has them.

So it goes to any process or computer, and never a Problem or a graph; and its hash knows it again.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import Any

from ocp.dynamics import Formulation
from ocp.dynamics.catalogue import is_choice, is_named
from ocp.mechanics.parameters import Parameter, closed
from ocp.problem import Problem
from ocp.solution.attempts import PLAIN
from ocp.solution.files import plain
from ocp.solution.solution import Solution
from ocp.solution.solving import solve
from ocp.solvers import Solver
from ocp.studies.addresses import address, named, where
from ocp.studies.designs import is_number
from ocp.studies.rows import Cell, identity
from ocp.studies.task import (
    FRAMEWORK,
    GIVEN,
    Task,
    check_spline,
    on_spline,
    takes_values,
)
from ocp.transcription.methods import METHODS, Method, method_of
from ocp.transcription.transcribe import Transcription, settings_of, transcription_of

PREFIXES = ("motion", "transcription", "solver", "option", "method")
TYPES = {"float": float, "int": int, "str": str, "bool": bool}
Content = dict[str, Any]
Find = Callable[[str], Any]  # what is at an address: `resolve` for one's own, or what is trusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How the cells of a study are solved: the `problem` function, transcription, solver, `method`.

    `how` are the method's own settings; `measure`(solution) returns numbers by name; with `certify`
    every solution is verified. `parameters` are left open where a cell sets them.
    """

    problem: Callable[..., Problem]
    transcription: Transcription
    solver: Solver
    method: Callable[..., Solution] = solve
    how: Mapping[str, Any] = field(default_factory=dict)
    measure: Callable[[Solution], Mapping[str, float]] | None = None
    certify: bool = False
    parameters: tuple[Parameter, ...] = ()


def recipe(
    problem: Task | Callable[..., Problem],
    transcription: Transcription | None,
    solver: Solver,
    **options: Any,
) -> Recipe:
    """Return the Recipe for a Task or a function.

    Of a Task it takes method, transcription and parameters unless told otherwise.
    """
    if isinstance(problem, Problem):
        raise ValueError(
            "study: a Problem holds functions that no other process can be told; "
            "hand over the function that makes it"
        )
    if isinstance(problem, Task):
        options = {"method": problem.method, "parameters": problem.parameters} | options
        transcription = transcription or problem.transcription
        problem = problem.problem
    given = {name: value for name, value in options.items() if value is not None}
    if not takes_values(given.get("method", solve)):  # which then is handed numbers
        given["parameters"] = ()
    settled = transcription or Transcription()
    return Recipe(problem=problem, transcription=settled, solver=solver, **given)


def content_of(
    recipe: Recipe, arguments: Mapping[str, Any], start: Content | None = None
) -> Content:
    """Return all that a solve by a `recipe` depends on as plain data, the `start` of it too.

    `arguments` of the problem may also hold "motion.NAME" of its spline, "transcription.NAME",
    "solver.NAME", "option.NAME" of the plugin and "method.NAME". Raises ValueError naming what no
    process could be told: unknown parameters, values that are not plain, functions that cannot be
    imported by name.
    """
    parts = _parted(arguments)
    how = _plain("how", dict(recipe.how)) | parts["method"]
    check_spline(parts["motion"])
    spline = {"motion": parts["motion"]} if parts["motion"] else {}
    left_open = _open(recipe.parameters, parts[""])
    return (
        spline
        | ({"parameters": left_open} if left_open else {})
        | {
            "problem": address(recipe.problem),
            "arguments": _bound(recipe.problem, parts[""]),
            "method": address(recipe.method),
            "how": _bound(recipe.method, how, GIVEN),
            "transcription": transcription_content(
                recipe.transcription, parts["transcription"], recipe.problem
            ),
            "solver": _solver(recipe, parts["solver"], parts["option"]),
            "measure": None if recipe.measure is None else address(recipe.measure),
            "certify": bool(recipe.certify),
            "start": start,
        }
    )


def cell(parameters: Mapping[str, Any], data: Content, after: Cell | None = None) -> Cell:
    """Return the pending Cell of `data`, a content, whose hash knows also the cell `after` which it
    comes, from whose solution it starts; `parameters` {name: value} are those of the design."""
    data = data | {"after": None if after is None else after.id}
    return Cell(
        id=identity(data),
        content=json.loads(json.dumps(data, allow_nan=False)),
        parameters={
            name: data["arguments"].get(name, _plain(name, value))
            for name, value in parameters.items()
        },
    )


def transcription_content(
    stated: Transcription, changes: Mapping[str, Any], neighbour: Any
) -> Content:
    """Return the settings of a transcription with changes by name, as plain data.

    A formulation or a method of one's own is told by its address; `neighbour` is a function of the
    module that may bind it to a name.
    """
    try:
        changed = _changed(stated, changes, neighbour)
    except ValueError as error:
        raise ValueError(f"transcription.{error}") from None
    data = settings_of(changed)
    if changed.threads == 1:  # of which cells that are kept know nothing
        del data["threads"]
    chosen, method = changed.dynamics, type(changed.method)
    if isinstance(chosen, Formulation) and not is_named(chosen):
        data["dynamics"] = bound_to("dynamics", chosen, neighbour, chosen.inverse)
    if METHODS.get(method.name) is not method:
        data["method"] = address(method)
    return _plain("transcription", data)


def statement(data: Content, find: Find) -> Problem:
    """Return the Problem of a cell's content, with numbers for what it leaves open."""
    given = {each: data["arguments"][each.name] for each in parameters(data)}
    return closed(open_statement(data, find, given), given)


def open_statement(data: Content, find: Find, left_open: Iterable[Parameter] = ()) -> Problem:
    """Return the Problem of a cell's content with parameters in place of their arguments."""
    problem = find(data["problem"])
    if isinstance(problem, type) or not callable(problem):
        raise ValueError(f"{data['problem']}: expected a function that makes a Problem")
    arguments = _called(problem, _bound(problem, data["arguments"]))
    stated = problem(**arguments | {each.name: each for each in left_open})
    if not isinstance(stated, Problem):
        raise ValueError(f"{data['problem']}: makes a {type(stated).__name__}, expected a Problem")
    return on_spline(stated, data.get("motion", {}))


def parameters(data: Content) -> tuple[Parameter, ...]:
    """Return what the problem of a cell's content leaves open, made anew."""
    return tuple(
        Parameter(name, **{key: value for key, value in stated.items() if value is not None})
        for name, stated in data.get("parameters", {}).items()
    )


def structure(data: Content) -> str:
    """Return what cells have in common that are solved on one plan: all but values of parameters,
    and what neither problem nor transcription depends on."""
    own = data.get("parameters", {})
    settings = {name: value for name, value in data["arguments"].items() if name not in own}
    shared = {name: data.get(name) for name in ("problem", "motion", "transcription", "parameters")}
    return json.dumps(shared | {"arguments": settings}, sort_keys=True)


def transcription(data: Content, find: Find) -> Transcription:
    """Return the Transcription of a cell's content."""
    settings = dict(data["transcription"])
    if ":" in settings["dynamics"]:
        chosen = settings["dynamics"] = find(settings["dynamics"])
        if not isinstance(chosen, Formulation):
            raise ValueError(f"{data['transcription']['dynamics']}: expected a Formulation")
    if ":" in settings["method"]:
        record = find(settings["method"])
        if not (isinstance(record, type) and issubclass(record, Method)):
            raise ValueError(f"{settings['method']}: expected a record that inherits from Method")
        names = [entry.name for entry in fields(record)]
        settings["method"] = record(**{name: settings.pop(name) for name in names})
    return transcription_of(settings)


def solver(data: Content, find: Find) -> Solver:
    """Return the Solver of a cell's content."""
    settings = dict(data["solver"])
    if ":" in settings["plugin"]:
        settings["plugin"] = find(settings["plugin"])
    return Solver(**settings)


def settings(data: Content, find: Find) -> dict[str, Any]:
    """Return the settings of a cell's method, as it takes them."""
    return _called(find(data["method"]), data["how"])


def once(method: Callable[..., Any]) -> dict[str, Any]:
    """Return what makes a method try once, where it takes attempts."""
    return {"attempts": PLAIN} if "attempts" in inspect.signature(method).parameters else {}


def bound_to(what: str, value: Any, *neighbours: Any) -> str:
    """Return where a value is bound to a name; raise ValueError if it is in no module."""
    place = where(value, *neighbours)
    if place is None:
        raise ValueError(
            f"{what}: other processes find a {type(value).__name__} of one's own by its name: "
            "bind it to one in the module of the problem"
        )
    return place


def _open(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> Content:
    """Return the parameters that a cell gives numbers, as plain data by name.

    Raises ValueError naming one whose number is outside its bounds.
    """
    chosen = [each for each in parameters if is_number(given.get(each.name))]
    for each in chosen:
        each.check(given[each.name])
    return {
        each.name: {
            "value": each.value,
            "unit": each.unit,
            "lower": each.lower if isfinite(each.lower) else None,
            "upper": each.upper if isfinite(each.upper) else None,
        }
        for each in chosen
    }


def _parted(arguments: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return {prefix: {name: plain value}} of arguments, those of the problem under ""."""
    parts: dict[str, dict[str, Any]] = {prefix: {} for prefix in ("", *PREFIXES)}
    for name, value in arguments.items():
        prefix, _, rest = name.partition(".") if "." in name else ("", "", name)
        if prefix not in parts or not rest:
            raise ValueError(
                f"{name}: expected a parameter of the problem, or one that begins with "
                f"{', '.join(PREFIXES)} and a dot"
            )
        parts[prefix][rest] = _plain(name, value)
    return parts


def _changed(stated: Transcription, changes: Mapping[str, Any], neighbour: Any) -> Transcription:
    """Return a transcription with changes by name; another method starts from its own defaults."""
    general = {entry.name for entry in fields(Transcription)} - {"method"}
    shared = {name: value for name, value in changes.items() if name in general}
    own = {name: value for name, value in changes.items() if name not in {*general, "method"}}
    if "dynamics" in shared and not is_choice(shared["dynamics"]):
        shared["dynamics"] = named(neighbour, shared["dynamics"], Formulation)
    method = stated.method
    if changes.get("method", method.name) != method.name:
        method = method_of(changes["method"], own)
    elif own:
        method = _changed_method(method, own)
    return replace(stated, method=method, **shared)


def _changed_method(method: Any, changes: Mapping[str, Any]) -> Any:
    """Return a method's record with changes; raise ValueError naming what it does not have."""
    known = [entry.name for entry in fields(method)]
    odd = next((name for name in changes if name not in known), None)
    if odd is not None:
        raise ValueError(
            f"{odd}: method {method.name!r} has no such setting; it has {', '.join(known)}"
        )
    return replace(method, **changes)


def _solver(recipe: Recipe, changes: Mapping[str, Any], options: Mapping[str, Any]) -> Content:
    plugin = recipe.solver.plugin
    if not isinstance(plugin, str):
        plugin = bound_to("solver", plugin, recipe.problem, plugin)
    settings = {"plugin": plugin, "hessian": recipe.solver.hessian}
    odd = next((name for name in changes if name not in settings), None)
    if odd is not None:
        raise ValueError(
            f"solver.{odd}: there is no such setting; expected one of {', '.join(settings)}"
        )
    own = _plain("options", dict(recipe.solver.options))
    return settings | dict(changes) | {"options": own | dict(options)}


def _bound(function: Callable, given: Mapping[str, Any], first: int = 0) -> dict[str, Any]:
    """Return the arguments with all defaults, in the types that the signature names.

    The `first` ones belong to the framework.
    """
    known = _parameters(function, first)
    module = inspect.getmodule(function)
    place = "" if module is None else module.__name__.rpartition(".")[2]
    name = f"{place}.{getattr(function, '__name__', 'function')}"
    odd = next((key for key in given if key not in known), None)
    if odd is not None:
        raise ValueError(
            f"{odd}: {name} has no such parameter; it has {', '.join(known) or 'none'}"
        )
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in given:
            raise ValueError(f"{key}: expected a value, {name} has no default for it")
    return {
        key: _typed(key, given[key], parameter.annotation)
        if key in given
        else _plain(key, parameter.default)
        for key, parameter in known.items()
    }


def _parameters(function: Callable, first: int = 0) -> dict[str, inspect.Parameter]:
    """Return the parameters by name that a user may set."""
    parameters = list(inspect.signature(function).parameters.values())[first:]
    return {
        one.name: one
        for one in parameters
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and one.name not in FRAMEWORK
    }


def _called(function: Callable, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain arguments as a function takes them: tuples where its signature says so."""
    parameters = inspect.signature(function).parameters
    return {
        name: tuple(value) if isinstance(value, list) and _is_tuple(parameters[name]) else value
        for name, value in arguments.items()
    }


def _is_tuple(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.default, tuple) or "tuple" in str(parameter.annotation)


def _typed(name: str, value: Any, annotation: Any) -> Any:
    """Return the value in its annotation's type: for a float 5 is 5.0, so both are one cell."""
    number = is_number(value)
    kind: Any = TYPES.get(annotation, annotation) if isinstance(annotation, str) else annotation
    if kind is float and number:
        return float(value)
    if kind is int and number and float(value).is_integer():
        return int(value)
    wrong = kind in TYPES.values() and not isinstance(value, kind)
    if wrong or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{name}: expected a value of type {kind.__name__}, got {value!r}")
    return value


def _plain(name: str, value: Any) -> Any:
    """Return the value as JSON has it; raise ValueError naming it if it is not plain."""
    try:
        data = plain(value)
        if data == plain(value, null=True):
            return data
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"{name}: expected plain values (finite numbers, words, lists of them), got {value!r}"
    )
