"""Joints: what they refuse, and what a screw, a pitch, an anchor and a row of a DH table mean."""

from functools import partial
from math import cos, inf, nan, pi, sin

import numpy as np
import pytest
from refusals import refused

from ocp import Joint, Load, Point, dh, fixed, prismatic, revolute, screw
from ocp.mechanics import GROUND, joint_pose

SHEARED = np.array([[1.0, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
MIRROR = np.diag([1.0, 1, -1, 1])
PROJECTIVE = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.1, 1]])


def classic_row(theta, d, a, alpha):
    """The Denavit-Hartenberg matrix, written out (Xiang, Arora & Abdel-Malek 2009, eq. 1)."""
    return np.array(
        [
            [cos(theta), -cos(alpha) * sin(theta), sin(alpha) * sin(theta), a * cos(theta)],
            [sin(theta), cos(alpha) * cos(theta), -sin(alpha) * cos(theta), a * sin(theta)],
            [0, sin(alpha), cos(alpha), d],
            [0, 0, 0, 1],
        ]
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "joint name: expected a non-empty string"),
        ({"name": 3}, "joint name: expected a non-empty string"),
        ({"name": GROUND}, "joint name: expected a non-empty string other than 'ground'"),
        (
            {"screw": (0, 0, 1.1, 0, 0, 0)},
            "joint 'knee': the axis must have unit length; the angular part of the screw has "
            "length 1.1",
        ),
        (
            {"screw": (0, 0, 0, 0, 2, 0)},
            "joint 'knee': the axis must have unit length; the linear part of the screw has "
            "length 2",
        ),
        ({"screw": (0,) * 6}, "joint 'knee': the axis must have unit length"),
        ({"screw": (0, 0, nan, 0, 0, 0)}, "joint 'knee': screw: expected finite numbers"),
        ({"screw": (0, 0, 1)}, "joint 'knee': screw: expected shape (6,), got (3,)"),
        ({"home": SHEARED}, "joint 'knee': home: expected a rigid pose"),
        ({"home": MIRROR}, "joint 'knee': home: expected a rigid pose"),
        ({"home": PROJECTIVE}, "joint 'knee': home: expected a rigid pose"),
        ({"home": 2 * np.eye(4)}, "joint 'knee': home: expected a rigid pose"),
        ({"home": np.eye(3)}, "joint 'knee': home: expected shape (4, 4), got (3, 3)"),
        ({"home": (0, 0, inf)}, "joint 'knee': home: expected finite numbers"),
        ({"home": nan * np.eye(4)}, "joint 'knee': home: expected finite numbers"),
        ({"home": "at rest"}, "joint 'knee': home: expected numbers"),
        ({"home": ((1, 2), (3,))}, "joint 'knee': home: expected"),
    ],
)
def test_an_impossible_joint_is_refused_by_name(fields, message):
    with refused(message):
        Joint(**{"name": "knee", **fields})


@pytest.mark.parametrize("what", ["position", "velocity", "torque"])
@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((1.0, -1.0), "lower bound 1 is above upper bound -1"),
        (-2.0, "lower bound 2 is above upper bound -2"),
        (nan, "expected numbers"),
        ((nan, 1.0), "expected numbers"),
        ((0.0, nan), "expected numbers"),
        ((1, 2, 3), "expected (lower, upper)"),
    ],
)
def test_impossible_limits_are_refused_by_joint_and_kind(what, limits, message):
    with refused(f"joint 'knee': {what} limits: {message}"):
        revolute("knee", **{what: limits})


@pytest.mark.parametrize("limits", ["fast", None, ("slow", "fast"), (None, 1.0), ((1, 2), (3, 4))])
def test_limits_that_are_not_numbers_are_refused_by_joint_and_kind(limits):
    with refused("joint 'knee': velocity limits: expected"):
        revolute("knee", velocity=limits)


def test_one_number_as_limit_means_both_signs():
    knee = revolute("knee", position=(-0.5, inf), velocity=3, torque=inf)
    assert (knee.position, knee.velocity, knee.torque) == ((-0.5, inf), (-3.0, 3.0), (-inf, inf))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: revolute("knee", axis=(1, 1, 0)),
            "joint 'knee': the axis must have unit length; the angular part of the screw has "
            "length 1.414",
        ),
        (
            lambda: prismatic("knee", axis=(0, 0, 0.5)),
            "joint 'knee': the axis must have unit length; the linear part of the screw has "
            "length 0.5",
        ),
        (lambda: screw("knee", pitch=nan), "joint 'knee': pitch: expected finite numbers"),
        (
            lambda: dh("knee", kind="helical"),
            "joint 'knee': kind: expected 'revolute' or 'prismatic', got 'helical'",
        ),
        (lambda: dh("knee", alpha=nan), "joint 'knee': DH row: alpha: expected finite numbers"),
        (lambda: dh("knee", before=SHEARED), "joint 'knee': before: expected a rigid pose"),
        (
            lambda: Point(name="toe", link="foot", position=(0, 0, nan)),
            "point 'toe': position: expected finite numbers",
        ),
        (
            lambda: Point(name="toe", link="foot", position=(0, 0)),
            "point 'toe': position: expected shape (3,), got (2,)",
        ),
        (
            lambda: Load(point="toe", force=(0, 0, nan)),
            "load at 'toe': force: expected finite numbers",
        ),
        (
            lambda: Load(point="toe", moment=(0, 0)),
            "load at 'toe': moment: expected shape (3,), got (2,)",
        ),
    ],
)
def test_a_constructor_names_what_it_refuses(build, message):
    with refused(message):
        build()


@pytest.mark.parametrize(
    "before", [(0.3, -0.1, 0.2), classic_row(0.7, 0.1, -0.2, 1.1)], ids=["translation", "pose"]
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(
    "row", [(0.3, 0.2, 0.4, -0.8), (-pi / 2, 0.0, -0.425, pi / 2), (pi, 0.1, 0.0, pi)]
)
def test_dh_is_the_product_of_the_constant_pose_and_the_classic_matrix(row, kind, before):
    theta, d, a, alpha = row
    joint = dh("knee", theta=theta, d=d, a=a, alpha=alpha, kind=kind, before=before)
    pose = np.array(fixed("before", home=before).home)
    for q in (-2.1, 0.0, 0.4, pi / 2):
        moved = (
            classic_row(theta + q, d, a, alpha)
            if kind == "revolute"
            else classic_row(theta, d + q, a, alpha)
        )
        np.testing.assert_allclose(np.array(joint_pose(joint, q)), pose @ moved, rtol=0, atol=2e-15)


def test_quarter_turns_leave_exact_zeros_in_a_dh_joint():
    joint = dh("knee", theta=pi / 2, d=0.1, a=0.4, alpha=-pi / 2)
    assert joint.home == ((0, 0, -1, 0), (1, 0, 0, 0.4), (0, -1, 0, 0.1), (0, 0, 0, 1))
    assert joint.screw == (0, -1, 0, 0, 0, 0.4)


def test_the_pitch_tells_the_kinds_apart():
    axis = (0.6, 0.0, 0.8)
    kinds = {
        "revolute": revolute("a", axis=axis),
        "prismatic": prismatic("a", axis=axis),
        "screw": screw("a", axis=axis, pitch=0.02),
        "fixed": fixed("a"),
    }
    assert {kind: joint.kind for kind, joint in kinds.items()} == {kind: kind for kind in kinds}
    assert kinds["screw"].pitch == pytest.approx(0.02, rel=1e-15) and kinds["revolute"].pitch == 0
    assert screw("a", axis=axis, pitch=0.0).kind == "revolute"
    assert screw("a", axis=axis, pitch=-0.02).pitch == pytest.approx(-0.02, rel=1e-15)


def test_a_screw_advances_by_its_pitch_per_radian():
    pose = np.array(joint_pose(screw("a", axis=(0, 1, 0), pitch=0.02), 3.0))
    np.testing.assert_allclose(pose[:3, 3], (0, 0.06, 0), rtol=0, atol=1e-17)


def test_the_anchor_is_the_point_of_the_axis_nearest_the_origin_and_stays_put():
    axis, foot, pitch = (
        np.array([0.6, 0.0, 0.8]),
        np.array([0.4, 0.1, -0.3]),
        0.05,
    )  # the foot is perpendicular to the axis
    beyond = foot + 0.7 * axis
    hinge = Joint(name="a", screw=(*axis, *np.cross(beyond, axis)))
    nut = Joint(name="a", screw=(*axis, *(np.cross(beyond, axis) + pitch * axis)))
    for joint, advance in ((hinge, 0.0), (nut, pitch * 1.3)):
        np.testing.assert_allclose(joint.anchor, foot, rtol=0, atol=1e-15)
        moved = np.array(joint_pose(joint, 1.3)) @ (*foot, 1.0)
        np.testing.assert_allclose(moved[:3], foot + advance * axis, rtol=0, atol=1e-15)
    assert not prismatic("a", axis=axis).anchor.any() and not fixed("a").anchor.any()


@pytest.mark.parametrize("state", [revolute, prismatic, partial(screw, pitch=0.1)])
@pytest.mark.parametrize("axis", ["z", "xyz", (0, 0), 1.0])
def test_an_axis_is_three_numbers(state, axis):
    with pytest.raises(
        ValueError, match="^joint 'a': axis: expected three numbers, as .0, 0, 1., "
    ):
        state("a", axis=axis)
