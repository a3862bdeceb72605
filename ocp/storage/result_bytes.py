"""Bytes of result files: arrays, and a header of JSON that describes them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ocp.dynamics.catalogue import is_named
from ocp.problem.reserved_names import name_in_phase
from ocp.solution.sampling import traces
from ocp.solution.solution import Solution
from ocp.storage.array_archive import pack_arrays
from ocp.storage.atomic_files import plain, versions
from ocp.storage.problem_data import problem_data
from ocp.storage.records_from_data import Data
from ocp.storage.single_phase_data import Statement
from ocp.storage.typed_reader import table
from ocp.transcription.kernels.function_tapes import OPERATIONS, Tape
from ocp.transcription.transcription_settings import settings_of
from ocp.transcription.variables.named_multipliers import Multipliers

FORMAT = "ocp solution 6"


def solution_bytes(solution: Solution) -> bytes:
    """Return the bytes of a solution's file, the same for the same solution."""
    statement = problem_data(solution.problem)
    statement = replace(statement, missing=(*solution.missing, *statement.missing))
    header = _header(solution, statement)
    header["phases"] = [_motion_header(phase) for name, phase in solution.parts.items() if name]
    arrays: dict[str, np.ndarray] = {}
    for k, (name, phase) in enumerate(solution.parts.items()):
        begin = phase_prefix(k, name)
        arrays |= {f"{begin}{what}": each for what, each in _arrays(phase).items()}
    arrays |= {"history": table(solution.history)}
    arrays |= _impulse_arrays(solution) | _multiplier_arrays(_own_multipliers(solution))
    text = np.array(json.dumps(plain(header), allow_nan=False))
    return pack_arrays({"header": text} | arrays | _tape_arrays(statement.tapes))


def _arrays(solution: Solution) -> dict[str, np.ndarray]:
    """Return the arrays of a motion."""
    t = solution.times()
    arrays = {
        "points": solution.points,
        "t": t,
        "q": solution.q(t),
        "qd": solution.qd(t),
        "qdd": solution.qdd(t),
        "tau": solution.tau(t),
        "nodes": solution.nodes,
        "lifted": solution.lifted,
    }
    for k, values in enumerate(traces(solution, solution.problem.outputs, t).values()):
        arrays[f"output_{k}"] = values
    return arrays | _multiplier_arrays(_own_multipliers(solution))


def _multiplier_arrays(known: Mapping[str, Multipliers]) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for k, each in enumerate(known.values()):
        arrays |= {f"multipliers_{k}_s": each.s, f"multipliers_{k}_values": each.values}
    return arrays


def _impulse_arrays(solution: Solution) -> dict[str, np.ndarray]:
    """Return the impulses of every transition, in the order of its points."""
    return {
        f"impulses_{k}": np.array(list(pushes.values()), dtype=float).reshape(-1, 3)
        for k, pushes in enumerate(solution.impulses.values())
    }


def _own_multipliers(solution: Solution) -> dict[str, Multipliers]:
    """Return the multipliers that no phase has."""
    parts = solution.parts.items() if not solution.single_phase else ()
    own = {name_in_phase(name, what) for name, phase in parts for what in phase.multipliers}
    return {name: each for name, each in solution.multipliers.items() if name not in own}


def phase_prefix(number: int, name: str) -> str:
    """Return the prefix of the names of a phase's arrays; a motion without phases needs none."""
    return f"phase_{number}_" if name else ""


def _motion_header(solution: Solution) -> Data:
    """Return the entries of a motion that are no arrays, beside its statement."""
    return {
        "status": solution.status,
        "success": solution.success,
        "duration": solution.duration,
        "objective": solution.objective,
        "terms": solution.terms,
        "parameters": dict(solution.parameters),
        "statistics": dict(solution.statistics),
        "explanation": solution.explanation,
        "multipliers": [[name, each.labels] for name, each in _own_multipliers(solution).items()],
    }


def _header(solution: Solution, statement: Statement) -> Data:
    """Return all that is not an array."""
    problem = solution.problem
    return {
        "format": FORMAT,
        "versions": versions(),
        **_motion_header(solution),
        "problem": statement.data,
        "fingerprint": statement.fingerprint,
        "missing": statement.missing,
        "operations": OPERATIONS,
        "tapes": [[tape.questions, tape.sizes] for tape in statement.tapes],
        "transcription": settings_of(solution.transcription),
        "own_dynamics": not is_named(solution.formulation),
        "impulses": [[name, list(pushes)] for name, pushes in solution.impulses.items()],
        "outputs": list(problem.outputs),
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
            "phase_0_q": "that of the first phase, and so on",
            "impulses_0": "of the first that strikes, (points, 3), N s",
        },
    }


def _tape_arrays(tapes: Sequence[Tape]) -> dict[str, np.ndarray]:
    arrays = {}
    for k, tape in enumerate(tapes):
        steps = np.vstack([tape.codes, tape.operands]).astype("<i4")
        arrays[f"tape_{k}_steps"] = steps
        arrays[f"tape_{k}_constants"] = tape.constants
        arrays[f"tape_{k}_results"] = tape.results.astype("<i4")
    return arrays
