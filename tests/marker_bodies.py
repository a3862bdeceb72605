"""A small tree with markers, how it moves, and what is seen of it."""

import numpy as np

from ocp import BSpline, Link, Point, Series, Tree, revolute
from ocp.estimation.marker_residuals import point_places

BASIS = BSpline(points=9, degree=5)
NOISE = 1e-3  # m


def wrist():
    """Three turns about different axes, and markers on the last link and the first."""
    joints = (
        revolute("yaw", axis=(0, 1, 0), position=(-1.0, 1.0)),
        revolute("pitch", "yaw", axis=(0, 0, 1), home=(0.3, 0, 0)),
        revolute("roll", "pitch", axis=(1, 0, 0), home=(0.4, 0, 0)),
    )
    places = {"a": (0.1, 0, 0), "b": (0, 0.1, 0), "c": (0, 0, 0.1), "d": (0.2, 0.1, 0)}
    points = [Point(name=name, link="roll", position=place) for name, place in places.items()]
    points.append(Point(name="e", link="yaw", position=(0.2, 0.0, 0.1)))
    return Tree(links=[Link(mass=1.0)] * 3, joints=joints, points=points)


def moving(tree, frames=80, seed=0, size=0.5):
    """Control points, times and coordinates (n, N) of a smooth motion on BASIS."""
    control = size * np.random.default_rng(seed).standard_normal((tree.dof, BASIS.points))
    t = np.linspace(0.0, 1.0, frames)
    return t, control @ BASIS.values(t).T


def seen(tree, t, q, names=(), noise=0.0, seed=1):
    """Markers of the points of a tree along a motion, with seeded noise."""
    names = tuple(names) or tuple(point.name for point in tree.points)
    places = point_places(tree, names, q)[0]
    places = places + noise * np.random.default_rng(seed).standard_normal(places.shape)
    return Series(t=t, values=dict(zip(names, np.split(places, len(names)))), source="walk.trc")
