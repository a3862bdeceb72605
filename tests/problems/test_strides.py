"""A walk in phases: the same step, both steps of a stride, and times and lengths that are free."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from human_bodies import FEW_JOINTS, LEGS

from ocp import Foot, Ground, Solution, Solver, Support, Transcription
from ocp.mechanics import nominal, positions
from ocp.mechanics.values.parameters import evaluate, parameters_of, with_values
from ocp.models.human import ROOT, human, mirror
from ocp.problem import bearing_slots, bears
from ocp.problems.gait.report import phase_report as sides_of
from ocp.problems.gait.report.phase_report import (
    WALK_RATIO,
    impulses,
    rhythm,
    stance_times,
    walk_lines,
)
from ocp.problems.gait.solve_step import over_edges
from ocp.problems.gait.statement.constraint_families import family_of
from ocp.problems.gait.statement.contact_schedule import PLAIN, noses, stance
from ocp.problems.gait.statement.mirrored_stride import (
    alike,
    both_steps,
    one_step,
    repeated,
    strides,
)
from ocp.problems.gait.statement.step import effort_step as problem
from ocp.problems.gait.statement.strides import facing, impaired, scheduled
from ocp.solvers import Outcome
from ocp.solving.solution_from_outcome import solution_of
from ocp.transcription import transcribe_phase
from ocp.transcription.transcribe import transcribe

NAMES = ["loading", "rolling", "leaving", "single", "rising"]


@pytest.fixture(scope="module")
def whole():
    return problem(active=FEW_JOINTS)


@pytest.fixture(scope="module")
def stride():
    return problem(active=FEW_JOINTS, stride="full")


def test_phases_of_a_step_have_one_way_of_standing_each():
    phases = problem(active=FEW_JOINTS, stride="phases").phases
    assert [phase.name for phase in phases] == NAMES == list(scheduled(PLAIN))
    for phase in phases:
        ways = {bearing_slots(phase.ground, s) for s in (0.2, 0.5, 0.8)}
        assert len(ways) == 1 and not phase.ground.switches
    lengths = [phase.motion.length for phase in phases]
    np.testing.assert_allclose(lengths, (0.1, 0.05, 0.05, 0.55, 0.25))
    assert {phase.motion.whole.points for phase in phases} == {8}


def test_a_stride_has_both_steps_and_their_places(whole, stride):
    names = [phase.name for phase in stride.phases]
    assert names == ["right double", "right single", "left double", "left single"]
    first, second = (stride.phases[k].ground for k in (0, 2))
    lead, trail = second.foot("left"), second.foot("right")
    place = np.array(whole.ground.foot("right").center)
    np.testing.assert_allclose(lead.center, place * (-1, 1, 1) + (0, 0, 0.6), atol=1e-12)
    assert bears(first.foot("right"), 0.5) and bears(trail, 0.5) and bears(lead, 0.5)
    assert [bears(stride.phases[1].ground.foot(side), 0.5) for side in ("right", "left")] == [1, 0]
    assert max(stride.symmetry.shift) == pytest.approx(1.2)
    assert not list(stride.parts.values())[3].ground.foot("right").supports


def test_the_next_step_of_the_next_is_the_step(whole):
    again = facing(facing(whole.ground, 0.6), 0.0)
    for foot, other in zip(whole.ground.feet, again.feet):
        assert foot.name == other.name and foot.bears == other.bears
        assert [each.link for each in foot.supports] == [each.link for each in other.supports]
        np.testing.assert_allclose(np.array(other.center) - foot.center, (0, 0, 0.6), atol=1e-12)


def test_both_steps_are_a_step_and_its_image(whole, stride):
    made = transcribe_phase(whole)
    random = np.random.default_rng(5)
    step = Solution(
        problem=whole,
        transcription=Transcription(),
        points=random.normal(size=(whole.tree.dof, 8)),
        duration=0.5,
        objective=0.0,
        terms=(),
        status="made up",
        success=True,
        multipliers={},
        statistics={},
        nodes=made.layout.nodes,
        lifted=np.where(made.layout.place >= 0, random.normal(size=made.layout.place.shape), 0.0),
    )
    guesses = both_steps(step, stride)
    right, left = guesses["right single"], guesses["left single"]
    index, sign = mirror(whole.tree)
    s = np.linspace(0, 1, 5)
    q = right.points @ right.problem.motion.values(s).T
    ahead = 0.6 * (np.arange(whole.tree.dof) == whole.tree.coordinate("glob_tz"))
    image = left.points @ left.problem.motion.values(s).T
    np.testing.assert_allclose(image, sign[:, None] * q[index] + ahead[:, None], atol=1e-9)
    flat = [each.lifted[-12:-6, 1] for each in (right, left)]  # of moment and force on a flat sole
    assert np.abs(flat[0]).min() > 0
    np.testing.assert_allclose(flat[1], flat[0] * (1, -1, -1, -1, 1, 1))
    knees = [whole.tree.coordinate(f"knee_flex_{side}") - len(ROOT) for side in "rl"]
    np.testing.assert_allclose(left.lifted[knees[1]], right.lifted[knees[0]])


def test_one_step_of_a_stride_is_the_step(stride):
    step = one_step(stride)
    assert [phase.name for phase in step.phases] == ["right double", "right single"]
    assert step.symmetry.index == tuple(mirror(step.tree)[0])
    assert max(step.symmetry.shift) == pytest.approx(0.6)
    (effort, _), *_ = step.objective.terms
    (usual, _), *_ = problem(active=FEW_JOINTS, stride="phases").objective.terms
    assert effort == pytest.approx(usual)


def test_one_step_of_several_strides_is_that_of_one(stride):
    step, again = one_step(stride), one_step(strides(stride, 3))
    assert again.phases == step.phases and again.links == step.links
    assert again.symmetry == step.symmetry
    weights = [[weight for weight, _ in each.objective.terms] for each in (step, again)]
    np.testing.assert_allclose(*weights)


def test_no_walk_but_a_stride_of_two_like_sides_is_begun_with_one_step(whole):
    assert one_step(whole) is None
    assert one_step(problem(active=FEW_JOINTS, stride="phases")) is None
    assert one_step(problem(active=FEW_JOINTS, stride="full", ankle_strength=0.5)) is None
    assert one_step(problem(active=FEW_JOINTS, stride="full", shank_mass=2.0)) is None


def test_a_step_whose_times_and_length_are_sought_is_as_long_as_the_other():
    step = one_step(problem(active=FEW_JOINTS, stride="full", free_timing=True, speed=1.2))
    progress, even = step.constraints
    names = {each.name: each for each in parameters_of(step)}
    assert set(names) == {"right_step", "left_step"}
    values = {names["right_step"]: 0.5, names["left_step"]: 0.4}
    times = {"right double": 0.1, "right single": 0.275}

    def at(constraint, lengths):
        gap = constraint.function(times)
        return float(evaluate(gap, dict(zip(values, lengths))))

    assert at(even, (0.5, 0.4)) == pytest.approx(0.1)
    assert at(progress, (0.5, 0.4)) == pytest.approx(0.0)  # 0.9 m at 1.2 m/s in 0.75 s
    ahead = with_values(step.symmetry, values).shift
    assert max(ahead) == pytest.approx(0.45)


def test_sides_are_alike_in_masses_and_limits():
    body = human()
    assert alike(body)
    assert not alike(impaired(body, 1.0, 0.1))
    assert not alike(impaired(body, 0.9, 0.0))


def test_a_stride_begins_with_a_step_and_its_image(stride):
    step = one_step(stride)
    made = transcribe(step)
    x = np.random.default_rng(6).normal(size=len(made.nlp.lower))
    solved = solution_of(made, outcome_at(made, x), {}, None)
    guesses = repeated(solved, stride).phases
    assert list(guesses) == [phase.name for phase in stride.phases]
    single, other = guesses["right single"], guesses["left single"]
    symmetry = step.symmetry
    ahead = np.array(symmetry.shift)[:, None]
    np.testing.assert_allclose(other.points, symmetry.image(single.points) + ahead, atol=1e-12)
    forces = [each.lifted[-6:] for each in (single, other)]  # on the toes of the foot that stands
    assert np.abs(forces[0][:, -1]).min() > 0
    np.testing.assert_allclose(forces[1], forces[0] * np.c_[[1, -1, -1, -1, 1, 1]])
    several = repeated(solved, strides(stride, 2)).phases
    assert list(several) == [*guesses, *(f"{name} 2" for name in guesses)]
    np.testing.assert_array_equal(several["left single 2"].points, other.points)


def outcome_at(made, x):
    return Outcome(
        x=x,
        f=0.0,
        g=np.zeros(len(made.nlp.g_lower)),
        x_multipliers=np.zeros(len(x)),
        g_multipliers=np.zeros(len(made.nlp.g_lower)),
        status="made up",
        success=True,
        iterations=0,
        history=(),
        calls={},
        build_seconds=0.0,
        solve_seconds=0.0,
    )


def test_free_timing_seeks_times_and_lengths():
    stated = problem(active=FEW_JOINTS, free_timing=True, speed=1.1)
    assert [phase.name for phase in stated.phases] == ["double", "single"]
    assert all(phase.duration[0] < phase.duration[1] for phase in stated.phases)
    (progress,) = (each for each in stated.constraints if each.when == "durations")
    (step,) = [each for each in stated.symmetry.shift if not isinstance(each, float)]
    assert step.expression.name() == "step"
    assert progress.units == "s"
    both = problem(active=FEW_JOINTS, free_timing=True, stride="full")
    assert len(both.phases) == 4


@pytest.mark.parametrize("changes", [{"free_timing": True}, {"stride": "phases"}])
def test_steps_in_phases_go_up_slopes(changes):
    uphill = problem(active=FEW_JOINTS, slope=5.0, **changes)
    shift = dict(zip((joint.name for joint in uphill.tree.moving), uphill.symmetry.shift))
    up, ahead = (float(nominal(shift[name])) for name in ("glob_ty", "glob_tz"))
    assert (np.hypot(up, ahead), up / ahead) == pytest.approx((0.6, np.tan(np.radians(5.0))))
    for phase in uphill.phases:
        np.testing.assert_allclose(phase.ground.normal[2], -np.sin(np.radians(5.0)))


def test_an_ankle_is_weaker_and_a_shank_heavier():
    body = human()
    other = impaired(body, 0.5, 2.0)
    k = body.link_index("ankle_df_r")
    np.testing.assert_allclose(other.joints[k].torque, 0.5 * np.array(body.joints[k].torque))
    left = body.link_index("ankle_df_l")
    assert other.joints[left] == body.joints[left]
    masses = [sum(link.mass for link in tree.links) for tree in (body, other)]
    assert masses[1] - masses[0] == pytest.approx(2.0)
    shank = body.link_index("knee_flex_r")
    knee, ankle = (
        np.array(p).ravel() for p in positions(body, np.zeros(55), ("knee_r", "ankle_r"))
    )
    assert other.links[shank].mass - body.links[shank].mass == pytest.approx(2.0)
    assert np.linalg.norm(knee - ankle) == pytest.approx(0.4305)
    assert impaired(body, 1.0, 0.0) is body


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stride": "both"}, "stride: expected one of half, phases, full, got 'both'"),
        ({"stride": "full", "jump": True}, "jump: is known of a step in one phase"),
        ({"stride": "full", "split": True}, "split: is known of a step in one phase"),
        ({"free_timing": True, "without": "symmetry"}, "without symmetry: is known of a step"),
        ({"slope": 5.0, "rise": 0.1}, "the ground is a slope or stairs"),
        ({"slope": 5.0, "balance": "zmp"}, "slope, rise: expected pressure as balance"),
        ({"rise": 0.1, "stride": "full"}, "slope of both steps, or rise: is known of a step in"),
        ({"slope": 5.0, "stride": "full"}, "slope of both steps, or rise: is known of a step in"),
        ({"ankle_strength": 0.0}, "ankle_strength: expected a share above 0"),
        ({"ankle_strength": 0.5}, "ankle_strength: of a body that is not alike on both sides"),
        ({"shank_mass": 2.0}, "shank_mass: of a body that is not alike on both sides"),
    ],
)
def test_what_no_walk_can_be_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        problem(active=FEW_JOINTS, **changes)


def test_a_slope_tilts_all_that_stands_and_the_way():
    level, uphill = problem(active=FEW_JOINTS), problem(active=FEW_JOINTS, slope=5.0)
    cos, sin = np.cos(np.radians(5.0)), np.sin(np.radians(5.0))
    np.testing.assert_allclose(uphill.ground.normal, (0.0, cos, -sin))
    y, z = (uphill.tree.coordinate(name) for name in ("glob_ty", "glob_tz"))
    shift = uphill.symmetry.shift
    np.testing.assert_allclose((shift[y], shift[z]), (0.6 * sin, 0.6 * cos))
    for foot, flat in zip(uphill.ground.feet, level.ground.feet):
        for support, other in zip(foot.supports, flat.supports):
            corners, known = np.array(support.polygon), np.array(other.polygon)
            np.testing.assert_allclose(corners @ uphill.ground.normal, 0.0, atol=1e-12)
            gaps = [np.linalg.norm(each - each[0], axis=1) for each in (corners, known)]
            np.testing.assert_allclose(*gaps, atol=1e-12)
            np.testing.assert_allclose(corners[:, 1], known[:, 2] * sin, atol=1e-12)


def test_every_step_takes_one_stair():
    stairs = problem(active=FEW_JOINTS, rise=0.17)
    lead, trail = stairs.ground.feet
    assert stairs.ground.plane(lead).height == 0.0
    assert stairs.ground.plane(trail).height == pytest.approx(-0.17)
    for support in trail.supports:
        np.testing.assert_allclose(np.array(support.polygon)[:, 1], -0.17)
    y = stairs.tree.coordinate("glob_ty")
    assert stairs.symmetry.shift[y] == pytest.approx(0.17)
    bends = [stairs.tree.joints[stairs.tree.joint_index(f"{j}_r")].position[1] for j in LEGS[:3:2]]
    np.testing.assert_allclose(np.degrees(bends), (120, 140))
    level = problem(active=FEW_JOINTS).tree.moving[y].position
    reach = np.array(stairs.tree.moving[y].position) - level
    np.testing.assert_allclose(reach, (-0.17, 0.17))


@pytest.mark.parametrize(("rise", "edge"), [(0.17, "rear"), (-0.17, "fore")])
def test_soles_stand_in_the_middle_of_stairs_with_edges_before_those_that_pass(rise, edge):
    ground = stance(human(), 0.6, 0.1, rise=rise)
    sole = np.array(ground.foot("right").supports[1].polygon)[:, 2]
    first, second = (np.array(place) for place in noses(ground, 0.6, rise))
    np.testing.assert_allclose(second - first, (0.0, rise, 0.6), atol=1e-12)
    ends = sole.min(), sole.max()
    margin = (0.6 - (ends[1] - ends[0])) / 2
    at = first[2] if edge == "rear" else second[2]
    expected = ends[0] - margin if edge == "rear" else ends[1] + margin
    assert at == pytest.approx(expected)
    with pytest.raises(ValueError, match="as deep as the step, 0.2 m, and a sole longer"):
        noses(ground, 0.2, rise)


def test_a_step_on_stairs_keeps_off_their_edges_after_one_that_does_not():
    stairs = problem(active=FEW_JOINTS, rise=0.17)
    (keep,) = (each for each in stairs.constraints if each.name == "edges")
    assert len(keep.labels) == 24 and keep.when.between == 2
    level = problem(active=FEW_JOINTS)
    assert over_edges(level, Transcription(), Solver(), values={}) is None
    assert family_of("edges") == "contact"


def walked(times, halves):
    """A walk that nobody solved for: right and left bear by turns, both for `times` (s) each."""
    always = Support(link="sole", when=(0.0, 1.0))
    stands = {"bears": (-inf, inf), "supports": (always,)}
    swings = {"bears": (inf, -inf), "supports": ()}
    phases = {}
    for k, time in enumerate(times):
        way = {"right": stands, "left": stands if k % 2 == 0 else swings}
        if k >= 2:
            way = {"left": way["right"], "right": way["left"]}
        feet = [Foot(name=side, center=(0, 0, 0), **each) for side, each in way.items()]
        stated = SimpleNamespace(ground=Ground(feet=feet))
        phases[str(k)] = SimpleNamespace(problem=stated, duration=time)
    symmetry = SimpleNamespace(shift=(0.0, 0.6 * halves), index=(1, 0) if halves == 1 else (0, 1))
    return SimpleNamespace(
        phases=phases, duration=sum(times), problem=SimpleNamespace(symmetry=symmetry)
    )


def test_rhythm_of_a_step_is_that_of_its_stride():
    one, both = walked((0.1, 0.4), 1), walked((0.1, 0.4, 0.1, 0.4), 2)
    for known in (stance_times(one), stance_times(both)):
        assert known == {"right": pytest.approx(0.6), "left": pytest.approx(0.6)}
    for known in (rhythm(one), rhythm(both)):
        assert known["cadence_steps_min"] == pytest.approx(120.0)
        assert known["stance_percent"] == pytest.approx(60.0)
        assert known["double_percent"] == pytest.approx(20.0)
        inman = known["inman"]
        assert inman["step_m"] / inman["cadence_steps_min"] == pytest.approx(WALK_RATIO)
        assert inman["step_m"] * inman["cadence_steps_min"] / 60 == pytest.approx(1.2)


def test_sides_that_differ_are_told_apart():
    limp = walked((0.1, 0.3, 0.05, 0.4), 2)
    assert stance_times(limp) == {"right": pytest.approx(0.45), "left": pytest.approx(0.55)}
    side = {"stance_s": 0.45, "duty_factor": 0.5, "vertical_BW": 1.0, "knee_Nm": 3.0}
    report = {
        "rhythm": rhythm(limp),
        "objective": 1.0,
        "phases_s": {"a": 0.1},
        "sides": {"right": side, "left": side | {"stance_s": 0.55}},
    }
    text = "\n".join(walk_lines(report))
    assert "stance" in text and "right +0.45 s, left +0.55 s, right less left -0.1" in text


def test_impulses_are_what_brakes_and_what_pushes_over_a_stride(monkeypatch):
    t = np.linspace(0.0, 0.5, 501)
    wave = np.sin(2 * np.pi * t / 0.5)  # whose halves have areas of 0.5 / pi
    forces = {
        "right": np.array([0 * t, 1 + 0 * t, 0.2 * wave]),
        "left": np.array([0 * t, 0 * t, -0.1 + 0 * t]),
    }
    monkeypatch.setattr(sides_of, "_forces", lambda phase: (t, forces))
    both = impulses(walked((0.1, 0.4), 2))
    area = 2 * 0.2 * 0.5 / np.pi  # of two phases
    for name, sign in (("braking_impulse_BWs", -1), ("propulsion_impulse_BWs", 1)):
        assert both["right"][name] == pytest.approx(sign * area, rel=1e-4)
    assert both["left"]["braking_impulse_BWs"] == pytest.approx(-0.1)
    assert both["left"]["propulsion_impulse_BWs"] == 0.0
    one = impulses(walked((0.1, 0.4), 1))
    assert one["right"] == one["left"]
    assert one["right"]["braking_impulse_BWs"] == pytest.approx(-area - 0.1, rel=1e-4)


def test_sources_of_people_agree_on_how_they_walk():
    known = rhythm(walked((0.1, 0.4), 1))
    assert known["kirtley"]["stance_percent"] == pytest.approx(60.0)
    assert known["kirtley"]["double_percent"] == pytest.approx(20.0)
    winter = known["winter"]
    assert winter["step_m"] / winter["cadence_steps_min"] == pytest.approx(WALK_RATIO, rel=5e-3)
    assert winter["step_m"] * winter["cadence_steps_min"] / 60 == pytest.approx(1.325)
