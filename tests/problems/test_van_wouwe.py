"""The reach of Van Wouwe et al. (2022) under noise, beside their published solution."""

import pytest

from ocp.problems.published.van_wouwe import PUBLISHED, efforts, reach

pytestmark = pytest.mark.commands


def test_efforts_are_within_ten_percent_of_the_published_sums():
    plan = reach("circle").require()
    ours, printed = efforts(plan), PUBLISHED["circle"][0]
    assert ours == pytest.approx(printed, rel=0.1)
    assert sum(ours) == pytest.approx(sum(printed), rel=0.02)
    assert min(plan.margins.values()) > -1e-6
    assert plan.plan.continuous
