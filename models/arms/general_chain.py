"""General serial chains of revolute joints, with axes, offsets and bodies at random."""

import numpy as np

from ocp import Link, Tree, revolute
from ocp.mechanics import GROUND


def general_chain(n: int, seed: int = 0) -> Tree:
    """Return a chain of n revolute joints, each body physical, under gravity along no axis.

    Chains of one seed begin alike; lengths are of some 0.3 m, masses of 0.2 to 3 kg.
    """
    rng, joints = np.random.default_rng(seed), []
    for k in range(n):
        home, (turn, _) = np.eye(4), np.linalg.qr(rng.standard_normal((3, 3)))
        home[:3, :3] = turn * np.sign(np.linalg.det(turn))
        home[:3, 3] = 0.3 * rng.standard_normal(3)
        axis = rng.standard_normal(3)
        axis = axis / np.linalg.norm(axis)
        joints.append(revolute(f"joint{k}", f"joint{k - 1}" if k else GROUND, axis=axis, home=home))
    bodies = [random_body(rng) for _ in joints]
    return Tree(links=bodies, joints=joints, gravity=rng.uniform(-10, 10, 3))


def random_body(rng: np.random.Generator) -> Link:
    """Return a link with the inertia of a random cloud of five equal masses: a physical one."""
    cloud, mass = 0.2 * rng.standard_normal((5, 3)), rng.uniform(0.2, 3.0)
    spread = np.cov(cloud.T, bias=True)
    inertia = mass * (np.trace(spread) * np.eye(3) - spread)
    return Link(mass=mass, com=0.2 * rng.standard_normal(3), inertia=inertia)
