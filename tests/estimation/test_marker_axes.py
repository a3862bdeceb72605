"""Markers of other units or axes than the tree's are told, with the cure."""

from dataclasses import replace

import numpy as np
import pytest
from marker_bodies import BASIS, moving, seen, wrist

from ocp import Link, Point, Tree, inverse_kinematics, marker_tracking, prismatic, revolute
from ocp.models.arms.two_link import two_link


def standing():
    """A pelvis that nothing drives, under gravity along -y, and a leg that bends."""
    names = ("ty", "tz", "rx", "ry", "rz")
    joints = [prismatic("tx", axis=(1, 0, 0), actuated=False)]
    for name, before in zip(names, ("tx", *names)):
        kind = prismatic if name[0] == "t" else revolute
        axis = tuple(float(letter == name[1]) for letter in "xyz")
        joints.append(kind(name, before, axis=axis, actuated=False))
    joints.append(revolute("knee", "rz", axis=(0, 0, 1), home=(0, -0.5, 0)))
    places = {"rz": ((0.1, 0, 0.1), (-0.1, 0, 0), (0, 0.4, 0)), "knee": ((0.1, -0.4, 0),) * 1}
    points = [
        Point(name=f"{link}_{k}", link=link, position=spot)
        for link, spots in places.items()
        for k, spot in enumerate(spots)
    ]
    links = [Link()] * 5 + [Link(mass=1.0)] * 2
    return Tree(links=links, joints=joints, points=points, gravity=(0, -9.81, 0))


TO_Z_UP = ((1, 0, 0), (0, 0, -1), (0, 1, 0))


def walking():
    """Markers of one who stands and turns a little."""
    tree, t = standing(), np.linspace(0.0, 1.0, 30)
    q = np.array([t, 0 * t, 0 * t, 0 * t, 0.8 + 0.1 * t, 0.1 * t, 0.2 * t])
    return tree, seen(tree, t, q, noise=1e-4)


def test_markers_of_another_axis_that_is_up_are_warned_of_with_the_cure():
    tree, markers = walking()
    upright = inverse_kinematics(tree, markers, motion=BASIS)
    words = (
        r"walk.trc: its first frame stands along z; if x, y, z of the tree are x, z, -y of the "
        r"markers, take markers.rotate\(\(\(1, 0, 0\), \(0, 0, 1\), \(0, -1, 0\)\)\)"
    )
    turned = markers.rotate(TO_Z_UP)
    with pytest.warns(UserWarning, match=words):
        inverse_kinematics(tree, turned, motion=BASIS)
    cured = turned.rotate(((1, 0, 0), (0, 0, 1), (0, -1, 0)))
    again = inverse_kinematics(tree, cured, motion=BASIS)
    np.testing.assert_allclose(again.q, upright.q, atol=1e-9)


@pytest.mark.parametrize("tree", [wrist(), standing()], ids=["held", "floating"])
def test_left_handed_markers_are_warned_of(tree):
    t = np.linspace(0.0, 1.0, 30)
    markers = seen(tree, t, 0.1 + 0.2 * np.outer(np.arange(tree.dof) % 3, t), noise=1e-4)
    values = {name: rows * ((1,), (1,), (-1,)) for name, rows in markers.values.items()}
    words = (
        r"walk.trc: its first frame is .* m off .*, they are left-handed, turn one of them round"
    )
    with pytest.warns(UserWarning, match=words):
        inverse_kinematics(tree, replace(markers, values=values), motion=BASIS)


def test_axes_of_a_tree_that_is_held_are_told_by_what_meets_the_first_frame():
    tree = wrist()
    t, q = moving(tree)
    words = r"if x, y, z of the tree are (-?[xyz], -?z|x, z, -y).* of the markers, take"
    with pytest.warns(UserWarning, match=words):
        inverse_kinematics(tree, seen(tree, t, q).rotate(TO_Z_UP), motion=BASIS)


@pytest.mark.parametrize(
    ("size", "cure"), [(1e3, "mm"), (1e2, "cm"), (1e-3, "were they converted twice")]
)
def test_markers_of_another_size_than_the_tree_are_refused_with_the_unit(size, cure):
    tree = wrist()
    t, q = moving(tree)
    markers = seen(tree, t, q)
    odd = replace(markers, values={name: size * rows for name, rows in markers.values.items()})
    words = (
        r"walk.trc: its markers are .* m from their middle, the tree's points .* m .*: expected m, "
        rf".*{cure}"
    )
    with pytest.raises(ValueError, match="inverse_kinematics: " + words):
        inverse_kinematics(tree, odd, motion=BASIS)
    with pytest.raises(ValueError, match="marker_tracking: " + words):
        marker_tracking(tree, odd)


@pytest.mark.parametrize(("size", "cure"), [(1e3, "mm"), (1e2, "cm")])
def test_a_single_marker_far_beyond_its_point_s_reach_is_refused_with_the_unit(size, cure):
    arm, t = two_link(), np.linspace(0.0, 1.0, 30)
    markers = seen(arm, t, np.array([0.5 * t, -0.5 + 0.2 * t]))
    odd = replace(markers, values={name: size * rows for name, rows in markers.values.items()})
    words = (
        r"walk.trc: marker 'tip' is .* m from joint 'shoulder', and point 'tip' is never more than "
        rf"0.8 m from it: expected m, are these {cure}"
    )
    with pytest.raises(ValueError, match="inverse_kinematics: " + words):
        inverse_kinematics(arm, odd, motion=BASIS)
    with pytest.raises(ValueError, match="marker_tracking: " + words):
        marker_tracking(arm, odd)


def test_a_marker_somewhat_beyond_its_point_s_reach_is_warned_of():
    arm, t = two_link(), np.linspace(0.0, 1.0, 30)
    markers = seen(arm, t, np.array([0.5 * t, -0.5 + 0.2 * t]))
    away = replace(markers, values={"tip": markers.values["tip"] + [[3.0], [0.0], [0.0]]})
    with pytest.warns(UserWarning, match="'tip' is never more than 0.8 m .* origin those of the"):
        marker_tracking(arm, away)
