"""A human starts to walk, 32 of 49 joints and the pelvis moving, up to the state of a steady walk.

Both feet stand side by side until the left heel goes off and the foot leaves; it strikes a first
step ahead, the right one a step further, there in the state in which the steady walk has it.
"""

from ocp import Problem, Task, Views, at_end, at_start
from ocp.cli import main
from ocp.problems.gait.starting_stopping import (
    WALKING,
    SteadyWalk,
    by_way,
    carried,
    draw,
    joined_up,
    lifted,
    part,
    posture,
    releasing,
    start_lines,
    start_report,
    walker,
)
from ocp.problems.gait.statement.contact_schedule import Schedule, stance
from ocp.problems.gait.statement.strides import facing


def problem(
    walk: SteadyWalk = SteadyWalk(),
    first_step: float = 0.6,
    shifting: float = 0.5,
    unloading: float = 0.15,
    first_swing: float = 0.42,
    free_timing: bool = False,
) -> Problem:
    """Return the start of a walk.

    Args:
        walk: the steady walk.
        objective: of the walk and of the start, as of `gait`.
        first_step: of the first (m).
        shifting: from rest until the heel of the foot that swings goes off (s).
        unloading: from there until its toes go off (s).
        first_swing: from there to its strike (s).
        free_timing: find how long all phases last.
    """
    lasting = {"shifting": shifting, "unloading": unloading, "first_swing": first_swing}
    who = walker(walk, first_step=first_step, **lasting)
    step, width = walk.step, walk.width
    body, usual, total = who.body, who.when, shifting + unloading + first_swing
    lift, off = shifting / total, (shifting + unloading) / total
    share = (usual.heel_off - usual.toe_off) / (1.0 - usual.toe_off)
    when = Schedule(
        ball_off=lift + (off - lift) * usual.ball_off / usual.toe_off,
        flat=lift,
        toe_off=off,
        heel_off=off + share * (1.0 - off),
    )
    first = part(
        who,
        releasing(body, width, when, lift),
        {"shifting": shifting, "unloading": unloading, "first swing": first_swing},
        beside=(lifted(body, "knee_flex_l", (1.0 + off) / 2),),
        free=free_timing,
    )
    second = part(
        who,
        facing(stance(body, first_step, width, usual), first_step),
        {"second double": who.double, "second swing": who.single},
        lead="left",
        families=WALKING,
        free=free_timing,
    )
    ends = (
        *at_start(body, q=posture(body, width), qd=0.0, qdd=0.0),
        *at_end(body, **carried(who.walked, first_step + step)),
    )
    return joined_up(who, (*first, *second), ends)


TASK = Task(problem, method=by_way, views=Views(plot=draw, report=start_report, lines=start_lines))

if __name__ == "__main__":
    main(TASK)
