"""A human stops walking, 32 of 49 joints and the pelvis moving, from the state of a steady walk.

The steady walk's right heel strikes, the left foot steps ahead, the right one comes beside it and
lands flat, and the body comes to rest.
"""

from dataclasses import replace

from ocp import Problem, Task, Views, at_end, at_start
from ocp.cli import main
from ocp.problems.gait.starting_stopping import (
    WALKING,
    all_positive,
    by_way,
    carried,
    closing,
    draw,
    joined_up,
    part,
    posture,
    standing,
    stop_lines,
    stop_report,
    walker,
)
from ocp.problems.gait.statement.contact_schedule import stance
from ocp.problems.gait.statement.objective_terms import SMOOTH
from ocp.problems.gait.statement.strides import facing


def problem(
    speed: float = 1.2,
    step: float = 0.6,
    last_step: float = 0.5,
    last_double: float = 0.2,
    last_swing: float = 0.45,
    settling: float = 0.6,
    free_timing: bool = False,
    width: float = 0.1,
    person: str = "",
    active: str = "gait",
    objective: str = "effort",
    smooth: float = SMOOTH,
) -> Problem:
    """`speed`: of the steady walk (m/s); `step`: length of its steps (m); `last_step`: of the last
    one before the feet are side by side (m); `last_double`: how long both feet bear after the last
    strike (s); `last_swing`: how long the foot swings that comes beside the other (s); `settling`:
    from its landing to rest (s); `free_timing`: find how long all phases last; `width`: distance
    between the feet in walking (m); `person` and `active`: as of `gait`; `objective`: of the walk
    and of the stop, as of `gait`; `smooth`: weight of accelerations beside it."""
    all_positive(last_step=last_step, last_double=last_double, last_swing=last_swing)
    all_positive(settling=settling)
    who = walker(
        speed=speed,
        step=step,
        width=width,
        person=person,
        active=active,
        objective=objective,
        smooth=smooth,
    )
    body, usual = who.body, who.when
    first = part(
        who,
        stance(body, step, width, usual),
        {"double": who.double, "swing": who.single},
        families=WALKING,
        free=free_timing,
    )
    off = last_double / (last_double + last_swing)
    share = off / usual.toe_off
    when = replace(usual, ball_off=share * usual.ball_off, flat=share * usual.flat, toe_off=off)
    last = part(
        who,
        facing(closing(body, last_step, width, when), last_step),
        {"last double": last_double, "last swing": last_swing},
        lead="left",
        free=free_timing,
    )
    rest = part(
        who,
        facing(standing(body, width), last_step),
        {"settling": settling},
        lead="left",
        free=free_timing,
    )
    ends = (
        *at_start(body, **carried(who.walked)),
        *at_end(body, q=posture(body, width, last_step, "left"), qd=0.0, qdd=0.0),
    )
    return joined_up(who, (*first, *last, *rest), ends)


TASK = Task(problem, method=by_way, views=Views(plot=draw, report=stop_report, lines=stop_lines))

if __name__ == "__main__":
    main(TASK)
