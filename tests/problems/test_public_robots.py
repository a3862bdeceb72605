"""Public robots' motions: from a file to a certified motion."""

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest

from ocp import Task
from ocp.cli.book.gallery import within_reach
from ocp.cli.commands.run import run_task
from ocp.dynamics import mirror_image
from ocp.mechanics import position
from ocp.models.public import public_files, public_robot
from ocp.problem import Symmetry
from ocp.problems.robots import anymal_trot, g1_step, panda_carry, ur5_reach
from ocp.solving import posture

ROBOTS = (ur5_reach, panda_carry, anymal_trot, g1_step)
SOLE = "ankle_roll_link"
MOST = 25  # lines of code from a file to a certified motion


@pytest.fixture
def robots():
    try:
        return public_files()
    except ModuleNotFoundError:
        pytest.skip("needs the extra `robots`")


@pytest.fixture
def step(robots):
    return g1_step.problem(points=8, step=0.2)


def lines_of_code(path):
    """How many lines a statement takes, as ruff formats it: all but imports, docstrings, blank
    lines and the guard of `main`."""
    text = Path(path).read_text(encoding="utf-8")
    body, left_out = ast.parse(text).body, set()
    for node in (each for top in body for each in ast.walk(top)):
        words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if words or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= {*range(node.lineno, node.end_lineno + 1)}
        elif isinstance(node, ast.If):
            left_out.add(node.lineno)
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and k not in left_out for k, line in lines)


@pytest.mark.parametrize("module", ROBOTS, ids=lambda module: module.__name__.split(".")[-1])
def test_a_statement_takes_few_lines(module):
    assert lines_of_code(module.__file__) <= MOST


def test_a_missing_package_of_robots_is_named_with_its_extra(monkeypatch, capsys):
    def absent(name):
        raise public.metadata.PackageNotFoundError(name)

    public = sys.modules[public_files.__module__]
    monkeypatch.setattr(public.metadata, "distribution", absent)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ocp-motion\[robots\]'"):
        ur5_reach.problem()
    assert run_task(ur5_reach.TASK, []) == 2
    assert re.fullmatch(r"ur5_reach: error: .*ocp-motion\[robots\]'\)\n", capsys.readouterr().err)
    assert within_reach({"reach": ur5_reach.TASK, "none": Task(lambda: None)}) == ["none"]


def test_a_cup_is_carried_upright(robots):
    stated = panda_carry.problem(duration=2.0, tilt=5.0, points=10)
    solution = panda_carry.TASK.method(stated).require()
    places = solution.trace(lambda at: at.position("cup"), [0.0, solution.duration])
    np.testing.assert_allclose(places.T, (panda_carry.TABLE, panda_carry.SHELF), atol=1e-7)
    tilts = solution.trace(lambda at: at.pose("cup")[:2, 2], np.linspace(0, solution.duration, 99))
    assert 4.75 < np.degrees(np.abs(tilts)).max() < 5.05  # between the nodes too


@pytest.mark.parametrize(
    ("module", "pairs", "within"),
    [
        (anymal_trot, {"LF_FOOT": "RF_FOOT", "RH_FOOT": "LH_FOOT"}, 1e-9),
        (g1_step, {f"left_{SOLE}.{k}": f"right_{SOLE}.{5 - k}" for k in (1, 2)}, 1e-5),
    ],
    ids=["quadruped", "humanoid"],
)
def test_a_public_robot_is_its_own_mirror_image(robots, module, pairs, within):
    tree = module.problem().tree
    index, sign = mirror_image(tree)
    image = Symmetry(index=index, sign=sign)
    q = np.random.default_rng(2).normal(size=tree.dof)
    for one, other in pairs.items():
        here, there = (
            np.array(position(tree, ca.DM(values), point))
            for values, point in ((q, one), (image.image(q), other))
        )
        np.testing.assert_allclose(there, here * [[1], [-1], [1]], atol=within)


def test_an_arm_that_is_no_mirror_image_says_at_which_joint(robots):
    arm = public_robot("ur_description/urdf/ur5_robot.urdf")
    with pytest.raises(ValueError, match=r"joint 'wrist_2_joint': no revolute joint is its image"):
        mirror_image(arm)


def test_a_public_humanoids_soles_are_those_of_its_file(robots, step):
    file = ElementTree.parse(robots / "g1_description/urdf/g1_29dof_rev_1_0.urdf")
    places = []
    for side in ("left", "right"):
        for shape in file.findall(f"link[@name='{side}_ankle_roll_link']/collision"):
            x, y, z = map(float, shape.find("origin").get("xyz").split())
            places.append((x, y, z - float(shape.find("geometry/sphere").get("radius"))))
    corners = [point.position for point in step.tree.points]
    np.testing.assert_allclose(sorted(map(tuple, corners)), sorted(places), atol=1e-12)


def test_a_body_stands_in_its_posture_on_its_feet(robots, step):
    angles = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35}
    q = posture(step, angles)
    feet = step.ground.feet[0].supports[0].pins
    for pin in feet:
        place = np.array(position(step.tree, ca.DM(q), pin.point)).ravel()
        np.testing.assert_allclose(place, pin.target, atol=1e-9)
    assert q[step.tree.coordinate("right_knee_joint")] == 0.7


def test_a_public_humanoid_stands_flat_and_steps_as_far_as_is_asked(robots, step):
    solution = g1_step.TASK.method(step).require(coarse=True)
    ends = solution.trace(
        lambda at: at.position("right_ankle_roll_link.1"), [0.0, solution.duration]
    )
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], (0.4, 0.0, 0.0), atol=1e-6)
    push = solution.trace(lambda at: at.reaction.push("left_ankle_roll_link"), solution.times(9))
    assert (push > 0).all()
