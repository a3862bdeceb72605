"""A step behind a cart that is pushed, or before one that is pulled, at constant speed.

Both hands stay on its bar. At constant speed it takes what rolling does,

    F = f m g / r

with the wheels' radius r and a coefficient f of 2.2 mm of hard rubber on smooth concrete, 2.4 on
tile, 3.3 on asphalt and 4.5 on carpet (Al-Eisawi, Kerk, Congleton, Amendola, Jenkins & Gaines 1999;
of carts up to 181 kg that begin to roll, wheels aligned). Each hand gives half of it.
"""

from dataclasses import replace

import numpy as np

from ocp import Constraint, Instant, Load, Parameter, Problem, Task, path
from ocp.cli import main
from ocp.mechanics import Matrix
from ocp.problem import INSIDE
from ocp.problems.gait import TASK as WALK
from ocp.problems.gait import busy_step, walk

GRAVITY = 9.81  # m/s2
FLOORS = {"concrete": 0.0022, "tile": 0.0024, "asphalt": 0.0033, "carpet": 0.0045}  # f (m)
SLACK = 0.005  # m, that hands have on the bar [assumed]
REACH = {False: (0.1, 0.7), True: (-0.6, 0.0)}  # m: how far before the pelvis' start the bar may be


def problem(
    cart: float = 150.0,
    floor: str = "concrete",
    wheels: float = 0.051,
    bar: float = 1.0,
    width: float = 0.45,
    pull: bool = False,
    speed: float = 1.0,
    step: float = 0.53,
    points: int | None = None,
    person: str = "",
    smooth: float | None = None,
    objective: str = "elastic",
) -> Problem:
    """`cart`: its mass with what lies on it (kg); `floor`: concrete, tile, asphalt or carpet;
    `wheels`: their radius (m); `bar`: height of the hands (m); `width`: between them (m); `pull`:
    it rolls behind and not before; `speed`: of walking (m/s); `step`: length of a step (m);
    `points`: control points per joint; `person`: f5, f50, f95, m5, m50 or m95, or else a man of
    1.75 m and 75 kg; `smooth`: weight of accelerations, `objective`: elastic, human or effort, both
    as of `gait`."""
    force = rolling(cart, floor, wheels)
    for what, value in (("bar", bar), ("width", width)):
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive length in m, got {value}")
    walked = busy_step(
        speed=speed, step=step, points=points, person=person, smooth=smooth, objective=objective
    )
    pulls = [Load(point=f"grip_{side}", force=(0.0, 0.0, -force / 2)) for side in "rl"]
    return replace(
        walked,
        loads=(*walked.loads, *pulls),
        constraints=(*walked.constraints, *on_the_bar(bar, width, speed, pull)),
    )


def rolling(cart: float, floor: str, wheels: float) -> float:
    """Return the force (N) that a cart (kg) takes at constant speed on wheels of a radius (m).

    Raises ValueError for an unknown floor, a negative mass or a radius that is not positive.
    """
    if floor not in FLOORS:
        raise ValueError(f"floor: expected one of {', '.join(FLOORS)}, got {floor!r}")
    if not (np.isfinite(cart) and cart >= 0):
        raise ValueError(f"cart: expected a mass of at least 0 kg, got {cart}")
    if not (np.isfinite(wheels) and wheels > 0):
        raise ValueError(f"wheels: expected a positive radius in m, got {wheels}")
    return FLOORS[floor] * cart * GRAVITY / wheels


def on_the_bar(bar: float, width: float, speed: float, pull: bool) -> tuple[Constraint, ...]:
    """Return the constraints that keep both hands on a bar that goes ahead at a speed (m/s).

    How far ahead it is at the start is found.
    """
    least, most = REACH[pull]
    ahead = Parameter("ahead", (least + most) / 2, "m", lower=least, upper=most, free=True)
    rows: list[Constraint] = []
    for side, way in (("r", -1), ("l", 1)):

        def off(at: Instant, side: str = side, way: int = way) -> Matrix:
            place = at.position(f"grip_{side}")
            return place - np.array([way * width / 2, bar, 0.0]) - at.t * np.array([0, 0, speed])

        rows.append(
            path(
                f"bar.{side}",
                off,
                lower=(-SLACK, -SLACK, ahead - SLACK),
                upper=(SLACK, SLACK, ahead + SLACK),
                when=INSIDE,
                labels=("across", "up", "ahead"),
                units="m",
            )
        )
    return tuple(rows)


TASK = Task(problem, method=walk, transcription=WALK.transcription, views=WALK.views)


if __name__ == "__main__":
    main(TASK)
