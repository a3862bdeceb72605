"""Random trees of rigid and flexible links, with clouds of particles that move as they do."""

from dataclasses import replace
from functools import cache

import numpy as np
from random_trees import random_loads, random_motion, random_tree

from ocp import Link
from ocp.mechanics import Beam, Body, assumed_modes


def random_modes(rng):
    """Polynomial modes of a random beam, some with tip bodies and stiffening, and the particles
    that make it up: places (3), masses."""
    corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) / np.sqrt(3)
    size = rng.uniform(0.01, 0.05, 3)
    com = 0.1 * rng.standard_normal(3)
    mass = rng.uniform(0.1, 0.5)
    spread = mass * (size**2 / 3)
    com[0] = abs(com[0]) + 0.05  # beyond the beam, where places move with the tip
    tip = (
        Body(mass=mass, com=com, inertia=np.diag(spread.sum() - spread))
        if rng.random() < 0.5
        else None
    )
    beam = Beam(
        length=rng.uniform(0.3, 1.0),
        mass=rng.uniform(0.2, 1.0),
        bending=rng.uniform(1, 10, 2),
        torsion=rng.uniform(1, 5),
        gyration=rng.uniform(0.01, 0.05, 2),
        tip=tip,
        rotary=True,
    )
    many = rng.integers(0, 2, 3) + np.array([0, 1, 0])
    modes = assumed_modes(
        beam,
        bend_y=int(many[0]),
        bend_z=int(many[1]),
        torsion=int(many[2]),
        shapes="polynomial",
        stiffening=bool(rng.integers(2)),
        damping=0.02,
    )
    points, weights = np.polynomial.legendre.leggauss(6)
    places = [
        ((x + 1) * beam.length / 2, side * y, up * z)
        for x in points
        for side, up, y, z in (
            (1, 0, beam.gyration[1], 0),
            (-1, 0, beam.gyration[1], 0),
            (0, 1, 0, beam.gyration[0]),
            (0, -1, 0, beam.gyration[0]),
        )
    ]
    masses = [beam.mass * w / 2 / 4 for w in weights for _ in range(4)]
    places = [np.array([x, np.sqrt(2) * y, np.sqrt(2) * z]) for x, y, z in places]
    if tip is not None:
        places += [np.array([beam.length, 0, 0]) + com + corner * size for corner in corners]
        masses += [mass / 8] * 8
    return modes, places, masses


def random_particles(link):
    """Four particles with a rigid link's mass, centre and inertia."""
    spread = np.trace(link.inertia) / 2 * np.eye(3) - np.array(link.inertia)
    root = np.linalg.cholesky(spread / link.mass + 1e-16 * np.eye(3))
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    return [np.array(link.com) + root @ corner for corner in corners], [link.mass / 4] * 4


@cache
def mixed(seed):
    """A random tree of rigid and flexible links with revolute and fixed joints, the particles of
    each link, a motion, and two loads."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(2, 5)), kinds=("revolute", "fixed"), massless=0.0)
    links, particles = [], []
    for number, link in enumerate(tree.links):
        if number == seed % 2 or rng.random() < 0.4:
            modes, *cloud = random_modes(rng)
            links.append(Link(modes=modes))
        else:
            cloud = random_particles(link)
            links.append(link)
        particles.append(cloud)
    tree = replace(tree, links=links)
    q, qd, qdd = random_motion(rng, tree)
    for row in sum(tree.amplitude_rows, ()):
        q[row], qd[row] = 0.05 * q[row], 0.3 * qd[row]
    return tree, particles, q, qd, qdd, random_loads(rng, tree, 2)
