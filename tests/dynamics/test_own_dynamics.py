"""A formulation of one's own is solved, differentiated and moved by its own physics, and never as
another's."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline, Problem, Transcription, at_end, at_start, effort, solve
from ocp.dynamics import (
    LIE_GROUP,
    NEWTON_EULER,
    Formulation,
    accelerations,
    derivatives_of,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from ocp.models.arms.two_link import two_link

DAMPING = 1.5  # N m s


def damped_inverse(tree, q, qd, qdd, loads=()):
    """Joint torques (n,) of a tree whose joints resist in proportion to their rates."""
    return NEWTON_EULER.inverse(tree, q, qd, qdd, loads) + DAMPING * qd


def squared_inverse(tree, q, qd, qdd, loads=()):
    """No dynamics: quadratic in the accelerations."""
    return qdd * qdd


DAMPED = Formulation(name="damped", inverse=damped_inverse)
MOTION = np.array([[0.3, -0.7], [1.1, 0.4], [-0.6, 2.0]])  # q, qd, qdd of two joints


def swing():
    """A two-link arm from rest to rest in a given time with the least effort."""
    arm = two_link()
    return Problem(
        tree=arm,
        motion=BSpline(points=8),
        duration=0.9,
        objective=effort(),
        constraints=(at_start(arm, q=(0.0, -2.0), qd=0.0), at_end(arm, q=(1.0, -1.0), qd=0.0)),
    )


def test_an_own_formulation_has_the_optimum_of_automatic_differentiation():
    by_default, by_ad, undamped = (
        solve(swing(), chosen)
        for chosen in (
            Transcription(dynamics=DAMPED),
            Transcription(dynamics=DAMPED, derivatives="ad"),
            Transcription(),
        )
    )
    assert by_default.success and by_ad.success
    assert by_default.transcription.derivatives == "ad"
    assert by_default.objective == pytest.approx(by_ad.objective, rel=1e-8)
    np.testing.assert_allclose(by_default.points, by_ad.points, rtol=0, atol=1e-8)
    assert by_default.objective > 1.05 * undamped.objective


def test_friction_asks_for_its_torque():
    t = np.linspace(0.0, 0.9, 7)
    solution = solve(swing(), Transcription(dynamics=DAMPED))
    bare = [
        np.array(inverse_dynamics(two_link(), *parts)).ravel()
        for parts in zip(solution.q(t).T, solution.qd(t).T, solution.qdd(t).T)
    ]
    np.testing.assert_allclose(
        solution.tau(t), np.array(bare).T + DAMPING * solution.qd(t), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("choice", ["recursive", "published"])
def test_derivatives_that_it_does_not_have_are_refused_by_name(choice):
    with pytest.raises(ValueError, match=f"derivatives '{choice}': formulation 'damped'"):
        Transcription(dynamics=DAMPED, derivatives=choice)


@pytest.mark.parametrize("choice", ["auto", "recursive", "published"])
def test_the_derivatives_of_another_formulation_are_refused(choice):
    """Made out of a built-in formulation, it would be differentiated as that."""
    disguised = replace(LIE_GROUP, name="disguised", inverse=damped_inverse)
    with pytest.raises(ValueError, match="formulation 'disguised': its derivatives are not"):
        derivatives_of(disguised, choice, two_link())
    right = replace(disguised, derivatives=None)
    assert derivatives_of(right, "auto", two_link()) is None
    same = replace(LIE_GROUP, name="same")
    assert derivatives_of(same, "recursive", two_link()) is LIE_GROUP.derivatives


def test_who_differentiates_is_told_by_name():
    arm = two_link()
    assert derivatives_of(DAMPED, "auto", arm) is None
    assert derivatives_of("auto", "auto", arm) is NEWTON_EULER.derivatives
    assert all(derivatives_of(name, "ad", arm) is None for name in ("newton_euler", "book"))
    with pytest.raises(ValueError, match="derivatives: expected one of recursive, published, ad"):
        derivatives_of(DAMPED, "finite", arm)
    with pytest.raises(ValueError, match="dynamics: expected one of newton_euler, .*, auto"):
        derivatives_of("kane", "ad", arm)


def test_accelerations_follow_from_the_own_inverse():
    arm, (q, qd, qdd) = two_link(), MOTION
    tau = inverse_dynamics(arm, q, qd, qdd, formulation=DAMPED)
    bare = inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(np.array(tau - bare).ravel(), DAMPING * qd, rtol=0, atol=1e-12)
    found = [
        forward_dynamics(arm, q, qd, tau, formulation=DAMPED),
        accelerations(DAMPED, arm, ca.DM(q), ca.DM(qd), tau),
    ]
    disguised = replace(NEWTON_EULER, inverse=damped_inverse)
    found.append(forward_dynamics(arm, q, qd, tau, formulation=disguised))
    known = ca.vertcat(qdd[0], tau[1])
    mixture, torques = hybrid_dynamics(
        arm, ca.DM(q), ca.DM(qd), known, (True, False), formulation=DAMPED
    )
    for value in (*found, mixture):
        np.testing.assert_allclose(number(value), qdd, rtol=0, atol=1e-10)
    np.testing.assert_allclose(number(torques), number(tau), rtol=0, atol=1e-10)


def number(value):
    return np.array(ca.DM(value)).ravel()


def test_the_mass_matrix_is_the_slope_of_inverse_dynamics():
    arm, (q, qd, qdd) = two_link(), MOTION
    change = inverse_dynamics(arm, q, qd, qdd) - inverse_dynamics(arm, q, qd, 0 * qdd)
    np.testing.assert_allclose(number(mass_matrix(arm, q) @ ca.DM(qdd)), number(change), atol=1e-12)
    np.testing.assert_allclose(
        number(forward_dynamics(arm, q, qd, inverse_dynamics(arm, q, qd, qdd))), qdd, atol=1e-10
    )


def test_what_is_no_formulation_is_refused_by_name():
    with pytest.raises(ValueError, match="q: expected 2 entries, one for each of .*; got 3"):
        mass_matrix(two_link(), (0, 0, 0))
    with pytest.raises(ValueError, match="linear in the accelerations"):
        accelerations(
            Formulation(name="squared", inverse=squared_inverse), two_link(), *map(ca.DM, MOTION)
        )
    with pytest.raises(ValueError, match="formulation 'none': inverse: expected a function"):
        Formulation(name="none", inverse=None)
    with pytest.raises(ValueError, match="formulation 'a': derivatives: expected a Provider"):
        Formulation(name="a", inverse=damped_inverse, derivatives="recursive")
