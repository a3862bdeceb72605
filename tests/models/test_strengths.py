"""Strength of people over angle and speed: published values, floors, sexes, ages, percentiles."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

from ocp import Parameter, Strength
from ocp.models.human import MASS, NAMES, STATURE, capacity, human, mirror, strengths, torque_range
from ocp.models.human.strength.exertions import Cosine, Exertion, Hill, Line
from ocp.models.human.strength.strengths import peak, relative_strength
from ocp.problem.constraints.strength import strengths as strengths_of

WEIGHT = 9.81 * MASS * STATURE  # N m: weight times height of the reference person
RIGHT = [name for name in NAMES[6:] if not name.endswith("_l")]


@cache
def able(kind="speed", **who):
    """{(joint, direction): Strength} of all joints but those of the left."""
    return {(each.joint, each.direction): each for each in strengths(RIGHT, kind=kind, **who)}


def share(joint, way, deg=None, speed=0.0, **who):
    """What is left of a peak at an angle, by default where most is left, and a speed (rad/s)."""
    law = able(**who)[joint, way].capacity
    angles = np.radians(np.linspace(-60, 140, 401) if deg is None else [deg])
    return max(float(law(ca.DM(x), ca.DM(speed))) for x in angles) / law.peak


@pytest.mark.parametrize(
    ("joint", "way", "c1", "deviation", "best"),
    [
        ("hip_flex_r", -1, 0.161, 0.049, 0.932),
        ("knee_flex_r", -1, 0.163, 0.040, 1.133),
        ("knee_flex_r", 1, 0.087, 0.015, 0.522),
        ("ankle_df_r", -1, 0.095, 0.022, 0.408),
    ],
)
def test_young_men_have_the_published_peaks_at_the_published_angles(
    joint, way, c1, deviation, best
):
    law = able()[joint, way].capacity
    assert law.peak == pytest.approx((c1 + deviation) * WEIGHT)
    assert able(percentile=50.0)[joint, way].capacity.peak == pytest.approx(c1 * WEIGHT)
    assert law.angle.best == best
    assert share(joint, way, np.degrees(best)) == pytest.approx(1.0, abs=2e-4)


def test_three_quarters_and_half_are_left_at_the_speeds_of_the_table():
    assert share("knee_flex_r", -1, 64.9, 1.517) == pytest.approx(0.75, abs=0.01)
    assert share("knee_flex_r", -1, 64.9, 3.952) == pytest.approx(0.5, abs=0.01)
    assert share("hip_flex_r", 1, -12.3, 4.267) == pytest.approx(0.5, abs=0.01)
    assert share("shou_flex_r", 1, 45.0, np.radians(50)) == pytest.approx(46.9 / 89.9, abs=0.01)
    assert share("shou_flex_r", 1, 45.0, -np.radians(50)) == pytest.approx(75.3 / 89.9, abs=0.01)


def test_the_constant_limits_of_the_tables_are_a_mean_and_a_deviation_of_the_same_men():
    for joint in ("hip_flex", "knee_flex", "ankle_df"):
        lower, upper = torque_range(joint)
        assert (-peak(joint, -1, "male"), peak(joint, 1, "male")) == pytest.approx(
            (lower, upper), abs=0.5
        )
    assert torque_range("hip_abd") == (-81.0, 97.0)
    corrected = torque_range("hip_abd", percentile=84.13447460685429)
    assert corrected == pytest.approx((-131.26, 131.26), abs=0.05)  # 1.53 N m/kg at 60 deg/s


def test_abductors_are_strongest_adducted_and_extensors_of_a_bent_trunk():
    assert share("hip_abd_r", 1, -15.0) > 0.98
    assert share("hip_abd_r", 1, 15.0) == pytest.approx(0.65, abs=0.01)
    assert share("hip_abd_r", 1, 45.0) == pytest.approx(0.3, abs=0.02)
    joints = ["spine1_flex", "spine2_flex"]
    laws = {each.direction: each.capacity for each in strengths(joints, kind="angle")}
    upright, bent = (
        {way: float(law(np.radians(deg), 0.0)) / law.peak for way, law in laws.items()}
        for deg in (-10.0, 25.0)  # at each of two joints
    )
    assert bent[-1] > 0.97 and upright[-1] < 0.6
    assert bent[-1] / bent[1] > 1.9 * upright[-1] / upright[1]  # Keller & Roy 2002: doubled


@pytest.mark.parametrize("who", [{}, {"sex": "female", "age": 70}], ids=("man", "old woman"))
def test_strength_is_smooth_above_its_floor_and_below_the_limit_at_all_speeds(who):
    x, w = ca.SX.sym("x"), ca.SX.sym("w")
    tree = human(strength="speed", **who)
    joints = {joint.name: joint for joint in tree.moving}
    for each in (each for each in strengths_of(tree) if not each.joint.endswith("_l")):
        value, joint = each.capacity(x, w), joints[each.joint]
        law = ca.Function("law", [x, w], [value, ca.hessian(value, ca.vertcat(x, w))[0]])
        grid = np.meshgrid(np.linspace(*joint.position, 7), [-20, -1, -0.05, 0, 0.05, 1, 6, 20])
        values, bends = law.map(grid[0].size)(*(part.reshape(1, -1) for part in grid))
        assert np.isfinite(np.array(bends)).all()
        peak, largest = each.capacity.peak, max(each.direction * bound for bound in joint.torque)
        assert float(ca.mmin(values)) >= 0.01 * peak and float(ca.mmax(values)) <= 1.002 * largest
        rest = law.map(7)(grid[0][:1], 0.0)[0]
        assert float(ca.mmin(rest)) >= 0.2 * peak


def test_a_curve_of_points_goes_through_them_and_stays_between():
    line = Line(points=((-20.0, 0.9), (25.0, 1.0), (50.0, 0.8)))
    values = [float(line(ca.DM(np.radians(deg)))) for deg in range(-180, 180, 5)]
    assert min(values) >= 0.8 - 1e-12 and max(values) <= 1.0
    assert (values[0], values[-1]) == pytest.approx((0.9, 0.8), abs=2e-3)
    assert float(Cosine(narrowing=1.2, best=1.0)(2.6)) == pytest.approx(0.2, abs=1e-2)


def test_women_the_old_and_percentiles_differ_as_the_table_says():
    assert able(sex="female")["hip_flex_r", -1].capacity.peak == pytest.approx(
        (0.181 + 0.047) * WEIGHT
    )
    old = able(age=80.0)["knee_flex_r", -1].capacity
    assert old.peak == pytest.approx((0.137 + 0.017) * WEIGHT) and old.speed.half == 3.152
    between = able(age=40.75)["knee_flex_r", -1].capacity
    assert between.peak == pytest.approx((0.1595 + 0.0355) * WEIGHT)
    low, high = (able(percentile=rank)["elb_flex_r", 1].capacity.peak for rank in (5.0, 95.0))
    assert (low + high) / 2 == pytest.approx(98 / 1.25) and high / low > 2.0
    left = 1 - 0.074 * (80.0 - 21.5) / 10.0  # of plantar flexors (Hunter et al. 2000)
    weaker = able(age=80.0)["elb_flex_r", 1].capacity.peak / 98.0
    assert weaker == pytest.approx(
        np.mean([0.144 / 0.161, 0.101 / 0.113, 0.137 / 0.163, 0.069 / 0.087, left, 29 / 33])
    )


def test_plantar_flexors_of_the_old_are_weaker_as_measured():
    """80 of 132 N m at 77 and 24 years (Simoneau et al. 2005); a share of 0.6 at 70-82 (Morse)."""
    young, old = (able(age=age, percentile=50)["ankle_df_r", -1].capacity.peak for age in (24, 77))
    assert old / young == pytest.approx(80 / 132, abs=0.01)
    assert able(age=21.5)["ankle_df_r", -1].capacity.peak == pytest.approx(0.117 * WEIGHT)
    lifters = [able(age=age)["ankle_df_r", 1].capacity.peak for age in (24, 77)]
    assert lifters[1] / lifters[0] > old / young  # muscle groups age by themselves


def test_knees_and_hips_of_older_women_are_weaker_as_measured():
    """9.3 % in ten years (Hunter et al. 2000); 22 and 31 % at the hips (Dean et al. 2004)."""
    measured = {("knee_flex_r", -1): 0.093, ("hip_flex_r", 1): 0.044, ("hip_flex_r", -1): 0.062}
    for key, lost in measured.items():
        young, old = (able(sex="female", age=age)[key].capacity.peak for age in (21.5, 71.5))
        assert old / young == pytest.approx(1 - 5 * lost)


def test_fat_makes_nobody_stronger():
    light, heavy = (human(1.75, mass, strength="angle", passive=True) for mass in (60.0, 130.0))
    for name in ("knee_flex_r", "spine1_flex", "elb_flex_l"):
        assert capacity(light, name, 1) == capacity(heavy, name, 1)
    assert light.elements == heavy.elements


def test_capacity_is_the_number_that_limits_and_effort_share():
    assert capacity(human(), "hip_abd_r", 1) == 97.0 and capacity(human(), "hip_abd_r", -1) == 81.0
    person = human(strength="speed")
    assert capacity(person, "knee_flex_l", -1) == pytest.approx(0.203 * WEIGHT)
    assert capacity(human(percentile=50.0), "knee_flex_l", -1) == pytest.approx(0.163 * WEIGHT)
    with pytest.raises(ValueError, match="direction: expected 1 or -1, got 0"):
        capacity(person, "knee_flex_l", 0)


def test_both_sides_are_alike_and_grow_with_muscles_and_stature_which_may_be_open():
    person = human(strength="angle", passive=True)
    index, sign = mirror(person)
    for row, joint in enumerate(person.moving):
        other = person.moving[index[row]]
        bounds = [sign[row] * bound for bound in other.torque]
        assert not joint.actuated or sorted(bounds) == list(joint.torque)
    larger = human(1.9, 110.0, muscles=90.0, strength="angle")
    factor = 1.9 * 90.0 / (MASS * STATURE)
    for name in ("hip_abd_l", "hip_rot_l"):
        assert capacity(larger, name, 1) == pytest.approx(factor * capacity(person, name, 1))
    mass = Parameter("mass", 75.0, "kg")
    opened = capacity(human(muscles=mass, strength="speed"), "hip_abd_l", 1)
    assert float(ca.Function("c", [mass.expression], [opened.expression])(150.0)) == pytest.approx(
        2 * capacity(person, "hip_abd_l", 1)
    )


def test_angle_adds_what_is_known_to_differ_and_constant_nothing():
    joints = {each.joint for each in able("angle").values()}
    assert joints == {
        *("hip_flex_r", "hip_abd_r", "knee_flex_r", "ankle_df_r", "shou_flex_r", "elb_flex_r"),
        *(f"spine{k}_flex" for k in (1, 2, 3, 4)),
    }
    assert not able("constant") and human(strength="constant") == human()
    assert len(able()) == 2 * len(RIGHT)
    assert human(strength="speed") == human(strength="speed")
    assert all(isinstance(each, Strength) for each in able().values())
    assert Exertion(peak=5.0)(0.3, 1.0) == 5.0
    assert Hill(three_quarters=1.0, half=2.6, eccentric=0.3)(0.0) == 1.0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"strength": "fast"}, "strength: expected 'constant', 'angle' or 'speed', got 'fast'"),
        ({"age": 4}, "age: expected 5 to 110 years, got 4"),
        ({"percentile": 100}, "percentile: expected 1 to 99, got 100"),
    ],
)
def test_what_is_not_measured_is_refused(said, words):
    with pytest.raises(ValueError, match=words):
        human(**said)


def test_strength_over_that_of_the_usual_man_is_one_for_him_and_grows_with_percentile():
    usual, weak = (
        human(passive=True, strength="angle", percentile=percentile) for percentile in (84.13, 20.0)
    )
    for joint in ("shou_flex_r", "elb_flex_l"):
        assert relative_strength(usual, joint) == pytest.approx(1.0, abs=1e-3)
        assert 0.5 < relative_strength(weak, joint) < 0.8
