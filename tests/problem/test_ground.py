"""The ground: schedules, floating roots, and what is refused by name."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from bipeds import biped, steps, wrench_of

from ocp import (
    BSpline,
    Foot,
    Ground,
    Link,
    Pin,
    Problem,
    Support,
    Tree,
    effort,
    fixed,
    prismatic,
    revolute,
)
from ocp.mechanics.model.tree_structure import floating_root
from ocp.models.arms.two_link import two_link
from ocp.models.human import human
from ocp.models.walkers.monoped import monoped
from ocp.problem import bearing_slots, point_contact, two_pass
from ocp.problem.contact.reactions import check_two_pass


def floating(**changes):
    """Six joints from the ground, of which one may be another."""
    names = ("x", "y", "z", "a", "b", "c")
    joints = {
        name: (prismatic if k < 3 else revolute)(
            name, (("ground",) + names)[k], axis=np.eye(3)[k % 3], actuated=False
        )
        for k, name in enumerate(names)
    } | changes
    return Tree(
        links=[Link(mass=1.0)] * len(joints), joints=tuple(joints.values()), gravity=(0, 0, -9.81)
    )


@pytest.mark.parametrize(
    "tree",
    [
        two_link(),
        floating(z=prismatic("z", "y")),
        floating(a=prismatic("a", "z", actuated=False)),
        floating(b=revolute("b", "z", actuated=False)),
        floating(x=fixed("x")),
    ],
    ids=["fixed base", "actuated", "four slides", "branch", "five joints"],
)
def test_two_passes_need_a_floating_root(tree):
    words = "two-pass reactions: the tree needs a floating root, six unactuated joints from the "
    with pytest.raises(ValueError, match=words + "ground: three prismatic, then three revolute"):
        floating_root(tree)
    with pytest.raises(ValueError, match=words):
        check_two_pass(tree, steps())


def test_the_root_is_found_by_its_joints():
    assert floating_root(floating()) == tuple(range(6))
    assert floating_root(human()) == tuple(range(6))


def stood(**changes):
    foot = Foot(name="only", center=(0, 0, 0), supports=(Support(link="foot", when=(0, 1)),))
    return Ground(**{"feet": (foot,)} | changes)


def standing(height):
    return point_contact(two_link(), "tip", at=(0, 0, height), normal=(0, 0, 1))


@pytest.mark.parametrize("height", [0.0, 0.1])
def test_a_foot_on_a_plane_of_its_own_stands_at_any_height(height):
    assert stood(feet=[standing(height)]).feet[0].plane.point[2] == height


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: check_two_pass(biped(), steps(strike=0.6, leave=0.25)),
            r"two-pass reactions: no foot bears at s = 0.25 \(feet: right, left\); take",
        ),
        (
            lambda: check_two_pass(biped(), steps(strike=0.5, leave=0.5)),
            "two-pass reactions: no foot bears at s = 0.5",
        ),
        (lambda: Ground(feet=()), "ground: expected at least one foot; without ground a body is"),
        (
            lambda: stood(feet=2 * stood().feet),
            "ground: two feet have the same name; the feet are only, only",
        ),
        (
            lambda: stood(feet=[replace(standing(0.1), plane=None)]),
            "foot 'tip': its pin 'tip' holds 0.1 m off the ground's plane; a foot that stands els",
        ),
        (lambda: stood(normal=(0, 0, 2)), "ground: normal: expected unit length, got 2"),
        (lambda: stood(normal=(0, 1)), r"ground: normal: expected shape \(3,\), got \(2,\)"),
        (
            lambda: Pin(point="heel", axes="xw"),
            "pin 'heel': axes: expected some of x, y, z, got 'xw'",
        ),
        (lambda: Pin(point="heel", axes=""), "pin 'heel': axes"),
        (lambda: Pin(point="heel", axes="xx"), "pin 'heel': axes"),
        (lambda: Pin(point="heel", target=(0, 1)), r"pin 'heel': target: expected shape \(3,\)"),
        (
            lambda: Support(link="foot", when=(0.5, 0.5)),
            r"support on 'foot': when: expected 0 <= a < b <= 1, got \(0.5, 0.5\)",
        ),
        (lambda: Support(link="foot", when=(0.5, 1.5)), "support on 'foot': when"),
        (
            lambda: Foot(
                name="right",
                center=(0, 0, 0),
                supports=(Support(link="foot", when=(0, 0.6)), Support(link="toe", when=(0.5, 1))),
            ),
            r"foot 'right': its supports overlap: \(0.*, 0.6\) and \(0.5, 1.*\)",
        ),
        (
            lambda: Foot(name="right", center=0.0, supports=()),
            "foot 'right': center: expected shape",
        ),
        (lambda: stood().foot("left"), "unknown foot 'left'; the feet are only"),
        (
            lambda: two_pass(
                stood(feet=[replace(stood().feet[0], name=name) for name in "abc"]),
                0.5,
                wrench_of((0, 0, 0), (1, 1, 1)),
            ),
            "two-pass reactions: expected at most two feet, got 3",
        ),
        (
            lambda: Problem(
                tree=biped(),
                motion=BSpline(points=4),
                duration=1.0,
                objective=effort(),
                ground=stood(),
            ),
            "unknown link 'foot'",
        ),
        (
            lambda: Problem(
                tree=biped(),
                motion=BSpline(points=4),
                duration=1.0,
                objective=effort(),
                ground=steps(ankles=True),
            ),
            "unknown link 'ankle_right'",
        ),
    ],
)
def test_a_wrong_ground_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_support_without_bounds_is_that_of_a_foot_that_always_stands():
    foot = stood().feet[0]
    assert foot.bears == (-inf, inf)
    assert stood().switches == ()
    assert bearing_slots(stood(), 1.0) == (("only", "foot"),)


def test_a_ground_whose_feet_have_planes_has_the_mean_of_their_normals():
    tree = monoped()
    level = point_contact(tree, "foot")
    slope = point_contact(tree, "shoulder", normal=(0.6, 0.8, 0.0))
    assert Ground(feet=[level]).normal == (0.0, 1.0, 0.0)  # the tree's gravity is along -y
    both = np.array((0.6, 1.8, 0.0))
    np.testing.assert_allclose(
        Ground(feet=[level, slope]).normal, both / np.linalg.norm(both), atol=1e-15
    )
