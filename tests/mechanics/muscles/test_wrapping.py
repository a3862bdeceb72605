"""Paths wrap over surfaces by exact tangents and geodesics."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from calf_leg import CONDYLES, GASTROCNEMIUS, HEEL, LEG, ORIGIN, frame
from element_arm import ARM
from refusals import refused

from ocp import Link, Tree, prismatic
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles.muscle_paths import PathPoint, PointPath
from ocp.mechanics.muscles.wrapping import (
    WrapCylinder,
    WrapEllipsoid,
    WrapPast,
    WrapSphere,
    over_cylinder,
    over_ellipsoid,
    over_sphere,
)

START, END = np.array([-0.2, 0.02, -0.05]), np.array([0.18, 0.03, 0.07])
RADII = 0.05, 0.08, 0.12
SLIDES = (("x", "ground", (1, 0, 0)), ("y", "x", (0, 1, 0)), ("z", "y", (0, 0, 1)))


def touch(over, start, end, size, *quadrant):
    """First and last place, arc and angle of a touch, in numbers."""
    found = over(ca.DM(start), ca.DM(end), size, *quadrant)
    parts = found.first, found.last, found.arc, found.angle
    return [np.array(ca.evalf(ca.DM(each))).squeeze() for each in parts]


def touched_length(over, start, end, size, *quadrant):
    """Length of a path from start over a surface to end."""
    first, last, arc, angle = touch(over, start, end, size, *quadrant)
    assert angle > 0
    return np.linalg.norm(first - start) + arc + np.linalg.norm(end - last)


def functions(tree, path):
    """A function of q that gives length, slope as the path has it, and as differentiated."""
    q = ca.SX.sym("q", tree.dof)
    state = State(tree=tree, q=q)
    slope = path.slope(state)
    row = ca.horzcat(*[slope.get(k, 0) for k in range(tree.dof)])
    length = path.length(state)
    return ca.Function("path", [q], [length, row, ca.jacobian(length, q)])


def test_over_a_cylinder_across_it_is_two_tangents_and_an_arc():
    start, end = (-2.0, 0.0, 0.0), (0.0, -3.0, 0.0)
    shorter = np.sqrt(3) + np.sqrt(8) + np.pi / 2 - np.arccos(1 / 2) - np.arccos(1 / 3)
    assert np.pi / 2 < np.arccos(1 / 2) + np.arccos(1 / 3)  # so that it misses
    assert touch(over_cylinder, start, end, 1.0)[3] < 0
    longer = shorter + np.pi
    assert touched_length(over_cylinder, start, end, 1.0, "+x") == pytest.approx(longer, abs=1e-14)
    other_end = (2.0, 0.0, 3.0)
    around = 2 * np.sqrt(3) + np.pi / 3
    found = touched_length(over_cylinder, start, other_end, 1.0, "-y")
    assert found == pytest.approx(np.hypot(around, 3.0), abs=1e-14)  # a helix unrolls straight
    assert touch(over_cylinder, start, other_end, 1.0, "-y")[0][1] < 0


def test_over_a_sphere_lies_a_great_circle():
    found = touched_length(over_sphere, (-2.0, 0.0, 0.0), (2.0, 1e-9, 0.0), 1.0)
    assert found == pytest.approx(2 * np.sqrt(3) + np.pi / 3, abs=1e-8)


def test_an_ellipsoid_of_equal_radii_is_a_sphere():
    sphere = touch(over_sphere, START, END, 0.1)
    ellipsoid = touch(over_ellipsoid, START, END, (0.1, 0.1, 0.1))
    for one, other in zip(sphere, ellipsoid):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-13)


def test_tangents_of_an_ellipsoid_and_its_geodesic_are_one_smooth_curve():
    first, last, arc, _ = touch(over_ellipsoid, START, END, RADII)
    for place, end in ((first, START), (last, END)):
        assert np.sum((place / RADII) ** 2) == pytest.approx(1, abs=1e-12)
        assert place / np.square(RADII) @ (end - place) == pytest.approx(0, abs=1e-12)
    assert arc > np.linalg.norm(last - first)


def test_the_gastrocnemius_has_the_exact_lengths_and_arms():
    """Solved beside from OpenSim's own points, by four tangent equations a cylinder."""
    function = functions(LEG, GASTROCNEMIUS)
    table = {
        -1.25: (0.427405, 0.03297),
        -0.50: (0.448299, 0.02204),
        -0.30: (0.452563, 0.02064),
        0.0: (0.458490, 0.01897),
    }
    for knee, (length, slope) in table.items():
        ours, slopes, _ = function((0.1, knee))
        assert float(ours) == pytest.approx(length, abs=1e-6)
        assert float(slopes[1]) == pytest.approx(slope, abs=1e-5)


WRAPS = {
    "a cylinder": [WrapCylinder(link="hip", radius=0.08, pose=frame((1.0, 0, 0), (0.2, 0.1, 0)))],
    "a cylinder on one side": [
        WrapCylinder(link="knee", radius=0.08, pose=frame((0.0, 0.0, 0.0)), quadrant="+y")
    ],
    "a sphere": [WrapSphere(link="hip", radius=0.1, pose=frame((1.0, 0.02, 0.03)))],
    "an ellipsoid": [
        WrapEllipsoid(link="hip", radii=(0.12, 0.08, 0.1), pose=frame((1.0, 0, 0), (0.3, 0, 0)))
    ],
}
ENDS = (
    PathPoint(link="hip", position=(0.5, 0.05, 0.04)),
    PathPoint(link="knee", position=(0.4, 0.1, 0)),
)
POSTURES = np.random.default_rng(0).uniform(-1.5, 1.5, (30, 2))


@pytest.mark.parametrize("name", WRAPS)
def test_slopes_are_derivatives_and_differences_of_lengths(name):
    path = PointPath(points=(ENDS[0], *WRAPS[name], ENDS[1]))
    function, h = functions(ARM, path), 1e-5
    straight, wraps = functions(ARM, PointPath(points=ENDS)), 0
    for q in POSTURES:
        length, slope, derivative = (np.array(each).ravel() for each in function(q))
        np.testing.assert_allclose(slope, derivative, rtol=0, atol=1e-9)
        steps = [(float(function(q + h * e)[0]), float(function(q - h * e)[0])) for e in np.eye(2)]
        differences = [(after - before) / (2 * h) for after, before in steps]
        assert slope == pytest.approx(differences, abs=1e-8)
        wraps += abs(length[0] - float(straight(q)[0])) > 1e-12
    assert wraps > 5  # both cases are tried


def test_slopes_over_two_cylinders_are_derivatives_and_go_on_where_one_sets_in():
    function = functions(LEG, GASTROCNEMIUS)
    angles = np.linspace(-2.0, 0.1, 211)
    values = [[np.array(each).ravel() for each in function((0.1, knee))] for knee in angles]
    lengths = np.array([each[0][0] for each in values])
    slopes = np.array([each[1] for each in values])
    np.testing.assert_allclose(slopes, [each[2] for each in values], rtol=0, atol=1e-9)
    assert np.abs(np.diff(slopes[:, 1])).max() < 6e-4  # no jump where the shank sets in
    # Trapezoids of the arms, with their own error of a step's square, are the change of length.
    h = angles[1] - angles[0]
    change = np.cumsum((slopes[1:, 1] + slopes[:-1, 1]) / 2) * h
    assert lengths[1:] - lengths[0] == pytest.approx(change, abs=3e-6)


def chord_length(tree, path, q):
    """Length of the chords of a path's course."""
    course = path.route(State(tree=tree, q=ca.DM(q))).course
    places = np.array(ca.evalf(ca.horzcat(*course))).T
    return np.linalg.norm(np.diff(places, axis=0), axis=1).sum()


@pytest.mark.parametrize("name", WRAPS)
def test_the_course_of_a_path_is_as_long_as_the_path(name):
    path = PointPath(points=(ENDS[0], *WRAPS[name], ENDS[1]))
    for q in POSTURES:
        length = float(functions(ARM, path)(q)[0])
        assert chord_length(ARM, path, q) == pytest.approx(length, rel=4e-3)


def test_the_course_over_two_cylinders_is_as_long_as_the_path():
    for knee in (-1.25, -0.5, -0.3, 0.0):
        length = float(functions(LEG, GASTROCNEMIUS)((0.1, knee))[0])
        assert chord_length(LEG, GASTROCNEMIUS, (0.1, knee)) == pytest.approx(length, rel=1e-3)


def test_second_derivatives_are_differences_of_slopes():
    q = ca.SX.sym("q", 2)
    slope = GASTROCNEMIUS.slope(State(tree=LEG, q=q))
    function = ca.Function("bend", [q], [slope[1], ca.jacobian(slope[1], q)])
    for knee in (-1.2, -0.2):
        bend, h = np.array(function((0.1, knee))[1]).ravel(), 1e-5
        after, before = (float(function((0.1, knee + step))[0]) for step in (h, -h))
        assert bend[1] == pytest.approx((after - before) / (2 * h), abs=1e-8)


def test_a_path_that_misses_a_surface_is_straight():
    small = replace(CONDYLES, radius=1e-4, quadrant="")
    with_it = functions(LEG, PointPath(points=(ORIGIN, small, tuple(HEEL))))
    without = functions(LEG, PointPath(points=(ORIGIN, tuple(HEEL))))
    assert float(with_it((0.1, -0.5))[0]) == pytest.approx(
        float(without((0.1, -0.5))[0]), abs=1e-15
    )


BAD = {
    "no radius": (
        lambda: WrapCylinder(link="femur", radius=0.0),
        "cylinder on 'femur': radius: expected a number above 0, got 0",
    ),
    "a side along the axis": (
        lambda: WrapCylinder(link="femur", radius=0.1, quadrant="+z"),
        "cylinder on 'femur': quadrant: expected one of +x, -x, +y, -y or \"\", got '+z'",
    ),
    "three spheres": (
        lambda: PointPath(points=(ENDS[0], *WRAPS["a sphere"] * 3, ENDS[1])),
        "path: expected one surface, or two, between two points, got WrapSphere, WrapSphere, ",
    ),
    "two that paths pass": (
        lambda: PointPath(points=(ENDS[0], *[WrapPast(link="femur", radius=0.1)] * 2, ENDS[1])),
        "path: expected one surface, or two, between two points, got WrapPast, WrapPast; only ",
    ),
    "a surface first": (
        lambda: PointPath(points=(CONDYLES, *ENDS)),
        "path: expected points before, between and after surfaces",
    ),
    "a conditional point beside a surface": (
        lambda: PointPath(
            points=(ENDS[0], replace(ENDS[0], coordinate="knee", within=(0, 1)), CONDYLES, ENDS[1])
        ),
        "path: an end, or a point beside a surface, cannot be conditional, as point 2 is",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_wrap_is_refused(name):
    make, message = BAD[name]
    with refused(message):
        make()


@pytest.mark.parametrize("seed", range(12))
def test_lengths_over_two_cylinders_change_by_no_more_than_an_end_moves(seed):
    """Whatever is touched, and where it sets in: so no case has been chosen wrongly."""
    rng = np.random.default_rng(seed)
    cylinders = [
        WrapCylinder(
            link="ground",
            radius=rng.uniform(0.02, 0.06),
            pose=frame((rng.uniform(-0.04, 0.04), height, 0), rng.uniform(-0.3, 0.3, 3)),
            quadrant=str(rng.choice(["", "+x", "-x"])) if seed % 2 else "+x",
        )
        for height in (-0.1, -0.3)
    ]
    slides = [prismatic(name, parent, axis=axis) for name, parent, axis in SLIDES]
    tree = Tree(links=(Link(),) * 3, joints=slides)
    start = (rng.uniform(-0.03, 0.03), 0.02, rng.uniform(-0.03, 0.03))
    end = PathPoint(link="z", position=(0, 0, 0))
    q = ca.SX.sym("q", 3)
    length = PointPath(points=(start, *cylinders, end)).length(State(tree=tree, q=q))
    along = np.linspace(-0.25, 0.25, 301)
    places = np.array([along, np.full(301, -0.45), 0.05 * along + rng.uniform(-0.05, 0.05)])
    lengths = np.array(ca.Function("length", [q], [length]).map(301)(places)).ravel()
    steps = np.linalg.norm(np.diff(places, axis=1), axis=0)
    assert (np.abs(np.diff(lengths)) <= steps * (1 + 1e-9)).all()
    assert (lengths >= np.linalg.norm(places.T - start, axis=1) - 1e-12).all()
