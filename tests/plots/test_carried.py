"""Pictures of bodies that phases carry: a box and a ball in flight."""

import numpy as np
import pytest

from ocp import solve
from ocp.plots.bodies.scenery import extreme_points, placed_solids
from ocp.problems.arms import box_pick, throw


def places(solution, t):
    """Return what is drawn last at times t (s), and the places (N, 3; m) of its link."""
    body = placed_solids(solution, np.asarray(t))[-1]
    return body, body.poses[:, :3, 3]


@pytest.fixture(name="picked", scope="module")
def picking():
    return solve(box_pick.problem(belt=0.3, points=8)).require()


def test_a_box_comes_with_the_belt_is_carried_and_stays_where_it_is_put(picked):
    reach, carry, back = picked.durations.values()
    t = [0.0, reach, reach + carry / 2, reach + carry, reach + carry + back / 2, picked.duration]
    body, where = places(picked, t)
    before, taken, held, put, *after = where[:, :2]
    np.testing.assert_allclose(taken, box_pick.PICK["two_link"], atol=1e-6)
    np.testing.assert_allclose(taken - before, [0.3 * reach, 0.0], atol=1e-6)
    hand = picked.phases["carry"].trace(lambda at: at.position("tip"), carry / 2)
    np.testing.assert_allclose(held, np.ravel(hand)[:2], atol=1e-9)
    np.testing.assert_allclose([put, *after], [box_pick.PLACE["two_link"]] * 3, atol=1e-6)
    edge = np.cbrt(1.0 / 1000.0)  # of 1 kg as dense as water
    assert np.ptp(body.solid.outline, axis=0) == pytest.approx([edge] * 3)


def test_a_ball_that_is_let_go_flies_and_pictures_do_not_go_with_it():
    thrown = solve(throw.problem(links=1, u=1e-3, points=8)).require(coarse=True)
    T, late = thrown.durations["swing"], np.array([0.0, 0.1, 0.3])
    t = np.concatenate([[0.0], T + late])
    body, where = places(thrown, t)
    swing = thrown.phases["swing"]
    start, rate = (np.ravel(swing.trace(look, T)) for look in (_place, _rate))
    flown = start + np.outer(late, rate) - np.outer(late**2, [0.0, throw.GRAVITY / 2, 0.0])
    np.testing.assert_allclose(where[1:], flown, atol=1e-6)
    far = np.concatenate([*extreme_points([body])])
    assert far[:, 0].max() < start[0] + 0.1


def _place(at):
    return at.position("grip")


def _rate(at):
    return at.velocity("grip")
