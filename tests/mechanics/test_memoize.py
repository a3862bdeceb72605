"""Memoized functions: the same arguments are computed once."""

import casadi as ca
import numpy as np
import pytest

from ocp.mechanics.values.memoize import memoize
from ocp.models.arms.two_link import two_link


@pytest.fixture
def doubled():
    made = []

    @memoize(2)
    def double(value):
        made.append(value)
        return 2 * value

    return double, made


def test_the_very_same_expression_is_asked_about_once(doubled):
    double, made = doubled
    x, y, z = (ca.SX.sym(name) for name in "xyz")
    assert double(x) is double(x) and len(made) == 1
    assert double(y) is not double(x) and len(made) == 2
    double(z)
    assert double(y) is double(y) and len(made) == 3
    double(x)
    assert len(made) == 4  # of three the first was forgotten


@pytest.mark.parametrize("numbers", [np.ones(2), ca.DM.ones(2)])
def test_numbers_that_may_have_changed_are_looked_at_again(doubled, numbers):
    double, _ = doubled
    double(numbers)
    numbers[0] = 3.0
    assert float(double(numbers)[0]) == 6.0


def test_trees_that_are_equal_have_one_hash_and_joints_of_their_own():
    one, other = two_link(torque=10.0), two_link(torque=10.0)
    assert one is not other and one == other and hash(one) == hash(other)
    assert one.moving is one.moving and [each.name for each in one.moving] == ["shoulder", "elbow"]
    assert hash(two_link(torque=9.0)) != hash(one)
