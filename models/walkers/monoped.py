"""Planar hoppers on one leg: torso, thigh and shank on a point foot, and a mass on a telescope.

The jointed one has by default the torso and one leg of `five_link`, the robot RABBIT (Westervelt,
Grizzle & Koditschek 2003).
"""

from dataclasses import replace
from math import inf

from ocp import Link, Point, Tree, prismatic
from ocp.models.walkers.five_link import (
    GRAVITY,
    SHANK,
    THIGH,
    TORSO,
    Segment,
    foot,
    hanging,
    leg,
    planar_root,
    upright,
)

UP = (0.0, 1.0, 0.0)
LEAN, SWING, FOLD = 0.5, (-1.0, 1.5), 1.5  # rad: of the torso, the hip and the knee [assumed]


def monoped(
    torque: float = 200.0,
    torso: Segment = TORSO,
    thigh: Segment = THIGH,
    shank: Segment = SHANK,
    gravity: float = GRAVITY,
) -> Tree:
    """Return the tree in the x-y plane, forward along x, with y up.

    Coordinates are the hip's place x, y (m), the torso's lean backward, hip and knee (rad), each
    from the link before; the knee bends backward to negative angles. `torque`: limit at hip and
    knee (N m); `gravity`: its strength, down (m/s2).
    """
    slide, rise, turn = planar_root()
    hip, knee = leg("hip", "knee", thigh, torque)
    joints = (
        slide,
        rise,
        replace(turn, position=(-LEAN, LEAN)),
        replace(hip, position=SWING),
        replace(knee, position=(-FOLD, 0.0)),
    )
    return Tree(
        links=(Link(), Link(), upright(torso), hanging(thigh), hanging(shank)),
        joints=joints,
        points=(
            Point(name="shoulder", link="torso", position=(0, torso.length, 0)),
            foot("foot", "knee", shank),
        ),
        gravity=(0.0, -gravity, 0.0),
    )


def pogo(
    mass: float = 30.0, length: float = 0.8, gravity: float = GRAVITY, force: float = inf
) -> Tree:
    """Return a mass on a vertical rail with a telescopic leg of no mass.

    Coordinates are the mass's height and how far the leg reaches down (m), at most its `length`
    (m). `mass` (kg), `gravity`: its strength, down (m/s2), `force`: limit of the leg (N).
    """
    return Tree(
        links=(Link(mass=mass), Link()),
        joints=(
            prismatic("body", axis=UP, actuated=False),
            prismatic("leg", "body", axis=(0.0, -1.0, 0.0), position=(0.0, length), torque=force),
        ),
        points=(Point(name="foot", link="leg"),),
        gravity=(0.0, -gravity, 0.0),
    )
