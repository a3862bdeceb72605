"""Splines whose knots move: the curve as a function of control points and distances to knots."""

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline
from ocp.motion.free_knots import (
    knot_distances,
    locate,
    spline_value,
    with_given_knots,
    with_widths,
)

DEGREES = (3, 4, 5)


def spline(degree, points=11, seed=0, **fields):
    """A spline of free knots drawn at random."""
    free = BSpline(points=points, degree=degree, knots="free", **fields)
    return with_widths(free, np.random.default_rng(seed).uniform(0.2, 2.0, free.segments))


def local(motion, points, s):
    """Control points, distances back and on, of the segment of the instant s."""
    segment = locate(motion, [s])[0][0]
    widths = np.diff(motion.breaks)
    back, on, past = (matrix[0] @ widths for matrix in knot_distances(motion, [s]))
    return points[:, segment : segment + motion.degree + 1], back, on, past


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("order", range(3))
def test_the_curve_of_distances_is_that_of_the_basis(degree, order):
    motion = spline(degree)
    points = np.random.default_rng(1).standard_normal((2, motion.points))
    for s in (0.0, 0.013, *motion.breaks[1:-1], 0.77, 1.0):
        around, back, on, past = local(motion, points, s)
        expected = points @ motion.values(s, order)[0]
        np.testing.assert_allclose(spline_value(around.T, back, on, order), expected, rtol=1e-10)
        assert past == pytest.approx(s, abs=1e-15)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("order", range(3))
def test_derivatives_by_distances_are_those_of_complex_steps(degree, order):
    random = np.random.default_rng(2)
    points, back, on = (random.uniform(0.1, 1.0, size) for size in (degree + 1, degree, degree))
    back, on = np.cumsum(back), np.cumsum(on)
    x = np.concatenate([points, back, on])
    y = ca.SX.sym("y", len(x))
    parts = [ca.vertsplit(y)[k : k + n] for k, n in ((0, degree + 1), (degree + 1, degree))]
    q = spline_value(*parts, ca.vertsplit(y)[2 * degree + 1 :], order)
    slope = ca.Function("slope", [y], [ca.jacobian(q, y)])
    for k in range(len(x)):
        stepped = x.astype(complex)
        stepped[k] += 1e-30j
        cuts = np.split(stepped, [degree + 1, 2 * degree + 1])
        assert float(slope(x)[k]) == pytest.approx(
            spline_value(*cuts, order).imag / 1e-30, rel=1e-12
        )


def test_instants_lie_in_the_segment_that_their_knot_begins():
    motion = BSpline(points=6, knots="free", inner=(0.2, 0.5))
    segment, share = locate(motion, [0.0, 0.1, 0.2, 0.35, 0.5, 1.0])
    assert segment.tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(share, [0, 0.5, 0, 0.5, 0, 1], atol=1e-15)


@pytest.mark.parametrize("degree", DEGREES)
def test_the_curve_is_smooth_where_other_knots_coincide(degree):
    random = np.random.default_rng(3)
    points = random.standard_normal(degree + 1)
    back = np.append(0.1, np.full(degree - 1, 0.3))  # all knots before are one
    on = np.full(degree, 0.2)
    y = ca.SX.sym("y", 2 * degree)
    q = spline_value(points, *(ca.vertsplit(part) for part in ca.vertsplit(y, degree)), 2)
    second = ca.Function("second", [y], [ca.hessian(q, y)[0]])(np.append(back, on))
    assert np.isfinite(np.array(second)).all()


def test_moved_knots_part_the_motion_and_keep_their_spacing():
    free = BSpline(points=8, knots="free", spacing=0.05)
    motion = with_widths(free, [1e-9, 4.0, 0.0, 2.0, 1.0])
    widths = np.diff(motion.breaks)
    assert widths.min() >= 0.05 - 1e-12 and widths.sum() == pytest.approx(1.0, abs=1e-15)
    assert widths[1] > widths[3] > widths[4] > widths[0]
    assert with_given_knots(motion) == BSpline(points=8, inner=motion.inner, spacing=0.05)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("order", (0, 2))
def test_where_equalities_hold_moves_with_the_knots_and_stays_well_posed(degree, order):
    motion = spline(degree, points=14, seed=4)
    equal = BSpline(points=14, degree=degree)
    s = motion.abscissae(order)
    at = np.interp(equal.abscissae(order), equal.breaks, motion.breaks)
    np.testing.assert_allclose(s, at, atol=1e-14)
    matrix = motion.values(s) if order == 0 else motion.values(s, 2)
    assert np.linalg.matrix_rank(matrix) == 14 - order


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"knots": "loose"}, "knots: expected given or free, got 'loose'"),
        ({"knots": np.array([0.2, 0.5])}, "knots: expected given or free, got array([0.2, 0.5])"),
        ({"knots": "free", "degree": 2}, "clamped spline of degree 3 or more, got degree 2"),
        ({"knots": "free", "clamped": False}, "clamped spline of degree 3 or more"),
        ({"knots": "free", "spacing": 0.25}, "begin at least 0.25 apart (spacing), got 5 equal"),
        ({"knots": "free", "inner": (0.2, 0.5, 0.5, 0.9)}, "begin at least 0.001 apart"),
        ({"spacing": 0.0}, "spacing: expected a part of the motion, 1e-05 or more and below 1"),
        ({"spacing": True}, "spacing: expected a part of the motion"),
    ],
)
def test_knots_that_cannot_be_free_are_refused_by_name(fields, message):
    with pytest.raises(ValueError) as error:
        BSpline(**{"points": 8, "degree": 3} | fields)
    assert message in str(error.value)
