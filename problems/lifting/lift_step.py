"""A box picked up from the floor and put down one step ahead: the left foot steps with it.

Both feet stand until the left one leaves the ground with the box in the hands; it swings, lands
ahead, and the box is put down before the middle of the feet as they stand then. All joints move on
their own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ocp import Guess, Problem, Solution, Solver, Task, Transcription
from ocp.cli import main
from ocp.mechanics import positive
from ocp.models.human import Person, somebody
from ocp.problems.lifting import TASK as LIFT
from ocp.problems.lifting import lift
from ocp.problems.lifting import problem as lifting
from ocp.problems.lifting.solve_lifts import after, bare, go_on
from ocp.problems.lifting.statement.constraints import stated
from ocp.problems.lifting.statement.lifting_task import Box, Manner, Spot
from ocp.problems.lifting.statement.scene import scened
from ocp.problems.lifting.statement.standing_body import lifter, stepped
from ocp.problems.lifting.statement.stepping import AHEAD, Pace, knotted, square, stepping, swinging

WAYPOINTS = 37  # of the motion from which the step begins


def problem(
    step: float = 0.40,
    box: float = 9.0,
    end_height: float = 1.0,
    end_ahead: float = 0.46,
    time: float = 1.8,
    leaves: float = 0.4,
    lands: float = 0.7,
    aslant: float = 15.0,
    feet: float = 0.20,
    points: int = 15,
    person: str = "",
    passive: bool = True,
) -> Problem:
    """`step`: by which the left foot goes ahead (m); `box`: its mass (kg); `end_height`: of the
    hands at the end (m); `end_ahead`: of the hands before the middle of the ankles there (m);
    `time`: of the lift (s); `leaves`: when the foot leaves the ground, of the lift; `lands`: and
    when it lands; `aslant`: by which the box turns at most (deg); `feet`: distance between the
    ankles (m); `points`: control points per joint; `person`: f5, f50, f95, m5, m50 or m95, or else
    a man of 1.75 m and 75 kg; `passive`: with tissue and strength over the angle."""
    crate = Box(mass=positive("box", box))
    pace = Pace(length=step, leaves=leaves, lands=lands)
    who = somebody(Person(person))
    body = lifter(who, False, passive)
    spots = Spot(), Spot(high=end_height, ahead=end_ahead)
    scene = scened(who, body, stepping(body, positive("feet", feet), pace), (crate, *spots))
    manner = Manner(time=positive("time", time))
    before = square(crate.width, np.radians(positive("aslant", aslant)))
    return stated(scene, knotted(points, pace), manner, swinging(pace), before)


def with_step(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
) -> Solution:
    """Solve a lift with a step from a guess, or by way of a lift in place, that from standing.

    The usual man lifts the box so high without tissue; from his motion, carried ahead with the
    step, goes the step without tissue, and from there the one asked for. Statistics are of all.
    """
    if guess is not None:
        return lift(problem, transcription, solver, guess=guess, watch=watch)
    plain = bare(problem)
    first = lift(in_place(problem), transcription, solver, watch=watch)
    rough = bool(problem.tree.elements)
    begun = ahead(first, plain)
    stepped = go_on(plain, transcription, solver, begun, rough=rough, watch=watch)
    last = after(stepped, first)
    if not problem.tree.elements:
        return last
    return after(go_on(problem, transcription, solver, last, watch=watch), last)


def in_place(problem: Problem) -> Problem:
    """Return the lift of the same box as high without a step, tissue or sides that differ."""
    goal = next(each for each in problem.constraints if each.name == "hands.end")
    box = float(problem.outputs["box_mass"](None))
    end = Spot(high=goal.lower_of(1), ahead=0.46)
    return lifting(Box(mass=box), end=end, passive=False)


def ahead(lifted: Solution, problem: Problem) -> Guess:
    """Return the angles of a lift in place until the step ends, the root carried ahead with it."""
    left, landed = problem.ground.foot("left"), problem.ground.foot(AHEAD)
    leaves, lands = left.bears[1], landed.bears[0]
    s = np.linspace(0.0, 1.0, WAYPOINTS)
    known = lifted.q(lifted.duration * np.minimum(s / lands, 1.0))
    rows = {joint.name: row for row, joint in enumerate(lifted.problem.tree.moving)}
    still = np.zeros(len(s))
    q = [known[rows[joint.name]] if joint.name in rows else still for joint in problem.tree.moving]
    u = np.clip((s - leaves) / (lands - leaves), 0.0, 1.0)
    row = problem.tree.coordinate("glob_tz")
    q[row] = q[row] + stepped(problem.ground)[2] * u**2 * (3 - 2 * u)
    return Guess(q=np.array(q))


TASK = Task(problem, method=with_step, transcription=LIFT.transcription, views=LIFT.views)


if __name__ == "__main__":
    main(TASK)
