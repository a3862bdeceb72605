"""Weights of an objective's terms identified from motions: inverse optimal control.

Bilevel: the motions that are optimal with the weights come nearest to the measured ones (Mombaur,
Truong & Laumond 2010). The logarithms of the weights take Gauss-Newton steps, damped where they
fail, with derivatives of the optima from their first-order conditions, the active set as it is at
each of them; the search starts at weights that the first-order conditions of the motions alone
give.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ocp.estimation.objective_weights.inverse_optimality import Stationarity
from ocp.estimation.objective_weights.measured_curves import measured_curves
from ocp.estimation.objective_weights.objective_fit import ObjectiveFit, similar_pairs
from ocp.estimation.objective_weights.weight_search import (
    FACTOR,
    OptimalMotion,
    Trial,
    WeightSearch,
)
from ocp.estimation.recordings import Recording
from ocp.mechanics.values.parameters import Number, Parameter, is_open
from ocp.mechanics.values.validation import check_records
from ocp.problem.objectives import Objective
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers.least_squares import LeastSquaresResult, information
from ocp.solvers.minimize import Solver
from ocp.solving.plan import prepare
from ocp.solving.starts.warm_start import Guesses
from ocp.spelling import suggestion
from ocp.transcription.transcription_settings import Transcription

SAMPLES = 51  # of a Solution that stands for a recording
BLIND = 1e-6  # of the largest singular value of the sensitivity, which is known to about 1e-8


def identify_objective(
    problem: Problem,
    motions: Sequence[Recording | Solution],
    terms: Iterable[str] = (),
    *,
    values: Sequence[Mapping[str, float]] = (),
    guess: Guesses = None,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    iterations: int = 30,
    validate: bool = False,
    secants: bool = True,
) -> ObjectiveFit:
    """Return the weights with which optimal motions are nearest to measured or computed ones.

        minimise over w the sum of ((measured - curve of argmin J(w)) / deviation)^2

    Standard errors are those of (S'S)^-1, S the sensitivity of the residuals to the logarithms of
    the weights: derivatives, or, where the active set changes within these errors, differences of
    motions over one of them. Without deviations the
    curves count by their sizes, and the noise is that of the residuals.

    Args:
        problem: a Problem without phases, whose objective has all terms, by weights that are not 0.
        motions: Recordings of coordinates (deviation `encoder`) or outputs, from the start of the
            motion to its end, or Solutions.
        terms: names of those whose weights are sought; others keep theirs, which gives the scale.
            All but the first by default; if all are named, the first keeps its weight.
        values: {name: number} of the problem's parameters for each motion.
        guess: start of every first solve.
        transcription, solver: as in `ocp.prepare`.
        iterations: of the search.
        validate: whether to find the weights again without each motion in turn.
        secants: whether to take such differences, at two solves of each motion for every term.

    Raises:
        ValueError: naming the term, the motion or the parameter; and where a problem has no strict
            optimum at the start of the search.
    """
    refuse_phases("identify_objective", problem, "state it without phases")
    check_records("motions", motions, Recording, Solution)
    sought = _sought_terms(problem, terms)
    if validate and len(motions) < 2:
        raise ValueError("validate: expected two motions or more")
    given = [dict(each) for each in values] or [{} for _ in motions]
    if len(given) != len(motions):
        raise ValueError(f"values: expected {len(motions)}, one for each motion, got {len(given)}")
    opened = _with_open_weights(problem, sought)
    curves, complete = measured_curves(opened, [_recording(each) for each in motions])
    plan = prepare(opened, transcription, solver)
    trials = tuple(
        Trial(
            plan=plan,
            names=sought,
            values=numbers,
            curves=one,
            whole=motion if isinstance(motion, Solution) else None,
            guess=guess,
        )
        for motion, numbers, one in zip(motions, given, curves)
    )
    search = WeightSearch(trials=trials, complete=complete, iterations=iterations)
    before, _ = search.stack(np.zeros(len(sought)))
    inverse = search.by_conditions()
    least = search.run(search.better_start(inverse))
    least, doubts = _settle_across_sets(search, least, secants=secants)
    return _fit(problem, search, before, inverse, least, doubts, validate=validate)


def _settle_across_sets(
    search: WeightSearch, least: LeastSquaresResult, *, secants: bool
) -> tuple[LeastSquaresResult, tuple[str, ...]]:
    """Return least squares that hold across changes of the active set, and lines on what makes
    errors doubtful."""
    motions = [trial.at(least.x) for trial in search.trials]
    known = information(least.slopes, np.ones(len(least.x)), least.bound, BLIND)
    if len(known.blind) or least.bound.any():
        return least, _doubts(motions)
    size = 1.0 if search.complete else np.sqrt(np.mean(least.residuals**2))
    errors = size * np.sqrt(np.diag(known.covariance))
    if all((each.reach >= errors).all() for each in motions):
        return least, ()
    if secants and search.complete:
        try:
            return search.settle(least), ()
        except ValueError as error:
            return least, (f"no differences of motions across changes of active sets: {error}",)
    return least, ("active sets change within the standard errors, which hold to first order",)


def _sought_terms(problem: Problem, terms: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the terms whose weights are sought; raise ValueError for others."""
    known = [term.name for _, term in problem.objective.terms]
    asked = (terms,) if isinstance(terms, str) else tuple(terms)
    for name in asked:
        if name not in known:
            raise ValueError(
                f"terms: the objective has no term {name!r}{suggestion(name, known)}; it has "
                f"{', '.join(known)}"
            )
    for weight, term in problem.objective.terms:
        if known.count(term.name) > 1:
            raise ValueError(f"objective: two terms have the name {term.name!r}")
        if not is_open(weight) and not weight:
            raise ValueError(f"objective {term.name!r}: expected a weight other than 0 to begin at")
    chosen = tuple(name for name in known if not asked or name in asked)
    chosen = chosen[1:] if len(chosen) == len(known) else chosen
    if not chosen:
        raise ValueError("objective: expected two terms or more, as its scale has no influence")
    return chosen


def _with_open_weights(problem: Problem, sought: Sequence[str]) -> Problem:
    """Return a problem whose weights sought are theirs times a parameter each."""
    factors = {name: Parameter(FACTOR.format(k), 1.0, lower=0.0) for k, name in enumerate(sought)}
    terms = tuple(
        (weight * factors[term.name] if term.name in factors else weight, term)
        for weight, term in problem.objective.terms
    )
    return replace(problem, objective=Objective(terms=terms))


def _recording(motion: Recording | Solution) -> Recording:
    """Return a motion as a Recording; that of a Solution is of exact coordinates."""
    if isinstance(motion, Recording):
        return motion
    t = motion.times(SAMPLES)
    return Recording(t=t, q=motion.q(t), name="solution")


def _fit(
    problem: Problem,
    search: WeightSearch,
    before: np.ndarray,
    inverse: Stationarity | None,
    least: LeastSquaresResult,
    doubts: tuple[str, ...],
    *,
    validate: bool,
) -> ObjectiveFit:
    """Return the ObjectiveFit that least squares found."""
    names, trials = search.names, search.trials
    states = [trial.at(least.x) for trial in trials]
    known = information(least.slopes, np.ones(len(names)), least.bound, BLIND)
    left = max(search.count - (len(names) - len(known.blind) - int(least.bound.sum())), 1.0)
    misfit = float(least.residuals @ least.residuals) / left
    covariance = known.covariance if search.complete else misfit * known.covariance
    seen = [known.sees(row) for row in np.eye(len(names))]
    errors = np.where(seen, np.sqrt(np.diag(covariance)), np.inf)
    own = {term.name: weight for weight, term in problem.objective.terms}
    found = dict(zip(names, np.exp(least.x).tolist()))
    weights = {name: weight * found.get(name, 1.0) for name, weight in own.items()}
    ends = np.cumsum([len(each.residuals) for each in states])[:-1]
    held = _held_out(search, least.x) if validate else (np.empty(0), np.empty(0))
    terms = tuple((weights[term.name], term) for _, term in problem.objective.terms)
    return ObjectiveFit(
        problem=replace(problem, objective=Objective(terms=terms)),
        weights=MappingProxyType(weights),
        terms=names,
        errors=MappingProxyType(dict(zip(names, errors.tolist()))),
        covariance=covariance,
        slopes=tuple(np.split(least.slopes, ends)),
        unidentifiable=tuple(_combination_words(names, row) for row in known.blind),
        alike=similar_pairs(names, covariance),
        at_bounds=tuple(name for name, leans in zip(names, least.bound) if leans),
        inverse=None if inverse is None else MappingProxyType(_weights(own, names, inverse)),
        stationarity=None if inverse is None else inverse.residual,
        misfit=misfit if search.complete else None,
        rms=_roots(np.split(least.residuals, ends)),
        rms_before=_roots(np.split(before, ends)),
        held_out=held[1],
        held_out_before=held[0],
        solutions=tuple(each.solution for each in states),
        changes=tuple(trial.changes(state) for trial, state in zip(trials, states)),
        status=least.status,
        success=least.success,
        iterations=least.iterations,
        explanation=doubts,
    )


def _weights(
    own: Mapping[str, Number], names: Sequence[str], inverse: Stationarity
) -> dict[str, Number]:
    """Return {term: weight} by the first-order conditions."""
    return {name: own[name] * factor for name, factor in zip(names, inverse.weights.tolist())}


def _roots(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([np.sqrt(np.mean(each**2)) for each in parts])


def _combination_words(names: Sequence[str], row: np.ndarray) -> str:
    """Return in words a change of weights that changes no motion."""
    parts = [(name, change) for name, change in zip(names, row) if change]
    if len(parts) == 1:
        return f"{parts[0][0]} has no influence"
    powers = " ".join(f"{name}^{change:+.3g}" for name, change in parts)
    return f"weights that all change by {powers} change no motion"


def _doubts(states: Sequence[OptimalMotion]) -> tuple[str, ...]:
    """Return lines on what makes standard errors doubtful."""
    weak = dict.fromkeys(name for state in states for name in state.weak)
    if not weak:
        return ()
    return (f"about to become active or not: {', '.join(weak)}; errors hold to one side",)


def _held_out(search: WeightSearch, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the root mean squares (trials,) of each trial's residuals at the weights of the
    statement, and at those found from the others."""
    before, after = [], []
    for k, trial in enumerate(search.trials):
        others = tuple(each for j, each in enumerate(search.trials) if j != k)
        least = replace(search, trials=others).run(logs)
        after.append(trial.at(least.x).residuals)
        before.append(trial.at(np.zeros(len(logs))).residuals)
    return _roots(before), _roots(after)
