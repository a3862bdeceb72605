"""Balance: polygons, pyramids and shares bound what they say."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, posture, rows, steps, wrench_of, wrenches_on
from stances import BALL_OFF, FLAT, HEEL_OFF, TOE_OFF

from ocp import Foot, Ground, Pin, Support
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import Wrench, body_weight, convex_hull, resultant
from ocp.mechanics.kinematics import kinematics
from ocp.models.human import human
from ocp.problem import (
    Reaction,
    Span,
    dissipation,
    friction,
    linear_split,
    pressure_inside,
    two_pass,
    unilateral,
    zmp_inside,
)
from ocp.problem.instant import Forces
from ocp.problems.gait.statement.contact_schedule import UP, stance, standing_exactly


def push_at(point, force, twist=0.0):
    """Wrench (moment about the origin, force) of a force and a vertical moment at a point."""
    return wrench_of(np.cross(point, force) + (0, 0, twist), force)


def test_pressure_rows_are_distances_from_the_edges_times_the_force():
    for seed in range(5):
        tree, ground, rng = biped(), steps(way=0.2), np.random.default_rng(seed)
        constraint = pressure_inside(tree, ground)[0]
        corners = convex_hull(ground.foot("right").supports[0].polygon)
        force, point = (5.0, -3.0, 200.0), np.array((*rng.uniform((0.0, -0.25), (0.5, 0.05)), 0.0))
        found = rows(
            constraint,
            wrenches_on(tree, ground, {("right", "knee_right"): push_at(point, force, twist=4.0)}),
        )
        ends = np.roll(corners, -1, axis=0)
        distance = np.cross(ends - corners, point - corners)[:, 2] / np.linalg.norm(
            ends - corners, axis=1
        )
        assert found == pytest.approx(distance * 200.0 / body_weight(tree), abs=1e-12)
        assert constraint.name == "pressure.right.1"
        assert constraint.lower == 0
        assert constraint.when == Span(start=0.25, end=1.0)


def test_pressure_rows_tell_inside_from_outside_and_vanish_with_the_force():
    tree, ground = biped(), steps(way=0.2)
    constraint = pressure_inside(tree, ground)[0]
    heel, center = np.array((0.2 - 0.05, -0.1 - 0.03, 0.0)), np.array((0.25, -0.1, 0.0))

    def found(point, force):
        return rows(
            constraint,
            wrenches_on(tree, ground, {("right", "knee_right"): push_at(point, (0, 0, force))}),
        )

    assert found(center, 100.0).min() > 0 and found(2 * heel - center, 100.0).min() < 0
    assert found(heel, 100.0).min() == pytest.approx(0, abs=1e-15)
    assert np.all(found(center, 0.0) == 0)


@pytest.mark.parametrize("normal", [(0, 0, 1), UP], ids=str)
def test_the_friction_pyramid_stands_inside_the_cone(normal):
    tree, mu = biped(), 0.6
    ground = replace(steps(), normal=normal)
    (constraint,) = friction(tree, ground, coefficient=mu)
    across = [axis for axis in np.eye(3) if not axis @ normal]
    for angle in np.linspace(0, 2 * np.pi, 17):
        for steep in (
            0.69,
            0.71,
            0.99,
            1.01,
        ):  # of the cone: the pyramid's faces stand at sqrt 1/2, its edges on the cone
            pull = steep * mu * (np.cos(angle) * across[0] + np.sin(angle) * across[1])
            found = rows(
                constraint,
                wrenches_on(
                    tree,
                    ground,
                    {("right", "knee_right"): push_at(np.zeros(3), 50 * (pull + normal))},
                ),
            )
            assert (found.min() >= 0) == (
                max(abs(axis @ pull) for axis in across) <= mu / np.sqrt(2)
            )
            assert found.min() < 0 or steep < 1
    assert len(constraint.labels) == len(found) == 8


def test_friction_may_bound_the_twist_about_the_foots_centre():
    tree, ground = biped(), steps(way=0.2)
    (constraint,) = friction(tree, ground, torsion=0.02)
    assert len(constraint.labels) == 12
    for twist, wanted in ((1.9, True), (2.1, False), (-2.1, False)):
        wrench = push_at(ground.foot("right").center, (0, 0, 100), twist)
        found = rows(constraint, wrenches_on(tree, ground, {("right", "knee_right"): wrench}))
        assert (found.min() >= 0) == wanted and len(found) == 12


def test_the_ground_only_pushes():
    tree, ground = biped(), steps()
    wrenches = {
        ("right", "knee_right"): push_at((0, 0, 0), (9, 9, -50)),
        ("left", "knee_left"): push_at((0, 0, 0), (0, 0, 300)),
    }
    each, together = unilateral(tree, ground, least=0.2)
    assert rows(each, wrenches_on(tree, ground, wrenches)) * body_weight(tree) == pytest.approx(
        (-50, 300)
    )
    assert rows(together, wrenches_on(tree, ground, wrenches)) * body_weight(tree) == pytest.approx(
        250
    )
    assert together.lower == 0.2
    assert [constraint.name for constraint in unilateral(tree, ground)] == ["unilateral"]
    assert each.labels == ("right", "left")


def test_the_power_on_a_foot_is_that_of_its_torques_and_only_the_loss_is_allowed():
    tree, ground = biped(ankles=True), steps(ankles=True)
    q, qd, _ = posture(tree, np.random.default_rng(3))
    wrenches = {
        ("right", "ankle_right"): push_at((0.1, -0.1, 0.0), (9, -5, 300), twist=2.0),
        ("left", "ankle_left"): push_at((0.0, 0.1, 0.0), (-7, 4, 150), twist=-3.0),
    }
    wrenches = {slot: replace(each, link=slot[1]) for slot, each in wrenches.items()}
    still = wrenches_on(tree, ground, wrenches)
    at = replace(still, q=ca.DM(q), qd=ca.DM(qd))
    known = {
        foot: float(ca.dot(replace(at, forces=alone(slot, wrench)).ground_torques, at.qd))
        for (foot, _), (slot, wrench) in zip(wrenches, wrenches.items())
    }
    rules = dissipation(tree, ground)
    assert [rule.name for rule in rules] == ["dissipation.right.1", "dissipation.left.1"]
    for rule in rules:
        assert rule.upper == 0 and rule.lower == -np.inf
        power = known[rule.labels[0]] / body_weight(tree)
        assert abs(power) > 1e-3 and rows(rule, at) == pytest.approx(power, rel=1e-12)
        assert rows(rule, still) == pytest.approx(0.0)
    assert float(at.contact_power()) == pytest.approx(sum(known.values()))


def alone(slot, wrench):
    """Forces of an instant at which one foot alone bears."""
    return Forces(inverse=inverse, ground=lambda at: {slot: wrench})


def test_no_energy_is_asked_of_the_ground_while_a_foot_bears_each_instant_once():
    spans = {each.name: each.when for each in dissipation(human(), stance(human(), 0.6, 0.1))}
    assert spans == {
        "dissipation.right.1": Span(start=0.0, end=FLAT, open_start=True),
        "dissipation.right.2": Span(start=FLAT, end=HEEL_OFF, open_start=True),
        "dissipation.right.3": Span(start=HEEL_OFF, end=1.0, open_start=True),
        "dissipation.left.1": Span(start=0.0, end=BALL_OFF),
        "dissipation.left.2": Span(start=BALL_OFF, end=TOE_OFF, open_start=True, open_end=True),
    }


def test_what_stands_exactly_gives_nothing_and_is_not_asked_to_unless_it_may_turn():
    """On its toes alone a foot turns about them, by a moment if its pressure is elsewhere."""
    ground = standing_exactly(stance(human(), 0.6, 0.1))
    asked = {each.name for each in dissipation(human(), ground)}
    assert asked == {"dissipation.right.1", "dissipation.left.2"}


def test_the_zero_moment_point_stays_in_the_hull_of_who_bears():
    """At a switch both neighbours hold, but at strike and toe-off only who bears there."""
    ground = stance(human(), 0.6, 0.1)
    found = zmp_inside(human(), ground)
    right, left = (ground.foot(name).supports for name in ("right", "left"))
    expected = {
        Span(start=0.0, end=BALL_OFF, open_start=True): right[0].polygon + left[0].polygon,
        Span(start=BALL_OFF, end=FLAT): right[0].polygon + left[1].polygon,
        Span(start=FLAT, end=TOE_OFF, open_end=True): right[1].polygon + left[1].polygon,
        Span(start=TOE_OFF, end=HEEL_OFF): right[1].polygon,
        Span(start=HEEL_OFF, end=1.0): right[2].polygon,
        Span(start=0.0, end=0.0): left[0].polygon,
    }
    assert {constraint.when for constraint in found} == set(expected)
    assert len({constraint.name for constraint in found}) == 6
    for constraint in found:
        corners = convex_hull(expected[constraint.when], UP)
        assert len(constraint.labels) == len(corners)
        point, weight = corners.mean(axis=0), np.array((0.0, 700.0, 0.0))
        ends = np.roll(corners, -1, axis=0)
        nearest = np.linalg.norm(
            np.cross(ends - corners, point - corners), axis=1
        ) / np.linalg.norm(ends - corners, axis=1)
        at = wrenches_on(human(), ground, {("left", "toe_ext_l"): push_at(point, weight)})
        assert rows(constraint, at) == pytest.approx(nearest * 700 / body_weight(human()))


def test_the_linear_split_vanishes_for_the_shares_of_two_passes_and_for_no_others():
    for seed in range(3):
        tree, ground = biped(), steps(way=0.3)
        q, qd, qdd = map(ca.DM, posture(tree, np.random.default_rng(seed)))
        total = resultant(tree, kinematics.poses(tree, q), inverse(tree, q, qd, qdd))
        wrenches = two_pass(ground, 0.5, total)
        (constraint,) = linear_split(tree, ground)
        assert constraint.when == Span(start=0.25, end=0.6, open_start=True, open_end=True)
        assert len(constraint.labels) == 6
        assert np.abs(rows(constraint, wrenches_on(tree, ground, wrenches))).max() < 1e-12
        gift = ca.DM((0, 0, 10))
        moved = {
            slot: replace(wrench, force=wrench.force + (gift if slot[0] == "right" else -gift))
            for slot, wrench in wrenches.items()
        }
        found = rows(constraint, wrenches_on(tree, ground, moved)) * body_weight(tree)
        assert found == pytest.approx((0, 0, 0, 0, 0, 10), abs=1e-9)


def test_the_linear_split_holds_once_at_every_instant_of_double_support():
    spans = [constraint.when for constraint in linear_split(human(), stance(human(), 0.6, 0.1))]
    for s, count in (
        (0.0, 0),
        (0.05, 1),
        (BALL_OFF, 1),
        (0.12, 1),
        (FLAT, 1),
        (0.18, 1),
        (TOE_OFF, 0),
        (0.5, 0),
        (1.0, 0),
    ):
        assert sum(bool(span.holds(s)) for span in spans) == count, f"s = {s}"


def test_a_reaction_adds_up_its_feet():
    ground = steps()
    reaction = Reaction(
        ground=ground,
        wrenches={
            ("right", "a"): Wrench(link="a", moment=ca.DM((1, 2, 3)), force=ca.DM((4, 5, 6))),
            ("right", "b"): Wrench(link="b", moment=ca.DM((1, 1, 1)), force=ca.DM((1, 1, 1))),
            ("left", "c"): Wrench(link="c", moment=ca.DM((0, 0, 9)), force=ca.DM((0, 0, 8))),
        },
    )
    assert np.array(ca.DM(reaction.force("right"))).ravel().tolist() == [5, 6, 7]
    assert np.array(ca.DM(reaction.moment())).ravel().tolist() == [2, 3, 13]
    assert float(reaction.push()) == 15


def planar_feet(*feet):
    """Two legs' ends as the feet of a body in the x-z plane, {name: (kind, ends along x)}."""
    tree = biped()
    supports = {
        name: Support(
            link=f"knee_{name}",
            when=(0.0, 1.0),
            pins=[Pin(point=f"heel_{name}", axes="xz", target=(ends[0], 0.0, 0.0))],
            polygon=[] if len(ends) == 1 else [(x, 0.0, 0.0) for x in ends],
            kind="point" if len(ends) == 1 else "line",
        )
        for name, ends in feet
    }
    middles = {name: (float(np.mean(ends)), 0.0, 0.0) for name, ends in feet}
    return tree, Ground(
        feet=[
            Foot(name=name, center=middles[name], supports=[each])
            for name, each in supports.items()
        ]
    )


@pytest.mark.parametrize(
    "feet, ends",
    [
        ((("left", (0.1, 0.3)),), (0.1, 0.3)),
        ((("left", (0.1, 0.3)), ("right", (0.5, 0.7))), (0.1, 0.7)),
        ((("left", (0.6, 0.7)), ("right", (0.2,))), (0.2, 0.7)),
        ((("left", (0.4,)), ("right", (0.2,))), (0.2, 0.4)),
    ],
    ids=["a line", "two lines", "a line and a point", "two points"],
)
def test_the_zero_moment_point_lies_between_the_ends_of_lines(feet, ends):
    tree, ground = planar_feet(*feet)
    (constraint,) = zmp_inside(tree, ground)
    at = wrenches_on(tree, ground, {("left", "knee_left"): push_at((0.25, 0.0, 0.0), (9, 0, 400))})
    room = rows(constraint, at) * body_weight(tree) / 400
    assert sorted(room) == pytest.approx(sorted([0.25 - ends[0], ends[1] - 0.25]))
    assert len(constraint.labels) == 2 and (constraint.lower, constraint.upper) == (0.0, np.inf)


def test_a_single_point_leaves_the_zero_moment_point_no_room():
    assert zmp_inside(*planar_feet(("left", (0.2,)))) == ()


@pytest.mark.parametrize("field", ["coefficient", "torsion"])
def test_friction_below_zero_is_refused_by_the_feets_names(field):
    words = f"^friction of 'right', 'left': {field}: expected a number of at least 0, got -0.6"
    with pytest.raises(ValueError, match=words):
        friction(biped(), steps(), **{field: -0.6})
