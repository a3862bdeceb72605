"""Motions whose knots were found: better than those on given knots, and whole in all that looks at
them."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import Attempt, BSpline, Solver, load, refine, solve, verify
from ocp.certificate.merged_violations import violations
from ocp.motion.free_knots import with_given_knots, with_widths
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.report import describe
from ocp.report.report import report_lines
from ocp.storage.result_files import save


def free(points=12, **fields):
    """The fastest motion of two links on free knots."""
    motion = BSpline(points=points, knots="free", **fields)
    return replace(fastest(), motion=motion)


@pytest.fixture(scope="module")
def found():
    return solve(free(), certify=True).require()


def test_free_knots_make_the_motion_better_and_are_certified(found, quick):
    assert found.duration < quick.duration - 1e-4
    assert found.verification.kkt < 1e-7 and found.verification.drift < 1e-7
    assert found.verification.violations["torque_limits"].nodes < 1e-7
    assert found.problem.motion.inner and found.problem.motion.knots == "free"


def test_the_certificate_sees_knots_that_are_not_at_rest(quick):
    claimed = replace(quick, problem=replace(quick.problem, motion=free().motion))
    assert verify(quick).kkt < 1e-7 and verify(claimed).kkt > 1e-3


def test_knots_come_to_rest_from_afar():
    begin = free(points=7, inner=(0.1, 0.2, 0.3))
    done = solve(begin, certify=True).require(coarse=True)
    assert done.verification.kkt < 1e-6
    widths = np.diff(begin.motion.breaks) / np.diff(done.problem.motion.breaks)
    assert widths.min() < 0.5 or widths.max() > 2  # farther than a first stage reaches


def test_the_motion_is_one_of_given_knots_too(found):
    still = replace(found.problem, motion=with_given_knots(found.problem.motion))
    again = solve(still, guess=found).require()
    assert again.duration == pytest.approx(found.duration, rel=1e-8)
    assert np.abs(again.points - found.points).max() < 1e-5


def test_files_keep_the_knots_that_were_found(found, tmp_path):
    save(found, tmp_path / "found.npz")
    for loaded in (load(tmp_path / "found.npz"), load(tmp_path / "found.npz", free())):
        assert loaded.problem.motion == found.problem.motion
        assert verify(loaded).kkt == pytest.approx(found.verification.kkt)
        t = found.times(31)
        np.testing.assert_array_equal(loaded.tau(t), found.tau(t))


def test_a_solution_begins_where_its_knots_are(found):
    again = solve(free(), guess=found).require()
    assert again.duration == pytest.approx(found.duration, rel=1e-9)
    assert again.problem.motion.inner == pytest.approx(found.problem.motion.inner, abs=1e-4)
    assert again.history[0].objective == pytest.approx(found.duration, rel=1e-6)


def test_a_solution_leads_on_to_more_points(found):
    more = solve(free(points=13), guess=found).require()
    assert more.duration < found.duration


def test_the_report_says_where_the_knots_went(found):
    entry = dict(report_lines(describe(found)))
    widths = np.diff(found.problem.motion.breaks)
    assert entry["knots"].startswith(
        f"free: 9 segments, {widths.min():.4g} to {widths.max():.4g} of the motion (spacing 0.001)"
    )
    assert "12 points on free knots" in entry["statement"]
    motion = with_widths(free(spacing=0.01).motion, [1, 0, 0, 3, 1, 1, 1, 1, 1])
    together = replace(found, problem=replace(found.problem, motion=motion))
    s = motion.breaks[1:4].mean()
    text = dict(report_lines(describe(together)))["knots"]
    assert text.endswith(f"together 3 at {s * found.duration:.4g} s")


def test_given_knots_say_nothing(quick):
    assert describe(quick)["knots"] == {} and "knots" not in dict(report_lines(describe(quick)))


def test_multipliers_stand_where_their_instants_went(found):
    torque = found.multipliers["torque_limits"].s
    np.testing.assert_allclose(torque, found.problem.motion.grid(4), atol=1e-12)
    assert found.multipliers["knots"].values.shape == (1, 1)
    assert np.abs(found.multipliers["knot_spacing"].values).max() < 1e-6  # none is at its spacing


def test_a_limit_that_stops_the_knots_is_no_success(found):
    limit = found.statistics["iterations"] - 9
    stopped = solve(free(), solver=Solver(options={"max_iter": limit}))
    assert not stopped.success and stopped.statistics["iterations"] == limit
    assert stopped.status == "Maximum_Iterations_Exceeded" and stopped.duration < 0.41


def test_knots_that_do_not_come_to_rest_are_no_success(monkeypatch):
    monkeypatch.setattr("ocp.solving.starts.knot_continuation.STAGES", 1)
    restless = solve(free(points=7, inner=(0.1, 0.2, 0.3)), attempts=[Attempt()])
    assert not restless.success and "did not come to rest" in restless.explanation[0]
    assert max(row.nodes for row in violations(restless).values()) < 1e-6


def test_refinement_goes_on_from_the_knots_that_were_found(found):
    limited = Solver(options={"max_iter": 20})
    done = refine(found.problem, 1e-4, solver=limited, guess=found, rounds=2)
    motion, rounds = done.problem.motion, done.statistics["refinement"]
    assert len(rounds) == 2 and motion.knots == "given"
    nearest = np.abs(np.array(motion.inner) - np.array(found.problem.motion.inner)[:, None])
    assert (nearest.min(axis=1) < 1e-6).sum() >= 4  # others give way to jumps
