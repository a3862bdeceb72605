"""The oracle from another house: Pinocchio (Carpentier et al. 2019) computes the same torques,
centre of mass and energy.

Pinocchio's joints turn about axes through their own origins, so each is placed at our joint's
anchor and the link is shifted back.
"""

from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_loads, random_motion, random_tree

from ocp.dynamics import FORMULATIONS
from ocp.mechanics import translate
from ocp.mechanics.kinematics import kinematics

pin = pytest.importorskip("pinocchio", reason="needs the extra `oracles`")

SEEDS = range(8)
KINDS = {
    "plain": ("revolute", "prismatic", "fixed"),
    "screws": ("revolute", "screw", "prismatic", "fixed"),
}

every_kind = pytest.mark.parametrize("kinds", KINDS)


@dataclass(frozen=True, kw_only=True)
class Twin:
    """Pinocchio's model of a tree: per link its joint and the link's pose in it; per joint of the
    tree its row in Pinocchio's q."""

    model: pin.Model
    joints: dict
    offsets: dict
    rows: dict

    def order(self, tree, values):
        """Values (n,) of the tree's coordinates in Pinocchio's order."""
        ordered = np.zeros(tree.dof)
        for name, row in self.rows.items():
            ordered[row] = values[tree.coordinate(name)]
        return ordered

    def disorder(self, tree, values):
        """Values (n,) of Pinocchio's order in the tree's."""
        return np.array([values[self.rows[joint.name]] for joint in tree.moving])


def depth_first(tree):
    """Indices of the joints, every branch finished before the next begins, as Pinocchio numbers
    them."""

    def branch(k):
        return [k] + [
            index
            for child, parent in enumerate(tree.parents)
            if parent == k
            for index in branch(child)
        ]

    return [
        index for root, parent in enumerate(tree.parents) if parent < 0 for index in branch(root)
    ]


def joint_model(joint):
    """Pinocchio's joint of the same kind about the same direction."""
    angular, linear = np.array(joint.screw[:3]), np.array(joint.screw[3:])
    if joint.kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(linear)
    return (
        pin.JointModelRevoluteUnaligned(angular)
        if joint.kind == "revolute"
        else pin.JointModelHelicalUnaligned(angular, joint.pitch)
    )


def twin_of(tree):
    """Build Pinocchio's model of a tree, joint by joint; a fixed link belongs to the joint that
    carries it."""
    model, joints, offsets, rows = pin.Model(), {-1: 0}, {-1: pin.SE3.Identity()}, {}
    model.gravity = pin.Motion(np.array(tree.gravity), np.zeros(3))
    for k in depth_first(tree):
        joint, link, parent = tree.joints[k], tree.links[k], tree.parents[k]
        home = offsets[parent] * pin.SE3(np.array(joint.home))
        joints[k], offsets[k] = joints[parent], home
        if joint.screw is not None:
            anchor = pin.SE3(translate(*joint.anchor))
            joints[k], offsets[k] = (
                model.addJoint(joints[parent], joint_model(joint), home * anchor, joint.name),
                anchor.inverse(),
            )
            rows[joint.name] = model.joints[joints[k]].idx_q
        model.appendBodyToJoint(
            joints[k],
            pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia)),
            offsets[k],
        )
    return Twin(model=model, joints=joints, offsets=offsets, rows=rows)


@cache
def case(kinds, seed):
    """A random tree of 1 to 12 joints, its twin, a motion, and two loads."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 13)), kinds=KINDS[kinds])
    return tree, twin_of(tree), random_motion(rng, tree), random_loads(rng, tree, 2)


def joint_forces(tree, twin, data, loads):
    """External forces (one per joint) of the loads in the frames of Pinocchio's joints, at the
    placements in `data`."""
    forces = [pin.Force.Zero() for _ in range(twin.model.njoints)]
    for load in loads:
        point = tree.point(load.point)
        k = tree.link_index(point.link)
        joint = data.oMi[twin.joints[k]]
        place = (joint * twin.offsets[k]).act(np.array(point.position))
        about_origin = pin.Force(
            np.array(load.force), np.array(load.moment) + np.cross(place, load.force)
        )
        forces[twin.joints[k]] += joint.actInv(about_origin)
    return forces


@every_kind
@pytest.mark.parametrize("name", FORMULATIONS)
@over(SEEDS)
def test_torques_with_loads_and_newton_and_eulers_without(name, kinds, seed):
    """The others agree with Newton and Euler's without loads in test_formulations."""
    tree, twin, motion, loads = case(kinds, seed)
    data, ordered = twin.model.createData(), [twin.order(tree, part) for part in motion]
    pin.forwardKinematics(twin.model, data, ordered[0])
    forces = joint_forces(tree, twin, data, loads)
    without = [((), ())] if name == "newton_euler" else []
    for applied, arguments in (*without, (loads, (forces,))):
        expected = twin.disorder(tree, pin.rnea(twin.model, data, *ordered, *arguments).copy())
        tau = np.array(FORMULATIONS[name].inverse(tree, *map(ca.DM, motion), applied)).ravel()
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@every_kind
@over(SEEDS)
def test_poses_and_centre_of_mass(kinds, seed):
    tree, twin, (q, _, _), _ = case(kinds, seed)
    data = twin.model.createData()
    center = pin.centerOfMass(twin.model, data, twin.order(tree, q))
    np.testing.assert_allclose(
        np.array(kinematics.center_of_mass(tree, ca.DM(q))).ravel(), center, rtol=0, atol=1e-10
    )
    for k, frame in enumerate(kinematics.poses(tree, ca.DM(q))):
        np.testing.assert_allclose(
            np.array(frame),
            (data.oMi[twin.joints[k]] * twin.offsets[k]).homogeneous,
            rtol=0,
            atol=1e-10,
        )


@every_kind
@over(SEEDS)
def test_kinetic_and_potential_energy(kinds, seed):
    tree, twin, (q, qd, _), _ = case(kinds, seed)
    data, ordered = twin.model.createData(), (twin.order(tree, q), twin.order(tree, qd))
    kinetic = float(kinematics.kinetic_energy(tree, ca.DM(q), ca.DM(qd)))
    potential = float(kinematics.potential_energy(tree, ca.DM(q)))
    assert kinetic == pytest.approx(pin.computeKineticEnergy(twin.model, data, *ordered), rel=1e-10)
    assert potential == pytest.approx(
        pin.computePotentialEnergy(twin.model, data, ordered[0]), rel=1e-10
    )


@every_kind
@over(SEEDS)
def test_momentum_about_the_centre_of_mass(kinds, seed):
    tree, twin, (q, qd, _), _ = case(kinds, seed)
    data = twin.model.createData()
    center = np.array(kinematics.center_of_mass(tree, ca.DM(q))).ravel()
    expected = pin.computeCentroidalMomentum(
        twin.model, data, twin.order(tree, q), twin.order(tree, qd)
    )
    angular, linear = (
        np.array(part).ravel()
        for part in kinematics.momentum(tree, ca.DM(q), ca.DM(qd), about=center)
    )
    scale = 1e-10 * np.abs(expected.vector).max()
    np.testing.assert_allclose(linear, expected.linear, rtol=0, atol=scale)
    np.testing.assert_allclose(angular, expected.angular, rtol=0, atol=scale)
