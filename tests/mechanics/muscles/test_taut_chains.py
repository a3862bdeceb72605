"""Wrapped paths are the shortest chains of points outside of their surfaces: lengths to 0.01 mm,
and pulls, which moment arms follow from, to 0.1 mm at a lever."""

import casadi as ca
import numpy as np
import pytest
from calf_leg import GASTROCNEMIUS, HEEL, LEG, ORIGIN, frame
from taut_chains import X, length_and_slopes, scale_of, taut

from ocp import Link, Tree, prismatic
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import PathPoint, PointPath, WrapCylinder, WrapEllipsoid, WrapSphere

SLIDES = (("x", "ground", (1, 0, 0)), ("y", "x", (0, 1, 0)), ("z", "y", (0, 0, 1)))
SLIDING = Tree(links=(Link(),) * 3, joints=[prismatic(a, b, axis=c) for a, b, c in SLIDES])
LEVER = 0.3  # m: of the largest moment arm to be told to 0.1 mm

KINDS = {
    "cylinder": lambda rng, pose: WrapCylinder(
        link="ground", radius=rng.uniform(0.05, 0.08), pose=pose, quadrant="+x"
    ),
    "sphere": lambda rng, pose: WrapSphere(
        link="ground", radius=rng.uniform(0.05, 0.08), pose=pose
    ),
    "ellipsoid": lambda rng, pose: WrapEllipsoid(
        link="ground", radii=tuple(rng.uniform(0.04, 0.09, 3)), pose=pose
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_paths_over_a_surface_are_the_shortest_chains(kind):
    """Over oblique surfaces between random ends: paths bulge to x, and surfaces lie behind."""
    rng = np.random.default_rng(len(kind))
    for _ in range(4):
        turns = rng.uniform(-0.6, 0.6, 3)
        surface = KINDS[kind](rng, frame((-0.02, 0, 0), turns))
        start = np.array([rng.uniform(0.0, 0.02), 0.2, rng.uniform(-0.03, 0.03)])
        end = np.array([rng.uniform(0.0, 0.02), -0.2, rng.uniform(-0.03, 0.03)])
        path = PointPath(points=(start, surface, PathPoint(link="z", position=(0, 0, 0))))
        length, slope = length_and_slopes(SLIDING, path, end)
        least, direction = taut(start, end, [scale_of(surface)], X)
        assert length > np.linalg.norm(end - start) + 1e-4  # it wraps
        assert length == pytest.approx(least, abs=1e-5)
        assert slope == pytest.approx(direction, abs=1e-4 / LEVER)


@pytest.mark.parametrize("kinds", [("ellipsoid", "cylinder"), ("cylinder", "sphere")])
def test_paths_over_two_surfaces_of_other_kinds_are_the_shortest_chains(kinds):
    rng = np.random.default_rng(5)
    for _ in range(2):
        over = [
            KINDS[kind](rng, frame((-0.02, height, 0), rng.uniform(-0.4, 0.4, 3)))
            for kind, height in zip(kinds, (0.1, -0.1))
        ]
        start, end = np.array([0, 0.25, 0.03]), np.array([0, -0.25, rng.uniform(-0.03, 0.03)])
        path = PointPath(points=(start, *over, PathPoint(link="z", position=(0, 0, 0))))
        length, slope = length_and_slopes(SLIDING, path, end)
        alone = [
            length_and_slopes(SLIDING, PointPath(points=(start, each, path.points[-1])), end)[0]
            for each in over
        ]
        assert length > max(alone) + 2e-5  # it wraps over both
        least, direction = taut(start, end, [scale_of(each) for each in over], X)
        assert length == pytest.approx(least, abs=1e-5)
        assert slope == pytest.approx(direction, abs=1e-4 / LEVER)


def test_paths_over_two_cylinders_are_the_shortest_chains():
    """Oblique to each other, and both touched; and the gastrocnemius with the knee straight."""
    rng = np.random.default_rng(1)
    for _ in range(2):
        cylinders = [
            WrapCylinder(
                link="ground",
                radius=rng.uniform(0.04, 0.07),
                pose=frame((-0.02, height, 0), rng.uniform(-0.4, 0.4, 3)),
                quadrant="+x",
            )
            for height in (0.1, -0.1)
        ]
        start, end = np.array([0, 0.25, 0.03]), np.array([0, -0.25, rng.uniform(-0.03, 0.03)])
        path = PointPath(points=(start, *cylinders, PathPoint(link="z", position=(0, 0, 0))))
        length, slope = length_and_slopes(SLIDING, path, end)
        surfaces = [scale_of(each) for each in cylinders]
        least, direction = taut(start, end, surfaces, X)
        assert length == pytest.approx(least, abs=1e-5)
        assert slope == pytest.approx(direction, abs=1e-4 / LEVER)
    q = (0.1, 0.0)
    state = State(tree=LEG, q=ca.DM(q))
    frames = {link: [np.array(each) for each in state.link_frame(link)] for link in LEG.link_names}
    rotation, origin = frames["femur"]
    start = rotation @ ORIGIN.position + origin.ravel()
    surfaces = [
        scale_of(each, frames[each.link][0], frames[each.link][1].ravel())
        for each in GASTROCNEMIUS.points[1:3]
    ]
    least, _ = taut(start, HEEL, surfaces, -X)
    assert length_and_slopes(LEG, GASTROCNEMIUS, q)[0] == pytest.approx(least, abs=1e-5)
