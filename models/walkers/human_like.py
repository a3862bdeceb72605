"""A branched tree of 55 joints with the build of a human model: a benchmark, no anatomy."""

import numpy as np

from ocp import Link, Tree, prismatic, revolute
from ocp.mechanics import GROUND

Place = tuple[float, float, float]
# name, parent, place of the first joint there (m), joints that meet in each place, bone from one
# place to the next (m), mass of a bone (kg)
LIMBS: tuple[tuple[str, str, Place, tuple[int, ...], Place, float], ...] = (
    ("spine", "root5", (0.0, 0.1, 0.0), (3, 3, 3, 3), (0.0, 0.11, 0.0), 6.0),
    ("neck", "spine11", (0.0, 0.13, 0.0), (3, 2), (0.0, 0.12, 0.0), 2.5),
    ("left_arm", "spine11", (0.02, 0.07, 0.0), (2, 3, 2, 2), (0.0, -0.27, 0.0), 1.3),
    ("right_arm", "spine11", (-0.02, 0.07, 0.0), (2, 3, 2, 2), (0.0, -0.27, 0.0), 1.3),
    ("left_leg", "root5", (0.09, -0.1, 0.0), (3, 1, 2, 1), (0.0, -0.4, 0.0), 4.0),
    ("right_leg", "root5", (-0.09, -0.1, 0.0), (3, 1, 2, 1), (0.0, -0.4, 0.0), 4.0),
)
WIDTH = 0.1  # m: radius of the bones, which are solid cylinders


def human_like() -> Tree:
    """Return a floating root with a spine, a neck, two arms and two legs, gravity along -y.

    The root has three slides and three turns. Where several joints meet, their axes are x, y and z
    in turn and all their links but the last are massless, as in a human model; round numbers stand
    for sizes and masses.
    """
    axes = np.eye(3)
    joints = [
        prismatic(f"root{k}", f"root{k - 1}" if k else GROUND, axis=axes[k]) for k in range(3)
    ]
    joints += [revolute(f"root{k}", f"root{k - 1}", axis=axes[k - 3]) for k in range(3, 6)]
    links = [Link()] * 5 + [bone((0.0, 0.1, 0.0), 8.0)]
    for name, parent, place, meetings, along, mass in LIMBS:
        count = 0
        for meeting, size in enumerate(meetings):
            starts = [along if meeting else place, *[(0.0, 0.0, 0.0)] * (size - 1)]
            for axis, home in zip(axes, starts):
                before = f"{name}{count - 1}" if count else parent
                joints.append(revolute(f"{name}{count}", before, axis=axis, home=home))
                count += 1
            links += [*[Link()] * (size - 1), bone(along, mass)]
    return Tree(links=links, joints=joints, gravity=(0.0, -9.81, 0.0))


def bone(along: Place, mass: float) -> Link:
    """Return a link that is a solid cylinder from its joint along a vector (3, m)."""
    length = np.linalg.norm(along)
    direction, across = np.array(along) / length, mass * (length**2 / 12 + WIDTH**2 / 4)
    inertia = across * np.eye(3) + (mass * WIDTH**2 / 2 - across) * np.outer(direction, direction)
    return Link(mass=mass, com=np.array(along) / 2, inertia=inertia)
