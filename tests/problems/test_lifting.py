"""Lifting a box: solved once and judged by its certificate and its loads; what it refuses."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import Solver, Spline, Transcription
from ocp.certificate import violations
from ocp.cli.commands.run import run_task
from ocp.mechanics import nominal, poses, positions
from ocp.mechanics.values.parameters import parameters_of
from ocp.models.human import BOX_SPHERES
from ocp.problem import off_box
from ocp.problems.lifting import TASK, Box, Goal, Manner, solve_lifts
from ocp.problems.lifting.report import disturbed_lifts
from ocp.problems.lifting.report.curves import HANDS, box_mass, lifted
from ocp.problems.lifting.report.lift_pictures import draw, draw_front
from ocp.problems.lifting.report.lift_report import lifting_report, report_lines
from ocp.problems.lifting.report.low_back import ARMS, BACK, borne
from ocp.problems.lifting.solve_lifts import lift
from ocp.problems.lifting.statement.lift import problem
from ocp.transcription import transcribe_phase

FAMILIES = {
    *("joint_limits", "torque_limits", "at_start", "at_end", "contact", "slip", "pressure"),
    *("unilateral", "friction", "mirror", "evenly", "hands", "palms", "avoidance"),
}
FRONT = [
    {
        "weight": weight,
        "status": "Solve_Succeeded",
        "effort": 1.0 - weight / 2,
        "stability": weight,
        "iterations": 9,
        "solve_seconds": 1.0,
    }
    for weight in (1.0, 0.5, 0.0)
]


@pytest.fixture(scope="module")
def lifting():
    stated = problem(passive=False)
    return lift(stated, Transcription(method=Spline(nodes=3)), Solver()).require()


@pytest.fixture(scope="module")
def report(lifting):
    return lifting_report(lifting)


def test_a_lift_converges_from_standing_with_every_family_of_constraints(lifting):
    assert {constraint.name.split(".")[0] for constraint in lifting.problem.constraints} == FAMILIES
    assert lifting.statistics["attempts"] == ["Solve_Succeeded"] and lifting.problem.tree.dof == 36
    assert 0.7 < lifting.terms[0][2] < 0.9  # the dynamic effort (s)
    rows = {name: each.nodes for name, each in violations(lifting).items()}
    assert rows.pop("dynamics") < 1e-3  # N m or N, of torques that were variables
    assert max(rows.values()) < 1e-6


def test_the_certificate_between_the_nodes(report):
    standing = report["standing"]
    assert standing["height"]["value"] < 0.003
    assert standing["place"]["value"] < 0.004
    assert standing["slip_speed"]["value"] < 0.03
    assert (
        standing["zmp"]["value"] > 0.02
        and standing["push"]["value"] > 0.2
        and standing["unbalanced"]["value"] < 1e-9
        and 1e-4 < standing["before_correction"]["value"] < 0.05  # before what is missing is shared
    )
    assert report["box_clearance"]["value"] > -0.005 and report["torque_share"][0]["value"] < 1


def test_the_back_is_loaded_as_measured_backs_are(report):
    assert 150 < report["L5S1_extension_Nm"]["value"] < 250
    angles = report["angles_deg"]
    assert 30 < angles["knee"]["start"] < 110
    assert 60 < angles["hip"]["most"] < 121
    assert 60 < angles["trunk"]["start"] < 100
    assert 30 < angles["lumbar"]["most"] <= 50.1 and abs(angles["trunk"]["end"]) < 15


def test_both_sides_mirror_and_the_hands_carry_the_box(lifting):
    t = lifting.times(13)
    found = lifted(lifting, t)
    assert box_mass(lifting) == pytest.approx(9.0)
    for name, line in found.angles.items():
        if name.endswith("_r"):
            assert np.abs(line - found.angles[f"{name[:-1]}l"]).max() < 1e-6
    whole = sum(found.pulls[hand] for hand in HANDS)
    assert whole[1, 0] == pytest.approx(-9.0 * 9.81, abs=0.1)
    assert whole[1, -1] == pytest.approx(-9.0 * 9.81, abs=0.1)
    impulse = np.trapezoid(
        lifting.trace(lambda at: at.reaction.force(), lifting.times(2001)),
        lifting.times(2001),
        axis=1,
    )
    assert (
        impulse[1] == pytest.approx(84.0 * 9.81 * 1.2, rel=1e-3) and abs(impulse[2]) < 1.0
    )  # it starts and ends at rest
    start, end = (found.box[:, :, k].mean(axis=1) for k in (0, -1))
    assert start == pytest.approx((0.0, 0.1825, 0.49), abs=1e-6)
    assert end == pytest.approx((0.0, 1.1875, 0.46), abs=1e-6)


def above_the_back(tree):
    """The links that L5/S1 bears."""
    above, parents = {tree.link_index(BACK)}, [joint.parent for joint in tree.joints]
    for k, parent in enumerate(parents):
        above |= {k} if parent in {tree.joints[each].name for each in above} else set()
    return above


def free_body(solution, t, step=1e-4):
    """What L5/S1 passes up (3, N; global axes) to all above it, by differences of places."""
    tree = solution.problem.tree
    above = above_the_back(tree)
    frames = {when: poses(tree, solution.q(t + when)) for when in (-step, 0.0, step)}
    passed = np.zeros(3)
    for k in above:
        link = tree.links[k]
        before, here, after = (
            (np.array(frames[when][k]) @ np.append(link.com, 1.0))[:3] for when in frames
        )
        passed += link.mass * ((after - 2 * here + before) / step**2 - np.array(tree.gravity))
    start = np.array(poses(tree, np.zeros(tree.dof))[tree.link_index(BACK)])[:3, :3]
    turn = np.array(frames[0.0][tree.link_index(BACK)])[:3, :3] @ start.T
    return passed, turn @ (0.0, 1.0, 0.0)


@pytest.mark.parametrize("t", [0.15, 0.6, 1.0])
def test_what_the_back_bears_is_what_a_free_body_above_it_needs(lifting, t):
    passed, up = free_body(lifting, t)
    curves = lifted(lifting, np.array([t]))
    along = up @ passed
    assert curves.burden.pressing[0] == pytest.approx(along, rel=1e-4)
    assert curves.burden.shearing[0] == pytest.approx(np.linalg.norm(passed - along * up), rel=1e-3)
    assert np.linalg.norm(passed) > 300 and min(along, curves.burden.shearing[0]) > 20


@pytest.mark.parametrize("t", [0.0, 1.2])
def test_at_rest_the_back_holds_up_what_leans_over_it(lifting, t):
    tree, q = lifting.problem.tree, lifting.q(np.array([t]))[:, 0]
    frames = [np.array(frame) for frame in poses(tree, q)]
    joint = lifting.trace(lambda at: at.position("L5S1"), [t])[:, 0]
    weighs = [
        9.81 * tree.links[k].mass * ((frames[k] @ np.append(tree.links[k].com, 1.0))[2] - joint[2])
        for k in above_the_back(tree)
    ]
    burden = borne(lifting, np.array([t]))
    assert burden.extending[0] == pytest.approx(sum(weighs), abs=0.5)  # N m
    added = burden.compression(0.06) - burden.pressing
    assert added[0] == pytest.approx(sum(weighs) / 0.06, rel=0.1)


def test_compression_is_told_with_and_without_a_muscle_beside_what_niosh_recommends(report):
    compressed = report["L5S1_compression"]
    least, most = compressed["between_N"]
    alone, whole = (
        compressed[which]["value"] for which in ("without_muscles_N", "with_extensor_N")
    )
    assert alone < 600 < 3000 < least < whole < most < 6000
    extending = report["L5S1_extension_Nm"]["value"]
    assert most == pytest.approx(extending / ARMS[0], rel=0.15) and most > extending / ARMS[0]
    assert report["niosh"]["start"]["multipliers"]["H"] == pytest.approx(0.25 / 0.49, rel=1e-4)
    assert report["niosh"]["lifting_index"] == pytest.approx(1.136, abs=0.001)
    lines = " ".join(report_lines(report))
    assert "one extensor 60 mm behind the disc" in lines and "lifting index 1.14" in lines


def test_the_box_pulls_by_its_weight_and_against_its_acceleration(lifting):
    step, t = 1e-3, np.linspace(0.1, 1.1, 21)
    curves = lifted(lifting, t)
    before, here, after = (lifted(lifting, t + when).box.mean(axis=1) for when in (-step, 0, step))
    rises = (after - 2 * here + before)[1] / step**2
    pull = sum(curves.pulls[hand] for hand in HANDS)[1]
    assert np.abs(rises).max() > 5  # m/s2, so that a wrong sign would show
    assert pull == pytest.approx(-9.0 * (9.81 + rises), abs=0.5)


def test_what_holds_the_lift_back_is_named(report):
    assert report["active"]
    assert all(entry["unit"] == "%" and entry["gain"] > 0 for entry in report["active"])
    assert any(
        entry["constraint"] == "avoidance" and entry["row"] == "knee_r"
        for entry in report["active"]
    )
    lines = report_lines(report)
    assert any("L5/S1" in line for line in lines) and max(map(len, lines)) < 250


def test_a_lift_and_a_front_are_drawn(lifting, tmp_path):
    draw(lifting, tmp_path / "lift.png")
    draw_front(FRONT, tmp_path / "front.png")
    assert {path.name for path in tmp_path.iterdir()} == {
        "lift.png",
        "lift-curves.png",
        "front.png",
        "front.csv",
    }
    assert len((tmp_path / "front.csv").read_text().splitlines()) == 4


def test_the_mass_of_the_box_can_be_a_variable():
    heaviest = problem(goal=Goal(maximum=True))
    assert [each.name for each in parameters_of(heaviest)] == ["box_mass"]
    assert nominal(heaviest.tree) == problem(passive=False).tree
    assert [term.name for _, term in heaviest.objective.terms] == [
        "mass",
        "dynamic_effort",
        "smoothness",
    ]
    transcribed = transcribe_phase(heaviest, Transcription(method=Spline(nodes=1)))
    assert len(transcribed.layout.place) == 30 + 6 * 2 and transcribed.layout.free == 1


def test_a_turn_frees_the_sides():
    turned = problem(manner=Manner(turn=45.0))
    assert turned.tree.dof == 44
    assert "mirror" not in [constraint.name for constraint in turned.constraints]
    goal = next(
        constraint.lower for constraint in turned.constraints if constraint.name == "hands.end"
    )
    assert np.mean([goal[:3], goal[3:]], axis=0) == pytest.approx(
        (0.46 * np.sqrt(0.5), 1.37, 0.46 * np.sqrt(0.5))
    )


def test_spheres_keep_their_distance_from_a_box():
    class At:
        def __init__(self, spot):
            self.spot = spot

        def position(self, _):
            return ca.DM(self.spot)

    rule = off_box(
        "off",
        lambda at: (ca.DM.zeros(3), (ca.DM([0, 1, 0]), ca.DM([0, 0, 1]))),
        (0.2, 0.1),
        {"knee": 0.07},
    )
    for spot, true in (
        ((0, 0, -0.25), 0.15),
        ((0, 0.3, 0), 0.1),
        ((9, -0.3, 0.5), 0.1),
        ((0, 0.26, -0.18), 0.1),
        ((0, 0, -0.17), 0.07),
    ):
        assert float(rule.function(At(spot))) == pytest.approx(true, abs=0.006)
    assert float(rule.function(At((0, 0, -0.17)))) == pytest.approx(rule.lower[0], abs=1e-4)
    assert float(rule.function(At((0, 0, 0.05)))) < 0


def test_a_box_passes_between_no_two_spheres_of_a_leg_or_of_the_trunk():
    """Before shanks and head had spheres, boxes put down low went through both."""
    tree = problem().tree
    for line in (
        ("ankle_r", "mid_shank_r", "knee_r", "mid_thigh_r", "hip_r"),
        ("L5S1", "T6", "head"),
    ):
        places = np.array(positions(tree, np.zeros(tree.dof), line), dtype=float)
        radii = [BOX_SPHERES[name] for name in line]
        gaps = np.linalg.norm(np.diff(places.reshape(-1, 3), axis=0), axis=1)
        assert (gaps - np.add(radii[1:], radii[:-1]) < Box().height).all()
    assert {"head", "toe_r"} < set(BOX_SPHERES)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"box": 0.0}, "box: expected a positive number"),
        ({"time": np.nan}, "time: expected a positive number"),
        ({"weight": 1.5}, "weight: expected a number from 0 to 1"),
        ({"end_height": 3.0}, "end_height: 3 m is out of reach"),
        ({"start_ahead": 2.0}, "start_ahead: 2 m is out of reach"),
        (
            {"start_ahead": 0.4},
            "start_ahead: at 0.4 m the box would stand on the toes: expected at least 0.406 m",
        ),
        ({"balance": "hips"}, "balance: expected one of pressure, zmp"),
        ({"stature": 0.0}, "stature: expected more than 0 m"),
        ({"points": 3}, "points: expected at least 6, got 3"),
    ],
)
def test_a_lift_that_cannot_be_is_refused_before_the_solve(arguments, message):
    with pytest.raises(ValueError, match=message):
        TASK.state(arguments)


def test_the_command_refuses_a_front_of_one(capsys):
    assert run_task(TASK, ["--pareto", "1"]) == 2
    assert "lifting: error: pareto: expected at least 2 weights" in capsys.readouterr().err


def test_a_lift_begins_with_the_hands_where_a_box_can_be():
    """At the sides of somebody standing the box would be in the legs."""
    stated = problem()
    q = solve_lifts._standing(stated).q[:, 0]
    hands = np.array(positions(stated.tree, q, ["grip_r", "grip_l"]), dtype=float).reshape(2, 3)
    assert (hands[:, 2] > 0.3).all() and hands[:, 1] == pytest.approx(1.139, abs=1e-3)


@pytest.mark.commands
def test_under_noise_a_lift_ends_where_it_should_with_feedback_alone(
    lifting, tmp_path, monkeypatch
):
    monkeypatch.setattr(disturbed_lifts, "ALONE", 1)
    noise = disturbed_lifts.disturbed(lifting, 1, 0.01)
    assert max(noise["feedback"]["ends"]) < 0.01 < 0.1 < min(noise["alone"]["ends"])
    assert noise["push_N"] > 0 and noise["margin_m"] > 0 and noise["friction"] < 0.5
    told = replace(lifting, statistics=dict(lifting.statistics) | {"disturbed": noise})
    text = "\n".join(report_lines(lifting_report(told)))
    assert "1 of 1 end within 10 mm under noise of 1 % of the largest torques" in text
    draw(told, tmp_path / "noise.png")
    assert (tmp_path / "noise.png").stat().st_size > 10000
