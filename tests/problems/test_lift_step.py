"""A lift with one step: where the feet stand and when, what the swing keeps clear, what is told."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline
from ocp.models.human import SOLES
from ocp.problem import bearing_slots
from ocp.problems.lifting.lift_step import problem
from ocp.problems.lifting.report.niosh import Work, judged
from ocp.problems.lifting.solve_lifts import _simpler
from ocp.problems.lifting.statement.graded_knots import graded, thinned
from ocp.problems.lifting.statement.standing_body import stance, stepped
from ocp.problems.lifting.statement.stepping import AHEAD, CLEAR, Pace, square, swinging

PACE = Pace(length=0.3, leaves=0.4, lands=0.7)


@pytest.fixture(scope="module")
def stated():
    return problem(step=0.3)


def test_the_left_foot_stands_at_two_places_and_nowhere_in_between(stated):
    ground = stated.ground
    bearing = {s: [name for name, _ in bearing_slots(ground, s)] for s in (0.0, 0.5, 0.8, 1.0)}
    assert bearing == {
        0.0: ["right", "left"],
        0.5: ["right"],
        0.8: ["right", AHEAD],
        1.0: ["right", AHEAD],
    }
    before, after = ground.foot("left").supports[0], ground.foot(AHEAD).supports[0]
    assert np.array(after.polygon) - before.polygon == pytest.approx(
        np.tile([0.0, 0.0, 0.3], (len(before.polygon), 1))
    )
    for old, new in zip(before.pins, after.pins):
        assert (old.point, old.axes) == (new.point, new.axes)
        assert np.subtract(new.target, old.target) == pytest.approx([0.0, 0.0, 0.3])


def test_the_box_ends_before_the_middle_of_the_feet_as_they_stand_then(stated):
    assert stepped(stated.ground) == pytest.approx([0.0, 0.0, 0.15])
    assert (stepped(stance(stated.tree, 0.2)) == 0.0).all()
    goal = next(each.lower for each in stated.constraints if each.name == "hands.end")
    assert np.mean([goal[:3], goal[3:]], axis=0) == pytest.approx([0.0, 1.0, 0.46 + 0.15])


def test_niosh_counts_from_the_feet_as_they_stand_at_each_end():
    t = np.linspace(0.0, 1.0, 5)
    middle = np.array([0 * t, 0.4 + 0.6 * t, 0.5 + 0.2 * t])
    entry = judged(middle, t, 9.0, Work(), stepped=(0.0, 0.0, 0.2))
    for when in ("start", "end"):
        assert entry[when]["multipliers"]["H"] == pytest.approx(0.25 / 0.5)
    assert entry["hand_speed"] == pytest.approx(np.hypot(0.6, 0.2))


def test_knots_gather_at_rest_and_where_the_foot_leaves_and_lands_where_torques_may_bend():
    spline = graded(21, (0.4, 0.7))
    inner = np.array(spline.inner)
    waves = np.array([0.5 - np.sqrt(0.125), 0.5, 0.5 + np.sqrt(0.125)])
    assert inner == pytest.approx(
        [*0.4 * waves, *3 * [0.4], *(0.4 + 0.3 * waves), *3 * [0.7], *(0.7 + 0.3 * waves)]
    )
    assert (spline.points, spline.degree) == (21, 5) and not len(spline.jumps)
    assert spline.kinks == pytest.approx([0.4, 0.7])
    assert problem(leaves=0.3).motion == graded(21, (0.3, 0.7))
    with pytest.raises(ValueError, match="points: expected at least 12, got 11"):
        graded(11, (0.4, 0.7))


def test_a_lift_goes_on_from_one_on_every_other_knot_whose_motions_it_holds(stated):
    coarse = _simpler(stated).motion
    assert coarse.inner == pytest.approx([0.2, *3 * [0.4], 0.55, *3 * [0.7], 0.85])
    s = np.linspace(0.0, 1.0, 60)
    parts = np.linalg.lstsq(stated.motion.values(s), coarse.values(s), rcond=None)[0]
    assert stated.motion.values(s) @ parts == pytest.approx(coarse.values(s), abs=1e-9)
    assert _simpler(replace(stated, motion=coarse)) is None
    assert thinned(BSpline(points=9)) is None


def test_both_feet_share_the_load_by_polynomials_as_rates_of_torques_cost(stated):
    assert stated.ground.sharing == "smooth"


class Sole:
    """An instant at which the whole sole is at a height."""

    def __init__(self, s, height):
        self.s, self.height = s, height

    def position(self, name):
        assert name in SOLES["left"]
        return ca.DM([0.1, self.height, 0.0])


def test_the_sole_is_clear_of_the_ground_in_the_middle_of_its_swing():
    rule = swinging(PACE)
    middle = np.array(rule.function(Sole(0.55, CLEAR)))
    assert middle == pytest.approx(np.zeros((len(SOLES["left"]), 1)))
    assert np.array(rule.function(Sole(0.4, 0.01))) == pytest.approx(0.01)
    assert not rule.when.holds(0.4) and rule.when.holds(0.55) and not rule.when.holds(0.7)


class Hands:
    """An instant at which the left hand is ahead of the right one."""

    def __init__(self, ahead):
        self.ahead = ahead

    def position(self, name):
        return ca.DM([0.0, 1.0, {"grip_l": 0.3 + self.ahead, "grip_r": 0.3}[name]])


def test_the_box_stays_before_the_body():
    rule = square(0.4, np.radians(15.0))
    assert float(rule.function(Hands(0.1))) == pytest.approx(0.1)
    assert rule.upper_of(0) == pytest.approx(0.1035, abs=1e-4) == -rule.lower_of(0)


@pytest.mark.parametrize(
    "flags, message",
    [
        ({"step": np.nan}, "step: expected a length in m, got nan"),
        ({"leaves": 0.7, "lands": 0.4}, "leaves, lands: expected 0 < leaves < lands < 1"),
        ({"box": 0.0}, "box: expected a number above 0"),
        ({"time": -1.0}, "time: expected a number above 0"),
        ({"end_ahead": 2.0}, "end_ahead: 2 m is out of reach"),
    ],
)
def test_a_step_that_cannot_be_is_refused(flags, message):
    with pytest.raises(ValueError, match=message):
        problem(**flags)
