"""Continuation of free knots: fixed for a first motion, then released in stages.

Long steps of the knots invalidate the motion they were computed from. So every stage limits the
change of the segments' widths by a factor. The factor grows where a stage succeeds and shrinks
where it fails, like a trust region (Conn, Gould & Toint 2000, chapter 6), until a stage ends with
no width at its limit.
"""

from dataclasses import fields, replace

import numpy as np

from ocp.solvers.budget import Budget, Start, Watch, spend, with_stage
from ocp.solvers.minimize import CUT_SHORT, INTERRUPTED, Outcome, Solver
from ocp.solvers.nlp import NLP, Iterate, own_residual, violation
from ocp.solvers.progress import FEASIBLE
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase

STAGE = "knots move"
UNSETTLED = "Knots_Unsettled"
REACH, LEAST, MOST = 2.0, 1.02, 4.0  # times, and parts of, its width a segment may have
STAGES, ITERATIONS = 40, 60  # at most, the latter in each
MARGIN = 1.01  # a width so near to the end of its reach is at it
REST = 1e-4  # first-order residual of knots at rest, over max(1, |objective|)
GAIN = 1e-9  # relative: a stage that gains less gains nothing


def hold_knots(transcribed: Transcribed, part: TranscribedPhase, x: np.ndarray) -> Transcribed:
    """Return the program of a phase with its free knots held where they are in x."""
    widths = x[part.layout.widths]
    return replace(transcribed, nlp=_with_widths(part, widths, widths))


def move_knots(
    part: TranscribedPhase,
    solver: Solver,
    first: Outcome,
    grant: Budget,
    watch: Watch | None,
) -> tuple[tuple[Outcome, ...], Budget]:
    """Return the Outcomes of the stages in which free knots of a phase move from a `first` motion
    on, and what they left of the budget; the last one is what came of it.

    If they do not come to rest, that is no success, and its motion the best that was found.
    """
    nlp, best, reach = part.nlp, first, REACH
    start = _start(_without_width_multipliers(part, first))
    stages: list[Outcome] = []
    while reach > LEAST and len(stages) < STAGES and not grant.is_empty:
        lower, upper = _width_limits(part, start.x, reach)
        program = _with_widths(part, lower, upper)
        shown = with_stage(watch, STAGE)
        outcome, grant = spend(program, solver, start, grant, shown, most=ITERATIONS)
        stages.append(outcome)
        inside = outcome.success and _inside(part, outcome.x, lower, upper)
        if inside and _first_order(nlp, outcome):
            return tuple(stages), grant
        if outcome.status == INTERRUPTED:
            break
        if outcome.success or _better(nlp, outcome, best):
            best = outcome
            again = _start(_without_width_multipliers(part, outcome) if inside else outcome)
            start = again if outcome.success else replace(start, x=outcome.x)
        reach = min(reach**2, MOST) if outcome.success else np.sqrt(reach)
    last = stages[-1] if stages else first
    status = UNSETTLED if last.success or last.status == CUT_SHORT else last.status
    return (*stages, _failed_outcome(best, status)), grant


def _failed_outcome(best: Outcome, status: str) -> Outcome:
    """Return the best Outcome of stages that failed, which took nothing beside them."""
    ended = replace(best, status=status, success=False)
    return replace(
        ended,
        iterations=0,
        calls={},
        build_seconds=0.0,
        solve_seconds=0.0,
        solve_cpu_seconds=0.0,
    )


def _start(outcome: Outcome) -> Start:
    """Return the Start from what a stage came to."""
    multipliers = {
        "x_multipliers": outcome.x_multipliers,
        "g_multipliers": outcome.g_multipliers,
    }
    return Start(x=outcome.x, multipliers=multipliers)


def _without_width_multipliers(part: TranscribedPhase, outcome: Outcome) -> Outcome:
    """Return an Outcome without the multipliers of what held its widths."""
    x_multipliers = outcome.x_multipliers.copy()
    x_multipliers[part.layout.widths] = 0.0
    return replace(outcome, x_multipliers=x_multipliers)


def _width_limits(
    part: TranscribedPhase, x: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest widths of a stage that begins at x."""
    widths = x[part.layout.widths]
    return np.maximum(widths / reach, _least(part)), widths * reach


def _least(part: TranscribedPhase) -> np.ndarray:
    return part.nlp.lower[part.layout.widths]


def _with_widths(part: TranscribedPhase, lower: np.ndarray, upper: np.ndarray) -> NLP:
    """Return the program with other bounds of its widths."""
    nlp, columns = part.nlp, part.layout.widths
    bounds = np.array([nlp.lower, nlp.upper])
    bounds[:, columns] = lower, upper
    return replace(nlp, lower=bounds[0], upper=bounds[1])


def _inside(part: TranscribedPhase, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Tell whether no width of x is at an end of its reach that is not the spacing."""
    widths, least = x[part.layout.widths], _least(part)
    below = (widths < lower * MARGIN) & (lower > least * MARGIN)
    return not (below | (widths > upper / MARGIN)).any()


def _first_order(nlp: NLP, outcome: Outcome) -> bool:
    """Tell whether the first-order conditions of the whole program hold, which a solver may
    overlook that starts with multipliers of former limits.
    """
    given = {entry.name: getattr(outcome, entry.name) for entry in fields(Iterate)}
    return own_residual(nlp, Iterate(**given)) <= REST * max(1.0, abs(outcome.f))


def _better(nlp: NLP, outcome: Outcome, best: Outcome) -> bool:
    """Tell whether a stage that was cut short found a better motion that meets all."""
    beyond = np.max(violation(outcome.g, nlp.g_lower, nlp.g_upper), initial=0.0)
    return bool(beyond <= FEASIBLE and outcome.f < best.f - GAIN * max(1.0, abs(best.f)))
