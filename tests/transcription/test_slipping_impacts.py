"""Points that strike and slide on against friction, beside the closed form of a rod."""

import numpy as np
import pytest
from dropped_bodies import block
from phased_motions import INERTIA, MASS, REACH, TILT, fallen
from refusals import refused

from ocp import BSpline, Phase, Problem, Solver, at_start, impact, integral, solve, verify


def struck_rod(friction, restitution, rates):
    """Rates after a rod's end strikes, and its impulse (across, up): Coulomb's law of impulses with
    Newton's restitution, as Routh and Chatterjee & Ruina (1998, eq. 5) solve it in a plane.

    A is what an impulse at the end makes of the end's velocity: A = 1 / m + r x r x / I.
    """
    across, up = REACH * np.cos(TILT), -REACH * np.sin(TILT)  # from the centre of mass to the end
    slopes = np.array([[1.0, 0.0, up], [0.0, 1.0, -across]])  # a turn is about y
    mass = np.diag([1 / MASS, 1 / MASS, 1 / INERTIA])
    matrix = slopes @ mass @ slopes.T
    came = slopes @ rates
    sticks = np.linalg.solve(matrix, [-came[0], -(1 + restitution) * came[1]])
    if abs(sticks[0]) <= friction * sticks[1]:
        return rates + mass @ slopes.T @ sticks, sticks
    for way in (1.0, -1.0):  # in which it goes on
        push = -(1 + restitution) * came[1] / (matrix[1, 1] - friction * way * matrix[1, 0])
        impulse = push * np.array([-friction * way, 1.0])
        if push > 0 and way * (came + matrix @ impulse)[0] > 0:
            return rates + mass @ slopes.T @ impulse, impulse
    raise AssertionError("no mode fits")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("friction", [0.02, 0.1, 5.0])
def test_a_rod_that_slips_jumps_as_its_closed_form(friction, restitution):
    solution = fallen(friction=friction, restitution=restitution, slips=True)
    fall, rise = solution.phases.values()
    rates, impulse = struck_rod(friction, restitution, fall.qd(0.3))
    np.testing.assert_allclose(rise.qd(0.0), rates, atol=1e-7)
    pushed = solution.impulses["fall to rise"]["end"]
    np.testing.assert_allclose(pushed[[0, 2]], impulse, atol=1e-7)


def test_a_slipping_impact_is_certified_and_loses_what_its_impulse_takes():
    certificate = verify(fallen(friction=0.1, slips=True))
    (struck,) = certificate.impacts
    assert struck.balance < 1e-9 and struck.error < 1e-9 and struck.lost > 0
    law = certificate.violations["fall to rise: slipping.end"]
    assert law.dense < 1e-9
    assert "fall to rise: leaving.end" in certificate.violations


def test_what_slips_needs_friction():
    with refused("impact of 'end': slips: expected a coefficient of friction above 0, got None"):
        impact("end", slips=True)
    with refused("impact of 'end': slips: expected a coefficient of friction above 0, got 0"):
        impact("end", friction=0, slips=True)


def test_a_block_that_slips_in_space_goes_on_as_it_went():
    tree, rates, friction = block(), np.array([1.2, -0.5, 0.0]), 0.2
    phases = tuple(Phase(name, motion=BSpline(points=5), duration=0.1) for name in ("fall", "rise"))
    problem = Problem(
        tree=tree,
        phases=phases,
        links=(impact("sole", friction=friction, slips=True),),
        constraints=at_start(tree, q=(0.0, 0.0, 0.3), qd=rates),
        objective=integral("nothing", lambda at: 0 * at.q[0]),
    )
    solution = solve(problem, solver=Solver(options={"tol": 1e-11})).require()
    speed = np.hypot(*rates[:2])
    share = 1 - friction * 9.81 * 0.1 / speed
    left = solution.phases["rise"].qd(0.0)
    np.testing.assert_allclose(left, [1.2 * share, -0.5 * share, 0.0], atol=1e-7)
