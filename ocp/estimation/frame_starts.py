"""Start of a marker fit: coordinates fitted frame after frame, each from the one before."""

from collections.abc import Iterator

import numpy as np

from ocp.estimation.marker_residuals import Sightings
from ocp.estimation.spline_fit import DAMPED, EASED, GENTLE, STIFF
from ocp.mechanics.model.tree import Tree

EAGER, PATIENT = 8, 60  # iterations in such a frame, and in the first one
NEAR = 0.01  # m: root mean square distance of a first frame's markers below which it is met
TURNS = (2.1, -2.1, 3.1)  # rad: by which a root's turns are tried
FARTHEST = 0.5  # rad: of a joint in one step, lest it be wound up
ALIKE = 1.01  # times the least sum of squares: starts that end so differ by whole turns alone


def follow_frames(
    sightings: Sightings, start: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return at `most` so many frames' numbers (k,), and the coordinates (n, k) there, each met
    from the one before, the first from a start (n,) slid to the markers, or where it is not met so,
    from that with a root turned otherwise."""
    count = sightings.places.shape[1]
    frames = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    path = [_first_frame(sightings.frame(int(frames[0])), start)]
    for frame in frames[1:]:
        path.append(fit_frame(sightings.frame(int(frame)), path[-1], EAGER))
    return frames, np.array(path).T


def _first_frame(one: Sightings, start: np.ndarray) -> np.ndarray:
    """Return the coordinates (n,) of a first frame, from the first start that comes near to it, or
    from the best of all."""
    weight = max(float(np.sum(one.roots**2)) / 3, 1e-300)
    tried: list[tuple[float, np.ndarray]] = []
    for turned in _turned_starts(one.tree, start):
        q = fit_frame(one, _slid_start(one, turned), PATIENT)
        tried.append((one.cost(q[:, None]), q))
        if tried[-1][0] <= NEAR**2 * weight:
            break
    least = min(cost for cost, _ in tried)
    alike = [q for cost, q in tried if cost <= ALIKE * least]
    # turned round no more than once
    return min(alike, key=lambda q: float(np.abs(q - start).max()))


def _turned_starts(tree: Tree, start: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a start (n,), and then others with the turns of a root that nothing drives."""
    yield start
    passive = [k for k, joint in enumerate(tree.moving) if not joint.actuated]
    balls = [rows for rows in tree.balls if rows[0] in passive]
    for rows in balls:
        for unit in np.eye(4):
            turned = start.copy()
            turned[list(rows)] = unit
            yield turned
    for row in passive:
        if tree.moving[row].kind == "revolute":
            for angle in TURNS:
                turned = start.copy()
                turned[row] += angle
                yield turned


def _slid_start(one: Sightings, q: np.ndarray) -> np.ndarray:
    """Return coordinates (n,) with the slides of the root that leave least to the markers: from
    afar limbs are found turned by 180 degrees, or wound up."""
    joints = one.tree.moving
    slides = [k for k, j in enumerate(joints) if j.kind == "prismatic" and not j.actuated]
    normals, pulls = one.normal(q[:, None])
    slid = q.copy()
    own = normals[0][np.ix_(slides, slides)]
    slid[slides] += np.linalg.lstsq(own, pulls[0][slides], rcond=None)[0]
    return slid


def fit_frame(one: Sightings, q: np.ndarray, iterations: int) -> np.ndarray:
    """Return the coordinates (n,) nearest to one frame's markers, from q on."""
    damping, (normals, pulls), cost = GENTLE, one.normal(q[:, None]), one.cost(q[:, None])
    turns = [k for k, joint in enumerate(one.tree.moving) if joint.kind == "revolute"]
    for _ in range(iterations):
        size = max(float(np.diag(normals[0]).max()), 1e-300)
        step = np.linalg.solve(normals[0] + damping * size * np.eye(len(q)), pulls[0])
        step *= min(1.0, FARTHEST / max(np.abs(step[turns]).max(initial=0.0), FARTHEST))
        trial = one.cost((q + step)[:, None])
        if trial <= cost:
            q, cost, damping = q + step, trial, max(damping / EASED, GENTLE)
            if np.abs(step).max() < 1e-6:
                break
            normals, pulls = one.normal(q[:, None])
        elif damping < STIFF:
            damping = max(EASED * damping, DAMPED)
        else:
            break
    return q
