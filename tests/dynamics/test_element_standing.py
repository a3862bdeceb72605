"""Force elements on a body that stands: the ground bears what they give to it."""

from dataclasses import replace

import numpy as np
import pytest
from standing_bodies import GRAVITY, block, slope

from ocp import (
    Armature,
    BSpline,
    Ground,
    Point,
    Problem,
    Radau,
    Spring,
    Strut,
    Transcription,
    at_end,
    at_start,
    effort,
    solve,
    verify,
)

STIFFNESS, ABOVE = 40.0, (0.0, 0.0, 2.0)


def tied_block():
    """A weight slides on a block that stands; a strut ties it to a place above."""
    tree = block()
    sole, _, _ = slope(tree, 0.0)
    tied = replace(
        tree,
        points=(*tree.points, Point(name="weight", link="slider")),
        elements=(
            Spring(joint="slider", stiffness=9.0, rest=0.1),
            Armature(joint="slider", inertia=0.5),
            Strut(name="tie", start=ABOVE, end="weight", stiffness=STIFFNESS, rest=1.0),
        ),
    )
    return Problem(
        tree=tied,
        motion=BSpline(points=10),
        duration=0.6,
        ground=Ground(feet=(sole,)),
        objective=effort(tied, ("slider",)),
        constraints=(
            at_start(tied, q={"slider": 0.0}, qd=0.0),
            at_end(tied, q={"slider": 0.15}, qd=0.0),
        ),
    )


@pytest.mark.parametrize("method", [None, Radau(intervals=8)])
def test_the_ground_bears_what_a_strut_leaves(method):
    chosen = Transcription() if method is None else Transcription(method=method)
    solution = solve(tied_block(), chosen).require()
    verify(solution).require(1e-3)
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
