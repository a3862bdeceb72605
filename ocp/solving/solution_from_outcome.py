"""Solution record from a solver's outcome: values by name, multipliers and statistics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ocp.certificate.resolution_check import coarseness
from ocp.diagnosis.explain import explain
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.values.parameters import Parameter, evaluate, nominal, parameters_of
from ocp.problem.parameter_requirements import requirements
from ocp.problem.reserved_names import DURATION, PARAMETER, name_in_phase, phase_label
from ocp.problem.statement import Problem
from ocp.solution.solution import FOUND, Solution, Statistics
from ocp.solvers.minimize import Outcome
from ocp.solvers.nlp import Option, graph_of
from ocp.solving.solver_attempts import Attempts
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import instants_at, motion_at, split_variables, values_at
from ocp.transcription.variables.named_multipliers import (
    Multipliers,
    name_multipliers,
    rescale_law_multipliers,
)

SECONDS = ("build_seconds", "solve_seconds", "solve_cpu_seconds", "total_seconds")
NEAR = 1e-6  # of the range, or of the bound where the range has no end: nearer is at the bound
ADDED = ("iterations", *SECONDS)


def solution_of(
    transcribed: Transcribed,
    outcome: Outcome,
    statistics: Statistics,
    yielding: Sequence[str] | None,
    *,
    check_mesh: bool = True,
) -> Solution:
    """Return the Solution of an Outcome of a program; of a motion of phases each is one too.

    Args:
        transcribed: the program.
        outcome: what its solver returned.
        statistics: of all attempts.
        yielding: lines on rows that must be relaxed; None of a solve in a hurry, which explains
            nothing.
        check_mesh: whether to tell a mesh that is too coarse.
    """
    outcome = transcribed.spread(outcome)
    values: dict[Parameter, float] = {}
    unsound: tuple[str, ...] = ()
    if transcribed.layout.values:
        transcribed, values, unsound = _with_found_parameters(transcribed, outcome)
    layout = transcribed.layout
    judged = check_mesh and outcome.success and yielding is not None
    shares = zip(transcribed.names, transcribed.parts, _phase_outcomes(transcribed, outcome))
    motions = {
        name: _phase_solution(part, own, values, statistics, abs(outcome.f) if judged else None)
        for name, part, own in shares
    }
    if not transcribed.only_part:
        motions = {name: _without_parameter_multipliers(each) for name, each in motions.items()}
    lines = [
        f"{phase_label(name)}{line}" for name, each in motions.items() for line in each.explanation
    ]
    durations = [
        f"{phase_label(name)}{line}"
        for name, each in motions.items()
        for line in _bounds_reached(DURATION, each.duration, each.problem.duration, "s")
    ]
    of_parameters: list[str] = []
    if layout.sought:
        of_parameters += parameter_bounds(layout.sought, values)
        for each in transcribed.statement.parts.values():
            of_parameters += soundness_bounds(each, layout.sought, values)
    at_bounds = [*durations, *dict.fromkeys(of_parameters)]
    coarse = "; ".join(lines)
    if not outcome.success:
        reasons = () if yielding is None else explain(transcribed, outcome, yielding)
        lines = [*reasons, *unsound]
    whole = {
        **_shared_fields(transcribed, outcome, values, statistics, at_bounds, coarse),
        "explanation": tuple(lines),
    }
    if transcribed.statement.single_phase:
        return replace(motions[""], **whole)
    multipliers = {
        name_in_phase(name, what): own
        for name, each in motions.items()
        for what, own in each.multipliers.items()
    }
    return Solution(
        **whole,
        terms=tuple(
            (name_in_phase(name, term), weight, value)
            for name, each in motions.items()
            for term, weight, value in each.terms
        ),
        multipliers=multipliers | _link_multipliers(transcribed, outcome),
        problem=transcribed.problem,
        points=np.empty((transcribed.problem.tree.dof, 0)),
        duration=sum(each.duration for each in motions.values()),
        phases=motions,
        impulses=_impulses(transcribed, outcome.x),
    )


def _phase_solution(
    part: TranscribedPhase,
    outcome: Outcome,
    values: Mapping[Parameter, float],
    statistics: Statistics,
    whole: float | None,
) -> Solution:
    """Return the Solution of a phase's share of an outcome; its fineness is judged beside the
    objective of the `whole` motion, unless that is None."""
    layout, problem = part.layout, part.problem
    points, duration, lifted = split_variables(layout, outcome.x)
    values = {each: values[each] for each in layout.values}
    at_bounds = (
        *_bounds_reached(DURATION, duration, problem.duration, "s"),
        *parameter_bounds(layout.sought, values),
    )
    terms = np.array(part.terms(outcome.x)).ravel()
    named = name_multipliers(
        part.rows, part.bound_owners, part.binding, outcome.x_multipliers, outcome.g_multipliers
    )
    if (
        layout.own_weight is not None
    ):  # a plan's law counts in weights of its parameters' own values
        method, weight = part.transcription.method, body_weight(problem.tree)
        named = rescale_law_multipliers(named, method, layout.own_weight, weight)
    solution = Solution(
        **_shared_fields(part, outcome, values, statistics, at_bounds),
        problem=replace(problem, motion=motion_at(layout, outcome.x)) if layout.moving else problem,
        points=points,
        duration=duration,
        nodes=instants_at(layout, outcome.x, layout.nodes),
        lifted=lifted,
        terms=tuple(
            (term.name, float(weight), float(value))
            for (weight, term), value in zip(problem.objective.terms, terms)
        ),
        multipliers={
            name: replace(each, s=instants_at(layout, outcome.x, each.s))
            for name, each in named.items()
        },
    )
    if whole is None:
        return solution
    coarse = coarseness(*part.on_given_knots(outcome.x), solution, whole)
    if not coarse:
        return solution
    known = dict(solution.statistics) | {"coarse": coarse}
    return replace(solution, statistics=known, explanation=(coarse,))


def _shared_fields(
    transcribed: Transcribed | TranscribedPhase,
    outcome: Outcome,
    values: Mapping[Parameter, float],
    statistics: Statistics,
    at_bounds: Sequence[str],
    coarse: str = "",
) -> dict[str, Option]:
    """Return the fields of a Solution that a motion and its phases have alike."""
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
    transcribed: Transcribed, outcome: Outcome
) -> tuple[Transcribed, dict[Parameter, float], tuple[str, ...]]:
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


def _without_parameter_multipliers(phase: Solution) -> Solution:
    """Return a phase without the multipliers of parameters' bounds, which are of the whole."""
    of_parameters = {PARAMETER.format(name) for name in phase.parameters}
    own = {name: each for name, each in phase.multipliers.items() if name not in of_parameters}
    return replace(phase, multipliers=own)


def _phase_outcomes(transcribed: Transcribed, outcome: Outcome) -> Iterator[Outcome]:
    """Yield the part of an outcome that is each phase's; bounds of parameters are of the whole."""
    if transcribed.only_part:
        yield outcome
        return
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


def _link_multipliers(transcribed: Transcribed, outcome: Outcome) -> dict[str, Multipliers]:
    """Return the multipliers of links, and of the parameters that all phases share, by name."""
    return name_multipliers(
        transcribed.link_rows,
        transcribed.parameter_bound_owners,
        np.full((2, transcribed.layout.size), -1),
        outcome.x_multipliers,
        outcome.g_multipliers,
    )


def _impulses(transcribed: Transcribed, x: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Return the impulses {transition: {point: (3,) N s}} of variables x."""
    return {
        asking.name: asking.impulses_at(x[transcribed.layout.impulses[asking.name]])
        for asking in transcribed.links
        if asking.strikes
    }


def statistics_of(transcribed: Transcribed, climbed: Attempts) -> dict[str, Option]:
    """Return sizes, settings, and what all trials together took.

    What only one has is that of the best.
    """
    nlp, last, trials = transcribed.nlp, climbed.best, climbed.trials
    stages = [stage for trial in trials for stage in trial.stages]
    return {
        "plugin": last.solver.name,
        "choice": climbed.reason,
        "hessian": last.solver.hessian,
        "options": dict(last.solver.options),
        "variables": len(nlp.lower),
        "constraints": len(nlp.g_lower),
        "jacobian_nonzeros": graph_of(nlp.constraints).jac_sparsity(0, 0).nnz()
        if nlp.jacobian is None
        else nlp.jacobian.nnz_out(1),
        "hessian_nonzeros": None
        if nlp.hessian is None or last.solver.hessian == "lbfgs"
        else nlp.hessian(last.solver.hessian).nnz_out(0),
        "iterations": sum(stage.iterations for stage in stages),
        "stages": [stage.status for stage in last.stages],
        "attempts": [trial.outcome.status for trial in trials],
        "build_seconds": sum(stage.build_seconds for stage in stages),
        "solve_seconds": sum(stage.solve_seconds for stage in stages),
        "solve_cpu_seconds": sum(stage.solve_cpu_seconds for stage in stages),
        "warm_start": last.warm,
        "kernels": transcribed.kernels(),
        "calls": _total_calls(stage.calls for stage in stages),
    }


def total_statistics(every: Sequence[Statistics]) -> dict[str, Option]:
    """Return the total iterations, calls and seconds of several solves' statistics."""
    sums = {name: sum(each[name] for each in every) for name in ADDED}
    return sums | {"calls": _total_calls(each["calls"] for each in every)}


def _total_calls(every: Iterable[Mapping[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Return {function: [times called, seconds]} of several solves or stages, added up."""
    sums: dict[str, list[float]] = {}
    for calls in every:
        for name, (count, seconds) in calls.items():
            before = sums.get(name, [0, 0.0])
            sums[name] = [before[0] + count, before[1] + seconds]
    return sums


def parameter_bounds(
    sought: Iterable[Parameter], values: Mapping[Parameter, float]
) -> Iterator[str]:
    """Yield in words at which of their bounds parameters lie that were sought."""
    for each in sought:
        name = f"parameter {each.name}"
        yield from _bounds_reached(name, values[each], (each.lower, each.upper), each.unit)


def soundness_bounds(
    problem: Problem, sought: Iterable[Parameter], values: Mapping[Parameter, float]
) -> Iterator[str]:
    """Yield in words what parameters that were sought make as small, or as large, as it can be.

    Those are the requirements that a link, a joint or a load has by nature, as a mass of at least
    0, near by their size at the parameters' own values.
    """
    sought = set(sought)
    for name, expression, lower, upper, unit in requirements(problem):
        if sought.intersection(parameters_of(expression)):
            reached = float(evaluate(expression, values))
            size = abs(float(nominal(expression))) or 1.0
            yield from _bounds_reached(name, reached, (lower, upper), unit, size)


def _bounds_reached(
    name: str, value: float, bounds: tuple[float, float], unit: str, least: float = 1.0
) -> Iterator[str]:
    """Yield in words at which of its bounds a value lies, nothing of a given one; of a range
    without an end, relative to the bound or to the `least` size."""
    lower, upper = bounds
    if lower == upper:
        return
    for side, bound in zip(("lower", "upper"), bounds):
        size = upper - lower if np.isfinite(upper - lower) else max(least, abs(bound))
        if np.isfinite(bound) and abs(value - bound) <= NEAR * size:
            amount = f"{bound:.6g} {unit}".rstrip()
            yield f"{name} is at its {side} bound, {amount}, which decides the answer"
