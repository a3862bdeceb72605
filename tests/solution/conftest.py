"""Solved motions that several tests look at."""

import pytest
from ocp.problems.two_link_lift import problem as lift
from ocp.problems.two_link_time import problem as fastest

from ocp import solve


@pytest.fixture(scope="package")
def lifted():
    return solve(lift(points=12))


@pytest.fixture(scope="package")
def quick():
    return solve(fastest(points=12))
