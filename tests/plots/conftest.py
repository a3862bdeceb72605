"""Solutions to draw: the motion of an arm, the same with odd names, and a hop."""

from dataclasses import replace

import pytest
from pictured import NAMES

from ocp import BSpline, Point, Problem, at_end, at_start, duration, path, solve, torque_limits
from ocp.models.arms.two_link import two_link
from ocp.problems.hopping.monoped_hop import problem as hop


@pytest.fixture(scope="session")
def solution():
    arm = two_link(torque=10.0)
    return solve(
        Problem(
            tree=arm,
            motion=BSpline(points=10),
            duration=(0.1, 5.0),
            objective=duration(),
            constraints=(
                at_start(arm, q=(0.0, -2.0), qd=0.0),
                at_end(arm, q=(1.0, -1.0), qd=0.0),
                torque_limits(arm),
            ),
        )
    ).require(coarse=True)


@pytest.fixture(scope="session")
def oddly_named(solution):
    """The motion of a tree whose joints, points, constraints and outputs have such names."""
    tree = solution.problem.tree
    renamed = dict(zip(tree.names, NAMES))
    joints = tuple(
        replace(joint, name=renamed[joint.name], parent=renamed.get(joint.parent, joint.parent))
        for joint in tree.joints
    )
    points = tuple(Point(name=name, link=NAMES[1]) for name in NAMES)
    odd = replace(tree, joints=joints, points=points)
    problem = replace(
        solution.problem,
        tree=odd,
        constraints=(
            *(path(name, lambda at: at.qd, upper=50.0) for name in NAMES),
            at_start(odd, q=(0.0, -2.0)),
        ),
        outputs={name: lambda at: at.q for name in NAMES},
    )
    return replace(solution, problem=problem, multipliers={}, status="$\\frac{$")


@pytest.fixture(scope="session")
def hopped():
    return solve(hop(points=12))
