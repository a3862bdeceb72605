"""Muscles tire as three compartments say, and endure as people do."""

import casadi as ca
import numpy as np
import pytest
from refusals import refused

from ocp.mechanics.muscles.fatigue import (
    BAND,
    ELBOW,
    RATES,
    Fatigue,
    fatigue_rates,
    hold_endurance,
    measured_endurance,
)


def hold(task, fatigue, longest=3000.0, step=0.02):
    """Active and fatigued shares of a rested muscle over time, by Heun's rule, and its times."""
    count = int(longest / step)
    shares = np.zeros((count + 1, 2))

    def rates(pair, time):
        return np.array(fatigue_rates(task(time), *pair, fatigue))

    for k in range(count):
        first = rates(shares[k], k * step)
        second = rates(shares[k] + step * first, (k + 1) * step)
        shares[k + 1] = shares[k] + step * (first + second) / 2
    return np.arange(count + 1) * step, shares


@pytest.mark.parametrize(
    ("share", "off"), [(0.15, -0.216), (0.30, 0.138), (0.50, 0.391), (0.70, 0.215)]
)
def test_a_hold_of_the_elbow_endures_as_the_published_law_has_it(share, off):
    """Within the widest band of people everywhere, at half of the strength outside the narrowest:
    that is the law with its published rates, as no rates are fitted here; MyoSuite's page on its
    fatigue has the same four numbers."""
    ours, people = hold_endurance(share, ELBOW), measured_endurance(share)
    assert ours / people - 1 == pytest.approx(off, abs=2e-3)
    assert abs(off) < BAND[1] and (abs(off) < BAND[0]) == (share != 0.50)


@pytest.mark.parametrize(
    ("who", "offs"),
    [("men", (-0.238, -0.150, -0.003, -0.141)), ("women", (np.inf, 0.277, 0.393, 0.175))],
)
def test_the_elbows_flexors_of_men_endure_as_people_do(who, offs):
    """Within the narrowest band at all four shares by the rates of men, and not by women's."""
    fatigue = Fatigue(**dict(zip(("tiring", "recovery"), RATES[f"elbow flexors, {who}"])))
    shares = (0.15, 0.30, 0.50, 0.70)
    found = [hold_endurance(share, fatigue) / measured_endurance(share) - 1 for share in shares]
    assert found == pytest.approx(offs, abs=2e-3)
    assert (max(map(abs, found)) < BAND[0]) == (who == "men")


def test_other_rates_would_bring_the_four_closer_and_hold_a_tenth_for_ever():
    """So that it is the rates of 2012, found for 10 to 90 %, that are off at a half."""
    fitted = Fatigue(tiring=0.01213, recovery=0.00187)
    for share in (0.15, 0.30, 0.50, 0.70):
        assert hold_endurance(share, fitted) == pytest.approx(measured_endurance(share), rel=0.08)
    assert hold_endurance(0.1, fitted) == float("inf")
    assert hold_endurance(0.1, ELBOW) == pytest.approx(measured_endurance(0.1), rel=0.05)


def test_no_rates_bring_the_law_as_close_to_people_as_is_published():
    """A mean error of 9.9 s at ten to ninety per cent is published of the elbow (Frey-Law, Looft &
    Heitsman 2012); those of the law are 52 s by its rates, and 31 s at least by any."""
    shares = np.linspace(0.1, 0.9, 9)
    people = np.array([measured_endurance(share) for share in shares])

    def error(tiring, recovery):
        fatigue = Fatigue(tiring=tiring, recovery=recovery)
        times = np.array([hold_endurance(share, fatigue) for share in shares])
        return np.sqrt(np.mean((np.minimum(times, 1e4) - people) ** 2))

    rates = [
        (tiring, recovery)
        for tiring in np.linspace(0.006, 0.014, 33)
        for recovery in np.linspace(0.0004, 0.0014, 51)
    ]
    assert error(ELBOW.tiring, ELBOW.recovery) == pytest.approx(51.5, abs=0.1)
    assert min(error(*pair) for pair in rates) > 25.0


def test_measured_endurance_is_that_of_the_table():
    times = [measured_endurance(share) for share in (0.15, 0.30, 0.50, 0.70)]
    assert times == pytest.approx([1190.2, 257.2, 83.2, 39.5], abs=0.1)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_integrated_holds_end_when_they_are_said_to(share):
    times, shares = hold(lambda time: share, ELBOW, longest=1.3 * hold_endurance(share, ELBOW))
    # The drive holds the share but for F A / 10 of it, and the rounded minimum sets in before.
    failed = times[(shares[:, 0] < 0.99 * share) & (times > 2)]
    assert failed[0] == pytest.approx(hold_endurance(share, ELBOW), rel=0.02)


def test_compartments_keep_between_none_and_all():
    _, shares = hold(lambda time: 0.9, ELBOW, longest=200.0)
    assert shares.min() >= 0 and shares.sum(axis=1).max() <= 1 + 1e-3


def test_rests_between_lifts_recover_faster_by_the_rest_factor():
    def lifts(time):
        return 0.5 if time % 10 < 5 else 0.0

    plain = hold(lifts, ELBOW, longest=200.0)[1][-1, 1]
    rested = hold(lifts, Fatigue(tiring=0.00912, recovery=0.00094, rest_factor=15.0), 200.0)[1]
    assert rested[-1, 1] < 0.7 * plain


def test_a_little_is_held_for_ever():
    assert hold_endurance(0.05, ELBOW) == float("inf")


def test_rates_are_one_for_numbers_and_expressions_with_derivatives():
    x, step = ca.SX.sym("x", 3), 1e-30
    at = np.array([0.5, 0.3, 0.4])
    fatigue = Fatigue(tiring=0.01, recovery=0.001, rest_factor=15.0)
    rates = ca.vertcat(*fatigue_rates(x[0], x[1], x[2], fatigue))
    function = ca.Function("rates", [x], [rates, ca.jacobian(rates, x)])
    values, slopes = (np.array(each) for each in function(at))
    assert values.ravel() == pytest.approx(fatigue_rates(*at, fatigue), rel=1e-14)
    steps = at + 1j * step * np.eye(3)
    by_complex_step = [np.imag(fatigue_rates(*each, fatigue)) / step for each in steps]
    np.testing.assert_allclose(slopes, np.transpose(by_complex_step), rtol=1e-12, atol=1e-14)


def test_what_is_no_hold_is_refused():
    with refused("endurance: share: expected at most 1, got 15"):
        measured_endurance(15.0)
    with refused(
        "endurance: expected one of ankle, elbow, grip, knee, shoulder, trunk, got 'neck'"
    ):
        measured_endurance(0.5, "neck")
    with refused("fatigue: recovery: expected a number above 0, got 0"):
        Fatigue(tiring=0.01, recovery=0.0)
