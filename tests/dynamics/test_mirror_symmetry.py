"""A tree's mirror image is found in the tree, and no tree is its own that is not."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, ball, free, inverse_dynamics, planar, revolute
from ocp.dynamics import mirror_image
from ocp.mechanics.muscles import GivenPath, Muscle
from ocp.models.walkers.five_link import five_link
from ocp.problem import mirror_symmetry

TRUNK = Link(mass=5.0, com=(0.1, 0.0, 0.2), inertia=np.diag([0.3, 0.2, 0.25]))


def leg(side):
    return Link(mass=1.0, com=(0.02, 0.03 * side, -0.2), inertia=np.diag([0.03, 0.03, 0.01]))


def walker(**changes):
    """A trunk on legs of a hip that turns inward on both sides, a coaxial thigh, and a ball."""
    joints, links = list(free("base")), [Link()] * 3 + [TRUNK]
    for name, side in (("a", 1), ("b", -1)):
        joints += [
            revolute(f"{name} hip", "base", axis=(0, 1, 0), home=(0, 0.1 * side, 0)),
            revolute(f"{name} roll", f"{name} hip", axis=(side, 0, 0), home=(0, 0, -0.1)),
            ball(f"{name} foot", f"{name} roll", home=(0, 0, -0.3)),
        ]
        links += [leg(side)] * 3
    return replace(Tree(links=links, joints=joints, gravity=(0, 0, -9.81)), **changes)


def test_a_walkers_image_swaps_legs_and_turns_what_the_plane_turns():
    tree = walker()
    index, sign = mirror_image(tree)
    names = [joint.name for joint in tree.moving]
    turned = dict(zip(names, sign))
    assert names[index[names.index("a hip")]] == "b hip"
    assert names[index[names.index("b foot.x")]] == "a foot.x"
    assert turned["base_y"] == turned["base.x"] == turned["a foot.z"] == -1.0
    assert turned["base_x"] == turned["base.w"] == turned["a hip"] == turned["a foot.y"] == 1.0
    assert turned["a roll"] == 1.0  # both turn inward
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, tree.dof))
    here = np.array(inverse_dynamics(tree, ca.DM(q), ca.DM(qd), ca.DM(qdd))).ravel()
    image = [ca.DM(np.array(sign) * each[list(index)]) for each in (q, qd, qdd)]
    there = np.array(inverse_dynamics(tree, *image)).ravel()
    np.testing.assert_allclose(there, np.array(sign) * here[list(index)], atol=1e-10)
    stated = mirror_symmetry(tree, shift={"base_x": 0.3}, qdd=False)
    assert (stated.index, tuple(stated.sign)) == (index, sign) and stated.shift[0] == 0.3


def test_a_walker_that_limps_is_refused_by_its_joint():
    tree = walker()
    place = tree.joint_index("b roll")
    bent = revolute("b roll", "b hip", axis=(0, 0, 1), home=(0, 0, -0.1))
    joints = (*tree.joints[:place], bent, *tree.joints[place + 1 :])
    with pytest.raises(
        ValueError, match=r"joint 'a roll': no revolute joint is its image; 'b roll'"
    ):
        mirror_image(replace(tree, joints=joints))


def test_a_walker_with_one_heavier_leg_is_refused():
    links = list(walker().links)
    links[-1] = replace(links[-1], mass=1.2)
    with pytest.raises(ValueError, match=r"bears otherwise: torques of a motion and of its image"):
        mirror_image(walker(links=links))
    with pytest.raises(ValueError, match="normal: expected unit length"):
        mirror_image(walker(), (0, 2, 0))


PLANE = (0, 0, 1)  # across the x-y plane
SHANK = Link(mass=1.0, com=(0.0, -0.2, 0.0), inertia=np.diag([0.02, 0.01, 0.02]))


def legs_of_one_hip(*names, last=SHANK):
    """A trunk in the x-y plane on legs that hang from one place, the last knee's link given."""
    joints, links = list(planar("trunk")), [Link(), Link(), TRUNK]
    for name in names:
        knee = revolute(f"{name} knee", f"{name} hip", home=(0, -0.4, 0))
        joints += [revolute(f"{name} hip", "trunk"), knee]
        links += [SHANK, last if name == names[-1] else SHANK]
    return Tree(links=links, joints=joints, gravity=(0, -9.81, 0))


def test_legs_that_lie_on_each_other_in_a_plane_change_places():
    tree = legs_of_one_hip("left", "right")
    assert mirror_image(tree, PLANE) == ((0, 1, 2, 5, 6, 3, 4), (1.0,) * 7)
    stated = mirror_symmetry(five_link(), normal=PLANE, shift={"x": 0.4})
    assert stated.index == (0, 1, 2, 5, 6, 3, 4)


@pytest.mark.parametrize(
    "tree, names",
    [
        (legs_of_one_hip("a", "b", "c"), "'a hip', 'b hip', 'c hip'"),
        (legs_of_one_hip("a", "b", last=replace(SHANK, mass=1.2)), "'a hip', 'b hip'"),
    ],
    ids=["three alike", "two unlike"],
)
def test_legs_of_which_none_is_the_image_for_sure_are_refused(tree, names):
    with pytest.raises(
        ValueError,
        match=rf"joints {names} lie on one another.* state .*mirror_symmetry\(tree, index, sign\)",
    ):
        mirror_symmetry(tree, normal=PLANE)


def test_an_arm_that_hangs_from_the_hip_of_a_leg_is_its_own_image():
    tree = legs_of_one_hip("leg")
    arm = revolute("arm", "trunk", position=1.0)
    both = replace(tree, joints=(*tree.joints, arm), links=(*tree.links, Link(mass=0.5)))
    assert mirror_image(both, PLANE)[0] == tuple(range(6))


def test_a_plane_across_which_a_body_falls_is_refused():
    with pytest.raises(ValueError, match=r"expected one across the tree's gravity \(0.0, -9.81, 0"):
        mirror_symmetry(legs_of_one_hip("left", "right"))


def side_muscle(name, joint, lever):
    path = GivenPath(joints=(joint,), function=lambda x: 0.3 + lever * x[0])
    settings = {"force": 500.0, "fibre": 0.1, "slack": 0.2, "tendon": "compliant"}
    return Muscle(name=name, path=path, **settings)


def two_hips(*muscles):
    leg = Link(mass=1.0, com=(0.0, 0.0, -0.2), inertia=np.diag([0.01, 0.01, 0.01]))
    hips = [
        revolute(f"hip_{side}", axis=(0.0, 1.0, 0.0), home=(0.0, place, 0.0))
        for side, place in (("r", -0.1), ("l", 0.1))
    ]
    return Tree(links=(leg, leg), joints=tuple(hips), elements=muscles)


def test_muscles_are_images_by_their_numbers_and_paths():
    sides = [
        side_muscle(f"{name}_{side}", f"hip_{side}", lever)
        for side in "rl"
        for name, lever in (("flex", -0.03), ("extend", 0.03))
    ]
    tree = two_hips(*sides)
    index, sign = mirror_image(tree)
    names = [joint.name for joint in tree.moving]
    swapped = [name.replace("_r", "_x").replace("_l", "_r").replace("_x", "_l") for name in names]
    assert [names[row] for row in index] == swapped
    assert sign == (1.0,) * tree.dof


def test_muscle_without_an_image_is_refused():
    with pytest.raises(ValueError, match="muscle 'flex_r': expected one image, got none"):
        mirror_image(two_hips(side_muscle("flex_r", "hip_r", -0.03)))
