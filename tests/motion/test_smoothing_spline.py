"""Number of control points of a smoothing spline, with and without gaps in the data."""

import numpy as np

from ocp.motion import BSpline, cross_validate, fit_samples

S = np.linspace(0.0, 1.0, 201)
CURVES = np.array([np.sin(6 * S), np.cos(4 * S)])


def noisy(size, missing=()):
    values = CURVES + size * np.random.default_rng(0).standard_normal(CURVES.shape)
    values[0, list(missing)] = np.nan
    return values


def error(values, missing=()):
    basis = cross_validate(S, values, 3)
    off = fit_samples(basis, S, values) @ basis.values(S).T - CURVES
    return basis.points, np.sqrt(np.mean(np.delete(off, list(missing), axis=1) ** 2))


def test_more_noise_leaves_fewer_points_and_less_of_it_behind():
    few, rough = error(noisy(0.1))
    many, fine = error(noisy(1e-6))
    assert few < many and rough < 0.1 / 3 and fine < 1e-6


def test_gaps_do_not_spoil_what_stands_beside_them():
    gap = range(80, 110)
    points, off = error(noisy(1e-3, gap), gap)
    assert points < 20 and off < 1e-3 / 2


def test_without_gaps_it_is_the_least_squares_spline():
    basis = BSpline(points=12, degree=3)
    values = noisy(0.1)
    np.testing.assert_allclose(fit_samples(basis, S, values), basis.fit(values, S), atol=1e-12)
