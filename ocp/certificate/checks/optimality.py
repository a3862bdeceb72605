"""First-order conditions of a solved program, rebuilt from its statement."""

from dataclasses import replace
from typing import Any

import numpy as np

from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.solution.solution import Solution
from ocp.solvers.nlp import kkt_residual
from ocp.transcription.phases.transcribe_phases import TranscribedPhases, transcribe_phases
from ocp.transcription.transcribe import Transcribed, Transcription, transcribe
from ocp.transcription.variables.layout import join_variables
from ocp.transcription.variables.multipliers import (
    gather_multipliers,
    keep_larger,
    rescale_law_multipliers,
)


def first_order_residual(solution: Solution, transcribed: Transcribed | TranscribedPhases) -> float:
    """Return the first-order residual of a solution, by its own multipliers.

    Args:
        solution: a Solution.
        transcribed: its program again. Where parameters were found, the open program counts too.
    """
    residual = kkt_residual(transcribed.nlp, *program_variables(solution, transcribed))
    opened = _open_program(solution, transcribed.transcription)
    if opened is None:
        return residual
    return max(residual, kkt_residual(opened.nlp, *program_variables(solution, opened)))


def rebuild_program(
    solution: Solution, transcription: Transcription
) -> Transcribed | TranscribedPhases:
    """Return the program of a solution's problem, anew and by itself."""
    build: Any = transcribe_phases if solution.problem.phases else transcribe
    return build(solution.problem, transcription)


def _open_program(
    solution: Solution, transcription: Transcription
) -> Transcribed | TranscribedPhases | None:
    """Return the program of a solution whose parameters were found, as its plan states it; None if
    none was, or no plan is known."""
    plan, names = solution.plan, solution.found_parameters
    if plan is None or not names:
        return None
    opened: Any
    if plan.problem.phases:
        opened = transcribe_phases(plan.problem, transcription, free=names)
    else:
        stated = replace(plan.problem, motion=solution.problem.motion)
        opened = transcribe(stated, transcription, free=names)
    values = {each: solution.parameters[each.name] for each in opened.parameters}
    held = {each.name for each in opened.parameters} - names
    return opened.at(values, held)


def program_variables(
    solution: Solution, transcribed: Transcribed | TranscribedPhases
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variables of a `transcribed` program at a solution, and the multipliers of their
    bounds and of its rows.
    """
    if isinstance(transcribed, TranscribedPhases):
        return _phase_variables(solution, transcribed)
    nlp, reduction = transcribed.nlp, transcribed.reduction
    x = join_variables(transcribed.layout, solution.points, solution.duration, solution.lifted)
    rows = len(nlp.g_lower)
    weights = body_weight(solution.problem.tree), transcribed.layout.weight
    multipliers = gather_multipliers(
        transcribed.rows,
        rescale_law_multipliers(solution.multipliers, transcribed, *weights),
        transcribed.layout,
        rows if reduction is None else reduction.rows,
    )
    if reduction is not None:
        x, multipliers = reduction.shrink(x), reduction.gather(*multipliers)
    return x, *multipliers


def _phase_variables(
    solution: Solution, transcribed: TranscribedPhases
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variables and multipliers of a program of phases."""
    parts = zip(solution.phases.values(), transcribed.parts)
    known = [program_variables(phase, part) for phase, part in parts]
    order, starts = transcribed.layout, transcribed.row_starts
    x = transcribed.join_phases([x for x, _, _ in known])
    for asking in transcribed.links:
        if asking.strikes:
            x[order.impulses[asking.name]] = asking.variables_at(solution.impulses[asking.name])
    x_multipliers, g_multipliers = gather_multipliers(
        transcribed.link_rows, solution.multipliers, order, len(transcribed.nlp.g_lower)
    )
    for (_, own_x, own_g), part, columns, first in zip(
        known, transcribed.parts, transcribed.columns, starts
    ):
        keep_larger(x_multipliers, columns, own_x[: part.layout.parameters.start])
        g_multipliers[first : first + len(own_g)] = own_g
    return x, x_multipliers, g_multipliers
