"""Point masses: a pull that follows from the motion, the same as a heavier link."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ocp import BSpline, Problem, at_end, at_start, effort, simulate, solve, verify
from ocp.models.arms.two_link import two_link
from ocp.models.human import carry
from ocp.problem import PointMass

ARM = two_link(gravity=9.81)
ENDS = (at_start(ARM, q=(0.0, -1.0), qd=0.0), at_end(ARM, q=(1.0, 0.5), qd=0.0))
REACH = Problem(
    tree=ARM, motion=BSpline(points=10), duration=0.8, objective=effort(), constraints=ENDS
)


@cache
def carried(kind):
    """The reach with 2 kg at the tip: a load, or part of the link."""
    if kind == "link":
        return solve(replace(REACH, tree=carry(ARM, "tip", 2.0))).require()
    return solve(replace(REACH, loads=(PointMass(point="tip", mass=2.0),))).require()


def test_a_point_mass_is_as_good_as_a_heavier_link():
    here, there = carried("load"), carried("link")
    t = here.times(33)
    assert here.objective == pytest.approx(there.objective, rel=1e-8)
    assert np.allclose(here.tau(t), there.tau(t), atol=1e-4)
    assert np.abs(here.tau(t)).max() > 20  # of an arm that alone needs 6 N m
    for one, other in zip(here.reactions(t), there.reactions(t)):
        assert np.allclose(one[:, 0], other[:, 0], atol=1e-3)


def test_its_certificate_simulates_the_mass_in_motion():
    certificate = verify(carried("load")).require(1e-3)
    assert certificate.drift < 1e-6 and certificate.energy_error < 1e-12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": -2.0}, "point mass at 'tip': mass: expected a number of at least 0, got -2"),
        ({"mass": np.nan}, "mass: expected finite numbers, got nan"),
        ({"mass": "2 kg"}, "point mass at 'tip': mass: expected numbers of shape .., got '2 kg'"),
        ({"mass": abs}, "point mass at 'tip': mass: expected numbers of shape .., got <built-in"),
        ({"point": 3}, "point mass: point: expected str, got int 3"),
    ],
)
def test_a_mass_that_is_none_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        PointMass(**{"point": "tip", "mass": 1.0} | changes)


def test_a_mass_at_no_point_of_the_tree_or_without_a_motion_is_refused():
    with pytest.raises(ValueError, match="point 'hook'"):
        replace(REACH, loads=(PointMass(point="hook", mass=1.0),))
    mass = PointMass(point="tip", mass=1.0)
    with pytest.raises(ValueError, match="point mass at 'tip': its pull follows from accel"):
        simulate(ARM, np.zeros(2), ([0.0, 0.0], [0.0, 0.0]), 0.1, (mass,))
