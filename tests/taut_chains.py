"""The shortest chains of points outside of surfaces, pulled tight by a general solver of NLPs: an
oracle of wrapped paths that knows no tangents and no geodesics."""

from functools import cache

import casadi as ca
import numpy as np

from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import WrapCylinder

QUIET = {"ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-11}, "print_time": False}
COUNTS = 59, 119  # points of a coarse chain, and of one with half as long steps
BULGES = 0.06, 0.12  # m
X = np.array([1.0, 0, 0])


@cache
def chain(count, surfaces):
    """Solver of the chain of least squared steps, which are even where its length is least."""
    x, ends = ca.SX.sym("x", 3, count), ca.SX.sym("ends", 3, 2)
    scales = [ca.SX.sym(f"scale_{k}", 3, 3) for k in range(surfaces)]
    centers = [ca.SX.sym(f"center_{k}", 3) for k in range(surfaces)]
    whole = ca.horzcat(ends[:, 0], x, ends[:, 1])
    gaps = [
        ca.sum1((scale @ (x - ca.repmat(center, 1, count))) ** 2) - 1
        for scale, center in zip(scales, centers)
    ]
    p = ca.vertcat(*map(ca.vec, (ends, *scales, *centers)))
    steps = ca.sumsqr(whole[:, 1:] - whole[:, :-1])
    problem = {"x": ca.vec(x), "p": p, "f": steps, "g": ca.vertcat(*map(ca.vec, gaps))}
    return ca.nlpsol("taut", "ipopt", problem, QUIET)


def scale_of(surface, rotation=np.eye(3), origin=np.zeros(3)):
    """Matrix (3x3) that makes a surface a unit sphere or cylinder, and its centre (3, m)."""
    pose = np.array(surface.pose)
    if isinstance(surface, WrapCylinder):
        widths = (1 / surface.radius, 1 / surface.radius, 0.0)
    else:
        widths = 1 / np.broadcast_to(getattr(surface, "radii", None) or surface.radius, 3)
    return np.diag(widths) @ (rotation @ pose[:3, :3]).T, rotation @ pose[:3, 3] + origin


def taut(start, end, surfaces, way):
    """Length (m) of the shortest path, and its direction (3) at the end.

    Chords are short by the square of a step: two chains extrapolate. Guesses bulge to the side on
    which the path is to lie; the shortest chain of theirs counts.
    """
    scales, centers = zip(*surfaces)
    p = np.concatenate([start, end, *(each.T.ravel() for each in scales), *centers])
    lengths, directions = [], []
    for count in COUNTS:
        t = np.linspace(0, 1, count + 2)[1:-1, None]
        chains = []
        for bulge in BULGES:
            guess = start + t * (np.array(end) - start) + bulge * np.sin(np.pi * t) * way
            found = chain(count, len(surfaces))(x0=guess.ravel(), p=p, lbg=0, ubg=ca.inf)["x"]
            whole = np.vstack([start, np.array(found).reshape(count, 3), end])
            chains.append(np.diff(whole, axis=0))
        steps = min(chains, key=lambda steps: np.linalg.norm(steps, axis=1).sum())
        lengths.append(np.linalg.norm(steps, axis=1).sum())
        directions.append(steps[-1] / np.linalg.norm(steps[-1]))
    return lengths[1] + (lengths[1] - lengths[0]) / 3, directions[1]


def length_and_slopes(tree, path, q):
    """Length and slopes of a path in a posture."""
    state = State(tree=tree, q=ca.DM(q))
    slope = path.slope(state)
    values = [path.length(state), *(slope.get(k, ca.DM(0)) for k in range(tree.dof))]
    length, *slopes = np.array(ca.evalf(ca.vertcat(*values))).ravel()
    return length, slopes
