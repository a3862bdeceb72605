"""Parameter identification: the problem's outputs fitted to recorded ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import casadi as ca
import numpy as np

from ocp.dynamics import Formulation, formulation_of
from ocp.estimation.output_residuals import (
    Trials,
    all_parameters,
    estimate_deviations,
    output_ranges,
    output_residuals,
    recorded_motion,
    sample_count,
    trials,
)
from ocp.estimation.recordings import Recording
from ocp.mechanics.values.parameters import Parameter, evaluate, matrix, parameters_of, with_values
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_records
from ocp.pickling import portable
from ocp.problem.parameter_requirements import requirements
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solvers.least_squares import Information, LeastSquaresResult, information, least_squares
from ocp.solving.parameter_values import values_of
from ocp.transcription.kernels.parameter_outputs import output_functions

ROUNDS = 30  # of weights by the residuals
SETTLED = 1e-4  # of a deviation: a change below it ends these rounds
SLIGHT = 1e-9  # by which a requirement is not met by rounding alone
MANY = 20  # pairs of samples that autocorrelation is told of, at least
ROUNDING = 1e-6  # of the deviations' squares: residuals below it are none
ALONG = 0.3  # autocorrelation of residuals that is told of
SURPRISE = 5.0  # standard deviations of the misfit that are told of


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Fit:
    """Parameters found from recordings.

    Attributes:
        problem, parameters: the Problem and all its parameters.
        free: those that were sought.
        values: {name: number} of all parameters.
        errors: {name: standard error} of the free ones: inf if the outputs do not determine it, 0
            at a bound.
        unidentifiable: changes of parameters, alone or together, that change no output, in words.
        at_bounds: names of parameters at a bound.
        deviations: {output: (rows,)} of the noise, given or estimated, for each recording.
        misfit: mean square of the residuals over the deviations per degree of freedom, 1 where the
            problem explains the recordings; None unless all deviations are given.
        residuals: {output: (rows, N)}, measured less predicted, for each recording.
        status, success, iterations: how the search ended.
        explanation: lines on unphysical results, and on what makes the errors doubtful.
        information: that of the data about the free parameters over their `sizes`.
    """

    problem: Problem
    parameters: tuple[Parameter, ...]
    free: tuple[Parameter, ...]
    values: Mapping[str, float]
    errors: Mapping[str, float]
    unidentifiable: tuple[str, ...]
    at_bounds: tuple[str, ...]
    deviations: tuple[Mapping[str, np.ndarray], ...]
    misfit: float | None
    residuals: tuple[Mapping[str, np.ndarray], ...]
    status: str
    success: bool
    iterations: int
    explanation: tuple[str, ...]
    information: Information
    sizes: np.ndarray

    def estimate(self, expressions: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Return values (k,) and covariance (k, k) of expressions of parameters, to first order.

        The variance of one that the outputs do not determine is inf. Raises ValueError for what
        does not become numbers.
        """
        stack = ca.vec(ca.SX(matrix(expressions)))
        known = {each: self.values[each.name] for each in parameters_of(stack)}
        symbols = ca.vertcat(*(each.expression for each in self.free))
        slopes = evaluate(ca.densify(ca.jacobian(stack, symbols)), known)
        values = evaluate(stack, known)
        if not isinstance(slopes, ca.DM) or not isinstance(values, ca.DM):
            raise ValueError(f"estimate: expected expressions of parameters, got {stack}")
        gradients = np.array(slopes)
        covariance = gradients @ self.information.covariance @ gradients.T
        for row, gradient in enumerate(gradients * self.sizes):
            if not self.information.sees(gradient):
                covariance[row, row] = np.inf
        return np.array(values).ravel(), covariance

    @property
    def closed_problem(self) -> Problem:
        """The problem with these values in it.

        Raises ValueError as its records do, for one that is not physical.
        """
        return with_values(self.problem, {each: self.values[each.name] for each in self.parameters})

    def __repr__(self) -> str:
        return f"Fit({len(self.free)} parameters, {len(self.residuals)} recordings, {self.status})"

    def __str__(self) -> str:
        lines = [
            f"{each.name:<24} {self.values[each.name]:>14.6g} +- "
            f"{self.errors[each.name]:<10.2g} {each.unit}".rstrip()
            for each in self.free
        ]
        lines += [f"at its bound: {name}" for name in self.at_bounds]
        lines += [f"not identifiable: {words}" for words in self.unidentifiable]
        for name, deviations in self.deviations[0].items():
            lines.append(f"deviation of {name}: {', '.join(f'{each:.3g}' for each in deviations)}")
        if self.misfit is not None:
            lines.append(f"misfit: {self.misfit:.4g} (1 is expected)")
        lines += [f"condition: {self.information.condition:.3g}", self.status, *self.explanation]
        return "\n".join(lines)


def fit(
    problem: Problem,
    recordings: Sequence[Recording],
    *,
    free: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
    dynamics: Formulation | str = "auto",
    iterations: int = 100,
) -> Fit:
    """Return the parameters whose outputs are nearest to the recorded ones.

        minimise the sum over samples of ((measured - output) / deviation)^2

    within the parameters' bounds, by Gauss-Newton steps. Outputs are functions of the motion as it
    was measured, so noise is assumed on the outputs alone unless a recording has an `encoder`.
    Standard errors are those of (sum J' J / deviation^2)^-1: to first order, for a true problem and
    noise that is independent between rows. Unknown deviations are those of the residuals, row by
    row, in rounds (Gautier 1997).

    Args:
        problem: a Problem with outputs and parameters, without phases.
        recordings: Recordings of its outputs.
        free: names of parameters to be found, beside those that are free by definition.
        values: {name: number} at the start of the search.
        dynamics: a formulation.
        iterations: most iterations of each round.

    Raises:
        ValueError: naming the parameter, the recording or the output.
    """
    refuse_phases("fit", problem, "state what was recorded without phases")
    check_records("recordings", recordings, Recording)
    formulation = formulation_of(dynamics, problem.tree)
    data = trials(problem, formulation, tuple(recordings), free, values or {})
    return _fit_record(problem, data, *_fit_in_rounds(data, iterations))


def predict(
    problem: Problem,
    recording: Recording,
    values: Mapping[str, float] | None = None,
    *,
    outputs: Sequence[str] = (),
    dynamics: Formulation | str = "auto",
) -> dict[str, np.ndarray]:
    """Return {name: (rows, N)} of a problem's outputs along a recorded motion.

    Args:
        problem: a Problem with outputs, without phases.
        recording: the motion.
        values: {name: number} of parameters, in place of their own.
        outputs: names; by default those that were recorded, or all if none were.
        dynamics: a formulation.

    Raises:
        ValueError: naming an unknown parameter or output.
    """
    refuse_phases("predicted", problem, "state what was recorded without phases")
    names = tuple(outputs) or tuple(recording.outputs) or tuple(problem.outputs)
    seen = output_functions(problem, formulation_of(dynamics, problem.tree), names)
    known = values_of(all_parameters(problem, seen), values or {})
    numbers = np.array([known[each] for each in seen.parameters])
    rows = seen.values(recorded_motion(problem, recording), numbers)
    ends = np.cumsum([seen.sizes[name] for name in names])[:-1]
    return dict(zip(names, np.split(rows, ends)))


def _fit_in_rounds(
    data: Trials, iterations: int
) -> tuple[LeastSquaresResult, list[np.ndarray], int]:
    """Return the least squares, the deviations (m,) of each recording, and the iterations.

    Deviations that are not given are estimated in rounds; the first takes the outputs' ranges.
    """
    guess, x, count = output_ranges(data), data.first, 0
    for _ in range(ROUNDS):
        deviations = [np.where(np.isnan(known), guess, known) for known in data.known]
        weighed = partial(data.residuals, deviations=deviations)
        least = least_squares(weighed, x, data.bounds, data.sizes, iterations=iterations)
        x, count = least.x, count + least.iterations
        before, guess = guess, estimate_deviations(data, x, deviations)
        if data.complete or (np.abs(guess - before) <= SETTLED * guess).all():
            break
    return least, deviations, count


def _fit_record(
    problem: Problem,
    data: Trials,
    least: LeastSquaresResult,
    deviations: list[np.ndarray],
    count: int,
) -> Fit:
    """Return the Fit that least squares found."""
    names = [each.name for each in data.free]
    known = information(least.slopes, data.sizes, least.bound)
    sees = [known.sees(row) for row in np.eye(len(names))]
    errors = np.where(sees, np.sqrt(np.diag(known.covariance)), np.inf)
    residuals = output_residuals(data, least.x, deviations)
    left = sample_count(data) - (len(names) - len(known.blind) - int(least.bound.sum()))
    misfit = float(least.residuals @ least.residuals) / max(left, 1.0)
    values = {each.name: number for each, number in data.start.items()}
    values |= dict(zip(names, least.x.tolist()))
    return Fit(
        problem=problem,
        parameters=tuple(data.start),
        free=data.free,
        values=MappingProxyType(values),
        errors=MappingProxyType(dict(zip(names, errors.tolist()))),
        unidentifiable=tuple(_combination_words(row, data) for row in known.blind),
        at_bounds=tuple(name for name, leans in zip(names, least.bound) if leans),
        deviations=tuple(MappingProxyType(data.by_name(each)) for each in deviations),
        misfit=misfit if data.complete else None,
        residuals=tuple(MappingProxyType(data.by_name(each)) for each in residuals),
        status=least.status,
        success=least.success,
        iterations=count,
        explanation=(
            *_unphysical_lines(problem, values),
            *(_misfit_lines(misfit, left) if data.complete else ()),
            *_correlation_lines(data, residuals, deviations),
        ),
        information=known,
        sizes=data.sizes,
    )


def _combination_words(row: np.ndarray, data: Trials) -> str:
    """Return in words a change of parameters that changes no output."""
    parts = [
        f"{each.name} {change:+.4g}{f' {each.unit}' if each.unit else ''}"
        for each, change in zip(data.free, row * data.sizes)
        if change
    ]
    if len(parts) == 1:
        return f"{parts[0].split()[0]} has no influence"
    return ", ".join(parts) + " together have no influence"


def _unphysical_lines(problem: Problem, values: Mapping[str, float]) -> Iterator[str]:
    """Yield a line for everything that no mechanism has, as a negative moment of inertia."""
    for name, expression, lower, upper, unit in requirements(problem):
        known = {each: values[each.name] for each in parameters_of(expression)}
        value = float(evaluate(expression, known))
        if not lower - SLIGHT <= value <= upper + SLIGHT:
            bound = f"at least {lower:g}" if value < lower else f"at most {upper:g}"
            yield f"{name}: {value:.4g} {unit} was found, {bound} is possible".replace("  ", " ")


def _misfit_lines(misfit: float, left: float) -> tuple[str, ...]:
    """Return a line where residuals are not of the size that their deviations say."""
    if abs(misfit - 1) <= SURPRISE * np.sqrt(2 / max(left, 1.0)):
        return ()
    return (
        f"residuals are {np.sqrt(misfit):.3g} times what their deviations say: the problem or the "
        "deviations are not true, and neither are the standard errors",
    )


def _correlation_lines(
    data: Trials, residuals: Sequence[np.ndarray], deviations: Sequence[np.ndarray]
) -> Iterator[str]:
    """Yield a line for every output whose residuals are no white noise up to their bandwidth."""
    alike: dict[str, float] = {}
    for each, deviation, recording in zip(residuals, deviations, data.recordings):
        step = max(1, round(1 / recording.shares.mean()))
        for name, rows in data.by_name(each / deviation[:, None]).items():
            alike[name] = max(alike.get(name, 0.0), *(_autocorrelation(row, step) for row in rows))
    for name, share in alike.items():
        if share > ALONG:
            yield (
                f"residuals of {name} are correlated ({share:.2f} from one independent sample to "
                "the next): their noise has a lower bandwidth, or the problem lacks something; the "
                "standard errors are too small"
            )


def _autocorrelation(row: np.ndarray, step: int) -> float:
    """Return the autocorrelation of residuals over deviations (N,) at so many samples.

    It is 0 where samples are few, or the residuals those of rounding.
    """
    first, second = row[:-step], row[step:]
    there = np.isfinite(first) & np.isfinite(second)
    first, second = first[there], second[there]
    size = np.sqrt((first @ first) * (second @ second))
    if len(first) < MANY * step or size < ROUNDING * len(first):
        return 0.0
    return float(first @ second / size)
