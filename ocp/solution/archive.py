"""Solutions as files: one .npz of arrays with a JSON header, no pickle, whole or not at all.

Beside what came of it stands what was asked, as data: model, loads, ground, bounds, and the
functions of constraints and objective as tapes. So a loaded solution can be certified and solved
again.
"""

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, prod
from typing import Any

import numpy as np

from ocp.dynamics.catalogue import is_named
from ocp.dynamics.formulation import Formulation
from ocp.motion.basis import Basis
from ocp.motion.mesh import motion_of
from ocp.problem.statement import Problem
from ocp.solution.closing import closed_by
from ocp.solution.containers import packed, text_of, unpacked
from ocp.solution.files import plain, versions, write
from ocp.solution.solution import Solution
from ocp.solution.statements import Statement, differences, listed, problem_of, stated
from ocp.solvers.record import Iteration
from ocp.transcription.methods import METHODS, Method
from ocp.transcription.multipliers import Multipliers
from ocp.transcription.tapes import OPERATIONS, Tape, check_question
from ocp.transcription.transcribe import Transcription, settings_of, transcription_of

FORMAT = "ocp solution 4"
LARGEST = 2**28  # bytes of a file that is read
POINTS, TIMES = 20000, 2000  # control points of a joint, and instants, that a file may have
FOLLOWS = 1e-9  # relative: within which q in a file is that of its control points
DAMAGE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
)


def save(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write one .npz file, whole or not at all.

    Arrays, and under `header` a JSON text that says what they are. Raises ValueError naming a load
    that cannot be written as data, OSError naming the path.
    """
    write(path, content_of(solution))


def content_of(solution: Solution) -> bytes:
    """Return the bytes of a solution's file, the same for the same solution."""
    statement, t = stated(solution.problem), solution.times()
    statement = replace(statement, missing=(*solution.missing, *statement.missing))
    arrays = {
        "header": np.array(json.dumps(_header(solution, statement), allow_nan=False)),
        "points": solution.points,
        "t": t,
        "q": solution.q(t),
        "qd": solution.qd(t),
        "qdd": solution.qdd(t),
        "tau": solution.tau(t),
        "nodes": solution.nodes,
        "lifted": solution.lifted,
        "history": _table(solution.history),
    }
    for k, name in enumerate(solution.problem.outputs):
        arrays[f"output_{k}"] = solution.output(name, t)
    for k, multipliers in enumerate(solution.multipliers.values()):
        arrays |= {
            f"multipliers_{k}_s": multipliers.s,
            f"multipliers_{k}_values": multipliers.values,
        }
    return packed(arrays | _tape_arrays(statement.tapes))


def load(
    path: str | os.PathLike[str],
    problem: Problem | None = None,
    dynamics: Formulation | None = None,
    method: Method | None = None,
) -> Solution:
    """Read a Solution from its file.

    Without `problem` it has the one that the file holds: all but what its `missing` names, where a
    function could not be written as data. A `problem` must ask what the file's asks, whatever its
    basis of motions and its outputs, and then takes its place; what it leaves open has the file's
    numbers, parameters of other names their own. `dynamics` is a formulation of one's
    own, `method` a transcription method of one's own. Raises ValueError naming the file if it is no
    result, is damaged, belongs to another problem (with what is different), or was planned with a
    formulation or a method that is neither of the house nor handed over; OSError if it cannot be
    read.
    """
    return restored(_read(path), path, problem, dynamics, method)


def restored(
    content: bytes,
    name: str | os.PathLike[str],
    problem: Problem | None = None,
    dynamics: Formulation | None = None,
    method: Method | None = None,
    *,
    own: bool = False,
) -> Solution:
    """Return the Solution of the bytes of a file, as `load`; errors speak of it by its `name`.

    Bytes that are one's `own`, of this very `problem`, are not compared with it.
    """
    try:
        arrays = unpacked(content)
        header = json.loads(text_of(arrays["header"]))
        if header["format"] != FORMAT:
            raise _Refused(
                f"not a result file of this program's version, which reads {FORMAT!r}, "
                f"got {header['format']!r}: solve again"
            )
        transcription = _transcription(header, dynamics, method)
        return _restore(header, arrays, problem, transcription, own)
    except _Refused as error:
        raise ValueError(f"{name}: {error}") from None
    except DAMAGE as error:
        words = f"{error}".partition("\n")[0][:200]
        raise ValueError(
            f"{name}: not a result file of this program, or damaged ({words})"
        ) from None


class _Refused(Exception):
    """What is wrong with a sound file for this caller."""


def _read(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a regular file; raise ValueError for what is none, or too large."""
    with open(path, "rb") as stream:
        state = os.fstat(stream.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            raise ValueError(
                f"{path}: not a result file of this program: expected a regular file of at most "
                f"{LARGEST} bytes"
            )
        return stream.read()


def _header(solution: Solution, statement: Statement) -> dict[str, Any]:
    """Return all that is not an array, as plain data."""
    problem = solution.problem
    return plain(
        {
            "format": FORMAT,
            "versions": versions(),
            "status": solution.status,
            "success": solution.success,
            "duration": solution.duration,
            "objective": solution.objective,
            "terms": solution.terms,
            "parameters": dict(solution.parameters),
            "statistics": dict(solution.statistics),
            "explanation": solution.explanation,
            "problem": statement.data,
            "fingerprint": statement.fingerprint,
            "missing": statement.missing,
            "operations": OPERATIONS,
            "tapes": [[tape.questions, tape.sizes] for tape in statement.tapes],
            "transcription": settings_of(solution.transcription),
            "own_dynamics": not is_named(solution.formulation),
            "outputs": list(problem.outputs),
            "multipliers": [
                [name, multipliers.labels] for name, multipliers in solution.multipliers.items()
            ],
            "joints": [joint.name for joint in problem.tree.moving],
            "arrays": {
                "t": "s",
                "q": "rad or m",
                "qd": "rad/s or m/s",
                "qdd": "rad/s2 or m/s2",
                "tau": "N m or N",
                "points": "control points (joints, points), rad or m",
                "history": "iteration, objective, largest violation, seconds",
                "output_0": "the first of the outputs (rows, times), and so on",
                "tape_0_steps": "operation and its two operands (3, steps), of the first function",
            },
        }
    )


def _tape_arrays(tapes: Sequence[Tape]) -> dict[str, np.ndarray]:
    arrays = {}
    for k, tape in enumerate(tapes):
        steps = np.vstack([tape.codes, tape.operands]).astype("<i4")
        arrays[f"tape_{k}_steps"] = steps
        arrays[f"tape_{k}_constants"] = tape.constants
        arrays[f"tape_{k}_results"] = tape.results.astype("<i4")
    return arrays


def _statement(header: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Statement:
    """Return the Statement of a file, its operations by their names."""
    codes = np.array([OPERATIONS.index(name) for name in header["operations"]])
    tapes = []
    for k, (questions, sizes) in enumerate(header["tapes"]):
        steps = _numbers(arrays, f"tape_{k}_steps", (3, None), "i")
        if steps.min(initial=0) < 0 or steps[0].max(initial=0) >= len(codes):
            raise ValueError("a tape has operations that are not listed")
        tapes.append(
            Tape(
                questions=tuple(check_question(question) for question in questions),
                sizes=tuple(_count(size) for size in sizes),
                codes=codes[steps[0]],
                operands=steps[1:].astype(int),
                constants=_numbers(arrays, f"tape_{k}_constants", (None,)),
                results=_numbers(arrays, f"tape_{k}_results", (None,), "i").astype(int),
            )
        )
    missing = tuple(_words(header["missing"]))
    return Statement(data=header["problem"], tapes=tuple(tapes), missing=missing)


def _restore(
    header: dict[str, Any],
    arrays: Mapping[str, np.ndarray],
    problem: Problem | None,
    transcription: Transcription,
    known: bool,
) -> Solution:
    """Return the Solution of a file's header and arrays, of a problem that is `known` to be its."""
    points = _numbers(arrays, "points", (None, None))
    _check_size(header["problem"]["motion"], points.shape[1])
    asked: tuple[Problem, tuple[str, ...]]
    if known and problem is not None:
        asked = _on(problem, motion_of(header["problem"]["motion"])), ()
    else:
        asked = _asked(header, arrays, problem)
    own, missing = asked
    duration, nodes = float(header["duration"]), _numbers(arrays, "nodes", (None,))
    _check_motion(own, points, duration, arrays)
    return Solution(
        problem=own,
        transcription=transcription,
        points=points,
        duration=duration,
        nodes=nodes,
        lifted=_numbers(arrays, "lifted", (None, len(nodes)) if len(nodes) else (None, None)),
        objective=float(header["objective"]),
        terms=tuple((str(name), float(w), float(value)) for name, w, value in header["terms"]),
        status=str(header["status"]),
        success=header["success"] is True,
        parameters={str(name): float(value) for name, value in header["parameters"].items()},
        multipliers=_multipliers(header, arrays),
        statistics=dict(header["statistics"]),
        history=_history(_numbers(arrays, "history", (None, None))),
        explanation=tuple(_words(header["explanation"])),
        missing=missing,
    )


def _asked(
    header: dict[str, Any], arrays: Mapping[str, np.ndarray], problem: Problem | None
) -> tuple[Problem, tuple[str, ...]]:
    """Return the problem of a file, or in its place the one that asks the same, and what of it the
    file could not hold."""
    statement = _statement(header, arrays)
    own = problem_of(statement)
    if statement.fingerprint != header["fingerprint"]:
        raise ValueError("its problem is not the one whose hash it has")
    if problem is None:
        return own, statement.missing
    problem = closed_by(problem, header["parameters"])
    _check_same(own, statement, problem)
    return _on(problem, own.motion), ()


def _on(problem: Problem, motion: Basis) -> Problem:
    """Return a problem on a basis of motions."""
    return problem if problem.motion == motion else replace(problem, motion=motion)


def _check_size(motion: dict[str, Any], points: int) -> None:
    """Raise ValueError for a basis that has more of anything than there are control points."""
    counts = [value for key, value in motion.items() if isinstance(value, int) and key != "points"]
    if points > POINTS or prod(map(abs, counts)) > points or motion.get("points", 0) > points:
        raise ValueError(f"its basis of motions is larger than its {points} control points")


def _check_same(own: Problem, statement: Statement, problem: Problem) -> None:
    """Raise _Refused if a problem asks something else than the file's."""
    names, expected = ([joint.name for joint in each.tree.moving] for each in (own, problem))
    if names != expected:
        raise _Refused(
            f"belongs to another model: its joints are {', '.join(names)}; "
            f"expected {', '.join(expected)}"
        )
    different = differences(statement, stated(problem))
    if different:
        raise _Refused(f"belongs to another problem: {listed(different)}")


def _check_motion(
    problem: Problem, points: np.ndarray, duration: float, arrays: Mapping[str, np.ndarray]
) -> None:
    """Raise ValueError unless the control points fit the basis, and make the coordinates beside."""
    shape = (problem.tree.dof, problem.motion.points)
    if points.shape != shape or not np.isfinite(points).all():
        raise ValueError(
            f"control points of shape {points.shape}, expected finite ones of shape {shape}"
        )
    if not isfinite(duration) or duration <= 0:
        raise ValueError(f"duration: expected a positive number, got {duration}")
    t = _numbers(arrays, "t", (None,))
    q, largest = _numbers(arrays, "q", (len(points), len(t))), np.abs(points).max(initial=1.0)
    if len(t) > TIMES:
        raise ValueError(f"{len(t)} times, expected at most {TIMES}")
    for some in np.array_split(np.arange(len(t)), max(1, len(t) // 20)):
        values = problem.motion.values(np.clip(t[some] / duration, 0.0, 1.0))
        if not np.allclose(q[:, some], points @ values.T, rtol=0, atol=FOLLOWS * largest):
            raise ValueError("its coordinates are not those of its control points")


def _transcription(
    header: dict[str, Any], dynamics: Formulation | None, method: Method | None
) -> Transcription:
    """Return the Transcription of a file, whose parts are of the house, or handed over."""
    settings = dict(header["transcription"])
    if method is None and settings["method"] not in METHODS:
        raise _Refused(
            f"planned by a method of one's own, {settings['method']!r}, which no file holds: "
            "hand it over, load(path, problem, method=...)"
        )
    if method is not None:
        settings = {key: settings[key] for key in ("dynamics", "derivatives", "compiled")}
        settings["method"] = method
    name = settings["dynamics"]
    if dynamics is not None and dynamics.name != name:
        raise _Refused(f"dynamics: expected the formulation {name!r}, got {dynamics.name!r}")
    if dynamics is None and header["own_dynamics"]:
        raise _Refused(
            f"planned with a formulation of one's own, {name!r}, which no file holds: "
            f"hand it over, load(path, dynamics={name.upper()})"
        )
    return transcription_of(settings | {"dynamics": name if dynamics is None else dynamics})


def _multipliers(
    header: dict[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Multipliers]:
    return {
        name: Multipliers(
            s=_numbers(arrays, f"multipliers_{k}_s", (None,)),
            labels=tuple(_words(labels)),
            values=_numbers(arrays, f"multipliers_{k}_values", (len(labels), None)),
        )
        for k, (name, labels) in enumerate(header["multipliers"])
    }


def _history(table: np.ndarray) -> tuple[Iteration, ...]:
    return tuple(
        Iteration(
            number=int(number),
            objective=float(objective),
            violation=float(violation),
            seconds=float(seconds),
        )
        for number, objective, violation, seconds in table.tolist()
    )


def _table(history: Sequence[Iteration]) -> np.ndarray:
    rows = [[step.number, step.objective, step.violation, step.seconds] for step in history]
    return np.array(rows, dtype=float).reshape(-1, 4)


def _numbers(
    arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int | None, ...], kind: str = "f"
) -> np.ndarray:
    """Return an array of that kind and shape, None for any size; raise ValueError for another."""
    array = arrays[name]
    sizes = zip(array.shape, shape)
    fits = array.ndim == len(shape) and all(size in (got, None) for got, size in sizes)
    if array.dtype.kind != kind or not fits:
        raise ValueError(f"{name}: expected shape {shape}, got {array.dtype} {array.shape}")
    return np.array(array)


def _count(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value <= 100000:
        raise ValueError(f"expected a count, got {value!r}")
    return value


def _words(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"expected words, got {value!r:.60}")
    return value
