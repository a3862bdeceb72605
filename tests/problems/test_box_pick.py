"""A box that is carried in one phase of three: the slide's closed form, and energy of each tree."""

import numpy as np
import pytest

from ocp import solve
from ocp.mechanics import velocity
from ocp.problems.arms.box_pick import balance, least_of_slide, lines, problem, report


def test_a_slide_carries_its_box_with_the_least_effort_of_the_closed_form():
    solution = solve(problem(arm="slide", points=6)).require()
    cost, durations = least_of_slide(1.0, 2.0)
    assert solution.objective == pytest.approx(cost, rel=1e-9)
    assert list(solution.durations.values()) == pytest.approx(durations, rel=1e-5)
    assert f"{cost:.9g}" in lines(report(solution))[-1]


def test_the_closed_form_is_least_over_the_durations_of_its_moves():
    cost, best = least_of_slide(1.0, 2.0)
    moves = np.array((2.0 * 0.5, 3.0 * 0.8, 2.0 * 0.3))  # mass times way
    efforts = lambda times: float((12 * moves**2 / np.array(times) ** 3).sum())
    assert efforts(best) == pytest.approx(cost, rel=1e-12)
    for change in ((0.01, -0.01, 0), (0, 0.01, -0.01), (-0.01, 0, 0.01)):
        assert efforts(np.array(best) + change) > cost


@pytest.fixture(scope="module", params=[0.0, 0.3], ids=["at rest", "belt"])
def picked(request):
    """Return the belt's speed (m/s) and the motion of two links that take a box from it."""
    return request.param, solve(problem(belt=request.param, points=9)).require()


def test_work_is_the_gain_in_energy_of_what_each_phase_moves(picked):
    for phase in picked[1].phases.values():
        work, gained = balance(phase)
        assert work == pytest.approx(gained, abs=1e-3)


def test_the_hand_takes_the_box_as_fast_as_it_comes(picked):
    belt, solution = picked
    reach, carry, back = solution.phases.values()
    q, qd = carry.q(0.0), carry.qd(0.0)
    np.testing.assert_allclose(reach.qd(reach.duration), qd, atol=1e-8)
    hand = np.array(velocity(reach.problem.tree, q, qd, "tip")).ravel()
    np.testing.assert_allclose(hand, (belt, 0, 0), atol=1e-8)
    masses = [sum(link.mass for link in each.problem.tree.links) for each in (reach, carry, back)]
    assert masses == pytest.approx([1.0, 2.0, 1.0])
