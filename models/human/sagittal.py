"""Parts of the human as bodies of the sagittal plane: x forward, y up, all angles about z.

They are those of the skeleton as it stands at q = 0, arms hanging, with the same masses, centres,
inertias, ranges and torque limits.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ocp import Link, Tree
from ocp.models.flat import Pair, flat
from ocp.models.human.anthropometry import LENGTHS
from ocp.models.human.body_surface import frames_in, posed_looks

LIMBS = {
    "upper_arm": "shou_rot",
    "forearm": "elb_pron",
    "hand": "wri_rad",
}  # links whose frames stand at the distal joints


def proximal(tree: Tree, segment: str) -> Pair:
    """Return the place (x, y; m) of the proximal joint of a limb of the right side at q = 0.

    `tree` is a `human()`, `segment` upper_arm, forearm or hand.
    """
    frame = frames_in(tree)[tree.link_index(f"{LIMBS[segment]}_r")]
    return float(frame[2, 3]), float(frame[1, 3]) + LENGTHS[segment]


def together(tree: Tree, names: Sequence[str], pivot: Pair) -> Link:
    """Return the named links of a `human()` as one flat body, from a `pivot` (x, y; m) on."""
    frames = frames_in(tree)
    chosen = [tree.link_index(name) for name in names]
    masses = np.array([tree.links[k].mass for k in chosen])
    places = np.array([_centre(tree.links[k], frames[k]) for k in chosen])
    whole = masses.sum()
    centre = masses @ places / whole
    inertia = sum(_about_x(tree.links[k], frames[k]) for k in chosen)
    inertia += masses @ ((places - centre)[:, 1:] ** 2).sum(axis=1)
    body = flat(float(whole), (centre[2] - pivot[0], centre[1] - pivot[1]), float(inertia))
    aside = np.array([[0, 0, 1, -pivot[0]], [0, 1, 0, -pivot[1]], [-1, 0, 0, 0], [0, 0, 0, 1.0]])
    return replace(body, visuals=posed_looks(tree, names, aside))


def drive(tree: Tree, joint: str) -> dict[str, Pair]:
    """Return the ranges (rad) and torque limits (N m) of a joint of a `human()`."""
    own = next(each for each in tree.moving if each.name == joint)
    return {"position": own.position, "torque": own.torque}


def _centre(link: Link, frame: np.ndarray) -> np.ndarray:
    return frame[:3, :3] @ np.array(link.com) + frame[:3, 3]


def _about_x(link: Link, frame: np.ndarray) -> float:
    """Return a link's moment of inertia (kg m2) about the global X through its own centre."""
    axis = frame[0, :3]
    return float(axis @ np.array(link.inertia) @ axis)
