"""Parameter sensitivities of bounds, duration, objective terms and curves."""

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.dynamics import formulation_of
from ocp.mechanics.values.parameters import Parameter, matrix
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import PARAMETER
from ocp.solvers.optimum.optimum_sensitivity import BoundSlopes
from ocp.transcription.kernels.instant_symbols import symbols
from ocp.transcription.kernels.user_functions import call_user_function
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import Layout, free_duration, motion_map

STEP = 1e-5  # of a parameter, over max(1, |value|), by which bounds are differenced
NEAR = 1e-6  # of the motion, over which what runs with time is differenced
Curve = Callable[[ArrayLike], np.ndarray]


def bound_slopes(transcribed: TranscribedPhase, parameter: Parameter) -> BoundSlopes:
    """Return the slopes of all bounds by one parameter, by differences of the second order: to both
    sides, or where the statement cannot be on one of them, to the other."""
    values = dict(transcribed.layout.values)
    middle, step = values[parameter], STEP * max(1.0, abs(values[parameter]))

    def bounds(steps: int) -> list[np.ndarray]:
        there = values | {parameter: middle + steps * step}
        nlp = transcribed.at(there, transcribed.layout.held_names).nlp
        return [nlp.lower, nlp.upper, nlp.g_lower, nlp.g_upper]

    for weights in ({1: 0.5, -1: -0.5}, {0: -1.5, 1: 2.0, 2: -0.5}, {0: 1.5, -1: -2.0, -2: 0.5}):
        try:
            parts = [[weight * side for side in bounds(k)] for k, weight in weights.items()]
        except ValueError:
            continue
        with np.errstate(invalid="ignore"):
            slopes = [np.sum(sides, axis=0)[:, None] / step for sides in zip(*parts)]
        lower, upper, g_lower, g_upper = (np.where(np.isfinite(each), each, 0) for each in slopes)
        return BoundSlopes(lower=lower, upper=upper, g_lower=g_lower, g_upper=g_upper)
    raise ValueError(f"sensitivity: by: parameter {parameter.name!r} can be moved to no side")


def duration_slope(layout: Layout, x: np.ndarray, dx: np.ndarray) -> tuple[float, float]:
    """Return the duration (s) of variables x, and its derivative where theirs are dx."""
    if free_duration(layout.problem):
        return float(x[0]), float(dx[0])
    if layout.timed is None:
        return float(layout.problem.duration[0]), 0.0
    names, expression = (
        ca.vertcat(*(each.expression for each in layout.values)),
        matrix(layout.timed),
    )
    slope = ca.Function("duration", [names], [expression, ca.jacobian(expression, names)])
    duration, slopes = slope(x[layout.parameters])
    return float(duration), float(ca.dot(slopes.T, dx[layout.parameters]))


def term_slopes(transcribed: TranscribedPhase, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """Return the derivatives (count,) of the objective's terms at x, where those of x are dx."""
    symbol, turn = ca.MX.sym("x", len(x)), ca.MX.sym("dx", len(x))
    slope = ca.jtimes(transcribed.terms(symbol), symbol, turn)
    return np.array(ca.Function("terms", [symbol, turn], [slope])(x, dx)).ravel()


def curve_slope(
    transcribed: TranscribedPhase,
    name: str,
    function: Callable[[Instant], Matrix],
    x: np.ndarray,
    dx: np.ndarray,
) -> Curve:
    """Return the derivative of function(Instant) at fixed times, where those of x are dx: itself a
    function of time (s). A ValueError of the function has the `name`."""
    layout = transcribed.layout
    formulation: Any = formulation_of(transcribed.transcription.dynamics, layout.problem.tree)
    look = symbols(
        transcribed.statement,
        formulation,
        wrenches="variables" if layout.lifts else None,
        moving=layout.moving,
    ).with_parameters(transcribed.parameters, layout.free)
    value, turn = call_user_function(name, function, look), ca.SX.sym("dy", look.y.shape[0])
    run = ca.SX.sym("ds")
    slope = ca.jtimes(value, look.y, turn) + ca.jtimes(value, look.s, run)
    slopes = ca.Function("slopes", [look.y, look.s, turn, run], [ca.densify(slope)])
    duration, slower = duration_slope(layout, x, dx)

    def at(t: ArrayLike) -> np.ndarray:
        s = np.clip(np.atleast_1d(np.asarray(t, dtype=float)) / duration, 0.0, 1.0)
        inputs = motion_map(layout, s)
        turned, ran = inputs(dx), np.zeros(len(s))
        if slower:
            ran = -s * slower / duration  # of s, where the motion lasts longer
            first, last = np.maximum(s - NEAR, 0.0), np.minimum(s + NEAR, 1.0)
            passed = motion_map(layout, last)(x) - motion_map(layout, first)(x)
            turned = turned + passed / (last - first) * ran
        mapped = slopes.map(len(s))(inputs(x), ca.DM(s).T, turned, ca.DM(ran).T)
        return np.array(mapped) if np.ndim(t) else np.array(mapped)[:, 0]

    return at


def labels(transcribed: TranscribedPhase) -> Callable[[str, int], str]:
    """Return the function that names a "variable" or a "row" of a program by its number."""
    layout = transcribed.layout

    def label(kind: str, number: int) -> str:
        if kind == "row":
            for placed in transcribed.rows:
                for m, k in np.argwhere(placed.row == number):
                    row = placed.constraint.label(placed.numbers[m])
                    return f"{placed.name} ({row}, s = {placed.s[k]:.3g})"
        parameters = range(layout.size)[layout.parameters]
        if number in parameters:
            return PARAMETER.format(transcribed.parameters[number - parameters.start].name)
        return _variable(transcribed, number)

    return label


def _variable(transcribed: TranscribedPhase, number: int) -> str:
    """Return the name of a variable that is no parameter."""
    problem = transcribed.layout.problem
    for side in ("lower", "upper"):
        if (number, side) in transcribed.bound_owners:
            constraint, row, s = transcribed.bound_owners[number, side]
            return f"{constraint.name} ({constraint.label(row)}, s = {s:.3g})"
    point, joint = divmod(number - free_duration(problem), problem.tree.dof)
    if point < problem.motion.points and number >= free_duration(problem):
        return f"{problem.tree.moving[joint].name}, control point {point}"
    return "duration" if number == 0 else f"lifted variable {number}"
