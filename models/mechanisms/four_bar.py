"""Planar four-bar mechanism: a driven crank, a coupler and a rocker on the ground link.

It is cut at the pin between coupler and rocker.
"""

from collections.abc import Sequence

from ocp import Loop, Point, Tree, revolute
from ocp.models.flat import Pair, rods

# m: ground, crank, coupler, rocker; the crank turns fully (Grashof: 0.10 + 0.30 < 0.26 + 0.20)
LENGTHS = (0.30, 0.10, 0.26, 0.20)


def four_bar(
    lengths: Sequence[float] = LENGTHS,
    masses: Sequence[float] | None = None,
    coms: Sequence[Pair] | None = None,
    inertias: Sequence[float] | None = None,
    torque: float = 10.0,
    gravity: float = 9.81,
) -> Tree:
    """Return the mechanism in the x-y plane, all joints about z.

    The crank turns about the origin and the rocker about (ground length, 0). Coordinates: `crank`
    from global x; `coupler` from the crank's direction; `rocker` from global x, toward the pin
    where the loop `pin` joins it with the coupler. Only the crank is driven. The loop's multipliers
    are the force (2, N, global axes) of coupler on rocker. With these lengths and the pin above,
    the rocker swings between 1.575 and 2.625 rad: `close_coordinates(tree, (0, 1, 2), ["crank"])`.

    `lengths`: ground, crank, coupler, rocker (m), pin to pin; `masses` (3, kg), `coms` (3, 2; m,
    along the link from its first pin and to the left of it) and `inertias` (3, kg m2, about the
    centre of mass) of crank, coupler and rocker: None stands for slender rods; `torque`: limit at
    the crank (N m); `gravity`: strength along -y (m/s2).
    """
    ground, crank, coupler, rocker = lengths
    return Tree(
        links=rods((crank, coupler, rocker), masses, coms, inertias),
        joints=(
            revolute("crank", torque=torque),
            revolute("coupler", "crank", home=(crank, 0, 0), actuated=False),
            revolute("rocker", home=(ground, 0, 0), actuated=False),
        ),
        points=(
            Point(name="coupler end", link="coupler", position=(coupler, 0, 0)),
            Point(name="rocker end", link="rocker", position=(rocker, 0, 0)),
        ),
        loops=(
            Loop(name="pin", start="coupler end", end="rocker end", position="xy", axes="global"),
        ),
        gravity=(0.0, -gravity, 0.0),
    )
