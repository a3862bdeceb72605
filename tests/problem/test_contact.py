"""Contact: pins hold and let go when they should, and points stay above the ground."""

from functools import cache
from math import inf

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, posture, rows, steps
from stances import BALL_OFF, FLAT, HEEL_OFF, TOE_OFF

from ocp import Foot, Ground, Instant, Pin, Support
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.models.human import CONTACTS, FEET, human, mirror
from ocp.problem import Span, foot_contact, mirror_symmetry, no_penetration
from ocp.problem.instant import Forces
from ocp.problems.gait.statement.contact_schedule import stance

NEAR = 1e-3  # of s: away from a switch, yet in the part next to it


@cache
def gait():
    """The human's ground, and the contact constraints of one mirrored step by name."""
    body = human()
    ground = stance(body, 0.6, 0.1)
    return ground, {
        constraint.name: constraint
        for constraint in foot_contact(ground, symmetry=mirror_symmetry(body, *mirror(body)))
    }


def held(constraints, s):
    """(point, axis) that constraints hold at the instant s, with repetitions."""
    return [
        label
        for constraint in constraints
        for label in constraint.labels
        if constraint.when.holds(s)
    ]


def test_pins_hold_from_strike_to_toe_off_and_nothing_twice():
    _, contact = gait()
    place, slip = (
        [constraint for name, constraint in contact.items() if name.startswith(kind)]
        for kind in ("contact", "slip")
    )
    assert len(place) == len(slip) == 5
    for s in (0.0, 0.05, BALL_OFF, 0.12, FLAT, 0.18, TOE_OFF, 0.4, HEEL_OFF, 0.8, 1.0):
        for group in (place, slip):
            names = held(group, s)
            assert len(names) == len(set(names)), f"asked twice at s = {s}"
    assert set(held(place, 0.0)) == {
        *("heel_r.x", "heel_r.y", "heel_r.z", "ball_med_l.x", "ball_med_l.y", "ball_med_l.z"),
        *("ball_lat_l.y", "toe_l.x", "toe_l.y"),
    }
    assert set(held(place, TOE_OFF)) >= {
        "toe_l.x",
        "toe_l.y",
        "toe_l.z",
        "heel_r.y",
        "ball_med_r.y",
        "toe_r.y",
    }
    assert all(name.split(".")[0].endswith("_r") for name in held(place, TOE_OFF + NEAR))


def test_a_foot_is_as_slow_when_it_strikes_as_while_it_stands():
    """Rates are continuous: a bound that held from the strike on only would be broken after it."""
    _, contact = gait()
    slip = [constraint for name, constraint in contact.items() if name.startswith("slip")]
    for name in ("heel_r.x", "heel_r.y", "heel_r.z", "ball_med_l.y"):
        assert name in held(slip, 0.0) and name in held(slip, NEAR)
    later = {constraint.name: constraint for constraint in foot_contact(steps(strike=0.25))}
    assert later["slip.right.1"].when.holds(0.25) and later["contact.right.1"].when.holds(0.25)
    assert later["slip.left.1"].when.holds([0.0, 0.6]).all()


def test_at_a_switch_the_support_with_more_pins_holds():
    _, contact = gait()
    when = {
        name: [bool(contact[f"contact.{name}"].when.holds(s)) for s in (BALL_OFF, FLAT, HEEL_OFF)]
        for name in ("right.1", "right.2", "right.3", "left.1", "left.2")
    }
    assert when == {
        "right.1": [True, False, False],
        "right.2": [False, True, True],
        "right.3": [False, False, False],
        "left.1": [True, False, False],
        "left.2": [False, True, False],
    }


def test_what_the_next_support_holds_is_slow_at_the_switch_to_it_too():
    """Toes that pivot once the ball is off, alone: no pin of a later foot is held twice."""
    ground, _ = gait()
    usual = {each.name: each for each in foot_contact(ground)}
    more = {each.name: each for each in foot_contact(ground, switches=True)}
    added = [more[name] for name in more if name not in usual]
    assert {name: more[name].when for name in usual} == {k: c.when for k, c in usual.items()}
    assert "toe_l.z" not in held(usual.values(), BALL_OFF)
    for constraint, switch in ((added[0], HEEL_OFF), (added[1], BALL_OFF)):
        assert constraint.when.holds(switch)
        assert not constraint.when.holds([switch - NEAR, switch + NEAR]).any()
    assert [each.labels for each in added] == [("ball_med_r.z", "toe_r.x"), ("toe_l.z",)]


def test_what_the_start_asks_of_a_mirrored_step_the_end_does_not_ask_again():
    ground, contact = gait()
    assert held(contact.values(), 1.0) == [] and held(contact.values(), 1.0 - NEAR) != []
    assert set(held(foot_contact(ground), 1.0)) == {
        "ball_med_r.x",
        "ball_med_r.y",
        "ball_med_r.z",
        "ball_lat_r.y",
        "toe_r.x",
        "toe_r.y",
    }


def test_pins_measure_the_distance_from_their_targets_and_the_speed():
    tree, ground = biped(), steps(way=0.2)
    q, qd, qdd = map(ca.DM, posture(tree, np.random.default_rng(1)))
    at = Instant(
        tree=tree, s=0.5, T=1.0, q=q, qd=qd, qdd=qdd, forces=Forces(inverse=inverse), ground=ground
    )
    place, slip, *_ = foot_contact(ground, position=0.01, velocity=0.2)
    assert rows(place, at) == pytest.approx(
        np.array(at.position("heel_right")).ravel()
        - ground.foot("right").supports[0].pins[0].target
    )
    assert rows(slip, at) == pytest.approx(np.array(at.velocity("heel_right")).ravel())
    assert (place.lower, place.upper, slip.lower, slip.upper) == (-0.01, 0.01, -0.2, 0.2)
    assert place.units == "m"
    assert slip.units == "m/s"


def test_points_stay_above_ground_while_nothing_pins_their_height():
    ground = gait()[0]
    found = no_penetration(ground, {side: sum(CONTACTS[side].values(), ()) for side in FEET})
    spans = {constraint.labels[0]: [] for constraint in found}
    for constraint in found:
        spans[constraint.labels[0]].append((constraint.when.start, constraint.when.end))
        assert constraint.lower == 0 and constraint.upper == inf
    assert spans == {
        "heel_r": [(HEEL_OFF, 1.0)],
        "ball_med_r": [(0.0, FLAT)],
        "ball_lat_r": [(0.0, FLAT)],
        "toe_r": [(0.0, FLAT)],
        "heel_l": [(0.0, 1.0)],
        "ball_med_l": [(BALL_OFF, 1.0)],
        "ball_lat_l": [(BALL_OFF, 1.0)],
        "toe_l": [(TOE_OFF, 1.0)],
    }
    contact = [constraint for name, constraint in gait()[1].items() if name.startswith("contact")]
    for s in np.union1d(np.linspace(0, 1, 41), ground.switches)[
        :-1
    ]:  # exactly one of the two says where each is
        above = held(found, s)
        assert len(above) == len(set(above))
        assert not {f"{name}.y" for name in above} & set(held(contact, s))
    tree = human()
    q = ca.DM(np.random.default_rng(2).uniform(-0.3, 0.3, tree.dof))
    at = Instant(
        tree=tree, s=0.5, T=1.0, q=q, qd=q, qdd=q, forces=Forces(inverse=inverse), ground=ground
    )
    assert rows(found[0], at) == pytest.approx(float(at.position("heel_r")[1]))


def test_a_foot_may_rest_and_stand_again():
    supports = [
        Support(link="a", when=when, pins=[Pin(point="heel")]) for when in ((0, 0.3), (0.6, 1))
    ]
    twice = Foot(name="right", center=(0, 0, 0), supports=supports)
    other = Foot(name="left", center=(0, 1, 0), supports=[Support(link="b", when=(0.2, 0.7))])
    ground = Ground(feet=(twice, other))
    assert ground.switches == (0.2, 0.3, 0.6, 0.7)
    found = no_penetration(ground, {"right": ["heel"], "left": []})
    assert [(constraint.name, constraint.when) for constraint in found] == [
        ("penetration.heel", Span(start=0.3, end=0.6, open_start=True, open_end=True))
    ]
    assert [constraint.name for constraint in foot_contact(ground)] == [
        "contact.right.1",
        "slip.right.1",
        "contact.right.2",
        "slip.right.2",
    ]


def test_of_two_supports_with_as_many_pins_the_earlier_one_holds():
    supports = [
        Support(link="a", when=when, pins=[Pin(point="heel", axes="xz")])
        for when in ((0, 0.3), (0.3, 1))
    ]
    contact = [
        constraint
        for constraint in foot_contact(
            Ground(feet=[Foot(name="right", center=(0, 0, 0), supports=supports)])
        )
        if constraint.name.startswith("contact")
    ]
    assert [bool(constraint.when.holds(0.3)) for constraint in contact] == [True, False]
    assert held(contact, 0.3) == ["heel.x", "heel.z"]
