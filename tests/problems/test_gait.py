"""A predicted step: solved once from standing, and judged by its certificate."""

import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from human_bodies import FEW_JOINTS

import ocp
from ocp import Solver, Spline, Transcription, load, verify
from ocp.certificate import violations
from ocp.cli.commands.run import run_task
from ocp.models.human import FEET, GAIT_FROZEN, NAMES
from ocp.problems.gait import TASK
from ocp.problems.gait.report.step_report import gait_report, report_lines
from ocp.problems.gait.solve_step import walk
from ocp.problems.gait.statement.step import effort_step as problem
from ocp.transcription import transcribe_phase
from ocp.transcription.row_requests import schedule_grid

COARSE = Transcription(method=Spline(nodes=3))
FAMILIES = {
    *("joint_limits", "torque_limits", "contact", "slip", "penetration", "pressure", "unilateral"),
    *("friction", "coupling", "avoidance", "mirrored", "clearance"),
}


@pytest.fixture(scope="module")
def step():
    return walk(problem(), Transcription(), Solver()).require()


@pytest.fixture(scope="module")
def report(step):
    return gait_report(step)


def test_one_step_converges_from_standing_with_every_family_of_constraints(step):
    assert {constraint.name.split(".")[0] for constraint in step.problem.requirements} == FAMILIES
    assert step.statistics["attempts"] == ["Solve_Succeeded"]
    assert step.statistics["iterations"] < 100
    assert step.points.shape == (38, 8) and len(schedule_grid(step.problem, 4)) == 25
    assert 0.1 < step.terms[0][2] < 0.13  # the dynamic effort (s)
    rows = dict(violations(step))
    assert rows.pop("dynamics").nodes < 1e-6 * 735.75  # N, whose rows count in body weights
    assert max(row.nodes for row in rows.values()) < 1e-6


def test_the_certificate_between_the_nodes(step, report):
    standing = report["standing"]
    assert standing["height"]["value"] < 0.003
    assert report["penetration"]["contact points"]["value"] > -0.003
    assert standing["slip"]["value"] < 0.01 and standing["zmp"]["value"] > -0.005
    assert min(extreme["value"] for extreme in standing["margins"].values()) > -0.005
    assert standing["push"]["value"] > 0
    assert standing["unbalanced"]["value"] < 1e-9
    assert standing["friction"]["value"] < 0.6
    assert report["torque_excess_percent"] < 1
    assert all(jump["value"] < 1e-6 for jump in report["continuity"].values())


def test_the_default_step_passes_its_certificate_and_names_the_effort_that_it_has(step):
    """Every row at every instant by its own bound, the strike and what follows it included."""
    certificate = verify(step).require(1e-2)
    slips = {name: row for name, row in certificate.violations.items() if name.startswith("slip")}
    assert len(slips) == 5 and max(row.dense for row in slips.values()) < 2e-3  # m/s
    effort, tau = step.terms[0][2], step.problem.tree.moving[6:]
    largest = np.array([max(map(abs, joint.torque)) for joint in tau])[:, None]
    t = np.linspace(0.0, step.duration, 8001)
    shares = (step.trace(lambda at: at.tau[6:], t) / largest) ** 2
    assert effort == pytest.approx(np.trapezoid(shares.sum(axis=0), t), rel=2e-3)


def test_between_the_nodes_the_ground_is_off_balance_by_little_before_it_is_corrected(report):
    standing = report["standing"]
    assert 0.0 < standing["before_correction"]["value"] < 0.005  # of the weight
    assert standing["unbalanced"]["value"] < 1e-9
    (line,) = [line for line in report_lines(report) if "root balanced" in line]
    said = re.search(r"before correction off by (\S+) body weights", line)
    assert float(said[1]) == pytest.approx(standing["before_correction"]["value"], rel=0.05)


def test_the_walk_is_like_that_of_measured_adults(report):
    against, said = report["against"], report["numbers"]
    for joint, least in (("hip_flex", 0.95), ("knee_flex", 0.90), ("ankle_df", 0.75)):
        assert against[joint]["fukuchi"]["r"] >= least
    assert against["knee_flex"]["fukuchi"]["rmse"] <= 12
    assert against["force_vertical"]["winter"]["r"] >= 0.90
    assert 1.0 <= said["vertical_first_peak"]["BW"] <= 1.4  # no impact: the heel lands slowly
    assert 1.0 <= said["vertical_second_peak"]["BW"] <= 1.3
    assert 0.6 <= said["vertical_valley"]["BW"] <= 0.9
    assert said["arms"]["abduction_deg"] < 40 and said["arms"]["with_own_leg_r"] < -0.5
    assert np.abs(said["trunk_forward_deg"]).max() < 10


def test_the_card_names_what_a_walk_of_effort_alone_does_unlike_people(report):
    """It limps: what people's abductors hold up sinks, the trunk leans over the leg that stands."""
    said = "\n".join(report["faults"])
    for words in (
        *("hip abduction runs against people's", "pelvis list runs against people's"),
        *("trunk leans sideways by 10.2 deg", "maxima, at 8, 10, 32, 50 %, where people have two"),
        *("hip abduction moment reaches 0.25 N m/kg", "knee bends to 31 deg as it is loaded"),
    ):
        assert words in said
    assert any(text.startswith("hip abduction runs against") for text in report["faults"][:3])


def test_the_balance_of_the_whole_body(step):
    """Mean vertical force over a step is the weight, since the step ends as it began."""
    t = np.linspace(0.0, step.duration, 4001)
    force = step.trace(lambda at: at.reaction.force(), t)
    mean = np.trapezoid(force, t, axis=1) / step.duration
    assert mean[1] == pytest.approx(735.75, rel=1e-3)
    assert abs(mean[2]) < 1.0
    assert np.abs(step.tau(t[::40])[:6]).max() < 1e-9


def test_the_effort_does_not_depend_on_the_formulation():
    found = [
        walk(problem(active=FEW_JOINTS), replace(COARSE, dynamics=name), Solver())
        for name in ("newton_euler", "hollerbach_3x3")
    ]
    assert found[0].success and found[1].objective == pytest.approx(found[0].objective, rel=1e-6)


def test_lagrangian_derivatives_of_the_gait_equal_those_of_automatic_differentiation():
    transcribed = [
        transcribe_phase(problem(active=FEW_JOINTS), replace(COARSE, derivatives=name))
        for name in ("recursive", "ad")
    ]
    rng = np.random.default_rng(5)
    x = 0.1 * rng.standard_normal(transcribed[0].layout.size)
    multipliers = rng.standard_normal(len(transcribed[0].nlp.g_lower))
    ours, theirs = (
        [
            np.array(part)
            for part in (
                one.nlp.jacobian(x, [])[1],
                one.nlp.hessian("exact")(x, [], 0.7, multipliers),
            )
        ]
        for one in transcribed
    )
    for mine, reference in zip(ours, theirs):
        assert np.abs(mine - reference).max() <= 1e-10 * np.abs(reference).max()


def test_a_saved_step_comes_back_with_its_ground(step, tmp_path):
    ocp.save(step, tmp_path / "step.npz")
    again, t = load(tmp_path / "step.npz"), step.times(7)
    assert again.problem.ground == step.problem.ground
    assert again.problem.symmetry == step.problem.symmetry
    forces = [
        one.trace(lambda at: ca.vertcat(at.reaction.force("right"), at.reaction.moment("left")), t)
        for one in (step, again)
    ]
    assert np.array_equal(*forces)


def test_the_report_reads_well(report):
    lines = report_lines(report)
    assert any("knee_flex / fukuchi" in line for line in lines) and max(map(len, lines)) < 250
    assert lines[0].startswith("walk") and lines[1].startswith("faults")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"speed": 0.0}, r"speed: expected a positive number \(m/s\), got 0.0"),
        ({"speed": np.nan}, "speed: expected a positive"),
        (
            {"speed": 4.0, "step": 0.9},
            "speed: 4 m/s cannot be walked: .* leaves the ground beyond 3.02 m/s",
        ),
        ({"step": 2.0}, "step: 2 m cannot be reached: with legs of 0.927 m"),
        ({"step": -0.6}, "step: expected a positive"),
        (
            {"active": "knee_flex"},
            "active: unknown joints knee_flex; expected gait, all, or some of glob_tz",
        ),
        ({"active": "hip_flex_r"}, "active: a step needs knee_flex_l, ankle_df_l"),
        ({"active": ""}, r"active: unknown joints \(none given\)"),
        ({"mass": 0.0}, "mass: expected more than 0 kg"),
        ({"mass": -75.0}, "mass: expected more than 0 kg"),
        ({"stature": 0.0}, "stature: expected more than 0 m"),
        (
            {"objective": "speed"},
            "objective: expected one of human, elastic, effort, torque, constant, got 'speed'",
        ),
        ({"balance": "hips"}, "balance: expected one of pressure, zmp, got 'hips'"),
        ({"heel_off": 0.1}, "heel_off: expected between foot flat"),
        ({"points": 3}, "control points: a spline of degree 3 needs at least 4, got 3"),
        ({"backpack": -1.0}, "carried mass: expected more than 0 kg, got -1"),
    ],
)
def test_a_task_that_cannot_be_is_refused_before_the_solve(arguments, message):
    with pytest.raises(ValueError, match=message):
        problem(**arguments)


def test_two_passes_refuse_a_schedule_with_nobody_on_the_ground():
    step = problem(balance="zmp")
    left = replace(step.ground.foot("left"), bears=(-np.inf, 0.0))
    jump = replace(step, ground=replace(step.ground, feet=(step.ground.foot("right"), left)))
    explicit = Transcription(method=Spline(torques="explicit"))
    with pytest.raises(ValueError, match="two-pass reactions: no foot bears at s = 0 "):
        transcribe_phase(jump, explicit)


def test_active_joints_bring_their_partners_and_the_pelvis():
    legs = "hip_flex_r,hip_abd_r,hip_rot_r,knee_flex_r,ankle_df_l,ankle_inv_l,toe_ext_l"
    assert problem(active=legs).tree.dof == 6 + 14 and problem(active="all").tree.dof == 55
    assert problem().tree.dof == len(NAMES) - len(GAIT_FROZEN) == 38


def test_a_backpack_is_carried_and_weighs_on_the_feet():
    body = problem(backpack=15.0).tree
    assert sum(link.mass for link in body.links) == pytest.approx(90.0)
    assert len(problem(hands=50.0).loads) == 2


def test_the_command_refuses_an_unknown_joint(capsys):
    assert run_task(TASK, ["--active", "tail"]) == 2
    assert "gait: error: active: unknown joints tail" in capsys.readouterr().err


def test_joint_forces_of_a_standing_leg_carry_the_weight(step):
    _, force = step.reactions(step.duration / 2)
    links = step.problem.tree.names
    ankle = np.linalg.norm(force[:, links.index("ankle_df_r")])
    assert 0.6 * 735.75 < ankle < 1.4 * 735.75 and FEET["right"][0] in links
