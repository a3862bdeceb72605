"""The inverse problem along the squat's motion: a clock, polynomials of time, reserve torques."""

import numpy as np
import pytest

from ocp import HermiteSimpson, Transcription, solve
from ocp.problems.benchmarks.muscles.compare_inverse import (
    JOINTS,
    Motion,
    along_clock,
    fitted_motion,
    main,
)
from ocp.problems.human.squat_to_stand import problem


def motion(bend, duration=0.5):
    """All joints at `bend` (rad) times 1 + u / 10 + u^2 / 20, u from -1 to 1."""
    rows = np.outer([bend] * len(JOINTS), [1.025, 0.1, 0.025])
    return Motion(coefficients=rows, duration=duration)


def test_polynomials_of_time_and_their_rates_are_those_of_powers():
    t = np.linspace(0.0, 0.5, 7)
    u = 4 * t - 1
    expected = (1 + 0.1 * u + 0.05 * u**2, 4 * (0.1 + 0.1 * u), 16 * 0.1 + 0 * u)
    for order, values in enumerate(expected):
        np.testing.assert_allclose(motion(1.0).places(t, order), [values] * 3, atol=1e-12)


def test_polynomials_through_a_motion_do_not_oscillate_at_its_ends():
    """Accelerations of the squat by torques are at most 20 rad/s2 there."""
    squat = solve(problem(torques=True), Transcription(method=HermiteSimpson(intervals=25)))
    fitted, off = fitted_motion(squat)
    ends = np.array([0.0, squat.duration])
    assert off < 2e-4
    np.testing.assert_allclose(fitted.places(ends, 2), squat.qdd(ends), atol=1.0)


def test_excitations_along_a_motion_leave_little_to_reserves():
    along = along_clock(motion(-0.2), 0.5, degree=12)
    solution = solve(along, Transcription(method=HermiteSimpson(intervals=3)))
    assert solution.success
    assert solution.q([0.0, 0.5])[0] == pytest.approx([0.0, 0.5], abs=1e-9)
    terms = {name: value for name, _, value in solution.terms}
    assert 0 < terms["reserves"] < 0.2 * solution.objective


def test_a_model_that_is_no_file_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--model", "none.osim"])
    assert "model:" in capsys.readouterr().err
