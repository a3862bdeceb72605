"""Links, points, loads and trees: what they refuse and hold."""

from dataclasses import FrozenInstanceError
from math import nan

import casadi as ca
import numpy as np
import pytest
from refusals import refused

from ocp import Link, Load, Point, Tree, dh, fixed, prismatic, revolute, screw
from ocp.mechanics import inward, outward

ROD = Link(mass=2.0, com=(0.1, 0, 0), inertia=((0, 0, 0), (0, 0.3, 0), (0, 0, 0.3)))


def chain(*joints, points=(), **options):
    """A tree with a rod on every joint."""
    return Tree(links=(ROD,) * len(joints), joints=joints, points=points, **options)


def rods(*coms):
    """An arm of three links along x, 0.4, 0.4 and 0.1 m long, with these centres of mass."""
    size = np.diag((0.001, 0.02, 0.02))
    ahead = (0.4, 0.0, 0.0)
    return Tree(
        links=[Link(mass=1.0, com=(com, 0.0, 0.0), inertia=size) for com in coms],
        joints=[
            revolute("shoulder", axis=(0, 1, 0)),
            revolute("elbow", "shoulder", axis=(0, 1, 0), home=ahead),
            revolute("wrist", "elbow", axis=(0, 1, 0), home=ahead),
        ],
    )


def test_centres_of_mass_in_the_axes_of_the_base_are_told():
    with pytest.warns(UserWarning, match="link 'elbow': its centre of mass is 0.6 m from .* 0.2 m"):
        rods(0.2, 0.6, 0.85)


@pytest.mark.parametrize(
    "coms", [(0.2, 0.2, 0.05), (0.2, -0.6, 0.05), (0.2, 0.6, 0.05), (0.5, 0.2, 0)]
)
def test_centres_of_mass_far_out_on_one_link_are_taken_as_they_are(coms):
    rods(*coms)


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
        (
            {"mass": 1.0, "inertia": (1, 1, 1.5)},
            "link inertia: expected shape (3, 3), got (3,); three moments about the axes are "
            "written numpy.diag((1, 1, 1.5))",
        ),
        (
            {"mass": 1.0, "inertia": (1, 1, 1, 0, 0, 0)},
            "link inertia: expected shape (3, 3), got (6,); moments and products are written "
            "((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))",
        ),
        ({"mass": 1.0, "inertia": 2.0}, "link inertia: expected shape (3, 3), got ()"),
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
            "joint 'b': unknown parent 'c'; the links are a, b and 'ground'",
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
    with refused("unknown link 'knee'; the links are hip, shank"):
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
    assert tree.rows == (None, 0, None, 1)
    assert [joint.name for joint in tree.moving] == ["hip", "foot"]
    assert [tree.link_index(name) for name in tree.names] == [0, 1, 2, 3]
    assert (tree.coordinate("hip"), tree.coordinate("foot"), tree.point("toe")) == (0, 1, toe)


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
    link = Link(mass=1.0, com=com)
    joint = revolute("a", home=home)
    load = Load(point="p", force=force)
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
