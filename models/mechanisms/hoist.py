"""A hand above a load, both on vertical rails: a cable hangs between them, the load rests on the
floor."""

from collections.abc import Sequence

from ocp import Link, Point, Tree, cable, prismatic, stop

Spans = Sequence[tuple[float, float]] | None


def hoist(
    hand: float = 2.0,
    load: float = 3.0,
    length: float = 1.0,
    gravity: float = 9.81,
    *,
    taut: Spans = None,
    resting: Spans = None,
    leak: float = 1e-4,
) -> Tree:
    """Return the hoist, whose coordinates are the heights of hand and load (m).

    `hand` and `load`: their masses (kg); `length`: of the cable (m); `gravity`: its strength, down
    (m/s2). Nothing drives the load. `taut` and `resting`: spans of the motion over which the cable
    pulls and the floor pushes, None where the motion finds them; `leak`: what gap times force may
    be (J).
    """
    up = (0.0, 1.0, 0.0)
    return Tree(
        links=(Link(mass=hand), Link(mass=load)),
        joints=(prismatic("hand", axis=up), prismatic("load", axis=up, actuated=False)),
        points=(Point(name="hook", link="hand"), Point(name="eye", link="load")),
        gravity=(0.0, -gravity, 0.0),
        stays=(
            cable("cable", "hook", "eye", length, leak=leak, closed=taut),
            stop("floor", "load", lower=0.0, leak=leak, closed=resting),
        ),
    )
