"""Attempts at one program, one after the other, on one budget of iterations and time.

The user's limits are shared among the attempts, not given to each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from ocp.mechanics.values.validation import check_type
from ocp.pickling import portable
from ocp.solvers.budget import Budget, Start, Watch, budget, spend, with_stage
from ocp.solvers.minimize import CUT_SHORT, INTERRUPTED, Outcome, Solver
from ocp.solvers.nlp import NLP, Options, feasibility, violation
from ocp.solvers.plugins import WARM
from ocp.solvers.progress import FEASIBLE, say
from ocp.solving.starts.feasibility_search import NOWHERE, search_feasible
from ocp.solving.starts.knot_continuation import hold_knots, move_knots
from ocp.spelling import suggest_fields
from ocp.transcription.transcribe import Transcribed

TUNED_PLUGIN = "ipopt"  # the only one that attempts have options for
INFEASIBLE = "Infeasible_Problem_Detected"
HOPELESS = ("Invalid_Option", "Not_Enough_Degrees_Of_Freedom")  # from wherever one starts
UNENDED = (CUT_SHORT, NOWHERE)  # what came of these is no answer
WORK, TIMES, ENOUGH, MOST = 120_000, 5, 1000, 3000  # bound what follows, see `iteration_allowance`


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way to try: `options` for IPOPT under the user's, a start, and feasibility first or not.

    `guess` is a Guess, a Solution, or None for the start of the whole solve. With `feasible_first`
    the solver first finds any motion that meets the constraints, and minimises from there: a rough
    start is smoothed before the objective pulls at it. `wandering` is a number of starts that
    wander off this one, the same every time: from each the violation of inequalities is made
    least, and from where none is left the objective; later ones wander off the best of the former.
    `warm`: the options are for a start with multipliers, in place of those that such have.
    """

    options: Options = field(default_factory=dict)
    guess: Any = None
    feasible_first: bool = False
    wandering: int = 0
    warm: bool = False

    def __post_init__(self) -> None:
        check_type("attempt: options", self.options, Mapping)
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


PLAIN = (Attempt(),)
LADDER = (Attempt(), Attempt(feasible_first=True), Attempt(wandering=40))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Result of one attempt.

    Attributes:
        solver: as it was tuned.
        stages, outcome: Outcomes of its stages, and the one that counts.
        warm: whether it began with multipliers.
        violation: the largest of any bound.
        nearest: unknowns of least violation, of random starts.
    """

    solver: Solver
    stages: tuple[Outcome, ...]
    outcome: Outcome
    warm: bool
    violation: float
    nearest: np.ndarray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The Trials of a ladder, and the Budget that they left."""

    trials: tuple[Trial, ...]
    left: Budget

    @property
    def best(self) -> Trial:
        """The Trial that succeeded or was interrupted, else the last that met all, else the last.

        Those that wandered or were cut short do not count where there are others.
        """
        last = self.trials[-1]
        if _is_final(last.outcome):
            return last
        whole = [trial for trial in self.trials if trial.outcome.status not in UNENDED] or [last]
        feasible = [trial for trial in whole if _shortfall(trial) <= FEASIBLE]
        return (feasible or whole)[-1]

    @property
    def all_infeasible(self) -> bool:
        """Tell whether no attempt met all that is asked, though nothing kept it from trying."""
        if self.best.outcome.success:
            return False
        statuses = {trial.outcome.status for trial in self.trials}
        far = min(map(_shortfall, self.trials)) > FEASIBLE
        return far and not statuses & {INTERRUPTED, *HOPELESS}

    @property
    def nearest(self) -> np.ndarray:
        """The unknowns of the point that comes nearest to all that is asked."""
        wandered = [trial.nearest for trial in self.trials if trial.nearest is not None]
        return wandered[-1] if wandered else self.best.outcome.x


def select_attempts(attempts: Iterable[Attempt], solver: Solver) -> tuple[Attempt, ...]:
    """Return the attempts that a solver is to make.

    All of them; by other solvers than IPOPT with those of its options that a solver shares, without
    those that other options alone set apart.

    Raises ValueError unless they are Attempts, at least one.
    """
    attempts = tuple(attempts)
    if not attempts or not all(isinstance(attempt, Attempt) for attempt in attempts):
        raise ValueError(f"attempts: expected Attempt records, at least one, got {attempts!r}")
    if solver.name == TUNED_PLUGIN:
        return attempts
    shared = solver.backend.shared
    if not shared:
        kept = [attempt for attempt in attempts[1:] if not attempt.options]
        return (replace(attempts[0], options={}), *kept)
    tuned: list[Attempt] = []
    for attempt in attempts:
        own = {name: value for name, value in attempt.options.items() if name in shared}
        if not any(_alike(attempt, own, other) for other in tuned):
            tuned.append(replace(attempt, options=own))
    return tuple(tuned)


def _alike(attempt: Attempt, options: Options, other: Attempt) -> bool:
    """Tell whether an attempt with these options is another one once more."""
    same = attempt.guess is other.guess and attempt.wandering == other.wandering
    same &= attempt.feasible_first == other.feasible_first
    return same and options == dict(other.options)


def run_attempts(
    transcribed: Transcribed,
    solver: Solver,
    attempts: Sequence[Attempt],
    starts: Sequence[Start],
    watch: Watch | None = None,
    seconds: float = np.inf,
) -> Attempts:
    """Return the Climb of attempts up to one that succeeds, is interrupted or spends all.

    What no start can help ends the climb, and wandering is for motions that miss what is asked.
    Attempts are cut short before `seconds` have passed.
    """
    trials: list[Trial] = []
    grant = replace(budget(solver), seconds=seconds)
    for attempt, start in zip(attempts, starts):
        if trials and _needless(attempt, trials):
            continue
        tuned = tuned_for(solver, attempt, start)
        if trials and not attempt.options and np.isinf(grant.iterations):
            grant = replace(grant, iterations=iteration_allowance(transcribed.nlp, trials[0]))
        say(f"prepares attempt {len(trials) + 1} of {len(attempts)}")
        trial, grant = _run_attempt(transcribed, tuned, attempt, start, grant, watch)
        trials.append(trial)
        if _is_final(trial.outcome) or grant.is_empty:
            break
    return Attempts(trials=tuple(trials), left=grant)


def tuned_for(solver: Solver, attempt: Attempt, start: Start) -> Solver:
    """Return the solver with the options of an attempt under the user's.

    A start with multipliers has a barrier and pushes off the bounds of its own: where an attempt is
    tuned for a cold start, which would throw them away, they win.
    """
    if attempt.warm or not _warm(attempt, start):
        return replace(solver, options=dict(attempt.options) | dict(solver.options))
    warm = WARM.get(solver.name, {})
    options = {name: value for name, value in attempt.options.items() if name not in warm}
    return replace(solver, options=options | dict(start.options) | dict(solver.options))


def _warm(attempt: Attempt, start: Start) -> bool:
    """Tell whether an attempt begins with multipliers."""
    return bool(start.multipliers) and not (attempt.feasible_first or attempt.wandering)


def iteration_allowance(nlp: NLP, first: Trial) -> int:
    """Return the number of iterations that may follow those of a first attempt: WORK over the
    number of variables, at least TIMES as many up to ENOUGH, at most MOST.
    """
    spent = sum(stage.iterations for stage in first.stages)
    return min(MOST, max(WORK // max(1, len(nlp.lower)), min(ENOUGH, TIMES * spent)))


def _is_final(outcome: Outcome) -> bool:
    """Tell whether there is nothing more to try."""
    return outcome.success or outcome.status in (INTERRUPTED, *HOPELESS)


def _shortfall(trial: Trial) -> float:
    return np.inf if np.isnan(trial.violation) else trial.violation


def _needless(attempt: Attempt, trials: Sequence[Trial]) -> bool:
    """Tell whether an attempt wanders though a former one met all that is asked."""
    return bool(attempt.wandering) and min(map(_shortfall, trials)) <= FEASIBLE


def _run_attempt(
    transcribed: Transcribed,
    solver: Solver,
    attempt: Attempt,
    start: Start,
    grant: Budget,
    watch: Watch | None,
) -> tuple[Trial, Budget]:
    """Return the Trial of one attempt, and what it left of the budget."""
    nlp, nearest = transcribed.nlp, None
    part, still = transcribed.only_part, cast(Any, transcribed)
    # Intervals of a mesh, whose curves do not depend on their neighbours' lengths, need no stages
    free_knots = part is not None and part.layout.moving and not part.problem.motion.collocated
    if part is not None and free_knots:
        still = hold_knots(transcribed, part, start.x)
    if attempt.wandering:
        wandered = search_feasible(still, solver, start.x, attempt.wandering, grant, watch)
        stages, outcome, grant = wandered.stages, wandered.outcome, wandered.left
        nearest = wandered.nearest
    else:
        stages, grant = _stages(still.nlp, solver, attempt.feasible_first, start, grant, watch)
        outcome = stages[-1]
    if part is not None and free_knots and outcome.success:
        moved, grant = move_knots(part, solver, outcome, grant, watch)
        stages, outcome = (*stages, *moved), (outcome, *moved)[-1]
    beyond = (
        violation(outcome.x, nlp.lower, nlp.upper),
        violation(outcome.g, nlp.g_lower, nlp.g_upper),
    )
    trial = Trial(
        solver=solver,
        stages=stages,
        outcome=outcome,
        warm=_warm(attempt, start),
        violation=float(np.max(np.concatenate(beyond))),
        nearest=nearest,
    )
    return trial, grant


def _stages(
    nlp: NLP, solver: Solver, feasible_first: bool, start: Start, grant: Budget, watch: Watch | None
) -> tuple[tuple[Outcome, ...], Budget]:
    """Return the Outcomes of one attempt's stages, and what they left of the budget.

    Where feasibility alone leads to a point of least violation, the objective would lead no nearer.
    """
    if not feasible_first:
        outcome, grant = spend(nlp, solver, start, grant, watch)
        return (outcome,), grant
    shown = with_stage(watch, "feasible first")
    first, grant = spend(feasibility(nlp), solver, Start(x=start.x), grant, shown)
    if first.status in (INTERRUPTED, INFEASIBLE, *HOPELESS):
        return (replace(first, f=float(nlp.objective(first.x))),), grant
    outcome, grant = spend(nlp, solver, Start(x=first.x), grant, watch)
    return (first, outcome), grant
