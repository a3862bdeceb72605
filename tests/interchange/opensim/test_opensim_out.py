"""Trees and muscles written for OpenSim move there as they do here, and read back the same."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from mapped_trees import random_mapped_tree
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import frames, states_of, torques
from osim_texts import ACTING, CHAIN, MUSCLES, leg, written
from random_trees import random_tree

from ocp import Bumper, Link, Loop, Point, Stay, Tree, ball, load_model, save_model
from ocp.interchange import ModelWarning
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import muscles_of
from ocp.models.human import human

KINDS = ("revolute", "prismatic", "screw", "fixed")


@cache
def trees():
    """Twenty random trees, joints that follow others in every third of them."""
    made = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, 6, KINDS, massless=0.0)
        if seed % 3 == 0:
            mapped = random_mapped_tree(rng, 5)
            tree = replace(mapped, joints=[_without_ball(joint) for joint in mapped.joints])
        made.append(replace(tree, gravity=(0.3, -9.8, 0.2)))
    return made


def _without_ball(joint):
    return replace(joint, ball=False, screw=(0, 0, 1, 0, 0, 0)) if joint.ball else joint


@pytest.mark.parametrize("seed", range(20))
def test_a_written_tree_reads_back(tmp_path, seed):
    tree = trees()[seed]
    path = tmp_path / "tree.osim"
    save_model(tree, path)
    again = load_model(path)
    assert [each.name for each in again.moving] == [each.name for each in tree.moving]
    for state in states_of(tree, 2):
        ours, theirs = frames(tree, state), frames(again, state)
        for name, pose in ours.items():
            np.testing.assert_allclose(theirs[name], pose, atol=1e-12)
        needed, expected = torques(again, state), torques(tree, state)
        for name, torque in expected.items():
            assert needed[name] == pytest.approx(torque, rel=1e-9, abs=1e-9)


@needs_opensim
def test_opensim_needs_the_torques_of_ours_on_twenty_random_trees(tmp_path):
    written_trees = {}
    for k, tree in enumerate(trees()):
        path = tmp_path / f"tree{k}.osim"
        save_model(tree, path)
        written_trees[str(path)] = tree, states_of(tree, 2)
    requests = [{"model": path, "states": states} for path, (_, states) in written_trees.items()]
    answers = opensim_answers(MODELS, several={"of": requests})["several"]
    for (tree, states), known in zip(written_trees.values(), answers, strict=True):
        for state, answer in zip(states, known, strict=True):
            compare(tree, state, answer)


@needs_opensim
@pytest.mark.filterwarnings("ignore:.*looks of links")
def test_opensim_needs_the_torques_of_the_human_of_55_joints(tmp_path):
    tree = human(frozen=())
    save_model(tree, tmp_path / "human.osim")
    states = states_of(tree, 3)
    request = {"model": str(tmp_path / "human.osim"), "states": states}
    for state, answer in zip(states, opensim_answers(MODELS, mechanics=request)["mechanics"]):
        compare(tree, state, answer)


def compare(tree, state, answer):
    """Hold places of links and torques to OpenSim's, 1e-8 of the largest."""
    ours, needed = frames(tree, state), torques(tree, state)
    for name, (_, place) in answer["places"].items():
        np.testing.assert_allclose(ours[name][:3, 3], place, atol=1e-9)
    largest = max(map(abs, answer["forces"].values()))
    for name, force in answer["forces"].items():
        assert needed[name] == pytest.approx(force, abs=1e-8 * largest)


@needs_opensim
@pytest.mark.filterwarnings("ignore:.*De Groote")
def test_opensim_finds_the_lengths_of_written_muscles(tmp_path):
    tree = load_model(written(leg(*MUSCLES[:3]), tmp_path))
    save_model(tree, tmp_path / "again.osim")
    states = [{"hip": [0.2, 0, 0], "knee": [knee, 0, 0]} for knee in (-1.2, -0.7, 0.2)]
    request = {"model": str(tmp_path / "again.osim"), "states": states}
    for state, answer in zip(states, opensim_answers(MODELS, paths=request)["paths"]):
        q = np.zeros(tree.dof)
        for name, (value, _, _) in state.items():
            q[tree.coordinate(name)] = value
        for each in muscles_of(tree):
            length = float(each.path.length(State(tree=tree, q=ca.DM(q))))
            assert length == pytest.approx(answer[each.name][0], abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*De Groote")
def test_muscles_springs_and_drives_read_back(tmp_path):
    tree = load_model(written(leg(*MUSCLES, *ACTING[1:]), tmp_path))
    save_model(tree, tmp_path / "again.osim")
    again = load_model(tmp_path / "again.osim")
    assert again.driven == tree.driven
    known = {each.name: each for each in again.elements}
    for each in tree.elements:
        other = known[each.name]
        if each in muscles_of(tree):
            assert replace(other, path=each.path) == each
            q = np.zeros(tree.dof)
            q[tree.coordinate("knee")] = -0.7
            states = (State(tree=which, q=ca.DM(q)) for which in (tree, again))
            lengths = [float(one.path.length(s)) for one, s in zip((each, other), states)]
            assert lengths[0] == pytest.approx(lengths[1], abs=1e-12)
        else:
            assert other == each


def test_what_the_format_has_no_word_for_is_named(tmp_path):
    tree = load_model(written(leg(), tmp_path))
    stop = Bumper(joint="knee", upper=0.3, stiffness=10.0)
    toe = Point(name="big toe", link="shank")
    with pytest.warns(ModelWarning) as caught:
        save_model(replace(tree, elements=(stop,), points=(toe,)), tmp_path / "out.osim")
    said = [str(each.message) for each in caught]
    assert any("elements are left out: knee bumper (Bumper)" in each for each in said)
    assert any("have _ in place of blanks and slashes: big toe" in each for each in said)


def test_a_function_of_a_function_is_refused_by_name(tmp_path):
    tree = load_model(written(CHAIN, tmp_path))
    with pytest.raises(ValueError, match="'patella_translation1' follows by a function of one's"):
        save_model(tree, tmp_path / "out.osim")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joints": "ball"}, "joint 'turn': a quaternion is no coordinate"),
        ({"stays": [Stay(name="rope", joint="knee", upper=0.1)]}, "OpenSim knows no stays"),
        (
            {
                "points": [Point(name="p", link="c"), Point(name="q", link="e")],
                "loops": [Loop(name="ring", start="p", end="q", position="xy")],
            },
            "loop 'ring': OpenSim holds three directions of position",
        ),
    ],
)
def test_what_the_motion_depends_on_is_refused(tmp_path, change, words):
    tree = load_model(written(CHAIN, tmp_path))
    if "joints" in change:
        tree = Tree(links=(*tree.links, Link(mass=1.0)), joints=(*tree.joints, ball("turn", "c")))
        change = {}
    with pytest.raises(ValueError, match=words):
        save_model(replace(tree, **change), tmp_path / "out.osim")
