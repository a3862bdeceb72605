"""Sensitivity of a solution to the open parameters of its plan.

Derivatives are those of the program's own optimum, first refined to rounding: see
`ocp.solvers.optimum.optimum_sensitivity`. Curves are differentiated at fixed times.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.values.parameters import Parameter
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import Instant
from ocp.solution.solution import Solution
from ocp.solvers.optimum.active_set import Optimum
from ocp.solvers.optimum.optimum_sensitivity import Sensitivity, sensitivity
from ocp.solving.plan import Plan
from ocp.solving.solved_optimum import plan_of, solved_optimum, solved_program
from ocp.solving.starts.warm_start import start_phase
from ocp.transcription.parameters.parameter_derivatives import (
    Curve,
    bound_slopes,
    curve_slope,
    duration_slope,
    labels,
    term_slopes,
)
from ocp.transcription.transcribe_phase import TranscribedPhase

APART = 1e-3  # by which a derivative may differ from that of solves, over the larger of both
SHIFT = 1e-3  # of a parameter, over max(0.1, |value|), to the solves beside a solution
Derivative: TypeAlias = float | np.ndarray | Curve
CURVES: Mapping[str, Callable[[Instant], Matrix]] = {
    "q": lambda at: at.q,
    "qd": lambda at: at.qd,
    "qdd": lambda at: at.qdd,
    "tau": lambda at: at.tau,
}


def derivative(solution: Solution, of: str, by: str, *, verify: bool = False) -> Derivative:
    """Return the derivative of something by a given parameter of the solution's plan.

    Args:
        solution: a Solution of a plan that leaves parameters open.
        of: "objective" or "duration", a term of the objective, or a free parameter, by name: a
            number; "x", of the program's variables (variables,); "q", "qd", "qdd", "tau" or an
            output of the problem: a function of time (s) that returns it at fixed times, (m,) or
            (m, N). The units are those of both.
        by: name of the parameter.
        verify: whether to compare it with central differences of solves beside the solution.

    Raises:
        ValueError: naming an unknown name; where the solution has no plan, is no strict optimum or
            has active constraints that the parameter moves apart, naming them; where the motion's
            derivatives differ to both sides, naming what is about to become active or not; and for
            a derivative that differs from differences of solves.
    """
    plan = plan_of(solution)
    with plan.turn:
        transcribed = solved_program(solution)
        parameter = _given_parameter(transcribed, by)
        derived = _named_derivative(solution, transcribed, of, parameter)
        if verify:
            _check_differences(solution, of, by, derived)
    return partial(_curve_in_turn, plan, derived) if callable(derived) else derived


def _curve_in_turn(plan: Plan, curve: Curve, t: ArrayLike) -> np.ndarray:
    """Return a curve at times t (s), while no other thread uses the plan."""
    with plan.turn:
        return curve(t)


def _given_parameter(transcribed: TranscribedPhase, name: str) -> Parameter:
    """Return the parameter of a name; raise ValueError unless it was given."""
    layout = transcribed.layout
    known = {each.name: each for each in layout.values}
    if name not in known:
        raise ValueError(
            f"sensitivity: by: the problem has no parameter {name!r}; it has {', '.join(known)}"
        )
    if known[name] in layout.sought:
        raise ValueError(f"sensitivity: by: parameter {name!r} was found, not given")
    return known[name]


def _named_derivative(
    solution: Solution, transcribed: TranscribedPhase, of: str, parameter: Parameter
) -> Derivative:
    """Return the derivative of what is named; raise ValueError for what has no such name."""
    outputs, layout = transcribed.statement.outputs, transcribed.layout
    terms = [term.name for _, term in transcribed.problem.objective.terms]
    free = transcribed.free_names
    known = ["objective", "duration", "x", *CURVES, *outputs, *terms, *free]
    if of not in known:
        raise ValueError(f"sensitivity: of: expected one of {', '.join(known)}, got {of!r}")
    if layout.moving and (of in CURVES or of in outputs):
        raise ValueError(f"sensitivity: of: {of!r} is not known of a motion on free knots")
    near, slopes = _optimum(solution, transcribed, parameter)
    if of == "objective":
        return float(slopes.objective[0])
    (name,) = slopes.weak
    if name:
        raise ValueError(
            f"sensitivity: by: parameter {parameter.name!r}: {name} is about to change between "
            "active and not: the motion's derivatives differ to both sides"
        )
    x, dx = near.point.x, slopes.x[:, 0]
    if of in CURVES or of in outputs:
        return curve_slope(transcribed, of, CURVES.get(of) or outputs[of], x, dx)
    if of in terms:
        return float(term_slopes(transcribed, x, dx)[terms.index(of)])
    if of == "duration":
        return duration_slope(layout, x, dx)[1]
    return dx if of == "x" else float(dx[layout.parameters][free.index(of)])


def _optimum(
    solution: Solution, transcribed: TranscribedPhase, parameter: Parameter
) -> tuple[Optimum, Sensitivity]:
    """Return the solution's optimum to rounding, of the program with derivatives by all parameters,
    and how it moves with one; what the last solution needed is kept."""
    near, known = solved_optimum(transcribed, solution)
    if parameter not in known:
        number = range(transcribed.layout.size)[transcribed.layout.parameters]
        column = number[transcribed.parameters.index(parameter)]
        bounds = bound_slopes(transcribed, parameter)
        known[parameter] = sensitivity(near, [column], bounds, labels(transcribed))
    return near, known[parameter]


def _check_differences(solution: Solution, of: str, by: str, derived: Derivative) -> None:
    """Raise ValueError unless a derivative is that of central differences of solves beside the
    solution."""
    plan = solution.plan
    step = SHIFT * max(0.1, abs(solution.parameters[by]))
    times = solution.times(21)[1:-1]

    def value_beside(sign: int) -> np.ndarray:
        values = dict(solution.parameters) | {by: solution.parameters[by] + sign * step}
        for name in solution.found_parameters:
            del values[name]
        there = plan.solve(solution, **values).require(coarse=True)
        return _value(there, of, times)

    difference = (value_beside(1) - value_beside(-1)) / (2 * step)
    ours = derived(times) if callable(derived) else np.asarray(derived)
    size = max(np.abs(difference).max(initial=0.0), np.abs(ours).max(initial=0.0))
    apart = float(np.abs(ours - difference).max(initial=0.0))
    if apart > APART * size:
        raise ValueError(
            f"sensitivity: d {of} / d {by} differs by {apart:.3g} of {size:.3g} from central "
            f"differences of solves at {step:.3g} to both sides: other constraints hold there, or "
            "another optimum"
        )


def _value(solution: Solution, of: str, times: np.ndarray) -> np.ndarray:
    """Return a named quantity of a solution, curves at the times."""
    if of == "x":
        transcribed = solved_program(solution)
        return start_phase(transcribed, solution).x
    if of in ("objective", "duration"):
        return np.asarray(getattr(solution, of))
    if of in CURVES:
        return solution.trace(CURVES[of], np.minimum(times, solution.duration))
    if of in solution.problem.outputs:
        return solution.output(of, np.minimum(times, solution.duration))
    terms: Iterable = solution.terms
    known = {name: value for name, _, value in terms} | dict(solution.parameters)
    return np.asarray(known[of])
