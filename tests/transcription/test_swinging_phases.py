"""Phases whose feet all swing fly as phases without ground do, and the ground gives nothing."""

from math import inf

import numpy as np
import pytest

import ocp
from ocp.models.walkers.monoped import monoped
from ocp.problem import Foot

SWINGING = ocp.Ground(
    feet=(Foot(name="foot", bears=(inf, -inf), center=(0.0, 0.0, 0.0), supports=()),),
    normal=(0.0, 1.0, 0.0),
)
VARIABLES = ocp.Transcription(method=ocp.Spline(torques="variables"))


def flying(ground):
    tree = monoped()
    thrown = ocp.at_start(tree, q=tree.neutral, qd=[1.0, 0.5, 0.0, 0.0, 0.0])
    bent = ocp.at_end(tree, q={"hip": 0.4, "knee": -0.3})
    motion = ocp.BSpline(points=6, degree=4)
    phases = [
        ocp.Phase(name, motion=motion, duration=0.2, ground=ground, constraints=constraints)
        for name, constraints in (("rising", thrown), ("falling", bent))
    ]
    effort = ocp.squares("torque", lambda at: at.tau)
    return ocp.Problem(
        tree=tree, phases=phases, objective=effort, links=(ocp.continuous("q", "qd"),)
    )


@pytest.fixture(scope="module")
def flights():
    return [ocp.solve(flying(ground), VARIABLES, ocp.Solver()) for ground in (SWINGING, None)]


def test_a_phase_whose_feet_swing_flies_as_one_without_ground(flights):
    swinging, bare = (flight.require() for flight in flights)
    t = np.linspace(0.0, 0.4, 9)
    assert np.allclose(swinging.q(t), bare.q(t), atol=1e-5)


def test_a_ground_whose_feet_swing_gives_nothing(flights):
    phase = flights[0].phases["falling"]
    assert not phase.trace(lambda at: at.reaction.force("foot"), phase.times(5)).any()
    assert not phase.wrenches()["foot"].any()
