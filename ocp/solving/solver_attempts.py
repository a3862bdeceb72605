"""Attempts at one program, one after the other, on one budget of iterations and time.

The user's limits are shared among the attempts, not given to each. By "auto" the first attempt is
made by IPOPT or by our interior point, whichever an estimate from counts says is quicker.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from ocp.mechanics.values.validation import check_type
from ocp.pickling import portable
from ocp.solvers.budget import Budget, Start, Watch, budget, spend, with_stage
from ocp.solvers.casadi_plugins import WARM
from ocp.solvers.minimize import AUTO, CUT_SHORT, INTERRUPTED, Outcome, Solver
from ocp.solvers.nlp import NLP, Exact, Options, feasibility, violation
from ocp.solvers.progress import FEASIBLE, say
from ocp.solvers.solver_backend import Unsuited
from ocp.solving.starts.feasibility_search import NOWHERE, search_feasible
from ocp.solving.starts.knot_continuation import hold_knots, move_knots
from ocp.spelling import suggest_fields
from ocp.transcription.transcribe import Transcribed

TUNED_PLUGIN = "ipopt"  # the only one that attempts have options for
INFEASIBLE = "Infeasible_Problem_Detected"
HOPELESS = ("Invalid_Option", "Not_Enough_Degrees_Of_Freedom")  # from wherever one starts
UNENDED = (CUT_SHORT, NOWHERE)  # what came of these is no answer
OWN = "structured"
# Iterations of ours after which IPOPT takes over, by "auto": ours takes 450 at most where it
# solves a problem of the gallery, IPOPT 570
LONGEST = 500
# Estimates of a search in seconds, set by hand on the gallery; of ours they are .8 in the median
# of what 30 iterations of 26 problems take, .34 to 1.8 but for one above and three far below
EVALUATION, OFTENER = 4e-8, 1.2  # of all functions for a nonzero, and how often IPOPT's are
PRODUCT, ENTRY = 9e-9, 2.4e-7  # of sparse factors: for products within rows, and for a nonzero
CALLS, OWN_ENTRY = 2.6e-3, 6e-8  # of ours in calls from Python, and for a nonzero
SLACK, OPERATION = 1.5e-6, 4e-11  # of ours for an inequality, and of dense factors
ITERATIONS, SHARE = 40, 0.8  # of IPOPT's search, and of ours beside these
SETUP = 0.05  # of preparing ours
CLEARLY = 0.75  # of IPOPT's estimate, above which a gain is not worth another optimum
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


def trial_of(
    nlp: NLP,
    solver: Solver,
    stages: Sequence[Outcome],
    *,
    outcome: Outcome | None = None,
    warm: bool = False,
    nearest: np.ndarray | None = None,
) -> Trial:
    """Return the Trial of a program; `outcome` is that of the last stage unless given."""
    found = stages[-1] if outcome is None else outcome
    beyond = (
        violation(found.x, nlp.lower, nlp.upper),
        violation(found.g, nlp.g_lower, nlp.g_upper),
    )
    return Trial(
        solver=solver,
        stages=tuple(stages),
        outcome=found,
        warm=warm,
        violation=float(np.max(np.concatenate(beyond))),
        nearest=nearest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The Trials of a ladder, the Budget that they left, and the reason for the first solver."""

    trials: tuple[Trial, ...]
    left: Budget
    reason: str = ""

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


def choose_solver(nlp: Exact, solver: Solver) -> tuple[Solver, str]:
    """Return the solver of a program's first attempt, and the reason if the plugin is "auto".

    It is ours where the estimate from counts is clearly less than IPOPT's, derivatives are exact,
    and options are known to both.
    """
    if solver.plugin != AUTO:
        return solver, ""
    if solver.hessian != "exact" or nlp.hessian is None or nlp.jacobian is None:
        return solver, "IPOPT, as exact derivatives are not at hand"
    equal = nlp.g_lower == nlp.g_upper
    bounded = np.isfinite(nlp.g_lower) | np.isfinite(nlp.g_upper)
    counts = {
        "variables": int(np.sum(nlp.lower < nlp.upper)),
        "equalities": int(np.sum(equal)),
        "inequalities": int(np.sum(bounded & ~equal)),
        "slopes": nlp.jacobian.nnz_out(1),
        "curvatures": nlp.hessian("exact").nnz_out(0),
    }
    own_seconds, ipopt_seconds = search_seconds(**counts)
    reason = ", ".join(f"{count} {name}" for name, count in counts.items())
    reason += f": about {own_seconds:.2g} s by ours, {ipopt_seconds:.2g} s by IPOPT"
    if own_seconds > CLEARLY * ipopt_seconds:
        return solver, reason
    try:
        return replace(solver, plugin=OWN), reason
    except ValueError as error:
        return solver, f"IPOPT, whose own options are given: {error}"


def search_seconds(
    variables: int, equalities: int, inequalities: int, slopes: int, curvatures: int
) -> tuple[float, float]:
    """Return estimates of a search (s) by our interior point and by IPOPT.

    IPOPT factorises the sparse system of all unknowns; its work follows the products of entries
    that share a row. Ours factorises what equalities leave free, the core, as a dense matrix, or
    the same sparse system, whichever is quicker.

    Args:
        variables: that are not fixed.
        equalities, inequalities: rows.
        slopes, curvatures: nonzeros of Jacobian and Hessian.
    """
    rows, nonzeros = equalities + inequalities, slopes + curvatures
    core, size = max(0, variables - equalities), variables + rows
    sparse = PRODUCT * slopes**2 / max(1, rows) + ENTRY * nonzeros
    dense = OPERATION * (core**3 / 3 + size * core**2 / 16)
    evaluated = EVALUATION * nonzeros
    own = CALLS + evaluated + OWN_ENTRY * nonzeros + SLACK * inequalities + min(dense, sparse)
    return SETUP + SHARE * ITERATIONS * own, ITERATIONS * (OFTENER * evaluated + sparse)


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
    Attempts are cut short before `seconds` have passed. By "auto" the first attempt may be made by
    the interior point of ours, and again by IPOPT where that fails.
    """
    trials: list[Trial] = []
    grant = replace(budget(solver), seconds=seconds)
    chosen, reason = choose_solver(transcribed.nlp, solver)
    rungs = [(solver, attempt, start, np.inf) for attempt, start in zip(attempts, starts)]
    if chosen is not solver:
        (first,) = select_attempts(attempts[:1], chosen)
        rungs.insert(0, (chosen, first, starts[0], LONGEST))
    for own, attempt, start, longest in rungs:
        if trials and _needless(attempt, trials):
            continue
        tuned = tuned_for(own, attempt, start)
        if trials and not attempt.options and np.isinf(grant.iterations):
            grant = replace(grant, iterations=iteration_allowance(transcribed.nlp, trials[0]))
        say(f"prepares attempt {len(trials) + 1} of {len(rungs)}")
        limited = replace(grant, iterations=min(longest, grant.iterations))
        try:
            trial, left = _run_attempt(transcribed, tuned, attempt, start, limited, watch)
        except Unsuited:
            if own is solver:
                raise
            continue
        grant = left if np.isinf(longest) else replace(left, iterations=np.inf)
        trials.append(trial)
        if _is_final(trial.outcome) or grant.is_empty:
            break
    return Attempts(trials=tuple(trials), left=grant, reason=reason)


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
    elif attempt.feasible_first:
        stages, grant = _feasible_first(still.nlp, solver, start, grant, watch)
        outcome = stages[-1]
    else:
        outcome, grant = spend(still.nlp, solver, start, grant, watch)
        stages = (outcome,)
    if part is not None and free_knots and outcome.success:
        moved, grant = move_knots(part, solver, outcome, grant, watch)
        stages, outcome = (*stages, *moved), (outcome, *moved)[-1]
    warm = _warm(attempt, start)
    trial = trial_of(nlp, solver, stages, outcome=outcome, warm=warm, nearest=nearest)
    return trial, grant


def _feasible_first(
    nlp: NLP, solver: Solver, start: Start, grant: Budget, watch: Watch | None
) -> tuple[tuple[Outcome, ...], Budget]:
    """Return the Outcomes of a search for feasibility and of one from there, and the budget left.

    Where feasibility alone leads to a point of least violation, the objective would lead no nearer.
    """
    shown = with_stage(watch, "feasible first")
    first, grant = spend(feasibility(nlp), solver, Start(x=start.x), grant, shown)
    if first.status in (INTERRUPTED, INFEASIBLE, *HOPELESS):
        return (replace(first, f=float(nlp.objective(first.x))),), grant
    outcome, grant = spend(nlp, solver, Start(x=first.x), grant, watch)
    return (first, outcome), grant
