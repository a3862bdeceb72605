"""Contact: pins hold and let go when they should, polygons and pyramids bound what they say, limbs keep together or apart."""

from dataclasses import replace
from functools import lru_cache
from math import inf

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, posture, rows, steps, wrench_of, wrenches_on
from ocp.models.human import CONTACTS, FEET, human, mirror
from ocp.problems.gait.stance import BALL_OFF, FLAT, HEEL_OFF, TOE_OFF, UP, stance
from random_trees import random_motion, random_tree

from ocp.dynamics.newton_euler import inverse
from ocp.mechanics import kinematics
from ocp.mechanics.loads import Wrench
from ocp.mechanics.zero_moment import body_weight, hull, resultant
from ocp.problem import (
    apart,
    foot_contact,
    friction,
    linear_split,
    no_penetration,
    pressure_inside,
    swing_together,
    unilateral,
    zmp_inside,
)
from ocp.problem.ground import Foot, Ground, Pin, Support
from ocp.problem.instant import Forces, Instant
from ocp.problem.reactions import Reaction, two_pass
from ocp.problem.statement import Span
from ocp.problem.symmetry import mirrored

NEAR = 1e-3  # of s: away from a switch, yet in the part next to it


@lru_cache(maxsize=None)
def gait():
    """The human's ground, and the contact constraints of one mirrored step by name."""
    body = human()
    ground = stance(body, 0.6, 0.1)
    return ground, {
        constraint.name: constraint
        for constraint in foot_contact(ground, symmetry=mirrored(body, *mirror(body)))
    }


def held(constraints, s):
    """(point, axis) that constraints hold at the instant s, with repetitions."""
    return [
        label
        for constraint in constraints
        for label in constraint.labels
        if constraint.when.holds(s)
    ]


def push_at(point, force, twist=0.0):
    """Wrench (moment about the origin, force) of a force and a vertical moment at a point."""
    return wrench_of(np.cross(point, force) + (0, 0, twist), force)


# Pins ------------------------------------------------------------------------------------------------------------------------


def test_pins_hold_from_strike_to_toe_off_and_nothing_twice():
    ground, contact = gait()
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
        "heel_r.x",
        "heel_r.y",
        "heel_r.z",
        "ball_med_l.x",
        "ball_med_l.y",
        "ball_med_l.z",
        "ball_lat_l.y",
        "toe_l.x",
        "toe_l.y",
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


def test_the_strike_is_free_to_come_at_speed():
    _, contact = gait()
    slip = [constraint for name, constraint in contact.items() if name.startswith("slip")]
    assert not any(name.startswith("heel_r") for name in held(slip, 0.0)) and "heel_r.y" in held(
        slip, NEAR
    )
    assert "ball_med_l.y" in held(slip, 0.0)  # who stands already does not strike
    later = {constraint.name: constraint for constraint in foot_contact(steps(strike=0.25))}
    assert not later["slip.right.1"].when.holds(0.25) and later["contact.right.1"].when.holds(0.25)
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
    assert (
        (place.lower, place.upper, slip.lower, slip.upper) == (-0.01, 0.01, -0.2, 0.2)
        and place.units == "m"
        and slip.units == "m/s"
    )


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
        assert len(above) == len(set(above)) and not {f"{name}.y" for name in above} & set(
            held(contact, s)
        )
    tree = human()
    q = ca.DM(np.random.default_rng(2).uniform(-0.3, 0.3, tree.dof))
    at = Instant(
        tree=tree, s=0.5, T=1.0, q=q, qd=q, qdd=q, forces=Forces(inverse=inverse), ground=ground
    )
    assert rows(found[0], at) == pytest.approx(float(at.position("heel_r")[1]))


# Forces ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_pressure_rows_are_distances_from_the_edges_times_the_force(seed):
    tree, ground, rng = biped(), steps(way=0.2), np.random.default_rng(seed)
    constraint = pressure_inside(tree, ground)[0]
    corners = hull(ground.foot("right").supports[0].polygon)
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
    assert (
        constraint.name == "pressure.right.1"
        and constraint.lower == 0
        and constraint.when == Span(start=0.25, end=1.0)
    )


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
    assert found(heel, 100.0).min() == pytest.approx(0, abs=1e-15) and np.all(
        found(center, 0.0) == 0
    )


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
    assert (
        rows(together, wrenches_on(tree, ground, wrenches)) * body_weight(tree)
        == pytest.approx(250)
        and together.lower == 0.2
    )
    assert [constraint.name for constraint in unilateral(tree, ground)] == [
        "unilateral"
    ] and each.labels == ("right", "left")


def test_the_zero_moment_point_stays_in_the_hull_of_who_bears():
    """The phases of the contact schedule; at a switch both neighbours hold, but at strike and toe-off only who bears there."""
    ground = gait()[0]
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
    assert {constraint.when for constraint in found} == set(expected) and len(
        {constraint.name for constraint in found}
    ) == 6
    for constraint in found:
        corners = hull(expected[constraint.when], UP)
        assert len(constraint.labels) == len(corners)
        point, weight = corners.mean(axis=0), np.array((0.0, 700.0, 0.0))
        ends = np.roll(corners, -1, axis=0)
        nearest = np.linalg.norm(
            np.cross(ends - corners, point - corners), axis=1
        ) / np.linalg.norm(ends - corners, axis=1)
        at = wrenches_on(human(), ground, {("left", "toe_ext_l"): push_at(point, weight)})
        assert rows(constraint, at) == pytest.approx(nearest * 700 / body_weight(human()))


@pytest.mark.parametrize("seed", range(3))
def test_the_linear_split_vanishes_for_the_shares_of_two_passes_and_for_no_others(seed):
    tree, ground = biped(), steps(way=0.3)
    q, qd, qdd = map(ca.DM, posture(tree, np.random.default_rng(seed)))
    total = resultant(tree, kinematics.poses(tree, q), inverse(tree, q, qd, qdd))
    wrenches = two_pass(ground, 0.5, total)
    (constraint,) = linear_split(tree, ground)
    assert (
        constraint.when == Span(start=0.25, end=0.6, open_start=True, open_end=True)
        and len(constraint.labels) == 6
    )
    assert np.abs(rows(constraint, wrenches_on(tree, ground, wrenches))).max() < 1e-12
    gift = ca.DM((0, 0, 10))
    moved = {
        slot: replace(wrench, force=wrench.force + (gift if slot[0] == "right" else -gift))
        for slot, wrench in wrenches.items()
    }
    found = rows(constraint, wrenches_on(tree, ground, moved)) * body_weight(tree)
    assert found == pytest.approx((0, 0, 0, 0, 0, 10), abs=1e-9)


def test_the_linear_split_holds_once_at_every_instant_of_double_support():
    spans = [constraint.when for constraint in linear_split(human(), gait()[0])]
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
    assert [bool(constraint.when.holds(0.3)) for constraint in contact] == [True, False] and held(
        contact, 0.3
    ) == ["heel.x", "heel.z"]


# Limbs -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_an_offset_is_as_long_as_the_distance_and_ignores_what_carries_both(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(3, 11)), branching=0.6)
    q = ca.SX.sym("q", tree.dof)
    start, end = (tree.points[k].name for k in rng.choice(len(tree.points), size=2, replace=False))
    vector = kinematics.offset(tree, q, start, end)
    both = ca.Function(
        "both",
        [q],
        [
            ca.norm_2(vector),
            ca.norm_2(kinematics.position(tree, q, end) - kinematics.position(tree, q, start)),
        ],
    )
    for _ in range(3):
        short, full = both(random_motion(rng, tree)[0])
        assert float(short) == pytest.approx(float(full), rel=1e-12)
    chains = []
    for name in (start, end):
        k, chain = tree.link_index(tree.point(name).link), set()
        while k >= 0:
            chain.add(k)
            k = tree.parents[k]
        chains.append(chain)
    moved = {tree.rows[k] for k in chains[0] ^ chains[1]} - {None}
    used = {row for row in range(tree.dof) if ca.depends_on(vector, q[row])}
    assert used <= moved


def test_spheres_touch_at_the_sum_of_their_radii():
    tree = biped()
    q = ca.DM(posture(tree, np.random.default_rng(4))[0])
    at = Instant(tree=tree, s=0.0, T=1.0, q=q, qd=q, qdd=q, forces=Forces(inverse=inverse))
    distance = float(ca.norm_2(at.position("toe_left") - at.position("toe_right")))
    constraint = apart(
        "feet", [(("toe_left", 0.03), ("toe_right", 0.05)), (("head", 0.1), ("toe_left", 0.1))]
    )
    assert constraint.lower == pytest.approx((0.08**2, 0.2**2)) and constraint.labels == (
        "toe_left and toe_right",
        "head and toe_left",
    )
    assert rows(constraint, at)[0] == pytest.approx(distance**2)


@pytest.mark.parametrize(("hips", "sign"), [((0.3, 0.2), 1), ((-0.3, -0.2), 1), ((0.3, -0.2), -1)])
def test_limbs_that_swing_together_reach_to_the_same_side(hips, sign):
    tree = biped()
    q = np.zeros(tree.dof)
    q[[tree.coordinate(f"hip_{side}") for side in ("right", "left")]] = hips
    at = Instant(
        tree=tree,
        s=0.0,
        T=1.0,
        q=ca.DM(q),
        qd=ca.DM(q),
        qdd=ca.DM(q),
        forces=Forces(inverse=inverse),
    )
    constraint = swing_together(
        "coupling", ("head", "toe_right"), ("head", "toe_left"), along=(1, 0, 0)
    )
    reaches = [float(at.position(f"toe_{side}")[0]) for side in ("right", "left")]
    assert rows(constraint, at) == pytest.approx(np.prod(reaches)) and constraint.lower == 0


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
    assert (
        np.array(ca.DM(reaction.moment())).ravel().tolist() == [2, 3, 13]
        and float(reaction.push()) == 15
    )
