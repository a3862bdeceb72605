"""B-spline bases of every degree, clamped and uniform: exact on polynomials, smooth at knots,
unchanged by refinement; quadratures."""

from itertools import combinations, pairwise
from math import comb, perm, prod

import numpy as np
import pytest
from repeated_cases import for_each

from ocp.motion import BSpline, quadrature, sample, split_segments, transfer

DEGREES = (2, 3, 4, 5)
BASES = [
    BSpline(points=points, degree=degree, clamped=clamped)
    for degree in DEGREES
    for points in (degree + 1, degree + 2, 13)
    for clamped in (True, False)
]
ROUNDING = 1e-14  # of a sum of a few terms of order one

bases = for_each("motion", BASES)


def instants(motion):
    """Instants of every segment, breaks included, on no regular grid."""
    return np.unique(np.concatenate([motion.breaks, np.random.default_rng(0).uniform(0, 1, 60)]))


def polar_form(motion, power):
    """Control points of s^power: the mean product of `power` of the `degree` knots inside each
    basis function (Ramshaw's blossom)."""
    p, knots = motion.degree, motion.knot_vector
    return np.array(
        [
            sum(prod(choice) for choice in combinations(knots[k + 1 : k + p + 1], power))
            / comb(p, power)
            for k in range(motion.points)
        ]
    )


def magnitude(motion, order):
    """Greatest sum of absolute entries in a row of the derivative's matrix: what its rounding
    scales with."""
    return np.abs(motion.values(motion.breaks, order)).sum(axis=1).max() + 1.0


def control_points(motion, joints=3):
    """Random control points (joints, points)."""
    return np.random.default_rng(motion.points).standard_normal((joints, motion.points))


@bases
def test_the_basis_functions_are_positive_and_sum_to_one(motion):
    values = motion.values(instants(motion))
    np.testing.assert_allclose(values.sum(axis=1), 1.0, rtol=0, atol=ROUNDING)
    assert values.min() >= -ROUNDING


@bases
def test_at_most_degree_plus_one_functions_meet_at_an_instant(motion):
    assert (np.count_nonzero(motion.values(instants(motion)), axis=1) <= motion.degree + 1).all()
    assert np.linalg.matrix_rank(motion.values(instants(motion))) == motion.points


@bases
def test_polynomials_up_to_the_degree_and_all_their_derivatives_are_exact(motion):
    s = instants(motion)
    for power in range(motion.degree + 1):
        points = polar_form(motion, power)
        for order in range(motion.degree + 1):
            exact = perm(power, order) * s ** max(power - order, 0)
            np.testing.assert_allclose(
                motion.values(s, order) @ points,
                exact,
                rtol=0,
                atol=ROUNDING * magnitude(motion, order),
            )


@bases
def test_derivative_matrices_are_those_of_each_segments_polynomial(motion):
    """Through degree + 1 instants of a segment goes one polynomial; its derivatives are known."""
    p, width = motion.degree, 1 / motion.segments
    t = np.linspace(0.05, 0.95, p + 1)  # local variable, off the knots
    powers = np.vander(t, increasing=True)
    for start in motion.breaks[:-1]:
        coefficients = np.linalg.solve(powers, motion.values(start + t * width))
        for order in range(p + 1):
            slope = (
                np.array(
                    [[perm(k, order) * x ** max(k - order, 0) for k in range(p + 1)] for x in t]
                )
                / width**order
            )
            scale = np.linalg.cond(powers) * np.abs(slope).sum(axis=1).max()
            np.testing.assert_allclose(
                motion.values(start + t * width, order),
                slope @ coefficients,
                rtol=0,
                atol=ROUNDING * scale,
            )


@bases
def test_derivatives_beyond_the_degree_vanish(motion):
    for order in (motion.degree + 1, motion.degree + 3):
        np.testing.assert_array_equal(
            motion.values([0.0, 0.4, 1.0], order), np.zeros((3, motion.points))
        )


@bases
def test_derivatives_below_the_degree_are_continuous_at_the_knots(motion):
    inner, step = motion.breaks[1:-1], 1e-10
    for order in range(motion.degree):
        jump = motion.values(inner + step, order) - motion.values(inner - step, order)
        assert np.abs(jump).max(initial=0.0) <= 2 * step * magnitude(
            motion, order + 1
        ) + 10 * ROUNDING * magnitude(motion, order)


@for_each("degree", DEGREES)
@for_each("clamped", (True, False))
def test_a_jump_takes_the_value_from_the_right_and_at_the_end_from_the_left(degree, clamped):
    for segments in range(1, 31):
        motion = BSpline(points=segments + degree, degree=degree, clamped=clamped)
        inside = 1e-3 / segments
        for knots in (motion.breaks, sample(motion, 3)[::3]):
            right = motion.values(knots[:-1] + inside, degree)
            end = motion.values(1.0 - inside, degree)
            tolerance = ROUNDING * magnitude(motion, degree)
            np.testing.assert_allclose(
                motion.values(knots[:-1], degree),
                right,
                rtol=0,
                atol=tolerance,
                err_msg=f"{segments} segments",
            )
            np.testing.assert_allclose(motion.values(1.0, degree), end, rtol=0, atol=tolerance)


@for_each("degree", DEGREES)
@for_each("segments", (1, 2, 10))
def test_clamped_and_uniform_knots_span_the_same_curves(degree, segments):
    clamped, uniform = (
        BSpline(points=segments + degree, degree=degree, clamped=clamped)
        for clamped in (True, False)
    )
    s = instants(clamped)
    assert (
        np.linalg.matrix_rank(np.hstack([clamped.values(s), uniform.values(s)])) == clamped.points
    )
    for one, other in ((clamped, uniform), (uniform, clamped)):
        points = control_points(one)
        moved = transfer(one, points, other)
        np.testing.assert_allclose(
            moved @ other.values(s).T, points @ one.values(s).T, rtol=0, atol=1e-12
        )


@for_each("degree", DEGREES)
def test_a_clamped_curve_starts_and_ends_at_its_control_points(degree):
    motion = BSpline(points=degree + 6, degree=degree)
    points, rate = control_points(motion), degree * motion.segments
    np.testing.assert_allclose(
        points @ motion.values([0.0, 1.0]).T, points[:, [0, -1]], rtol=0, atol=ROUNDING
    )
    slopes = np.column_stack([points[:, 1] - points[:, 0], points[:, -1] - points[:, -2]]) * rate
    np.testing.assert_allclose(
        points @ motion.values([0.0, 1.0], 1).T,
        slopes,
        rtol=0,
        atol=ROUNDING * magnitude(motion, 1),
    )


def test_a_uniform_cubic_has_the_textbook_segment():
    """(1 - t)^3, 3 t^3 - 6 t^2 + 4, -3 t^3 + 3 t^2 + 3 t + 1, t^3, over 6 (de Boor 1978, chapter
    X)."""
    motion, t = BSpline(points=9, clamped=False), np.linspace(0, 0.99, 12)
    textbook = (
        np.column_stack(
            [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]
        )
        / 6
    )
    for k in range(motion.segments):
        np.testing.assert_allclose(
            motion.values((k + t) / motion.segments)[:, k : k + 4], textbook, rtol=0, atol=ROUNDING
        )


def test_the_knots_are_uniform_with_repeated_or_continued_ends():
    assert BSpline(points=5, degree=3).knot_vector.tolist() == [0, 0, 0, 0, 0.5, 1, 1, 1, 1]
    assert BSpline(points=5, degree=3, clamped=False).knot_vector.tolist() == [
        -1.5,
        -1,
        -0.5,
        0,
        0.5,
        1,
        1.5,
        2,
        2.5,
    ]
    assert BSpline(points=6, degree=2).segments == 4
    assert BSpline(points=6, degree=2).breaks.tolist() == [0, 0.25, 0.5, 0.75, 1]


@bases
def test_the_greville_points_determine_the_curve(motion):
    """One instant per control point, inside [0, 1] and in order, and interpolation there is well
    posed."""
    s = motion.nodes
    assert s.shape == (motion.points,) and s[0] == 0 and s[-1] == 1
    assert (np.diff(s) > 0).all() and np.linalg.matrix_rank(motion.values(s)) == motion.points


@for_each("motion", [motion for motion in BASES if motion.clamped])
def test_greville_points_as_control_points_draw_the_straight_line(motion):
    s = instants(motion)
    np.testing.assert_allclose(motion.values(s) @ motion.nodes, s, rtol=0, atol=ROUNDING)


@bases
@for_each("times", (1, 2, 3))
def test_refining_keeps_the_curve_and_its_derivatives(motion, times):
    points = control_points(motion)
    split = split_segments(motion, times)
    split_points = transfer(motion, points, split)
    assert (split.segments, split.degree, split.clamped) == (
        times * motion.segments,
        motion.degree,
        motion.clamped,
    )
    inside = np.setdiff1d(
        instants(motion), motion.breaks
    )  # off the knots, where the highest derivative jumps
    for order in range(motion.degree + 1):
        scale = max(magnitude(split, order) * np.abs(split_points).max(), 1.0)
        refined = split_points @ split.values(inside, order).T
        expected = points @ motion.values(inside, order).T
        np.testing.assert_allclose(refined, expected, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize(
    "target",
    [BSpline(points=4 + 3, clamped=clamped) for clamped in (True, False)],
    ids=["clamped", "uniform"],
)
def test_transfer_is_exact_only_where_the_knots_are_nested(target):
    for segments, exact in ((1, True), (2, True), (3, False)):
        motion = BSpline(points=segments + 3)
        points, s = control_points(motion), np.linspace(0, 1, 50)
        error = np.abs(
            transfer(motion, points, target) @ target.values(s).T - points @ motion.values(s).T
        ).max()
        assert error < 1e-13 if exact else error > 1e-3


@bases
def test_a_fit_returns_the_control_points_of_a_curve_of_the_basis(motion):
    points, values = control_points(motion), motion.values(instants(motion))
    fitted = motion.fit(points @ values.T, instants(motion))
    np.testing.assert_allclose(fitted, points, rtol=0, atol=ROUNDING * np.linalg.cond(values))


def test_a_fit_to_too_few_values_meets_them_with_the_least_control_points():
    motion, s, values = BSpline(points=8), [0.2, 0.7], np.array([[1.0, -2.0]])
    points = motion.fit(values, s)
    np.testing.assert_allclose(points @ motion.values(s).T, values, rtol=0, atol=1e-13)
    null = np.linalg.svd(motion.values(s))[2][2:]
    np.testing.assert_allclose(points @ null.T, 0, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("rule", "per_segment", "power"),
    [
        ("gauss", 1, 1),
        ("gauss", 2, 3),
        ("gauss", 4, 7),
        ("trapezoid", 1, 1),
        ("trapezoid", 3, 1),
        ("simpson", 1, 3),
        ("simpson", 2, 3),
    ],
)
@for_each("segments", (1, 2, 7))
def test_a_quadrature_is_exact_on_every_segment_up_to_its_power_and_not_beyond(
    rule, per_segment, power, segments
):
    motion = BSpline(points=segments + 3)
    s, weights = quadrature(motion, rule, per_segment)
    for k in range(power + 1):
        assert weights @ s**k == pytest.approx(1 / (k + 1), abs=1e-14)
    assert abs(weights @ s ** (power + 1) - 1 / (power + 2)) > 1e-12
    kinked = (
        np.abs(s - motion.breaks[-2]) ** power
    )  # a polynomial on every segment, not over all of them
    left, right = motion.breaks[-2], 1 - motion.breaks[-2]
    assert weights @ kinked == pytest.approx(
        (left ** (power + 1) + right ** (power + 1)) / (power + 1), abs=1e-14
    )


def test_what_jumps_at_a_cut_is_integrated_as_if_a_segment_ended_there():
    motion = BSpline(points=7)
    cuts = (0.13, 0.61, 0.61 + 1e-12, float(motion.breaks[1]) + 1e-12)  # two are alike, one a break
    s, weights = quadrature(motion, "gauss", 2, cuts)
    assert len(s) == 2 * (motion.segments + 2)
    for start, end in pairwise((0.0, *cuts[:2], 1.0)):
        inside = (s > start) & (s < end)
        assert weights[inside] @ s[inside] ** 3 == pytest.approx((end**4 - start**4) / 4, rel=1e-14)


def test_samples_hold_every_knot():
    motion = BSpline(points=8)
    assert len(sample(motion, 4)) == 21
    np.testing.assert_allclose(sample(motion, 4)[::4], motion.breaks, rtol=0, atol=1e-16)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"points": 3}, "control points: a spline of degree 3 needs at least 4, got 3"),
        (
            {"points": 5, "degree": 5},
            "control points: a spline of degree 5 needs at least 6, got 5",
        ),
        ({"points": 5, "degree": 1}, "degree: expected at least 2"),
        ({"points": 5, "degree": -3}, "degree: expected at least 2"),
        ({"points": 5.0}, "points: expected a whole number, got 5.0"),
        ({"points": True}, "points: expected a whole number, got True"),
        ({"points": "5"}, "points: expected a whole number, got '5'"),
        ({"points": 5, "degree": 2.5}, "degree: expected a whole number, got 2.5"),
        ({"points": 5, "clamped": "no"}, "clamped: expected True or False, got 'no'"),
        ({"points": 5, "inner": 0.5}, "inner: expected numbers, one for each knot, got 0.5"),
        ({"points": 5, "inner": "x"}, "inner: expected numbers, one for each knot, got 'x'"),
    ],
)
def test_a_spline_that_cannot_be_is_refused(fields, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        BSpline(**fields)


def test_numpys_whole_numbers_are_whole_numbers():
    assert BSpline(points=np.int64(7)) == BSpline(points=7)
    assert hash(BSpline(points=np.int64(7))) == hash(BSpline(points=7))


def test_an_unknown_rule_lists_the_known():
    with pytest.raises(
        ValueError, match="^quadrature: expected one of gauss, trapezoid, simpson, got 'romberg'"
    ):
        quadrature(BSpline(points=5), "romberg", 1)


@pytest.mark.parametrize("degree", [3, 4, 5])
def test_accelerations_have_the_abscissae_of_a_spline_two_degrees_lower(degree):
    motion = BSpline(points=12, degree=degree)
    lower = motion.breaks if degree == 3 else BSpline(points=10, degree=degree - 2).nodes
    assert motion.abscissae(2) == pytest.approx(lower, abs=1e-14)


def test_what_is_known_at_nodes_is_picked_there_and_nowhere_else():
    picked = BSpline(points=8).interpolation([0.0, 0.5, 0.6, 1.0], [0.0, 0.5, 1.0])
    assert picked.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
