"""Planar slider-crank mechanism: a driven crank, a rod and a slider on a straight way.

It is cut at the pin between rod and slider.
"""

from collections.abc import Sequence
from typing import Any

from ocp import Loop, Point, Tree, prismatic, revolute
from ocp.models.flat import Pair, flat, rods

LENGTHS = (0.10, 0.26)  # m: crank, rod


def slider_crank(
    lengths: Sequence[Any] = LENGTHS,
    masses: Sequence[Any] | None = None,
    coms: Sequence[Pair] | None = None,
    inertias: Sequence[Any] | None = None,
    slider: Any = 1.0,
    torque: Any = float("inf"),
    gravity: Any = 9.81,
) -> Tree:
    """Return the mechanism in the x-y plane: crank and rod turn about z, the slider goes along x.

    The crank turns about the origin, through which the slider's way goes. Coordinates: `crank` from
    global x; `rod` from the crank's direction; `slider` from the origin to the pin where the loop
    `pin` joins it with the rod. Only the crank is driven. The loop's multipliers are the force (2,
    N, global axes) of rod on slider. `close_coordinates(tree, (0, 0, 0.3), ["crank"])` leads to the
    slider on the right.

    `lengths`: crank, rod (m), pin to pin, the rod the longer one; `masses` (2, kg), `coms` (2, 2;
    m, along the link from its first pin and to the left of it) and `inertias` (2, kg m2, about the
    centre of mass) of these: None stands for slender rods; `slider`: its mass (kg); `torque`: limit
    at the crank (N m); `gravity`: strength along -y (m/s2).
    """
    crank, rod = lengths
    return Tree(
        links=(*rods((crank, rod), masses, coms, inertias), flat(slider, (0.0, 0.0), 0.0)),
        joints=(
            revolute("crank", torque=torque),
            revolute("rod", "crank", home=(crank, 0, 0), actuated=False),
            prismatic("slider", axis=(1.0, 0.0, 0.0), actuated=False),
        ),
        points=(
            Point(name="rod end", link="rod", position=(rod, 0, 0)),
            Point(name="slider end", link="slider"),
        ),
        loops=(Loop(name="pin", start="rod end", end="slider end", position="xy", axes="global"),),
        gravity=(0.0, -gravity, 0.0),
    )
