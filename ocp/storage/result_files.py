"""Result files: one .npz of arrays with a JSON header, no pickle, written atomically.

The file stores both the result and the problem statement: model, loads, ground, bounds, and the
functions of constraints and objective as tapes. So a loaded solution can be certified and solved
again.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, prod

import numpy as np

from ocp.dynamics.formulation_record import Formulation
from ocp.motion.basis import Basis
from ocp.motion.collocation_mesh import motion_from_data
from ocp.problem.phases.phase_problems import with_bases
from ocp.problem.reserved_names import name_in_phase
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solution.validation import check_solution
from ocp.storage.array_archive import text_of, unpack_arrays
from ocp.storage.atomic_files import bytes_of, write
from ocp.storage.problem_data import problem_data, problem_from_data
from ocp.storage.problem_diff import difference_words, differences
from ocp.storage.records_from_data import Data
from ocp.storage.result_bytes import FORMAT, phase_prefix, solution_bytes
from ocp.storage.single_phase_data import Statement
from ocp.storage.typed_reader import count, history, multipliers, numbers, table, words
from ocp.transcription.kernels.function_tapes import OPERATIONS, Tape, check_question
from ocp.transcription.parameters.parameter_substitution import close_by_name
from ocp.transcription.transcription_methods import METHODS, Method
from ocp.transcription.transcription_settings import (
    Transcription,
    settings_of_parts,
    transcription_of,
)

ENDING = ".npz"
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
    """Write a solution to one .npz file, whole or not at all.

    It holds arrays, and under `header` a JSON text that describes them.

    Raises:
        ValueError: for no Solution, another ending, and naming a load that is no data.
        OSError: naming the path.
    """
    check_solution("save", solution)
    ending = os.path.splitext(path)[1]
    if ending.lower() != ENDING:
        raise ValueError(
            f"{os.fspath(path)}: expected a file that ends in {ENDING}, got {ending!r}"
        )
    write(path, solution_bytes(solution))


def load(
    path: str | os.PathLike[str],
    problem: Problem | None = None,
    dynamics: Formulation | None = None,
    method: Method | None = None,
) -> Solution:
    """Read a Solution from its file.

    Args:
        path: of the file.
        problem: a Problem that asks the same as the file's, whatever its basis of motions and its
            outputs, and takes its place; its parameters take the file's numbers. By default the
            file's own, without the parts that `missing` names.
        dynamics: the formulation, if it is one's own.
        method: the transcription method, if it is one's own.

    Raises:
        ValueError: naming a file that is no result or is damaged, belongs to another problem (with
            the differences), or needs a formulation or method that was not handed over.
        OSError: if it cannot be read.
    """
    return read_solution(bytes_of(path, LARGEST), path, problem, dynamics, method)


@np.errstate(all="ignore")  # of a damaged file numbers may be endless, and are refused as such
def read_solution(
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
        arrays = unpack_arrays(content)
        header = json.loads(text_of(arrays["header"]))
        if header["format"] != FORMAT:
            raise _UnsuitableFile(
                f"not a result file of this program's version, which reads {FORMAT!r}, "
                f"got {header['format']!r}: solve again"
            )
        transcription = _transcription(header, dynamics, method)
        return _restore(header, arrays, problem, transcription, own)
    except _UnsuitableFile as error:
        raise ValueError(f"{name}: {error}") from None
    except DAMAGE as error:
        reason = f"{error}".partition("\n")[0][:200]
        raise ValueError(
            f"{name}: not a result file of this program, or damaged ({reason})"
        ) from None


class _UnsuitableFile(Exception):
    """Reason for which a sound file does not suit this caller."""


def _statement(header: Data, arrays: Mapping[str, np.ndarray]) -> Statement:
    """Return the Statement of a file, its operations by their names."""
    codes = np.array([OPERATIONS.index(name) for name in header["operations"]])
    tapes = []
    for k, (questions, sizes) in enumerate(header["tapes"]):
        steps = numbers(arrays, f"tape_{k}_steps", (3, None), "i")
        if steps.min(initial=0) < 0 or steps[0].max(initial=0) >= len(codes):
            raise ValueError("a tape has operations that are not listed")
        tapes.append(
            Tape(
                questions=tuple(check_question(question) for question in questions),
                sizes=tuple(count(size) for size in sizes),
                codes=codes[steps[0]],
                operands=steps[1:].astype(int),
                constants=numbers(arrays, f"tape_{k}_constants", (None,)),
                results=numbers(arrays, f"tape_{k}_results", (None,), "i").astype(int),
            )
        )
    missing = tuple(words(header["missing"]))
    return Statement(data=header["problem"], tapes=tuple(tapes), missing=missing)


def _restore(
    header: Data,
    arrays: Mapping[str, np.ndarray],
    problem: Problem | None,
    transcription: Transcription,
    known: bool,
) -> Solution:
    """Return the Solution of a file's header and arrays, of a problem that is `known` to be its."""
    sizes = [(each["motion"], points) for each, points in _bases(header, arrays)]
    for motion, points in sizes:
        _check_size(motion, numbers(arrays, points, (None, None)).shape[1])
    motions = [motion_from_data(motion) for motion, _ in sizes]
    asked: tuple[Problem, tuple[str, ...]]
    if known and problem is not None:
        asked = with_bases(problem, motions), ()
    else:
        asked = _file_problem(header, arrays, problem, motions)
    own, missing = asked
    shared: Data = {"transcription": transcription, "missing": missing}
    phases, settings = {}, settings_of_parts(own, transcription)
    for k, (name, part) in enumerate(own.parts.items()):
        begin, said = phase_prefix(k, name), header["phases"][k] if name else header
        mine = {key[len(begin) :]: each for key, each in arrays.items() if key.startswith(begin)}
        part = settings[name].method.with_basis(part) if name else part  # a file's is so already
        phases[name] = _motion(said, mine, part, shared | {"transcription": settings[name]})
    if own.single_phase:
        return phases[""]
    whole = _solution_fields(header, arrays, own)
    pushes = {
        str(name): dict(zip(words(points), numbers(arrays, f"impulses_{k}", (len(points), 3))))
        for k, (name, points) in enumerate(header["impulses"])
    }
    named = {
        name_in_phase(name, what): each
        for name, phase in phases.items()
        for what, each in phase.multipliers.items()
    }
    return Solution(
        **shared | whole | {"multipliers": named | whole["multipliers"]},
        points=np.empty((own.tree.dof, 0)),
        phases=phases,
        impulses=pushes,
        history=history(numbers(arrays, "history", (None, None))),
    )


def _bases(header: Data, arrays: Mapping[str, np.ndarray]) -> Iterator[tuple[Data, str]]:
    """Yield the statement of every motion of a file, and the name of its control points."""
    stated = header["problem"]["phases"]
    names = [each["name"] for each in stated]
    if len(header["phases"]) != (0 if names == [""] else len(names)):
        raise ValueError(f"{len(header['phases'])} phases, its problem has others")
    for k, each in enumerate(stated):
        yield each, f"{phase_prefix(k, names[k])}points"


def _solution_fields(header: Data, arrays: Mapping[str, np.ndarray], problem: Problem) -> Data:
    """Return the fields of a Solution that are no arrays, and its multipliers."""
    return {
        "problem": problem,
        "duration": float(header["duration"]),
        "objective": float(header["objective"]),
        "terms": tuple((str(name), float(w), float(value)) for name, w, value in header["terms"]),
        "status": str(header["status"]),
        "success": header["success"] is True,
        "parameters": {str(name): float(value) for name, value in header["parameters"].items()},
        "multipliers": multipliers(header, arrays),
        "statistics": dict(header["statistics"]),
        "explanation": tuple(words(header["explanation"])),
    }


def _motion(
    header: Data, arrays: Mapping[str, np.ndarray], problem: Problem, shared: Data
) -> Solution:
    """Return the Solution of one motion, or of one phase."""
    said, nodes = _solution_fields(header, arrays, problem), numbers(arrays, "nodes", (None,))
    points = numbers(arrays, "points", (None, None))
    _check_motion(problem, points, said["duration"], arrays)
    steps = numbers(arrays, "history", (None, None)) if "history" in arrays else table(())
    return Solution(
        **shared | said,
        points=points,
        nodes=nodes,
        lifted=numbers(arrays, "lifted", (None, len(nodes)) if len(nodes) else (None, None)),
        history=history(steps),
    )


def _file_problem(
    header: Data,
    arrays: Mapping[str, np.ndarray],
    problem: Problem | None,
    motions: Sequence[Basis],
) -> tuple[Problem, tuple[str, ...]]:
    """Return the problem of a file, or in its place the one that asks the same, and what of it the
    file could not hold."""
    statement = _statement(header, arrays)
    own = problem_from_data(statement)
    if statement.fingerprint != header["fingerprint"]:
        raise ValueError("its problem is not the one whose hash it has")
    if problem is None:
        return own, statement.missing
    if problem.single_phase != own.single_phase:
        have, expected = (_phase_words(each) for each in (own, problem))
        raise _UnsuitableFile(f"belongs to another problem: it has {have}, expected {expected}")
    problem = close_by_name(problem, header["parameters"])
    _check_same(own, statement, problem)
    return with_bases(problem, motions), ()


def _phase_words(problem: Problem) -> str:
    names = ", ".join(problem.parts)
    return f"the phases {names}" if names else "no phases"


def _check_size(motion: Data, points: int) -> None:
    """Raise ValueError for a basis that has more of anything than there are control points."""
    whole = motion.get("whole", motion)
    counts = [value for key, value in whole.items() if isinstance(value, int) and key != "points"]
    if points > POINTS or prod(map(abs, counts)) > points or whole.get("points", 0) > points:
        raise ValueError(f"its basis of motions is larger than its {points} control points")


def _check_same(own: Problem, statement: Statement, problem: Problem) -> None:
    """Raise _Refused if a problem asks something else than the file's."""
    names, expected = ([joint.name for joint in each.tree.moving] for each in (own, problem))
    if names != expected:
        raise _UnsuitableFile(
            f"belongs to another model: its joints are {', '.join(names)}; "
            f"expected {', '.join(expected)}"
        )
    different = differences(statement, problem_data(problem))
    if different:
        raise _UnsuitableFile(f"belongs to another problem: {difference_words(different)}")


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
    t = numbers(arrays, "t", (None,))
    q, largest = numbers(arrays, "q", (len(points), len(t))), np.abs(points).max(initial=1.0)
    if len(t) > TIMES:
        raise ValueError(f"{len(t)} times, expected at most {TIMES}")
    for some in np.array_split(np.arange(len(t)), max(1, len(t) // 20)):
        values = problem.motion.values(np.clip(t[some] / duration, 0.0, 1.0))
        if not np.allclose(q[:, some], points @ values.T, rtol=0, atol=FOLLOWS * largest):
            raise ValueError("its coordinates are not those of its control points")


def _transcription(
    header: Data, dynamics: Formulation | None, method: Method | None
) -> Transcription:
    """Return the Transcription of a file, whose parts are of the house, or handed over."""
    settings = dict(header["transcription"])
    if method is None and settings["method"] not in METHODS:
        raise _UnsuitableFile(
            f"planned by a method of one's own, {settings['method']!r}, which no file holds: "
            "hand it over, load(path, problem, method=...)"
        )
    if method is not None:
        settings = {key: settings[key] for key in ("dynamics", "derivatives", "kernels")}
        settings["method"] = method
    name = settings["dynamics"]
    if dynamics is not None and dynamics.name != name:
        raise _UnsuitableFile(f"dynamics: expected the formulation {name!r}, got {dynamics.name!r}")
    if dynamics is None and header["own_dynamics"]:
        raise _UnsuitableFile(
            f"planned with a formulation of one's own, {name!r}, which no file holds: "
            f"hand it over, load(path, dynamics={name.upper()})"
        )
    return transcription_of(settings | {"dynamics": name if dynamics is None else dynamics})
