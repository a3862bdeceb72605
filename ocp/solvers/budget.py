"""What attempts share: where one begins, the limits that are left, and one solve within them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ocp.solvers.iteration_log import Iteration
from ocp.solvers.minimize import Outcome, Solver, minimize
from ocp.solvers.nlp import NLP
from ocp.solvers.plugins import CPU_LIMITS, ITERATION_LIMITS, TIME_LIMITS

EASING = "ipopt"  # solves relaxed programs, whatever plugin was asked for
LEAST_SECONDS = 1e-6  # of a limit of time that is used up, since solvers refuse zero
Watch = Callable[[Iteration], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where an attempt begins: the point `x` (variables,), and `multipliers` where they are known.

    These are {x_multipliers, g_multipliers}. A point that was predicted, in so many iterations of a
    model, has `options` of the solver with which it begins.
    """

    x: np.ndarray
    multipliers: Mapping[str, np.ndarray] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left: of the limits among a user's options, {option: iterations, or seconds}.

    Beside them `iterations` that the house allows itself, and `seconds` before the deadline of a
    plan made while its mechanism moves.
    """

    left: Mapping[str, float]
    iterations: float = np.inf
    seconds: float = np.inf

    @property
    def spent(self) -> bool:
        """Tell whether one of the limits is used up."""
        return self.iterations <= 0 or self.seconds <= 0 or min(self.left.values(), default=1) <= 0

    def limit(self, solver: Solver) -> Solver:
        """Return the solver with no more allowed than what is left to the user's options."""
        limits: dict[str, Any] = {
            _named(name, solver): max(amount, 0 if name in ITERATION_LIMITS else LEAST_SECONDS)
            for name, amount in self.left.items()
        }
        return replace(solver, options=dict(solver.options) | limits) if limits else solver

    def after(self, iterations: int, seconds: float, cpu_seconds: float) -> "Budget":
        """Return what is left after so many iterations and seconds."""
        used: dict[str, float] = dict.fromkeys(ITERATION_LIMITS, iterations)
        used |= dict.fromkeys(TIME_LIMITS, seconds) | dict.fromkeys(CPU_LIMITS, cpu_seconds)
        left = {name: amount - used[name] for name, amount in self.left.items()}
        iterations_left, seconds_left = self.iterations - iterations, self.seconds - seconds
        return Budget(left=left, iterations=iterations_left, seconds=seconds_left)


def _named(limit: str, solver: Solver) -> str:
    """Return what IPOPT calls a limit that another plugin's options set, where it solves."""
    if solver.name != EASING:
        return limit
    kinds = {"max_iter": ITERATION_LIMITS, "max_wall_time": TIME_LIMITS, "max_cpu_time": CPU_LIMITS}
    return next(name for name, others in kinds.items() if limit in others)


def relaxation_solver(solver: Solver) -> Solver:
    """Return what solves relaxed programs: IPOPT with their exact curvature.

    Options are the user's where these are IPOPT's.
    """
    return Solver(plugin=EASING, options=solver.options if solver.name == EASING else {})


def budget(solver: Solver) -> Budget:
    """Return the Budget that a solver's options grant."""
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
    """Return the Outcome of one solve within the budget, and what it left of it.

    It is cut short after `most` iterations.
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
    """Return what shows iterations of a stage to `watch`."""
    if watch is None:
        return None
    return lambda iteration: watch(replace(iteration, stage=stage))
