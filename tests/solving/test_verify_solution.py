"""Convergence in the certificate: what the next basis changes bounds what is left of the error."""

from dataclasses import replace

import numpy as np
import pytest
from phased_motions import moved

import ocp
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.swing_ups.cart_pole_swing import problem as swing
from ocp.solving.refinement.refined_bases import next_basis
from ocp.solving.verify_solution import solver_of
from ocp.transcription import with_dependent_curves

STIFF, TIME = 144.0, 1.0  # N/m, s: a mass of 1 kg on it swings at 12 rad/s


def shoved(points):
    """A mass on a spring, shoved by 1 m from rest to rest with the least squared force."""
    body = ocp.Tree(
        links=(ocp.Link(mass=1.0),),
        joints=(ocp.prismatic("slide", axis=(1, 0, 0)),),
        elements=(ocp.Spring(joint="slide", stiffness=STIFF),),
    )
    rest = (ocp.at_start(body, q=0.0, qd=0.0), ocp.at_end(body, q=1.0, qd=0.0))
    return ocp.Problem(
        tree=body,
        motion=ocp.BSpline(points=points),
        duration=TIME,
        objective=ocp.effort(body),
        constraints=rest,
    )


def least_effort():
    """The least integral of squared force, d' W^-1 d, W = integral of phi phi' over the time left,
    phi what a unit impulse makes of place and rate then (Kalman, Ho & Narendra 1963)."""
    w, T = np.sqrt(STIFF), TIME
    sines = T / 2 - np.sin(2 * w * T) / (4 * w)
    cosines = T / 2 + np.sin(2 * w * T) / (4 * w)
    mixed = np.sin(w * T) ** 2 / (2 * w)
    gramian = np.array([[sines / w**2, mixed / w], [mixed / w, cosines]])
    goal = np.array([1.0, 0.0])
    return float(goal @ np.linalg.solve(gramian, goal))


@pytest.mark.parametrize("points", [8, 12, 20])
def test_the_error_of_a_known_optimum_is_at_most_twice_what_is_said(points):
    solution = ocp.solve(shoved(points)).require(coarse=True)
    said = ocp.verify(solution, finer=True).convergence
    before, after = said.objectives
    error, change = solution.objective - least_effort(), before - after
    assert change > 0 and change <= error * (1 + 1e-9) <= 2 * change
    assert said.objective == pytest.approx(change / after)


def test_a_coarse_arm_is_not_converged_and_a_fine_one_is():
    coarse, fine = (ocp.solve(lift(points=points)) for points in (8, 22))
    assert ocp.verify(coarse).require(1e-2)  # which no check of its own laws can see
    with pytest.raises(ocp.NotVerified, match="not converged: on 13 points .* of its range"):
        ocp.verify(coarse, finer=True).require(5e-3)
    certificate = ocp.verify(fine, finer=True).require(5e-3)
    assert certificate.convergence.basis == "22 points"
    assert "converged" in str(certificate)


@pytest.mark.parametrize("method", ["spline", "hermite-simpson", "radau", "integrated"])
def test_the_next_basis_of_every_method_has_the_halves_of_all_segments(method):
    stated, settings = next_basis(lift(points=8), ocp.Transcription(method=method))
    motion = settings.method.with_basis(stated).motion
    known = ocp.Transcription(method=method).method.with_basis(lift(points=8)).motion
    assert motion.segments == 2 * known.segments and motion.degree == known.degree
    assert set(known.breaks.round(9)) <= set(motion.breaks.round(9))
    solution = ocp.solve(lift(points=8), ocp.Transcription(method=method))
    said = ocp.verify(solution, finer=True).convergence
    assert said.solved and said.objective < 1e-2


def test_the_next_basis_halves_the_segments_of_coordinates_own_curves():
    known = with_dependent_curves(swing(points=12), 20).motion
    problem = replace(swing(points=12), motion=known)
    motion = next_basis(problem, ocp.Transcription())[0].motion
    for before, now in zip(known.curves, motion.curves):
        assert now.degree == before.degree
        assert set(_halved(before.breaks).round(9)) <= set(now.breaks.round(9))
        points = np.random.default_rng(0).normal(size=(1, before.points))
        s = np.linspace(0, 1, 101)
        again = now.fit(points @ before.values(s).T, s)
        assert again @ now.values(s).T == pytest.approx(points @ before.values(s).T, abs=1e-9)
    assert motion.curves[0].segments == 2 * known.curves[0].segments
    solution = ocp.solve(problem)
    assert ocp.verify(solution, finer=True).convergence.solved


def _halved(breaks):
    return np.sort(np.append(breaks, (breaks[:-1] + breaks[1:]) / 2))


def test_knots_at_which_torques_jump_stay_on_the_next_basis():
    motion = ocp.BSpline(points=7, inner=(0.3, 0.3, 0.5))
    stated, _ = next_basis(replace(lift(), motion=motion), ocp.Transcription())
    assert stated.motion.inner == (0.15, 0.3, 0.3, 0.4, 0.5, 0.75)


def test_a_motion_of_phases_has_the_curves_of_each():
    said = ocp.verify(ocp.solve(moved()), finer=True).convergence
    assert said.solved and {name.partition(": ")[0] for name in said.curves} == {"part 1", "part 2"}


def test_parts_of_one_spline_stay_its_parts():
    halves = {"first": 0.5, "second": 1.0}
    parts = ocp.in_phases(shoved(8), halves)
    stated, _ = next_basis(parts, ocp.Transcription())
    first, second = (phase.motion for phase in stated.phases)
    assert first.whole == second.whole == next_basis(shoved(8), ocp.Transcription())[0].motion
    whole, split = (ocp.verify(ocp.solve(each), finer=True) for each in (shoved(8), parts))
    assert split.convergence.objective == pytest.approx(whole.convergence.objective, rel=1e-6)


def test_free_knots_and_lengths_stay_where_they_were_found():
    for motion, settings in (
        (ocp.BSpline(points=8, knots="free"), ocp.Transcription()),
        (ocp.BSpline(points=8), ocp.Transcription(method=ocp.Radau(intervals=5, lengths="free"))),
    ):
        solution = ocp.solve(replace(lift(), motion=motion), settings)
        stated, _ = next_basis(solution.problem, solution.transcription)
        assert not stated.motion.moving
        assert set(solution.problem.motion.breaks) <= set(stated.motion.breaks)


@pytest.mark.parametrize("plugin", ["structured", "ipopt"])
def test_the_next_basis_begins_where_the_coarse_motion_stands_whatever_found_it(plugin):
    """A barrier and pushes off bounds that lead to a motion from afar would lead away from it."""
    afar = {"tol": 1e-7, "mu_init": 3e-2, "bound_push": 1e-1, "bound_frac": 1e-1}
    found = [
        ocp.solve(lift(points=12), solver=ocp.Solver(plugin=plugin, options=options))
        for options in (afar, {"tol": 1e-7})
    ]
    assert [dict(solver_of(each).options)["tol"] for each in found] == [1e-7, 1e-7]
    assert "mu_init" not in solver_of(found[0]).options
    said, other = (ocp.verify(each, finer=True).convergence for each in found)
    assert said.solved and said.objective == pytest.approx(other.objective, rel=1e-3)


def test_the_file_keeps_what_was_said(tmp_path):
    solution = ocp.solve(lift(points=8))
    said = ocp.verify(solution, finer=True).convergence
    ocp.save(ocp.certificate.keep_convergence(solution, said), tmp_path / "arm.npz")
    again = ocp.load(tmp_path / "arm.npz")
    assert again.statistics["convergence"]["share"] == said.share
    assert said.words in ocp.summary(again)


def test_what_was_not_solved_is_refused_without_a_second_solve():
    stopped = ocp.solve(lift(points=8), solver=ocp.Solver(options={"max_iter": 2}))
    certificate = ocp.verify(stopped, finer=True)
    assert certificate.convergence is None and certificate.refusals
