"""Random motions of trees, and what they need, by the names that OpenSim's files give."""

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS
from ocp.mechanics import poses


def states_of(tree, count, seed=0):
    """Random motions [{coordinate: [value, rate, acceleration]}] within the ranges."""
    rng = np.random.default_rng(seed)
    return [
        {
            each.name: [
                rng.uniform(*np.clip(each.position, -2.0, 2.0)),
                rng.normal(),
                3 * rng.normal(),
            ]
            for each in tree.moving
        }
        for _ in range(count)
    ]


def motion(tree, state):
    """q, qd and qdd (n,) of a state."""
    return np.transpose([state[each.name] for each in tree.moving])


def frames(tree, state):
    """{link: pose (4x4)} in a state."""
    given = poses(tree, ca.DM(motion(tree, state)[0]))
    return {name: np.array(ca.DM(pose)) for name, pose in zip(tree.link_names, given)}


def torques(tree, state):
    """{coordinate: torque} of inverse dynamics in a state."""
    needed = FORMULATIONS["newton_euler"].inverse(tree, *map(ca.DM, motion(tree, state)))
    return dict(zip((each.name for each in tree.moving), np.array(ca.DM(needed)).ravel()))
