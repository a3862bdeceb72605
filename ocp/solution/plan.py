"""A problem prepared: transcribed once, then solved as often as one likes, from other starts and
with other values of its parameters."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any

import numpy as np

from ocp.mechanics.checks import instance
from ocp.mechanics.parameters import Parameter
from ocp.mechanics.zero_moment import body_weight
from ocp.problem.statement import Problem
from ocp.solution.arguments import check_solve
from ocp.solution.attempts import LADDER, PLAIN, TUNED_PLUGIN, Attempt, Climb, climb, ladder
from ocp.solution.budget import Watch
from ocp.solution.diagnosis import explain
from ocp.solution.elastic import Elastic, must_give_way
from ocp.solution.foresight import foreseen
from ocp.solution.preflight import preflight
from ocp.solution.resolution import coarseness
from ocp.solution.solution import FOUND, Solution
from ocp.solution.starts import Guess, in_other_weights, start
from ocp.solution.values import in_shares, nearest, values_of
from ocp.solvers.minimizing import Outcome, Solver
from ocp.solvers.nlp import NLP
from ocp.solvers.plugins import SHOWN
from ocp.solvers.record import Iteration
from ocp.transcription.multipliers import name_multipliers
from ocp.transcription.transcribe import Transcribed, Transcription, transcribe
from ocp.transcription.variables import Layout, instants_at, motion_at, split, values_at

ARGUMENTS = ("self", "guess", "watch", "attempts", "certify", "seconds")  # names of no parameter
SELDOM = 10  # iterations from one that is shown to the next, where nobody waits for them
Kept = dict[tuple[Any, ...], "Plan"]  # plans by what they were prepared from
_KEPT: ContextVar[Kept | None] = ContextVar("plans that are kept", default=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """A problem transcribed for a solver, its parameters open.

    `solve` builds no graphs: values are bounds of the program, and starts; threads that share a
    plan take turns. `attempts` are made one after the other; `seconds` is what preparing took.
    """

    problem: Problem
    transcribed: Transcribed
    solver: Solver
    attempts: tuple[Attempt, ...]
    seconds: float

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.parameters) or "no parameters"
        return f"Plan({self.transcribed!r}; {names})"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the problem leaves open, free parameters first."""
        return self.transcribed.parameters

    @property
    def free(self) -> tuple[Parameter, ...]:
        """The parameters that are sought."""
        return self.transcribed.layout.freed

    def solve(
        self,
        guess: Guess | Solution | None = None,
        *,
        watch: Callable[[Iteration], Any] | None = None,
        attempts: Iterable[Attempt] | None = None,
        certify: bool = False,
        **values: float,
    ) -> Solution:
        """Return the Solution for values of parameters by name, `plan.solve(speed=1.25)`.

        Parameters that are not named have their own values; a free one that is named is held there.
        The rest as in `ocp.solve`. Raises ValueError naming an unknown parameter, a value outside
        its bounds, and what of the statement cannot be with it.
        """
        begin = time.perf_counter()
        attempts = self.attempts if attempts is None else ladder(attempts, self.solver)
        check_solve(self.problem, self.transcribed.transcription, self.solver, watch, attempts)
        with self._turn:
            solution = _solved(self.at(values), self.solver, attempts, guess, watch, begin)
        solution = replace(solution, plan=self if self.parameters else None)
        if not certify:
            return solution
        from ocp.solution.certificate import verify  # certificates load when one is asked for

        return replace(solution, verification=verify(solution))

    def map(
        self,
        over: Iterable[Mapping[str, float]],
        guess: Guess | Solution | None = None,
        *,
        chain: bool = False,
        **options: Any,
    ) -> tuple[Solution, ...]:
        """Return the Solutions for many sets of values {name: number}, in their order.

        Each starts from the `guess`; with `chain` from the solution of the nearest set before it,
        in shares of the ranges of the values, and from the guess should it fail from there.
        `options` are those of `solve`. Raises ValueError as `solve` does, before anything is
        solved.
        """
        sets = [dict(instance("map: values by name", values, Mapping)) for values in over]
        numbers = [list(values_of(self.parameters, values).values()) for values in sets]
        places = in_shares(np.array(numbers)) if sets else np.empty((0, 0))
        solutions: list[Solution] = []
        for k, values in enumerate(sets):
            solved = [j for j in range(k) if chain and solutions[j].success]
            if solved:
                first = solutions[nearest(places, k, solved)]
                solution = self.solve(first, **options | {"attempts": PLAIN}, **values)
            if not solved or not solution.success:
                solution = self.solve(guess, **options, **values)
            solutions.append(solution)
        return tuple(solutions)

    def replan(
        self, guess: Guess | Solution | None = None, *, seconds: float = np.inf, **values: float
    ) -> Solution:
        """Return the Solution of one attempt in a hurry, for values of parameters as in `solve`.

        It ends within `seconds`, cut short at the best iterate seen before; its statistics have the
        largest `violation` of a bound, in the program's units. Nobody looks for derivatives that
        are no numbers before, nor between the nodes or for reasons of a failure afterwards; and
        without a deadline IPOPT shows every tenth iterate only, of which the history is and what an
        interruption leaves.
        """
        begin = time.perf_counter()
        with self._turn:
            return self._replanned(guess, seconds, values, begin)

    def _replanned(
        self, guess: Guess | Solution | None, seconds: float, values: dict, begin: float
    ) -> Solution:
        transcribed = self.at(values)
        first = start(transcribed, guess)
        ready = time.perf_counter()
        solver, left = self.solver, seconds - (ready - begin)
        if np.isinf(seconds) and solver.name == TUNED_PLUGIN:  # each takes as long as a Jacobian
            solver = replace(solver, options={SHOWN: SELDOM} | dict(solver.options))
        attempts = ladder(PLAIN, solver)
        climbed = climb(transcribed, solver, attempts, [first], seconds=left)
        statistics = _statistics(transcribed, climbed) | {"violation": climbed.best.violation}
        statistics["build_seconds"] += ready - begin
        solution = _solution(transcribed, climbed.best.outcome, statistics, None)
        statistics = dict(solution.statistics) | {"total_seconds": time.perf_counter() - begin}
        return replace(solution, plan=self if self.parameters else None, statistics=statistics)

    @property
    def _turn(self) -> RLock:
        """What lets one thread at a time solve: graphs are not made to be shared."""
        turn: RLock = self.transcribed.made.setdefault("turn", RLock())
        return turn

    def at(self, values: Mapping[str, float]) -> Transcribed:
        """Return the program for values of parameters by name."""
        held, made = {each.name for each in self.free} & set(values), self.transcribed.made
        key = values_of(self.parameters, values), held
        if "at" not in made or made["at"][0] != key:  # what was asked for last is kept
            made["at"] = key, self.transcribed.at(*key)
        return made["at"][1]


def prepare(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    free: Iterable[str] = (),
    attempts: Iterable[Attempt] = LADDER,
) -> Plan:
    """Return the Plan of a problem: transcribed once, its parameters open.

    Parameters named as `free` are sought, beside those that are free of themselves; `attempts` are
    those of `ocp.solve`. Raises ValueError for anything wrong with the statement.
    """
    check_solve(problem, transcription, solver, None, attempts)
    begin = time.perf_counter()
    names = (free,) if isinstance(free, str) else tuple(free)
    for name in names:
        instance("free: name of a parameter", name, str)
    kept, key = _KEPT.get(), (id(problem), transcription, names)
    if kept is not None and key in kept:
        return replace(kept[key], solver=solver, attempts=ladder(attempts, solver), seconds=0.0)
    transcribed = transcribe(problem, transcription, free=names)
    for parameter in transcribed.parameters:
        if parameter.name in ARGUMENTS:
            raise ValueError(
                f"parameter {parameter.name!r}: an argument of Plan.solve has this name; "
                "take another"
            )
    plan = Plan(
        problem=problem,
        transcribed=transcribed,
        solver=solver,
        attempts=ladder(attempts, solver),
        seconds=time.perf_counter() - begin,
    )
    if kept is not None and plan.parameters:
        kept[key] = plan
    return plan


@contextmanager
def keeping(plans: Kept) -> Iterator[None]:
    """Keep the plans that are prepared within, in `plans`: what is prepared again, the very same
    problem for an equal transcription, is the plan that it was.

    So whatever solves a problem with other values, by `solve` or by `prepare`, builds it once.
    """
    token = _KEPT.set(plans)
    try:
        yield
    finally:
        _KEPT.reset(token)


def _solved(
    transcribed: Transcribed,
    solver: Solver,
    attempts: Sequence[Attempt],
    guess: Guess | Solution | None,
    watch: Watch | None,
    begin: float,
) -> Solution:
    """Return the Solution of a program; `begin` is when it was asked for."""
    guesses = [guess if attempt.guess is None else attempt.guess for attempt in attempts]
    distinct = {id(each): each for each in guesses}
    starts = {key: start(transcribed, each) for key, each in distinct.items()}
    for each in starts.values():
        preflight(transcribed, each.x, solver.hessian)
    ready = time.perf_counter()
    begins = [starts[id(each)] for each in guesses]
    begins[0] = foreseen(transcribed, solver, attempts[0], guesses[0], begins[0])
    seen = time.perf_counter()
    climbed = climb(transcribed, solver, attempts, begins, watch)
    alone = len(attempts) == 1  # one start of many, which nobody asks why it failed
    elastic = Elastic() if alone else _elastic(transcribed, solver, climbed, watch)
    statistics = _statistics(transcribed, climbed)
    statistics["explanation_iterations"] = elastic.iterations
    statistics["prediction_iterations"] = begins[0].iterations
    statistics["build_seconds"] += ready - begin
    statistics["solve_seconds"] += seen - ready
    statistics["total_seconds"] = time.perf_counter() - begin
    return _solution(transcribed, climbed.best.outcome, statistics, elastic.lines)


def _elastic(
    transcribed: Transcribed, solver: Solver, climbed: Climb, watch: Watch | None
) -> Elastic:
    """Return what must give way, unless a motion was found or nothing more may be asked."""
    if not climbed.missed:
        return Elastic()
    still, x = transcribed.still(climbed.nearest)
    return must_give_way(still, solver, x, climbed.left, watch)


def _solution(
    transcribed: Transcribed,
    outcome: Outcome,
    statistics: dict[str, Any],
    yielding: Sequence[str] | None,
) -> Solution:
    """Return the Solution that an Outcome of the transcribed problem's NLP is.

    Where the lines on what must give way are None it is in a hurry, and explains nothing.
    """
    if transcribed.reduction is not None:
        x, x_multipliers, g_multipliers = transcribed.reduction.spread(outcome)
        outcome = replace(outcome, x=x, x_multipliers=x_multipliers, g_multipliers=g_multipliers)
    reached = values_at(transcribed.layout, outcome.x)  # a solver may relax bounds a little
    values = {each: min(max(value, each.lower), each.upper) for each, value in reached.items()}
    unsound: tuple[str, ...] = ()
    try:
        transcribed = transcribed.at(values, transcribed.layout.held)
    except ValueError as error:  # on its way a solver may pass through what cannot be
        if outcome.success:
            raise
        values = dict(transcribed.layout.values)
        unsound = (f"parameters are those of the start, since it ended where {error}",)
    layout, problem = transcribed.layout, transcribed.problem
    looked = outcome.success and yielding is not None
    coarse = coarseness(*transcribed.still(outcome.x)) if looked else ""
    points, duration, lifted = split(layout, outcome.x)
    terms = np.array(transcribed.terms(outcome.x)).ravel()
    weighed = problem.objective.terms
    named = name_multipliers(
        transcribed.rows,
        transcribed.asked,
        transcribed.binding,
        outcome.x_multipliers,
        outcome.g_multipliers,
    )
    named = in_other_weights(named, transcribed, layout.weight, body_weight(problem.tree))
    return Solution(
        problem=replace(problem, motion=motion_at(layout, outcome.x)) if layout.moving else problem,
        transcription=transcribed.transcription,
        points=points,
        duration=duration,
        nodes=instants_at(layout, outcome.x, layout.nodes),
        lifted=lifted,
        objective=outcome.f,
        status=outcome.status,
        terms=tuple(
            (term.name, weight, float(value)) for (weight, term), value in zip(weighed, terms)
        ),
        success=outcome.success,
        parameters={each.name: value for each, value in values.items()},
        statistics=statistics | {"coarse": coarse} | _openness(layout),
        history=outcome.history,
        multipliers={
            name: replace(each, s=instants_at(layout, outcome.x, each.s))
            for name, each in named.items()
        },
        explanation=(coarse,) * bool(coarse)
        if outcome.success or yielding is None
        else (*explain(transcribed, outcome, yielding), *unsound),
    )


def _openness(layout: Layout) -> dict[str, Any]:
    """Return of every parameter {name: [unit, whether given or found]}; nothing without any."""
    if not layout.values:
        return {}
    sought = layout.sought
    ways = {each.name: [each.unit, FOUND if each in sought else "given"] for each in layout.values}
    return {"parameters": ways}


def _statistics(transcribed: Transcribed, climbed: Climb) -> dict[str, Any]:
    """Return sizes, settings, and what all trials together took.

    What only one has is that of the best.
    """
    nlp, last, trials = transcribed.nlp, climbed.best, climbed.trials
    stages = [stage for trial in trials for stage in trial.stages]
    return {
        "plugin": last.solver.name,
        "hessian": last.solver.hessian,
        "options": dict(last.solver.options),
        "variables": len(nlp.lower),
        "constraints": len(nlp.g_lower),
        "jacobian_nonzeros": _jacobian_nonzeros(nlp),
        "hessian_nonzeros": _hessian_nonzeros(nlp, last.solver),
        "iterations": sum(stage.iterations for stage in stages),
        "stages": [stage.status for stage in last.stages],
        "attempts": [trial.outcome.status for trial in trials],
        "build_seconds": sum(stage.build_seconds for stage in stages),
        "solve_seconds": sum(stage.solve_seconds for stage in stages),
        "warm_start": last.warm,
        "kernels": transcribed.kernels(),
        "calls": {name: list(call) for name, call in last.outcome.calls.items()},
    }


def _jacobian_nonzeros(nlp: NLP) -> int:
    if nlp.jacobian is not None:
        return nlp.jacobian.nnz_out(1)
    return nlp.constraints.jac_sparsity(0, 0).nnz()


def _hessian_nonzeros(nlp: NLP, solver: Solver) -> int | None:
    if nlp.hessian is None or solver.hessian == "lbfgs":
        return None
    return nlp.hessian(solver.hessian).nnz_out(0)
