"""Solution record from a solver's outcome: values by name, multipliers and statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ocp.certificate.resolution_check import coarseness
from ocp.diagnosis.explain import explain
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.values.parameters import Parameter
from ocp.problem.reserved_names import PARAMETER, SEPARATOR
from ocp.solution.decisive_bounds import duration_bounds, parameter_bounds
from ocp.solution.solution import FOUND, Solution
from ocp.solvers.minimize import Outcome, Solver
from ocp.solvers.nlp import NLP
from ocp.solving.ladder import Attempts
from ocp.solving.statistics_of_solves import total_calls
from ocp.transcription.phases.transcribe import PhaseLayout, TranscribedPhases
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables.layout import (
    Layout,
    instants_at,
    motion_at,
    split_variables,
    values_at,
)
from ocp.transcription.variables.multipliers import name_multipliers, rescale_law_multipliers

Program = TypeVar("Program", Transcribed, TranscribedPhases)


def solution_of(
    transcribed: Transcribed | TranscribedPhases,
    outcome: Outcome,
    statistics: dict[str, Any],
    yielding: Sequence[str] | None,
    whole: float = 0.0,
) -> Solution:
    """Return the Solution that an Outcome of the transcribed problem's NLP is.

    Where the lines on what must give way are None it is in a hurry, and explains nothing. Of a
    phase, the objective of the `whole` is given.
    """
    if isinstance(transcribed, TranscribedPhases):
        return _phases_solution(transcribed, outcome, statistics, yielding)
    if transcribed.reduction is not None:
        x, x_multipliers, g_multipliers = transcribed.reduction.spread(outcome)
        outcome = replace(outcome, x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    transcribed, values, unsound = _with_found_parameters(transcribed, outcome)
    layout, problem = transcribed.layout, transcribed.problem
    looked = outcome.success and yielding is not None
    points, duration, lifted = split_variables(layout, outcome.x)
    at_bounds = [
        *duration_bounds(problem.duration, duration),
        *parameter_bounds(layout.sought, values),
    ]
    terms = np.array(transcribed.terms(outcome.x)).ravel()
    weighed = problem.objective.terms
    named = name_multipliers(
        transcribed.rows,
        transcribed.bound_owners,
        transcribed.binding,
        outcome.x_multipliers,
        outcome.g_multipliers,
    )
    named = rescale_law_multipliers(named, transcribed, layout.weight, body_weight(problem.tree))
    solution = Solution(
        problem=replace(problem, motion=motion_at(layout, outcome.x)) if layout.moving else problem,
        transcription=transcribed.transcription,
        points=points,
        duration=duration,
        nodes=instants_at(layout, outcome.x, layout.nodes),
        lifted=lifted,
        objective=outcome.f,
        status=outcome.status,
        terms=tuple(
            (term.name, weight, float(value)) for (weight, term), value in zip(weighed, terms)
        ),
        success=outcome.success,
        parameters={each.name: value for each, value in values.items()},
        statistics=statistics
        | {"coarse": "", "at_bounds": at_bounds if outcome.success else []}
        | _parameter_statistics(layout),
        history=outcome.history,
        multipliers={
            name: replace(each, s=instants_at(layout, outcome.x, each.s))
            for name, each in named.items()
        },
        explanation=()
        if outcome.success or yielding is None
        else (*explain(transcribed, outcome, yielding), *unsound),
    )
    coarse = coarseness(*transcribed.on_given_knots(outcome.x), solution, whole) if looked else ""
    if not coarse:
        return solution
    said = dict(solution.statistics) | {"coarse": coarse}
    return replace(solution, statistics=said, explanation=(coarse,))


def _with_found_parameters(
    transcribed: Program, outcome: Outcome
) -> tuple[Program, dict[Parameter, float], tuple[str, ...]]:
    """Return the program with the parameters that an outcome has, their values, and lines on where
    these cannot be."""
    layout = transcribed.layout
    reached = values_at(layout, outcome.x)  # a solver may relax bounds a little
    values = {each: min(max(value, each.lower), each.upper) for each, value in reached.items()}
    try:
        return transcribed.at(values, layout.held_names), values, ()
    except ValueError as error:  # on its way a solver may pass through what cannot be
        if outcome.success:
            raise
        reason = f"parameters are those of the start, since it ended where {error}"
        return transcribed, dict(layout.values), (reason,)


def _phases_solution(
    transcribed: TranscribedPhases,
    outcome: Outcome,
    statistics: dict[str, Any],
    yielding: Sequence[str] | None,
) -> Solution:
    """Return the Solution of a problem of phases, each of which is a Solution too."""
    transcribed, values, unsound = _with_found_parameters(transcribed, outcome)
    layout, hurried = transcribed.layout, yielding is None
    quiet = hurried or not outcome.success  # of what failed all is said of the whole
    shares = zip(transcribed.names, transcribed.parts, _phase_outcomes(transcribed, outcome))
    phases = {
        name: _without_parameter_multipliers(
            solution_of(part, own, statistics, None if quiet else (), abs(outcome.f))
        )
        for name, part, own in shares
    }
    named = {
        f"{name}{SEPARATOR}{what}": each
        for name, phase in phases.items()
        for what, each in phase.multipliers.items()
    }
    of_links = name_multipliers(
        transcribed.link_rows,
        transcribed.parameter_bound_owners,
        np.full((2, layout.size), -1),
        outcome.x_multipliers,
        outcome.g_multipliers,
    )
    lines = [
        f"phase {name!r}: {line}" for name, phase in phases.items() for line in phase.explanation
    ]
    coarse = "; ".join(lines) if outcome.success else ""
    at_bounds = [
        *(
            f"phase {name!r}: {line}"
            for name, phase in phases.items()
            for line in duration_bounds(phase.problem.duration, phase.duration)
        ),
        *parameter_bounds(layout.sought, values),
    ]
    return Solution(
        problem=transcribed.problem,
        transcription=transcribed.transcription,
        points=np.empty((transcribed.problem.tree.dof, 0)),
        duration=sum(phase.duration for phase in phases.values()),
        objective=outcome.f,
        terms=tuple(
            (f"{name}{SEPARATOR}{term}", weight, value)
            for name, phase in phases.items()
            for term, weight, value in phase.terms
        ),
        status=outcome.status,
        success=outcome.success,
        multipliers=named | of_links,
        statistics=statistics
        | {"coarse": coarse, "at_bounds": at_bounds if outcome.success else []}
        | _parameter_statistics(layout),
        history=outcome.history,
        explanation=_explanation(transcribed, outcome, yielding, (*lines, *unsound)),
        parameters={each.name: value for each, value in values.items()},
        phases=phases,
        impulses=_impulses(transcribed, outcome.x),
    )


def _explanation(
    transcribed: TranscribedPhases,
    outcome: Outcome,
    yielding: Sequence[str] | None,
    lines: Sequence[str],
) -> tuple[str, ...]:
    """Return why a solve of phases failed, and the `lines` that its phases say."""
    if outcome.success or yielding is None:
        return tuple(lines)
    return (*explain(transcribed, outcome, yielding), *lines)


def _without_parameter_multipliers(phase: Solution) -> Solution:
    """Return a phase without the multipliers of parameters' bounds, which are of the whole."""
    of_parameters = {PARAMETER.format(name) for name in phase.parameters}
    own = {name: each for name, each in phase.multipliers.items() if name not in of_parameters}
    return replace(phase, multipliers=own)


def _phase_outcomes(transcribed: TranscribedPhases, outcome: Outcome) -> Iterator[Outcome]:
    """Yield the part of an outcome that is each phase's; bounds of parameters are of the whole."""
    starts = transcribed.row_starts
    for part, columns, first, last in zip(
        transcribed.parts, transcribed.columns, starts, starts[1:]
    ):
        x, x_multipliers = outcome.x[columns], outcome.x_multipliers[columns]
        x_multipliers[part.layout.parameters] = 0.0
        yield replace(
            outcome,
            x=x,
            f=float(part.nlp.objective(x)),
            g=outcome.g[first:last],
            x_multipliers=x_multipliers,
            g_multipliers=outcome.g_multipliers[first:last],
            history=(),
        )


def _impulses(transcribed: TranscribedPhases, x: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Return the impulses {transition: {point: (3,) N s}} of variables x."""
    return {
        asking.name: asking.impulses_at(x[transcribed.layout.impulses[asking.name]])
        for asking in transcribed.links
        if asking.strikes
    }


def _parameter_statistics(layout: Layout | PhaseLayout) -> dict[str, Any]:
    """Return of every parameter {name: [unit, whether given or found]}; nothing without any."""
    if not layout.values:
        return {}
    sought = layout.sought
    ways = {each.name: [each.unit, FOUND if each in sought else "given"] for each in layout.values}
    return {"parameters": ways}


def statistics_of(
    transcribed: Transcribed | TranscribedPhases, climbed: Attempts
) -> dict[str, Any]:
    """Return sizes, settings, and what all trials together took.

    What only one has is that of the best.
    """
    nlp, last, trials = transcribed.nlp, climbed.best, climbed.trials
    stages = [stage for trial in trials for stage in trial.stages]
    return {
        "plugin": last.solver.name,
        "hessian": last.solver.hessian,
        "options": dict(last.solver.options),
        "variables": len(nlp.lower),
        "constraints": len(nlp.g_lower),
        "jacobian_nonzeros": _jacobian_nonzeros(nlp),
        "hessian_nonzeros": _hessian_nonzeros(nlp, last.solver),
        "iterations": sum(stage.iterations for stage in stages),
        "stages": [stage.status for stage in last.stages],
        "attempts": [trial.outcome.status for trial in trials],
        "build_seconds": sum(stage.build_seconds for stage in stages),
        "solve_seconds": sum(stage.solve_seconds for stage in stages),
        "solve_cpu_seconds": sum(stage.solve_cpu_seconds for stage in stages),
        "warm_start": last.warm,
        "kernels": transcribed.kernels(),
        "calls": total_calls(stage.calls for stage in stages),
    }


def _jacobian_nonzeros(nlp: NLP) -> int:
    if nlp.jacobian is not None:
        return nlp.jacobian.nnz_out(1)
    return nlp.constraints.jac_sparsity(0, 0).nnz()


def _hessian_nonzeros(nlp: NLP, solver: Solver) -> int | None:
    if nlp.hessian is None or solver.hessian == "lbfgs":
        return None
    return nlp.hessian(solver.hessian).nnz_out(0)
