"""Solutions as files: one .npz with a JSON header, no pickle, written whole or not at all."""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, cast

import numpy as np

from ocp.dynamics.catalogue import is_built_in
from ocp.dynamics.formulation import Formulation
from ocp.mechanics.joints import Joint
from ocp.mechanics.loads import Load
from ocp.mechanics.modes import Curve, Modes, Place
from ocp.mechanics.tree import Link, Loop, Point, Tree
from ocp.motion.mesh import motion_of
from ocp.problem.ground import Foot, Ground, Pin, Support
from ocp.problem.statement import Objective, Problem
from ocp.problem.symmetry import Symmetry
from ocp.solution.files import plain, versions, write
from ocp.solution.solution import Solution
from ocp.solvers.record import Iteration
from ocp.transcription.methods import METHODS, Method
from ocp.transcription.multipliers import Multipliers
from ocp.transcription.transcribe import Transcription, settings_of, transcription_of

FORMAT = "ocp solution 2"


def save(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write one .npz file, whole or not at all.

    Arrays, and under `header` a JSON text that says what they are.
    """
    buffer, t = io.BytesIO(), solution.times()
    arrays = {
        "header": np.array(json.dumps(_header(solution))),
        "points": solution.points,
        "t": t,
        "q": solution.q(t),
        "qd": solution.qd(t),
        "qdd": solution.qdd(t),
        "tau": solution.tau(t),
        "nodes": solution.nodes,
        "lifted": solution.lifted,
        "history": np.array(
            [
                [step.number, step.objective, step.violation, step.seconds]
                for step in solution.history
            ]
        ),
    }
    for k, name in enumerate(solution.problem.outputs):
        arrays[f"output_{k}"] = solution.output(name, t)
    for k, multipliers in enumerate(solution.multipliers.values()):
        arrays |= {
            f"multipliers_{k}_s": multipliers.s,
            f"multipliers_{k}_values": multipliers.values,
        }
    np.savez_compressed(buffer, **cast(Any, arrays))
    write(path, buffer.getvalue())


def load(
    path: str | os.PathLike[str],
    problem: Problem | None = None,
    dynamics: Formulation | None = None,
    method: Method | None = None,
) -> Solution:
    """Read a Solution from its file.

    `problem` gives it back its constraints and objective, which a file cannot hold; `dynamics` a
    formulation of one's own, `method` a transcription method of one's own. Raises ValueError naming
    the file if it is no result, is damaged, belongs to a model with other joints than the
    problem's, or was planned with a formulation or a method that is neither of the house nor handed
    over; OSError if it cannot be read.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise _Refused(
                f"not a result file of this program's version, which reads {FORMAT!r}, "
                f"got {header['format']!r}: solve again"
            )
        return _restore(header, arrays, problem, _transcription(header, dynamics, method))
    except _Refused as error:
        raise ValueError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path}: not a result file of this program, or damaged ({error})"
        ) from None


class _Refused(Exception):
    """What is wrong with a sound file for this caller."""


def _header(solution: Solution) -> dict[str, Any]:
    """Return all that is not an array, as plain data."""
    problem, transcription = solution.problem, solution.transcription
    loads = [
        None if callable(load.force) or callable(load.moment) else asdict(load)
        for load in problem.loads
    ]
    return plain(
        {
            "format": FORMAT,
            "versions": versions(),
            "status": solution.status,
            "success": solution.success,
            "duration": solution.duration,
            "objective": solution.objective,
            "terms": solution.terms,
            "statistics": dict(solution.statistics),
            "explanation": solution.explanation,
            "tree": asdict(problem.tree),
            "motion": asdict(cast(Any, problem.motion)),
            "loads": loads,
            "ground": None if problem.ground is None else asdict(problem.ground),
            "symmetry": None if problem.symmetry is None else asdict(problem.symmetry),
            "transcription": settings_of(transcription),
            "own_dynamics": not is_built_in(solution.formulation),
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
            },
        }
    )


def _restore(
    header: dict[str, Any],
    arrays: Mapping[str, np.ndarray],
    problem: Problem | None,
    transcription: Transcription,
) -> Solution:
    """Return the Solution of a file's header and arrays."""
    missing = ("constraints", "objective") if problem is None else ()
    problem = _problem(header) if problem is None else problem
    names = [joint.name for joint in problem.tree.moving]
    if names != header["joints"]:
        raise _Refused(
            f"belongs to another model: its joints are {', '.join(header['joints'])}; "
            f"expected {', '.join(names)}"
        )
    motion = motion_of(header["motion"])
    if motion != problem.motion:
        problem = replace(problem, motion=motion)
    points, shape = arrays["points"], (len(names), motion.points)
    if points.shape != shape or not np.isfinite(points).all():
        raise ValueError(
            f"control points of shape {points.shape}, expected finite ones of shape {shape}"
        )
    return Solution(
        problem=problem,
        transcription=transcription,
        points=points,
        duration=float(header["duration"]),
        nodes=arrays["nodes"],
        lifted=arrays["lifted"],
        objective=float(header["objective"]),
        terms=tuple(tuple(term) for term in header["terms"]),
        status=header["status"],
        success=header["success"],
        multipliers=_multipliers(header, arrays),
        statistics=header["statistics"],
        history=_history(arrays["history"]),
        explanation=tuple(header["explanation"]),
        missing=missing,
    )


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


def _problem(header: dict[str, Any]) -> Problem:
    """Return the problem as far as a file holds it.

    Without constraints, objective, and loads that are functions of time.
    """
    loads = tuple(Load(**load) for load in header["loads"] if load is not None)
    return Problem(
        tree=_tree(header["tree"]),
        motion=motion_of(header["motion"]),
        duration=header["duration"],
        objective=Objective(terms=()),
        loads=loads,
        ground=_ground(header["ground"]),
        symmetry=_symmetry(header["symmetry"]),
    )


def _multipliers(
    header: dict[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Multipliers]:
    return {
        name: Multipliers(
            s=arrays[f"multipliers_{k}_s"],
            labels=tuple(labels),
            values=arrays[f"multipliers_{k}_values"],
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


def _tree(data: dict[str, Any]) -> Tree:
    links = tuple(Link(**link | {"modes": _modes(link.get("modes"))}) for link in data["links"])
    return Tree(
        links=links,
        joints=tuple(Joint(**joint) for joint in data["joints"]),
        points=tuple(Point(**point) for point in data["points"]),
        loops=tuple(Loop(**loop) for loop in data["loops"]),
        gravity=data["gravity"],
    )


def _modes(data: dict[str, Any] | None) -> Modes | None:
    if data is None:
        return None
    curves = tuple(
        Curve(about=curve["about"], value=tuple(curve["value"]), slope=tuple(curve["slope"]))
        for curve in data["curves"]
    )
    return Modes(
        **data | {"places": tuple(Place(**place) for place in data["places"]), "curves": curves}
    )


def _symmetry(data: dict[str, Any] | None) -> Symmetry | None:
    return None if data is None else Symmetry(**data)


def _ground(data: dict[str, Any] | None) -> Ground | None:
    if data is None:
        return None
    feet = []
    for foot in data["feet"]:
        supports = [
            Support(**support | {"pins": tuple(Pin(**pin) for pin in support["pins"])})
            for support in foot["supports"]
        ]
        bears = tuple(float(end) for end in foot["bears"])
        feet.append(Foot(**foot | {"supports": tuple(supports), "bears": bears}))
    return Ground(feet=tuple(feet), normal=data["normal"])
