"""Refinement: rounds until the certificate holds, breaks respected, and a limit that says so."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.certificate.checks.discontinuities import find_breaks
from ocp.models.arms.two_link import two_link
from ocp.motion import Mesh
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.swing_ups.cart_pole_swing import problem as swing
from ocp.solving.refinement import rounds
from ocp.solving.refinement.bang_bang import Jump, find_jumps
from ocp.solving.refinement.mesh_error import (
    MeshErrors,
    finer_mesh,
    finer_spline,
    split_instants,
    worst_middles,
)
from ocp.solving.refinement.refined_bases import _errors_by_curve
from ocp.transcription import with_dependent_curves
from ocp.transcription.transcription_settings import SizeError

FASTEST = 0.3918545  # s: of the two-link arm, on ever finer meshes
SWING = 58.8077  # N2 s: of the cart and its pole


@pytest.fixture(scope="module")
def swung():
    """The cart's swing from a straight line on a spline that no motion lies on."""
    return ocp.solve(swing(points=12), refine=1e-3)


def test_a_swing_on_too_few_points_is_refined_until_its_certificate_holds(swung):
    assert swung.success and swung.explanation == ()
    assert ocp.verify(swung).require(1e-3) and swung.verification.require(1e-3)
    assert swung.objective == pytest.approx(SWING, rel=1e-4)


def test_the_rounds_are_listed_and_printed(swung):
    rounds = swung.statistics["refinement"]
    first, last = rounds[0], rounds[-1]
    assert first["points"] == 12 and last["points"] == swung.problem.motion.points
    assert last["objective"] == swung.objective and first["excess"] > 1e-3 >= last["excess"]
    assert sum(one["iterations"] for one in rounds) == swung.statistics["iterations"]
    assert all(one["iterations"] <= 12 for one in rounds[3:])  # each starts from the last
    assert f"round {len(rounds)}" in ocp.summary(swung) and "12 points, " in ocp.summary(swung)


def test_curves_of_ones_own_are_refined_each_where_it_misses():
    """The pole, which follows by its law, gets more segments than the cart, and what the cart's
    rows and the objective ask for no more than the common curve of both does."""
    stated = with_dependent_curves(swing(points=12), 14)
    solution = ocp.solve(stated, refine=1e-3).require()
    assert ocp.verify(solution).require(1e-3)
    assert solution.objective == pytest.approx(SWING, rel=1e-4)
    cart, pole = solution.problem.motion.curves
    assert set(cart.breaks.round(9)) <= set(pole.breaks.round(9))
    assert pole.segments > cart.segments
    rounds = solution.statistics["refinement"]
    assert rounds[1]["spread"] == 7 < rounds[-1]["spread"] == cart.segments
    assert rounds[0]["points"] < rounds[1]["points"]  # of the pole alone, whose law is missed


def test_errors_of_laws_split_the_curves_that_follow_and_those_of_rows_the_others():
    motion = with_dependent_curves(swing(points=12), 14).motion
    cart, pole = motion.curves
    assert (cart.segments, pole.segments) == (7, 14)
    errors, none = np.where(np.arange(14) == 5, 20.0, 0.0), np.zeros(14)
    for laws, rows in ((errors, none), (none, errors)):
        seen = MeshErrors(laws=laws, rows=rows, jumps=(), gross=False)
        found = _errors_by_curve(motion, seen)
        split = [np.flatnonzero(found[curve].errors).tolist() for curve in (cart, pole)]
        assert split == ([[], [5]] if laws.any() else [[2], []])


def test_a_refined_solution_comes_back_from_its_file(swung, tmp_path):
    ocp.save(swung, tmp_path / "swung.npz")
    again = ocp.load(tmp_path / "swung.npz")
    assert again.problem.motion == swung.problem.motion
    np.testing.assert_array_equal(again.points, swung.points)


def test_a_round_that_no_memory_holds_ends_it_with_what_there_is(monkeypatch):
    solved, solve_once = [], rounds.solve_once

    def once(*statement, **settings):
        if solved:
            raise SizeError("size: too many")
        solved.append(solve_once(*statement, **settings))
        return solved[0]

    monkeypatch.setattr(rounds, "solve_once", once)
    refined = ocp.refine(swing(points=12), 1e-3)
    assert not refined.success and refined.objective == solved[0].objective
    assert refined.explanation == (
        "refine: given up, no memory holds the next round",
        "size: too many",
    )


@pytest.fixture(scope="module")
def sped():
    return ocp.refine(fastest(), 1e-3)


def test_knots_are_multiplied_where_torques_jump(sped):
    assert sped.success and sped.duration == pytest.approx(FASTEST, abs=1e-5)
    motion = sped.problem.motion
    assert motion.points <= 60 and motion.degree == 5
    switches = motion.jumps
    assert np.abs(switches - [0.11665, 0.5, 0.60048]).max() < 1e-4


def pushed(when=0.3, duration=1.0, points=8, **fields):
    """An arm that is pushed from a moment on, and asked to slow its elbow after another."""
    arm = two_link()
    push = ocp.Load(point="tip", force=lambda t: (ca.if_else(t < when, 0.0, 6.0), 0.0, 0.0))
    return ocp.Problem(
        tree=replace(arm),
        motion=ocp.BSpline(points=points, degree=5),
        duration=duration,
        objective=ocp.effort(arm),
        constraints=(
            ocp.at_start(arm, q=0.0, qd=0.0),
            ocp.at_end(arm, q=(1.0, -0.5), qd=0.0),
            ocp.path("elbow's rate", lambda at: at.qd[1], upper=2.0, when=(0.71, 0.83)),
        ),
        loads=(push,),
        **fields,
    )


def test_breaks_of_a_statement_are_those_of_its_loads_and_spans():
    torn = find_breaks(pushed(), 1.0)
    np.testing.assert_allclose(torn.jumps, [0.3], atol=1e-8)
    np.testing.assert_allclose(torn.ends, [0.71, 0.83])
    ramp = ocp.Load(point="tip", force=lambda t: (ca.fmax(0.0, t - 0.5), ca.sin(20 * t), 0.0))
    kinked = find_breaks(replace(pushed(), loads=(ramp,)), 2.0)
    np.testing.assert_allclose(kinked.ends, [0.25, 0.71, 0.83], atol=1e-8)
    assert not len(kinked.jumps)


def test_pieces_end_where_the_statement_breaks():
    solution = ocp.refine(pushed(), 1e-3)
    assert solution.success
    knots = solution.problem.motion.breaks
    for s in (0.3, 0.71, 0.83):
        assert np.abs(knots - s).min() < 1e-8
    assert np.abs(solution.problem.motion.jumps - 0.3).min() < 1e-8


def test_intervals_end_where_the_statement_breaks():
    solution = ocp.refine(pushed(), 1e-3, ocp.Transcription(method=ocp.Radau(intervals=4)))
    mesh = solution.problem.motion
    assert solution.success and isinstance(mesh, Mesh)
    for s in (0.3, 0.71, 0.83):
        assert np.abs(mesh.breaks - s).min() < 2e-8
    assert solution.transcription.method.intervals == mesh.intervals


def test_limits_give_up_and_say_so():
    short = ocp.refine(swing(points=12), 1e-3, rounds=2)
    assert not short.success and len(short.statistics["refinement"]) == 2
    assert short.explanation[0] == "refine: given up after 2 rounds"
    assert any("passive_joints (pole)" in line for line in short.explanation)
    small = ocp.refine(swing(points=12), 1e-3, points=30)
    assert small.explanation[0].startswith("refine: given up before ")
    assert small.problem.motion.points <= 30


def test_what_no_round_can_do_is_given_up_early():
    hopeless = replace(fastest(points=8), duration=0.05)
    solution = ocp.refine(hopeless, 1e-3, attempts=ocp.PLAIN)
    rounds = solution.statistics["refinement"]
    assert len(rounds) == 3 and not solution.success and not any(one["solved"] for one in rounds)
    assert solution.explanation[0] == "refine: given up, 3 rounds in a row found no motion"


def test_all_rounds_share_one_budget():
    alone = ocp.solve(swing(points=12)).statistics["iterations"]
    limit = ocp.Solver(options={"max_iter": alone + 4})
    solution = ocp.refine(swing(points=12), 1e-3, solver=limit)
    assert alone < solution.statistics["iterations"] <= alone + 5 and not solution.success
    assert "limit of iterations or time" in solution.explanation[0]


def test_what_cannot_be_refined_is_refused():
    with pytest.raises(ValueError, match="^refine: expected a tolerance above 0, got -1"):
        ocp.refine(swing(), -1)
    with pytest.raises(ValueError, match="^refine: expected a tolerance above 0, got '1e-3'"):
        ocp.refine(swing(), "1e-3")
    with pytest.raises(ValueError, match="^refine: rounds: expected a whole number of at least 1"):
        ocp.refine(swing(), 1e-3, rounds=0)


def test_segments_are_split_where_errors_are_and_beside_them():
    ends = np.linspace(0, 1, 6)
    more = split_instants(ends, np.array([0.1, 0.1, 0.1, 0.1, 3.0]), 2)
    np.testing.assert_allclose(more, [0.7, 0.8 + 0.2 / 3, 0.8 + 0.4 / 3])
    assert not len(split_instants(ends, np.full(5, 0.9), 4))
    np.testing.assert_allclose(split_instants(ends, np.full(5, np.inf), 4), ends[:-1] + 0.1)


def test_so_many_of_the_worst_segments_are_halved_as_a_comparison_takes():
    ends, errors = np.linspace(0, 1, 51), np.arange(50.0)
    np.testing.assert_allclose(np.sort(worst_middles(ends, errors, 1.2)), np.arange(0.81, 1, 0.02))
    assert len(worst_middles(ends[:21], errors[:20], 1.2)) == 8
    assert len(worst_middles(ends[:4], errors[:3], 1.2)) == 3


def jump(s, width, **fields):
    return Jump(s=s, start=s - width, end=s + width, width=width, **fields)


def test_a_jump_is_enclosed_then_struck_and_its_knot_moved():
    motion = ocp.BSpline(points=16, degree=5)  # 11 segments
    around = finer_spline(motion, np.empty(0), (jump(0.52, 1 / 11, reach=1 / 88),), np.empty(0))
    sides = tuple(around.jumps.tolist())
    np.testing.assert_allclose(sides, 0.52 + np.array([-1, 1]) / 88)
    struck = finer_spline(around, np.empty(0), (jump(0.521, 1 / 44, stood=sides),), np.empty(0))
    assert struck.jumps.tolist() == [0.521]
    moved = finer_spline(struck, np.empty(0), (jump(0.522, 1 / 11, stood=(0.521,)),), np.empty(0))
    assert moved.jumps.tolist() == [0.522] and moved.points == struck.points
    met = finer_mesh(np.linspace(0, 1, 5), np.empty(0), (jump(0.3, 0.004),))
    assert met == (0.25, 0.3, 0.5, 0.75)


def jumps_of(torque, motion, error=0.0):
    """Return the Jumps of a torque(s) between limits of 1 on a motion with errors everywhere."""
    row = ocp.path("torque", lambda at: at.tau, lower=-1.0, upper=1.0)
    s = motion.grid(12)
    return find_jumps(
        [row], motion, s, {"torque": torque(s)[None]}, np.full(motion.segments, error)
    )


def test_a_jump_is_where_its_impulse_says_and_not_where_the_row_crosses_the_middle():
    motion = ocp.BSpline(points=25, degree=5)  # 20 segments

    def lame(s):  # crosses the middle at 0.42, with the impulse of a jump at 0.43
        return np.interp(s, [0.40, 0.42, 0.48], [-1.0, 0.0, 1.0])

    (place,) = jumps_of(lame, motion)
    assert place.s == pytest.approx(0.43, abs=1e-4) and place.knot is None
    assert place.reach == pytest.approx(0.05 / 8) and not place.stood
    assert not jumps_of(lambda s: np.interp(s, [0.3, 0.5], [-1.0, 1.0]), motion)  # no jump


def test_multiple_knots_are_moved_where_errors_are_and_wait_where_none_are():
    knots = [*np.arange(1, 20) / 20, 0.42, 0.42, 0.42, 0.42]
    motion = ocp.BSpline(points=29, degree=5, inner=tuple(sorted(knots)))

    def torque(s):  # of a switch at 0.423, which the knot has at 0.42
        return np.interp(s, [0.42 - 1e-8, 0.42, 0.43], [-1.0, 0.4, 1.0])

    (wrong,) = jumps_of(torque, motion, error=2.0)
    assert (wrong.knot, wrong.stood, wrong.reach, wrong.placed) == (0.42, (0.42,), 0.0, False)
    assert wrong.s == pytest.approx(0.4215, abs=2e-4)
    (waiting,) = jumps_of(torque, motion, error=0.5)
    assert waiting.placed
    assert not jumps_of(lambda s: np.where(s < 0.42, -1.0, 1.0), motion, error=2.0)
    (smooth,) = jumps_of(lambda s: np.interp(s, [0.35, 0.49], [-1.0, 1.0]), motion, error=0.5)
    assert smooth.knot is None and smooth.placed and not smooth.is_smooth  # what is no jump


@pytest.mark.parametrize("points", [9, 18, 38])
def test_every_first_basis_ends_on_the_switches(points):
    solution = ocp.refine(fastest(points=points), 1e-3)
    assert solution.success and solution.duration == pytest.approx(FASTEST, abs=1e-5)
    assert solution.problem.motion.points <= 60 and len(solution.problem.motion.jumps) == 3
    assert len(solution.statistics["refinement"]) <= 6
