"""The report card of a gait: signs, likeness, humps and faults, by curves that are known."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from made_up_steps import MOVING, T, made_up_step

import ocp
from ocp.mechanics import Spring, positions
from ocp.models.human import human
from ocp.problems.gait.card import card_lines, card_table, report_card, save_card
from ocp.problems.gait.card.__main__ import run
from ocp.problems.gait.card.curves import CURVES, PERCENT, curves
from ocp.problems.gait.card.energy import metabolic
from ocp.problems.gait.card.events import EVENTS, events
from ocp.problems.gait.card.faults import faults
from ocp.problems.gait.card.likeness import against, delay, likeness, mean_r
from ocp.problems.gait.card.norms import Band, norms, rates
from ocp.problems.gait.card.numbers import _energy, _knee, maxima, numbers
from ocp.problems.gait.card.picture import plot_card, tile
from ocp.problems.gait.card.stride import POWERS, SAMPLES, Stride, _image, stride_of
from ocp.problems.gait.report.gait_cycle import cycle
from ocp.problems.gait.report.measured_curves import compare
from ocp.problems.gait.statement.step import effort_step as problem

ASKED = (
    *("hip_flex", "hip_abd", "hip_rot", "knee_flex", "ankle_df"),
    *("pelvis_tilt", "pelvis_list", "pelvis_rotation", "trunk_forward", "trunk_sideways"),
    *("force_vertical", "force_fore_aft", "force_lateral"),
    *("moment_hip_flex", "moment_hip_abd", "moment_knee_flex", "moment_ankle_df"),
    *("power_hip", "power_hip_abd", "power_knee", "power_ankle", "com_up", "com_sideways"),
)
USUAL = {
    "com_up_mm": 35.0,
    "com_sideways_mm": 40.0,
    "trunk_sideways_deg": 2.0,
    "stance_knee_deg": 18.0,
    "pelvis_rotation_deg": 5.0,
    "duty_factor": 0.61,
    "walk_ratio_m_min": 0.0072,
    "vertical_maxima": [{"percent": 14.0, "BW": 1.1}, {"percent": 48.0, "BW": 1.08}],
    "vertical_valley": {"percent": 30.0, "BW": 0.75},
    "at_bounds_percent": {},
    "arms": {"with_own_leg_r": -0.9},
}


@pytest.fixture(scope="module")
def step():
    return made_up_step()


@pytest.fixture(scope="module")
def card(step):
    return report_card(step)


@pytest.fixture(scope="module")
def known():
    return norms()


@pytest.fixture(scope="module")
def people(known):
    """Curves as people have them: each as its last source does; those of no source are level."""
    mean = {name: each.bands[name].mean for each in known.values() for name in each.bands}
    return {name: mean.get(name, np.zeros(101)) for name in CURVES}


def still(**angles):
    """A Stride of a body that keeps a posture, standing on both feet; angles in deg."""
    tree = human(frozen=())
    q = np.zeros((tree.dof, SAMPLES))
    for joint, angle in angles.items():
        q[tree.coordinate(joint)] = np.radians(angle)
    names = ("head_top", "C7T1", "L5S1", "hip_r", "hip_l")
    top, c7, l5, *hips = (np.array(place).ravel() for place in positions(tree, q[:, 0], names))
    level, zero = np.zeros((3, SAMPLES)), np.zeros((tree.dof, SAMPLES))
    stride = Stride(
        tree=tree,
        percent=np.linspace(0.0, 100.0, SAMPLES),
        q=q,
        qd=zero,
        moments=zero,
        drives=zero,
        power=dict.fromkeys(POWERS, np.zeros(SAMPLES)),
        forces={"right": level, "left": level},
        knees={"right": np.zeros(SAMPLES), "left": np.zeros(SAMPLES)},
        centre=level,
        trunk=level + (c7 - l5)[:, None],
        head=level + (top - c7)[:, None],
        heels={"right": level, "left": level},
        toes={"right": level, "left": level},
        pressures={"right": level, "left": level},
        stances={"right": ((0.0, 60.0),), "left": ((50.0, 110.0),)},
        way=np.array([0.0, 0.0, 1.2]),
        duration=1.0,
        mass=75.0,
    )
    return stride, hips


def told(people, known, kind="walk", **changed):
    """Faults of people's curves and usual numbers, some changed."""
    ours = people | {name: value for name, value in changed.items() if name in CURVES}
    said = USUAL | {name: value for name, value in changed.items() if name not in CURVES}
    return faults(kind, said, ours, known, mean_r(against(ours, known)), 60.0)


def test_the_pelvis_lists_and_turns_as_its_hips_show():
    """List is positive with the right hip up, rotation with the right hip ahead."""
    for joint, curve, axis in (("glob_rz", "pelvis_list", 1), ("glob_ry", "pelvis_rotation", 2)):
        stride, (right, left) = still(**{joint: 7.0})
        assert np.sign(curves(stride)[curve][0]) == np.sign((right - left)[axis]) != 0.0
    stride, _ = still(glob_rx=5.0)
    assert curves(stride)["pelvis_tilt"][0] == pytest.approx(5.0)
    assert curves(stride)["trunk_forward"][0] == pytest.approx(5.0)


def test_energy_is_told_over_the_way_with_what_gravity_takes():
    """A climb of 3 m on a way of 5 m in a second, at 75 W a kilogram's share of what is told."""
    stride, _ = still()
    told = {"spent": 1500.0, "shortening": 375.0, "lengthening": -75.0, "given": 7.5, "taken": 15.0}
    power = {name: np.full(SAMPLES, value) for name, value in told.items()}
    energy = _energy(replace(stride, way=np.array([0.0, 3.0, 4.0]), power=power))
    assert energy["gravity_J_kg_m"] == pytest.approx(0.6 * 9.81, rel=1e-3)
    assert energy["shortening_J_kg_m"] == pytest.approx(1.0)
    assert energy["lengthening_J_kg_m"] == pytest.approx(-0.2)
    assert energy["given_J_kg_m"] == pytest.approx(0.02)
    assert energy["taken_J_kg_m"] == pytest.approx(0.04)
    assert energy["efficiency"] == pytest.approx(0.25)
    assert _energy(stride)["efficiency"] is None


def test_knees_have_a_peak_in_either_half_of_their_stance():
    stride, _ = still()
    borne = 2.0 + 0.5 * np.cos(4 * np.pi * (stride.percent - 15.0) / 60.0)
    borne[stride.percent > 60.0] = 0.3
    known = replace(stride, knees={"right": borne, "left": np.zeros(SAMPLES)})
    assert _knee(stride) is None and _knee(known) == pytest.approx([2.5, 2.5], abs=1e-3)
    assert _knee(_image(known)) is None


def test_the_trunk_leans_to_the_side_to_which_the_spine_bends():
    stride, _ = still(spine1_lat=6.0, spine2_lat=4.0)
    lean = curves(stride)["trunk_sideways"][0]
    assert 6.0 < lean < 10.0 and stride.trunk[0, 0] < 0.0  # to the right, which is minus X
    assert curves(_image(stride))["trunk_sideways"][0] == pytest.approx(-lean)


def test_a_stride_reflected_twice_is_itself():
    stride, _ = still(spine1_lat=6.0, glob_ry=3.0, hip_flex_r=20.0)
    again = _image(_image(stride))
    np.testing.assert_array_equal(again.q, stride.q)
    np.testing.assert_array_equal(again.trunk, stride.trunk)
    assert _image(stride).joint(_image(stride).q, "hip_flex_l")[0] == pytest.approx(np.radians(20))


def test_sources_have_the_signs_of_what_people_do(people):
    """The swing side drops, the side of the foot that strikes is ahead, abductors hold the pelvis,
    the ground pushes inward, feet brake and then push, and the trunk leans over the stance leg."""
    early, swing = slice(10, 26), slice(62, 76)
    assert people["pelvis_list"][early].mean() > 2.0 > -2.0 > people["pelvis_list"][swing].mean()
    assert people["pelvis_rotation"][0] > people["pelvis_rotation"][50] + 2.0
    assert people["moment_hip_abd"][10:50].min() > 0.3
    assert people["force_lateral"][10:50].min() > 0.0
    assert people["force_fore_aft"][5:20].max() < 0.0 < people["force_fore_aft"][40:55].min()
    assert people["trunk_sideways"][early].mean() > 0.5 > -0.5 > people["trunk_sideways"][70]
    assert people["moment_knee_flex"][12:20].max() < 0.0 and people["moment_ankle_df"][48] < -1.0
    assert people["power_ankle"].argmax() in range(50, 60) and people["power_hip"][65] > 0.3


def test_a_curve_is_like_itself_and_one_that_is_shifted_is_late(people):
    curve = people["hip_abd"]
    band = Band(mean=curve, spread=np.full(101, 2.0))
    same = likeness(curve, band)
    assert same["r"] == pytest.approx(1.0) and same["rmse"] == 0.0 and same["shift_percent"] == 0
    assert same["within"] == [1.0, 1.0]
    late = np.append(np.roll(curve[:-1], 7), np.roll(curve[:-1], 7)[0])
    assert delay(late, curve) == 7 and delay(curve, late) == -7
    assert (
        likeness(late, band)["minimum_percent"][0]
        == likeness(curve, band)["minimum_percent"][1] + 7
    )
    away = likeness(curve + 3.0, band)
    assert away["within"] == [0.0, 1.0] and away["rmse_centred"] == pytest.approx(0.0)
    assert likeness(curve + 3.0, band, offset=True)["within"] == [1.0, 1.0]
    assert delay(np.zeros(101), curve) is None and likeness(np.zeros(101), band)["r"] is None


def test_a_rate_of_a_periodic_angle():
    angle = 10.0 * np.sin(2.0 * np.pi * PERCENT / 100.0)
    expected = np.radians(10.0) * 2.0 * np.pi * np.cos(2.0 * np.pi * PERCENT / 100.0) / 1.1
    np.testing.assert_allclose(rates(angle, 1.1), expected, atol=1e-3)


def test_humps_are_maxima_that_stand_out():
    x = np.linspace(0.0, 1.0, 401)
    two = np.sin(np.pi * x) + 0.3 * np.sin(3.0 * np.pi * x)
    assert len(maxima(two, 0.02)) == 2
    faint = two + 0.008 * np.sin(60.0 * np.pi * x)
    assert len(maxima(faint, 0.02)) == 2 < len(maxima(faint, 1e-6))
    assert maxima(np.array([0.0, 1.0, 1.0, 0.0]), 0.1) == [1]  # what is level counts once


def test_the_card_has_every_curve_whole_and_periodic(card):
    assert set(ASKED) <= set(card["curves"]) == set(CURVES) == set(card["units"])
    for name, line in card["curves"].items():
        assert len(line) == 101 and np.isfinite(line).all(), name
        assert line[-1] == pytest.approx(line[0], abs=1e-6), name
    assert card["kind"] == "walk" and card["left"] is None
    assert json.loads(json.dumps(card, allow_nan=False)) == card
    assert set(card["against"]["force_vertical"]) == {"winter", "falisse"}
    assert set(card["sources"]) == {"winter", "fukuchi", "falisse"}


def test_the_numbers_of_a_step_that_is_known(card, step):
    said = card["numbers"]
    assert said["speed_m_s"] == pytest.approx(1.2) and said["stride_s"] == pytest.approx(2 * T)
    assert said["step_m"] == pytest.approx(0.6) == said["other_step_m"]
    assert said["duty_factor"] == pytest.approx(0.6)
    assert said["double_support_percent"] == pytest.approx(20.0, abs=0.2)
    assert said["flight_percent"] == 0.0 and said["arms"]["with_own_leg_r"] < -0.9
    walk = cycle(step)
    hip = np.interp(PERCENT, walk.percent, walk.angles["hip_flex_r"])
    np.testing.assert_allclose(card["curves"]["hip_flex"], hip, atol=0.01)
    knee = np.interp(PERCENT[:50], walk.percent, walk.torques["knee_flex_r"]) / walk.mass
    np.testing.assert_allclose(card["curves"]["moment_knee_flex"][:50], knee, atol=0.02)


def test_moments_have_what_passive_tissue_gives_and_drives_do_not(step):
    tree = step.problem.tree
    spring = Spring(joint="knee_flex_r", stiffness=40.0, rest=0.3)
    sprung = replace(step.problem, tree=replace(tree, elements=(spring,)))
    bare, with_spring = (
        stride_of(replace(step, problem=problem)) for problem in (step.problem, sprung)
    )
    early = slice(0, SAMPLES // 2)  # where the right leg is no image
    given = -40.0 * (bare.joint(bare.q, "knee_flex_r") - 0.3)
    np.testing.assert_allclose(with_spring.moments, bare.moments, atol=1e-8)
    drives = with_spring.joint(with_spring.drives - with_spring.moments, "knee_flex_r")
    np.testing.assert_allclose(drives[early], -given[early], atol=1e-9)


@pytest.fixture(scope="module")
def both(step):
    """Both steps of a stride, the second one the image of the first."""
    stride, symmetry = problem(active=MOVING, stride="full"), step.problem.symmetry
    ahead = np.array(symmetry.shift)[:, None]
    points = (step.points, symmetry.image(step.points) + ahead)
    phases = {
        name: replace(step, problem=part, points=points[k // 2], duration=share * T)
        for k, ((name, part), share) in enumerate(zip(stride.parts.items(), (0.2, 0.8) * 2))
    }
    return replace(step, problem=stride, phases=phases, duration=2 * T)


def test_a_stride_of_both_steps_has_the_card_of_its_step_on_either_side(card, both):
    whole = report_card(both)
    assert whole["left"]["numbers"]["stride_m"] == pytest.approx(1.2)
    for side in (whole, whole["left"]):
        for name, line in card["curves"].items():
            np.testing.assert_allclose(side["curves"][name], line, atol=1e-6, err_msg=name)
        assert side["numbers"]["duty_factor"] == pytest.approx(0.6)


def test_the_cycle_begins_with_the_strike_wherever_the_motion_begins(card, both):
    """After double support, and so with the foot's next strike near the end; what feet share there
    follows from their places, which stay behind."""
    (name, first), *others = both.phases.items()
    way = np.zeros((first.problem.tree.dof, 1))
    way[first.problem.tree.coordinate("glob_tz")] = 1.2
    later = replace(both, phases=dict([*others, (name, replace(first, points=first.points + way))]))
    stride = stride_of(later)
    assert stride.stances["right"][0] == pytest.approx((0.0, 60.0))
    assert stride.stances["left"][0] == pytest.approx((50.0, 110.0))
    for name, line in curves(stride).items():
        known = slice(0 if CURVES[name].unit in ("deg", "mm") else 10, None)
        np.testing.assert_allclose(
            line[::4][known], card["curves"][name][known], atol=1e-6, err_msg=name
        )
    said = numbers(stride, curves(stride))
    assert said["step_m"] == pytest.approx(0.6) == said["other_step_m"]


def test_where_there_is_no_ground_a_body_flies(both):
    phases = dict(both.phases)
    for name in ("right single", "left single"):
        phases[name] = replace(phases[name], problem=replace(phases[name].problem, ground=None))
    stride = stride_of(replace(both, phases=phases))
    assert not any(force[:, 60:190].any() for force in stride.forces.values())
    assert numbers(stride, curves(stride))["flight_percent"] == pytest.approx(80.0, abs=0.1)


def test_what_people_do_is_no_fault(people, known):
    assert told(people, known) == []


def test_faults_are_named_the_worst_first(people, known):
    against_people = told(people, known, hip_abd=-people["hip_abd"])
    assert against_people[0] == "hip abduction runs against people's (r -1.00)"
    assert any("hip" in text and "more abducted than the band" in text for text in against_people)
    bent = people["knee_flex"] + 30.0 * np.exp(-(((PERCENT - 30.0) / 8.0) ** 2))
    (text,) = told(people, known, knee_flex=bent)
    assert text.startswith("stance knee ") and "deg more bent than the band at 3" in text
    third = [*USUAL["vertical_maxima"], {"percent": 33.0, "BW": 1.0}]
    humps, lean = told(people, known, vertical_maxima=third, trunk_sideways_deg=4.0)
    assert humps == "vertical force has 3 maxima, at 14, 48, 33 %, where people have two"
    assert lean == "trunk leans sideways by 4.0 deg, up to 3.1 deg in people"
    (held,) = told(people, known, at_bounds_percent={"spine1_lat": 40.0, "toe_ext_r": 2.0})
    assert held == "spine1_lat is at the bound of its range for 40 % of the cycle"


def test_a_run_is_held_to_numbers_of_runs(people, known):
    top = [{"percent": 15.0, "BW": 2.5}]
    run = {"duty_factor": 0.35, "vertical_maxima": top, "vertical_valley": None}
    assert told(people, known, "run", hip_abd=-people["hip_abd"], **run) == []
    (low,) = told(people, known, "run", **run | {"vertical_maxima": [{"percent": 15.0, "BW": 1.5}]})
    assert low == "vertical force reaches 1.50 BW, 2 to 3 in people"


def test_flight_and_duty_follow_from_what_feet_bear():
    stride, _ = still()
    running = replace(stride, stances={"right": ((0.0, 35.0),), "left": ((50.0, 85.0),)})
    said = numbers(running, curves(running))
    assert said["duty_factor"] == pytest.approx(0.35) and said["double_support_percent"] == 0.0
    assert said["flight_percent"] == pytest.approx(30.0)


def test_work_of_either_sign_is_paid_for_by_its_own_efficiency():
    """A joint of 2 N m that goes 3 rad/s forth and back; half of the moment is a spring's."""
    stride, _ = still()
    knee = stride.tree.coordinate("knee_flex_r")
    moments, qd = np.zeros_like(stride.q), np.zeros_like(stride.q)
    moments[knee], qd[knee] = 2.0, np.where(np.arange(SAMPLES) < SAMPLES // 2, 3.0, -3.0)
    said = numbers(replace(stride, moments=moments, drives=moments / 2, qd=qd), curves(stride))
    assert said["positive_work_J_m"] == pytest.approx(3.0 / 1.2, rel=0.01)
    assert said["positive_work_J_kg_m"] == pytest.approx(3.0 / 1.2 / 75.0, rel=0.01)
    burnt = said["metabolic"]
    assert burnt["net_W_kg"] == pytest.approx((1.5 / 0.25 + 1.5 / 1.2) / 75.0, rel=0.01)
    assert burnt["net_J_kg_m"] == pytest.approx(burnt["net_W_kg"] / 1.2)
    assert burnt["shared_W_kg"] == pytest.approx(burnt["net_W_kg"])
    assert burnt["level_walking_with_rest_W_kg"] == pytest.approx(3.938, abs=0.01)
    assert burnt["level_walking_W_kg"] == pytest.approx(7.2 * 20.1 / 60.0, rel=1e-6)
    assert burnt["rest_W_kg"] == pytest.approx(1.17, abs=0.01)


def test_joints_of_a_limb_share_what_muscles_across_two_of_them_hand_on():
    """What the knee takes the hip gives; the other leg and the trunk pay for themselves."""
    power = np.array([[8.0, 8.0], [-8.0, -8.0], [4.0, 4.0], [2.0, 2.0], [-2.0, -2.0]])
    names = ("hip_flex_r", "knee_flex_r", "hip_flex_l", "spine1_flex", "spine1_lat")
    burnt = metabolic(names, power, np.array([0.5, 0.5]), 1.0, 1.0)
    others = 6.0 / 0.25 + 2.0 / 1.2
    assert burnt["shared_W_kg"] == pytest.approx(others)
    assert burnt["net_W_kg"] == pytest.approx(others + 8.0 / 0.25 + 8.0 / 1.2)


def test_the_card_is_left_as_data_table_or_page(step, card, tmp_path):
    save_card(step, tmp_path / "card.json")
    assert json.loads((tmp_path / "card.json").read_text()) == card
    save_card(step, tmp_path / "card.csv")
    header, *rows = (tmp_path / "card.csv").read_text().splitlines()
    assert header.split(",")[:2] == ["gait_cycle_pct", "hip_flex"] and len(rows) == 101
    with pytest.raises(ValueError, match="card.doc: expected a file ending in .json"):
        save_card(step, tmp_path / "card.doc")


def test_the_page_has_a_panel_for_every_curve_before_its_sources(step, card):
    known = norms()
    shown = tile("hip_flex", card, known, dict.fromkeys(known, "k"))
    lines = {each.label: each for each in shown.traces}
    assert set(lines) == {"winter", "fukuchi", "falisse", "ours"}
    np.testing.assert_allclose(lines["ours"].y, card["curves"]["hip_flex"])
    corner = f"r {card['r']['hip_flex']:+.2f}"
    assert shown.title == "hip flexion (deg)" and shown.corner == corner
    figure = plot_card(step, card=card)
    page, below = figure.axes
    words = {text.get_text() for text in page.texts}
    assert {f"{each.title} ({each.unit})" for each in CURVES.values()} | {corner} <= words
    assert {text.get_text() for text in figure.legends[0].get_texts()} >= set(lines)
    assert card["faults"][0] in below.texts[-1].get_text()


def test_the_summary_says_in_eleven_lines_what_the_card_is(card):
    lines = card_lines(card)
    assert len(lines) == 11 and lines[0].startswith("walk ") and lines[1].startswith("faults ")
    assert card["faults"][0] in lines[1]
    assert "ankles push off with " in lines[6] and "; at bounds: " in lines[9]
    nods, swings = card["numbers"]["head_nod_deg"], card["numbers"]["arms"]["swing_deg"]
    assert f"head nods {nods:.0f}, shoulders swing {swings:.0f} deg" in lines[9]
    table = "\n".join(card_table(card))
    assert all(fault in table for fault in card["faults"]) and "knee_flex / winter" in table


def test_a_file_of_ones_own_is_read_and_a_bad_one_named(tmp_path):
    path = tmp_path / "ours.csv"
    path.write_text("gait_cycle_pct,hip_flex_deg_mean,hip_flex_deg_sd\n0,1,2\n50,3,2\n100,1,2\n")
    read = norms([path])["ours"]
    assert set(read.bands) == {"hip_flex"} and read.bands["hip_flex"].mean[25] == pytest.approx(2.0)
    assert read.record.licence == "not known here"
    for text in ("a,b\n1,2\n", "gait_cycle_pct,x_mean\n0,one\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="norms: ours.csv: expected columns of numbers"):
            norms([path])
    path.write_text("gait_cycle_pct,tail_deg_mean\n0,1\n50,2\n")
    with pytest.raises(ValueError, match="norms: ours: expected some of hip_flex_deg"):
        norms([path])


def test_the_command_tells_a_saved_gait(step, tmp_path, capsys):
    path, table = tmp_path / "walk.npz", tmp_path / "card.csv"
    ocp.save(step, path)
    assert run([str(path), "--card", str(table)]) == 0 and table.exists()
    assert capsys.readouterr().out.startswith("walk  ")
    assert run([str(path), "--norms", str(tmp_path / "none.csv")]) == 2
    assert "gait.card: error:" in capsys.readouterr().err


def test_sources_agree_with_each_other_as_the_page_says(known):
    first = {"hip_flex": 0.95, "knee_flex": 0.94, "ankle_df": 0.89}
    for name, least in first.items():
        means = [each.bands[name].mean for each in known.values()]
        pairs = [compare(PERCENT, a, b)[2] for a, b in combinations(means, 2)]
        assert least - 0.005 < min(pairs) < least + 0.01 and max(pairs) < 0.99
    forces = [known[source].bands["force_vertical"].mean for source in ("winter", "falisse")]
    assert compare(PERCENT, *forces)[2] == pytest.approx(0.974, abs=5e-4)


def test_events_of_peoples_own_curves_are_those_of_people(people, known):
    """Each within its band, and of the last source the same; bursts have their usual signs."""
    told = events(people, known)
    assert set(told) == set(EVENTS)
    for event in told.values():
        low, high = event["band"]
        assert low < event["value"] < high
        assert event["measured"]["falisse"] == pytest.approx(event["value"])
    signs = {name: np.sign(event["value"]) for name, event in told.items()}
    bursts = {"A1": -1, "A2": 1, "K1": -1, "K2": 1, "K3": -1, "K4": -1, "H1": 1, "H2": -1, "H3": 1}
    assert {name: signs[name] for name in bursts} == bursts
    assert signs["braking_peak"] == signs["lift_pitch"] == -1 and signs["strike_pitch"] == 1


def test_an_event_is_where_its_curve_is_extreme_within_its_window(people, known):
    pushed = np.zeros(101)
    pushed[[10, 50, 90]] = 9.0, 3.0, 9.0  # but 50 % none is when ankles push off
    event = events(people | {"power_ankle": pushed}, known)["A2"]
    assert (event["value"], event["percent"], event["unit"]) == (3.0, 50.0, "W/kg")


def test_a_foot_clears_the_ground_by_the_least_its_toe_has_between_two_rises():
    stride, _ = still()
    percent, zero = stride.percent, np.zeros(SAMPLES)
    swing = np.clip((percent - 60.0) / 40.0, 0.0, 1.0)
    up = 0.06 * np.sin(2 * np.pi * swing) ** 2 + 0.015 * np.sin(np.pi * swing)
    place = (0.2 * percent / 60.0) * (percent <= 60.0)
    stride = replace(
        stride,
        forces=stride.forces | {"right": np.array([zero, (percent < 60.0) * 1.0, zero])},
        toes=stride.toes | {"right": np.array([zero, up, zero + 0.2])},
        pressures=stride.pressures | {"right": np.array([0.01 * (percent > 30.0), zero, place])},
    )
    told = numbers(stride, curves(stride))
    assert told["toe_clearance_mm"] == pytest.approx(15.0, abs=0.2)
    shares = told["pressure_percent"]
    assert [shares[str(each)] for each in (10, 50, 90)] == pytest.approx([10.0, 50.0, 90.0])
    assert told["pressure_sideways_mm"] == pytest.approx(10.0)
