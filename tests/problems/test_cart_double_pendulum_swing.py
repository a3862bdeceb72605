"""The cart with two poles: one optimum by independent transcriptions, and by refinement."""

import pytest

from ocp import Radau, Transcription, solve, verify
from ocp.problems.swing_ups.cart_double_pendulum_swing import problem

OPTIMUM = 146.2860  # N2 s: from the straight motion; splines and both kinds of mesh agree


def test_the_default_spline_is_certified():
    swung = solve(problem())
    assert swung.objective == pytest.approx(OPTIMUM, rel=2e-6) and not swung.explanation
    assert verify(swung).require(1e-2)


def test_collocation_finds_the_same():
    swung = solve(problem(points=40), Transcription(method=Radau(intervals=80, order=4)))
    assert swung.success and swung.objective == pytest.approx(OPTIMUM, rel=2e-6)


def test_too_few_points_lead_astray_and_say_so():
    astray = solve(problem(points=60))
    assert astray.success and verify(astray).goal_drift > 0.17
    assert "laws of motion are missed" in astray.explanation[0]
    assert "rad or m astray" in astray.explanation[0]


def test_a_coarse_spline_is_refined_to_it():
    refined = solve(problem(points=20, degree=3), refine=1e-2)
    assert refined.success and refined.verification.require(1e-2)
    assert refined.objective == pytest.approx(OPTIMUM, rel=1e-4)
