"""Reactions: the ground supplies what the motion demands, and feet share it without remainder."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, stacked, steps, wrench_of
from stances import BALL_OFF, FLAT, HEEL_OFF, TOE_OFF

from ocp import BSpline, Load, Problem, effort
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import body_weight
from ocp.mechanics.kinematics import kinematics
from ocp.models.human import ROOT, human
from ocp.problem import (
    Plane,
    Reaction,
    bearing_slots,
    in_force,
    share_reaction,
    slots,
    two_pass,
    zero_moment_point,
)
from ocp.problem.contact.transmitted_wrenches import is_corrected
from ocp.problems.gait.statement.contact_schedule import stance
from ocp.transcription.kernels.motion_traces import trace

INSTANTS = (0.0, 0.05, BALL_OFF, 0.13, FLAT, 0.18, TOE_OFF, 0.4, HEEL_OFF, 0.8, 1.0)
STENCIL = dict(
    zip((1, 2, 3, 4), (4 / 5, -1 / 5, 4 / 105, -1 / 280))
)  # of the first derivative, eighth order


@cache
def walker():
    """The human on the ground of one step, its Instant as functions of (q, qd, qdd) and s."""
    body = human()
    problem = Problem(
        tree=body,
        motion=BSpline(points=4),
        duration=1.0,
        objective=effort(),
        ground=stance(body, 0.6, 0.1),
    )
    names, parts = slots(problem.ground), {}

    def everything(at):
        parts.update(
            unsupported=at.torques_without_ground,
            needed=at.required_torques,
            moment=at.reaction.moment(),
            force=at.reaction.force(),
            zmp=at.reaction.pressure(),
            center=kinematics.center_of_mass(body, at.q),
        )
        parts.update({slot: stacked(at.reaction.wrenches[slot]) for slot in names})
        return ca.vertcat(*parts.values())

    compiled = trace(problem, FORMULATIONS["newton_euler"], everything)
    cuts = np.cumsum([part.shape[0] for part in parts.values()])[:-1]

    def look(motion, s):
        values = compiled(np.concatenate(motion)[:, None], np.array([s]))[:, 0]
        return dict(zip(parts, np.split(values, cuts)))

    q, qd = ca.SX.sym("q", body.dof), ca.SX.sym("qd", body.dof)
    return (
        problem,
        look,
        ca.Function("momentum", [q, qd], [ca.vertcat(*kinematics.momentum(body, q, qd))]),
    )


def striding(body, seed):
    """A random posture and motion of a human."""
    rng = np.random.default_rng(seed)
    q = np.array([rng.uniform(*np.clip(joint.position, -1, 1)) for joint in body.moving])
    return q, *rng.uniform(-1, 1, (2, body.dof)) * [[1.0], [2.0]]


def growth(motion, momentum, step=4e-3):
    """Time derivative of the momentum along q + qd t + qdd t^2 / 2, by differences."""
    q, qd, qdd = motion

    def at(t):
        return np.array(momentum(q + qd * t + qdd * t**2 / 2, qd + qdd * t)).ravel()

    return sum(weight * (at(k * step) - at(-k * step)) for k, weight in STENCIL.items()) / step


def test_the_ground_supplies_what_momentum_gains_beside_gravity():
    for seed in range(6):
        problem, look, momentum = walker()
        body, motion = problem.tree, striding(problem.tree, seed)
        found = look(motion, 0.4)
        weight = body_weight(body) * np.array((0, -1, 0))
        pull = np.concatenate([np.cross(found["center"], weight), weight])
        wanted = growth(motion, momentum) - pull
        assert (
            np.abs(np.concatenate([found["moment"], found["force"]]) - wanted).max()
            <= 1e-9 * np.abs(wanted).max()
        )


@pytest.mark.parametrize("s", INSTANTS)
def test_wrenches_applied_as_loads_leave_nothing_for_the_root(s):
    problem, look, _ = walker()
    body, motion = problem.tree, striding(problem.tree, 7)
    found, loads, carriers = look(motion, s), [], set()
    for slot in slots(problem.ground):
        moment, force = np.split(found[slot], 2)
        if not force.any():
            assert slot not in bearing_slots(problem.ground, s) and not moment.any()
            continue
        assert slot in bearing_slots(problem.ground, s)
        point = next(point for point in body.points if point.link == slot[1])
        place = np.array(kinematics.position(body, ca.DM(motion[0]), point)).ravel()
        loads.append(Load(point=point.name, force=force, moment=moment - np.cross(place, force)))
        k = body.link_index(slot[1])
        while k >= 0:
            carriers.add(body.rows[k])
            k = body.parents[k]
    needed = np.array(inverse(body, *map(ca.DM, motion), tuple(loads))).ravel()
    scale = np.abs(found["unsupported"]).max()
    rows = [body.coordinate(name) for name in ROOT]
    assert np.abs(needed[rows]).max() <= 1e-9 * scale
    assert np.abs(found["unsupported"][rows]).max() > 0.1 * scale
    assert np.abs(found["needed"] - needed).max() <= 1e-9 * scale
    apart = [row for row in range(body.dof) if row not in carriers]
    legs = {body.moving[row].name for row in carriers} - set(ROOT)
    assert len(loads) == len(bearing_slots(problem.ground, s)) and len(apart) >= body.dof - 20
    assert {name.rsplit("_", 2)[0] for name in legs} <= {"hip", "knee", "ankle", "toe"}
    assert np.abs((found["needed"] - found["unsupported"])[apart]).max() <= 1e-12 * scale


def test_about_the_zero_moment_point_only_the_moment_about_the_normal_is_left():
    for seed in range(4):
        problem, look, _ = walker()
        found = look(striding(problem.tree, 20 + seed), 0.4)
        left = found["moment"] - np.cross(found["zmp"], found["force"])
        assert np.abs(left[[0, 2]]).max() <= 1e-9 * np.abs(found["moment"]).max()
        assert abs(found["zmp"][1]) < 1e-12
        reaction = Reaction(
            ground=problem.ground,
            wrenches={("left", ""): wrench_of(found["moment"], found["force"])},
        )
        assert float(reaction.twist()) == pytest.approx(left[1])
        assert float(reaction.push("left")) == pytest.approx(found["force"][1])
        assert np.allclose(
            np.array(ca.DM(reaction.lever())).ravel() / found["force"][1], found["zmp"], atol=1e-12
        )
        assert np.array(ca.DM(reaction.force("right"))).ravel().tolist() == [0, 0, 0]


def test_who_stands_still_weighs_upon_the_projection_of_the_centre_of_mass():
    problem, look, _ = walker()
    q = striding(problem.tree, 3)[0]
    found = look((q, 0 * q, 0 * q), 0.4)
    assert found["force"] == pytest.approx((0, 75 * 9.81, 0), abs=1e-9)
    assert found["zmp"] == pytest.approx(found["center"] * (1, 0, 1), abs=1e-12)


def totals(wrenches):
    """Moment and force of all wrenches together, (6,)."""
    return sum(np.array(ca.DM(stacked(wrench))).ravel() for wrench in wrenches.values())


def share_of(wrenches, foot, whole):
    """The share of the whole force that one foot bears."""
    force = sum(
        np.array(ca.DM(wrench.force)).ravel()
        for (name, _), wrench in wrenches.items()
        if name == foot
    )
    return float(force @ whole / (whole @ whole))


@pytest.mark.parametrize("s", [0.0, 0.2, 0.25, 0.3, 0.5, 0.6, 0.9, 1.0])
def test_two_passes_share_the_resultant_without_remainder(s):
    for seed in range(3):
        ground, rng = steps(way=0.3), np.random.default_rng(seed)
        moment = 50 * rng.standard_normal(3)
        force = np.array((30, 20, 300)) * rng.uniform(0.2, 1, 3)
        found = two_pass(ground, s, wrench_of(moment, force))
        assert totals(found) == pytest.approx(np.concatenate([moment, force]), rel=1e-12, abs=1e-10)
        point = np.array(zero_moment_point(ground, wrench_of(moment, force))).ravel()
        for (foot, _), wrench in found.items():  # each at its own centre, all moved alike
            if len(bearing_slots(ground, s)) == 1 and share_of(found, foot, force) > 0:
                assert np.allclose(np.array(zero_moment_point(ground, wrench)).ravel(), point)
        symbol = ca.SX.sym("s")
        graph = two_pass(ground, symbol, wrench_of(moment, force))
        by_graph = ca.Function("shares", [symbol], [stacked(graph[slot]) for slot in found])(s)
        assert all(
            np.allclose(np.array(part).ravel(), totals({0: found[slot]}))
            for slot, part in zip(found, by_graph)
        )


@pytest.mark.parametrize("along", [-0.3, 0.0, 0.2, 0.5, 0.8, 1.0, 1.4])
def test_on_the_line_of_centres_shares_are_linear_in_the_distances(along):
    ground = steps(way=0.3)
    right, left = (np.array(ground.foot(name).center) for name in ("right", "left"))
    point, force = left + along * (right - left), np.array((3.0, -2.0, 400.0))
    found = two_pass(ground, 0.4, wrench_of(np.cross(point, force), force))
    far = {
        name: np.linalg.norm(point - center) for name, center in (("left", left), ("right", right))
    }
    expected = far["left"] / (far["left"] + far["right"]) if 0 <= along <= 1 else float(along > 0.5)
    assert share_of(found, "right", force) == pytest.approx(expected)
    assert share_of(found, "left", force) == pytest.approx(1 - expected)
    if 0 < along < 1:  # no common shift: each at its own centre
        for (foot, _), wrench in found.items():
            assert np.array(zero_moment_point(ground, wrench)).ravel() == pytest.approx(
                ground.foot(foot).center, abs=1e-12
            )


def test_a_foot_bears_strictly_between_strike_and_toe_off():
    ground, force = steps(strike=0.25, leave=0.6), np.array((0.0, 0.0, 100.0))
    for s, right in (
        (0.0, 0),
        (0.25, 0),
        (0.25 + 1e-6, 0.5),
        (0.4, 0.5),
        (0.6 - 1e-6, 0.5),
        (0.6, 1),
        (1.0, 1),
    ):
        found = two_pass(ground, s, wrench_of((0, 0, 0), force))
        assert share_of(found, "right", force) == pytest.approx(right)
        assert share_of(found, "left", force) == pytest.approx(1 - right)


def test_at_a_switch_the_later_way_of_standing_takes_the_wrench():
    ground = stance(human(), 0.6, 0.1)
    right = ground.foot("right")
    assert ground.switches == (BALL_OFF, FLAT, TOE_OFF, HEEL_OFF)
    assert [in_force(right, s).link for s in (0.0, FLAT, HEEL_OFF - 0.01, HEEL_OFF, 1.0)] == [
        "ankle_inv_r"
    ] * 3 + ["toe_ext_r"] * 2
    assert [len(in_force(right, s).pins) for s in (BALL_OFF, FLAT)] == [1, 4]
    assert in_force(ground.foot("left"), TOE_OFF + 0.01) is None
    assert bearing_slots(ground, 0.0) == (("left", "toe_ext_l"),)
    assert bearing_slots(ground, TOE_OFF) == (("right", "ankle_inv_r"),)
    assert slots(ground) == (
        ("right", "ankle_inv_r"),
        ("right", "toe_ext_r"),
        ("left", "toe_ext_l"),
    )
    found = two_pass(ground, HEEL_OFF, wrench_of((0, 0, 7), (0, 700, 0)))
    assert float(found["right", "ankle_inv_r"].force[1]) == 0
    assert float(found["right", "toe_ext_r"].force[1]) == pytest.approx(700)


def test_what_a_foot_bears_more_goes_through_its_centre():
    ground, more = steps(way=0.3), np.array([4.0, -7.0, 60.0])
    given = {name: wrench_of((0, 0, 0), (0, 0, 100)) for name in ("right", "left")}
    middle = np.mean([ground.foot(name).center for name in given], axis=0)
    found = share_reaction(
        ground, 0.4, given, wrench_of(np.cross(middle, more), more + (0, 0, 200))
    )
    for name in given:
        center, wrench = ground.foot(name).center, found[name, f"knee_{name}"]
        assert np.array(wrench.force).ravel() == pytest.approx(more / 2 + (0, 0, 100))
        assert np.array(wrench.moment).ravel() == pytest.approx(np.cross(center, more / 2))


def test_known_wrenches_are_corrected_to_balance_and_left_alone_if_they_do():
    for seed in range(4):
        ground, rng = steps(way=0.3), np.random.default_rng(seed)
        given = {
            name: wrench_of(
                20 * rng.standard_normal(3), (*rng.standard_normal(2), rng.uniform(10, 200))
            )
            for name in ("right", "left")
        }
        total = wrench_of(30 * rng.standard_normal(3), (5, 9, 300))
        found = share_reaction(ground, 0.4, given, total)
        assert totals(found) == pytest.approx(
            np.array(stacked(total)).ravel(), rel=1e-12, abs=1e-10
        )
        gain = {
            name: np.array(found[name, f"knee_{name}"].force - given[name].force).ravel()
            for name in given
        }
        pushes = {name: float(wrench.force[2]) for name, wrench in given.items()}
        assert np.allclose(
            gain["right"] * pushes["left"], gain["left"] * pushes["right"]
        )  # the heavier foot takes more of it
        both = wrench_of(*np.split(totals(given), 2))
        balanced = share_reaction(ground, 0.4, given, both)
        assert all(
            np.allclose(
                totals({0: balanced[name, f"knee_{name}"]}), totals({0: given[name]}), atol=1e-12
            )
            for name in given
        )
        alone = given | {"left": wrench_of((0, 0, 0), (0, 0, 0))}
        assert totals(
            {0: share_reaction(ground, 0.8, alone, total)["right", "knee_right"]}
        ) == pytest.approx(totals(found))


def test_while_no_foot_bears_nobody_gets_anything():
    short = steps(way=0.3)
    short = replace(short, feet=tuple(replace(foot, bears=(0.0, 1.0)) for foot in short.feet))
    given = {name: wrench_of((1, 2, 3), (4, 5, 6)) for name in ("right", "left")}
    for s in (0.0, 1.0):
        found = share_reaction(short, s, given, wrench_of((0, 0, 0), (0, 0, 1)))
        assert not totals(found).any()


def test_feet_on_planes_of_their_own_take_more_by_their_own_normals():
    ground, lean = steps(way=0.3), (0.0, np.sin(0.5), np.cos(0.5))
    slope = replace(ground.foot("left"), plane=Plane(normal=lean, point=(0.0, 0.0, -0.2)))
    uneven = replace(ground, feet=(ground.foot("right"), slope))
    assert is_corrected(biped(), uneven)
    given = {
        "right": wrench_of((0, 0, 0), (0, 0, 100)),
        "left": wrench_of((0, 0, 0), tuple(100 * np.array(lean))),
    }
    total = wrench_of((3, -4, 5), (20, 60, 250))
    found = share_reaction(uneven, 0.4, given, total)
    assert totals(found) == pytest.approx(np.array(stacked(total)).ravel(), abs=1e-10)
    gains = [
        np.array(found[name, f"knee_{name}"].force - given[name].force).ravel() for name in given
    ]
    np.testing.assert_allclose(*gains)  # each pushes its plane with 100 N
