"""Two motions of one problem compared: shares of ranges, curves by name, files that keep it."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.certificate.checks.convergence import SMALL, compare_bases, convergence_data
from ocp.problems.arms.two_link_lift import problem as lift


@pytest.fixture(scope="module")
def lifted():
    """The two-link arm's lift, with an output of its own."""
    stated = replace(lift(points=8), outputs={"tip": lambda at: at.position("tip")})
    return ocp.solve(stated)


def moved(solution, row, by):
    """A solution one of whose coordinates is off by a constant (rad)."""
    points = solution.points + by * np.eye(2)[:, [row]]
    return replace(solution, points=points)


def test_a_motion_is_converged_to_nothing_beside_itself(lifted):
    said = compare_bases(lifted, lifted)
    assert said.share == 0.0 and set(said.curves) == {"shoulder", "elbow", "tip"}


def test_a_curve_counts_by_its_change_over_its_range(lifted):
    said = compare_bases(lifted, moved(lifted, 1, 0.02))
    t = np.linspace(0.0, lifted.duration, 201)
    assert said.curves["elbow"].change == pytest.approx(0.02)
    assert said.curves["elbow"].range == pytest.approx(np.ptp(lifted.q(t)[1]))
    assert said.curves["shoulder"].share == 0.0 and said.curves["tip"].change > 0.0
    assert said.share == pytest.approx(max(c.share for c in said.curves.values()) / 2)
    assert next(iter(said.curves.values())).share == max(c.share for c in said.curves.values())


def test_what_barely_moves_counts_by_a_tenth_of_the_largest_range(lifted):
    still = replace(lifted, points=lifted.points * np.array([[1.0], [0.0]]))
    said = compare_bases(still, moved(still, 1, 0.02))
    assert said.curves["elbow"].range == pytest.approx(SMALL * said.curves["shoulder"].range)


def test_what_stands_still_has_no_noise_to_converge(lifted):
    still = replace(lifted, points=0.0 * lifted.points)
    assert compare_bases(still, moved(still, 1, 1e-9)).curves["elbow"].share < 1e-5


def test_a_coordinate_is_named_once(lifted):
    change = compare_bases(lifted, moved(lifted, 1, 0.02)).curves["elbow"]
    assert change.words("swing: elbow").startswith("swing: elbow by ")
    assert replace(change, label="x").words("force left").startswith("force left (x) by ")


def test_a_finer_solve_that_fails_leaves_the_convergence_unknown(lifted):
    failed = replace(lifted, success=False, status="Maximum_Iterations_Exceeded")
    said = compare_bases(lifted, failed)
    assert said.share == np.inf and convergence_data(said)["share"] is None
    assert said.words == "unknown: on 8 points the solve ends with Maximum_Iterations_Exceeded"
