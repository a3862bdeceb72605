"""Files keep the paths of muscles."""

import json
from dataclasses import replace

import pytest
from element_arm import ARM
from refusals import refused

from ocp import Follows
from ocp.mechanics.muscles import (
    ELBOW,
    Muscle,
    PathPoint,
    PointPath,
    PolynomialPath,
    SimmSpline,
    WrapCylinder,
    WrapEllipsoid,
    WrapSphere,
)
from ocp.storage.tree_data import tree_data, tree_of

CURVE = SimmSpline(places=(-1, 0, 1, 2), values=(0.0, 0.03, 0.02, 0.05))
POINT = PathPoint(link="hip", position=(0.2, 0.1, 0))
MOVING = PathPoint(link="knee", position=(0.2, Follows(coordinate="knee", function=CURVE), 0.1))
CONDITIONAL = PathPoint(link="hip", position=(0.9, 0.2, 0), coordinate="knee", within=(-0.5, 0.4))
PATHS = {
    "points": PointPath(points=((0, 1.0, 0), "thigh", CONDITIONAL, MOVING)),
    "cylinders": PointPath(
        points=(
            POINT,
            WrapCylinder(link="hip", radius=0.02, quadrant="+x"),
            WrapCylinder(link="knee", radius=0.03),
            MOVING,
        )
    ),
    "a sphere": PointPath(points=(POINT, WrapSphere(link="hip", radius=0.02), MOVING)),
    "an ellipsoid": PointPath(
        points=(POINT, WrapEllipsoid(link="hip", radii=(0.02, 0.03, 0.04)), MOVING)
    ),
    "a polynomial": PolynomialPath(
        joints=("hip", "knee"), exponents=[(0, 0), (1, 2)], coefficients=(0.3, 0.01), lower=(-1, -2)
    ),
}


def legged(path):
    """An arm with a muscle along a path."""
    return replace(
        ARM, elements=(Muscle(name="calf", path=path, force=900, fibre=0.05, slack=0.3),)
    )


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_read_as_it_was_written(name):
    tree = legged(PATHS[name])
    text = json.dumps(tree_data(tree, dict))
    assert tree_of(json.loads(text), dict) == tree


def test_a_muscle_that_tires_is_read_as_it_was_written():
    (calf,) = legged(PATHS["points"]).elements
    tree = replace(ARM, elements=(replace(calf, fatigue=ELBOW),))
    assert tree_of(json.loads(json.dumps(tree_data(tree, dict))), dict) == tree


def test_a_point_that_follows_a_function_of_ones_own_is_refused():
    own = replace(MOVING, position=(0.2, Follows(coordinate="knee", function=lambda x: x**2), 0))
    words = "element 'calf': a point: follows 'knee' by a function of one's own"
    with refused(words):
        tree_data(legged(PointPath(points=(POINT, own))), dict)
