"""The first step of walking and the last one: who stands where, from rest and to it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from human_bodies import FEW_JOINTS
from phased_motions import moved

from ocp import Solver, Spline, Strength, Transcription
from ocp.mechanics import center_of_mass, positions
from ocp.models.human import human
from ocp.problems import gait
from ocp.problems.gait import gait_start, gait_stop
from ocp.problems.gait.starting_stopping import (
    SteadyWalk,
    by_way,
    carried,
    closing,
    draw,
    phases,
    posture,
    releasing,
    solve,
    standing,
    start_lines,
    start_report,
    stop_lines,
    stop_report,
)
from ocp.problems.gait.starting_stopping.contact_schedule import apart
from ocp.problems.gait.starting_stopping.end_states import steady
from ocp.problems.gait.starting_stopping.solve import postures
from ocp.problems.gait.statement.contact_schedule import PLAIN
from ocp.solvers.progress import listen
from ocp.studies import call_by_flags

WIDTH = 0.1
EFFORT = SteadyWalk(active=FEW_JOINTS, objective="effort")
FEW = Transcription(method=Spline(nodes=2))  # whose torques are bounded at few instants


@pytest.fixture(scope="module")
def started():
    """Return the first step of a body of few joints."""
    return by_way(gait_start.problem(EFFORT), FEW, Solver()).require(coarse=True)


@pytest.fixture(scope="module")
def stopped():
    """Return the last step of a body of few joints, which this barrier finds in a third of the
    iterations."""
    quick = Solver(options={"mu_strategy": "adaptive"})
    return by_way(gait_stop.problem(EFFORT, settling=0.4), FEW, quick).require(coarse=True)


def place(tree, q, name):
    """Return a named point of a tree (3,)."""
    return np.array(positions(tree, q, (name,))[0]).ravel()


@pytest.mark.parametrize(("side", "sign"), [("right", -1), ("left", 1)])
def test_one_stands_on_flat_feet_with_the_mass_before_the_ankles(side, sign):
    body = human()
    q = posture(body, WIDTH, 0.3, side)
    for foot in ("right", "left"):
        places = [place(body, q, f"{name}_{foot[0]}") for name in ("heel", "toe", "ball_lat")]
        np.testing.assert_allclose([each[1] for each in places], 0.0, atol=1e-9)
        assert places[0][2] == pytest.approx(0.3)
    heel = place(body, q, f"heel_{side[0]}")
    assert heel[0] == pytest.approx(sign * WIDTH / 2)
    mass, ankle = np.array(center_of_mass(body, q)).ravel(), place(body, q, "ankle_r")
    assert 0.03 < mass[2] - ankle[2] < 0.06


def test_feet_stand_side_by_side_before_and_after():
    body = human()
    for ground in (releasing(body, WIDTH, PLAIN, 0.05), standing(body, WIDTH)):
        right, left = (
            {pin.point: pin.target for pin in ground.foot(side).supports[0].pins}
            for side in ("right", "left")
        )
        between = np.array(left["heel_l"]) - right["heel_r"]
        np.testing.assert_allclose(between, (apart(body), 0.0, 0.0), atol=1e-12)
    assert all(foot.bears == (-np.inf, np.inf) for foot in standing(body, WIDTH).feet)


def test_the_foot_that_swings_leaves_heel_first_and_the_other_never():
    ground = releasing(human(), WIDTH, PLAIN, 0.05)
    left, right = ground.foot("left"), ground.foot("right")
    assert [support.when for support in left.supports] == [(0, 0.05), (0.05, 0.1), (0.1, 0.2)]
    assert left.bears[1] == 0.2
    assert right.bears == (-np.inf, np.inf)
    assert [support.when for support in right.supports] == [(0, 0.75), (0.75, 1)]
    last = closing(human(), 0.5, WIDTH, PLAIN)
    assert [support.when for support in last.foot("right").supports] == [(0, 0.15), (0.15, 1)]


@pytest.mark.commands
def test_a_start_begins_at_rest_and_ends_as_the_steady_walk(started):
    first, *_, last = started.phases.values()
    tree, walked = started.problem.tree, steady(**ASKED)
    np.testing.assert_allclose(first.q(0.0), posture(tree, WIDTH), atol=1e-9)
    for rates in (first.qd(0.0), first.qdd(0.0)):
        np.testing.assert_allclose(rates, 0.0, atol=1e-9)
    shift = np.zeros(tree.dof)
    shift[tree.coordinate("glob_tz")] = 1.2
    np.testing.assert_allclose(last.q(last.duration), walked.q(0.0) + shift, atol=1e-7)
    np.testing.assert_allclose(last.qd(last.duration), walked.qd(0.0), atol=1e-6)


@pytest.mark.commands
def test_before_the_first_step_the_centre_of_pressure_goes_back_and_to_the_foot_that_swings(
    started, tmp_path
):
    entry = start_report(started)["start"]
    assert entry["pressure_back_m"] > 0.02
    assert entry["pressure_aside_m"] > 0.02
    assert entry["first_foot_bears_BW"] > 0.55
    assert 0.6 < entry["first_strike"] < 0.95
    assert entry["strike_s"] == pytest.approx(1.07)
    assert len(start_lines({"start": entry})) == 9
    draw(started, tmp_path / "start.png")
    assert (tmp_path / "start.png").stat().st_size > 1e4


@pytest.mark.commands
def test_a_stop_begins_as_the_steady_walk_and_ends_at_rest(stopped):
    first, *_, last = stopped.phases.values()
    tree, walked = stopped.problem.tree, steady(**ASKED)
    np.testing.assert_allclose(first.q(0.0), walked.q(0.0), atol=1e-7)
    np.testing.assert_allclose(first.qd(0.0), walked.qd(0.0), atol=1e-6)
    rest = posture(tree, WIDTH, 0.5, "left")
    np.testing.assert_allclose(last.q(last.duration), rest, atol=1e-9)
    for rates in (last.qd(last.duration), last.qdd(last.duration)):
        np.testing.assert_allclose(rates, 0.0, atol=1e-8)
    entry = stop_report(stopped)["stop"]
    assert 1.0 > entry["last_strike"] > entry["landing"] > 0.0
    assert entry["braking_BWs"]["left"] > entry["braking_BWs"]["right"] > 0
    assert entry["pressure_before_mass_m"] > 0.1
    assert len(stop_lines({"stop": entry})) == 5


ASKED = {
    "speed": 1.2,
    "step": 0.6,
    "width": WIDTH,
    "person": "",
    "active": FEW_JOINTS,
    "objective": "effort",
    "smooth": None,
    "points": None,
}


def test_a_first_guess_strikes_where_the_foot_shall_stand():
    stated = gait_start.problem(EFFORT, first_step=0.4)
    known = dict(postures(stated))
    assert list(known) == [0, 1, 3, 5]
    np.testing.assert_allclose(known[0], known[1])
    heel = place(stated.tree, known[3], "heel_l")
    assert heel[2] == pytest.approx(0.4)
    assert heel[0] == pytest.approx(WIDTH / 2, abs=0.01)
    state = carried(steady(**ASKED), 1.0)
    np.testing.assert_allclose(known[5], state["q"])


@pytest.mark.parametrize(
    ("living", "told"),
    [({}, {"q", "qd", "qdd"}), ({"passive": True, "strength": "angle"}, {"q", "qd"})],
)
def test_people_with_strength_over_angle_start_and_stop_without_the_walk_s_accelerations(
    living, told
):
    body = human(**living)
    still = dict.fromkeys(("q", "qd", "qdd"), lambda t: np.zeros((body.dof, 1)))
    assert set(carried(SimpleNamespace(problem=SimpleNamespace(tree=body), **still))) == told


def test_the_motion_s_points_are_not_those_of_the_walk_whose_state_it_has(monkeypatch):
    """Nor is the weight of accelerations another than the walk's."""
    asked = []

    def walked(**flags):
        asked.append(flags)
        return SimpleNamespace(problem=call_by_flags(gait.problem, flags))

    monkeypatch.setattr(phases, "steady", walked)
    for objective, found in (("elastic", 18), ("effort", 8)):
        walk = SteadyWalk(active=FEW_JOINTS, objective=objective)
        who, finer = phases.walker(walk), phases.walker(replace(walk, points=24))
        assert (who.points, finer.points) == (found, 24)
        degree = who.spline(who.time).degree
        assert who.spline(who.time).points == found
        assert finer.spline(2 * who.time).points == 2 * (24 - degree) + degree
    assert {each["points"] for each in asked} == {each["smooth"] for each in asked} == {None}


def test_graphs_of_people_with_strength_are_built_once(monkeypatch):
    """As many as there are phases; the first solve has constant torque limits alone."""
    weak = Strength(joint="shoulder", direction=1, capacity=lambda x, speed: 3.0 - 0.5 * x**2)
    stated, words = moved(), []
    stated = replace(stated, tree=replace(stated.tree, elements=(weak,)))
    monkeypatch.setattr(solve, "straight", lambda problem: None)
    with listen(words.append):
        ended = solve.by_limits(stated, Transcription(), Solver())
    assert sum(each.startswith("builds graphs") for each in words) == len(stated.phases)
    first = ended.statistics["constant_limits"]
    assert 0 < first["iterations"] < ended.statistics["iterations"]
    assert first["constraints"] < ended.statistics["constraints"]
    assert "part 1: strength" in ended.multipliers


@pytest.mark.parametrize(
    ("module", "flags", "words"),
    [
        (gait_start, {"shifting": 0.0}, "shifting: expected a number above 0"),
        (gait_start, {"first_step": -0.6}, "first_step: expected a number above 0"),
        (gait_start, {"objective": "effort", "points": 3}, "points: expected at least 4, got 3"),
        (gait_start, {"speed": -1.0}, "speed: expected a number above 0"),
        (gait_stop, {"settling": -1.0}, "settling: expected a number above 0"),
        (gait_stop, {"last_step": 0.0}, "last_step: expected a number above 0"),
        (gait_stop, {"objective": "none"}, "objective: expected one of human, elastic"),
    ],
)
def test_what_makes_no_step_is_refused_by_name(module, flags, words):
    with pytest.raises(ValueError, match=words):
        module.TASK.state({"active": FEW_JOINTS} | flags)
