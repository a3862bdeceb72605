"""Of plans made again and again under gravity, those arrive that are said to."""

from math import pi

import numpy as np
import pytest

from ocp.models.arms.two_link import two_link
from ocp.problems.benchmarks.motions.compare_horizons import SECONDS, WAYS, tracked

ARM = two_link(torque=40.0, gravity=9.81)
HANGING, GOAL = (-pi / 2, 0.0), (0.2, 0.6)  # rad
OFF = {  # rad from the goal: when the first plan would have ended, and in the end; at most, or more
    ("receding", "effort"): (np.inf, np.inf),
    ("receding", "smoothness"): (np.inf, 0.05),
    ("receding", "stage cost and effort"): (0.02, 1e-4),
    ("shrinking", "effort"): (0.03, 0.03),
    ("shrinking", "stage cost and effort"): (1e-3, 1e-3),
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.horizon}, {way.words}")
def test_an_arm_under_gravity_arrives(way):
    done = tracked(way, ARM, HANGING, GOAL)
    off = np.max(done.off["at_end.q"], axis=0)
    np.testing.assert_allclose(off, np.abs(done.q.T - GOAL).max(axis=1), rtol=0, atol=1e-12)
    soon, late = OFF[way.horizon, way.words]
    assert np.interp(SECONDS, done.t, off) <= soon and off[-1] <= late
    assert np.isfinite(late) or off[-1] > off[0] > 1.7  # by effort alone it never gets there
