"""The reference person measured: poses, torques, points, mass and inertia of it and of others."""

from functools import cache

import casadi as ca
import numpy as np

from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import poses
from ocp.models.human import ROOT, human

REFLECTION = np.diag((-1.0, 1.0, 1.0))  # left and right change places
LEGS = ("hip_flex", "hip_abd", "knee_flex", "ankle_df", "toe_ext", "shou_abd")
FEW_JOINTS = ",".join([*ROOT, *(f"{joint}_{side}" for side in "rl" for joint in LEGS)])  # a walk's


@cache
def person():
    """The reference person with all 55 joints moving, functions q -> poses and (q, qd, qdd) ->
    torques, and the poses at q = 0."""
    tree = human(frozen=())
    q, qd, qdd = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    stacked = ca.Function("poses", [q], [ca.horzcat(*poses(tree, q))])
    torques = ca.Function("torques", [q, qd, qdd], [inverse(tree, q, qd, qdd)])

    def frames(q):
        return np.array(stacked(q)).reshape(4, -1, 4).swapaxes(0, 1)

    return (
        tree,
        frames,
        lambda *motion: np.array(torques(*motion)).ravel(),
        frames(np.zeros(tree.dof)),
    )


def places(tree, frames):
    """Positions (m) of all points by name."""
    return {
        point.name: (frames[tree.link_index(point.link)] @ (*point.position, 1.0))[:3]
        for point in tree.points
    }


def together(links, frames):
    """Mass of some links, their centre of mass, and inertia about it, in global axes."""
    masses = np.array([link.mass for link in links])
    centers = np.array([(frame @ (*link.com, 1.0))[:3] for frame, link in zip(frames, links)])
    center = masses @ centers / masses.sum()
    inertia = np.zeros((3, 3))
    for link, frame, place in zip(links, frames, centers):
        arm = place - center
        spread = arm @ arm * np.eye(3) - np.outer(arm, arm)
        inertia += frame[:3, :3] @ link.inertia @ frame[:3, :3].T + link.mass * spread
    return masses.sum(), center, inertia


def frames_of(tree, q=None):
    """Poses of any tree, at q = 0 unless said otherwise."""
    posture = ca.DM.zeros(tree.dof) if q is None else ca.DM(q)
    return np.array([np.array(pose) for pose in poses(tree, posture)])


def other_side(name):
    """The name with left and right exchanged."""
    return name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name.endswith(("_r", "_l")) else name


def movement(name):
    """The joint's name without its side."""
    return name[:-2] if other_side(name) != name else name


def random_posture(tree, rng):
    """A posture within the joint limits."""
    return np.array([rng.uniform(*joint.position) for joint in tree.moving])
