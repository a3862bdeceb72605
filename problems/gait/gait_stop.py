"""A human stops walking, 32 of 49 joints and the pelvis moving, from the state of a steady walk.

The steady walk's right heel strikes, the left foot steps ahead, the right one comes beside it and
lands flat, and the body comes to rest.
"""

from dataclasses import replace

from ocp import Problem, Task, Views, at_end, at_start
from ocp.cli import main
from ocp.problems.gait.starting_stopping import (
    WALKING,
    SteadyWalk,
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
from ocp.problems.gait.statement.strides import facing


def problem(
    walk: SteadyWalk = SteadyWalk(),
    last_step: float = 0.5,
    last_double: float = 0.2,
    last_swing: float = 0.45,
    settling: float = 0.6,
    free_timing: bool = False,
) -> Problem:
    """Return the end of a walk.

    Args:
        walk: the steady walk.
        objective: of the walk and of the stop, as of `gait`.
        last_step: of the last one before the feet are side by side (m).
        last_double: how long both feet bear after the last strike (s).
        last_swing: how long the foot swings that comes beside the other (s).
        settling: from its landing to rest (s).
        free_timing: find how long all phases last.
    """
    lasting = {"last_double": last_double, "last_swing": last_swing, "settling": settling}
    who = walker(walk, last_step=last_step, **lasting)
    step, width = walk.step, walk.width
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
