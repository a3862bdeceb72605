"""Receding-horizon control: replanning at every period from the measured state.

Every period the plan in use is shifted to the present, the measured state and the current goals are
given to the prepared problem, and it is solved again within a deadline. The torques of the new plan
act until the next period. (Diehl, Bock & Schloeder 2005 stop each solve after one step; here it
goes on as long as it may.)
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ocp.certificate.checks.simulation import march, ramp_integrator, ramp_parameters
from ocp.dynamics import formulation_of
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Parameter, nominal
from ocp.mechanics.values.validation import (
    check_arguments,
    check_type,
    describe_value,
    numbers,
    positive,
    positive_integer,
)
from ocp.mpc.end_distances import Off, end_distances
from ocp.mpc.shifted_guess import shift_solution
from ocp.pickling import portable
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution, lifted_kind, open_kernel_inputs
from ocp.solving.plan import Plan
from ocp.solving.real_time import STEPPED, Step
from ocp.solving.starts.warm_start import Guess
from ocp.transcription.kernels.motion_traces import Trace, trace

RECEDING, SHRINKING = "receding", "shrinking"  # horizons
SAMPLES = 11  # instants of a period at which torques are told, straight in between
TOLERANCE = 1e-8  # of the simulated plant
CLOSE = 1e-9  # relative: by which numbers of one length differ
MET = 1e-3  # of any bound, in the program's units: what a plan that was cut short may be off
Plant: TypeAlias = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Asked: TypeAlias = Mapping[str, Any]  # values of parameters by name
Goals: TypeAlias = Callable[[float], Mapping[str, float]]


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Replan:
    """One plan of a receding horizon.

    Attributes:
        t: its time (s).
        asked: {parameter: number}, the measured state and the goals.
        solution: what was solved, whatever its status.
        seconds, cpu_seconds: time and processor time it took (s).
        followed: whether its torques act; otherwise those of a former plan go on.
    """

    t: float
    asked: Asked
    solution: Solution
    seconds: float
    cpu_seconds: float
    followed: bool

    @property
    def solved(self) -> bool:
        """Whether it is an optimum, or a step in real time that meets all bounds to MET."""
        known = self.solution
        return known.success or (known.status == STEPPED and known.statistics["violation"] <= MET)

    def __repr__(self) -> str:
        words = "followed" if self.followed else "dropped"
        return (
            f"Replan(t={self.t:g} s, {self.solution.status}, "
            f"{self.solution.statistics['iterations']} iterations in {1e3 * self.seconds:.3g} ms, "
            f"{words})"
        )


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tracked:
    """Motion of a mechanism under plans made while it moved.

    Attributes:
        t: times (N,) s.
        q, qd: coordinates and rates (n, N).
        tau: torques that acted (n, N), N m or N.
        replans: one Replan for each period, the first made at rest.
        off: {constraint: (rows, N)}: distance from the end asked at that time, in its units; nan
            where that depends on more than coordinates and rates.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    replans: tuple[Replan, ...]
    off: Off = field(default_factory=dict)

    @property
    def seconds(self) -> np.ndarray:
        """Time that each replan took (replans - 1,), s."""
        return np.array([one.seconds for one in self.replans[1:]])

    @property
    def iterations(self) -> np.ndarray:
        """Iterations of each replan (replans - 1,)."""
        return np.array([one.solution.statistics["iterations"] for one in self.replans[1:]])

    @property
    def dropped_plans(self) -> int:
        """Number of plans that were cut short and not followed."""
        return sum(not one.followed for one in self.replans)

    def __repr__(self) -> str:
        middle = f", median {1e3 * np.median(self.seconds):.3g} ms" if len(self.seconds) else ""
        count = len(self.replans)
        ends = [(name, rows[np.isfinite(rows[:, -1]), -1]) for name, rows in self.off.items()]
        far = [f", {name} off by {np.max(rows):.2g}" for name, rows in ends if len(rows)]
        words = f"{count} replans{middle}, {self.dropped_plans} dropped{''.join(far)}"
        return f"Tracked({self.t[-1]:g} s, {words})"


def track(
    plan: Plan,
    start: tuple[ArrayLike, ArrayLike],
    *,
    period: float,
    periods: int,
    goals: Goals | None = None,
    plant: Plant | None = None,
    guess: Guess | Solution | None = None,
    deadline: float | None = None,
    horizon: str = RECEDING,
    newton: int | None = None,
) -> Tracked:
    """Return the motion of a mechanism from `start`, replanned every `period`.

    Args:
        plan: a Plan whose initial state is open: `at_start(tree, q=..., qd=...)` with a Parameter
            of its own for every joint, which takes the measured state.
        start: (q, qd) of n numbers each.
        period: time (s) from one plan to the next.
        periods: their number.
        goals: goals(t) returns values of other parameters by name at the time t (s).
        plant: plant(t, state (2 n,), torques (n, N)) returns the states (2 n, N) at N equally
            spaced instants of a period, under torques straight in between; by default a simulation.
        guess: of the first plan, which is made at rest and by all attempts.
        deadline: of every further plan (s), none by default. A plan that is cut short is followed
            if it exceeds no bound by more than MET; otherwise the former one goes on.
        horizon: "receding", each plan as long as the problem says, or "shrinking": the duration is
            a given Parameter, and each plan has the rest of its value, at least its lower bound.
        newton: Newton steps of every further plan at most, which is then a `plan.step` from the
            one before; by default it is solved to the end by `plan.replan`.

    Raises:
        ValueError: for an initial state that is not open, naming the joint, for a duration that
            cannot shrink, and for sizes that do not fit.
        NotSolved: without a first plan.
    """
    if not isinstance(plan, Plan):
        hint = "; prepare(problem) makes one" if isinstance(plan, Problem) else ""
        raise ValueError(f"track: plan: expected a Plan, got {describe_value(plan)}{hint}")
    refuse_phases("track", plan.problem, "a horizon that recedes has one phase")
    tree, names = plan.problem.tree, state_parameters(plan.problem)
    step, count = positive("track: period", period), positive_integer("track: periods", periods)
    parts = zip(("q", "qd"), start)
    state = np.hstack([numbers(f"track: start: {what}", each, (tree.dof,)) for what, each in parts])
    plant = plant or simulated_plant(plan.problem, step)
    check_arguments("track: plant", plant, "t", "state", "torques")
    goals = None if goals is None else check_arguments("track: goals", goals, "t")
    deadline = None if deadline is None else positive("track: deadline", deadline)
    left, off = _horizon(plan.problem, horizon), end_distances(plan)
    tell, passed = command_torques(plan), np.linspace(0.0, step, SAMPLES)
    turns: list[Replan] = []
    begun: list[tuple[Step | Solution, float]] = []  # what steps begin from, with its time (s)
    pieces, ends = [], []
    for k in range(count):
        t = k * step
        asked = _parameter_values(tree, names, state, goals, t) | left(t)
        if k and newton is not None:
            turn, base = _next_step(plan, *begun[-1], t, asked, deadline, newton)
            turns.append(turn)
            begun.append(base)
        elif k:
            turns.append(_next_plan(plan, turns, t, asked, deadline))
        else:
            _check_period(step, plan.problem, asked)
            turns.append(_first_plan(plan, asked, guess, deadline, newton))
            begun.append((turns[0].solution, 0.0))
        followed = next(turn for turn in reversed(turns) if turn.followed)
        torques = tell(followed.solution, t - followed.t + passed)
        states = _check_states(plant(t, state, torques), (2 * tree.dof, SAMPLES), t)
        pieces.append(np.vstack([t + passed, states, torques])[:, bool(k) :])
        ends.append(off(turns[-1].solution, states[:, bool(k) :]))
        state = states[:, -1]
    times, q, qd, tau = np.split(np.hstack(pieces), np.cumsum([1, tree.dof, tree.dof]))
    far = {name: np.hstack([each[name] for each in ends]) for name in ends[0]}
    return Tracked(t=times[0], q=q, qd=qd, tau=tau, replans=tuple(turns), off=far)


def _horizon(problem: Problem, horizon: str) -> Callable[[float], dict[str, float]]:
    """Return a function of time (s) that gives the parameters of a shrinking horizon their values;
    none of a receding one. Raises ValueError for a duration that cannot shrink."""
    if horizon == RECEDING:
        return lambda t: {}
    if horizon != SHRINKING:
        raise ValueError(f"track: horizon: expected {RECEDING} or {SHRINKING}, got {horizon!r}")
    lower, upper = problem.duration
    if not isinstance(lower, Parameter) or lower.free or upper is not lower:
        raise ValueError(
            f"track: horizon {SHRINKING!r}: duration: expected a Parameter that is given, of which "
            f"each plan has what is left, got {lower} to {upper} s"
        )
    if not lower.lower > 0:
        raise ValueError(
            f"track: horizon {SHRINKING!r}: parameter {lower.name!r}: expected a lower bound above "
            f"0 s, the shortest horizon, got {lower.lower:g}"
        )
    return lambda t: {lower.name: max(lower.value - t, lower.lower)}


def _check_states(states: np.ndarray, shape: tuple[int, int], t: float) -> np.ndarray:
    """Return the states that a plant came to from the time t (s) on, checked."""
    states = np.asarray(states, dtype=float)
    if states.shape != shape or not np.isfinite(states).all():
        kind = "numbers that are not finite" if states.shape == shape else f"{states.shape}"
        raise ValueError(f"track: plant: expected states {shape} from t = {t:g} s on, got {kind}")
    return states


def _parameter_values(
    tree: Tree, names: Sequence[str], state: np.ndarray, goals: Goals | None, t: float
) -> dict[str, float]:
    """Return the values of parameters at the time t (s): the goals', and the state measured.

    A state a little beyond limits, as an arm that runs along them has it, is brought within.
    """
    limits = [each.position for each in tree.moving] + [each.velocity for each in tree.moving]
    lower, upper = zip(*nominal(limits))
    inside = np.clip(state, lower, upper)
    wanted = check_type(f"track: goals({t:g})", goals(t) if goals else {}, Mapping)
    return {**wanted, **dict(zip(names, inside.tolist()))}


def _check_period(period: float, problem: Problem, asked: Asked) -> None:
    """Raise ValueError for a period (s) that is longer than the first plan can be."""
    upper = problem.duration[1]
    longest = nominal(upper)
    if isinstance(upper, Parameter):
        longest = upper.upper if upper.free else asked.get(upper.name, upper.value)
    if period > longest * (1 + CLOSE):
        raise ValueError(
            f"track: period: expected at most a plan's horizon, {longest:g} s, got {period:g} s"
        )


def _first_plan(
    plan: Plan,
    asked: Asked,
    guess: Guess | Solution | None,
    deadline: float | None,
    newton: int | None,
) -> Replan:
    """Return the plan that is made before anything moves; raise NotSolved if there is none.

    What starts from a former plan need is set up with it.
    """
    begin = _now()
    solution = plan.solve(guess, **asked).require(coarse=True)
    if newton is None:
        plan.replan(solution, seconds=np.inf if deadline is None else deadline, **asked)
    else:
        plan.step(solution, _in_order(plan, asked), newton=newton)
    return Replan(t=0.0, asked=asked, solution=solution, followed=True, **_seconds_since(begin))


def _next_plan(
    plan: Plan, turns: Sequence[Replan], t: float, asked: Asked, deadline: float | None
) -> Replan:
    """Return the plan of the time t (s), from the last one followed.

    Of the deadline the solver has what turns did not need beside it so far, by their median.
    """
    begin = _now()
    former = next(turn for turn in reversed(turns) if turn.followed)
    left = np.inf
    if deadline is not None:
        left = deadline - float(np.median([_overhead(turn) for turn in turns[1:]] or [0.0]))
    length = plan.problem.duration[0]
    given = asked.get(length.name) if isinstance(length, Parameter) else None
    rest = shift_solution(former.solution, t - former.t, given)
    solution = plan.replan(rest, seconds=left, **asked)
    met = solution.success or solution.statistics["violation"] <= MET
    return Replan(t=t, asked=asked, solution=solution, followed=met, **_seconds_since(begin))


def _next_step(
    plan: Plan,
    former: Step | Solution,
    begun: float,
    t: float,
    asked: Asked,
    deadline: float | None,
    newton: int,
) -> tuple[Replan, tuple[Step | Solution, float]]:
    """Return the plan of the time t (s) that one real-time iteration makes of the last one
    followed, of the time `begun` (s), and these two for the next one.

    Its record is made when its time has been told.
    """
    begin = _now()
    seconds = np.inf if deadline is None else deadline
    values, passed = _in_order(plan, asked), t - begun
    step = plan.step(former, values, passed=passed, newton=newton, seconds=seconds)
    taken, followed = _seconds_since(begin), step.newton > 0
    turn = Replan(t=t, asked=asked, solution=step.solution, followed=followed, **taken)
    return turn, (step, t) if followed else (former, begun)


def _in_order(plan: Plan, asked: Asked) -> list[float]:
    """Return the values of a plan's parameters, in their order."""
    return [asked.get(each.name, each.value) for each in plan.parameters]


def _now() -> tuple[float, float]:
    """Return the time, and that of the processor (s)."""
    return time.perf_counter(), time.process_time()


def _seconds_since(begin: tuple[float, float]) -> dict[str, float]:
    """Return the times that have passed of both clocks."""
    passed = (now - then for now, then in zip(_now(), begin))
    return dict(zip(("seconds", "cpu_seconds"), passed))


def _overhead(turn: Replan) -> float:
    """Return a turn's time beside its solver (s)."""
    return turn.seconds - turn.solution.statistics["solve_seconds"]


def state_parameters(problem: Problem) -> tuple[str, ...]:
    """Return the names of the parameters that a problem's initial state is, q (n) and qd (n).

    Raises ValueError naming a joint whose coordinate or rate at the start is no given Parameter, or
    one that stands for two.
    """
    names = [
        _state_parameter(problem, f"at_start.{quantity}", joint.name)
        for quantity in ("q", "qd")
        for joint in problem.tree.moving
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"track: parameter {twice!r} stands for two numbers of the initial state")
    return tuple(names)


def _state_parameter(problem: Problem, constraint: str, joint: str) -> str:
    for each in problem.constraints:
        if each.name == constraint and joint in each.labels:
            value = each.lower_of(each.labels.index(joint))
            if isinstance(value, Parameter) and not value.free:
                return value.name
    raise ValueError(
        f"track: {constraint}: joint {joint!r}: expected a Parameter that is given, to which the "
        "state measured can be given"
    )


def simulated_plant(problem: Problem, period: float, *, tolerance: float = TOLERANCE) -> Plant:
    """Return the Plant that a problem's tree is under its loads, for every `period` (s).

    It is simulated by CVODES to a `tolerance`, absolute and relative, with parameters at their own
    values.
    """
    tree, known = nominal(problem.tree), nominal(problem.loads)
    loads = [load for load in known if not isinstance(load, PointMass)]
    integrator = ramp_integrator(tree, period / (SAMPLES - 1), loads, tolerance=tolerance)

    def plant(t: float, state: np.ndarray, torques: np.ndarray) -> np.ndarray:
        instants = t + np.linspace(0.0, period, torques.shape[1])
        return march(integrator, state, ramp_parameters(instants, torques))

    return plant


def command_torques(plan: Plan) -> Callable[[Solution, np.ndarray], np.ndarray]:
    """Return a function (solution of the plan, times (N,) s) -> joint torques (n, N).

    It is built once. Torques after the end of a motion are those of its end.
    """
    problem = plan.problem
    (program,) = plan.transcribed.parts  # of a problem without phases
    formulation = formulation_of(program.transcription.dynamics, problem.tree)

    @cache
    def torques(known: str | None) -> Trace:
        return trace(problem, formulation, lambda at: at.tau, known, program.parameters)

    def tell(solution: Solution, t: np.ndarray) -> np.ndarray:
        s = np.clip(np.asarray(t) / solution.duration, 0.0, 1.0)
        return torques(lifted_kind(solution))(open_kernel_inputs(solution, program.layout, s), s)

    return tell
