"""Stairs up and down: what lands first, and what the foot in swing must not go through."""

from dataclasses import replace

import numpy as np
import pytest
from human_bodies import FEW_JOINTS

from ocp.models.human import FEET, human
from ocp.problems.gait import effort_step
from ocp.problems.gait.statement.contact_schedule import NORMAL, landing, stance, usual_schedule


@pytest.fixture(scope="module")
def down():
    return effort_step(active=FEW_JOINTS, rise=-0.17)


def test_down_stairs_the_foot_in_swing_comes_onto_the_next_stair(down):
    ground = landing(down.ground, -0.17)
    heights = [ground.plane(foot).height for foot in ground.feet]
    assert heights == pytest.approx([0.0, -0.17])
    assert down.ground.plane(down.ground.foot("left")).height == pytest.approx(0.17)
    assert landing(down.ground, 0.17) is down.ground


def test_the_sole_stays_above_the_stair_that_it_leaves_downward(down):
    (stair,) = (each for each in down.constraints if each.name == "penetration.stair")
    assert stair.when.end == pytest.approx(down.ground.foot("left").bears[1])
    np.testing.assert_allclose(np.ravel(stair.lower), (0.0, -0.002, -0.002))
    up = effort_step(active=FEW_JOINTS, rise=0.17)
    assert stair.name not in [each.name for each in up.constraints]


def test_people_land_on_the_fore_part_of_the_foot_on_stairs():
    first = {
        lands: stance(human(), 0.6, 0.1, replace(NORMAL, lands=lands)).foot("right").supports[0]
        for lands in ("heel", "fore")
    }
    assert (first["heel"].link, first["fore"].link) == FEET["right"]
    assert first["heel"].when == first["fore"].when == (0.0, NORMAL.flat)
    with pytest.raises(ValueError, match="lands: expected heel or fore, got 'toe'"):
        replace(NORMAL, lands="toe")


def test_schedules_on_stairs_are_those_of_stairs_for_people_alone():
    lands = [usual_schedule(living, rise).lands for living in (True, False) for rise in (0.1, -0.1)]
    assert lands == ["fore", "fore", "heel", "heel"]
    assert usual_schedule(True, 0.0) is NORMAL
    assert usual_schedule(True, -0.1).heel_off > usual_schedule(True, 0.1).heel_off
