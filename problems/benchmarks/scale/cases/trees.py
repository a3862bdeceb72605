"""Trees of rods of any number of joints: a serial chain, and three that branch.

All have the same mass, and the same length from the ground to the furthest tip; where they branch,
joints of different limbs have no product in the mass matrix, nor in any derivative of torques.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ocp import Link, Tree, revolute
from ocp.mechanics import GROUND

MASS, LENGTH, THICK = 10.0, 2.0, 0.02  # kg, m of the longest way from the ground, m radius of rods
GRAVITY, STRONG = 9.81, 2.0  # m/s2; by how many times drives are stronger than what they hold
LIMB, HUB, LEG = 4, 3, 2  # joints of a star's limb and of its hub, and of a caterpillar's leg
SEGMENT = 1 + 2 * LEG  # joints of a caterpillar's segment: one of its spine, two legs


def chain(joints: int) -> Tree:
    """Return a hanging chain of so many revolute joints, about y and x in turn."""
    return rods([k - 1 for k in range(joints)])


def star(joints: int) -> Tree:
    """Return a hub on a ball joint of three revolute ones, with limbs of four joints all around.

    Raises ValueError unless the joints are 3 and four for each limb.
    """
    limbs, rest = divmod(joints - HUB, LIMB)
    if limbs < 1 or rest:
        raise ValueError(f"joints: expected {HUB} and {LIMB} for each limb, got {joints}")
    parents, azimuths = [-1, *range(HUB - 1)], [0.0] * HUB
    for limb in range(limbs):
        first = HUB + LIMB * limb
        parents += [HUB - 1, *range(first, first + LIMB - 1)]
        azimuths += [2 * np.pi * limb / limbs] + [0.0] * (LIMB - 1)
    return rods(parents, azimuths)


def caterpillar(joints: int) -> Tree:
    """Return a spine with a pair of legs of two joints at each of its joints.

    Raises ValueError unless the joints are five for each segment.
    """
    segments, rest = divmod(joints, SEGMENT)
    if segments < 1 or rest:
        raise ValueError(f"joints: expected {SEGMENT} for each segment, got {joints}")
    parents, azimuths = list[int](), list[float]()
    for segment in range(segments):
        spine = SEGMENT * segment
        parents.append(spine - SEGMENT)
        azimuths.append(0.0)
        for side in range(2):
            first = spine + 1 + LEG * side
            parents += [spine, *range(first, first + LEG - 1)]
            azimuths += [np.pi * (side + 0.5)] + [0.0] * (LEG - 1)
    parents[0] = -1
    return rods(parents, azimuths)


def boughs(joints: int) -> Tree:
    """Return a tree each of whose joints carries two others, as far as there are so many."""
    return rods([(k - 1) // 2 for k in range(joints)], [np.pi * (k % 2) for k in range(joints)])


SHAPES: Mapping[str, Callable[[int], Tree]] = {
    "chain": chain,
    "caterpillar": caterpillar,
    "boughs": boughs,
    "star": star,
}


def depths(parents: Sequence[int]) -> list[int]:
    """Return the number of joints from the ground to each, itself counted; parents come first."""
    ways: list[int] = []
    for parent in parents:
        ways.append(1 if parent < 0 else ways[parent] + 1)
    return ways


def rods(parents: Sequence[int], azimuths: Sequence[float] = ()) -> Tree:
    """Return the tree of equal rods, each at the end of its parent's (-1: the ground).

    Rods hang along -z; those that begin a branch, whose `azimuths` (rad) are not zero for all,
    lean out by an eighth of a turn to that side. Joints turn about y and x in turn.
    """
    deepest, turns = max(depths(parents)), azimuths or [0.0] * len(parents)
    length, mass = LENGTH / deepest, MASS / len(parents)
    rod, drives = _rod(length, mass), _drives(parents, length, mass * GRAVITY)
    joints = []
    for k, (parent, azimuth) in enumerate(zip(parents, turns)):
        home = np.eye(4)
        home[2, 3] = -length if parent >= 0 else 0.0
        if parents.count(parent) > 1:
            home[:3, :3] = _leaning(azimuth)
        axis = (0.0, 1.0, 0.0) if k % 2 == 0 else (1.0, 0.0, 0.0)
        before = GROUND if parent < 0 else f"joint{parent}"
        drive = {"axis": axis, "home": home, "torque": drives[k]}
        joints.append(revolute(f"joint{k}", before, **drive))
    return Tree(links=[rod] * len(joints), joints=joints, gravity=(0.0, 0.0, -GRAVITY))


def _drives(parents: Sequence[int], length: float, weight: float) -> list[float]:
    """Return the torque (N m) of each drive: so many times that which all rods it carries,
    stretched out sideways, would have about it."""
    count, moment = [1.0] * len(parents), [weight * length / 2] * len(parents)
    for k in reversed(range(len(parents))):
        if parents[k] >= 0:
            count[parents[k]] += count[k]
            moment[parents[k]] += moment[k] + count[k] * weight * length
    return [STRONG * each for each in moment]


def _rod(length: float, mass: float) -> Link:
    across, along = mass * (length**2 / 12 + THICK**2 / 4), mass * THICK**2 / 2
    com = (0.0, 0.0, -length / 2)
    return Link(mass=mass, com=com, inertia=np.diag((across, across, along)))


def _leaning(azimuth: float) -> np.ndarray:
    """Return the rotation (3, 3) that leans -z out by an eighth of a turn to an azimuth (rad)."""
    c, s, lean = np.cos(azimuth), np.sin(azimuth), np.sqrt(0.5)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    out = np.array([[lean, 0.0, -lean], [0.0, 1.0, 0.0], [lean, 0.0, lean]])
    return turn @ out
