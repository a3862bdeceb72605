"""A ladder of attempts at one program, on one budget.

The user's limits of iterations and time are shared, not given to each.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ocp.solvers.minimizing import INTERRUPTED, Outcome, Solver, minimize
from ocp.solvers.nlp import NLP, feasibility
from ocp.solvers.plugins import CPU_LIMITS, ITERATION_LIMITS, TIME_LIMITS
from ocp.solvers.record import Iteration

TUNED_PLUGIN = "ipopt"  # the only one that attempts have options for
LEAST_SECONDS = 1e-6  # of a limit of time that is used up, since solvers refuse zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way to try: `options` for IPOPT under the user's, a start, and feasibility first or not.

    `guess` is a Guess, a Solution, or None for the start of the whole solve. With `feasible_first`
    the solver first finds any motion that meets the constraints, and minimises from there: a rough
    start is smoothed before the objective pulls at it.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    guess: Any = None
    feasible_first: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where an attempt begins: the point `x` (variables,), and `multipliers` where they are known.

    These are {x_multipliers, g_multipliers}.
    """

    x: np.ndarray
    multipliers: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of an attempt: the Outcomes of its `stages`, the last of which counts.

    `solver` is as it was tuned; `warm` whether it began with multipliers.
    """

    solver: Solver
    stages: tuple[Outcome, ...]
    warm: bool

    @property
    def outcome(self) -> Outcome:
        """The Outcome of the last stage."""
        return self.stages[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of the limits among a user's options: {option: iterations, or seconds}."""

    left: Mapping[str, float]

    @property
    def spent(self) -> bool:
        """Tell whether one of the limits is used up."""
        return any(amount <= 0 for amount in self.left.values())

    def limit(self, solver: Solver) -> Solver:
        """Return the solver with no more allowed than what is left."""
        limits: dict[str, Any] = {
            name: max(amount, 0 if name in ITERATION_LIMITS else LEAST_SECONDS)
            for name, amount in self.left.items()
        }
        return replace(solver, options=dict(solver.options) | limits) if limits else solver

    def after(self, iterations: int, seconds: float, cpu_seconds: float) -> "Budget":
        """Return what is left after so many iterations and seconds."""
        used: dict[str, float] = dict.fromkeys(ITERATION_LIMITS, iterations)
        used |= dict.fromkeys(TIME_LIMITS, seconds) | dict.fromkeys(CPU_LIMITS, cpu_seconds)
        return Budget(left={name: amount - used[name] for name, amount in self.left.items()})


def budget(solver: Solver) -> Budget:
    """Return the Budget that a solver's options grant."""
    limits = {*ITERATION_LIMITS, *TIME_LIMITS, *CPU_LIMITS}
    return Budget(left={name: solver.options[name] for name in limits & {*solver.options}})


def ladder(attempts: Iterable[Attempt], solver: Solver) -> tuple[Attempt, ...]:
    """Return the attempts that a solver is to make.

    All of them, or without those that only IPOPT's options set apart from the first.

    Raises ValueError unless they are Attempts, at least one.
    """
    attempts = tuple(attempts)
    if not attempts or not all(isinstance(attempt, Attempt) for attempt in attempts):
        raise ValueError(f"attempts: expected Attempt records, at least one, got {attempts!r}")
    if solver.name == TUNED_PLUGIN:
        return attempts
    kept = [attempt for attempt in attempts[1:] if not attempt.options]
    return (replace(attempts[0], options={}), *kept)


def climb(
    nlp: NLP,
    solver: Solver,
    attempts: Sequence[Attempt],
    starts: Sequence[Start],
    watch: Callable[[Iteration], Any] | None = None,
) -> list[Trial]:
    """Return the Trials of attempts up to one that succeeds, is interrupted or spends all."""
    trials: list[Trial] = []
    grant = budget(solver)
    for attempt, start in zip(attempts, starts):
        tuned = replace(solver, options=dict(attempt.options) | dict(solver.options))
        stages, grant = _stages(nlp, tuned, attempt.feasible_first, start, grant, watch)
        warm = bool(start.multipliers) and not attempt.feasible_first
        trials.append(Trial(solver=tuned, stages=stages, warm=warm))
        if trials[-1].outcome.success or trials[-1].outcome.status == INTERRUPTED or grant.spent:
            break
    return trials


def _stages(
    nlp: NLP,
    solver: Solver,
    feasible_first: bool,
    start: Start,
    grant: Budget,
    watch: Callable[[Iteration], Any] | None,
) -> tuple[tuple[Outcome, ...], Budget]:
    """Return the Outcomes of one attempt's stages, and what they left of the budget."""
    if not feasible_first:
        outcome, grant = _minimize(nlp, solver, start, grant, watch)
        return (outcome,), grant
    first, grant = _minimize(feasibility(nlp), solver, Start(x=start.x), grant, watch)
    if first.status == INTERRUPTED:
        return (replace(first, f=float(nlp.objective(first.x))),), grant
    outcome, grant = _minimize(nlp, solver, Start(x=first.x), grant, watch)
    return (first, outcome), grant


def _minimize(
    nlp: NLP,
    solver: Solver,
    start: Start,
    grant: Budget,
    watch: Callable[[Iteration], Any] | None,
) -> tuple[Outcome, Budget]:
    """Return the Outcome of one stage within the budget, and what it left of it."""
    begin = time.process_time()
    outcome = minimize(nlp, grant.limit(solver), start.x, watch=watch, **start.multipliers)
    cpu_seconds = time.process_time() - begin
    return outcome, grant.after(outcome.iterations, outcome.solve_seconds, cpu_seconds)
