"""Scenarios: one motion, or one set of torques, for several values of a problem's parameters.

    robust = solve_scenarios(problem, Scenarios(values=grid({"payload": (0.0, 4.0, 8.0)})))
    robust.require().solutions[2].tau(t)

All scenarios stand in one program (`ocp.transcription.scenario_program`). Where the worst one
counts, those that neither decide the objective nor break a row are left out of it, and are added
when the motion found without them turns out to break one (cutting sets: Mutapcic & Boyd 2009,
Optimization Methods & Software 24, 381-406).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ocp.certificate.verification import Verification
from ocp.mechanics.values.parameters import Parameter
from ocp.mechanics.values.validation import check_type, positive, set_fields
from ocp.pickling import portable
from ocp.problem.statement import Problem
from ocp.solution.answered_program import kept_program
from ocp.solution.solution import Solution, SolveResult
from ocp.solvers.budget import budget
from ocp.solvers.minimize import Outcome, Solver, minimize
from ocp.solvers.nlp import NLP, Option, iterate_at, kkt_residual, violation, with_rows
from ocp.solvers.progress import Iteration
from ocp.solvers.solver_backend import Unsuited
from ocp.solving.parameter_values import range_shares, values_of
from ocp.solving.plan import Plan, prepare
from ocp.solving.solution_from_outcome import solution_of, statistics_of
from ocp.solving.solver_attempts import Attempts, Trial, choose_solver, trial_of
from ocp.solving.starts.warm_start import Guesses, start
from ocp.spelling import suggest_fields, suggestion
from ocp.transcription.scenario_program import (
    MEAN,
    MOTION,
    OBJECTIVES,
    SHARES,
    WORST,
    ScenarioProgram,
    own_columns,
    own_rows,
    scenario_program,
    with_bounds_of,
)
from ocp.transcription.transcribe import Transcribed
from ocp.transcription.transcription_settings import Transcription

MET = 1e-6  # by which a row may be missed, in units of the program
BELOW = 1e-6  # of the worst objective: one that is larger by less decides nothing
ROUNDING = 1e-9  # of the sum of the weights
LONGEST = 100  # iterations of a scenario whose motion is given: it meets its rows soon or not


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Scenarios:
    """Values of a problem's parameters for which one motion is to do.

    Args:
        values: {parameter: number} of each scenario, as `ocp.studies.grid` makes them; parameters
            that are not named keep their own values.
        weights: of the scenarios, in any unit; all alike by default.
        objective: "mean", "worst", or "spread", the mean and so many standard deviations more.
        spread: number of standard deviations.
        share: "motion": torques and forces follow in every scenario; or "torques", where these are
            variables: every scenario has the motion that they make; or the "feedback" that torques
            follow from: those of one scenario, and gains, which are sought, times what the state
            differs from that one's.
        probability: share of the weights in which all is met, as large as can be without the
            scenarios that cost most, which are left out one by one (Campi & Garatti 2011).

    Raises:
        ValueError: naming the field.
    """

    values: Sequence[Mapping[str, float]]
    weights: Sequence[float] | None = None
    objective: str = MEAN
    spread: float = 1.0
    share: str = MOTION
    probability: float = 1.0

    def __post_init__(self) -> None:
        values = tuple(dict(check_type("scenarios: values", each, Mapping)) for each in self.values)
        if not values:
            raise ValueError("scenarios: values: expected at least one scenario, got none")
        weights = np.ones(len(values)) if self.weights is None else np.array(self.weights, float)
        if weights.shape != (len(values),) or not (weights > 0).all() or np.isinf(weights).any():
            raise ValueError(
                f"scenarios: weights: expected {len(values)} positive numbers, got {self.weights}"
            )
        for name, known in (("objective", OBJECTIVES), ("share", SHARES)):
            given = getattr(self, name)
            if given not in known:
                raise ValueError(
                    f"scenarios: {name}: expected one of {', '.join(known)}, got {given!r}"
                    f"{suggestion(str(given), known)}"
                )
        if not 0.0 < self.probability <= 1.0:
            raise ValueError(
                "scenarios: probability: expected a number above 0, at most 1, got "
                f"{self.probability}"
            )
        positive("scenarios: spread", self.spread)
        shares = tuple(float(each) for each in weights / weights.sum())
        set_fields(self, values=values, weights=shares)


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScenarioSolution(SolveResult):
    """The motions of all scenarios of one solve.

    Attributes:
        scenarios: as asked for, their weights of sum one.
        solutions: of every scenario with its own objective; None of those that were left out.
        objective: of all together.
        status, success: the solver's.
        deciding: numbers of the scenarios that the last program had.
        residual: of the first-order conditions of that program.
        statistics: {iterations, solves, seconds}, seconds of the processor.
        gains: those that are shared (nodes, drives, rows of q and qd), N m/rad and so on; None
            where feedback is not.
        nodes: instants s of the gains (nodes,).
    """

    scenarios: Scenarios
    solutions: tuple[Solution | None, ...]
    objective: float
    status: str
    success: bool
    deciding: tuple[int, ...]
    residual: float
    statistics: Mapping[str, float] = field(default_factory=dict)
    gains: np.ndarray | None = None
    nodes: np.ndarray | None = None

    @property
    def explanation(self) -> tuple[str, ...]:
        """Lines on the scenarios that are not solved."""
        lines = [f"not solved for {len(self.solutions)} scenarios together: {self.status}"]
        for values, each in zip(self.scenarios.values, self.solutions):
            if each is not None and not each.success:
                lines += [f"{_words(values)}: {line}" for line in each.explanation[:2]]
        return tuple(lines)

    def __repr__(self) -> str:
        return (
            f"ScenarioSolution({len(self.solutions)} scenarios, status={self.status!r}, "
            f"objective={self.objective:.9g})"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        for k, (values, each) in enumerate(zip(self.scenarios.values, self.solutions)):
            cost = "left out" if each is None else f"{each.objective:.6g}"
            told = ", decides" if k in self.deciding else ""
            lines.append(f"  {_words(values):<24} {cost}{told}")
        return "\n".join(lines)


def solve_scenarios(
    problem: Problem,
    scenarios: Scenarios,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Guesses = None,
    watch: Callable[[Iteration], object] | None = None,
) -> ScenarioSolution:
    """Return the ScenarioSolution of a problem whose parameters take several values.

    Args:
        problem: a Problem, its parameters open; those that are free are found for all scenarios.
        scenarios: the Scenarios.
        transcription: method, formulation and derivatives of the nonlinear program.
        solver: the solver and its options.
        guess: as in `solve`; without one the scenario in the middle is solved first, alone.
        watch: called with every Iteration.

    Raises:
        ValueError: for anything wrong with the statement, naming an unknown parameter, and where
            torques are to be shared that are no variables.
    """
    begin = time.process_time()
    plan = prepare(problem, transcription, solver)
    values = tuple(values_of(plan.parameters, each) for each in scenarios.values)
    base, named = plan.transcribed, scenarios.values
    own = own_columns(base, values, scenarios.share)
    task = _Task(
        plan=plan,
        programs=tuple(base.at(each, {*names}) for each, names in zip(values, named)),
        own=own,
        rows=own_rows(base.nlp, own),
        scenarios=scenarios,
        watch=watch,
    )
    iterations = 0
    if guess is None:
        middle: dict[str, Option] = dict(scenarios.values[_middle(values)])
        guess = plan.solve(watch=watch, check_mesh=False, **middle)
        iterations = guess.statistics["iterations"]
    asked = tuple(range(len(values)))
    found = _solve_together(task, asked, {k: start(task.programs[k], guess).x for k in asked})
    tried = found.tried
    while found.trial.outcome.success:
        without = [
            _solve_together(task, tuple(k for k in asked if k != dropped), found.variables)
            for dropped in _removable(task, asked, found)
        ]
        tried += tuple(one for each in without for one in each.tried)
        solved = [each for each in without if each.trial.outcome.success]
        if not solved:
            break
        found = min(solved, key=lambda each: each.trial.outcome.f)
        asked = tuple(sorted(found.every))
    known = {
        "iterations": iterations + sum(each.outcome.iterations for each in tried),
        "solves": len(tried),
        "solve_cpu_seconds": sum(each.outcome.solve_cpu_seconds for each in tried),
        "seconds": time.process_time() - begin,
    }
    return _solution(task, found, known)


def verify_scenarios(solution: ScenarioSolution) -> dict[int, Verification]:
    """Return {number of the scenario: Verification} of every one that was not left out.

    Each is certified as a motion of its own, but for the first-order conditions, which are those of
    the program of all.
    """
    from ocp.certificate.certify_solution import certify  # loads when it is asked for

    return {
        k: replace(certify(each), kkt=solution.residual)
        for k, each in enumerate(solution.solutions)
        if each is not None
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A plan, and the scenarios that it is solved for: their `programs`, `own` variables and
    `rows`, as `scenario_program` takes them."""

    plan: Plan
    programs: tuple[Transcribed, ...]
    own: np.ndarray
    rows: np.ndarray
    scenarios: Scenarios
    watch: Callable[[Iteration], object] | None

    def together(self, numbers: Sequence[int]) -> ScenarioProgram:
        """Return the program of some scenarios."""
        given = self.scenarios
        assert given.weights is not None
        whole = sum(given.weights[k] for k in numbers)
        return scenario_program(
            [self.programs[k] for k in numbers],
            self.own,
            self.rows,
            [given.weights[k] / whole for k in numbers],
            objective=given.objective,
            spread=given.spread,
            share=given.share,
        )

    def minimum(self, nlp: NLP, x: np.ndarray, most: int | None = None) -> Trial:
        """Return the Trial of a program; by "auto" ours where IPOPT is no quicker, or fails."""
        chosen, _ = choose_solver(nlp, self.plan.solver)
        try:
            outcome = minimize(nlp, chosen, x, watch=self.watch, most=most)
        except Unsuited:
            if chosen is self.plan.solver:
                raise
        else:
            if outcome.success or chosen is self.plan.solver or most is not None:
                return trial_of(nlp, chosen, [outcome])
        outcome = minimize(nlp, self.plan.solver, x, watch=self.watch, most=most)
        return trial_of(nlp, self.plan.solver, [outcome])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The trial of the program of some scenarios, whose `numbers` it has; trials of all that are
    asked for, and all on the way."""

    program: ScenarioProgram
    numbers: tuple[int, ...]
    trial: Trial
    every: Mapping[int, Trial]
    tried: tuple[Trial, ...]

    @property
    def variables(self) -> dict[int, np.ndarray]:
        """Variables of every scenario, from which another solve begins."""
        return {k: each.outcome.x for k, each in self.every.items()}


def _solve_together(task: _Task, asked: Sequence[int], begun: Mapping[int, np.ndarray]) -> _Found:
    """Return the best outcome of all scenarios `asked` for, from variables of each.

    Where the worst counts, the program has only those that decide, at first the one that is worst
    with the motion of the start.
    """
    numbers, known = tuple(asked), dict(begun)
    tried: list[Trial] = []
    if task.scenarios.objective == WORST and task.scenarios.share == MOTION:
        moved = _with_motion(task, asked, known[asked[0]], known)
        known |= {k: each.outcome.x for k, each in moved.items() if each.outcome.success}
        numbers, tried = (_worst(moved),), [*moved.values()]
    while True:
        program = task.together(numbers)
        trial = task.minimum(program.nlp, program.join([known[k] for k in numbers]))
        every = {
            k: replace(trial, outcome=each, stages=(each,))
            for k, each in zip(numbers, program.outcomes(trial.outcome))
        }
        known |= {k: each.outcome.x for k, each in every.items()}
        others = [k for k in asked if k not in every and trial.outcome.success]
        moved = _with_motion(task, others, known[numbers[0]], known)
        tried += [trial, *moved.values()]
        most = trial.outcome.f + BELOW * max(1.0, abs(trial.outcome.f))
        broken = {
            k: each
            for k, each in moved.items()
            if not (each.outcome.success and each.outcome.f <= most)
        }
        if not broken:
            return _Found(
                program=program,
                numbers=numbers,
                trial=trial,
                every=dict(sorted((every | moved).items())),
                tried=tuple(tried),
            )
        known |= {k: each.outcome.x for k, each in moved.items() if each.outcome.success}
        numbers = (*numbers, _worst(broken))


def _with_motion(
    task: _Task, numbers: Sequence[int], x: np.ndarray, known: Mapping[int, np.ndarray]
) -> dict[int, Trial]:
    """Return the best Trial of each scenario on the motion of x, from known variables; rows of the
    motion alone are not looked at."""
    own, rows, reached = task.own, task.rows, dict[int, Trial]()
    fewer = with_rows(task.programs[0].nlp, rows) if numbers else None
    for k in numbers:
        assert fewer is not None
        nlp, begun = task.programs[k].nlp, np.where(own, known[k], x)
        lower, upper = nlp.lower.copy(), nlp.upper.copy()
        lower[~own] = upper[~own] = begun[~own]
        held = with_bounds_of(fewer, replace(nlp, lower=lower, upper=upper), rows)
        unknown = bool((lower < upper).any())
        trial = task.minimum(held, begun, LONGEST) if unknown else _as_it_is(held, begun)
        multipliers = np.zeros(len(nlp.g_lower))
        multipliers[rows] = trial.outcome.g_multipliers
        g = np.array(nlp.constraints(trial.outcome.x)).ravel()
        outcome = replace(trial.outcome, g=g, g_multipliers=multipliers)
        reached[k] = replace(trial, outcome=outcome, stages=(outcome,))
    return reached


def _as_it_is(nlp: NLP, x: np.ndarray) -> Trial:
    """Return the Trial of a program that leaves nothing unknown."""
    point = iterate_at(nlp, x)
    met = float(np.max(violation(point.g, nlp.g_lower, nlp.g_upper), initial=0.0)) <= MET
    outcome = Outcome(
        x=point.x,
        f=float(nlp.objective(x)),
        g=point.g,
        x_multipliers=point.x_multipliers,
        g_multipliers=point.g_multipliers,
        status="Solve_Succeeded" if met else "Infeasible_Problem_Detected",
        success=met,
        iterations=0,
        history=(),
        build_seconds=0.0,
        solve_seconds=0.0,
    )
    return trial_of(nlp, Solver(), [outcome])


def _worst(moved: Mapping[int, Trial]) -> int:
    """Return the scenario of the largest objective, of one that breaks rows before all others."""
    return max(moved, key=lambda k: (not moved[k].outcome.success, moved[k].outcome.f))


def _removable(task: _Task, asked: Sequence[int], found: _Found) -> list[int]:
    """Return the deciding scenarios of which one may be left out still."""
    weights = task.scenarios.weights
    assert weights is not None
    least = task.scenarios.probability - ROUNDING
    kept = sum(weights[k] for k in asked)
    return [k for k in found.numbers if len(asked) > 1 and kept - weights[k] >= least]


def _solution(task: _Task, found: _Found, statistics: Mapping[str, float]) -> ScenarioSolution:
    """Return the ScenarioSolution of the last program."""
    outcome, nlp = found.trial.outcome, found.program.nlp
    solutions: dict[int, Solution] = {}
    for k, each in found.every.items():
        program = task.programs[k]
        climbed = Attempts(trials=(each,), left=budget(each.solver))
        told = statistics_of(program, climbed) | {"total_seconds": statistics["seconds"]}
        alone = solution_of(program, each.outcome, told, None, check_mesh=False)
        solutions[k] = replace(alone, plan=task.plan, program=kept_program(program))
    multipliers, gains = (outcome.x_multipliers, outcome.g_multipliers), found.program.gains
    part = task.programs[0].only_part
    return ScenarioSolution(
        scenarios=task.scenarios,
        solutions=tuple(solutions.get(k) for k in range(len(task.programs))),
        objective=outcome.f,
        status=outcome.status,
        success=outcome.success,
        deciding=tuple(sorted(found.numbers)),
        residual=kkt_residual(nlp, outcome.x, *multipliers),
        statistics=statistics,
        gains=None if gains is None else outcome.x[gains],
        nodes=None if gains is None or part is None else part.layout.nodes,
    )


def _middle(values: Sequence[Mapping[Parameter, float]]) -> int:
    """Return the scenario in the middle of the ranges of all values."""
    places = range_shares(np.array([[*each.values()] for each in values], dtype=float))
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    return int(np.abs(places - middle).sum(axis=1).argmin())


def _words(values: Mapping[str, float]) -> str:
    """Return the values of a scenario in words."""
    return ", ".join(f"{name} = {value:g}" for name, value in values.items()) or "as stated"
