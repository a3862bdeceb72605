"""Random starts led to the least l1 violation of inequalities (iterated local search).

The first starts are random changes of the given start, the others of the best points so far
(Lourenco, Martin & Stuetzle 2003), with longer or shorter durations. The objective takes over where
no violation is left.
"""

from dataclasses import dataclass, replace

import numpy as np

from ocp.diagnosis.elastic_weights import equal_price, is_limit, row_prices
from ocp.solvers.budget import Budget, Start, Watch, relaxation_solver, spend, with_stage
from ocp.solvers.elastic_program import Prices, relax
from ocp.solvers.minimize import INTERRUPTED, Outcome, Solver
from ocp.solving.starts.random_starts import random_unknowns
from ocp.transcription.transcribe import Transcribed

SEED = 1
FIRST = 8  # starts wander off the start of the solve, the others off the best so far
BEST = 4  # points of different violation
SPREADS = (0.5, 1.0)  # rad or m, in turn
LONGER, ABOUT = (-0.3, 1.9), (-0.4, 0.4)  # logarithms of factors of the duration, first and later
RELAXED, PLAIN = 150, 400  # iterations of a stage
DIRECT, DIRECTS, OWN = 1000, 12, 80_000  # number of the first plain start, how many, their work
NOTHING = 1e-3  # relative to the bounds, on the average of instants: a smaller violation vanishes
ALIKE = 1e-2  # relative: violations so close are those of one point
SAME = 1e-3  # relative: so close, those of all first starts say that no other will do
STRAYS = 3  # first starts that all miss the equalities say the same
NOWHERE = "No_Motion_Found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Result of random starts: all `stages`, the `outcome`, the `nearest` unknowns, the budget
    `left`.
    """

    stages: tuple[Outcome, ...]
    outcome: Outcome
    nearest: np.ndarray | None
    left: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Unknowns x with their violation, in relative amounts on the average of instants."""

    x: np.ndarray
    violation: float


def search_feasible(
    transcribed: Transcribed,
    solver: Solver,
    x: np.ndarray,
    starts: int,
    grant: Budget,
    watch: Watch | None,
) -> Search:
    """Return the Search from so many starts at most, of which the first is x itself."""
    stages: list[Outcome] = []
    points: list[Point] = []
    costs = row_prices(transcribed, is_limit, equal_price)
    for number in range(starts):
        begin = _start(transcribed, x, _best(points), number)
        shown = with_stage(watch, f"start {number + 1} of {starts}")
        eased, near, grant = _minimise_violation(transcribed, costs, solver, begin, grant, shown)
        stages.append(eased)
        if near is not None and near.violation <= NOTHING and not grant.is_empty:
            solved, grant = spend(
                transcribed.nlp, solver, Start(x=near.x), grant, shown, most=PLAIN
            )
            stages.append(solved)
        elif near is not None:
            points.append(near)
        if _over(stages[-1]) or grant.is_empty or _is_hopeless(number, points):
            break
    if points and not _over(stages[-1]) and not _is_hopeless(number, points):
        direct, grant = _plain_starts(transcribed, solver, x, grant, watch)
        stages += direct
    last, best = stages[-1], _best(points)
    return Search(
        stages=tuple(stages),
        outcome=last if _over(last) else replace(last, status=NOWHERE),
        nearest=best[0].x if best else x,
        left=grant,
    )


def _plain_starts(
    transcribed: Transcribed,
    solver: Solver,
    x: np.ndarray,
    grant: Budget,
    watch: Watch | None,
) -> tuple[list[Outcome], Budget]:
    """Return the Outcomes of plain starts that wander off x, which have iterations of their own.

    The solver's own restoration finds motions that the way over the least violation misses.
    """
    stages: list[Outcome] = []
    grant = replace(grant, iterations=OWN // max(1, len(x)))
    for number in range(DIRECT, DIRECT + DIRECTS):
        if grant.is_empty:
            break
        shown = with_stage(watch, f"plain start {number - DIRECT + 1} of {DIRECTS}")
        start = Start(x=_start(transcribed, x, [], number))
        outcome, grant = spend(transcribed.nlp, solver, start, grant, shown, most=PLAIN)
        stages.append(outcome)
        if _over(outcome):
            break
    return stages, grant


def _over(outcome: Outcome) -> bool:
    return outcome.success or outcome.status == INTERRUPTED


def _is_hopeless(number: int, points: list[Point]) -> bool:
    """Tell whether the first starts all miss the equalities, or all reach the same violation."""
    if number == STRAYS - 1 and not points:
        return True
    least = [point.violation for point in points]
    return number == len(least) - 1 == FIRST - 1 and max(least) <= (1 + SAME) * min(least)


def _start(transcribed: Transcribed, x: np.ndarray, best: list[Point], number: int) -> np.ndarray:
    """Return the unknowns from which start `number` goes."""
    if number == 0:
        return x
    early = number < FIRST or not best
    stretch = np.exp(np.random.default_rng((SEED, number)).uniform(*(LONGER if early else ABOUT)))
    spread = 1.0 if early else SPREADS[number % len(SPREADS)]
    base = x if early else best[number % len(best)].x
    return random_unknowns(transcribed, base, (SEED, number), spread, stretch)


def _best(points: list[Point]) -> list[Point]:
    """Return the BEST points of different violation, best first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda point: point.violation):
        if not best or point.violation > (1 + ALIKE) * best[-1].violation:
            best.append(point)
    return best[:BEST]


def _minimise_violation(
    transcribed: Transcribed,
    costs: Prices,
    solver: Solver,
    x: np.ndarray,
    grant: Budget,
    watch: Watch | None,
) -> tuple[Outcome, Point | None, Budget]:
    """Return the way to the least violation of what has a price, the point, and what is left.

    The Outcome is that of the problem's own unknowns; the Point None where equalities are missed.
    """
    nlp, eased = transcribed.nlp, relax(transcribed.nlp, costs, x)
    outcome, grant = spend(
        eased.nlp, relaxation_solver(solver), Start(x=eased.begin), grant, watch, most=RELAXED
    )
    point = eased.point(outcome.x)
    own = replace(
        outcome,
        x=point,
        f=float(nlp.objective(point)),
        g=np.array(nlp.constraints(point)).ravel(),
        x_multipliers=np.zeros(len(nlp.lower)),
        g_multipliers=np.zeros(len(nlp.g_lower)),
        success=False,
    )
    return own, Point(x=point, violation=outcome.f) if outcome.success else None, grant
