"""Joints locked at a position: fewer coordinates, the same mechanics."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, ball, inverse_dynamics, prismatic, revolute
from ocp.mechanics import Damper, polynomial, with_locked_joints

BODY = Link(mass=1.3, com=(0.1, 0.2, -0.1), inertia=np.diag([0.2, 0.3, 0.25]))


def hand():
    return Tree(
        links=(BODY,) * 4,
        joints=(
            revolute("arm"),
            revolute("wrist", "arm", axis=(0, 1, 0), home=(0.4, 0, 0)),
            prismatic("finger", "wrist", axis=(1, 0, 0), home=(0.3, 0.1, 0)),
            prismatic("thumb", "wrist", axis=(1, 0, 0), follows=polynomial("finger", 0.1, -0.5)),
        ),
        gravity=(0, 0, -9.81),
        elements=(Damper(joint="wrist", damping=0.3), Damper(joint="finger", damping=2.0)),
    )


def test_a_locked_joint_and_its_followers_bear_as_if_they_did_not_move():
    tree = hand()
    still = with_locked_joints(tree, {"finger": 0.04})
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 2))
    whole = inverse_dynamics(tree, ca.DM([*q, 0.04]), ca.DM([*qd, 0]), ca.DM([*qdd, 0]))
    part = inverse_dynamics(still, ca.DM(q), ca.DM(qd), ca.DM(qdd))
    assert still.dof == 2 and [each.joint for each in still.elements] == ["wrist"]
    np.testing.assert_allclose(np.array(part)[:, 0], np.array(whole)[:2, 0], atol=1e-13)


def test_what_has_no_coordinate_of_its_own_is_not_locked():
    with pytest.raises(ValueError, match="joint 'thumb' has no coordinate: it follows 'finger'"):
        with_locked_joints(hand(), {"thumb": 0.0})
    with pytest.raises(ValueError, match="unknown joint 'nose'"):
        with_locked_joints(hand(), {"nose": 0.0})
    with pytest.raises(ValueError, match="'hip' is a ball"):
        with_locked_joints(Tree(links=(BODY,), joints=(ball("hip"),)), {"hip": 0.0})
    with pytest.raises(ValueError, match=r"'hip\.w': a component of a ball is not locked by its"):
        with_locked_joints(Tree(links=(BODY,), joints=(ball("hip"),)), {"hip.w": 1.0})
    with pytest.raises(ValueError, match="with_locked_joints: values: expected Mapping, got list"):
        with_locked_joints(hand(), ["finger"])


def test_a_joint_is_not_locked_beyond_its_limits():
    tree = hand()
    limited = replace(tree.joints[2], position=(0.0, 0.04))
    tree = replace(tree, joints=(*tree.joints[:2], limited, tree.joints[3]))
    assert with_locked_joints(tree, {"finger": 0.04}).dof == 2
    with pytest.raises(ValueError, match=r"'finger': it cannot be locked at 0\.05 m"):
        with_locked_joints(tree, {"finger": 0.05})
    with pytest.raises(ValueError, match=r"beyond its limits of 0 to 0\.04 m"):
        with_locked_joints(tree, {"finger": -0.01})
