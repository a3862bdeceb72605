"""First-order conditions of a solved program, rebuilt from its statement."""

from dataclasses import replace

import numpy as np

from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.solution.solution import Solution
from ocp.solvers.nlp import kkt_residual
from ocp.transcription.transcribe import Transcribed, join_multipliers, transcribe
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.transcription_settings import Transcription
from ocp.transcription.variables.layout import join_variables
from ocp.transcription.variables.named_multipliers import (
    gather_multipliers,
    rescale_law_multipliers,
)


def first_order_residual(solution: Solution, transcribed: Transcribed) -> float:
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


def _open_program(solution: Solution, transcription: Transcription) -> Transcribed | None:
    """Return the program of a solution whose parameters were found, as its plan states it; None if
    none was, or no plan is known."""
    plan, names = solution.plan, solution.found_parameters
    if plan is None or not names:
        return None
    stated = plan.problem
    if solution.single_phase and stated.motion is not solution.problem.motion:
        stated = replace(stated, motion=solution.problem.motion)
    known = _solved_program(solution, names) if stated is plan.problem else None
    opened = known or transcribe(stated, transcription, free=names)
    values = {each: solution.parameters[each.name] for each in opened.parameters}
    held = {each.name for each in opened.parameters} - names
    return opened.at(values, held)


def _solved_program(solution: Solution, names: frozenset[str]) -> Transcribed | None:
    """Return the program by which a plan found parameters of these names; None where it has other
    rows, or kernels that the solver's front end cannot differentiate."""
    if solution.plan.recipe is not None:
        return None
    known: Transcribed = solution.plan.transcribed
    whole = all(part.whole for part in known.parts)
    own = whole and known.transcription.kernels != "compiled" and set(known.free_names) == names
    return known if own else None


def program_variables(
    solution: Solution, transcribed: Transcribed
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variables of a `transcribed` program at a solution, and the multipliers of their
    bounds and of its rows.
    """
    parts, layout = zip(solution.parts.values(), transcribed.parts), transcribed.layout
    known = [_phase_variables(phase, part) for phase, part in parts]
    x = transcribed.join_phases([x for x, _, _ in known])
    for asking in transcribed.links:
        if asking.strikes:
            x[layout.impulses[asking.name]] = asking.variables_at(solution.impulses[asking.name])
    own = [(own_x, own_g) for _, own_x, own_g in known]
    multipliers = join_multipliers(transcribed, solution.multipliers, own)
    if transcribed.reduction is not None:
        multipliers = transcribed.reduction.gather(*multipliers)
    return transcribed.shrink(x), *multipliers


def _phase_variables(
    solution: Solution, part: TranscribedPhase
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variables of a phase, and the multipliers of their bounds and of its rows."""
    x = join_variables(part.layout, solution.points, solution.duration, solution.lifted)
    weights = body_weight(solution.problem.tree), part.layout.weight
    multipliers = gather_multipliers(
        part.rows,
        rescale_law_multipliers(solution.multipliers, part.transcription.method, *weights),
        part.layout,
        len(part.nlp.g_lower) if part.reduction is None else part.reduction.rows,
    )
    return x, *multipliers
