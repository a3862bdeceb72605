"""Replayed motions beside the plan: turns of balls count by their angles."""

import numpy as np
import pytest

from ocp import Link, Tree, ball
from ocp.certificate.checks.replay_motion import scale_quaternions

BODY = Link(mass=2.0, inertia=np.diag([0.1, 0.2, 0.3]))
TREE = Tree(links=(BODY,), joints=(ball("ball"),))


@pytest.mark.parametrize("length", [1.0, 1.2])
def test_two_attitudes_differ_by_the_angle_between_them(length):
    """And by its rate, whatever the lengths of the quaternions."""
    angle, rate = 1e-4, 0.3
    still = np.array([1.0, 0, 0, 0, 0, 0, 0, 0])
    aside = np.array([np.cos(angle / 2), np.sin(angle / 2), 0, 0])
    moving = rate / 2 * np.array([-aside[1], aside[0], 0, 0])
    states = np.column_stack([still, np.concatenate([length * aside, length * moving])])
    one, other = scale_quaternions(TREE, states).T
    assert np.linalg.norm(other[:4] - one[:4]) == pytest.approx(angle, rel=1e-6)
    assert np.linalg.norm(other[4:] - one[4:]) == pytest.approx(rate, rel=1e-6)
