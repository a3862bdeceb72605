"""Motions planned with approximate dynamics: what certificates say of tables."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import HermiteSimpson, NotVerified, Transcription, load, solve, verify
from ocp.dynamics import table
from ocp.problems.arms.two_link_time import problem
from ocp.problems.gait import effort_step as gait
from ocp.report.report import describe

STATED = problem()


@pytest.fixture(scope="module")
def exact():
    """The motion by exact mechanics."""
    return solve(STATED).require()


@pytest.fixture(scope="module")
def looked_up():
    """The motion by a small table, and its certificate."""
    solution = solve(STATED, Transcription(dynamics="table(points=9)")).require()
    return solution, verify(solution)


def test_a_table_drives_a_solve_to_the_optimum_that_its_certificate_states(exact, looked_up):
    solution, certificate = looked_up
    known = certificate.require(1e-3).approximation
    change = exact.duration - solution.duration
    assert 1e-6 < abs(change) <= known.objective_bound
    assert known.objective == pytest.approx(change, rel=0.02)
    assert solution.statistics["iterations"] <= exact.statistics["iterations"] + 3
    assert certificate.kkt < 1e-7 and known.held == ()


def test_the_stated_error_of_the_torques_is_that_along_the_motion(looked_up):
    solution, certificate = looked_up
    known, t = certificate.approximation, np.linspace(0, solution.duration, 1001)
    judged = replace(solution, transcription=Transcription())
    gap = np.abs(solution.tau(t) - judged.tau(t))
    assert gap.max() == pytest.approx(known.torque, rel=1e-3)
    assert solution.problem.tree.moving[gap.max(axis=1).argmax()].name == known.joint
    assert known.unit == "N m" and known.relative == pytest.approx(known.torque / 10, rel=0.01)
    line = "configuration tables of degree 3 over elbow 9 points, 43 numbers, 344 bytes"
    assert known.described == line and line in str(certificate)
    assert f"off by up to {known.torque:.2e} N m ({known.joint}" in str(certificate)
    assert describe(solution, certificate)["verification"]["approximation"]["torque"] > 0


def test_exact_mechanics_judge_the_motion_of_a_table(exact, looked_up):
    _, certificate = looked_up
    assert 1e-6 < certificate.violations["torque_limits"].nodes < 1e-2
    assert 1e-6 < certificate.drift < 1e-2 and certificate.energy_error > 1e-6
    assert verify(exact).approximation is None
    with pytest.raises(NotVerified, match=r"'table\(points=9\)' is an approximation: off by up to"):
        certificate.require(1e-4)


def test_four_times_the_points_bring_the_optimum_nearer_by_two_hundred_times(exact, looked_up):
    finer = solve(STATED, Transcription(dynamics=table(points=36))).require()
    gaps = [abs(each.duration - exact.duration) for each in (looked_up[0], finer)]
    assert gaps[1] < gaps[0] / 200


def test_a_motion_stays_in_the_range_of_its_table_and_is_told_where_that_holds_it_back():
    narrow = table(points=17, ranges=(None, (-2.3, -0.9)))
    solution = solve(STATED, Transcription(dynamics=narrow)).require()
    certificate = verify(solution)
    q = solution.q(solution.times(501))[1]
    assert q.min() > -2.31 and certificate.violations["dynamics_range"].dense < 1e-2
    assert certificate.approximation.held == ("q of elbow",)
    assert "holds the motion back: q of elbow" in str(certificate)
    beyond = replace(solution, points=solution.points - 0.4)
    worst = verify(beyond).violations["dynamics_range"]
    assert worst.dense > 0.3 and worst.nodes > 0.3 and worst.label == "q of elbow"
    with pytest.raises(ValueError, match=r"dynamics_range \(q of elbow, s = 0\) asks for at least"):
        solve(STATED, Transcription(dynamics=table(points=9, ranges=(None, (-1.9, 0.0)))))


@pytest.mark.parametrize("form", ["implicit", "explicit"])
def test_collocation_takes_tables_too(form):
    method = HermiteSimpson(intervals=20, form=form)
    solution = solve(STATED, Transcription(method=method, dynamics="table")).require(coarse=True)
    right = solve(STATED, Transcription(method=method)).require(coarse=True)
    known = verify(solution).approximation
    assert abs(solution.duration - right.duration) <= known.objective_bound < 1e-6


def test_coriolis_terms_left_out_are_named_and_refused():
    solution = solve(STATED, Transcription(dynamics="without_coriolis")).require()
    certificate = verify(solution)
    assert certificate.approximation.relative > 0.1 and certificate.drift > 0.1
    with pytest.raises(NotVerified, match="'without_coriolis' is an approximation"):
        certificate.require(0.05)


def test_a_file_holds_the_settings_of_a_table(looked_up, tmp_path):
    solution, _ = looked_up
    ocp.save(solution, tmp_path / "motion.npz")
    again = load(tmp_path / "motion.npz")
    assert again.formulation == table(points=9) and again.formulation.name == "table(points=9)"
    np.testing.assert_allclose(again.tau(0.1), solution.tau(0.1))


def test_a_table_of_too_many_joints_is_refused_by_the_solve():
    with pytest.raises(ValueError, match="table: expected at most 8 moving joints, got 38"):
        solve(gait(), Transcription(dynamics="table"))
