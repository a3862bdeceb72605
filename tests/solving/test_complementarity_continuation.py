"""Motions whose forces rise within milliseconds of a touch, refined there alone."""

import numpy as np
import pytest
from touching_bodies import falling

from ocp import Link, Radau, Transcription, Tree, refine, revolute, verify
from ocp.certificate.row_violations import law_scales
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.models.walkers.five_link import five_link
from ocp.solving.refinement.mesh_error import mesh_errors

TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def landed():
    return refine(falling(), TOLERANCE, Transcription(method=Radau(intervals=8, order=5)))


def test_a_landing_is_refined_where_it_touches_until_its_certificate_holds(landed):
    verify(landed).require(TOLERANCE)
    motion = landed.problem.motion
    widths, middles = np.diff(motion.breaks), (motion.breaks[1:] + motion.breaks[:-1]) / 2
    heights = landed.q(middles * landed.duration)[1]
    finest = widths <= 1.01 * widths.min()
    assert widths.max() > 7.9 * widths.min()
    assert np.abs(heights[finest] - 0.03).max() < 0.02  # its sphere has a radius of 0.03 m


def test_a_law_that_a_few_segments_miss_is_not_missed_by_all():
    coarse = refine(falling(), 1e9, Transcription(method=Radau(intervals=8)), rounds=1)
    seen = mesh_errors(coarse, TOLERANCE)
    assert not seen.gross
    assert 0 < (seen.errors > 1).sum() < len(seen.errors)


def test_a_law_counts_in_torques_where_driven_and_in_weights_where_a_body_floats():
    tree, torques = five_link(), np.array([[1e-9, 0.0], [2.0, -90.0], [0.1, 0.2]])
    rows = [0, 3, 4]
    assert law_scales(tree, rows, torques) == pytest.approx([body_weight(tree), 90.0, 1.0])


def test_a_hinge_that_nothing_drives_counts_in_newton_metres():
    pole = Tree(links=(Link(mass=2.0),), joints=(revolute("hinge", actuated=False),))
    assert law_scales(pole, [0], np.array([[3.0, -5.0]])) == pytest.approx([1.0])
