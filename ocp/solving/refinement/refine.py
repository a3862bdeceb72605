"""Refinement of a motion's basis until its certificate holds (Patterson, Hager & Rao 2015)."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from ocp.motion.basis import Basis
from ocp.motion.spline import BSpline
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.minimize import Solver
from ocp.solving.ladder import LADDER, Attempt
from ocp.solving.refinement.mesh_error import MeshErrors, mesh_errors
from ocp.solving.refinement.phase_refinement import refine_phases
from ocp.solving.refinement.rounds import Refiner, finer_basis, refine_in_rounds, with_breaks
from ocp.solving.starts.warm_start import Guess
from ocp.transcription.methods import Collocation
from ocp.transcription.transcribe import Transcription


def refine(
    problem: Problem,
    tolerance: float,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution | None = None,
    attempts: Iterable[Attempt] = LADDER,
    rounds: int = 12,
    points: int = 800,
    **settings: Any,
) -> Solution:
    """Return the Solution of a problem on a basis that is refined until its certificate holds.

    Segments with errors above the tolerance are split, knots are multiplied where torques jump, and
    pieces end where loads, spans and supports break. Each phase has a basis of its own. Splines of
    degree 3 and 4 continue with degree 5; meshes keep their order. Free knots are those of the
    first round. The last round's Verification passes `.require(tolerance)`, and its objective has
    settled to a tenth of that.

    Args:
        problem, transcription, solver, guess, attempts: as in `solve`; the guess starts round one.
        tolerance: of the certificate, relative.
        rounds: most rounds.
        points: most control points (or stages) per joint.
        settings: others of `solve` for every round, as `watch` and `values`.

    Returns:
        A Solution with the rounds in its statistics, as "refinement". One that gives up is no
        success, and its explanation says what is missing. Limits of the solver hold for all rounds.

    Raises:
        ValueError: for a basis of one's own, parts of one spline, and wrong arguments.
    """
    check_refine(problem, transcription, tolerance, rounds, points)
    settings |= {"attempts": tuple(attempts)}
    limits: dict[str, Any] = {"rounds": rounds, "points": points, "settings": settings}
    if problem.phases:
        return refine_phases(problem, tolerance, transcription, solver, guess=guess, **limits)
    problem, transcription = with_breaks(problem, transcription, settings.get("values") or {})
    ways = Refiner(look=lambda solution: [mesh_errors(solution, tolerance)], finer=_finer_whole)
    return refine_in_rounds(problem, transcription, solver, tolerance, ways, guess=guess, **limits)


def _finer_whole(
    problem: Problem,
    transcription: Transcription,
    solution: Solution,
    seen: list[MeshErrors],
    held: int,
) -> tuple[Problem, Transcription, list[Basis]]:
    """Return the next round of a motion on one basis, which is that of all."""
    finer, settings = finer_basis(problem, transcription, solution, seen[0], held)
    return finer, settings, [settings.method.with_basis(finer).motion]


def check_refine(
    problem: Problem, transcription: Transcription, tolerance: float, rounds: int, points: int
) -> None:
    """Raise ValueError naming what cannot be refined."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < tolerance < np.inf:
        raise ValueError(f"refine: expected a tolerance above 0, got {tolerance!r}")
    for what, value in (("rounds", rounds), ("points", points)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            wanted = "a whole number of at least 1"
            raise ValueError(f"refine: {what}: expected {wanted}, got {value!r}")
    if problem.phases:
        return
    if not isinstance(transcription.method, Collocation) and not isinstance(
        problem.motion, BSpline
    ):
        kind = type(problem.motion).__name__
        raise ValueError(
            f"refine: motion: expected a BSpline, or a method of collocation, got {kind}"
        )
    if not problem.objective.terms:
        raise ValueError("refine: the problem has no objective, so no certificate can hold")
