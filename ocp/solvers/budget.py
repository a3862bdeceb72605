"""Budget of iterations and time that attempts share, and one solve within it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ocp.solvers.casadi_plugins import CPU_LIMITS, ITERATION_LIMITS, TIME_LIMITS
from ocp.solvers.minimize import Outcome, Solver, minimize
from ocp.solvers.nlp import NLP, Option, Options
from ocp.solvers.progress import Iteration

RELAXER = "ipopt"  # solves elastic programs, whatever the plugin
LEAST_SECONDS = 1e-6  # of an exhausted limit of time, since solvers refuse zero
Watch = Callable[[Iteration], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """First point `x` (variables,) of an attempt, and {x_multipliers, g_multipliers} if known.

    A predicted point has taken `iterations` of a model, and has `options` of the solver.
    """

    x: np.ndarray
    multipliers: Mapping[str, np.ndarray] = field(default_factory=dict)
    options: Options = field(default_factory=dict)
    iterations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits left among a user's options, {option: iterations, or seconds}.

    Beside these, `iterations` of internal limits, and `seconds` to the deadline of a replan.
    """

    left: Mapping[str, float]
    iterations: float = np.inf
    seconds: float = np.inf

    @property
    def is_empty(self) -> bool:
        """Whether a limit is used up."""
        return self.iterations <= 0 or self.seconds <= 0 or min(self.left.values(), default=1) <= 0

    def limit(self, solver: Solver) -> Solver:
        """Return the solver with its limits reduced to what is left."""
        limits: dict[str, Option] = {
            _limit_name(name, solver): max(amount, 0 if name in ITERATION_LIMITS else LEAST_SECONDS)
            for name, amount in self.left.items()
        }
        return replace(solver, options=dict(solver.options) | limits) if limits else solver

    def after(self, iterations: int, seconds: float, cpu_seconds: float) -> "Budget":
        """Return the budget left after so many iterations and seconds."""
        used: dict[str, float] = dict.fromkeys(ITERATION_LIMITS, iterations)
        used |= dict.fromkeys(TIME_LIMITS, seconds) | dict.fromkeys(CPU_LIMITS, cpu_seconds)
        left = {name: amount - used[name] for name, amount in self.left.items()}
        iterations_left, seconds_left = self.iterations - iterations, self.seconds - seconds
        return Budget(left=left, iterations=iterations_left, seconds=seconds_left)


def _limit_name(limit: str, solver: Solver) -> str:
    """Return IPOPT's name of a limit among another plugin's options, if IPOPT solves."""
    if solver.name != RELAXER:
        return limit
    kinds = {"max_iter": ITERATION_LIMITS, "max_wall_time": TIME_LIMITS, "max_cpu_time": CPU_LIMITS}
    return next(name for name, others in kinds.items() if limit in others)


def relaxation_solver(solver: Solver) -> Solver:
    """Return the solver of elastic programs: IPOPT with their exact Hessian.

    Options are the user's if these are IPOPT's.
    """
    return Solver(plugin=RELAXER, options=solver.options if solver.name == RELAXER else {})


def budget(solver: Solver) -> Budget:
    """Return the Budget set by a solver's options."""
    limits = {*ITERATION_LIMITS, *TIME_LIMITS, *CPU_LIMITS}
    return Budget(left={name: solver.options[name] for name in limits & {*solver.options}})


def spend(
    nlp: NLP,
    solver: Solver,
    start: Start,
    grant: Budget,
    watch: Watch | None = None,
    *,
    most: float = np.inf,
) -> tuple[Outcome, Budget]:
    """Return the Outcome of one solve within the budget, and the budget left.

    Args:
        nlp: the program.
        solver: settings.
        start: first point.
        grant: the budget.
        watch: called with every Iteration.
        most: further limit of iterations.
    """
    begin, most = time.process_time(), min(most, grant.iterations)
    outcome = minimize(
        nlp,
        grant.limit(solver),
        start.x,
        watch=watch,
        most=int(most) if np.isfinite(most) else None,
        seconds=grant.seconds,
        **start.multipliers,
    )
    cpu_seconds = time.process_time() - begin
    return outcome, grant.after(outcome.iterations, outcome.solve_seconds, cpu_seconds)


def with_stage(watch: Watch | None, stage: str) -> Watch | None:
    """Return a watch that adds the name of a stage to iterations, None for None."""
    if watch is None:
        return None
    return lambda iteration: watch(replace(iteration, stage=stage))
