"""A step behind a cart that is pushed, or before one that is pulled, at constant speed.

Both hands stay on its bar. At constant speed it takes what rolling does,

    F = f m g / r

with the wheels' radius r and a coefficient f of 2.2 mm of hard rubber on smooth concrete, 2.4 on
tile, 3.3 on asphalt and 4.5 on carpet (Al-Eisawi, Kerk, Congleton, Amendola, Jenkins & Gaines 1999;
of carts up to 181 kg that begin to roll, wheels aligned). Each hand gives half of it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ocp import Constraint, Instant, Load, Parameter, Problem, Task, path
from ocp.cli import main
from ocp.mechanics import Matrix, Visual
from ocp.problem import INSIDE
from ocp.problems.gait import TASK as WALK
from ocp.problems.gait import busy_step, walk
from ocp.problems.lifting.statement.box_hold import CARDBOARD

GRAVITY = 9.81  # m/s2
STEEL = (0.45, 0.47, 0.50, 1.0)  # red, green, blue and opacity
FLOORS = {"concrete": 0.0022, "tile": 0.0024, "asphalt": 0.0033, "carpet": 0.0045}  # f (m)
SLACK = 0.005  # m, that hands have on the bar [assumed]
REACH = {False: (0.1, 0.7), True: (-0.6, 0.0)}  # m: how far before the pelvis' start the bar may be
# m, in pictures: room for feet behind the cart, its length, thickness of its deck, of its tubes
FEET, LENGTH, THICK, TUBE = 0.2, 0.8, 0.1, 0.03


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
        scenery=(*walked.scenery, *cart_at_hands(bar, width, wheels, pull)),
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


def cart_at_hands(bar: float, width: float, wheels: float, pull: bool) -> tuple[Visual, ...]:
    """Return the look of a cart whose bar both hands hold: its deck before them, or behind, on four
    wheels of a radius (m)."""
    way, ends = (1.0 if pull else -1.0), ("grip_r", "grip_l")  # of the deck along y, which is back

    def part(
        kind: str,
        size: tuple[float, ...],
        x: float,
        y: float,
        z: float,
        colour: Sequence[float] = STEEL,
    ) -> Visual:
        pose = np.eye(4)
        pose[:3, 3] = x, y, z
        if kind == "cylinder":  # its axis across
            pose[:3, :3] = np.eye(3)[[2, 0, 1]]
        return Visual(kind=kind, size=size, pose=pose, colour=colour, between=ends)

    sides = (-width / 2, width / 2)
    middle = way * (FEET + LENGTH / 2)
    axles = (way * (FEET + wheels), way * (FEET + LENGTH - wheels))
    deck, across = 2 * wheels + THICK - bar, width + TUBE  # its upper side, from the bar
    post = max(TUBE, -deck)
    return (
        part("box", (across, TUBE, TUBE), 0.0, 0.0, 0.0),
        *(part("box", (TUBE, FEET, TUBE), x, way * FEET / 2, 0.0) for x in sides),
        *(part("box", (TUBE, TUBE, post), x, way * FEET, -post / 2) for x in sides),
        part("box", (across, LENGTH, THICK), 0.0, middle, deck - THICK / 2),
        part("box", (width, LENGTH / 2, bar / 3), 0.0, middle, deck + bar / 6, CARDBOARD),
        *(part("cylinder", (wheels, TUBE), x, y, wheels - bar) for x in sides for y in axles),
    )


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
