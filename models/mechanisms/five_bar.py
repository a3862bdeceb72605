"""Planar five-bar mechanism: two driven cranks on the ground carry one hand by two couplers.

It is cut at the pin between these.
"""

from collections.abc import Sequence
from math import acos, atan2, hypot, pi

from ocp import Link, Loop, Point, Tree, revolute
from ocp.models.flat import Pair, flat, rods

# m: ground, left crank, left coupler, right crank, right coupler
LENGTHS = (0.20, 0.20, 0.30, 0.20, 0.30)


def five_bar(
    lengths: Sequence[float] = LENGTHS,
    masses: Sequence[float] | None = None,
    coms: Sequence[Pair] | None = None,
    inertias: Sequence[float] | None = None,
    payload: float = 0.0,
    torque: float = 10.0,
    gravity: float = 9.81,
) -> Tree:
    """Return the mechanism in the x-y plane, all joints about z.

    Its cranks turn about (-ground/2, 0) and (ground/2, 0). Coordinates: `left` and `right` crank
    from global x, and `left coupler`, `right coupler` from their crank's direction. The cranks are
    driven. The point `hand`, at the left coupler's end, is where the loop `pin` joins the couplers;
    its multipliers are the force (2, N, global axes) of left on right coupler.

    `lengths` (5, m) pin to pin; `masses` (4, kg), `coms` (4, 2; m, along the link from its first
    pin and to the left of it), `inertias` (4, kg m2, about the centre of mass) of left crank, left
    coupler, right crank, right coupler: None stands for slender rods; `payload`: a point mass (kg)
    in the hand; `torque`: limit at both cranks (N m); `gravity`: strength along -y (m/s2).
    """
    ground, *bars = lengths
    crank, coupler, right_crank, right_coupler = bars
    links = rods(bars, masses, coms, inertias)
    return Tree(
        links=(links[0], _laden(links[1], coupler, payload), *links[2:]),
        joints=(
            revolute("left", home=(-ground / 2, 0, 0), torque=torque),
            revolute("left coupler", "left", home=(crank, 0, 0), actuated=False),
            revolute("right", home=(ground / 2, 0, 0), torque=torque),
            revolute("right coupler", "right", home=(right_crank, 0, 0), actuated=False),
        ),
        points=(
            Point(name="hand", link="left coupler", position=(coupler, 0, 0)),
            Point(name="right end", link="right coupler", position=(right_coupler, 0, 0)),
        ),
        loops=(Loop(name="pin", start="hand", end="right end", position="xy", axes="global"),),
        gravity=(0.0, -gravity, 0.0),
    )


def reaching(hand: Sequence[float], lengths: Sequence[float] = LENGTHS) -> tuple[float, ...]:
    """Return the coordinates (4,) that bring the hand to a place (2, m), elbows outward.

    Each crank lies beside the line from its pivot to the hand by the angle that crank, coupler and
    that line make (law of cosines). Raises ValueError if the place is out of reach.
    """
    ground, *bars = lengths
    angles = []
    for name, side, (crank, coupler) in (("left", -1, bars[:2]), ("right", 1, bars[2:])):
        x, y = hand[0] - side * ground / 2, hand[1]
        far = hypot(x, y)
        if not abs(crank - coupler) < far < crank + coupler:
            raise ValueError(
                f"hand: ({hand[0]:g}, {hand[1]:g}) m is out of reach of the {name} crank and "
                f"coupler of {crank:g} and {coupler:g} m"
            )
        outward = side if y < 0 else -side
        lean = acos((crank**2 + far**2 - coupler**2) / (2 * crank * far))
        bend = pi - acos((crank**2 + coupler**2 - far**2) / (2 * crank * coupler))
        angles += [atan2(y, x) + outward * lean, -outward * bend]
    return tuple(angles)


def _laden(link: Link, reach: float, payload: float) -> Link:
    """Return the flat link with a point mass (kg) on its x axis, so far (m) from its joint."""
    if not payload:
        return link
    mass, (x, y, _), moment = link.mass + payload, link.com, link.inertia[2][2]
    moment += link.mass * payload / mass * ((reach - x) ** 2 + y**2)
    return flat(mass, ((link.mass * x + payload * reach) / mass, link.mass * y / mass), moment)
