"""Solutions as files: one .npz with a JSON header, no pickle, written whole or not at all."""

import io
import json
import zipfile
from dataclasses import asdict, replace

import numpy as np

from ocp.dynamics import CHOICES
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
from ocp.solvers.nlp import Iteration
from ocp.transcription.rows import Multipliers
from ocp.transcription.transcribe import Transcription

FORMAT = "ocp solution 2"


def save(solution, path):
    """Write one .npz file, whole or not at all: arrays, and under `header` a JSON text that says what they are."""
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
    for k, multipliers in enumerate(solution.multipliers.values()):
        arrays |= {
            f"multipliers_{k}_s": multipliers.s,
            f"multipliers_{k}_values": multipliers.values,
        }
    np.savez_compressed(buffer, **arrays)
    write(path, buffer.getvalue())


def load(path, problem=None):
    """Read a Solution from its file; `problem` gives it back its constraints and objective, which a file cannot hold.

    Raises ValueError naming the file if it is no result, is damaged, or belongs to a model with other joints than the problem's.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']!r}")
        return _restore(header, arrays, problem)
    except _OtherModel as error:
        raise ValueError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path}: not a result file of this program, or damaged ({error})"
        ) from None


class _OtherModel(Exception):
    pass


def _header(solution):
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
            "motion": asdict(problem.motion),
            "loads": loads,
            "ground": None if problem.ground is None else asdict(problem.ground),
            "symmetry": None if problem.symmetry is None else asdict(problem.symmetry),
            "transcription": asdict(transcription) | {"dynamics": transcription.dynamics.name},
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
            },
        }
    )


def _restore(header, arrays, problem):
    tree = _tree(header["tree"])
    if problem is None:
        loads = tuple(Load(**load) for load in header["loads"] if load is not None)
        problem = Problem(
            tree=tree,
            motion=motion_of(header["motion"]),
            duration=header["duration"],
            objective=Objective(terms=()),
            loads=loads,
            ground=_ground(header["ground"]),
            symmetry=_symmetry(header["symmetry"]),
        )
    names = [joint.name for joint in problem.tree.moving]
    if names != header["joints"]:
        raise _OtherModel(
            f"belongs to another model: its joints are {', '.join(header['joints'])}; expected {', '.join(names)}"
        )
    motion = motion_of(header["motion"])
    if motion != problem.motion:
        problem = replace(problem, motion=motion)
    settings = header["transcription"]
    if settings["dynamics"] not in CHOICES:
        settings["dynamics"] = "auto"
    points = arrays["points"]
    if points.shape != (len(names), motion.points) or not np.isfinite(points).all():
        raise ValueError(
            f"control points of shape {points.shape}, expected finite ones of shape {(len(names), motion.points)}"
        )
    multipliers = {
        name: Multipliers(
            s=arrays[f"multipliers_{k}_s"],
            labels=tuple(labels),
            values=arrays[f"multipliers_{k}_values"],
        )
        for k, (name, labels) in enumerate(header["multipliers"])
    }
    history = tuple(
        Iteration(
            number=int(line[0]),
            objective=float(line[1]),
            violation=float(line[2]),
            seconds=float(line[3]),
        )
        for line in arrays["history"]
    )
    return Solution(
        problem=problem,
        transcription=Transcription(**settings),
        points=points,
        duration=float(header["duration"]),
        nodes=arrays["nodes"],
        lifted=arrays["lifted"],
        objective=float(header["objective"]),
        terms=tuple(tuple(term) for term in header["terms"]),
        status=header["status"],
        success=header["success"],
        multipliers=multipliers,
        statistics=header["statistics"],
        history=history,
        explanation=tuple(header["explanation"]),
    )


def _tree(data):
    links = tuple(Link(**link | {"modes": _modes(link.get("modes"))}) for link in data["links"])
    return Tree(
        links=links,
        joints=tuple(Joint(**joint) for joint in data["joints"]),
        points=tuple(Point(**point) for point in data["points"]),
        loops=tuple(Loop(**loop) for loop in data["loops"]),
        gravity=data["gravity"],
    )


def _modes(data):
    if data is None:
        return None
    curves = tuple(
        Curve(about=curve["about"], value=tuple(curve["value"]), slope=tuple(curve["slope"]))
        for curve in data["curves"]
    )
    return Modes(
        **data | {"places": tuple(Place(**place) for place in data["places"]), "curves": curves}
    )


def _symmetry(data):
    return None if data is None else Symmetry(**data)


def _ground(data):
    if data is None:
        return None
    feet = []
    for foot in data["feet"]:
        supports = [
            Support(**support | {"pins": tuple(Pin(**pin) for pin in support["pins"])})
            for support in foot["supports"]
        ]
        feet.append(
            Foot(
                **foot
                | {"supports": tuple(supports), "bears": tuple(float(end) for end in foot["bears"])}
            )
        )
    return Ground(feet=tuple(feet), normal=data["normal"])
