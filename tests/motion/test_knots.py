"""Splines of any knots and meshes of any intervals: as exact as equal ones, and refined without
moving the curve."""

import numpy as np
import pytest

from ocp.motion import BSpline, Mesh, insert_knots, quadrature, sample, split_segments, transfer
from ocp.motion.collocation_mesh import defects, motion_from_data
from ocp.motion.spline import SIDE

UNEVEN = (0.05, 0.2, 0.2, 0.21, 0.6, 0.9)


def uneven(degree, inner=UNEVEN):
    return BSpline(points=len(inner) + degree + 1, degree=degree, inner=inner)


def points_of(motion, seed=0):
    return np.random.default_rng(seed).standard_normal((2, motion.points))


def off_knots(motion, count=80):
    s = np.random.default_rng(1).uniform(0.0, 1.0, count)
    gaps = np.abs(s[:, None] - motion.breaks).min(axis=1)
    return s[gaps > 1e-6]


@pytest.mark.parametrize("degree", [3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_inserted_knots_leave_the_curve_and_all_its_derivatives(degree, seed):
    random = np.random.default_rng(seed)
    inner = tuple(np.sort(random.uniform(0.05, 0.95, 6)))
    for motion in (uneven(degree, inner), BSpline(points=9, degree=degree, clamped=bool(seed % 2))):
        points = points_of(motion, seed)
        knots = [*random.uniform(0.05, 0.95, 5), motion.breaks[1]]
        more, inserted = insert_knots(motion, points, knots)
        assert more.points == motion.points + 6 and more.clamped
        s = off_knots(more)
        for order in range(degree + 1):
            expected = points @ motion.values(s, order).T
            scale = np.abs(more.values(s, order)).sum(axis=1).max() * np.abs(inserted).max()
            np.testing.assert_allclose(
                inserted @ more.values(s, order).T, expected, rtol=0, atol=1e-13 * scale
            )
        np.testing.assert_allclose(transfer(motion, points, more), inserted, rtol=0, atol=1e-10)


def test_one_knot_in_a_bezier_curve_is_de_casteljaus_step():
    motion, points = BSpline(points=4), np.array([[0.0, 1.0, 3.0, 2.0]])
    more, inserted = insert_knots(motion, points, [0.25])
    assert more.inner == () or more.inner == (0.25,)
    np.testing.assert_allclose(inserted, [[0.0, 0.25, 1.5, 2.75, 2.0]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("degree", [3, 5])
def test_a_knot_that_stands_degree_less_one_times_lets_accelerations_jump_and_rates_not(degree):
    motion = uneven(degree, (0.4,) * (degree - 1))
    points = points_of(motion)
    before, after = 0.4 - SIDE, 0.4
    jump = points @ (motion.values([after], 2) - motion.values([before], 2)).T
    kink = points @ (motion.values([after], 1) - motion.values([before], 1)).T
    assert np.abs(jump).min() > 1e-2 and np.abs(kink).max() < 1e-5
    assert motion.jumps.tolist() == [0.4] and motion.segments == 2
    assert {before, after} <= set(motion.grid(4).tolist())


@pytest.mark.parametrize("degree", [3, 4, 5])
def test_equalities_are_well_posed_on_any_knots(degree):
    motion = uneven(degree, (0.1, 0.4, *(0.5,) * (degree - 1), 0.9))
    s = motion.nodes
    assert (np.diff(s) > 0).all() and np.linalg.matrix_rank(motion.values(s)) == motion.points
    s = motion.abscissae(2)
    assert (np.diff(s) > 0).all() and len(s) == motion.points - 2
    assert np.linalg.matrix_rank(motion.values(s, 2)) == motion.points - 2


def test_equal_knots_are_no_knots_of_ones_own():
    equal = BSpline(points=8, inner=tuple(np.linspace(0, 1, 6)[1:-1]))
    assert equal == BSpline(points=8) and hash(equal) == hash(BSpline(points=8))


def test_a_spline_of_any_knots_is_what_its_fields_say():
    motion = uneven(5)
    data = {"points": 12, "degree": 5, "clamped": True, "inner": list(UNEVEN)}
    assert motion_from_data(data) == motion


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"points": 6, "inner": (0.5,)}, "inner: 6 control points of degree 3 have 2 inner knots"),
        ({"points": 6, "inner": (0.6, 0.5)}, "inner: expected knots between 0 and 1 in order"),
        ({"points": 6, "inner": (0.5, 1.0)}, "inner: expected knots between 0 and 1 in order"),
        ({"points": 6, "inner": (0.5, 0.5 + 1e-9)}, "inner: expected knots between 0 and 1"),
        ({"points": 7, "inner": (0.5,) * 3}, "inner: expected a knot at most 2 times"),
        ({"points": 5, "inner": (0.3,), "clamped": False}, "inner: knots of one's own are clamped"),
    ],
)
def test_knots_that_are_none_of_a_motion_are_refused(fields, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        BSpline(**fields)


@pytest.mark.parametrize("rule", ["gauss", "trapezoid", "simpson"])
def test_quadratures_follow_unequal_segments(rule):
    motion = uneven(3)
    s, weights = quadrature(motion, rule, 2)
    for power in range({"gauss": 4, "trapezoid": 2, "simpson": 4}[rule]):
        assert weights @ s**power == pytest.approx(1 / (power + 1), abs=1e-14)
    kinked = np.abs(s - 0.21)  # a straight line on every segment
    assert weights @ kinked == pytest.approx((0.21**2 + 0.79**2) / 2, abs=1e-14)
    np.testing.assert_array_equal(sample(motion, 3)[::3], motion.breaks)


def test_a_finer_spline_halves_every_segment():
    motion = uneven(4)
    halved = split_segments(motion)
    points = points_of(motion)
    s = off_knots(halved)
    assert halved.segments == 2 * motion.segments
    np.testing.assert_allclose(
        transfer(motion, points, halved) @ halved.values(s).T,
        points @ motion.values(s).T,
        rtol=0,
        atol=1e-12,
    )


MESHES = [("hermite-simpson", 3), ("radau", 2), ("radau", 3), ("radau", 5)]
ENDS = (0.1, 0.15, 0.5)


@pytest.mark.parametrize(("method", "order"), MESHES)
def test_a_mesh_of_unequal_intervals_is_exact_on_polynomials_of_its_degree(method, order):
    mesh = Mesh(method=method, intervals=4, order=order, inner=ENDS)
    curve = np.polynomial.Polynomial([0.3, -1.0, 0.5, 2.0, -0.7, 0.4][: mesh.degree + 1])
    points = mesh.through(lambda s, k: (curve.deriv(k) if k else curve)(s)[None, :])
    assert np.abs(defects(mesh) @ points[0]).max() < 1e-13
    s = np.linspace(0, 1, 33)
    for k in range(3):
        expected = (curve.deriv(k) if k else curve)(s)
        np.testing.assert_allclose(points[0] @ mesh.values(s, k).T, expected, atol=1e-12)
    area = curve.integ()
    exact = area(1) - area(0)
    if method == "radau":
        assert mesh.weights @ curve(mesh.nodes) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize(("method", "order"), [MESHES[0], *MESHES[2:]])
def test_split_intervals_keep_a_piecewise_cubic_motion(method, order):
    """Between stages q' is a polynomial of its own, so that only these are kept exactly."""
    curve = uneven(3, ENDS)
    motion = points_of(curve)
    mesh = Mesh(method=method, intervals=4, order=order, inner=ENDS)
    points = transfer(curve, motion, mesh)
    halved = Mesh(method=method, intervals=6, order=order, inner=(0.05, 0.1, 0.15, 0.3, 0.5))
    moved = transfer(mesh, points, halved)
    s = off_knots(halved)
    for k in range(3):
        scale = np.abs(curve.values(s, k)).sum(axis=1).max()
        for basis, numbers in ((mesh, points), (halved, moved)):
            np.testing.assert_allclose(
                numbers @ basis.values(s, k).T,
                motion @ curve.values(s, k).T,
                rtol=0,
                atol=1e-12 * scale,
            )


def test_a_mesh_refuses_ends_that_are_none():
    with pytest.raises(ValueError, match="^inner: 3 intervals meet at 2 instants, got 1"):
        Mesh(method="radau", intervals=3, inner=(0.5,))
    with pytest.raises(ValueError, match="^inner: expected instants between 0 and 1 in order"):
        Mesh(method="radau", intervals=3, inner=(0.5, 0.5))
