"""Strength of people by groups of joints, as a share of their usual one."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ocp import Strength, Tree
from ocp.mechanics import Open, any_nonzero, nominal
from ocp.models.human.strength.exertions import Exertion

GROUPS = {  # by how the names of their joints begin
    "hips": ("hip_",),
    "knees": ("knee_",),
    "ankles": ("ankle_", "toe_"),
    "trunk": ("spine", "head_"),
    "arms": ("shou_", "elb_"),
}


def by_groups(body: Tree, shares: Mapping[str, float | Open]) -> Tree:
    """Return a body whose groups of joints have these shares of their strength, both ways.

    Raises ValueError naming a group whose share is not above 0.
    """
    for group, share in shares.items():
        if not 0 < nominal(share) < np.inf:
            raise ValueError(f"{group}: expected a share above 0 of their strength, got {share!r}")
        if any_nonzero((share - 1,)):
            names = [each.name for each in body.moving if each.name.startswith(GROUPS[group])]
            for name in names:
                body = weaker(body, name, share)
    return body


def weaker(body: Tree, name: str, share: float | Open) -> Tree:
    """Return a body one of whose joints has a share of its strength, both ways."""
    k = body.joint_index(name)
    joint = replace(body.joints[k], torque=tuple(share * bound for bound in body.joints[k].torque))
    muscles: tuple = tuple(_weaker(each, name, share) for each in body.elements)
    joints = (*body.joints[:k], joint, *body.joints[k + 1 :])
    return replace(body, joints=joints, elements=muscles)


def _weaker(each: object, joint: str, share: float | Open) -> object:
    """Return an element of a tree, of a joint's muscles one that has a share of their strength."""
    if not (isinstance(each, Strength) and each.joint == joint):
        return each
    if not isinstance(each.capacity, Exertion):
        return each
    return replace(each, capacity=replace(each.capacity, peak=share * each.capacity.peak))
