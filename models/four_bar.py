"""Planar four-bar mechanism: a driven crank, a coupler and a rocker on the ground link, cut at the pin between coupler and rocker."""

from ocp.mechanics.joints import revolute
from ocp.mechanics.tree import Link, Loop, Point, Tree

LENGTHS = (
    0.30,
    0.10,
    0.26,
    0.20,
)  # m: ground, crank, coupler, rocker; the crank turns fully (Grashof: 0.10 + 0.30 < 0.26 + 0.20)
DENSITY = 2.0  # kg/m, of the uniform slender rods that the links are by default


def four_bar(lengths=LENGTHS, masses=None, coms=None, inertias=None, torque=10.0, gravity=9.81):
    """Return the mechanism in the x-y plane, the crank turning about the origin and the rocker about (ground length, 0), all joints about z.

    Coordinates: `crank` from global x; `coupler` from the crank's direction; `rocker` from global x, toward the pin where the loop `pin`
    joins it with the coupler. Only the crank is driven. The loop's multipliers are the force (2, N, global axes) of coupler on rocker.
    With these lengths and the pin above, the rocker swings between 1.575 and 2.625 rad, whither `close(tree, (0, 1, 2), ["crank"])` leads.

    `lengths`: ground, crank, coupler, rocker (m), pin to pin; `masses` (3, kg), `coms` (3, 2; m, along the link from its first pin and to the
    left of it) and `inertias` (3, kg m2, about the centre of mass) of crank, coupler and rocker: None stands for slender rods; `torque`:
    limit at the crank (N m); `gravity`: strength along -y (m/s2).
    """
    ground, crank, coupler, rocker = lengths
    links = rods((crank, coupler, rocker), masses, coms, inertias)
    return Tree(
        links=links,
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


def rods(lengths, masses=None, coms=None, inertias=None):
    """Return flat links along x: masses (kg), centres of mass (2, m) and inertias about them (kg m2), of slender rods where None."""
    masses = [DENSITY * length for length in lengths] if masses is None else masses
    coms = [(length / 2, 0.0) for length in lengths] if coms is None else coms
    inertias = (
        [mass * length**2 / 12 for mass, length in zip(masses, lengths)]
        if inertias is None
        else inertias
    )
    return tuple(
        Link(mass=mass, com=(*com, 0.0), inertia=((0, 0, 0), (0, inertia, 0), (0, 0, inertia)))
        for mass, com, inertia in zip(masses, coms, inertias)
    )
