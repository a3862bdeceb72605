"""Force elements on a body that stands: the ground bears what they give to it."""

from dataclasses import replace

import numpy as np
import pytest
from standing_bodies import GRAVITY, block, slope

import ocp

STIFFNESS, ABOVE = 40.0, (0.0, 0.0, 2.0)


def tied_block():
    """A weight slides on a block that stands; a strut ties it to a place above."""
    tree = block()
    sole, _, _ = slope(tree, 0.0)
    tied = replace(
        tree,
        points=(*tree.points, ocp.Point(name="weight", link="slider")),
        elements=(
            ocp.Spring(joint="slider", stiffness=9.0, rest=0.1),
            ocp.Armature(joint="slider", inertia=0.5),
            ocp.Strut(name="tie", start=ABOVE, end="weight", stiffness=STIFFNESS, rest=1.0),
        ),
    )
    return ocp.Problem(
        tree=tied,
        motion=ocp.BSpline(points=10),
        duration=0.6,
        ground=ocp.Ground(feet=(sole,)),
        objective=ocp.effort(tied, ("slider",)),
        constraints=(
            ocp.at_start(tied, q={"slider": 0.0}, qd=0.0),
            ocp.at_end(tied, q={"slider": 0.15}, qd=0.0),
        ),
    )


@pytest.mark.parametrize("method", [None, ocp.Radau(intervals=8)])
def test_the_ground_bears_what_a_strut_leaves(method):
    chosen = ocp.Transcription() if method is None else ocp.Transcription(method=method)
    solution = ocp.solve(tied_block(), chosen).require()
    ocp.verify(solution).require(1e-3)
    t = solution.nodes * solution.duration
    force = solution.wrenches()["sole"][3:]
    place = solution.trace(lambda at: at.position("weight"), t)
    away = place - np.array(ABOVE)[:, None]
    length = np.linalg.norm(away, axis=0)
    tie = -STIFFNESS * (length - 1.0) * away / length
    push = solution.trace(lambda at: at.acceleration("weight"), t)
    assert force[2] == pytest.approx(6.0 * GRAVITY - tie[2], abs=1e-3)
    assert force[0] == pytest.approx(push[0] - tie[0], abs=1e-3)
    need = push[0] * 1.5 - tie[0] + 9.0 * (solution.q(t)[3] - 0.1)
    assert solution.tau(t)[3] == pytest.approx(need, abs=1e-3)
