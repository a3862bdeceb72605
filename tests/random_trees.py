"""Random mechanisms and motions for property tests; every draw comes from a seeded generator."""

import inspect
from functools import wraps

import numpy as np

from ocp import Joint, Link, Load, Point, Tree
from ocp.mechanics import GROUND


def random_rotation(rng):
    """Return a random rotation matrix (3x3)."""
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return turn * np.sign(np.linalg.det(turn))


def random_pose(rng):
    """Return a random rigid pose (4x4) with a translation of order 0.3 m."""
    pose = np.eye(4)
    pose[:3, :3] = random_rotation(rng)
    pose[:3, 3] = 0.3 * rng.standard_normal(3)
    return pose


def random_link(rng):
    """Return a link whose inertia is that of a random cloud of masses, so that it is physical."""
    cloud = 0.2 * rng.standard_normal((5, 3))
    mass = rng.uniform(0.2, 3.0)
    spread = np.cov(cloud.T, bias=True)
    return Link(
        mass=mass,
        com=0.2 * rng.standard_normal(3),
        inertia=mass * (np.trace(spread) * np.eye(3) - spread),
    )


def random_screw(rng, kind):
    """Return a screw of that kind about or along a random axis, away from the link frame's
    origin."""
    if kind == "fixed":
        return None
    axis = random_rotation(rng)[0]
    if kind == "prismatic":
        return (0, 0, 0, *axis)
    pitch = rng.uniform(-0.3, 0.3) if kind == "screw" else 0.0
    return (*axis, *(np.cross(0.2 * rng.standard_normal(3), axis) + pitch * axis))


def random_tree(
    rng, joints, kinds=("revolute", "prismatic", "screw", "fixed"), branching=0.3, massless=0.2
):
    """Return a tree of that many joints; the last link of every branch has mass, others are
    massless now and then."""
    names = [f"joint{k}" for k in range(joints)]
    parents = [
        GROUND if k == 0 else names[rng.integers(0, k) if rng.random() < branching else k - 1]
        for k in range(joints)
    ]
    built, links = [], []
    for k, name in enumerate(names):
        kind = kinds[0] if k == 0 else kinds[rng.integers(len(kinds))]
        built.append(
            Joint(
                name=name, parent=parents[k], home=random_pose(rng), screw=random_screw(rng, kind)
            )
        )
        links.append(Link() if name in parents and rng.random() < massless else random_link(rng))
    points = tuple(
        Point(name=f"point{k}", link=name, position=0.3 * rng.standard_normal(3))
        for k, name in enumerate(names)
    )
    return Tree(links=links, joints=built, points=points, gravity=rng.uniform(-10, 10, 3))


def random_motion(rng, tree):
    """Return q, qd, qdd, each (n,)."""
    return rng.uniform(-2, 2, (3, tree.dof))


def random_loads(rng, tree, count):
    """Return loads with force and moment on randomly chosen points."""
    points = rng.choice([point.name for point in tree.points], size=count)
    return tuple(
        Load(point=str(name), force=10 * rng.standard_normal(3), moment=5 * rng.standard_normal(3))
        for name in points
    )


def over(seeds):
    """Make one test out of a claim over many seeds; where it fails, the seed is told."""

    def made(claim):
        parameters = inspect.signature(claim).parameters.values()

        @wraps(claim)
        def test(**others):
            for seed in seeds:
                try:
                    claim(seed=seed, **others)
                except Exception as failure:
                    failure.args = (f"seed {seed}: {failure}",)
                    raise

        test.__signature__ = inspect.Signature([each for each in parameters if each.name != "seed"])
        return test

    return made
