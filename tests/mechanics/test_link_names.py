"""Links have names of their own, beside those of joints, and a look that no force feels."""

from dataclasses import replace
from math import nan

import casadi as ca
import numpy as np
import pytest
from refusals import refused

import ocp
from ocp.mechanics import Strut, Visual, element_torques, jacobian, poses, position, stop
from ocp.mechanics.kinematics.unilateral_forces import stay_wrenches
from ocp.storage.problem_data import problem_data, problem_from_data

ROD = ocp.Link(mass=2.0, com=(0.1, 0, 0), inertia=((0, 0, 0), (0, 0.3, 0), (0, 0, 0.3)))
BOX = Visual(kind="box", size=(0.2, 0.1, 0.1), colour=(1, 0, 0, 0.5))


def arm(names=("upper", "elbow", None), parents=("upper", "elbow"), visuals=()):
    """Three links: the second is called like the third joint; the third like its own."""
    first, second, third = names
    return ocp.Tree(
        links=(
            replace(ROD, name=first, visuals=visuals),
            replace(ROD, name=second),
            replace(ROD, name=third),
        ),
        joints=(
            ocp.revolute("shoulder", axis=(0, 1, 0)),
            ocp.prismatic("slide", parents[0], axis=(1, 0, 0), home=(0.5, 0, 0)),
            ocp.revolute("elbow", parents[1], axis=(0, 1, 0), home=(0.2, 0, 0)),
        ),
        points=(ocp.Point(name="spot", link=parents[1], position=(0.1, 0, 0.3)),),
        gravity=(0, 0, -9.81),
    )


def test_links_and_joints_are_named_in_spaces_of_their_own():
    with refused("link 'elbow': the name is used twice"):
        arm()
    tree = arm(names=("upper", "elbow", "lower"))
    assert tree.names == ("shoulder", "slide", "elbow")
    assert tree.link_names == ("upper", "elbow", "lower")
    assert (tree.link_index("elbow"), tree.joint_index("elbow"), tree.parents) == (1, 2, (-1, 0, 1))
    assert tree.coordinate("elbow") == 2
    with refused("unknown link 'shoulder'; the links are upper, elbow, lower"):
        tree.link_index("shoulder")
    with refused("unknown joint 'lower'; the joints are shoulder, slide, elbow"):
        tree.coordinate("lower")


@pytest.mark.parametrize("formulation", ["newton_euler", "barman", "lie_group", "waters"])
def test_names_and_looks_of_links_change_no_force(formulation):
    plain = arm(names=(None,) * 3, parents=("shoulder", "slide"))
    named = arm(names=("upper", "elbow", "lower"), visuals=(BOX,))
    q, qd, qdd = ca.DM([0.3, 0.1, -0.4]), ca.DM([1, 2, 3]), ca.DM([-1, 0.5, 2])
    loads = (ocp.Load(point="spot", force=(1, 2, 3), moment=(3, 2, 1)),)
    torques = [
        np.array(ocp.inverse_dynamics(tree, q, qd, qdd, loads, formulation=formulation))
        for tree in (plain, named)
    ]
    assert (torques[0] == torques[1]).all() and np.abs(torques[0]).min() > 0.1
    assert (np.array(position(named, q, "spot")) == np.array(position(plain, q, "spot"))).all()


def test_a_joints_stay_pushes_the_link_that_the_joint_carries():
    named = arm(names=("upper", "elbow", "lower"))
    held = replace(named, stays=(stop("end", "elbow", upper=0.2),))
    wrenches = stay_wrenches(held, poses(held, ca.DM([0.3, 0.1, -0.4])), ca.DM([5.0]))
    assert [wrench.link for wrench in wrenches] == ["lower", "elbow"]
    with refused("stay 'end': unknown joint 'lower'; the joints are shoulder, slide, elbow"):
        replace(named, stays=(stop("end", "lower", upper=0.2),))


def test_paths_of_elements_lead_to_links_by_their_names():
    tree = arm(names=("upper", "elbow", "lower"))
    strut = Strut(name="rod", start=(0, 0, 1), end="spot", stiffness=10.0)
    q, rest = ca.DM([0.3, 0.1, -0.4]), ca.DM.zeros(3)
    pull = -10.0 * (position(tree, q, "spot") - ca.DM([0, 0, 1]))
    push = jacobian(tree, q, "spot")[3:, :].T @ pull
    got = element_torques(replace(tree, elements=(strut,)), q, rest)
    assert np.abs(np.array(got - push)).max() < 1e-13 and float(got[2]) == 0


def test_a_problem_with_named_links_is_data_and_what_shows_them_is_not_asked():
    def problem(**options):
        tree = arm(names=("upper", "elbow", "lower"), **options)
        return ocp.Problem(
            tree=tree, motion=ocp.BSpline(points=5), duration=1.0, objective=ocp.effort()
        )

    mesh = Visual(kind="mesh", path="upper.stl", size=(0.001, -0.001, 0.001))
    shown = problem_data(problem(visuals=(BOX, mesh)))
    assert problem_from_data(shown).tree == arm(
        names=("upper", "elbow", "lower"), visuals=(BOX, mesh)
    )
    assert shown.fingerprint == problem_data(problem()).fingerprint
    assert problem_data(problem()).data["tree"]["links"][1].keys() == {
        "mass",
        "com",
        "inertia",
        "modes",
        "name",
    }


@pytest.mark.parametrize("name", ["", "ground", 3])
def test_a_link_needs_a_name_that_is_one(name):
    with refused("link name: expected None or a non-empty string other than 'ground', got"):
        ocp.Link(name=name)


def test_parents_that_only_joints_are_called_are_unknown():
    with refused("joint 'b': unknown parent 'a'; the links are arm, b and 'ground'"):
        ocp.Tree(
            links=(ocp.Link(name="arm"), ocp.Link()),
            joints=(ocp.revolute("a"), ocp.fixed("b", "a")),
        )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "cone"}, "visual: kind: expected one of box, sphere, cylinder, capsule, "),
        (
            {"kind": "box", "size": (1.0,)},
            "visual box: size (length along x, length along y, length along z): expected shape",
        ),
        ({"kind": "sphere", "size": (0,)}, "visual sphere: radius: expected a number above 0"),
        (
            {"kind": "mesh", "size": (1, 0, 1), "path": "a.stl"},
            "visual mesh: scale along y: expected a number other than 0, got 0",
        ),
        ({"kind": "mesh"}, "visual mesh: path: expected the file of the mesh, got ''"),
        ({"kind": "box", "path": "a.stl"}, "visual box: path: expected none, got 'a.stl'"),
        ({"kind": "box", "pose": np.zeros((4, 4))}, "visual box: pose: expected a rigid pose"),
        ({"kind": "box", "colour": (1, 1, 2, 1)}, "visual box: colour: expected red, green, blue"),
        ({"kind": "box", "colour": (1, 1, nan, 1)}, "visual box: colour: expected finite numbers"),
    ],
)
def test_a_visual_that_shows_nothing_is_refused(fields, message):
    with refused(message):
        Visual(**fields)


def test_a_link_is_shown_by_visuals():
    with refused("link: visuals: expected Visual, got str 'box'"):
        ocp.Link(visuals=("box",))
    assert hash(ocp.Link(visuals=[BOX])) == hash(ocp.Link(visuals=(BOX,)))
