"""Metabolic powers are those of the papers and of OpenSim's classes."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from opensim_child import needs_opensim, opensim_answers
from refusals import refused

from ocp.mechanics.muscles.force_curves import active_force, force_velocity, passive_force
from ocp.mechanics.muscles.metabolics import (
    Energetics,
    FibreState,
    Smoothing,
    basal_rate,
    bhargava_2004,
    efficiency,
    uchida_2016,
    umberger_2003,
    umberger_2010,
)

MUSCLE = Energetics(force=900.0, length=0.08, slow_twitch=0.7)
KINKED = Smoothing(power=0.0, velocity=0.0, length=0.0, signal=0.0)
LAWS = {
    "bhargava_2004": bhargava_2004,
    "umberger_2003": umberger_2003,
    "umberger_2010": umberger_2010,
    "uchida_2016": uchida_2016,
}
VARIANTS = {
    "bhargava_2004": {},
    "no negative": {"negative_work": False},
    "by force": {"force_dependent": True},
}
# Lengths, velocities over vmax, activations, excitations.
STATES = np.random.default_rng(0).uniform((0.6, -0.9, 0.02, 0.02), (1.5, 0.6, 1.0, 1.0), (60, 4))


def fibre(length, velocity, activation, excitation):
    """The state of MUSCLE's fibres, velocity over the largest one."""
    curve = active_force(length)
    return FibreState(
        excitation=excitation,
        activation=activation,
        length=length,
        velocity=velocity * MUSCLE.max_velocity * MUSCLE.length,
        active=MUSCLE.force * activation * curve * force_velocity(velocity),
        passive=MUSCLE.force * passive_force(length),
        isometric=curve,
    )


@needs_opensim
@pytest.mark.commands
def test_powers_are_those_of_opensim_and_within_the_width_of_smooth_maxima():
    request = {"force": 900.0, "length": 0.08, "slow_twitch": 0.7, "states": STATES.tolist()}
    answers = opensim_answers(metabolics=request)["metabolics"]
    smooth = Smoothing(power=1e-3, velocity=1e-5, length=1e-6, signal=1e-5)
    for (_, _, activation, excitation), answer in zip(STATES, answers):
        names = ("length", "velocity", "active", "passive", "isometric")
        state = FibreState(
            excitation=excitation,
            activation=activation,
            **{name: answer[name] for name in names},
        )
        for name, options in VARIANTS.items():
            assert bhargava_2004(state, MUSCLE, KINKED, **options) == pytest.approx(
                answer[name], rel=1e-10
            )
        for name in ("umberger_2003", "uchida_2016"):
            assert LAWS[name](state, MUSCLE, KINKED) == pytest.approx(answer[name], rel=1e-10)
            near = LAWS[name](state, MUSCLE, smooth)
            # Three maxima, each off by half a width of power (W/kg), and smaller ones.
            assert near == pytest.approx(answer[name], abs=3 * 5e-4 * MUSCLE.mass + 1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_smooth_powers_are_near_the_kinked_ones(law):
    state = fibre(*STATES.T)
    exact = LAWS[law](state, MUSCLE, KINKED)
    errors = [
        np.abs(LAWS[law](state, MUSCLE, smoothing) - exact).max()
        for smoothing in (
            Smoothing(),
            Smoothing(power=0.05, velocity=0.005, length=0.002, signal=0.002),
        )
    ]
    assert errors[0] < 0.05 * exact.max()
    assert errors[1] < errors[0] / 5


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "state", [(1.0, 0.0, 0.5, 0.5), (1.2, 0.3, 0.4, 0.1), (0.7, -0.5, 0.2, 0.9)]
)
def test_powers_have_derivatives_everywhere(law, state):
    """At length 1, at rest and a = u too, where the printed laws have kinks."""
    x = ca.SX.sym("x", 4)
    power = LAWS[law](fibre(x[0], x[1], x[2], x[3]), MUSCLE)
    slopes = np.array(ca.Function("slopes", [x], [ca.gradient(power, x)])(state)).ravel()
    steps = np.array(state) + 1e-30j * np.eye(4)
    by_complex_step = [np.imag(LAWS[law](fibre(*step), MUSCLE)) / 1e-30 for step in steps]
    assert slopes == pytest.approx(by_complex_step, rel=1e-10)
    assert np.isfinite(slopes).all()


def test_a_lengthening_muscle_has_a_slope_where_the_printed_law_is_flat():
    state = (1.2, 0.3, 0.4, 0.2)
    x = ca.SX.sym("x", 4)
    slopes = []
    for smoothing in (KINKED, Smoothing()):
        power = uchida_2016(fibre(x[0], x[1], x[2], x[3]), MUSCLE, smoothing)
        gradient = ca.Function("slopes", [x], [power, ca.gradient(power, x)])
        slopes.append(np.abs(np.array(gradient(state)[1])).max())
    assert slopes[0] < 1e-9 < 1e-4 < slopes[1]


def test_resting_muscles_heat_by_a_watt_a_kilogram():
    rest = FibreState(
        excitation=1e-6, activation=1e-6, length=1.0, velocity=0.0, active=0.0, isometric=1.0
    )
    for law in LAWS.values():
        assert law(rest, MUSCLE, KINKED) == pytest.approx(MUSCLE.mass, rel=0.01)
    assert MUSCLE.mass == pytest.approx(0.3052, abs=1e-4)


def test_shortening_costs_and_lengthening_saves():
    for law in LAWS.values():
        shortens, holds = (law(fibre(1.0, v, 0.5, 0.5), MUSCLE) for v in (-0.3, 0.0))
        assert shortens > holds
    lengthens = umberger_2010(fibre(1.0, 0.3, 0.5, 0.5), MUSCLE)
    assert umberger_2003(fibre(1.0, 0.3, 0.5, 0.5), MUSCLE) < lengthens  # work is not given back


def test_a_body_rests_at_its_basal_rate():
    assert basal_rate(75.0) == pytest.approx(90.0)
    assert efficiency(25.0, 100.0) == 0.25


def test_laws_take_few_instructions():
    """Beyond the force's own curves, which are inputs here."""
    x = ca.SX.sym("x", 6)
    state = FibreState(
        excitation=x[0], activation=x[1], length=x[2], velocity=x[3], active=x[4], isometric=x[5]
    )
    counts = {
        name: ca.Function(name, [x], [ca.cse(law(state, MUSCLE))]).n_instructions()
        for name, law in LAWS.items()
    }
    assert max(counts.values()) <= 110, counts


def test_energetics_that_are_none_are_refused():
    with refused("energetics: force: expected a number above 0, got 0"):
        replace(MUSCLE, force=0.0)
    with refused("energetics: slow_twitch: expected at most 1, got 1.5"):
        replace(MUSCLE, slow_twitch=1.5)
    with refused("smoothing: power: expected a number of at least 0, got -1"):
        Smoothing(power=-1.0)
