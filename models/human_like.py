"""A branched tree of 55 joints with the build of a human model: a benchmark of recursions, not an anatomical model."""
import numpy as np

from ocp.tree import GROUND, Link, Tree, prismatic, revolute

LIMBS = (("spine", "root5", 12), ("neck", "spine11", 5), ("left_arm", "spine11", 9), ("right_arm", "spine11", 9),
         ("left_leg", "root5", 7), ("right_leg", "root5", 7))                         # name, parent, joints
STEP = 3                                           # joints that meet in one place; the last of them carries a body
REACH = 0.3                                        # m: places lie within such a cube about the one before


def human_like(seed=0):
    """Return a floating root of three slides and three turns, with a spine, a neck, two arms and two legs; gravity acts along -y.

    All axes are those of x, y and z in turn; most links are massless, as where three turns make a ball joint. Bodies and offsets are random,
    from the seed, so no number of it means anything about a person.
    """
    rng, axes = np.random.default_rng(seed), np.eye(3)
    joints = [prismatic(f"root{k}", f"root{k - 1}" if k else GROUND, axis=axes[k]) for k in range(3)]
    joints += [revolute(f"root{k}", f"root{k - 1}", axis=axes[k - 3]) for k in range(3, 6)]
    links = [Link()] * 5 + [random_body(rng)]
    for name, parent, count in LIMBS:
        for k in range(count):
            home = rng.uniform(-REACH, REACH, 3) if k % STEP == 0 else np.zeros(3)
            joints.append(revolute(f"{name}{k}", f"{name}{k - 1}" if k else parent, axis=axes[k % 3], home=tuple(home)))
            links.append(random_body(rng) if k % STEP == STEP - 1 or k == count - 1 else Link())
    return Tree(links=links, joints=joints, gravity=(0.0, -9.81, 0.0))


def random_body(rng):
    """Return a link with the inertia of a random cloud of five equal masses about a random centre, so that it is physical."""
    cloud, mass = 0.2 * rng.standard_normal((5, 3)), rng.uniform(0.2, 3.0)
    spread = np.cov(cloud.T, bias=True)
    return Link(mass=mass, com=0.2 * rng.standard_normal(3), inertia=mass * (np.trace(spread) * np.eye(3) - spread))
