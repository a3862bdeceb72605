"""Refinement of motions of phases: each phase's basis is refined where it has errors itself.

Rounds, budget and stopping rules are those of a motion without phases.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ocp.motion.basis import Basis
from ocp.motion.segment import Part
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.minimize import Solver
from ocp.solving.refinement.mesh_error import MeshErrors, mesh_errors
from ocp.solving.refinement.rounds import Refiner, finer_basis, refine_in_rounds, with_breaks
from ocp.storage.phase_data import with_bases
from ocp.transcription.methods import Collocation
from ocp.transcription.transcribe import Transcription, settings_of_phases


def check_phases(problem: Problem) -> None:
    """Raise ValueError naming a phase that cannot be refined, or a problem without objective."""
    for phase in problem.phases:
        if isinstance(phase.motion, Part):
            raise ValueError(
                f"refine: phase {phase.name!r}: is part of a spline, which is not refined in "
                "parts; give the phase a basis of its own"
            )
    if not any(part.objective.terms for part in problem.parts):
        raise ValueError("refine: the problem has no objective, so no certificate can hold")


def refine_phases(
    problem: Problem,
    tolerance: float,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any,
    rounds: int,
    points: int,
    settings: Mapping[str, Any],
) -> Solution:
    """Return the Solution of a problem of phases, each on a basis that was refined; as `refine`."""
    check_phases(problem)
    problem = with_bases(
        problem, _first_bases(problem, transcription, settings.get("values") or {})
    )
    ways = Refiner(
        look=lambda solution: [
            _phase_errors(solution, phase, tolerance) for phase in solution.phases.values()
        ],
        finer=_finer,
    )
    limits: dict[str, Any] = {"rounds": rounds, "points": points, "settings": settings}
    return refine_in_rounds(problem, transcription, solver, tolerance, ways, guess=guess, **limits)


def _first_bases(
    problem: Problem, transcription: Transcription, values: Mapping[str, float]
) -> list[Basis]:
    """Return the bases of the first round, whose pieces end where the phases' statements break."""
    parts = settings_of_phases(transcription, problem.parts)
    made = [with_breaks(part, settings, values) for part, settings in parts]
    return [_basis(part, settings) for part, settings in made]


def _basis(part: Problem, transcription: Transcription) -> Basis:
    """Return the basis of a phase that is solved so."""
    method = transcription.method
    return method.mesh() if isinstance(method, Collocation) else part.motion


def _phase_errors(solution: Solution, phase: Solution, tolerance: float) -> MeshErrors:
    """Return the Look at a phase, whose quadrature is measured by the objective of all."""
    return mesh_errors(replace(phase, objective=solution.objective), tolerance)


def _finer(
    problem: Problem,
    transcription: Transcription,
    solution: Solution,
    seen: list[MeshErrors],
    held: int,
) -> tuple[Problem, Transcription, list[Basis]]:
    """Return the next round: where some phases have errors the bases of others stay."""
    asked = [each.gross or bool(each.open_jumps) or bool((each.errors > 1).any()) for each in seen]
    parts, finer = settings_of_phases(transcription, problem.parts), []
    for (part, settings), phase, own, wanted in zip(parts, solution.phases.values(), seen, asked):
        if not held and any(asked) and not wanted:
            finer.append(phase.problem.motion)
        else:
            finer.append(_basis(*finer_basis(part, settings, phase, own, held)))
    return with_bases(problem, finer), transcription, finer
