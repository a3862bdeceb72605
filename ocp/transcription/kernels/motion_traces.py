"""Traces: functions of an Instant evaluated along a finished motion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import Formulation
from ocp.mechanics.values.parameters import Parameter
from ocp.mechanics.values.types import Matrix
from ocp.problem.statement import Problem
from ocp.transcription.kernels.instant_symbols import Inputs, joined_symbols, symbols
from ocp.transcription.kernels.kernels import as_column, evaluate
from ocp.transcription.kernels.user_functions import call_user_function, function_of
from ocp.transcription.variables.layout import free_duration


@dataclass(frozen=True, slots=True, eq=False)
class ByIdentity:
    """A value that a cache finds again by its identity."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.value is other.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What is traced, a `function` (y (width, N), s (N,)) -> (m, N); where it contains rates
    (`rated`), y ends with these."""

    function: ca.Function
    rated: bool

    def __call__(self, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        return evaluate(self.function, y, s)


def trace(
    problem: Problem,
    formulation: Formulation,
    wanted: Callable,
    wrenches: str | None = None,
    parameters: Sequence[Parameter] = (),
) -> Trace:
    """Return the Trace of wanted(Instant).

    Repetitions are taken out where `parameters` are left open, whose values y ends with; of numbers
    it is looked at a few times at most, and that would take longer than to evaluate them.

    `wrenches` as in `symbols`: y has those of the feet, about the origin, if they are "given", and
    torques as "variables".
    """
    inputs = _trace_symbols(ByIdentity(problem), formulation, wrenches, tuple(parameters))
    values = call_user_function("trace", wanted, inputs)
    values = ca.cse(values) if parameters else values
    rated = ca.depends_on(values, inputs.rates)
    y = inputs.with_rates.y if rated else inputs.y
    return Trace(function=function_of("trace", [y, inputs.s], values), rated=rated)


def trace_cancelled(
    problem: Problem,
    formulation: Formulation,
    wanted: Callable,
    wrenches: str | None = None,
    parameters: Sequence[Parameter] = (),
) -> Trace:
    """Return the Trace of how much cancels in each row r of wanted(Instant),

        sum_j |p_j| - |sum_j p_j|,   p_j = dr/dx_j x_j

    over the accelerations x of the motion, where r depends on none of them over its rates, and
    where it depends on neither zero. `wrenches` and `parameters` as in `trace`.
    """
    inputs = _trace_symbols(ByIdentity(problem), formulation, wrenches, tuple(parameters))
    values = call_user_function("trace", wanted, inputs)
    n, first = problem.tree.dof, int(free_duration(problem))
    rates, accelerations = (inputs.y[first + k * n : first + (k + 1) * n] for k in (1, 2))
    by_rates, by_accelerations = (ca.jacobian(values, x) for x in (rates, accelerations))
    accelerated = set(by_accelerations.sparsity().row())
    rows = [
        _cancellation(by_accelerations[row, :], accelerations)
        if row in accelerated
        else _cancellation(by_rates[row, :], rates)
        for row in range(values.shape[0])
    ]
    sizes = ca.densify(ca.vertcat(*rows))
    return Trace(function=function_of("trace", [inputs.y, inputs.s], sizes), rated=False)


def _cancellation(slopes: Matrix, x: Matrix) -> Matrix:
    parts = slopes.T * x
    return ca.sum1(ca.fabs(parts)) - ca.fabs(ca.sum1(parts))


def trace_joined(
    problem: Problem, formulation: Formulation, wanted: Callable, wrenches: str | None = None
) -> Callable:
    """Return a function (y (2 width,)) -> (m,) of wanted(start Instant, end Instant)."""
    inputs = joined_symbols(problem, formulation, wrenches=wrenches)
    values = call_user_function("trace", wanted, inputs)
    compiled = function_of("trace", [inputs.y, inputs.s], values)
    return lambda y: evaluate(compiled, y, np.zeros(1))[:, 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedInstant:
    """An instant s of the motion of a `problem`, by a `formulation`; `wrenches` as in `trace`."""

    problem: Problem
    formulation: Formulation
    s: float
    wrenches: str | None = None


def trace_across(places: Sequence[TracedInstant], wanted: Callable) -> tuple[Callable, bool]:
    """Return a function (y of each place, (width,)) -> (m,) of wanted(Instant, ...), instants of
    several motions, and whether every y ends with rates."""
    known = [symbols(each.problem, each.formulation, wrenches=each.wrenches) for each in places]
    instants = [replace(each.at, s=ca.SX(place.s)) for each, place in zip(known, places)]
    values = ca.cse(as_column("trace", wanted(*instants)))
    rated = any(bool(ca.depends_on(values, each.rates)) for each in known)
    y = [each.with_rates.y if rated else each.y for each in known]
    function = function_of("trace", y, ca.densify(values))
    return lambda *numbers: np.array(function(*numbers)).ravel(), rated


@lru_cache(maxsize=4)
def _trace_symbols(
    same: ByIdentity,
    formulation: Formulation,
    wrenches: str | None,
    parameters: tuple[Parameter, ...] = (),
) -> Inputs:
    """Return the Inputs of traces, kept, because all that is traced of one motion shares poses,
    torques and reactions."""
    inputs = symbols(same.value, formulation, wrenches=wrenches, shared=True)
    return inputs.with_parameters(parameters, 0)
