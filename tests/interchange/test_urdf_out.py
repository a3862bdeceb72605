"""Trees written as URDF read back the same; what the format cannot say is told."""

from dataclasses import replace
from math import pi

import casadi as ca
import numpy as np
import pytest
from urdf_texts import ARM, FINGERS, LOSSY, written

from ocp import Point, Spring, inverse_dynamics
from ocp.interchange import ModelWarning, load_model, save_model
from ocp.mechanics import element_torques


@pytest.mark.parametrize("base", ["fixed", "free", "planar"])
@pytest.mark.parametrize("text", [LOSSY, FINGERS], ids=["arm", "hand"])
@pytest.mark.filterwarnings("ignore:again.urdf. of dry friction:UserWarning")
def test_a_tree_that_is_written_reads_back_the_same(tmp_path, base, text):
    tree = load_model(written(tmp_path, text), base=base)
    save_model(tree, tmp_path / "again.urdf")
    again = load_model(tmp_path / "again.urdf", base=base)
    assert (again.names, again.link_names) == (tree.names, tree.link_names)
    for first, second in zip(tree.joints, again.joints):
        assert np.abs(np.array(first.home) - np.array(second.home)).max() < 1e-15
        assert replace(first, home=second.home) == second
    fast = ca.DM([10.0] * tree.dof)
    lost = [np.array(element_torques(each, fast, fast)) for each in (tree, again)]
    assert np.abs(lost[0] - lost[1]).max() < 1e-12 and np.abs(lost[0]).max() > 1
    for first, second in zip(tree.links, again.links):
        assert replace(first, visuals=()) == replace(second, visuals=())
        assert [each.size for each in first.visuals] == [each.size for each in second.visuals]


@pytest.mark.parametrize("pitch", [pi / 2, -pi / 2 + 4e-12, 1e-5, pi / 2 - 1e-7])
def test_turns_are_written_to_the_last_digits_at_any_pitch(tmp_path, pitch):
    turns = f'rpy="0.4 {pitch!r} -1.1"'
    tree = load_model(written(tmp_path, ARM.replace('rpy="0.1 0.2 0.3"', turns)))
    save_model(tree, tmp_path / "again.urdf")
    again = load_model(tmp_path / "again.urdf")
    assert np.abs(np.array(tree.joints[3].home) - np.array(again.joints[3].home)).max() < 4e-16


def test_a_tree_on_the_ground_has_a_link_for_it(tmp_path):
    from ocp.models.arms.two_link import two_link

    tree = replace(two_link(gravity=9.81), points=())
    with pytest.warns(ModelWarning, match="links' frames stand on their joints' axes: shoulder; "):
        save_model(tree, tmp_path / "two.urdf", name="two & two")
    assert '<robot name="two &amp; two">' in (tmp_path / "two.urdf").read_text()
    again = load_model(tmp_path / "two.urdf", gravity=tree.gravity)
    motion = [ca.DM([0.3, -0.4]), ca.DM([1, 2]), ca.DM([3, 4])]
    torques = [np.array(inverse_dynamics(each, *motion)) for each in (tree, again)]
    assert again.link_names[0] == "world" and np.abs(torques[0] - torques[1]).max() < 1e-13


def test_what_the_format_cannot_say_is_refused_or_remarked(tmp_path):
    from ocp.models.mechanisms.four_bar import four_bar

    with pytest.raises(ValueError, match="save_model: URDF knows no loops, and the tree has pin"):
        save_model(four_bar(), tmp_path / "bar.urdf")
    arm = load_model(written(tmp_path, ARM))
    sprung = replace(arm, elements=(Spring(joint="turn", stiffness=3.0),))
    with pytest.raises(ValueError, match="URDF knows no spring, and the tree has 'turn spring'"):
        save_model(sprung, tmp_path / "bar.urdf")
    tipped = replace(arm, points=(Point(name="tcp", link="tool"),))
    with pytest.warns(ModelWarning, match=r"out.urdf: points are left out: tcp$"):
        save_model(tipped, tmp_path / "out.urdf")
    joints = [replace(each, torque=(-5, 7)) if each.name == "turn" else each for each in arm.joints]
    with pytest.warns(
        ModelWarning, match=r"the narrower of two limits is written: turn \(torque\)"
    ):
        save_model(replace(arm, joints=joints), tmp_path / "out.urdf")
    assert load_model(tmp_path / "out.urdf").moving[0].torque == (-5, 5)
