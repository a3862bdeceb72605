"""Boxes carried, carts pushed and pulled, and a lift to one's side, as they are stated."""

import casadi as ca
import numpy as np
import pytest

from ocp.mechanics import body_weight, nominal
from ocp.mechanics.values.parameters import parameters_of
from ocp.problems.gait import Gait, busy_step
from ocp.problems.gait import problem as walk
from ocp.problems.human.carry import in_both_hands
from ocp.problems.human.carry import problem as carry
from ocp.problems.human.cart_push import GRAVITY, REACH, cart_at_hands, rolling
from ocp.problems.human.cart_push import problem as cart
from ocp.problems.lifting.lift_aside import problem as aside


class Hands:
    """Hands and the back at given places, at a time."""

    def __init__(self, t=0.0, **places):
        self.places, self.t = places, t

    def position(self, name):
        return ca.DM(self.places[name])


def test_a_cart_takes_what_its_wheels_and_the_floor_make_of_its_weight():
    assert rolling(150.0, "concrete", 0.051) == pytest.approx(0.0022 * 150 * GRAVITY / 0.051)
    assert rolling(150.0, "carpet", 0.051) / rolling(150.0, "concrete", 0.051) == pytest.approx(
        4.5 / 2.2
    )
    loads = cart(cart=100.0, wheels=0.05).loads
    assert {load.point for load in loads} == {"grip_r", "grip_l"}
    total = sum(np.array(load.force) for load in loads)
    assert total == pytest.approx([0.0, 0.0, -0.0022 * 100 * GRAVITY / 0.05])  # backward, on people


@pytest.mark.parametrize("pull", [False, True])
def test_hands_stay_on_a_bar_that_goes_on_at_the_speed(pull):
    pushed = cart(speed=1.1, bar=0.9, width=0.5, pull=pull)
    (ahead,) = parameters_of(pushed)
    assert (ahead.name, ahead.free) == ("ahead", True)
    assert (ahead.lower, ahead.upper) == REACH[pull]
    rule = next(each for each in pushed.constraints if each.name == "bar.l")
    for t in (0.0, 0.4):
        there = Hands(t, grip_l=(0.25, 0.9, 0.3 + 1.1 * t))
        assert np.array(rule.function(there)).ravel() == pytest.approx([0.0, 0.0, 0.3])
    assert nominal(rule.upper_of(2) - rule.lower_of(2)) == pytest.approx(0.01)


def test_a_cart_is_drawn_on_the_floor_before_the_hands_or_behind_them():
    for bar, wheels, pull in ((1.0, 0.051, False), (0.2, 0.3, False), (0.9, 0.1, True)):
        *_, wheel = parts = cart_at_hands(bar, 0.45, wheels, pull)
        back, high = np.array(wheel.pose)[1:3, 3]
        assert high == pytest.approx(wheels - bar) and (back > 0) == pull  # from the bar
        assert {each.between for each in parts} == {("grip_r", "grip_l")}


def test_a_carried_box_weighs_in_the_hands_and_stays_before_the_body():
    light, heavy = carry(box=2.0), carry(box=12.0)
    assert body_weight(heavy.tree) - body_weight(light.tree) == pytest.approx(10 * 9.81)
    held = in_both_hands(0.4, 0.05, 0.32)
    posture = Hands(
        grip_r=(-0.2, 1.1, 0.32), grip_l=(0.2, 1.1, 0.32), L5S1=np.array((0.0, 1.05, 0.0))
    )
    here = np.array(held.function(posture)).ravel()
    assert here == pytest.approx([0.0, 0.0, 0.0, 0.05, 0.32])
    lower, upper = (
        np.array([side(k) for k in range(5)]) for side in (held.lower_of, held.upper_of)
    )
    assert (lower < here).all() and (here < upper).all()


def test_a_lift_to_the_side_frees_both_sides_and_ends_there():
    turned = aside(turn=90.0)
    assert turned.tree.dof == 44
    goal = next(each.lower for each in turned.constraints if each.name == "hands.end")
    assert np.mean([goal[:3], goal[3:]], axis=0) == pytest.approx((0.46, 1.37, 0.0))


@pytest.mark.parametrize(
    "made, message",
    [
        (lambda: cart(floor="ice"), "floor: expected one of concrete, tile, asphalt, carpet"),
        (lambda: cart(cart=-1.0), "cart: expected a mass of at least 0 kg"),
        (lambda: cart(wheels=0.0), "wheels: expected a positive radius in m"),
        (lambda: cart(bar=0.0), "bar: expected a positive length in m"),
        (lambda: carry(box=0.0), "box: expected a positive number"),
        (lambda: aside(turn=0.0), "turn: expected more than 0 and at most 90 deg"),
    ],
)
def test_what_cannot_be_handled_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()


def test_arms_that_hold_something_are_not_spared_as_those_that_hang():
    free, busy = walk(gait=Gait(speed=1.0, step=0.53)), busy_step(speed=1.0, step=0.53)
    terms = [term.name for _, term in free.objective.terms]
    assert [term.name for _, term in busy.objective.terms] == [
        name for name in terms if name != "arms"
    ]
    left = {each.name for each in free.constraints} - {each.name for each in busy.constraints}
    assert left == {"coupling", "avoidance"} and busy.tree == free.tree
    plain = busy_step(speed=1.0, step=0.53, objective="effort")
    assert [term.name for _, term in plain.objective.terms] == ["dynamic_effort", "smoothness"]
