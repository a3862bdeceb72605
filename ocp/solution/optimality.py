"""The first-order conditions of a finished motion's program, rebuilt from its statement."""

from dataclasses import replace

import numpy as np

from ocp.mechanics.zero_moment import body_weight
from ocp.solution.solution import Solution
from ocp.solution.starts import in_other_weights
from ocp.solvers.nlp import kkt_residual
from ocp.transcription.multipliers import gather_multipliers
from ocp.transcription.transcribe import Transcribed, Transcription, transcribe
from ocp.transcription.variables import join


def first_order(solution: Solution, transcribed: Transcribed) -> float:
    """Return the first-order residual of a solution, by its own multipliers.

    `transcribed` is its problem again, whose kernels the front end can differentiate. What was
    found beside the motion must meet the conditions too.
    """
    residual = kkt_residual(transcribed.nlp, *variables(solution, transcribed))
    opened = _opened(solution, transcribed.transcription)
    if opened is None:
        return residual
    return max(residual, kkt_residual(opened.nlp, *variables(solution, opened)))


def _opened(solution: Solution, transcription: Transcription) -> Transcribed | None:
    """Return the program of a solution whose parameters were found, as its plan states it; None if
    none was, or no plan is known."""
    plan, names = solution.plan, solution.found
    if plan is None or not names:
        return None
    stated = replace(plan.problem, motion=solution.problem.motion)
    opened = transcribe(stated, transcription, free=names)
    values = {each: solution.parameters[each.name] for each in opened.parameters}
    held = {each.name for each in opened.parameters} - names
    return opened.at(values, held)


def variables(
    solution: Solution, transcribed: Transcribed
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variables of a program that a solution is of, and the multipliers of their bounds
    and of its rows."""
    nlp, reduction = transcribed.nlp, transcribed.reduction
    x = join(transcribed.layout, solution.points, solution.duration, solution.lifted)
    rows = len(nlp.g_lower)
    weights = body_weight(solution.problem.tree), transcribed.layout.weight
    multipliers = gather_multipliers(
        transcribed.rows,
        in_other_weights(solution.multipliers, transcribed, *weights),
        transcribed.layout,
        rows if reduction is None else reduction.rows,
    )
    if reduction is not None:
        x, multipliers = reduction.shrink(x), reduction.gather(*multipliers)
    return x, *multipliers
