"""Identity of a cell as plain data: functions by their addresses, values as JSON has them.

So it goes to any process or computer, and never a Problem or a graph; and its hash knows it again.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from math import isfinite
from typing import Any

from ocp.dynamics import Formulation
from ocp.dynamics.catalogue import is_choice, is_named
from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem import Problem
from ocp.solution.solution import Solution
from ocp.solvers import Solver
from ocp.solvers.nlp import Options
from ocp.solving.solve_problem import solve
from ocp.solving.solver_attempts import PLAIN
from ocp.spelling import suggestion
from ocp.studies.parameter_designs import is_number
from ocp.studies.store.argument_data import call_arguments, complete_arguments, plain_value
from ocp.studies.store.argument_flags import Arguments, Keywords, call_by_flags
from ocp.studies.store.digests import code_digest, problem_digest
from ocp.studies.store.function_addresses import (
    address,
    bound_address,
    kept_here,
    named_value,
    resolve,
)
from ocp.studies.store.row_format import Cell, identity
from ocp.studies.task import GIVEN, Task, check_spline, on_spline, takes_values
from ocp.transcription.transcription_methods import METHODS, Method, method_of
from ocp.transcription.transcription_settings import Transcription, settings_of, transcription_of
from ocp.version import VERSION

PREFIXES = ("motion", "transcription", "solver", "option", "method")
Content = Keywords
Find = Callable[[str], Any]  # what is at an address: `resolve` for one's own, or what is trusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How the cells of a study are solved: the `problem` function, transcription, solver, `method`.

    `how` are the method's own settings; `measure`(solution) returns numbers by name; with `certify`
    every solution is verified. `parameters` are left open where a cell sets them. With `here` all
    cells are solved in this process, so that functions need no address. `digests` of problems are
    kept by what they are built from.
    """

    problem: Callable[..., Problem]
    transcription: Transcription
    solver: Solver
    method: Callable[..., Solution] = solve
    how: Arguments = field(default_factory=dict)
    measure: Callable[[Solution], Mapping[str, float]] | None = None
    certify: bool = False
    parameters: tuple[Parameter, ...] = ()
    here: bool = False
    digests: dict[str, str] = field(default_factory=dict, repr=False, compare=False)


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


def content_of(recipe: Recipe, arguments: Arguments, start: Content | None = None) -> Content:
    """Return all that a solve by a `recipe` depends on as plain data, the `start` of it too.

    `arguments` of the problem may also hold "motion.NAME" of its spline, "transcription.NAME",
    "solver.NAME", "option.NAME" of the plugin and "method.NAME". The problem is built, for its
    digest, once for all cells that differ in values of parameters alone. Raises ValueError naming
    what no process could be told: unknown parameters, values that are not plain, functions that
    cannot be imported by name.
    """
    data = settings_content(recipe, arguments) | {"start": start}
    return data | {"stated": _content_digests(recipe, data)}


def settings_content(recipe: Recipe, arguments: Arguments) -> Content:
    """Return the settings of a solve as plain data, functions by their addresses, as `content_of`
    without the digests of what they make."""
    parts = _split_prefixes(arguments)
    how = plain_value("how", dict(recipe.how)) | parts["method"]
    check_spline(parts["motion"])
    spline = {"motion": parts["motion"]} if parts["motion"] else {}
    left_open = _open(recipe.parameters, parts[""])
    return (
        spline
        | ({"parameters": left_open} if left_open else {})
        | {
            "problem": _place(recipe, "problem"),
            "arguments": complete_arguments(recipe.problem, parts[""]),
            "method": _place(recipe, "method"),
            "how": complete_arguments(recipe.method, how, GIVEN),
            "transcription": transcription_content(
                recipe.transcription, parts["transcription"], recipe.problem
            ),
            "solver": _solver(recipe, parts["solver"], parts["option"]),
            "measure": None if recipe.measure is None else _place(recipe, "measure"),
            "certify": bool(recipe.certify),
        }
    )


def _place(recipe: Recipe, role: str) -> str | Keywords:
    """Return by what a function of a recipe is found: its address, or the name that a module binds
    it to, or, of a record that is called as a method, the address of its class and its fields."""
    function = getattr(recipe, role)
    try:
        if role == "method" and is_dataclass(function):
            stated = {entry.name: getattr(function, entry.name) for entry in fields(function)}
            given = {name: plain_value(f"method.{name}", each) for name, each in stated.items()}
            return {"record": address(type(function)), "fields": given}
        return address(function)
    except ValueError as error:
        place = bound_address(function, recipe.problem) if callable(function) else None
        if place is None and callable(function) and recipe.here:
            place = kept_here(role, function)
        if place is None:
            raise ValueError(f"{error}; with workers=0 any function is taken") from None
        return place


def _content_digests(recipe: Recipe, data: Content) -> Content:
    """Return the marks that tell cells of the same settings apart: digests of the problem and of
    the code of own functions, and the package's version."""
    values = data.get("parameters", {})
    shared = {name: value for name, value in data["arguments"].items() if name not in values}
    key = json.dumps([shared, values, data.get("motion")], sort_keys=True)
    if key not in recipe.digests:
        recipe.digests[key] = problem_digest(
            lambda: open_statement(data, lambda _: recipe.problem, parameters(data)), recipe.problem
        )
    places = data["transcription"]["dynamics"], data["transcription"]["method"]
    own = [resolve(place) for place in (*places, data["solver"]["plugin"]) if ":" in place]
    codes = [code_digest(each) for each in (recipe.method, recipe.measure, *own)]
    return {"version": VERSION, "problem": recipe.digests[key], "code": codes}


def cell(parameters: Arguments, data: Content, after: Cell | None = None) -> Cell:
    """Return the pending Cell of `data`, a content, whose hash knows also the cell `after` which it
    comes, from whose solution it starts; `parameters` {name: value} are those of the design."""
    data = data | {"after": None if after is None else after.id}
    return Cell(
        id=identity(data),
        content=json.loads(json.dumps(data, allow_nan=False)),
        parameters={
            name: data["arguments"].get(name, plain_value(name, value))
            for name, value in parameters.items()
        },
    )


def transcription_content(stated: Transcription, changes: Arguments, neighbour: object) -> Content:
    """Return the settings of a transcription with changes by name, as plain data.

    A formulation or a method of one's own is told by its address; `neighbour` is a function of the
    module that may bind it to a name.
    """
    try:
        changed = _change_transcription(stated, changes, neighbour)
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
    return plain_value("transcription", data)


def statement(data: Content, find: Find) -> Problem:
    """Return the Problem of a cell's content, with numbers for what it leaves open."""
    given = {each: data["arguments"][each.name] for each in parameters(data)}
    return with_values(open_statement(data, find, given), given)


def open_statement(data: Content, find: Find, left_open: Iterable[Parameter] = ()) -> Problem:
    """Return the Problem of a cell's content with parameters in place of their arguments."""
    problem = find(data["problem"])
    if isinstance(problem, type) or not callable(problem):
        raise ValueError(f"{data['problem']}: expected a function that makes a Problem")
    arguments = call_arguments(problem, complete_arguments(problem, data["arguments"]))
    stated = call_by_flags(problem, arguments | {each.name: each for each in left_open})
    if not isinstance(stated, Problem):
        raise ValueError(f"{data['problem']}: makes a {type(stated).__name__}, expected a Problem")
    return on_spline(stated, data.get("motion", {}))


def parameters(data: Content) -> tuple[Parameter, ...]:
    """Return the parameters that the problem of a cell's content leaves open, made anew."""
    return tuple(
        Parameter(name, **{key: value for key, value in stated.items() if value is not None})
        for name, stated in data.get("parameters", {}).items()
    )


def structure(data: Content) -> str:
    """Return the content that cells solved on one plan share: all but values of parameters, and
    settings on which neither problem nor transcription depends."""
    own = data.get("parameters", {})
    settings = {name: value for name, value in data["arguments"].items() if name not in own}
    names = ("problem", "motion", "transcription", "parameters", "stated")
    shared = {name: data.get(name) for name in names}
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


def settings(data: Content, find: Find) -> Keywords:
    """Return the settings of a cell's method, as it takes them."""
    return call_arguments(method_at(data["method"], find), data["how"], GIVEN)


def method_at(place: str | Keywords, find: Find) -> Callable[..., Solution]:
    """Return the method at an address, or the record that is one, of its class and fields."""
    if isinstance(place, str):
        return find(place)
    return find(place["record"])(**place["fields"])


def single_attempt(method: Callable) -> Keywords:
    """Return the options with which a method tries once, where it takes attempts."""
    return {"attempts": PLAIN} if "attempts" in inspect.signature(method).parameters else {}


def bound_to(what: str, value: object, *neighbours: object) -> str:
    """Return the address at which a value is bound to a name; raise ValueError if it is in no
    module."""
    place = bound_address(value, *neighbours)
    if place is None:
        raise ValueError(
            f"{what}: other processes find a {type(value).__name__} of one's own by its name: "
            "bind it to one in the module of the problem"
        )
    return place


def _open(parameters: Iterable[Parameter], given: Arguments) -> Content:
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


def _split_prefixes(arguments: Arguments) -> dict[str, Keywords]:
    """Return {prefix: {name: plain value}} of arguments, those of the problem under ""."""
    parts: dict[str, Keywords] = {prefix: {} for prefix in ("", *PREFIXES)}
    for name, value in arguments.items():
        prefix, _, rest = name.partition(".") if "." in name else ("", "", name)
        if prefix not in parts or not rest:
            raise ValueError(
                f"{name}: expected a parameter of the problem, or one that begins with "
                f"{', '.join(PREFIXES)} and a dot"
            )
        parts[prefix][rest] = plain_value(name, value)
    return parts


def _change_transcription(
    stated: Transcription, changes: Arguments, neighbour: object
) -> Transcription:
    """Return a transcription with changes by name; another method starts from its own defaults."""
    general = {entry.name for entry in fields(Transcription)} - {"method"}
    shared = {name: value for name, value in changes.items() if name in general}
    own = {name: value for name, value in changes.items() if name not in {*general, "method"}}
    if "dynamics" in shared and not is_choice(shared["dynamics"]):
        shared["dynamics"] = named_value(neighbour, shared["dynamics"], Formulation)
    method = stated.method
    if changes.get("method", method.name) != method.name:
        method = method_of(changes["method"], own)
    elif own:
        method = _changed_method(method, own)
    return replace(stated, method=method, **shared)


def _changed_method(method: Method, changes: Arguments) -> Method:
    """Return a method's record with changes; raise ValueError naming what it does not have."""
    known = [entry.name for entry in fields(method)]
    odd = next((name for name in changes if name not in known), None)
    if odd is not None:
        raise ValueError(
            f"{odd}: method {method.name!r} has no such setting{suggestion(odd, known)}; it has "
            f"{', '.join(known)}"
        )
    return replace(method, **changes)


def _solver(recipe: Recipe, changes: Arguments, options: Options) -> Content:
    plugin = recipe.solver.plugin
    if not isinstance(plugin, str):
        plugin = bound_to("solver", plugin, recipe.problem, plugin)
    settings = {"plugin": plugin, "hessian": recipe.solver.hessian}
    odd = next((name for name in changes if name not in settings), None)
    if odd is not None:
        raise ValueError(
            f"solver.{odd}: there is no such setting{suggestion(odd, settings)}; expected one of "
            f"{', '.join(settings)}"
        )
    own = plain_value("options", dict(recipe.solver.options))
    return settings | dict(changes) | {"options": own | dict(options)}
