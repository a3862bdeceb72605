"""Refinement of a motion's basis until its certificate holds (Patterson, Hager & Rao 2015)."""

from collections.abc import Iterable
from numbers import Real

import numpy as np

from ocp.mechanics.values.validation import positive_integer
from ocp.motion.spline import BSpline
from ocp.motion.spline_part import Part
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.minimize import Solver
from ocp.solvers.nlp import Option
from ocp.solving.refinement.rounds import refine_in_rounds
from ocp.solving.solver_attempts import LADDER, Attempt
from ocp.solving.starts.warm_start import Guess
from ocp.transcription.transcription_methods import Collocation
from ocp.transcription.transcription_settings import Transcription


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
    settle: bool = True,
    **settings: Option,
) -> Solution:
    """Return the Solution of a problem on a basis that is refined until its certificate holds.

    Segments with errors above the tolerance are split, knots are multiplied where torques jump, and
    pieces end where loads, spans and supports break. Each phase has a basis of its own. Splines of
    degree 3 and 4 continue with degree 5; meshes keep their order. Free knots are those of the
    first round. Where coordinates have curves of their own, errors of laws split those that follow
    others, all else the common one. The last round's Verification passes `.require(tolerance)`, and
    its objective has settled to a tenth of that, if it is to `settle`.

    Args:
        problem, transcription, solver, guess, attempts: as in `solve`; the guess starts round one.
        tolerance: of the certificate, relative.
        rounds: most rounds.
        points: most control points (or stages) per joint.
        settle: whether the objective is to settle too, as far as coarser rounds can tell.
        settings: others of `solve` for every round, as `watch` and `values`.

    Returns:
        A Solution with the rounds in its statistics, as "refinement". One that gives up is no
        success, and its explanation says what is missing. Limits of the solver hold for all rounds.

    Raises:
        ValueError: for a basis of one's own, parts of one spline, and wrong arguments.
    """
    check_refine(problem, transcription, tolerance, rounds, points)
    settings |= {"attempts": tuple(attempts)}
    return refine_in_rounds(
        problem,
        transcription,
        solver,
        tolerance,
        guess=guess,
        rounds=rounds,
        points=points,
        settle=settle,
        settings=settings,
    )


def check_refine(
    problem: Problem, transcription: Transcription, tolerance: float, rounds: int, points: int
) -> None:
    """Raise ValueError naming what cannot be refined."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < tolerance < np.inf:
        raise ValueError(f"refine: expected a tolerance above 0, got {tolerance!r}")
    positive_integer("refine: rounds", rounds)
    positive_integer("refine: points", points)
    collocated = isinstance(transcription.method, Collocation)
    for name, part in problem.parts.items():
        if name and isinstance(part.motion, Part):
            raise ValueError(
                f"refine: phase {name!r}: is part of a spline, which is not refined in "
                "parts; give the phase a basis of its own"
            )
        if not (name or collocated or isinstance(part.motion, BSpline)):
            kind = type(part.motion).__name__
            raise ValueError(
                f"refine: motion: expected a BSpline, or a method of collocation, got {kind}"
            )
    if not any(part.objective.terms for part in problem.parts.values()):
        raise ValueError("refine: the problem has no objective, so no certificate can hold")
