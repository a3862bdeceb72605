"""The solutions that pages share, each solved once."""

from functools import cache

from ocp.problems import (
    acrobot_swing,
    barman_gait,
    branched_acrobot_swing,
    four_bar_effort,
    gait,
    pr_mixed,
    two_link_effort,
    two_link_lift,
    two_link_time,
)
from ocp.problems.swinging import SPREAD, wander

from ocp import Solution, Solver, Transcription, solve
from ocp.transcription import transcription_of

AT_KNOTS = transcription_of(two_link_time.AT_KNOTS)  # where the papers state their bounds
STARTS = 8  # random starts of swing-ups
APART = 0.01  # of the cost: by so much another local optimum costs more
FINE = 102  # control points of motions near the true optimum


@cache
def fastest() -> Solution:
    """Return the fastest motion of two links with bounds at the knots, as the papers have it."""
    return solve(two_link_time.problem(), AT_KNOTS).require()


@cache
def nearly_fastest() -> Solution:
    """Return the fastest motion of two links on a finer spline, near the true optimum."""
    return solve(two_link_time.problem(points=FINE)).require()


@cache
def lift() -> Solution:
    """Return the lift of a load by two links."""
    return solve(two_link_lift.problem()).require()


@cache
def sliding(**altered: float) -> Solution:
    """Return the motion of the sliding and turning arm; `altered`: data in place of the literal."""
    return solve(pr_mixed.problem(**altered)).require()


@cache
def four_bar() -> Solution:
    """Return a turn of the four-bar mechanism."""
    return solve(four_bar_effort.problem()).require()


@cache
def straight_rods() -> Solution:
    """Return the straight path of two rods to their goal, one cubic polynomial, not optimised."""
    still = Solver(options={"max_iter": 0})
    return solve(two_link_effort.problem(points=4), Transcription(), still)


@cache
def rods() -> Solution:
    """Return the rise of two rods with the least effort."""
    return two_link_effort.TASK.method(two_link_effort.problem()).require()


@cache
def acrobot(start: float) -> Solution:
    """Return the acrobot's swing-up from an angle of its shoulder (rad), with exact ends."""
    statement = acrobot_swing.problem(start=start)
    return acrobot_swing.TASK.method(statement, starts=STARTS).require()


@cache
def branched() -> tuple[Solution, Solution]:
    """Return two swing-ups of the branched acrobot: the best of several starts, and the next."""
    statement = branched_acrobot_swing.problem()
    tried = wander(statement, Transcription(), STARTS, 0, SPREAD)
    other = next(one for one in tried if one.objective > (1 + APART) * tried[0].objective)
    first, second = (solve(statement, guess=one).require() for one in (tried[0], other))
    return first, second


@cache
def walk() -> Solution:
    """Return our own step of the human: 38 joints, eight control points each, as people walk."""
    return gait.TASK.method(gait.problem(), Transcription(), Solver()).require()


@cache
def literal_walk() -> Solution:
    """Return the step that the thesis states: 55 joints, six control points each."""
    task = barman_gait.TASK
    return task.method(task.problem(), task.transcription, Solver()).require()
