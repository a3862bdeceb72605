"""Pictures of solids show what is near, in its colour and place, over their shadow."""

import numpy as np
import pytest

from ocp.mechanics import Visual
from ocp.plots.bodies.raster import Camera, Surface, corner_normals, render, shadow
from ocp.plots.bodies.solid_triangles import coarsen_mesh, scenery

SIDE = Camera(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), np.eye(3)[2], np.eye(3)[2])
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def ball(radius, place, colour):
    """The surface of a ball at a place."""
    (solid,) = scenery((Visual(kind="sphere", size=(radius,)),))
    places, faces = coarsen_mesh(solid.corners, 0.0)
    colours = np.tile(colour, (len(faces), 1))
    return Surface(places[faces] + place, corner_normals(places, faces), colours)


def joined(*several):
    """Surfaces as one."""
    parts = zip(*((each.corners, each.normals, each.colours) for each in several))
    return Surface(*map(np.concatenate, parts))


def pixel(image, box, x, y):
    """The colour at a place of a picture."""
    left, right, low, high = box
    rows, columns, _ = image.shape
    return image[int((y - low) / (high - low) * rows), int((x - left) / (right - left) * columns)]


def test_a_ball_covers_its_disc():
    image, box = render(ball(0.5, (2.0, 0, 1.0), RED), SIDE, 200)
    np.testing.assert_allclose(box, (1.5, 2.5, 0.5, 1.5), atol=0.02)
    step = (box[1] - box[0]) / image.shape[1]
    assert image[..., 3].sum() * step**2 == pytest.approx(np.pi / 4, rel=0.02)
    assert pixel(image, box, 2.0, 1.0)[3] == 1.0 and image[0, 0, 3] == 0.0
    above, below = (pixel(image, box, 2.0, y)[0] for y in (1.4, 0.6))
    assert above > below  # light comes from above


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_near_hides_what_is_far(order):
    near, far = ball(0.3, (0, -1.0, 0), RED), ball(0.5, (0, 1.0, 0), BLUE)
    image, box = render(joined(*(near, far)[::order]), SIDE, 200)
    middle, edge = pixel(image, box, 0.0, 0.0), pixel(image, box, 0.4, 0.0)
    assert middle[0] > 0.5 > middle[2] + 0.2 and edge[2] > 0.5 > edge[0] + 0.2


def test_edges_are_sharp_and_round_bodies_smooth():
    (box,) = scenery((Visual(kind="box", size=(1.0, 1.0, 1.0)),))
    places, faces = coarsen_mesh(box.corners, 0.0)
    flat = corner_normals(places, faces)
    assert np.abs(np.abs(flat).max(axis=2) - 1).max() < 1e-12
    smooth = ball(1.0, (0, 0, 0), RED)
    np.testing.assert_allclose(smooth.normals, smooth.corners, atol=0.05)


def test_a_shadow_falls_away_from_the_sun():
    camera = Camera(np.eye(3), np.eye(3)[2], np.array([0.6, 0, 0.8]))
    plane = np.zeros(3), np.eye(3)[2]
    dark, (left, right, low, high) = shadow(ball(0.1, (0, 0, 0.8), RED), plane, camera, 200)
    rows, columns = np.nonzero(dark > 0.9)
    x = left + (right - left) * (columns + 0.5) / dark.shape[1]
    y = low + (high - low) * (rows + 0.5) / dark.shape[0]
    assert x.mean() == pytest.approx(-0.6, abs=0.02) and y.mean() == pytest.approx(0.0, abs=0.02)
    assert np.ptp(x) == pytest.approx(0.2 / 0.8, abs=0.05)  # longer along the light
    assert dark.max() == 1.0 and dark[0].max() < 0.1
