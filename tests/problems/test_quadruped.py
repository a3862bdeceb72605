"""A planar quadruped: its numbers, its trot with footholds that are found, and drawn sequences."""

from itertools import pairwise

import numpy as np
import pytest

from ocp import solve
from ocp.mechanics import position
from ocp.models.walkers.quadruped import FEET, GRAVITY, HALF, LEGS, exchanged, quadruped, standing
from ocp.problems.benchmarks.motions import compare_sequences
from ocp.problems.benchmarks.motions.compare_sequences import drawn
from ocp.problems.robots.quadruped_trot import STANDING, problem

TREE = quadruped()
MASS = 3.3 + 4 * (0.54 + 0.634 + 0.064)  # kg, as its makers have it but for rotors


@pytest.fixture(scope="module")
def trot():
    return solve(problem(points=7, degree=3)).require(coarse=True)


def test_its_mass_is_that_of_its_parts():
    assert sum(link.mass for link in TREE.links) == pytest.approx(MASS, rel=1e-12)


def test_it_stands_with_its_feet_under_its_hips():
    for foot, place in zip(FEET, LEGS.values()):
        at = np.array(position(TREE, np.array(standing(0.27, 0.1)), foot)).ravel()
        np.testing.assert_allclose(at, (0.1 + place, 0.0, 0.0), atol=1e-12)


def test_left_and_right_change_places():
    q = np.random.default_rng(5).uniform(-1, 0, TREE.dof)
    other = q[list(exchanged())]
    for left, right in ((0, 1), (2, 3)):
        np.testing.assert_allclose(
            np.array(position(TREE, q, FEET[left])), np.array(position(TREE, other, FEET[right]))
        )
    np.testing.assert_array_equal(other[list(exchanged())], q)


def test_a_trot_goes_as_fast_as_is_asked(trot):
    assert trot.parameters["step"] == pytest.approx(trot.duration, rel=1e-7)  # 1 m/s
    ahead = trot.q(trot.duration)[0] - trot.q(0.0)[0]
    assert ahead == pytest.approx(trot.parameters["step"], abs=1e-7)


def test_a_trot_stands_where_it_found_and_lands_one_step_further(trot):
    stance, flight = trot.phases.values()
    for foot in STANDING:
        place = trot.parameters[foot.replace(" ", "_")]
        path = stance.trace(lambda at, foot=foot: at.position(foot), stance.times(25))
        np.testing.assert_allclose(path[0], place, atol=1e-3)
        np.testing.assert_allclose(path[1], 0.0, atol=1e-3)
    landed = flight.trace(lambda at: at.position("right fore foot"), flight.duration)
    further = trot.parameters["left_fore_foot"] + trot.parameters["step"]
    np.testing.assert_allclose(landed[:2], (further, 0.0), atol=1e-7)


def test_the_ground_gives_a_trot_the_momentum_that_its_weight_takes(trot):
    stance = trot.phases["stance"]
    t = np.linspace(0.0, stance.duration, 801)
    push = np.trapezoid(stance.trace(lambda at: at.reaction.push(), t)[0], t)
    blows = trot.impulses["flight to stance"].values()
    total = push + sum(blow[1] for blow in blows)
    assert total == pytest.approx(MASS * GRAVITY * trot.duration, rel=5e-3)
    assert min(blow[1] for blow in blows) > 0


def test_drawn_sequences_begin_and_end_on_all_feet_and_always_change():
    for seed in range(50):
        sequence = drawn(seed)
        assert sequence[0] == sequence[-1] == frozenset(FEET)
        assert all(one != other for one, other in pairwise(sequence))
        assert drawn(seed) == sequence
    assert any(not there for seed in range(50) for there in drawn(seed))


def test_a_sequence_is_stated_with_places_that_are_sought_where_feet_come_down():
    every = frozenset(FEET)
    three = every - {"left fore foot"}
    stated = compare_sequences.problem((every, three, every), points=6)
    *_, (_, final) = stated.parts.items()
    last = final.ground.foot("left fore foot").center[0]
    assert (last.name, last.free) == ("left_fore_foot_3", True)
    assert final.ground.foot("right fore foot").center[0] == HALF
    assert [len(each.strikes) for each in stated.transitions] == [0, 4]
