"""Bodies of one density, limits by words, and links that call points."""

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Load, Parameter, Point, Tree, fixed, inverse_dynamics, revolute, with_limits
from ocp.dynamics import FORMULATIONS
from ocp.mechanics import points_of, position, solid, values_by_joint, with_link, with_values

BODY = Link(mass=1.0, com=(0.1, 0.0, 0.05), inertia=np.diag([0.1, 0.2, 0.15]))


def arm():
    return Tree(
        links=(BODY,) * 3,
        joints=(
            revolute("left_knee", position=(-1.0, 1.0), torque=20.0),
            revolute("right_knee", "left_knee", axis=(0, 1, 0), home=(0.4, 0, 0.1), torque=10.0),
            revolute("free", "right_knee", axis=(1, 0, 0), home=(0.3, 0.2, 0), actuated=False),
        ),
        gravity=(0, 0, -9.81),
    )


@pytest.mark.parametrize(
    ("kind", "size", "inside"),
    [
        ("box", (0.2, 0.3, 0.5), lambda x, y, z: np.full(x.shape, True)),
        ("cylinder", (0.1, 0.5), lambda x, y, z: x**2 + y**2 <= 0.01),
        ("sphere", (0.3,), lambda x, y, z: x**2 + y**2 + z**2 <= 0.09),
        (
            "ellipsoid",
            (0.1, 0.2, 0.3),
            lambda x, y, z: (10 * x) ** 2 + (5 * y) ** 2 + (z / 0.3) ** 2 <= 1,
        ),
    ],
)
def test_a_solids_moments_are_sums_over_its_bricks(kind, size, inside):
    spans = {
        "box": size,
        "cylinder": (0.2, 0.2, 0.5),
        "sphere": (0.6,) * 3,
        "ellipsoid": (0.2, 0.4, 0.6),
    }
    ways = [(np.arange(90) + 0.5) / 90 * span - span / 2 for span in spans[kind]]
    x, y, z = (part[inside(*np.meshgrid(*ways))] for part in np.meshgrid(*ways))
    moments = [(y**2 + z**2).mean(), (x**2 + z**2).mean(), (x**2 + y**2).mean()]
    body = solid(kind, 2.0, size)
    np.testing.assert_allclose(np.diag(body.inertia), 2.0 * np.array(moments), rtol=4e-3)
    assert body.visuals[0].kind == kind
    with pytest.raises(ValueError, match="solid: mass: expected a number above 0, got 0"):
        solid(kind, 0.0, size)


@pytest.mark.parametrize(
    ("kind", "size"), [("box", (0.2, 0.3, 0.5)), ("sphere", (0.3,)), ("cylinder", (0.1, 0.5))]
)
def test_a_solids_mass_may_be_open(kind, size):
    load = Parameter("load", 2.0, "kg", lower=0.0)
    tree = with_link(arm(), fixed("cup", "free"), solid(kind, load, size))
    heavier = with_link(arm(), fixed("cup", "free"), solid(kind, 3.0, size))
    states = np.random.default_rng(0).normal(size=(3, 3))
    given, plain = (
        np.array(inverse_dynamics(each, *map(ca.DM, states))).ravel()
        for each in (with_values(tree, {load: 3.0}), heavier)
    )
    np.testing.assert_allclose(given, plain, rtol=1e-12)
    with pytest.raises(ValueError, match="solid: mass: expected kg, got parameter 'load' in m"):
        solid(kind, Parameter("load", 2.0, "m"), size)


def test_a_body_is_put_on_a_tree_by_its_joint():
    cup = solid("cylinder", 0.4, (0.03, 0.1))
    tree = with_link(arm(), fixed("cup", "free", home=(0, 0, 0.2)), cup)
    assert tree.names[-1] == "cup" and tree.links[-1] == cup and tree.dof == 3
    with pytest.raises(ValueError, match="solid: kind: expected one of box, sphere, cylinder"):
        solid("cone", 1.0, (0.1, 0.1))
    with pytest.raises(ValueError, match="with_link: link: expected Link, got float"):
        with_link(arm(), fixed("cup", "free"), 0.4)


def test_words_call_all_joints_that_have_them_in_their_names():
    assert values_by_joint(arm(), {"knee": 1.0, "left": 2.0}) == {
        "left_knee": 2.0,
        "right_knee": 1.0,
    }
    assert values_by_joint(arm(), {"left_knee": 3.0, "knee": 1.0})["left_knee"] == 3.0
    with pytest.raises(ValueError, match="unknown joint 'hip'"):
        values_by_joint(arm(), {"hip": 0.0})


def test_limits_are_those_of_driven_joints_or_of_those_that_are_named():
    tree = with_limits(arm(), strength=0.5, jerk=3.0)
    assert [joint.torque for joint in tree.joints[:2]] == [(-10.0, 10.0), (-5.0, 5.0)]
    assert tree.joints[0].jerk == (-3.0, 3.0) and tree.joints[2] == arm().joints[2]
    tree = with_limits(arm(), position={"knee": (0.2, None)})
    assert tree.joints[0].position == (0.2, 1.0) and tree.joints[1].position == (0.2, np.inf)
    with pytest.raises(
        ValueError, match="with_limits: unknown limit 'speed'; a joint has position"
    ):
        with_limits(arm(), speed=3.0)


@pytest.mark.parametrize("name", [*FORMULATIONS])
def test_a_link_is_called_as_a_point_at_its_origin(name):
    tree = arm()
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 3))
    pointed = Tree(
        links=tree.links,
        joints=tree.joints,
        gravity=tree.gravity,
        points=(Point(name="there", link="right_knee"),),
    )
    torques = [
        inverse_dynamics(
            each,
            ca.DM(q),
            ca.DM(qd),
            ca.DM(qdd),
            loads=[Load(point=point, force=(1.0, 2.0, 3.0), moment=(0.1, 0.2, 0.3))],
            formulation=name,
        )
        for each, point in ((tree, "right_knee"), (pointed, "there"))
    ]
    np.testing.assert_allclose(*map(np.array, torques), atol=1e-12)
    here = [np.array(position(each, ca.DM(q), "right_knee")) for each in (tree, pointed)]
    np.testing.assert_array_equal(*here)


def test_a_link_calls_its_points():
    points = [Point(name=f"p{k}", link="free") for k in range(3)]
    tree = arm()
    tree = Tree(links=tree.links, joints=tree.joints, points=points)
    assert points_of(tree, "free") == ("p0", "p1", "p2")
    assert points_of(tree, ["left_knee", "p1"]) == ("left_knee", "p1")
    with pytest.raises(ValueError, match="unknown point 'nose'"):
        points_of(tree, "nose")
