"""An arm that throws in the sagittal plane: upper arm, forearm and hand of the human, and a ball.

Its segments, ranges and torques are those of `human()`'s right arm, of 1.75 m and 75 kg.
"""

from math import inf, pi

from ocp import Link, Point, Tree, fixed, revolute
from ocp.mechanics import GROUND, Visual
from ocp.models.human import human
from ocp.models.human.anthropometry import GRIP, LENGTHS
from ocp.models.human.sagittal import LIMBS, drive, proximal, together

GRAVITY = 9.81  # m/s2
WATER = 1000.0  # kg/m3: as dense pictures show the ball
SHOULDER = 1.4217  # m: height of it, 0.8124 of the stature, as in human's table of joints
SEGMENTS = ("upper_arm", "forearm", "hand")
JOINTS = (("shoulder", "shou_flex_r"), ("elbow", "elb_flex_r"), ("wrist", "wri_flex_r"))


def thrower(links: int = 3, ball: float = 0.0, speed: float = inf) -> Tree:
    """Return the arm in the x-y plane, forward along x, with y up and the ground at y = 0.

    Coordinates are the flexions of shoulder, elbow and wrist, whose palm is turned forward: the
    first so many `links`, the others straight on. The arm hangs down at zero. `ball`: mass in the
    hand (kg), where 0 it has gone; `speed`: limit at every joint (rad/s). Raises ValueError for
    another number of links.
    """
    if links not in (1, 2, 3):
        raise ValueError(f"thrower: links: expected 1, 2 or 3, got {links}")
    person = human(frozen=())
    joints, bodies = [], []
    parent, home = GROUND, (0.0, SHOULDER, 0.0)
    for k, ((name, moved), segment) in enumerate(zip(JOINTS, SEGMENTS)):
        limits = drive(person, moved)
        turn = revolute(name, parent, home=home, velocity=speed, **limits)
        joints.append(turn if k < links else fixed(name, parent, home=home))
        own = proximal(person, segment)
        bodies.append(together(person, (f"{LIMBS[segment]}_r",), own))
        parent, home = name, (0.0, -LENGTHS[segment], 0.0)
    if ball:
        joints.append(fixed("ball", "wrist", home=(0.0, -GRIP, 0.0)))
        radius = (3 * ball / (4 * pi * WATER)) ** (1 / 3)
        bodies.append(Link(mass=ball, visuals=(Visual(kind="sphere", size=(radius,)),)))
    return Tree(
        links=bodies,
        joints=joints,
        points=(
            Point(name="grip", link="wrist", position=(0.0, -GRIP, 0.0)),
            Point(name="fingertip", link="wrist", position=(0.0, -LENGTHS["hand"], 0.0)),
        ),
        gravity=(0.0, -GRAVITY, 0.0),
    )
