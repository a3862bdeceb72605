"""The first-order conditions of a finished motion's program, rebuilt from its statement."""

import numpy as np

from ocp.solution.solution import Solution
from ocp.solvers.nlp import kkt_residual
from ocp.transcription.multipliers import gather_multipliers
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables import free_duration, join


def first_order(solution: Solution, transcribed: Transcribed) -> float:
    """Return the first-order residual of a solution, by its own multipliers.

    `transcribed` is its problem again, whose kernels the front end can differentiate.
    """
    return kkt_residual(transcribed.nlp, *variables(solution, transcribed))


def variables(
    solution: Solution, transcribed: Transcribed
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variables of a program that a solution is of, and the multipliers of their bounds
    and of its rows."""
    nlp, reduction = transcribed.nlp, transcribed.reduction
    x = join(transcribed.layout, solution.points, solution.duration, solution.lifted)
    rows = len(nlp.g_lower)
    multipliers = gather_multipliers(
        transcribed.rows,
        solution.multipliers,
        len(x),
        rows if reduction is None else reduction.rows,
        free=free_duration(solution.problem),
    )
    if reduction is not None:
        x, multipliers = reduction.shrink(x), reduction.gather(*multipliers)
    return x, *multipliers
