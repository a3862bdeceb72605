"""The records of a mechanism: sound ones are values, unsound ones cannot be built, and each error
names what is wrong."""

import re
from dataclasses import FrozenInstanceError
from math import cos, inf, nan, pi, sin

import casadi as ca
import numpy as np
import pytest

from ocp import Joint, Link, Load, Point, Tree, dh, fixed, prismatic, revolute, screw
from ocp.mechanics import GROUND, inward, joint_pose, outward

ROD = Link(mass=2.0, com=(0.1, 0, 0), inertia=((0, 0, 0), (0, 0.3, 0), (0, 0, 0.3)))
SHEARED = np.array([[1.0, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
MIRROR = np.diag([1.0, 1, -1, 1])
PROJECTIVE = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.1, 1]])


def chain(*joints, points=(), **options):
    """A tree with a rod on every joint."""
    return Tree(links=(ROD,) * len(joints), joints=joints, points=points, **options)


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


def refused(message):
    """Expect a ValueError whose message starts so."""
    return pytest.raises(ValueError, match="^" + re.escape(message))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mass": -1.0}, "link mass: expected at least 0 kg, got -1"),
        ({"mass": nan}, "link mass: expected finite numbers"),
        ({"mass": "heavy"}, "link mass: expected numbers"),
        ({"mass": (1.0, 2.0)}, "link mass: expected shape (), got (2,)"),
        ({"mass": 1.0, "com": (0, nan, 0)}, "link com: expected finite numbers"),
        ({"mass": 1.0, "com": (0, 0)}, "link com: expected shape (3,), got (2,)"),
        ({"mass": 1.0, "inertia": np.diag([nan, 1, 1])}, "link inertia: expected finite numbers"),
        ({"mass": 1.0, "inertia": (1, 1, 1)}, "link inertia: expected shape (3, 3), got (3,)"),
        (
            {"mass": 1.0, "inertia": ((1, 0.1, 0), (0, 1, 0), (0, 0, 1))},
            "link inertia: expected a symmetric matrix",
        ),
        (
            {"mass": 1.0, "inertia": np.diag([1, 1, -0.1])},
            "link inertia: expected a positive semidefinite matrix",
        ),
        (
            {"mass": 1.0, "inertia": np.diag([1, 1, 2.1])},
            "link inertia: principal moments [1.0, 1.0, 2.1] break the triangle inequality",
        ),
        ({"mass": 0.0, "inertia": np.eye(3)}, "link inertia: a massless link cannot have inertia"),
    ],
)
def test_an_unphysical_link_is_refused(fields, message):
    with refused(message):
        Link(**fields)


def test_the_limiting_links_are_allowed():
    assert Link() == Link(mass=0, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    assert Link(mass=1.0).inertia == ((0.0,) * 3,) * 3  # a point mass
    assert (
        Link(mass=1.0, inertia=np.diag([1, 1, 2])).inertia[2][2] == 2.0
    )  # a thin plate: I1 + I2 = I3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "joint name: expected a non-empty string"),
        ({"name": 3}, "joint name: expected a non-empty string"),
        ({"name": GROUND}, "joint name: expected a non-empty string other than 'ground'"),
        (
            {"screw": (0, 0, 1.1, 0, 0, 0)},
            "joint 'knee': the axis must have unit length; the angular part of the screw has length 1.1",
        ),
        (
            {"screw": (0, 0, 0, 0, 2, 0)},
            "joint 'knee': the axis must have unit length; the linear part of the screw has length 2",
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
            "joint 'knee': the axis must have unit length; the angular part of the screw has length 1.414",
        ),
        (
            lambda: prismatic("knee", axis=(0, 0, 0.5)),
            "joint 'knee': the axis must have unit length; the linear part of the screw has length 0.5",
        ),
        (lambda: screw("knee", pitch=nan), "joint 'knee': screw: expected finite numbers"),
        (
            lambda: dh("knee", kind="helical"),
            "joint 'knee': kind: expected 'revolute' or 'prismatic', got 'helical'",
        ),
        (lambda: dh("knee", alpha=nan), "joint 'knee': DH row: expected finite numbers"),
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
    ("build", "message"),
    [
        (
            lambda: Tree(links=(), joints=()),
            "tree: expected one link per joint and at least one, got 0 links and 0 joints",
        ),
        (
            lambda: Tree(links=(ROD,), joints=(revolute("a"), revolute("b"))),
            "tree: expected one link per joint and at least one, got 1 links and 2",
        ),
        (lambda: chain(revolute("a"), gravity=(0, 0, nan)), "gravity: expected finite numbers"),
        (lambda: chain(revolute("a"), gravity=(0, 9.81)), "gravity: expected shape (3,), got (2,)"),
        (
            lambda: chain(revolute("a"), revolute("b"), prismatic("a")),
            "joint 'a': the name is used twice",
        ),
        (
            lambda: chain(revolute("a"), revolute("b", "c")),
            "joint 'b': unknown parent 'c'; the joints are a, b and 'ground'",
        ),
        (lambda: chain(revolute("a", "a")), "joint 'a': its parents form a cycle, a -> a"),
        (
            lambda: chain(revolute("a"), revolute("b", "c"), revolute("c", "b")),
            "joint 'b': its parents form a cycle, b -> c -> b",
        ),
        (
            lambda: chain(revolute("a"), revolute("b", "c"), revolute("c", "a")),
            "joint 'b': its parent 'c' must stand before it",
        ),
        (
            lambda: chain(revolute("a"), points=(Point(name="toe", link="foot"),)),
            "point 'toe': unknown link 'foot'; the links are a",
        ),
        (
            lambda: chain(revolute("a"), points=(Point(name="toe", link="a"),) * 2),
            "point 'toe': the name is used twice",
        ),
    ],
)
def test_an_unsound_tree_is_refused(build, message):
    with refused(message):
        build()


def test_looking_up_a_stranger_lists_the_known():
    tree = chain(
        revolute("hip"),
        fixed("shank", "hip"),
        points=(Point(name="toe", link="shank"), Point(name="heel", link="shank")),
    )
    with refused("unknown joint 'knee'; the joints are hip, shank"):
        tree.link_index("knee")
    with refused("unknown joint 'knee'; the joints are hip, shank"):
        tree.coordinate("knee")
    with refused("unknown point 'sole'; the points are toe, heel"):
        tree.point("sole")
    with refused("unknown point 'sole'; there are no points"):
        chain(revolute("hip")).point("sole")
    with refused("joint 'shank' is fixed and has no coordinate"):
        tree.coordinate("shank")


def test_names_lead_to_links_coordinates_and_points():
    toe = Point(name="toe", link="foot", position=(0.2, 0, 0))
    tree = chain(
        fixed("base"),
        revolute("hip", "base"),
        fixed("shank", "hip"),
        prismatic("foot", "shank"),
        points=(toe,),
    )
    assert (tree.names, tree.dof, tree.parents) == (
        ("base", "hip", "shank", "foot"),
        2,
        (-1, 0, 1, 2),
    )
    assert tree.rows == (None, 0, None, 1) and [joint.name for joint in tree.moving] == [
        "hip",
        "foot",
    ]
    assert [tree.link_index(name) for name in tree.names] == [0, 1, 2, 3]
    assert (tree.coordinate("hip"), tree.coordinate("foot"), tree.point("toe")) == (0, 1, toe)


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


def test_records_are_values():
    def arm():
        return chain(
            dh("hip", a=0.4, torque=10),
            screw("knee", "hip", pitch=0.1, home=np.eye(4)),
            points=(Point(name="toe", link="knee"),),
        )

    assert arm() == arm() and hash(arm()) == hash(arm()) and len({arm(), arm()}) == 1
    assert arm() != chain(
        dh("hip", a=0.5, torque=10),
        screw("knee", "hip", pitch=0.1),
        points=(Point(name="toe", link="knee"),),
    )
    assert Load(point="toe", force=np.array([1.0, 2, 3])) == Load(point="toe", force=[1, 2, 3])
    with pytest.raises(FrozenInstanceError):
        arm().joints[0].name = "other"


def test_a_record_does_not_see_later_changes_of_the_arrays_it_was_built_from():
    com, home, force = np.zeros(3), np.eye(4), np.array([1.0, 0, 0])
    link, joint, load = (
        Link(mass=1.0, com=com),
        revolute("a", home=home),
        Load(point="p", force=force),
    )
    com[0] = home[0, 3] = force[0] = 7.0
    assert link.com == (0, 0, 0) and joint.home[0][3] == 0 and load.force == (1, 0, 0)


def test_a_load_of_whole_numbers_is_checked_and_frozen_like_any_other():
    assert hash(Load(point="toe", force=np.array([1, 2, 3]))) == hash(
        Load(point="toe", force=(1.0, 2.0, 3.0))
    )
    with refused("load at 'toe': force: expected shape (3,), got (2,)"):
        Load(point="toe", force=np.array([1, 2]))


def test_a_load_may_be_numbers_an_expression_or_a_function_of_time():
    t = ca.SX.sym("t")
    load = Load(point="toe", force=lambda t: (t, 0, 2 * t), moment=(0, 0, 1)).at(3.0)
    assert load == Load(point="toe", force=(3, 0, 6), moment=(0, 0, 1))
    assert ca.is_equal(Load(point="toe", force=ca.vertcat(t, 0, 0)).at(1.0).force[0], t)


def test_massless_links_are_allowed_between_and_at_the_ends():
    tree = Tree(
        links=(Link(), ROD, Link()), joints=(revolute("a"), revolute("b", "a"), prismatic("c", "b"))
    )
    assert [link.mass for link in tree.links] == [0, 2, 0]


def test_the_sweeps_visit_parents_first_outward_and_children_first_inward():
    tree = chain(
        revolute("a"), revolute("b", "a"), revolute("c"), revolute("d", "a"), revolute("e", "b")
    )
    assert outward(tree, lambda k, path: f"{path}{tree.names[k]}", "-") == [
        "-a",
        "-ab",
        "-c",
        "-ad",
        "-abe",
    ]
    gathered = inward(
        tree,
        lambda k, children: (
            tree.names[k] + "".join(f"({child}:{value})" for child, value in children)
        ),
    )
    assert gathered == ["a(1:b(4:e))(3:d)", "b(4:e)", "c", "d", "e"]
    visited = []
    inward(tree, lambda k, children: visited.append(k))
    assert visited == [4, 3, 2, 1, 0]
