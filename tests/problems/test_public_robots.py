"""Public robots' motions: from a file to a certified motion."""

import sys
from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest
from ocp.models.public import public_files, with_limits
from ocp.problems import anymal_trot, g1_step, panda_carry, ur5_reach
from ocp.problems.public_robots import exchanged

from ocp import Link, Tree, revolute
from ocp.cli.gallery import within_reach
from ocp.mechanics import position
from ocp.studies.task import Task


@pytest.fixture
def robots():
    try:
        return public_files()
    except ModuleNotFoundError:
        pytest.skip("needs the extra `robots`")


def test_a_missing_package_of_robots_is_named_with_its_extra(monkeypatch):
    def absent(name):
        raise public.metadata.PackageNotFoundError(name)

    public = sys.modules[public_files.__module__]
    monkeypatch.setattr(public.metadata, "distribution", absent)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ocp-motion\[robots\]'"):
        ur5_reach.problem()
    assert within_reach({"reach": ur5_reach.TASK, "none": Task(lambda: None)}) == ["none"]


def test_limits_are_those_of_driven_joints():
    joints = revolute("arm", torque=20.0), revolute("hand", "arm", actuated=False)
    tree = with_limits(Tree(links=(Link(),) * 2, joints=joints), torque=0.5, jerk=3.0)
    assert tree.joints[0].torque == (-10.0, 10.0) and tree.joints[0].jerk == (-3.0, 3.0)
    assert tree.joints[1] == joints[1]


def test_a_cup_is_carried_upright(robots):
    stated = panda_carry.problem()
    solution = panda_carry.TASK.method(stated).require()
    places = solution.trace(lambda at: at.position("cup"), [0.0, solution.duration])
    np.testing.assert_allclose(places.T, (panda_carry.TABLE, panda_carry.SHELF), atol=1e-7)
    tilts = solution.trace(lambda at: at.pose("cup")[:2, 2], np.linspace(0, solution.duration, 99))
    assert 0.95 < np.degrees(np.abs(tilts)).max() < 1.01  # between the nodes too


def test_a_public_quadruped_is_its_own_mirror_image(robots):
    tree = anymal_trot.anymal()
    image = exchanged(tree, anymal_trot.SIDES, anymal_trot.FLIPS, 0.2)
    q = np.random.default_rng(2).normal(size=tree.dof)
    here, there = (
        position(tree, ca.DM(values), foot)
        for values, foot in ((q, "LF_FOOT"), (image.image(q), "RF_FOOT"))
    )
    np.testing.assert_allclose(np.array(there), np.array(here) * [[1], [-1], [1]], atol=1e-9)


def test_a_public_humanoid_is_its_own_mirror_image(robots):
    tree = g1_step.g1()
    image = exchanged(tree, g1_step.SIDES, g1_step.FLIPS, 0.3)
    q = np.random.default_rng(3).normal(size=tree.dof)
    for name in g1_step.CORNERS:
        across = name.split()[0] + (" right" if "left" in name else " left")
        here = np.array(position(tree, ca.DM(q), f"left {name}"))
        there = np.array(position(tree, ca.DM(image.image(q)), f"right {across}"))
        np.testing.assert_allclose(there, here * [[1], [-1], [1]], atol=1e-5)


def test_a_public_humanoids_soles_are_those_of_its_file(robots):
    file = ElementTree.parse(robots / "g1_description/urdf/g1_29dof_rev_1_0.urdf")
    places = []
    for side in ("left", "right"):
        for solid in file.findall(f"link[@name='{side}_ankle_roll_link']/collision"):
            x, y, z = map(float, solid.find("origin").get("xyz").split())
            places.append((x, y, z - float(solid.find("geometry/sphere").get("radius"))))
    np.testing.assert_allclose(sorted(places), sorted([*g1_step.CORNERS.values()] * 2))


def test_a_public_humanoid_stands_flat_and_steps_as_far_as_is_asked(robots):
    stated = g1_step.problem(points=8, step=0.2)
    q = g1_step.standing(stated.tree)
    soles = [position(stated.tree, ca.DM(q), point.name) for point in stated.tree.points]
    np.testing.assert_allclose([float(sole[2]) for sole in soles], 0.0, atol=1e-9)
    solution = g1_step.TASK.method(stated).require()
    ends = solution.trace(lambda at: at.position("right heel right"), [0.0, solution.duration])
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], (0.4, 0.0, 0.0), atol=1e-6)
    assert (solution.trace(lambda at: at.reaction.push("left foot"), solution.times(9)) > 0).all()
