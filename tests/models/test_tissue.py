"""Passive tissue of people: published values, symmetry, signs, what it stores, how it grows."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

from ocp import Parameter, Spring
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import elastic_energy, element_loss, element_torques
from ocp.mechanics.elements import PassiveMoment
from ocp.models.human import (
    NAMES,
    bearing,
    human,
    mirror,
    passive,
    thighs_that_touch,
    within_ranges,
)
from ocp.problem.instant import Forces, Instant


@cache
def person(frozen=()):
    """A person with tissue, and the function (q deg, names) -> its moments (N m)."""
    tree = human(passive=True, frozen=frozen)
    q = ca.SX.sym("q", tree.dof)
    given = element_torques(tree, np.pi / 180 * q, ca.DM.zeros(tree.dof))
    return tree, ca.Function("given", [q], [given, ca.jacobian(given, q)])


def at(posture, frozen=()):
    """Moments (N m) by joint in a posture {joint: deg}, the others at 0."""
    tree, given = person(frozen)
    names = [joint.name for joint in tree.moving]
    q = [posture.get(name, 0.0) for name in names]
    return dict(zip(names, np.array(given(q)[0]).ravel()))


def test_hip_knee_and_ankle_get_what_riener_and_edrich_measured():
    given = at({"hip_flex_r": 30.0, "knee_flex_r": 60.0, "ankle_df_r": 10.0})
    hip = np.exp(1.4655 - 0.204 - 2.25) - np.exp(1.3403 - 1.356 + 0.915) + 8.072
    knee = np.exp(1.8 + 0.46 - 2.112 + 0.651) - np.exp(-3.971 + 0.004 + 2.97 - 0.384) - 4.82
    ankle = np.exp(-7.9763 - 1.949 + 0.048) - np.exp(2.1016 + 0.843 - 1.056) + 1.792
    assert given["hip_flex_r"] == pytest.approx(hip, rel=1e-12)
    assert given["knee_flex_r"] == pytest.approx(knee + np.exp(2.22 - 9.0), rel=1e-12)
    assert given["ankle_df_r"] == pytest.approx(ankle, rel=1e-12)


def test_their_moments_turn_back_from_both_ends_of_a_walk():
    assert at({"hip_flex_r": -20.0})["hip_flex_r"] > 15.0  # N m towards flexion
    assert at({"hip_flex_r": 80.0})["hip_flex_r"] < -20.0
    assert at({"knee_flex_r": -3.0})["knee_flex_r"] > 12.0
    assert at({"knee_flex_r": 120.0})["knee_flex_r"] < -10.0
    assert at({"ankle_df_r": 20.0})["ankle_df_r"] < -35.0
    assert at({"ankle_df_r": -40.0})["ankle_df_r"] > 1.5


def test_no_energy_gives_the_coupled_moments():
    _, given = person()
    rows = [NAMES.index(name) for name in ("hip_flex_r", "knee_flex_r")]
    slopes = np.array(given([0.0] * 55)[1])[np.ix_(rows, rows)]  # N m/deg
    assert slopes[0, 1] == pytest.approx(0.0226 * np.exp(1.3403) - 0.0034 * np.exp(1.4655))
    assert slopes[1, 0] == pytest.approx(0.0217 * np.exp(1.8) + 0.0128 * np.exp(-3.971))
    assert slopes[1, 0] > 1.8 * slopes[0, 1]


@pytest.mark.parametrize("end", (0, 1), ids=("lower", "upper"))
def test_every_range_ends_in_a_moment_back_and_finite_slopes(end):
    tree, given = person()
    away = 10.0 if end else -10.0  # deg beyond
    for joint in tree.moving[6:]:
        beyond = {joint.name: np.degrees(joint.position[end]) + away}
        assert -np.sign(away) * at(beyond)[joint.name] > 0.05, joint.name
    ends = [np.degrees(joint.position[end]) for joint in tree.moving]
    assert np.isfinite(np.array(given(ends)[1])).all()
    assert np.abs(np.array(given(ends)[1])).max() < 20.0  # N m/deg


def test_a_reflected_posture_has_the_reflected_moments():
    tree, given = person()
    index, sign = mirror(tree)
    draw = np.random.default_rng(3).uniform(-20.0, 20.0, tree.dof)
    there, here = (np.array(given(q)[0]).ravel() for q in (sign * draw[index], draw))
    assert there == pytest.approx(sign * here[index], abs=1e-12)
    assert np.abs(there[6:]).min() > 0.0 and not there[:6].any()


def test_frozen_joints_stand_at_nothing_in_the_law_of_the_others():
    frozen = ("hip_flex_r", "ankle_df_r")
    whole, less = at({"knee_flex_r": 25.0}), at({"knee_flex_r": 25.0}, frozen)
    assert less["knee_flex_r"] == pytest.approx(whole["knee_flex_r"], rel=1e-13)
    assert not any(name in less for name in frozen)


def test_motion_segments_stand_in_series():
    springs = {each.joint: each for each in passive(NAMES) if isinstance(each, Spring)}
    lumbar = sum(1 / springs[f"spine{k}_lat"].stiffness for k in (1, 2))
    assert np.pi / 180 / lumbar == pytest.approx(0.35, rel=1e-12)  # N m/deg
    assert len(springs) == 12
    assert springs["spine1_flex"].stiffness == pytest.approx(2.2 / 3 * 180 / np.pi)


def test_tissue_grows_with_muscles_times_stature_and_may_be_open():
    mass = Parameter("mass", 75.0, "kg")
    small, large = (human(1.6, muscles=each, passive=True, frozen=()) for each in (60.0, 75.0))
    posture = np.random.default_rng(1).uniform(-0.3, 0.3, 55)
    one, other, whole = (
        np.array(element_torques(tree, ca.DM(posture), ca.DM.zeros(55))).ravel()
        for tree in (small, large, person()[0])
    )
    assert other == pytest.approx(1.25 * one, rel=1e-12)
    assert whole == pytest.approx(1.75 / 1.6 * other, rel=1e-12)
    held = human(1.6, muscles=mass, passive=True, frozen=())
    given = element_torques(held, ca.DM(posture), ca.DM.zeros(55))
    closed = ca.Function("given", [mass.expression], [given])
    assert np.array(closed(60.0)).ravel() == pytest.approx(one, rel=1e-12)


def test_ends_and_springs_store_what_the_coupled_law_does_not():
    tree, _ = person()
    q = ca.SX.sym("q", 55)
    pairs = ("hip_flex", "knee_flex", "ankle_df")
    others = [row for row, name in enumerate(NAMES) if not name.startswith(pairs)]
    both = ca.Function(
        "both",
        [q],
        [-ca.gradient(elastic_energy(tree, q), q), element_torques(tree, q, ca.DM.zeros(55))],
    )
    slope, given = (np.array(each).ravel() for each in both(np.full(55, 0.2)))
    assert given[others] == pytest.approx(slope[others], rel=1e-12)
    rates = ca.DM.ones(55)
    assert float(element_loss(tree, ca.DM.zeros(55), rates)) == pytest.approx(
        -2 * (8.5815 + 10.4181 - 6.3869), abs=1e-3
    )


def test_toes_are_stiff_where_asked():
    assert not [each for each in passive(NAMES) if each.name.startswith("toe")]
    spring, damper = (each for each in passive(("toe_ext_l",), toes=25.0)[1:])
    assert (spring.joint, spring.stiffness, damper.damping) == ("toe_ext_l", 25.0, 0.03)


@pytest.mark.parametrize(("mass", "radius"), [(75.0, 0.0867), (130.0, 0.1141)])
def test_thighs_push_each_other_away_by_what_their_girths_overlap(mass, radius):
    body = human(mass=mass)
    law = thighs_that_touch(body, 26.1).energy
    distance = ca.SX.sym("l")
    push = ca.Function("push", [distance], [-ca.gradient(law(distance), distance)])
    stiffness = np.pi / 4 * 0.214375 * 26100.0 / 1.5  # N/m, of parallel cylinders
    deep, touching, apart = (float(push(2 * radius - depth)) for depth in (0.04, 0.0, -0.2))
    assert deep == pytest.approx(0.04 * stiffness, rel=0.03)
    assert 0.0 < apart < 1.0 < touching < 0.1 * deep
    pushed = replace(body, elements=(thighs_that_touch(body, 26.1),))
    index, sign = mirror(pushed)
    given = np.array(element_torques(pushed, np.zeros(body.dof), np.zeros(body.dof))).ravel()
    assert given == pytest.approx(sign * given[index], abs=1e-9)
    assert given[body.coordinate("hip_abd_r")] > 0.0  # N m, outwards
    assert given[:6] == pytest.approx(np.zeros(6), abs=1e-9)  # nothing on the whole body


def test_trees_with_tissue_are_values_and_without_it_as_before():
    assert human(passive=True) == human(passive=True) != human()
    assert human().elements == ()
    names = [each.name for each in human(passive=True).elements]
    assert names[:4] == [
        *("tissue of leg r", "tissue of leg l"),
        *("ligaments of leg r", "ligaments of leg l"),
    ]
    assert all(isinstance(each, PassiveMoment | Spring) for each in human(passive=True).elements)


def test_an_instant_tells_what_elements_of_some_names_give():
    tree = human(passive=True)
    q, rest = ca.DM.ones(38) / 10, ca.DM.zeros(38)
    at = Instant(tree=tree, s=0.5, T=1.0, q=q, qd=rest, qdd=rest, forces=Forces(inverse=inverse))
    names = [each.name for each in tree.elements]
    parts = [np.array(at.elements_named(name)).ravel() for name in names]
    assert sum(parts) == pytest.approx(np.array(at.elements).ravel(), rel=1e-12)
    both = np.array(at.elements_named(*names[:2])).ravel()
    assert both == pytest.approx(parts[0] + parts[1]) and np.count_nonzero(both) == 6
    with pytest.raises(
        ValueError, match="'tissue of arm': none acts by that name; expected one of"
    ):
        at.elements_named("tissue of arm")


def test_hips_turn_aside_and_about_themselves_against_what_they_bend_against():
    bent = (at({"hip_flex_r": -0.5})["hip_flex_r"] - at({"hip_flex_r": 0.5})["hip_flex_r"]) / 1.0
    given = {each.joint: each for each in within_ranges(("hip_abd_r", "hip_rot_l", "knee_flex_r"))}
    assert set(given) == {"hip_abd_r", "hip_rot_l"}
    over = {name: np.radians(each.stiffness) for name, each in given.items()}  # N m/deg
    assert over["hip_abd_r"] == pytest.approx(bent * 150 / 75, rel=1e-3)
    assert over["hip_rot_l"] == pytest.approx(bent * 150 / 90, rel=1e-3)


def test_elbows_rest_bent_and_do_not_swing_for_ever():
    spring, damper = within_ranges(("elb_flex_l",), 1.6, 60.0)
    size = 1.6 / 1.75 * 60.0 / 75.0
    assert float(spring.stiffness) == pytest.approx(1.1 * size, rel=1e-12)
    assert np.degrees(float(spring.rest)) == pytest.approx(73.0)
    assert float(damper.damping) == pytest.approx(0.2 * size, rel=1e-12)


def test_a_lumbar_spine_that_bears_weight_is_stiffer_as_measured_ones_are():
    """By 2.11 under 500 N (Gardner-Morse & Stokes 2004), but thoracic ones and legs."""
    names = ("spine1_lat", "spine2_flex", "spine3_lat", "hip_abd_r")
    bare = {each.joint: each.stiffness for each in passive(names) if isinstance(each, Spring)}
    more = {each.joint: each.stiffness for each in bearing(names)}
    assert set(more) == {"spine1_lat", "spine2_flex"}
    for joint, stiffness in more.items():
        assert stiffness == pytest.approx(1.11 * bare[joint])
