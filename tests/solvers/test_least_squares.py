"""Least squares within bounds: where they end, and what they say of directions nobody sees."""

import numpy as np
import pytest

from ocp.solvers.least_squares import echelon, information, least_squares

FREE = (np.full(2, -np.inf), np.full(2, np.inf))
SIZES = np.ones(2)


def curved(x):
    """Residuals of Rosenbrock's function, zero at (1, 1)."""
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), np.array([[-20 * x[0], 10], [-1, 0]])


def test_a_curved_valley_is_followed_to_its_end():
    least = least_squares(curved, np.array([-1.2, 1.0]), FREE, SIZES)
    assert least.success
    assert np.abs(least.x - 1).max() < 1e-9


def test_at_a_bound_the_other_unknowns_are_the_best_there():
    least = least_squares(curved, np.array([-1.2, 1.0]), (FREE[0], np.array([0.5, 9.0])), SIZES)
    assert least.success
    assert least.bound.tolist() == [True, False]
    assert least.x == pytest.approx([0.5, 0.25], abs=1e-9)


def test_a_bound_that_does_not_push_is_left():
    least = least_squares(curved, np.array([0.0, 0.0]), (np.zeros(2), FREE[1]), SIZES)
    assert least.success
    assert not least.bound.any()
    assert least.x == pytest.approx([1, 1], abs=1e-9)


def test_a_direction_that_nothing_sees_stays_as_near_to_the_start_as_it_can():
    slopes = np.array([[1.0, 1.0], [2.0, 2.0]])
    least = least_squares(
        lambda x: (slopes @ x - (4.0, 8.0), slopes), np.array([0.0, 1.0]), FREE, SIZES
    )
    assert least.success
    assert least.x == pytest.approx([1.5, 2.5], abs=1e-12)


def test_a_search_that_is_cut_short_is_no_success():
    least = least_squares(curved, np.array([-1.2, 1.0]), FREE, SIZES, iterations=2)
    assert not least.success
    assert "iterations" in least.status


def test_residuals_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="not finite"):
        least_squares(lambda x: (x * np.nan, np.eye(2)), np.zeros(2), FREE, SIZES)


def test_covariance_is_that_of_the_normal_equations():
    slopes = np.random.default_rng(0).standard_normal((30, 3)) * (1.0, 1e3, 1e-4)
    known = information(slopes, np.array([1.0, 1e-3, 1e4]), np.zeros(3, dtype=bool))
    assert known.covariance == pytest.approx(np.linalg.inv(slopes.T @ slopes), rel=1e-9)
    assert not len(known.blind)
    assert known.condition < 3


def test_an_unknown_at_a_bound_counts_as_known():
    slopes = np.random.default_rng(1).standard_normal((30, 3))
    known = information(slopes, np.ones(3), np.array([False, True, False]))
    rest = slopes[:, [0, 2]]
    assert known.covariance[np.ix_([0, 2], [0, 2])] == pytest.approx(np.linalg.inv(rest.T @ rest))
    assert not known.covariance[1].any()


def test_what_is_not_seen_is_told_unknown_by_unknown():
    slopes = np.random.default_rng(2).standard_normal((30, 2)) @ [[1, 1, 0, 0], [0, 0, 0, 1.0]]
    known = information(slopes, np.ones(4), np.zeros(4, dtype=bool))
    assert {tuple(np.flatnonzero(row)) for row in known.blind} == {(0, 1), (2,)}
    assert known.sees(np.array([1, 1, 0, 5.0]))
    assert not known.sees(np.array([1, 0, 0, 0.0]))
    assert not known.sees(np.array([1, 1, 0.1, 0.0]))


def test_fewer_residuals_than_unknowns_leave_the_rest_unseen():
    known = information(np.array([[1.0, 2.0, 0.0]]), np.ones(3), np.zeros(3, dtype=bool))
    assert len(known.blind) == 2
    assert np.abs(known.blind @ [1, 2, 0]).max() < 1e-12


def test_reduced_rows_span_the_same():
    rows = np.random.default_rng(3).standard_normal((3, 7))
    reduced = echelon(rows)
    assert np.linalg.matrix_rank(np.vstack([rows, reduced]), tol=1e-9) == 3
    assert ((np.abs(reduced) > 0).sum(axis=0) == 1).sum() >= 3


def test_slopes_that_are_wrong_are_no_success():
    least = least_squares(lambda x: (x + 1.0, -np.eye(2)), np.zeros(2), FREE, SIZES)
    assert not least.success
    assert "no step" in least.status


def test_residuals_that_stay_large_are_made_least():
    start, truth = np.array([1.0, 1.0]), np.linspace(0, 1, 20)
    rough = np.exp(1.5 * truth) + np.random.default_rng(5).standard_normal(20)

    def residuals(x):
        shape = np.exp(x[1] * truth)
        return x[0] * shape - rough, np.stack([shape, x[0] * truth * shape], axis=1)

    least = least_squares(residuals, start, FREE, SIZES)
    assert least.success
    assert least.residuals @ least.residuals > 5
    assert np.abs(least.slopes.T @ least.residuals).max() < 1e-5
