"""Steps of a plan in real time: one quadratic program each, from arrays to arrays."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.values.validation import describe_value, numbers, positive_integer
from ocp.motion.basis import Array
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.solution.solution import Solution
from ocp.solvers.nlp import fast_version, violation
from ocp.solving.iterate_solutions import unfinished_motion
from ocp.solving.real_time_newton import Interior, RealTime
from ocp.solving.starts.warm_start import start
from ocp.transcription.parameters.parameter_bounds import ParameterBounds
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import (
    duration_at,
    free_duration,
    motion_size,
    split_variables,
)

REAL_TIME = "real time"  # with the kind of Hessian, the key of what a program's steps share
STEPPED = "Real_Time_Step"  # status of a solution that is made of a step


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Step:
    """One real-time iteration of a plan.

    Attributes:
        transcribed: program of the plan.
        values: of its parameters (parameters,), in their order.
        x: variables of the program (variables,).
        newton: Newton steps taken; 0 where the deadline left none.
        seconds: time that the step took (s).
        interior: point of the interior point, from which the next step begins.
        key: of the Newton core that the program keeps.
    """

    transcribed: Transcribed
    values: np.ndarray
    x: np.ndarray
    newton: int
    seconds: float
    interior: Interior
    key: tuple[str, str]

    def __repr__(self) -> str:
        return f"Step({self.newton} Newton steps in {1e3 * self.seconds:.3g} ms)"

    @property
    def points(self) -> np.ndarray:
        """Control points (n, points), rad or m."""
        return split_variables(self.transcribed.parts[0].layout, self.x)[0]

    @property
    def duration(self) -> float:
        """Duration (s)."""
        return duration_at(self.transcribed.parts[0].layout, self.x)

    @property
    def _running(self) -> "Running":
        return self.transcribed.made[self.key]

    @property
    def violation(self) -> float:
        """Largest violation of a bound, in the program's units; it is evaluated when asked for."""
        lower, upper, g_lower, g_upper = self._running.bounds(self.values)
        g = np.array(fast_version(self.transcribed.nlp.constraints)(self.x)).ravel()
        beyond = violation(self.x, lower, upper), violation(g, g_lower, g_upper)
        return float(np.max(np.concatenate(beyond), initial=0.0))

    @property
    def solution(self) -> Solution:
        """The record of the motion, made when asked for; it is no optimum, and says so."""
        program = self.transcribed.at(dict(zip(self.transcribed.parameters, self.values.tolist())))
        run, point = self._running, self.interior
        run.core.set_bounds(*run.bounds(self.values))
        known = run.core.program.iterate(point.v, point.y, point.z_upper - point.z_lower)
        facts = {
            "iterations": self.newton,
            "solve_seconds": self.seconds,
            "violation": self.violation,
        }
        objective = float(program.nlp.objective(self.x))
        reached = objective, self.newton, self.seconds
        return unfinished_motion(program, replace(known, x=self.x), STEPPED, *reached, facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Places (m, N) in a vector of numbers that run along the motion at instants s (N,)."""

    s: np.ndarray
    places: np.ndarray


class Shift:
    """What is left of a motion, and of the multipliers along it, as the point of a next step."""

    def __init__(self, part: TranscribedPhase, core: RealTime) -> None:
        self.layout, self.core, program = part.layout, core, core.program
        row = np.full(len(part.nlp.g_lower), -1)
        row[program.order] = np.arange(program.rows)
        variable = np.full(part.layout.size, -1)
        variable[program.moving] = np.arange(program.variables)
        slack = program.variables - program.equalities
        lifted = variable[part.layout.place] * (part.layout.place >= 0)
        self.rows = [
            Line(s=each.s, places=line)
            for each in part.rows
            for line in row[each.row]
            if len(each.s) > 1 and (each.row >= 0).all() and (line >= 0).all()
        ]
        self.variables = [
            Line(s=each.s, places=each.places + slack)
            for each in self.rows
            if each.places[0] >= program.equalities
        ]
        present = (part.layout.place >= 0).all(axis=1) & (lifted >= 0).all(axis=1)
        self.variables += [
            Line(s=part.layout.nodes, places=line)
            for line in lifted[present]
            if len(part.layout.nodes) > 1
        ]

    def __call__(self, point: Interior, by: float) -> Interior:
        """Return the point after `by` (s)."""
        program, problem = self.core.program, self.layout.problem
        x = self.core.variables(point)
        before = duration_at(self.layout, x)
        left = max(before - by, problem.duration[0]) if free_duration(problem) else before
        points = split_variables(self.layout, x)[0]

        def onward(s: Array) -> Array:
            return (by + s * left) / before

        def curve(s: Array, order: int) -> Array:
            at = onward(s)
            slopes = points @ problem.motion.values(np.minimum(at, 1.0), order).T
            return slopes * (left / before) ** order * ((at <= 1.0) | (order == 0))

        moved = np.ravel(problem.motion.through(curve), order="F")
        first = [left] if free_duration(problem) else []
        x[: motion_size(problem)] = np.append(first, moved)
        v = point.v.copy()
        v[: program.variables] = x[program.moving]
        return Interior(
            v=_resample(v, self.variables, onward),
            y=_resample(point.y, self.rows, onward),
            z_lower=_resample(point.z_lower, self.variables, onward),
            z_upper=_resample(point.z_upper, self.variables, onward),
        )


def _resample(vector: Array, lines: Sequence[Line], onward: Callable[[Array], Array]) -> Array:
    """Return a vector whose numbers along the motion are those of later instants."""
    moved = vector.copy()
    for line in lines:
        moved[line.places] = np.interp(onward(line.s), line.s, vector[line.places])
    return moved


class Running:
    """What the steps of a program share: the Newton core, bounds, and the limits of parameters.

    Scales are those at x, a motion for `values` (parameters,).
    """

    def __init__(
        self, transcribed: Transcribed, hessian: str, x: np.ndarray, values: np.ndarray
    ) -> None:
        refuse_phases("step", transcribed.statement, "replan each phase")
        (part,) = transcribed.parts
        self.nlp = transcribed.nlp
        if part.reduction is not None or transcribed.nlp.hessian is None:
            raise ValueError(
                "step: expected a program that has derivatives of its own: no passive joints that "
                "are integrated, no derivatives='solver'"
            )
        self.parameters, self.bounds = transcribed.parameters, ParameterBounds(part)
        limits = np.array([(each.lower, each.upper) for each in self.parameters])
        self.least, self.most = limits.reshape(-1, 2).T
        lower, upper, g_lower, g_upper = self.bounds(values)
        own = replace(self.nlp, lower=lower, upper=upper, g_lower=g_lower, g_upper=g_upper)
        self.core = RealTime(own, hessian, x)
        self.shift = Shift(part, self.core)

    def set_bounds(self, values: np.ndarray) -> None:
        """Take the bounds for values of the parameters."""
        self.core.set_bounds(*self.bounds(values))

    def check(self, values: np.ndarray) -> None:
        """Raise ValueError naming a parameter whose value is outside its bounds."""
        wrong = (values < self.least) | (values > self.most)
        if wrong.any():
            number = int(np.argmax(wrong))
            self.parameters[number].check(float(values[number]))


def values_at_solution(transcribed: Transcribed, former: Solution) -> np.ndarray:
    """Return the values (parameters,) of a program's parameters that a solution has, their own
    where it has none."""
    known = former.parameters
    return np.array([known.get(each.name, each.value) for each in transcribed.parameters])


def begin_steps(
    transcribed: Transcribed, hessian: str, former: Solution
) -> tuple[Running, Interior]:
    """Return the parts that steps of a program share, and the point at a solution from which the
    first one begins, within the bounds of its parameters."""
    key, first = (REAL_TIME, hessian), start(transcribed, former)
    values = values_at_solution(transcribed, former)
    if key not in transcribed.made:
        transcribed.made[key] = Running(transcribed, hessian, first.x, values)
    run = transcribed.made[key]
    run.set_bounds(values)
    nothing = np.zeros(len(first.x)), np.zeros(len(transcribed.nlp.g_lower))
    names = zip(("x_multipliers", "g_multipliers"), nothing)
    known = (first.multipliers.get(name, zero) for name, zero in names)
    return run, run.core.interior(first.x, *known)


def take_step(
    transcribed: Transcribed,
    hessian: str,
    former: Solution | Step,
    values: ArrayLike,
    passed: float = 0.0,
    newton: int = 1,
    seconds: float = np.inf,
) -> Step:
    """Return the Step of a plan's program; arguments are those of `Plan.step`."""
    begin = time.perf_counter()
    given = numbers("step: values", values, (len(transcribed.parameters),))
    count = positive_integer("step: newton", newton)
    key = REAL_TIME, hessian
    own = isinstance(former, Step) and former.transcribed.made is transcribed.made
    if not (own or isinstance(former, Solution)):
        raise ValueError(
            "step: former: expected a Solution, or a Step of this plan, got "
            f"{describe_value(former)}"
        )
    if isinstance(former, Step):
        run, point = transcribed.made[former.key], former.interior
    else:
        run, point = begin_steps(transcribed, hessian, former)
    run.check(given)
    run.set_bounds(given)
    point = run.core.inside(run.shift(point, passed) if passed else point)
    point, taken = run.core.step(point, count, begin + seconds)
    return Step(
        transcribed=transcribed,
        values=given,
        x=run.core.variables(point),
        newton=taken,
        seconds=time.perf_counter() - begin,
        interior=point,
        key=key,
    )
