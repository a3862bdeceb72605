"""A part of a spline's motion as a motion of its own."""

from itertools import pairwise

import numpy as np
import pytest

from ocp import BSpline
from ocp.motion import Part
from ocp.motion.spline_part import join_parts

WHOLE = BSpline(points=8)
EDGES = (0.0, 0.1, 0.2, 0.75, 1.0)  # two of them between knots
PARTS = tuple(Part(whole=WHOLE, start=a, end=b) for a, b in pairwise(EDGES))
POINTS = np.random.default_rng(3).normal(size=(2, 8))


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_a_part_is_the_whole_curve_there(order):
    s = np.linspace(0.0, 1.0, 11)
    for part in PARTS:
        there = np.minimum(part.start + part.length * s, part.end - 1e-8 * (part.end < 1))
        expected = part.length**order * WHOLE.values(there, order)
        np.testing.assert_allclose(part.values(s, order), expected, atol=1e-6)


def test_a_jerk_at_the_end_of_a_part_is_that_on_its_side():
    part = Part(whole=WHOLE, start=0.1, end=0.4)  # which is a knot
    left, right = WHOLE.values([0.4 - 1e-8, 0.4], 3) @ POINTS.T
    np.testing.assert_allclose(part.values([1.0], 3) @ POINTS.T, [0.3**3 * left])
    assert not np.allclose(left, right)


@pytest.mark.parametrize("order", [0, 2, 3])
def test_instants_of_the_whole_are_shared_among_its_parts(order):
    shared = [part.start + part.length * part.abscissae(order) for part in PARTS]
    np.testing.assert_allclose(np.concatenate(shared), WHOLE.abscissae(order), atol=1e-12)


def test_a_part_has_its_ends_and_the_knots_inside():
    np.testing.assert_allclose(PARTS[2].breaks, [0.0, 0.2 / 0.55, 0.4 / 0.55, 1.0])
    assert PARTS[2].segments == 3
    np.testing.assert_allclose(PARTS[0].grid(4), [0.0, 0.5, 1.0])  # of half a segment
    assert len(PARTS[2].grid(4)) == 4 + 4 + 3 + 1


def test_only_points_up_to_the_reach_move_a_part():
    assert [part.reach for part in PARTS] == [4, 4, 7, 8]
    for part in PARTS:
        assert not part.values(np.linspace(0, 1, 7))[:, part.reach :].any()


def test_parts_of_one_curve_give_it_back():
    own = [part.through(lambda s, order, part=part: POINTS @ part.values(s).T) for part in PARTS]
    assert not np.allclose(own[0], POINTS)  # what does not move a part is zero there
    np.testing.assert_allclose(join_parts(PARTS, own), POINTS, atol=1e-9)
    assert join_parts(PARTS, [POINTS] * 4) is POINTS


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"start": 0.4, "end": 0.4}, "expected 0 <= start < end <= 1"),
        ({"start": 0.4, "end": 1.2}, "expected 0 <= start < end <= 1"),
        ({"start": 0, "end": 1, "whole": BSpline(points=8, knots="free")}, "expected given knots"),
        ({"start": 0, "end": 1, "whole": 8}, "whole: expected a BSpline"),
    ],
)
def test_a_part_that_cannot_be_is_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        Part(**{"whole": WHOLE} | fields)
