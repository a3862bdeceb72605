"""One cell of a study: what it is as plain data, the hash that knows it again, and its solve, wherever that runs.

A cell names functions by module and name and holds plain values only, so that it goes to any process or computer, and never a Problem or a
graph. What comes back is plain too: numbers, words, and the bytes of the solution's file.
"""

import hashlib
import importlib
import inspect
import json
import math
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ocp.dynamics import CHOICES, formulation_of
from ocp.solution.archive import load
from ocp.solution.certificate import verify
from ocp.solution.files import versions, write
from ocp.solution.solving import solve
from ocp.solution.starts import Guess
from ocp.solvers.minimizing import Solver
from ocp.studies.database import FAILED, SOLVED, Cell
from ocp.transcription.transcribe import settings_of, transcribe, transcription_of
from ocp.transcription.variables import split

PREFIXES = ("transcription", "solver", "option", "method")
WAYPOINTS, WAVES = 25, 4  # of a random first guess
STOPPED = "stopped"  # of a cell that was interrupted, which is no result
_ALONE = threading.Lock()  # MUMPS is not thread-safe: in one process, one solve at a time


def content(
    problem,
    arguments,
    transcription,
    solver,
    *,
    method=solve,
    how=None,
    measure=None,
    certify=False,
    start=None,
):
    """Return all that a solve depends on as plain data.

    `arguments` of the problem may also hold "transcription.NAME", "solver.plugin", "solver.hessian", "option.NAME" of the plugin and
    "method.NAME". Raises ValueError naming what no process could be told: unknown parameters, values that are not plain, functions that
    cannot be imported by name.
    """
    own, parts = {}, {prefix: {} for prefix in PREFIXES}
    for name, value in arguments.items():
        prefix, dot, rest = name.partition(".")
        if dot and prefix not in PREFIXES:
            raise ValueError(
                f"{name}: expected a parameter of the problem, or one that begins with {', '.join(PREFIXES)} and a dot"
            )
        (parts[prefix] if dot else own)[rest if dot else name] = _plain(name, value)
    settings = settings_of(transcription)
    name = settings["dynamics"]
    if name not in CHOICES or formulation_of(name) != transcription.dynamics:
        raise ValueError(
            f"dynamics: {name!r} is not one of ocp's formulations, which is all that other processes can be told"
        )
    settings = _transcribed_by(settings, parts["transcription"])
    solving = {"plugin": solver.plugin, "hessian": solver.hessian}
    solving = _updated("solver", solving, parts["solver"]) | {
        "options": _plain("options", dict(solver.options)) | parts["option"]
    }
    return {
        "problem": address(problem),
        "arguments": _bound(problem, own),
        "method": address(method),
        "how": _bound(method, _plain("how", dict(how or {})) | parts["method"], first=3),
        "transcription": _plain("transcription", settings),
        "solver": solving,
        "measure": None if measure is None else address(measure),
        "certify": bool(certify),
        "start": start,
    }


def cell(parameters, data, after=None):
    """Return the pending Cell of the content, whose hash knows also the cell from which it starts."""
    data = data | {"after": None if after is None else after.id}
    text = json.dumps(data, sort_keys=True, allow_nan=False)
    return Cell(
        id=hashlib.sha256(text.encode()).hexdigest()[:32],
        content=json.loads(text),
        parameters={
            name: data["arguments"].get(name, _plain(name, value))
            for name, value in parameters.items()
        },
    )


def run(data, seed=None):
    """Solve a cell from its content and return what came of it as plain data; whatever goes wrong is its status and reason.

    `seed` = (arguments, archive) of a solved neighbour is where the solve starts; should it fail from there, it starts anew on its own.
    """
    begin, result = (
        time.perf_counter(),
        dict.fromkeys(("objective", "duration", "archive"))
        | {"terms": {}, "measured": {}, "statistics": {}},
    )
    try:
        with _ALONE:
            result |= _solved(data, seed)
    except Exception as error:  # a study goes on; the reason stays with the cell
        result |= {"status": FAILED, "reason": f"{type(error).__name__}: {error}"}
    return result | {"seconds": time.perf_counter() - begin}


def lost(reason):
    """Return the result of a cell whose process did not live to tell one."""
    return dict.fromkeys(("objective", "duration", "archive", "seconds")) | {
        "terms": {},
        "measured": {},
        "statistics": {},
        "status": FAILED,
        "reason": reason,
    }


def statement(data):
    """Return the Problem of a cell's content."""
    return resolve(data["problem"])(**data["arguments"])


def restore(archive, problem):
    """Return the Solution of a problem from the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solution.npz"
        write(path, archive)
        return load(path, problem)


def wandering(statement, transcription, number, *, seed=0, spread=1.0):
    """Return the Guess of start `number` of a multistart: 0 is the straight motion, the others wander off it.

    They do so by `spread` times (rad or m) a random sum of half waves, zero at both ends, the same for the same `seed` and number; modal
    amplitudes stay, since links bend little.
    """
    straight = transcribe(statement, transcription)
    points, *_ = split(straight.layout, straight.guess)
    s = np.linspace(0.0, 1.0, WAYPOINTS)
    q = points @ straight.problem.motion.values(s).T
    if number:
        rng, waves = np.random.default_rng((seed, number)), np.arange(1, WAVES + 1)
        away = (
            spread
            * (rng.standard_normal((len(points), WAVES)) / np.sqrt(waves))
            @ np.sin(np.pi * waves[:, None] * s)
        )
        away[list(sum(statement.tree.amplitude_rows, ()))] = 0.0
        q += away
    return Guess(q=q)


def address(function):
    """Return "module:name" of a function; raise ValueError unless that imports it again, here and elsewhere."""
    name, module = (
        getattr(function, "__qualname__", repr(function)),
        getattr(function, "__module__", None),
    )
    if module == "__main__":
        main = sys.modules["__main__"]
        spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
        module = spec.name if spec is not None else Path(file).stem if file else None
    try:
        found = None if module is None else resolve(f"{module}:{name}")
    except (ImportError, AttributeError):
        found = None
    if getattr(found, "__qualname__", None) != name:
        raise ValueError(
            f"{name}: expected a function of a module, which other processes can import by its name"
        )
    return f"{module}:{name}"


def resolve(text):
    """Return the function at "module:name"."""
    module, _, name = text.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _solved(data, seed):
    problem, method = statement(data), resolve(data["method"])
    transcription, solver = transcription_of(data["transcription"]), Solver(**data["solver"])
    guesses = [_start(problem, transcription, data["start"])]
    if seed is not None:
        arguments, archive = seed
        guesses.insert(0, restore(archive, statement(data | {"arguments": arguments})))
    for count, guess in enumerate(guesses, start=1):
        solution = method(problem, transcription, solver, guess=guess, **data["how"])
        if solution.status == "User_Requested_Stop":
            return {"status": STOPPED, "reason": "interrupted"}
        if solution.success:
            break
    statistics = dict(solution.statistics) | {
        "status": solution.status,
        "seeded": seed is not None and count == 1,
        "versions": versions(),
    }
    if data["certify"]:
        statistics["certificate"] = _certificate(verify(solution))
    measured = (
        {}
        if data["measure"] is None
        else {str(key): float(value) for key, value in resolve(data["measure"])(solution).items()}
    )
    return {
        "status": SOLVED if solution.success else FAILED,
        "reason": "" if solution.success else "\n".join([solution.status, *solution.explanation]),
        "objective": _finite(solution.objective),
        "duration": _finite(solution.duration),
        "terms": {name: _finite(value) for name, _, value in solution.terms},
        "measured": _finite(measured),
        "statistics": _finite(statistics),
        "archive": _archive(solution),
    }


def _start(problem, transcription, start):
    return (
        None
        if start is None
        else wandering(
            problem, transcription, start["number"], seed=start["seed"], spread=start["spread"]
        )
    )


def _archive(solution):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solution.npz"
        solution.save(path)
        return path.read_bytes()


def _certificate(certificate):
    worst = max(certificate.violations.values(), key=lambda found: found.relative, default=None)
    return {
        "drift": certificate.drift,
        "goal_drift": certificate.goal_drift,
        "defect": certificate.defect,
        "energy_error": certificate.energy_error,
        "kkt": certificate.kkt,
        "worst": None if worst is None else worst.name,
        "worst_relative": 0.0 if worst is None else worst.relative,
    }


def _bound(function, given, first=0):
    """Return the arguments with all defaults, in the types that the signature names; `first` ones belong to the framework."""
    signature = list(inspect.signature(function).parameters.values())
    known = {
        p.name: p
        for p in signature[first:]
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and p.name not in ("guess", "watch", "attempts")
    }
    name = f"{inspect.getmodule(function).__name__.rpartition('.')[2]}.{function.__name__}"
    odd = [key for key in given if key not in known]
    if odd:
        raise ValueError(
            f"{odd[0]}: {name} has no such parameter; it has {', '.join(known) or 'none'}"
        )
    missing = [key for key, p in known.items() if p.default is p.empty and key not in given]
    if missing:
        raise ValueError(f"{missing[0]}: expected a value, {name} has no default for it")
    return {
        key: _typed(key, given[key], p.annotation) if key in given else _plain(key, p.default)
        for key, p in known.items()
    }


def _typed(name, value, kind):
    """Return the value as the type of its annotation: 5 is 5.0 where a float is expected, so that both are one cell."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kind = (
        {"float": float, "int": int, "str": str, "bool": bool}.get(kind, kind)
        if isinstance(kind, str)
        else kind
    )
    if kind is float and number:
        return float(value)
    if kind is int and number and float(value).is_integer():
        return int(value)
    if (kind in (float, int, str, bool) and not isinstance(value, kind)) or (
        kind is int and isinstance(value, bool)
    ):
        raise ValueError(f"{name}: expected a value of type {kind.__name__}, got {value!r}")
    return value


def _transcribed_by(settings, changes):
    """Return the settings of a transcription with changes; another method starts from its own defaults."""
    if changes.get("method", settings["method"]) != settings["method"]:
        settings = {name: settings[name] for name in ("dynamics", "derivatives", "compiled")}
    try:
        return settings_of(transcription_of(settings | changes))
    except ValueError as error:
        raise ValueError(f"transcription.{error}") from None


def _updated(what, settings, changes):
    odd = [key for key in changes if key not in settings]
    if odd:
        raise ValueError(
            f"{what}.{odd[0]}: there is no such setting; expected one of {', '.join(settings)}"
        )
    return settings | changes


def _plain(name, value):
    """Return the value as JSON has it; raise ValueError naming it if it is not plain."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(f"{name}: {key}", entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(name, entry) for entry in value]
    if (
        value is None
        or isinstance(value, (bool, int, str))
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    raise ValueError(
        f"{name}: expected plain values (finite numbers, words, lists of them), got {value!r}"
    )


def _finite(value):
    """Return statistics as JSON has them: None for what is not finite, words for what is not plain."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
