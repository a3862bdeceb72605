"""Derivatives about the points where axes meet are those of automatic differentiation."""

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, prismatic, revolute
from ocp.dynamics import composite, newton_euler

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


@pytest.mark.parametrize("meetings", [(3, 3), (1, 2, 3, 1), (-3, 2), (2, -2, -3)])
def test_slopes_of_chains_whose_axes_meet_are_those_of_casadi(meetings):
    tree = spherical_chain(meetings)
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    ours = ca.horzcat(*composite.sensitivity(tree, *motion)[:3])
    right = ca.jacobian(newton_euler.inverse(tree, *motion), ca.vertcat(*motion))
    both = ca.Function("both", motion, [ca.densify(ours), ca.densify(right)])
    here = np.random.default_rng(0).uniform(-1, 1, (3, tree.dof))
    actual, expected = (np.array(part) for part in both(*here))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
