"""Inertia of links: first moments, pseudo-inertias, and the base parameters of a tree."""

from functools import lru_cache

import numpy as np

from ocp.mechanics.model.tree import Link, Tree
from ocp.mechanics.values.parameters import array, is_open
from ocp.mechanics.values.validation import nominal_array

NOISE = 1e-15  # relative: what lies below is rounding


def mass_moments(link: Link) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, first moment m c (3) and pseudo-inertia (3x3, integral of r r') of a link about
    its frame's origin."""
    com, inertia = array(link.com), array(link.inertia)
    about_com = np.trace(inertia) / 2 * np.eye(3) - inertia
    return link.mass, link.mass * com, about_com + link.mass * np.outer(com, com)


def regroup_inertias(tree: Tree) -> tuple[tuple[float, np.ndarray, np.ndarray], ...]:
    """Return (mass, first moment, pseudo-inertia) per link of an aligned tree that give the same
    joint torques, three fewer per revolute joint.

    Mass on the axis of a revolute joint belongs to either of its links. So each link hands its mass
    m, its first moment h_z and a line of second moment I_yy along the axis to its parent, which
    leaves it h_x, h_y, I_xx - I_yy, I_zz and the products: the base parameters of Khalil & Dombre
    (2002), section 9.4. What a fixed link has goes to its parent whole; what reaches the ground is
    at rest.
    """
    return _handed_on(tree)[:-1]


def merge_fixed_links(tree: Tree) -> tuple[tuple[float, np.ndarray, np.ndarray], ...]:
    """Return (mass, first moment, pseudo-inertia) per link of an aligned tree, with all that fixed
    links have handed to their parents."""
    return _handed_on(tree, ("fixed",))[:-1]


def resting_mass(tree: Tree) -> tuple[float, np.ndarray]:
    """Return mass and first moment (3) in the ground of what reaches the ground when the links of
    an aligned tree are regrouped."""
    return _handed_on(tree)[-1][:2]


@lru_cache(maxsize=32)
def _handed_on(
    tree: Tree, kinds: tuple[str, ...] = ("fixed", "revolute")
) -> tuple[tuple[float, np.ndarray, np.ndarray], ...]:
    """Return the inertia of each link when those of joints of some kinds are regrouped, and at the
    end the ground's."""
    inertias: list[tuple] = [*map(mass_moments, tree.links), (0.0, np.zeros(3), np.zeros((3, 3)))]
    parents = tree.parents  # -1, the ground, is the last of these
    for k in reversed(range(len(tree.links))):
        joint, (mass, first, second) = tree.joints[k], inertias[k]
        if joint.kind not in kinds:
            continue
        if joint.kind == "fixed":
            inertias[k], moved = (0.0, np.zeros(3), np.zeros((3, 3))), (mass, first, second)
        else:
            origin, axis = array(joint.home)[:3, 3], array(joint.home)[:3, 2]
            line, arm = second[0, 0] + second[2, 2], first[2] * np.outer(origin, axis)
            moved = (
                mass,
                mass * origin + first[2] * axis,
                mass * np.outer(origin, origin) + arm + arm.T + line * np.outer(axis, axis),
            )
            left = second.copy()
            left[2, 2] = -second[0, 0]
            size = np.abs(nominal_array(first)).max()
            inertias[k] = 0.0, without_noise(array([first[0], first[1], 0.0]), size), left
        inertias[parents[k]] = tuple(
            kept + added for kept, added in zip(inertias[parents[k]], moved)
        )
    return tuple(inertias)


def without_noise(entries: np.ndarray, size: float) -> np.ndarray:
    """Return numbers with zeros for those that rounding made of others of that `size`, so that
    graphs may fold them; open ones stay as they are."""
    values = np.ravel(entries)
    noise = [not is_open(entry) and abs(entry) < NOISE * size for entry in values]
    return np.where(noise, 0.0, values).reshape(np.shape(entries))
