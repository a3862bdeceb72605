"""The solutions that pages share, each solved once."""

from functools import cache

from ocp import Solution, Solver, Transcription, solve
from ocp.problems import gait
from ocp.problems.arms import pr_mixed, two_link_effort, two_link_lift, two_link_time
from ocp.problems.human import barman_gait
from ocp.problems.mechanisms import four_bar_effort
from ocp.problems.swing_ups import branched_acrobot_swing, sohl_swing
from ocp.problems.swing_ups.upright_ends import SPREAD, wander
from ocp.transcription import transcription_of

AT_KNOTS = transcription_of(two_link_time.AT_KNOTS)  # where the papers state their bounds
SWING = 40  # control points of swing-ups as published, whose figures are of these
STARTS = 6  # random starts of swing-ups
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
    return solve(pr_mixed.problem(**altered)).require(coarse=True)


@cache
def four_bar() -> Solution:
    """Return a turn of the four-bar mechanism."""
    return solve(four_bar_effort.problem()).require(coarse=True)


@cache
def straight_rods() -> Solution:
    """Return the straight path of two rods to their goal, one cubic polynomial, not optimised."""
    still = Solver(options={"max_iter": 0})
    return solve(two_link_effort.problem(points=4, **two_link_effort.FITTED), solver=still)


@cache
def rods() -> Solution:
    """Return the rise of two rods with the least effort, their data fitted to both costs."""
    statement = two_link_effort.problem(**two_link_effort.FITTED)
    return two_link_effort.TASK.method(statement).require(coarse=True)


@cache
def first_swing(robot: str) -> Solution:
    """Return the motion from which a swing-up begins, of the "acrobot" or the "branched" one."""
    return sohl_swing.first_path(sohl_swing.problem(robot, points=SWING), sohl_swing.TRANSCRIPTION)


@cache
def acrobot(start: float) -> Solution:
    """Return the acrobot's swing-up from an angle of its shoulder (rad), as published."""
    return sohl_swing.descend(sohl_swing.problem(start=start, points=SWING)).require(coarse=True)


@cache
def branched() -> tuple[Solution, Solution]:
    """Return two swing-ups of the branched acrobot, as published, from two first guesses.

    These are the best of several collocated motions and the next that costs more.
    """
    stated = branched_acrobot_swing.problem(ends="penalty")
    tried = wander(stated, Transcription(), STARTS, 0, SPREAD)
    other = next(one for one in tried if one.objective > (1 + APART) * tried[0].objective)
    statement = sohl_swing.problem("branched", points=SWING)
    first, second = (sohl_swing.descend(statement, guess=one) for one in (tried[0], other))
    return first.require(coarse=True), second.require(coarse=True)


@cache
def walk() -> Solution:
    """Return our own step of the human: 38 joints, eight control points each, as people walk."""
    return gait.TASK.method(gait.effort_step(), Transcription(), Solver()).require(coarse=True)


@cache
def literal_walk() -> Solution:
    """Return the step that the thesis states: 55 joints, six control points each."""
    task = barman_gait.TASK
    return task.method(task.problem(), task.transcription, Solver()).require(coarse=True)
