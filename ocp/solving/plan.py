"""Prepared problem: transcribed once, solved many times from other starts and parameter values."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.values.parameters import Parameter
from ocp.mechanics.values.validation import check_type, set_fields
from ocp.problem.statement import Problem
from ocp.solution.answered_program import kept_program
from ocp.solution.solution import Solution
from ocp.solvers.budget import Watch
from ocp.solvers.casadi_plugins import SHOWN
from ocp.solvers.minimize import Solver
from ocp.solvers.progress import Iteration
from ocp.solving.iterate_solutions import with_motions
from ocp.solving.parameter_values import nearest_row, range_shares, values_of
from ocp.solving.preflight import check_seconds, check_solve, check_start
from ocp.solving.solution_from_outcome import solution_of, statistics_of
from ocp.solving.solver_attempts import (
    LADDER,
    PLAIN,
    TUNED_PLUGIN,
    Attempt,
    choose_solver,
    run_attempts,
    select_attempts,
)
from ocp.solving.starts.predicted_start import predict_start
from ocp.solving.starts.warm_start import Guesses, start
from ocp.transcription.assembly.omitted_constraints import constraint_names, without_constraints
from ocp.transcription.transcribe import Transcribed, transcribe
from ocp.transcription.transcription_settings import Transcription

if TYPE_CHECKING:
    from ocp.solving.real_time import Step

# names of no parameter
ARGUMENTS = ("self", "guess", "watch", "attempts", "certify", "check_mesh", "seconds")
# of IPOPT in a hurry: numbers of a program are near 1 as they stand, so that no scaling is looked
# for anew, and steps are as good as their factors, without residuals
QUICK = {
    "nlp_scaling_method": "none",
    "mumps_scaling": 0,
    "mumps_permuting_scaling": 0,
    "fast_step_computation": "yes",
}
SELDOM = 10  # iterations from one that is shown to the next, where nobody waits for them
Kept = dict[tuple[object, ...], "Plan"]  # plans by what they were prepared from
_BUILDING = RLock()
_KEPT: ContextVar[Kept | None] = ContextVar("plans that are kept", default=None)
_CHECKED: ContextVar[bool] = ContextVar("whether meshes of kept plans are checked", default=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Data by which a pickled or copied plan transcribes its problem again: names of `freed`
    parameters and of `kept` constraints.
    """

    transcription: Transcription
    parameters: tuple[Parameter, ...]
    freed: tuple[str, ...]
    kept: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """A problem transcribed for a solver, its parameters open.

    `solve` builds no graphs: values are bounds of the program, and starts. Threads that share a
    plan take turns. A pickled or copied plan leaves its program behind, and transcribes the problem
    again by its `recipe` when a solve first needs it.

    Attributes:
        problem: the Problem, its parameters open.
        transcribed: its program.
        solver, attempts: those of its solves.
        seconds: time that preparing took (s).
    """

    problem: Problem
    transcribed: Transcribed
    solver: Solver
    attempts: tuple[Attempt, ...]
    seconds: float
    recipe: Recipe | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple:
        parts = self.problem, self.solver, self.attempts, self.seconds
        return _plan_of_recipe, (self.recipe or _recipe(self.transcribed), *parts)

    def __copy__(self) -> "Plan":
        return self

    def __getattr__(self, name: str) -> Any:
        if name != "transcribed":
            raise AttributeError(f"'Plan' object has no attribute {name!r}")
        with _BUILDING:
            if self.recipe is not None:
                set_fields(self, transcribed=_build_program(self.problem, self.recipe), recipe=None)
        return self.transcribed

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.parameters) or "no parameters"
        return f"Plan({self.transcribed!r}; {names})"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The open parameters, free ones first."""
        return (self.recipe or self.transcribed).parameters

    @property
    def free(self) -> tuple[Parameter, ...]:
        """The parameters that are sought."""
        freed = self.recipe.freed if self.recipe else self.transcribed.free_names
        return tuple(each for each in self.parameters if each.name in freed)

    def solve(
        self,
        guess: Guesses = None,
        *,
        watch: Callable[[Iteration], object] | None = None,
        attempts: Iterable[Attempt] | None = None,
        certify: bool = False,
        check_mesh: bool = True,
        **values: float,
    ) -> Solution:
        """Return the Solution for values of parameters by name, `plan.solve(speed=1.25)`.

        Args:
            guess, watch, attempts, certify: as in `ocp.solve`.
            check_mesh: whether to tell a mesh that is too coarse, which no start of a further solve
                needs.
            values: numbers by parameter name; other parameters keep their own values. A free
                parameter that is named is held at its number.

        Raises:
            ValueError: naming an unknown parameter, a value outside its bounds, or a part of the
                statement that is impossible with it.
        """
        begin = time.perf_counter()
        attempts = select_attempts(self.attempts if attempts is None else attempts, self.solver)
        check_solve(self.problem, self.transcribed.transcription, self.solver, watch, attempts)
        with self.turn:
            program = self.at(values)
            solution = _solve_program(
                program, self.solver, attempts, guess, watch, begin, check_mesh
            )
        own = self if self.transcribed.parameters else None
        solution = replace(solution, plan=own, program=kept_program(program))
        if not certify:
            return solution
        from ocp.certificate.certify_solution import (
            certify as certified,  # certificates load when one is asked for
        )

        return replace(solution, verification=certified(solution))

    def map(
        self,
        over: Iterable[Mapping[str, float]],
        guess: Guesses = None,
        *,
        chain: bool = False,
        **options: Any,
    ) -> tuple[Solution, ...]:
        """Return the Solutions for many sets of values {name: number}, in their order.

        Args:
            over: the sets of values.
            guess: start of every solve.
            chain: whether to start from the solution of the nearest set before it, in shares of the
                ranges of the values, and from the guess if that fails.
            options: those of `solve`.

        Raises:
            ValueError: as `solve`, before anything is solved.
        """
        sets: list[dict] = [
            dict(check_type("map: values by name", values, Mapping)) for values in over
        ]
        numbers = [list(values_of(self.parameters, values).values()) for values in sets]
        places = range_shares(np.array(numbers)) if sets else np.empty((0, 0))
        solutions: list[Solution] = []
        for k, values in enumerate(sets):
            solved = [j for j in range(k) if chain and solutions[j].success]
            if solved:
                first = solutions[nearest_row(places, k, solved)]
                solution = self.solve(first, **options | {"attempts": PLAIN}, **values)
            if not solved or not solution.success:
                solution = self.solve(guess, **options, **values)
            solutions.append(solution)
        return tuple(solutions)

    def replan(
        self, guess: Guesses = None, *, seconds: float = np.inf, **values: float
    ) -> Solution:
        """Return the Solution of one attempt within a deadline, for values of parameters as in
        `solve`.

        There are no checks of the start, of the mesh, or of a failure's reasons. Without a deadline
        IPOPT shows every tenth iterate only, for the history and for interruptions.

        Args:
            guess: start of the solve.
            seconds: deadline (s); a solve that is cut short returns its best iterate.
            values: numbers by parameter name.

        Returns:
            A Solution whose statistics hold the largest `violation` of a bound, in program units.

        Raises:
            ValueError: for `seconds` that are no number.
        """
        begin = time.perf_counter()
        check_seconds("replan: seconds", seconds)
        with self.turn:
            return self._replan(guess, seconds, values, begin)

    def step(
        self,
        former: "Solution | Step",
        values: ArrayLike,
        *,
        passed: float = 0.0,
        newton: int = 1,
        seconds: float = np.inf,
    ) -> "Step":
        """Return one real-time iteration: the Newton step of the interior point on the quadratic
        program at the former point.

        Args:
            former: Step of this plan, or a Solution, from which the first one is prepared.
            values: of the parameters (parameters,), in the order of `plan.parameters`.
            passed: time (s) since the former point: the rest of its motion is where this begins.
            newton: Newton steps of the interior point at most; others than the first one are taken
                while rows are violated, as after a jump.
            seconds: deadline (s), by which fewer are taken.

        Returns:
            A Step: no optimum, but nearer to it; where parameters stay, steps converge.

        Raises:
            ValueError: for values that cannot be, and a program without derivatives of its own.
        """
        from ocp.solving.real_time import take_step  # loads when a step is taken

        check_seconds("step: seconds", seconds)
        with self.turn:
            return take_step(
                self.transcribed, self.solver.hessian, former, values, passed, newton, seconds
            )

    def without(self, *names: str) -> "Plan":
        """Return the plan without the constraints of these names, on the same graphs: its solution
        can start a solve with all of them.

        Raises:
            ValueError: for an unknown name, and where passive joints are integrated.
        """
        with self.turn:
            return replace(
                self, transcribed=without_constraints(self.transcribed, names), seconds=0.0
            )

    def _replan(self, guess: Guesses, seconds: float, values: dict, begin: float) -> Solution:
        transcribed = self.at(values)
        first = start(transcribed, guess)
        ready = time.perf_counter()
        solver, left = self.solver, seconds - (ready - begin)
        if solver.name == TUNED_PLUGIN:
            shown = {SHOWN: SELDOM} if np.isinf(seconds) else {}  # each costs as much as a Jacobian
            solver = replace(solver, options=QUICK | shown | dict(solver.options))
        attempts = select_attempts(PLAIN, solver)
        climbed = run_attempts(transcribed, solver, attempts, [first], seconds=left)
        statistics = statistics_of(transcribed, climbed) | {"violation": climbed.best.violation}
        statistics["build_seconds"] += ready - begin
        solution = solution_of(transcribed, climbed.best.outcome, statistics, None)
        statistics = dict(solution.statistics) | {"total_seconds": time.perf_counter() - begin}
        return replace(solution, plan=self if self.parameters else None, statistics=statistics)

    @property
    def turn(self) -> RLock:
        """The lock by which one thread at a time solves or differentiates: graphs are not to be
        shared.
        """
        turn: RLock = self.transcribed.made.setdefault("turn", RLock())
        return turn

    def at(self, values: Mapping[str, float]) -> Transcribed:
        """Return the program for values of parameters by name."""
        if not (self.transcribed.parameters or values):
            return self.transcribed
        held, made = {each.name for each in self.free} & set(values), self.transcribed.made
        key = values_of(self.parameters, values), held
        if "at" not in made or made["at"][0] != key:  # what was asked for last is kept
            made["at"] = key, self.transcribed.at(*key)
        return made["at"][1]


def _recipe(program: Transcribed) -> Recipe:
    return Recipe(
        transcription=program.transcription,
        parameters=program.parameters,
        freed=program.free_names,
        kept=constraint_names(program),
    )


def _plan_of_recipe(recipe: Recipe, problem: Problem, solver: Solver, *rest: object) -> Plan:
    """Return a plan without its program, as it is read or copied."""
    plan: Plan = object.__new__(Plan)
    attempts, seconds = rest
    set_fields(plan, recipe=recipe, problem=problem, solver=solver)
    set_fields(plan, attempts=attempts, seconds=seconds)
    return plan


def on_virtual_kernels(plan: Plan) -> Plan:
    """Return a plan whose program is made of CasADi's own graphs alone."""
    recipe = plan.recipe or _recipe(plan.transcribed)
    virtual = replace(recipe.transcription, kernels="virtual", threads=1)
    program = _build_program(plan.problem, replace(recipe, transcription=virtual))
    return replace(plan, transcribed=program, recipe=None)


def _build_program(problem: Problem, recipe: Recipe) -> Transcribed:
    """Return the program of a problem that a recipe tells."""
    program = transcribe(problem, recipe.transcription, free=recipe.freed)
    left_out = constraint_names(program) - recipe.kept
    return without_constraints(program, sorted(left_out)) if left_out else program


def prepare(
    problem: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    free: Iterable[str] = (),
    attempts: Iterable[Attempt] = LADDER,
) -> Plan:
    """Return the Plan of a problem: transcribed once, its parameters open.

    Args:
        problem: a Problem.
        transcription: method, formulation and derivatives of the nonlinear program.
        solver: the solver and its options.
        free: names of parameters to be found, beside those that are free by definition.
        attempts: Attempts, as `ocp.solve` makes them.

    Raises:
        ValueError: for anything wrong with the statement.
    """
    check_solve(problem, transcription, solver, None, attempts)
    begin = time.perf_counter()
    names = (free,) if isinstance(free, str) else tuple(free)
    for name in names:
        check_type("free: name of a parameter", name, str)
    kept, key = _KEPT.get(), (id(problem), transcription, names)
    if kept is not None and key in kept:
        return replace(
            kept[key], solver=solver, attempts=select_attempts(attempts, solver), seconds=0.0
        )
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
        attempts=select_attempts(attempts, solver),
        seconds=time.perf_counter() - begin,
    )
    if kept is not None and plan.parameters:
        kept[key] = plan
    return plan


@contextmanager
def keep_plans(plans: Kept, *, check_mesh: bool = True) -> Iterator[None]:
    """Keep the plans that are prepared within, in `plans`: what is prepared again, the very same
    problem for an equal transcription, is the plan that it was.

    So whatever solves a problem with other values, by `solve` or by `prepare`, builds it once.
    Where every motion is certified anyhow, `check_mesh` may leave out what else tells that a mesh
    is too coarse.
    """
    token, checked = _KEPT.set(plans), _CHECKED.set(check_mesh)
    try:
        yield
    finally:
        _KEPT.reset(token)
        _CHECKED.reset(checked)


def _solve_program(
    transcribed: Transcribed,
    solver: Solver,
    attempts: Sequence[Attempt],
    guess: Guesses,
    watch: Watch | None,
    begin: float,
    check_mesh: bool,
) -> Solution:
    """Return the Solution of a program; `begin` is when it was asked for."""
    guesses = [guess if attempt.guess is None else attempt.guess for attempt in attempts]
    distinct = {id(each): each for each in guesses}
    starts = {key: start(transcribed, each) for key, each in distinct.items()}
    for each in starts.values():
        check_start(transcribed, each.x, solver.hessian)
    ready, processor = time.perf_counter(), time.process_time()
    begins = [starts[id(each)] for each in guesses]
    predictable = choose_solver(transcribed.nlp, solver)[0] is solver  # ours needs none
    if predictable and isinstance(guesses[0], Solution):
        begins[0] = predict_start(transcribed, solver, attempts[0], guesses[0], begins[0])
    seen, foresight = time.perf_counter(), time.process_time() - processor
    shown = None if watch is None else with_motions(transcribed, watch)
    climbed = run_attempts(transcribed, solver, attempts, begins, shown)
    statistics = statistics_of(transcribed, climbed) | {"explanation_iterations": 0}
    reasons: Sequence[str] = ()
    if len(attempts) > 1 and climbed.all_infeasible:  # of one start of many nobody asks why
        from ocp.diagnosis.minimal_relaxation import relax_minimally  # loads after a failure

        still, x = transcribed.on_given_knots(climbed.nearest)
        elastic = relax_minimally(still, solver, x, climbed.left, watch)
        reasons, statistics["explanation_iterations"] = elastic.lines, elastic.iterations
    statistics["prediction_iterations"] = begins[0].iterations
    statistics["build_seconds"] += ready - begin
    statistics["solve_seconds"] += seen - ready
    statistics["solve_cpu_seconds"] += foresight
    statistics["total_seconds"] = time.perf_counter() - begin
    best = climbed.best.outcome
    return solution_of(transcribed, best, statistics, reasons, check_mesh=check_mesh)


def solve_once(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Guesses = None,
    watch: Callable[[Iteration], object] | None = None,
    attempts: Iterable[Attempt] = LADDER,
    certify: bool = False,
    values: Mapping[str, float] | None = None,
) -> Solution:
    """Return the Solution of a problem on its own basis; arguments are those of `solve`."""
    plan = prepare(problem, transcription, solver, attempts=attempts)
    given: dict[str, Any] = dict(values or {})
    solution = plan.solve(guess, watch=watch, certify=certify, check_mesh=_CHECKED.get(), **given)
    statistics = dict(solution.statistics)
    for name in ("build_seconds", "total_seconds"):
        statistics[name] += plan.seconds
    return replace(solution, statistics=statistics)
