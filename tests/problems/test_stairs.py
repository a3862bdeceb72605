"""Stairs up and down: what lands first, and what the foot in swing must not go through."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from human_bodies import FEW_JOINTS

from ocp.models.human import FEET, human
from ocp.problems.gait import effort_step
from ocp.problems.gait.pictures.step_pictures import treads
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
    """Its heel from the start, its balls from when they are held there no more."""
    foot = down.ground.foot("left")
    spans = {
        each.labels[0]: (each.when.start, each.when.end)
        for each in down.constraints
        if each.name.startswith("penetration.stair")
    }
    toe_off = pytest.approx(foot.bears[1])
    ball_off = pytest.approx(foot.supports[0].when[1])
    expected = {"heel_l": 0.0, "ball_med_l": ball_off, "ball_lat_l": ball_off}
    assert spans == {name: (since, toe_off) for name, since in expected.items()}
    up = effort_step(active=FEW_JOINTS, rise=0.17)
    assert not [each.name for each in up.constraints if each.name.startswith("penetration.stair")]


@pytest.mark.parametrize("rise", [0.17, -0.17])
def test_edges_of_stairs_let_a_sole_stand_on_them(rise):
    """Where it stood, as the toe goes off, and where it comes to stand, as it strikes."""
    stated = effort_step(active=FEW_JOINTS, rise=rise)
    (keep,) = (each for each in stated.constraints if each.name == "edges")
    left = stated.ground.foot("left")
    toe = np.array(left.supports[-1].pins[0].target, dtype=float)
    ahead = 2.0 * np.array([0.0, rise, stated.symmetry.shift[0]])
    ends = {}
    for when, moved in {"leaves": 0.0, "strikes": ahead}.items():
        places = dict.fromkeys(("heel_l", "ball_med_l", "ball_lat_l", "toe_l"), toe + moved)
        at = SimpleNamespace(position=lambda name, places=places: ca.DM(places[name]))
        ends[when] = np.array(keep.function(at)).ravel() - np.ravel(keep.lower)
    assert all((room > 0).all() for room in ends.values())


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
    assert replace(usual_schedule(True, -0.1), lands="heel") == NORMAL


@pytest.mark.parametrize("rise", [0.17, -0.17])
def test_pictures_draw_the_stairs_on_which_both_feet_stand(rise):
    """Each stands flat within the depth of a tread, the left one a stair behind."""
    stated = effort_step(active=FEW_JOINTS, rise=rise, step=0.3)
    left, right, last = treads(SimpleNamespace(problem=stated))
    corners = np.array(stated.ground.foot("right").supports[1].polygon)
    assert right[1, 0] == right[1, 1] == 0.0 and right[1, 3] == pytest.approx(rise)
    assert right[2, 1] < corners[:, 2].min() and corners[:, 2].max() < right[2, 2]
    assert left[:, 3] == pytest.approx(right[:, 1]) and right[:, 3] == pytest.approx(last[:, 1])
    level = effort_step(active=FEW_JOINTS, step=0.3)
    assert not list(treads(SimpleNamespace(problem=level)))
