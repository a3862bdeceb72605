"""Phases whose feet all swing fly as phases without ground do, and the ground gives nothing."""

from math import inf

import numpy as np
import pytest

from ocp import (
    BSpline,
    Ground,
    Phase,
    Problem,
    Solver,
    Spline,
    Transcription,
    at_end,
    at_start,
    continuous,
    solve,
    squares,
)
from ocp.models.walkers.monoped import monoped
from ocp.problem import Foot

SWINGING = Ground(
    feet=(Foot(name="foot", bears=(inf, -inf), center=(0.0, 0.0, 0.0), supports=()),),
    normal=(0.0, 1.0, 0.0),
)
VARIABLES = Transcription(method=Spline(torques="variables"))


def flying(ground):
    tree = monoped()
    thrown = at_start(tree, q=tree.neutral, qd=[1.0, 0.5, 0.0, 0.0, 0.0])
    bent = at_end(tree, q={"hip": 0.4, "knee": -0.3})
    motion = BSpline(points=6, degree=4)
    phases = [
        Phase(name, motion=motion, duration=0.2, ground=ground, constraints=constraints)
        for name, constraints in (("rising", thrown), ("falling", bent))
    ]
    effort = squares("torque", lambda at: at.tau)
    return Problem(tree=tree, phases=phases, objective=effort, links=(continuous("q", "qd"),))


@pytest.fixture(scope="module")
def flights():
    return [solve(flying(ground), VARIABLES, Solver()) for ground in (SWINGING, None)]


def test_a_phase_whose_feet_swing_flies_as_one_without_ground(flights):
    swinging, bare = (flight.require() for flight in flights)
    t = np.linspace(0.0, 0.4, 9)
    assert np.allclose(swinging.q(t), bare.q(t), atol=1e-5)


def test_a_ground_whose_feet_swing_gives_nothing(flights):
    phase = flights[0].phases["falling"]
    assert not phase.trace(lambda at: at.reaction.force("foot"), phase.times(5)).any()
    assert not phase.wrenches()["foot"].any()
