"""Derivatives about the points where axes meet are those of automatic differentiation."""

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, prismatic, revolute
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.derivatives.ground_frame import chain_of
from ocp.dynamics.formulations import newton_euler
from ocp.models.arms.ur5_like import ur5_like
from ocp.models.human import human
from ocp.problems.benchmarks.derivative_costs import scalar

BONE = Link(mass=2.0, com=(0.1, -0.2, 0.05), inertia=np.diag([0.02, 0.03, 0.04]))


def spherical_chain(meetings):
    """A slide and then as many turns in each place as `meetings` tell, massless but for the last,
    or with masses between where the number is negative."""
    joints, links = [prismatic("slide", axis=(0, 1, 0))], [BONE]
    for count in meetings:
        for k in range(abs(count)):
            home = (0.0, 0.0, 0.0) if k else (0.2, -0.3, 0.1)
            axis = np.eye(3)[k % 3]
            joints.append(revolute(f"j{len(joints)}", joints[-1].name, axis=axis, home=home))
            links.append(BONE if k == abs(count) - 1 or count < 0 else Link())
    return Tree(links=links, joints=joints, gravity=(0.0, -9.81, 0.0))


def arm(further=0.3):
    """Turns about three axes in one point, one about an axis that passes the third of them so much
    further on (m), and one more."""
    shoulder = spherical_chain((3,))
    elbow = revolute("elbow", "j3", axis=(0, 1, 0), home=(0.2, 0.0, further))
    wrist = revolute("wrist", "elbow", axis=(1, 0, 0), home=(0.0, 0.1, 0.4))
    joints, links = [*shoulder.joints, elbow, wrist], [*shoulder.links, BONE, BONE]
    return Tree(links=links, joints=joints, gravity=(0.0, -9.81, 0.0))


TREES = [
    *map(spherical_chain, [(3, 3), (1, 2, 3, 1), (-3, 2), (2, -2, -3)]),
    arm(),
    arm(further=0.0),
]


@pytest.mark.parametrize("tree", TREES)
def test_slopes_of_chains_whose_axes_meet_are_those_of_casadi(tree):
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    ours = ca.horzcat(*composite_bodies.sensitivity(tree, *motion)[:3])
    right = ca.jacobian(newton_euler.inverse(tree, *motion), ca.vertcat(*motion))
    both = ca.Function("both", motion, [ca.densify(ours), ca.densify(right)])
    here = np.random.default_rng(0).uniform(-1, 1, (3, tree.dof))
    actual, expected = (np.array(part) for part in both(*here))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def size(tree):
    """Instructions of a tree's Jacobian."""
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    return scalar(motion, composite_bodies.sensitivity(tree, *motion)[:3]).n_instructions()


def test_a_turn_has_no_lever_about_a_point_on_its_axis_wherever_its_origin_lies():
    assert size(arm()) <= 2_707
    assert size(human()) <= 30_979


def test_bodies_hold_no_numbers_that_rounding_made():
    for tree in (ur5_like(), human()):
        for body in (body for body in chain_of(tree).bodies if body.mass):
            radius = np.sqrt(np.trace(body.second) / body.mass) + np.linalg.norm(body.place)
            for entries, scale in ((body.place, radius), (body.second, body.mass * radius**2)):
                sizes = np.abs(entries[entries != 0])
                assert (sizes > 1e-12 * scale).all()
