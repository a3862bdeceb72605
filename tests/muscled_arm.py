"""An arm of one link whose elbow two muscles turn."""

import numpy as np

from ocp import Link, Tree, revolute
from ocp.mechanics.muscles import Muscle, PolynomialPath


def muscle(name, lever, joint="elbow", **others):
    line = PolynomialPath(joints=(joint,), exponents=[[0], [1]], coefficients=[0.3, lever])
    settings = {"force": 600.0, "fibre": 0.1, "slack": 0.2, "pennation": 0.1}
    return Muscle(name=name, path=line, **settings | others)


def arm(**others):
    link = Link(mass=1.5, com=(0.15, 0.0, 0.0), inertia=np.diag([0.01, 0.03, 0.03]))
    both = muscle("flexor", -0.03, **others), muscle("extensor", 0.03, **others)
    joint = revolute("elbow", actuated=False)
    return Tree(links=(link,), joints=(joint,), gravity=(0.0, -9.81, 0.0), elements=both)


def excitations(at):
    return at.tau[[at.tree.coordinate(name) for name in at.tree.driven]]
