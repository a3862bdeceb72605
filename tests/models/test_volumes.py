"""Volumes of the muscles that turn each joint: sums of published ones, shares, scale, sides."""

import pytest

from ocp.models.human import human, volumes
from ocp.models.human.volumes import ACTING, ARM, LEG


def test_a_legs_muscles_add_up_to_the_published_whole():
    assert sum(slope for slope, _ in LEG.values()) == pytest.approx(1.0, abs=1e-3)
    assert sum(least for _, least in LEG.values()) == pytest.approx(0.0, abs=1.0)  # cm3
    used = {
        each if isinstance(each, str) else each[0]
        for ways in ACTING.values()
        for each in sum(ways, ())
    }
    assert used == {*LEG, *ARM}


def test_an_arms_muscles_have_the_published_shares():
    whole = sum(ARM.values())
    elbow = (
        *("triceps", "anconeus", "biceps", "brachialis", "brachioradialis", "pronators"),
        *("supinator",),
    )
    assert ARM["deltoid"] / whole == pytest.approx(0.152, abs=1e-3)
    assert sum(ARM[name] for name in elbow) / whole == pytest.approx(0.314, abs=0.01)
    assert 1427 < whole < 4426  # cm3: the smallest and the largest of ten people's


def test_each_way_of_a_joint_has_the_muscles_that_turn_it_so():
    tree = human()
    known = volumes(tree)
    leg = 47 * 75 * 1.75 + 1285
    vasti = (0.125 + 0.0631 + 0.0273) * leg - 55.7 - 16.3 + 76.5
    assert known["knee_flex_r"][0] == pytest.approx(vasti + 0.0371 * leg + 4.97)
    assert known["hip_flex_l"][1] == pytest.approx(
        (0.055 + 0.0248 + 0.0371 + 0.0256) * leg - 117 + 0.383 + 4.97 - 18.2
    )
    assert list(known) == [joint.name for joint in tree.moving if joint.actuated]
    assert all(known[name] == known[f"{name[:-1]}l"] for name in known if name.endswith("_r"))
    assert min(min(pair) for pair in known.values()) > 40.0


def test_joints_in_a_row_share_and_people_differ():
    few, all_of_them = volumes(human()), volumes(human(frozen=()))
    assert few["spine1_flex"] == (900.0, 350.0) and all_of_them["spine1_flex"] == (450.0, 175.0)
    assert few["head_rot"] == (200.0, 200.0) and all_of_them["head_rot"] == (100.0, 100.0)
    assert all_of_them["clav_elev_r"] == (300.0, 300.0)
    small = volumes(human(1.6, 50.0), 1.6, 50.0)
    assert small["elb_flex_r"][0] == pytest.approx(few["elb_flex_r"][0] * 80 / 131.25)
    assert 80 / 131.25 < small["knee_flex_r"][0] / few["knee_flex_r"][0] < 0.7
