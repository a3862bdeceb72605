"""Segments of other lengths: what is fixed in a link grows with it, and nothing else."""

import numpy as np
import pytest

from ocp import Joint, Link, Parameter, Point, Tree, prismatic, revolute
from ocp.mechanics import Visual, body_segments, fixed, poses, position, scale_links, with_values
from ocp.models.arms.two_link import two_link
from ocp.models.human import human
from ocp.models.human.anthropometry import STATURE


def chain():
    """A turn about an axis beside its frame, through the ground's origin; a helix, a slide, and a
    welded end."""
    joints = (
        Joint(name="first", screw=(0, 0, 1, 0.1, -0.2, 0), home=(-0.2, -0.1, 0)),
        Joint(name="second", parent="first", screw=(1, 0, 0, 0.02, 0.3, 0), home=(0.4, 0.1, 0)),
        prismatic("third", "second", axis=(0, 1, 0), home=(0, 0.2, 0)),
        fixed("end", "third", home=(0.1, 0, 0)),
    )
    links = [Link(mass=2.0, com=(0.1, 0, 0), inertia=np.eye(3)), Link(), Link(mass=1.0), Link()]
    points = [Point(name="tip", link="end", position=(0, 0, 0.3))]
    return Tree(links=links, joints=joints, points=points)


def test_a_body_scaled_as_a_whole_is_that_of_a_taller_person():
    short, tall = human(), human(1.1 * STATURE)
    grown = scale_links(short, dict.fromkeys(short.link_names, 1.1))
    q = 0.4 * np.random.default_rng(0).standard_normal(short.dof)
    for point in ("ankle_r", "head_top", "wrist_l"):
        np.testing.assert_allclose(position(grown, q, point), position(tall, q, point), atol=1e-12)
    for own, other in zip(grown.links, tall.links):
        np.testing.assert_allclose(own.com, other.com, atol=1e-14)
        np.testing.assert_allclose(own.inertia, other.inertia, atol=1e-14)


def test_all_lengths_grow_and_slides_and_pitches_stay():
    tree, q = chain(), np.array([0.7, -0.4, 0.2])
    grown = scale_links(tree, dict.fromkeys(tree.link_names, 3.0))
    turns = [np.array(pose)[:3, :3] for pose in poses(tree, q)]
    stays = 0.02 * q[1] * turns[1][:, [0]] + q[2] * turns[2][:, [1]]
    long = np.array(position(tree, q, "tip")) - stays
    np.testing.assert_allclose(position(grown, q, "tip"), 3 * long + stays, atol=1e-14)
    assert grown.joints[1].pitch == pytest.approx(0.02)


def test_one_link_alone_moves_what_it_carries_alone():
    arm = two_link()
    longer = scale_links(arm, {"elbow": 2.0})
    assert longer.joints[0] == arm.joints[0]
    q = (0.3, 0.9)
    middle, tip = (np.array(poses(arm, q)[k])[:3, 3] for k in (0, 1))
    np.testing.assert_allclose(np.array(poses(longer, q)[1])[:3, 3], middle + 2 * (tip - middle))
    np.testing.assert_allclose(longer.links[1].com, 2 * np.array(arm.links[1].com))


def test_an_open_factor_is_that_which_is_given_later():
    tree, size = chain(), Parameter("size", 1.0)
    wide, q = scale_links(tree, {"first": size, "end": size}), (0.3, 0.2, 0.1)
    given = scale_links(tree, {"first": 1.7, "end": 1.7})
    there = position(with_values(wide, {size: 1.7}), q, "tip")
    np.testing.assert_allclose(there, position(given, q, "tip"), atol=1e-14)


def test_meshes_grow_and_boxes_only_move():
    pose = np.eye(4)
    pose[0, 3] = 0.2
    looks = (Visual(kind="mesh", path="a.stl", pose=pose), Visual(kind="box", pose=pose))
    link = Link(mass=1.0, visuals=looks)
    tree = Tree(links=[link], joints=[revolute("hinge")])
    mesh, box = scale_links(tree, {"hinge": 2.0}).links[0].visuals
    assert mesh.size == (2.0, 2.0, 2.0) and box.size == (1.0, 1.0, 1.0)
    assert mesh.pose[0][3] == box.pose[0][3] == 0.4


def test_segments_are_what_has_mass_with_the_links_that_lead_to_it():
    body = body_segments(human())
    assert body["hip_rot_r"] == ("hip_flex_r", "hip_abd_r", "hip_rot_r")
    assert body["glob_rx"] == ("glob_rx",)  # the slides and turns before it are on the ground
    assert "clav_prot_r" in body["spine4_rot"]  # welded
    tied = body_segments(human(), ("_r", "_l"))
    assert set(tied["knee_flex"]) == {"knee_flex_r", "knee_flex_l"} and len(tied) == 14
    assert body_segments(chain()) == {"first": ("first",), "third": ("second", "third", "end")}


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"knee": 1.1}, "unknown link 'knee'; the links are shoulder, elbow"),
        ({"elbow": 0.0}, "scale_links: link 'elbow': expected a number above 0, got 0"),
        ({"elbow": "long"}, "scale_links: link 'elbow': expected numbers"),
        ([1.0, 2.0], "scale_links: factors: expected Mapping"),
    ],
)
def test_bad_factors_are_refused_by_name(factors, words):
    with pytest.raises(ValueError, match=words):
        scale_links(two_link(), factors)
