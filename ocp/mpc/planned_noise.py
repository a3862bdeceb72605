"""Motions that are planned with the noise under which they will run, and with the feedback then.

    noise = Noise(torque=0.5)
    robust = solve_under_noise(problem, noise, chance=0.99).require()
    follow(robust.plan, noise=noise)

Sought are the motion and its gains, of the least objective in the mean, whose covariances are
propagated along it by its linearised mechanics (`ocp.mpc.noise_program`).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ocp.certificate.certify_solution import certify
from ocp.certificate.verification import Verification
from ocp.mechanics.values.validation import (
    check_records,
    check_type,
    numbers,
    positive,
    positive_integer,
)
from ocp.mpc.disturbed_motion import Noise, Spread, spread
from ocp.mpc.linear_deviations import (
    Deviations,
    Measured,
    check_problem,
    deviations_of,
    recursion_function,
)
from ocp.mpc.noise_program import NoiseProgram, NoiseRow, margin, noise_program
from ocp.mpc.regulator import Feedback, feedback
from ocp.pickling import portable
from ocp.problem.constraint import Constraint
from ocp.problem.statement import Problem
from ocp.solution.answered_program import kept_program
from ocp.solution.solution import Solution, SolveResult
from ocp.solvers.budget import budget
from ocp.solvers.minimize import Outcome, Solver, minimize
from ocp.solvers.nlp import kkt_residual
from ocp.solvers.progress import Iteration
from ocp.solving.plan import Plan, prepare
from ocp.solving.solution_from_outcome import solution_of, statistics_of
from ocp.solving.solver_attempts import Attempts, trial_of
from ocp.solving.starts.warm_start import start
from ocp.spelling import suggestion
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.transcription_settings import Transcription
from ocp.transcription.variables.layout import motion_map

LEAST = 1e-9  # of the largest deviation: smaller ones are measured by one


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoisePlan(SolveResult):
    """A motion under noise with its feedback.

    Attributes:
        noise: under which it runs.
        solution: the motion, with its objective where nothing disturbs it.
        plan: its Feedback.
        told: its Spread, of the covariances in the program; `spread` has doubts beside.
        objective: in the mean under noise.
        status, success: the solver's.
        margins: {constraint: the least room (in units of the row) of its rows on deviations}.
        residual: of the first-order conditions.
        statistics: {iterations, seconds}, seconds of the processor.
    """

    noise: Noise
    solution: Solution
    plan: Feedback
    told: Spread
    objective: float
    status: str
    success: bool
    margins: Mapping[str, float]
    residual: float
    statistics: Mapping[str, float]

    @property
    def explanation(self) -> tuple[str, ...]:
        """The solver's status, where the plan is not solved."""
        return (f"not solved under noise: {self.status}",)

    def __repr__(self) -> str:
        return f"NoisePlan(status={self.status!r}, objective={self.objective:.9g})"

    def __str__(self) -> str:
        n = self.plan.tree.dof
        lines = [repr(self), f"  undisturbed {self.solution.objective:.6g}"]
        ends = self.told.deviations[:, -1]
        for k, joint in enumerate(self.plan.tree.moving):
            lines.append(f"  {joint.name:<20} ends within {ends[k]:.3g}, {ends[n + k]:.3g} 1/s")
        lines += [f"  {name:<20} room {room:.3g}" for name, room in self.margins.items()]
        return "\n".join(lines)


def solve_under_noise(
    problem: Problem,
    noise: Noise,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    periods: int = 40,
    measured: Measured | None = None,
    gains: np.ndarray | None = None,
    chance: float | Mapping[str, float] | None = None,
    floor: float = 0.0,
    deviations: Sequence[Constraint] = (),
    continuous: bool = False,
    guess: "Solution | NoisePlan | tuple[Solution, Feedback] | None" = None,
    watch: Callable[[Iteration], object] | None = None,
) -> NoisePlan:
    """Return the NoisePlan of a problem: the motion, and the gains, of the least mean objective.

    Args:
        problem: a Problem without phases, ground, loops, balls, stays and flexible links.
        noise: the Noise.
        transcription: method, formulation and derivatives of the nonlinear program.
        solver: the solver and its options.
        periods: of equal length, in which gains and noise are held.
        continuous: whether what is measured at each instant is answered then; by default what is
            measured as a period begins is, by torques that are held.
        measured: function(Instant) of q and qd that is fed back; by default all of the state.
        gains: (periods, n, m) of what is measured, where they are given; else they are sought.
        chance: probability with which every bound of every inequality is kept at every instant, or
            {constraint: probability}; without, bounds hold of the motion undisturbed.
        floor: share of a constraint's largest bound that deviations may take where there is no
            room: what is at its bound may answer by so little, which makes rows regular there.
        deviations: Constraints whose bounds are those of standard deviations of their functions.
        guess: from which to begin, a Solution with gains beside it or those of `feedback`; without,
            the problem is solved without noise first.
        watch: called with every Iteration.

    Raises:
        ValueError: for what deviations are not known of, and anything wrong with the statement.

    Source: Van Wouwe, Ting & De Groote 2022, PLoS Comput Biol 18(6): e1009338.
    """
    begin = time.process_time()
    check_type("noise", noise, Noise)
    check_problem(problem)
    plan = prepare(problem, transcription, solver)
    part = plan.transcribed.only_part
    if part is None or part.reduction is not None or part.layout.moving:
        raise ValueError("noise: expected a motion on given knots that is not integrated")
    own = deviations_of(
        part, noise, measured, positive_integer("periods", periods), continuous=continuous
    )
    rows = [*_chance_rows(problem, chance, positive("floor", floor, True))]
    for each in check_records("deviations", deviations, Constraint):
        rows.append(NoiseRow(constraint=each, deviation=True))
    given = (guess.solution, guess.plan) if isinstance(guess, NoisePlan) else guess
    first, fed = given if isinstance(given, tuple) else (given, None)
    first = plan.solve(check_mesh=False) if first is None else first
    x = start(plan.transcribed, first).x
    fed = feedback(first, period=first.duration / periods) if fed is None else fed
    used = _first_gains(own, x, fed) if gains is None else _given_gains(own, gains)
    begun = noise.spread_at_start(problem.tree.dof)[np.ix_(own.alive, own.alive)]
    known, outputs = _propagate(own, x, used, begun)
    scale = _scales(own, used, known, outputs, fed)
    program = noise_program(own, begun, scale, rows, None if gains is None else used)
    outcome = minimize(program.nlp, plan.solver, program.join(x, used, known), watch=watch)
    taken = {
        "iterations": outcome.iterations,
        "seconds": time.process_time() - begin,
    }
    return _noise_plan(plan, part, program, outcome, taken)


def verify_under_noise(plan: NoisePlan) -> Verification:
    """Return the Verification of the motion of a NoisePlan, but for the first-order conditions,
    which are those of the program with noise."""
    return replace(certify(plan.solution), kkt=plan.residual)


def _chance_rows(
    problem: Problem, chance: float | Mapping[str, float] | None, floor: float
) -> list[NoiseRow]:
    """Return the rows of bounds that are kept with a probability.

    Raises ValueError for an unknown constraint, and for what is no probability above a half.
    """
    if chance is None:
        return []
    known = {each.name: each for each in problem.requirements}
    bounded = [name for name, each in known.items() if not _equal(each)]
    asked = chance if isinstance(chance, Mapping) else dict.fromkeys(bounded, chance)
    rows = []
    for name, probability in asked.items():
        if name not in bounded:
            raise ValueError(
                f"chance: expected one of {', '.join(bounded)}, got {name!r}"
                f"{suggestion(name, bounded)}"
            )
        if not 0.5 <= probability < 1.0:
            raise ValueError(f"chance: {name}: expected 0.5 <= p < 1, got {probability}")
        rows.append(NoiseRow(constraint=known[name], margin=margin(probability), floor=floor))
    return rows


def _equal(constraint: Constraint) -> bool:
    """Tell whether all rows of a constraint are equalities."""
    return bool(np.all(np.equal(constraint.lower, constraint.upper)))


def _first_gains(own: Deviations, x: np.ndarray, fed: Feedback) -> np.ndarray:
    """Return gains (N, torques, m) of what is measured that come nearest to those of a Feedback."""
    alive, recursion = list(own.alive), recursion_function(own)
    y, s = _middle_inputs(own, x)
    gains = []
    for k in range(own.periods):
        zero = np.zeros((len(own.drives), own.outputs.shape[0]))
        sensed = np.array(recursion(y[:, k], s[k], zero, np.zeros((len(alive),) * 2))[1])
        wanted = fed.gains[k][np.ix_(own.drives, alive)]
        gains.append(wanted @ np.linalg.pinv(sensed))
    return np.array(gains)


def _given_gains(own: Deviations, gains: np.ndarray) -> np.ndarray:
    """Return the rows of given gains that are of drives, checked."""
    shape = own.periods, own.tree.dof, own.outputs.shape[0]
    return numbers("gains", gains, shape)[:, own.drives]


def _middle_inputs(own: Deviations, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs of the motion in the middle of the periods, and these instants."""
    s = (np.arange(own.periods) + 0.5) / own.periods
    return motion_map(own.part.layout, s)(x), s


def _propagate(
    own: Deviations, x: np.ndarray, gains: np.ndarray, begun: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariances (N + 1, ..) along the motion of x, and those of what is measured."""
    recursion, (y, s) = recursion_function(own), _middle_inputs(own, x)
    known, outputs = [begun], []
    for k, gain in enumerate(gains):
        ahead, sensed = (np.array(each) for each in recursion(y[:, k], s[k], gain, known[-1]))
        outputs.append(sensed @ known[-1] @ sensed.T + own.reading)
        known.append(ahead)
    return np.array(known), np.array(outputs)


def _scales(
    own: Deviations, gains: np.ndarray, known: np.ndarray, outputs: np.ndarray, fed: Feedback
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sizes of deviations of the state, of torques and of what is measured."""
    state = _sizes(known)
    told = np.array([gain @ each @ gain.T for gain, each in zip(gains, outputs)])
    largest = np.maximum(np.abs(fed.torques).max(axis=1)[own.drives], LEAST)
    torque = np.maximum(_sizes(told), 1e-3 * largest)
    return state, torque, _sizes(outputs)


def _sizes(covariances: np.ndarray) -> np.ndarray:
    """Return the largest standard deviations, one where there are none."""
    sizes = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2).max(axis=0))
    return np.where(sizes > LEAST * max(sizes.max(), LEAST), sizes, 1.0)


def _noise_plan(
    plan: Plan,
    part: TranscribedPhase,
    program: NoiseProgram,
    outcome: Outcome,
    taken: Mapping[str, float],
) -> NoisePlan:
    """Return the NoisePlan of an outcome."""
    own, base, count = program.own, plan.transcribed, len(part.nlp.g_lower)
    x = outcome.x[: program.first]
    alone = replace(
        outcome,
        x=x,
        f=float(part.nlp.objective(x)),
        g=outcome.g[:count],
        x_multipliers=outcome.x_multipliers[: program.first],
        g_multipliers=outcome.g_multipliers[:count],
        history=(),
    )
    trial = trial_of(part.nlp, plan.solver, [alone])
    climbed = Attempts(trials=(trial,), left=budget(plan.solver))
    statistics = statistics_of(base, climbed) | {"total_seconds": taken["seconds"]}
    solution = solution_of(base, alone, statistics, None, check_mesh=False)
    solution = replace(solution, plan=plan, program=kept_program(base))
    gains, known = program.split(outcome.x)
    fed = _with_gains(own, x, gains, feedback(solution, period=solution.duration / own.periods))
    room = np.minimum(outcome.g - program.nlp.g_lower, program.nlp.g_upper - outcome.g)
    return NoisePlan(
        noise=own.noise,
        solution=solution,
        plan=fed,
        told=_program_spread(own, known, fed),
        objective=outcome.f,
        status=outcome.status,
        success=outcome.success,
        margins={name: float(room[rows].min()) for name, rows in program.named_rows.items()},
        residual=kkt_residual(program.nlp, outcome.x, outcome.x_multipliers, outcome.g_multipliers),
        statistics=taken,
    )


def _with_gains(own: Deviations, x: np.ndarray, gains: np.ndarray, fed: Feedback) -> Feedback:
    """Return a Feedback with other gains."""
    recursion, (y, s) = recursion_function(own), _middle_inputs(own, x)
    by_state, by_output = np.zeros_like(fed.gains), np.zeros((*fed.gains.shape[:2], gains.shape[2]))
    nothing = np.zeros((len(own.alive),) * 2)
    for k, gain in enumerate(gains):
        sensed = np.array(recursion(y[:, k], s[k], gain, nothing)[1])
        by_state[k][np.ix_(own.drives, own.alive)] = gain @ sensed
        by_output[k][own.drives] = gain
    value = np.full_like(fed.value, np.nan)
    return replace(
        fed, gains=by_state, output_gains=by_output, value=value, continuous=own.continuous
    )


def _program_spread(own: Deviations, known: np.ndarray, fed: Feedback) -> Spread:
    """Return the Spread of the covariances of a program."""
    states = np.zeros((len(known), *fed.value.shape))
    states[np.ix_(range(len(known)), own.alive, own.alive)] = known
    return replace(spread(fed, noise=own.noise, trials=0), states=states)
