"""Solution record from a solver's outcome: values by name, multipliers and statistics."""

from collections.abc import Iterator, Mapping, Sequence
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
from ocp.transcription.phases.transcribe_phases import TranscribedPhases
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.variables.layout import (
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
    """Return the Solution of an Outcome of a program.

    Args:
        transcribed: the program.
        outcome: what its solver returned.
        statistics: of all attempts.
        yielding: lines on rows that must be relaxed; None of a solve in a hurry, which explains
            nothing.
        whole: of a phase, the objective of the whole motion.
    """
    if isinstance(transcribed, TranscribedPhases):
        return _phases_solution(transcribed, outcome, statistics, yielding)
    if transcribed.reduction is not None:
        x, x_multipliers, g_multipliers = transcribed.reduction.spread(outcome)
        outcome = replace(outcome, x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    transcribed, values, unsound = _with_found_parameters(transcribed, outcome)
    layout, problem = transcribed.layout, transcribed.problem
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
    failed = not outcome.success and yielding is not None
    solution = Solution(
        **_shared_fields(transcribed, outcome, values, statistics, at_bounds),
        problem=replace(problem, motion=motion_at(layout, outcome.x)) if layout.moving else problem,
        points=points,
        duration=duration,
        nodes=instants_at(layout, outcome.x, layout.nodes),
        lifted=lifted,
        terms=tuple(
            (term.name, weight, float(value)) for (weight, term), value in zip(weighed, terms)
        ),
        multipliers={
            name: replace(each, s=instants_at(layout, outcome.x, each.s))
            for name, each in named.items()
        },
        explanation=(*explain(transcribed, outcome, yielding or ()), *unsound) if failed else (),
    )
    if not outcome.success or yielding is None:
        return solution
    coarse = coarseness(*transcribed.on_given_knots(outcome.x), solution, whole)
    if not coarse:
        return solution
    known = dict(solution.statistics) | {"coarse": coarse}
    return replace(solution, statistics=known, explanation=(coarse,))


def _shared_fields(
    transcribed: Transcribed | TranscribedPhases,
    outcome: Outcome,
    values: Mapping[Parameter, float],
    statistics: Mapping[str, Any],
    at_bounds: Sequence[str],
    coarse: str = "",
) -> dict[str, Any]:
    """Return the fields of a Solution that motions with phases and without have alike."""
    sought = transcribed.layout.sought
    parameters = {
        each.name: [each.unit, FOUND if each in sought else "given"]
        for each in transcribed.layout.values
    }
    found = {"coarse": coarse, "at_bounds": list(at_bounds) if outcome.success else []}
    return {
        "transcription": transcribed.transcription,
        "objective": outcome.f,
        "status": outcome.status,
        "success": outcome.success,
        "history": outcome.history,
        "parameters": {each.name: value for each, value in values.items()},
        "statistics": {**statistics, **found, **({"parameters": parameters} if parameters else {})},
    }


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
    layout = transcribed.layout
    quiet = yielding is None or not outcome.success  # the whole explains a failure
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
    lines += unsound
    if not outcome.success and yielding is not None:
        lines = [*explain(transcribed, outcome, yielding), *lines]
    return Solution(
        **_shared_fields(transcribed, outcome, values, statistics, at_bounds, coarse),
        problem=transcribed.problem,
        points=np.empty((transcribed.problem.tree.dof, 0)),
        duration=sum(phase.duration for phase in phases.values()),
        terms=tuple(
            (f"{name}{SEPARATOR}{term}", weight, value)
            for name, phase in phases.items()
            for term, weight, value in phase.terms
        ),
        multipliers=named | of_links,
        explanation=tuple(lines),
        phases=phases,
        impulses=_impulses(transcribed, outcome.x),
    )


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
        "jacobian_nonzeros": nlp.constraints.jac_sparsity(0, 0).nnz()
        if nlp.jacobian is None
        else nlp.jacobian.nnz_out(1),
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


def _hessian_nonzeros(nlp: NLP, solver: Solver) -> int | None:
    if nlp.hessian is None or solver.hessian == "lbfgs":
        return None
    return nlp.hessian(solver.hessian).nnz_out(0)
