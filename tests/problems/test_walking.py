"""A gait cycle is a step and its mirror image.

The report measures what is there, and the pictures show it.
"""

import json
import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from made_up_steps import STEP, T, made_up_step
from pictured import misplaced
from PIL import Image

from ocp.certificate import contact_quality, polygon_margin
from ocp.mechanics import body_weight
from ocp.problems.gait.card.picture import plot_card
from ocp.problems.gait.pictures.film import animate_walk, going_on, walk_in_space
from ocp.problems.gait.pictures.step_pictures import INSTANTS, plot_walk
from ocp.problems.gait.report.continuity import continuity
from ocp.problems.gait.report.gait_cycle import Cycle, cycle, step_length, stride
from ocp.problems.gait.report.measured_curves import compare, double_peak
from ocp.problems.gait.report.step_report import gait_report, report_lines
from ocp.solution import dense_instants

SQUARE = [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)]


@pytest.fixture(scope="module")
def step():
    return made_up_step()


@pytest.fixture(scope="module")
def walk(step):
    return cycle(step)


@pytest.fixture(scope="module")
def report(step):
    return gait_report(step)


def plain_cycle(**values):
    """A Cycle of one joint, all else empty."""
    percent = np.linspace(0, 100, 101)
    curves = ("angles", "rates", "torques", "limits", "forces", "joint_forces")
    numbers = {"toe_off": 60.0, "mass": 70.0, "weight": 700.0, "duration": 1.0}
    empty = {name: {} for name in curves} | numbers
    return Cycle(percent=percent, **empty | values)


def test_the_second_step_is_the_mirror_image_and_the_third_the_first(step):
    tree, values = step.problem.tree, step.q(step.times(11))
    symmetry = step.problem.symmetry
    both = stride(symmetry, values)
    names = [joint.name for joint in tree.moving]
    np.testing.assert_array_equal(
        both[names.index("knee_flex_r"), 11:], values[names.index("knee_flex_l")]
    )
    np.testing.assert_array_equal(
        both[names.index("glob_rz"), 11:], -values[names.index("glob_rz")]
    )
    np.testing.assert_array_equal(stride(symmetry, both[:, 11:])[:, 11:], values)


def test_the_cycle_of_the_right_leg_is_the_step_and_then_the_left_leg(step, walk):
    s = dense_instants(step)
    q, tau = step.q(s * T), step.tau(s * T)
    right, left = (step.problem.tree.coordinate(f"hip_flex_{side}") for side in "rl")
    np.testing.assert_allclose(walk.angles["hip_flex_r"], np.degrees([*q[right], *q[left]]))
    np.testing.assert_allclose(walk.torques["hip_flex_r"], [*tau[right], *tau[left]], atol=1e-9)
    np.testing.assert_allclose(walk.left(walk.angles["hip_flex_r"]), walk.angles["hip_flex_l"])
    assert walk.percent[0] == 0
    assert walk.percent[-1] == 100
    assert walk.percent[len(s) - 1] == walk.percent[len(s)] == 50
    assert not walk.angles["wri_flex_r"].any() and walk.toe_off == 60 and walk.duration == 2 * T


def test_ground_forces_carry_the_weight_on_average_and_brake_as_much_as_they_push(walk):
    whole = walk.forces["right"] + walk.forces["left"]
    steps = np.diff(walk.percent) / 100
    mean = ((whole[:, 1:] + whole[:, :-1]) / 2) @ steps
    np.testing.assert_allclose(mean, (0, 1, 0), atol=2e-3)
    swing = (walk.percent > walk.toe_off) & (walk.percent < 100)
    assert not walk.forces["right"][:, swing].any()
    np.testing.assert_allclose(
        walk.forces["left"], walk.left(walk.forces["right"]) * [[-1], [1], [1]], atol=1e-12
    )


def test_a_foot_in_the_air_loads_its_joints_by_itself_alone_and_one_that_stands_by_the_ground(
    step, walk
):
    inside = (walk.percent > 10) & (walk.percent < 50)  # the left leg swings
    _, force = step.reactions(walk.percent[inside] / 50 * T)
    weight, tree = body_weight(step.problem.tree), step.problem.tree
    for joint in ("hip_flex_l", "knee_flex_l", "ankle_df_l"):
        np.testing.assert_allclose(
            walk.joint_forces[joint][inside],
            np.linalg.norm(force[:, tree.names.index(joint)], axis=0) / weight,
        )
    ground = np.linalg.norm(walk.forces["right"][:, inside], axis=0)
    np.testing.assert_allclose(walk.joint_forces["ankle_df_r"][inside], ground, rtol=0.05)
    assert (walk.joint_forces["hip_flex_r"][inside] < ground).all()


def test_in_the_second_step_each_leg_bears_what_the_other_bore_in_the_first(step, walk):
    """Reflected: forces to the left change their sign, up and forward they do not."""
    half = len(walk.percent) // 2
    s = walk.percent[:half] / 50
    for foot, other in (("right", "left"), ("left", "right")):
        force = step.trace(lambda at, other=other: at.reaction.force(other), s * T)
        expected = force * [[-1], [1], [1]] / body_weight(step.problem.tree)
        np.testing.assert_allclose(walk.forces[foot][:, half:], expected, atol=1e-12)
    legs = [name for name in walk.joint_forces if name.endswith("_r")]
    assert len(legs) == 3
    for name in legs:
        right, left = walk.joint_forces[name], walk.joint_forces[f"{name[:-1]}l"]
        np.testing.assert_array_equal(right[half:], left[:half])
        np.testing.assert_array_equal(left[half:], right[:half])
        assert np.abs(right[:half] - left[:half]).max() > 0.1  # or either would do for the other


def test_a_jump_of_the_ground_is_that_to_the_other_foot_of_the_next_step(step):
    """A foot's force at the end against the other's at the start, reflected, over the weight."""
    ends = {
        foot: step.trace(lambda at, foot=foot: at.reaction.force(foot), np.array([0.0, T]))
        for foot in ("right", "left")
    }
    assert np.abs(ends["right"][:, 1] - ends["right"][:, 0]).max() > 0.5 * 735.75
    points = step.points.copy()
    points[step.problem.tree.coordinate("glob_ty"), -1] += 2e-4  # so that one end pushes more
    jumps = continuity(replace(step, points=points), STEP)
    lifted = replace(step, points=points).trace(lambda at: at.reaction.force("right"), T)
    expected = np.abs(lifted - ends["left"][:, 0] * (-1, 1, 1)).max() / body_weight(
        step.problem.tree
    )
    assert jumps["ground_force"].value == pytest.approx(expected) and expected > 0.01
    assert jumps["ground_force"].where == "right foot"


def test_a_curve_agrees_with_itself_and_an_offset_is_an_error_but_no_loss_of_correlation():
    uneven = np.sort(np.concatenate([np.linspace(0, 100, 51), np.linspace(0, 10, 40)]))
    curve = np.sin(uneven / 10)
    assert compare(uneven, curve, curve) == pytest.approx((0, 0, 1))
    assert compare(uneven, curve + 3, curve) == pytest.approx((3, 0, 1))
    assert compare(uneven, -2 * curve, curve)[2] == pytest.approx(-1)
    assert np.isnan(compare(uneven, 0 * curve, curve)[2])
    percent = np.linspace(0, 100, 2001)
    fine, coarse = (
        compare(x, np.sin(x / 10), np.cos(x / 15))
        for x in (percent, np.union1d(percent, np.linspace(0, 5, 4001)))
    )
    assert fine == pytest.approx(coarse, abs=1e-4)


def test_two_peaks_and_the_valley_between_are_found():
    percent = np.linspace(0, 100, 401)
    force = np.where(
        percent <= 60,
        1.2 * np.sin(np.pi * percent / 60) + 0.4 * np.sin(3 * np.pi * percent / 60),
        0,
    )
    found = double_peak(percent, force, 60)
    assert found["valley"] == {"BW": pytest.approx(0.8), "percent": pytest.approx(30, abs=0.3)}
    assert found["first_peak"]["percent"] + found["second_peak"]["percent"] == pytest.approx(
        60, abs=0.6
    )


def test_limits_are_those_of_the_torques_side():
    one = plain_cycle(
        torques={"knee": np.full(101, 2.0)},
        limits={"knee": (-8.0, 4.0)},
        rates={"knee": np.where(np.arange(101) < 50, 3.0, -3.0)},
    )
    np.testing.assert_allclose(one.share("knee"), 0.5)
    np.testing.assert_allclose(
        replace(one, torques={"knee": np.full(101, -2.0)}).share("knee"), 0.25
    )


def test_a_point_within_a_polygon_has_a_positive_margin_and_one_outside_a_negative():
    points = np.array([(0.5, 0, 0.5), (0.5, 0, 0.9), (1.2, 0, 0.5), (1.3, 0, 1.4)]).T
    np.testing.assert_allclose(
        polygon_margin(SQUARE, points, (0, 1, 0)), [0.5, 0.1, -0.2, -0.5], atol=1e-12
    )


def test_the_report_is_plain_data_that_says_what_the_step_is(step, report):
    assert json.loads(json.dumps(report)) == report
    assert report["numbers"]["step_m"] == pytest.approx(STEP) == step_length(step.problem)
    assert report["terms"] == {"effort": 1.0} and len(report["curves"]["hip_flex"]) == 101
    shares = {group: entry["value"] for group, entry in report["torque_share"].items()}
    assert report["torque_excess_percent"] == pytest.approx(100 * (max(shares.values()) - 1))
    assert "wrist" not in shares
    lines = report_lines(report)
    for words in (
        "hip_flex / fukuchi",
        "force_vertical / winter",
        "J/kg/m",
        "pressure margin left",
        "slip speed",
    ):
        assert any(words in line for line in lines)


def test_a_motion_that_goes_on_as_its_mirror_image_has_no_jump(step, report):
    assert all(entry["value"] < 1e-6 for entry in report["continuity"].values())
    assert report["standing"]["unbalanced"]["value"] < 1e-9
    assert report["standing"]["before_correction"] is None


def test_a_jump_is_told_with_its_size_and_joint(step):
    points = step.points.copy()
    points[step.problem.tree.coordinate("elb_flex_r"), -1] += 0.01
    jumps = continuity(replace(step, points=points), STEP)
    assert jumps["q_turn"].where == "elb_flex_r" and jumps["q_turn"].value == pytest.approx(0.01)
    assert jumps["torque"].value > 0.1 and jumps["q_slide"].value < 1e-9


def test_footing_finds_the_pinned_point_that_is_farthest_off_the_ground(step):
    found, s = contact_quality(step), dense_instants(step)
    held = [
        (pin.point, support.when)
        for foot in step.problem.ground.feet
        for support in foot.supports
        for pin in support.pins
    ]
    y = np.abs(
        step.trace(lambda at: ca.vertcat(*(at.position(point)[1] for point, _ in held)), s * T)
    )
    heights = [(line[(s >= a) & (s <= b)].max(), point) for line, (point, (a, b)) in zip(y, held)]
    assert (found.height.value, found.height.where) == (
        pytest.approx(max(heights)[0]),
        max(heights)[1],
    )
    assert found.height.unit == "m"
    assert found.strike_speed.where == "heel_r" and found.strike_speed.time == 0
    assert set(found.margins) == {"right", "left"}
    assert min(worst.value for worst in found.margins.values()) <= found.zmp.value
    with pytest.raises(ValueError, match="footing: this problem has no ground"):
        contact_quality(replace(step, problem=replace(step.problem, ground=None, constraints=())))


def test_the_walk_goes_on_without_a_jump_a_step_further_each_time(step):
    going = going_on(step, 3, 4)
    assert len(going.t) == 13
    assert going.t[-1] == pytest.approx(3 * T)
    assert (np.diff(going.t) > 0).all()
    right, left = going.points["hip_r"], going.points["hip_l"]
    np.testing.assert_allclose(
        left[:, 4:9], right[:, :5] * [[-1], [1], [1]] + [[0], [0], [STEP]], atol=1e-9
    )
    np.testing.assert_allclose(right[:, 8:], right[:, :5] + [[0], [0], [2 * STEP]], atol=1e-9)
    np.testing.assert_allclose(
        going.forces["left"][1, 4:8], going.forces["right"][1, :4], atol=1e-9
    )


def test_the_step_is_drawn_on_one_page(step, tmp_path):
    figure = plot_walk(step, tmp_path / "walk.png")
    side, _, above = figure.axes
    assert [text.get_text() for text in side.texts if "%" in text.get_text()] == [
        f"{50 * s:g} %" for s in INSTANTS
    ]
    zmp = next(line for line in above.lines if "ZMP" in line.get_label())
    np.testing.assert_allclose(
        zmp.get_xydata()[-1], step.trace(lambda at: at.reaction.pressure(), T)[[2, 0]]
    )
    with Image.open(tmp_path / "walk.png") as page:
        assert page.size == (1440, 1440)


@pytest.mark.parametrize("page", [plot_walk, plot_card])
def test_words_on_pages_of_fixed_grids_cover_nothing(step, page):
    figure = page(step)
    assert figure.get_layout_engine() is None and misplaced(figure) == []


def test_films_are_written_whole_and_contain_every_frame(step, tmp_path):
    animate_walk(step, tmp_path / "walk.gif", steps=1, slower=1.0, rate=4)
    with Image.open(tmp_path / "walk.gif") as film:
        assert film.n_frames == 3
        seen = np.asarray(film.convert("L")) < 250
        _, wide = seen.shape
        assert seen[:360, : wide // 2].any() and seen[:360, wide // 2 :].any()  # side, front
        assert seen[370:, : wide // 2].any()  # above
    animate_walk(step, tmp_path / "walk.html", steps=2, rate=10)
    text = (tmp_path / "walk.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.S)[1])
    assert not re.search(r"http|src=|href=|import\b", text)
    assert data["seconds"] == pytest.approx(4 * T)
    assert len(data["solids"]) > 30 and {name for name, _ in data["legend"]} == {
        "centre of mass",
        "contact force",
    }


def test_a_walk_in_space_goes_on_as_its_mirror_image(step):
    frames = 8
    walk = walk_in_space(step, 2, frames)
    assert len(walk.t) == 2 * frames + 1 and walk.t[-1] == pytest.approx(2 * T)
    way = np.array([0.0, 0.0, step_length(step.problem)])
    for right, left in (("heel_r", "heel_l"), ("toe_l", "toe_r"), ("head_top", "head_top")):
        first, then = (walk.places[:, walk.tips[name]] for name in (right, left))
        mirrored = first[:frames] * [-1.0, 1.0, 1.0] + way
        np.testing.assert_allclose(then[frames : 2 * frames], mirrored, atol=1e-9)
    for k in (0, frames + 3):  # bodies are where their points are
        (shoe, *_) = [
            each
            for each in walk.solids
            if step.problem.tree.link_names[each.solid.link] == "ankle_inv_l"
        ]
        heel = np.array(step.problem.tree.point("heel_l").position)
        pose = shoe.poses[k]
        there = pose[:3, :3] @ heel + pose[:3, 3]
        np.testing.assert_allclose(there, walk.places[k, walk.tips["heel_l"]], atol=1e-9)
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)


@pytest.mark.parametrize("picture", [plot_walk, plot_card, animate_walk])
def test_an_unknown_suffix_is_named_and_nothing_written(step, tmp_path, picture):
    with pytest.raises(ValueError, match=r"walk\.doc: suffix '\.doc': expected one of"):
        picture(step, tmp_path / "walk.doc")
    assert not list(tmp_path.iterdir())


def test_numbers_that_make_no_film_are_refused(step, tmp_path):
    with pytest.raises(ValueError, match="at least one step and positive numbers"):
        animate_walk(step, tmp_path / "walk.gif", steps=0)
