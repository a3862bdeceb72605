"""Bodies on feet that stand, as their feedback and simulations have them."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.mpc.standing_plant import FLOOR, hold_feet, plant_slope
from tests.standing_bodies import GRAVITY, monopod


def squatting(**foot):
    """A monopod that goes down on its point of a foot."""
    tree = monopod()
    ground = ocp.Ground(feet=(ocp.point_contact(tree, "toe", at=(0.0, 0.0, 0.0), **foot),))
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=14),
        duration=0.6,
        ground=ground,
        objective=ocp.effort(tree, ("hip", "knee")),
        constraints=(
            ocp.at_start(tree, q={"pitch": 0.2, "knee": 0.9}, qd=0.0),
            ocp.at_end(tree, q={"pitch": 0.2, "knee": 1.3}, qd=0.0),
        ),
    )


@pytest.fixture(scope="module")
def squat():
    return ocp.solve(squatting()).require(coarse=True)


def test_a_foot_holds_what_the_plan_says(squat):
    """Accelerations and the ground's force at an instant, of planned torques at the drives."""
    t = 0.3
    tree = hold_feet(squat.problem, squat.q(0.0))
    state, torques = np.append(squat.q(t), squat.qd(t)), squat.tau(t)
    slope, held = plant_slope(tree, ())(state, [0, 0, 0, *torques[3:]], t)
    np.testing.assert_allclose(np.array(slope).ravel()[5:], squat.qdd(t), rtol=0, atol=0.05)
    force = squat.trace(lambda at: at.reaction.force("toe"), t)
    np.testing.assert_allclose(np.array(held).ravel(), force, rtol=2e-3, atol=0.5)


def test_feet_hold_the_whole_weight_from_rest_to_rest(squat):
    """The mean of the force is the weight, since momentum is what it was."""
    plan = ocp.feedback(squat)
    toe = ocp.follow(plan).feet["toe"]
    np.testing.assert_array_equal(toe.push, toe.force[2])
    assert np.isnan(toe.margin).all()  # of a point
    assert np.mean(toe.push) == pytest.approx(26.0 * GRAVITY, rel=0.01)


def test_pins_hold_where_feet_are(squat):
    tree = hold_feet(squat.problem, squat.q(0.0))
    assert tree.joints[-1].name == FLOOR and tree.dof == squat.problem.tree.dof
    moved = squat.q(0.0) + [0.1, 0, 0.0, 0, 0]
    (spot,) = [point for point in hold_feet(squat.problem, moved).points if point.link == FLOOR]
    np.testing.assert_allclose(spot.position, (0.1, 0.0, 0.0), atol=1e-9)


def test_what_has_no_ground_is_not_held(squat):
    problem = replace(squat.problem, ground=None, constraints=())
    assert hold_feet(problem, squat.q(0.0)) is problem.tree


def test_a_foot_that_stands_for_a_time_is_named():
    problem = squatting(when=(0.0, 0.5))
    with pytest.raises(ValueError, match="feedback: foot 'toe'"):
        hold_feet(problem, np.zeros(5))
