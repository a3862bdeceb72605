"""Curves and activation of muscles are De Groote and Fregly's with OpenSim's constants."""

import casadi as ca
import numpy as np
import pytest
from opensim_child import needs_opensim, opensim_answers

from ocp.mechanics.muscles.activation_dynamics import activation_rate, excitation_for_rate
from ocp.mechanics.muscles.force_curves import (
    active_force,
    force_velocity,
    force_velocity_inverse,
    passive_energy,
    passive_force,
    tendon_energy,
    tendon_force,
    tendon_length,
    tendon_stiffness,
)
from ocp.mechanics.muscles.simm_splines import SimmSpline

RANGES = {
    active_force: (0.2, 1.8),
    force_velocity: (-1.2, 1.2),
    force_velocity_inverse: (-0.1, 1.7),
    passive_force: (0.2, 1.8),
    tendon_force: (0.95, 1.1),
    tendon_length: (-0.1, 5.0),
}
# Activations and excitations between their usual bounds, for each steepness of the switch.
PAIRS = np.random.default_rng(0).uniform(0.01, 1.0, (40, 2))


def test_curves_pass_through_their_fixed_points():
    assert active_force(1.0) == pytest.approx(1.0, abs=1e-12)
    assert force_velocity(np.array([-1.0, 0.0])) == pytest.approx([0.0, 1.0], abs=1e-12)
    assert passive_force(0.2) == 0.0
    assert passive_force(1.6) == pytest.approx(1.0)
    assert tendon_force(1.0) == 0.0
    assert tendon_force(1.049) == pytest.approx(1.0)
    assert tendon_stiffness() == pytest.approx(36.57, abs=0.005)


def test_inverses_undo_their_curves():
    velocities, lengths = np.linspace(-1.1, 1.1, 23), np.linspace(0.99, 1.09, 23)
    assert force_velocity_inverse(force_velocity(velocities)) == pytest.approx(
        velocities, abs=1e-12
    )
    assert tendon_length(tendon_force(lengths)) == pytest.approx(lengths, abs=1e-14)


@pytest.mark.parametrize("curve", RANGES, ids=lambda curve: curve.__name__)
def test_all_kinds_of_numbers_and_expressions_agree(curve):
    places = np.linspace(*RANGES[curve], 9)
    expected = [float(curve(float(each))) for each in places]
    assert curve(places) == pytest.approx(expected, rel=1e-15, abs=1e-16)
    for kind in (ca.SX, ca.MX):
        x = kind.sym("x", 9)
        values = np.array(ca.Function("curve", [x], [curve(x)])(places)).ravel()
        assert values == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("curve", RANGES, ids=lambda curve: curve.__name__)
def test_derivatives_are_those_of_complex_steps_and_differences(curve):
    places, step = np.linspace(*RANGES[curve], 9), 1e-30
    x = ca.SX.sym("x")
    slope = ca.gradient(curve(x), x)
    derivatives = ca.Function("derivatives", [x], [slope, ca.gradient(slope, x)])
    slopes, bends = (np.array(each).ravel() for each in derivatives(places[None, :]))
    by_complex_step = np.imag(curve(places + 1j * step)) / step
    assert slopes == pytest.approx(by_complex_step, rel=1e-12, abs=1e-12)
    h = 1e-4  # a difference of fourth order of complex steps
    sides = [np.imag(curve(places + k * h + 1j * step)) / step for k in (-2, -1, 1, 2)]
    by_differences = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * h)
    assert bends == pytest.approx(by_differences, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("smoothing", [0, 0.1, 1.0, 10.0, 100.0])
def test_excitations_for_rates_undo_rates(smoothing):
    excitation, activation = PAIRS.T
    rate = activation_rate(excitation, activation, smoothing=smoothing)
    same = excitation_for_rate(rate, activation, smoothing=smoothing)
    assert same == pytest.approx(excitation, abs=1e-12)


def test_a_steep_switch_has_the_time_of_its_side():
    height = 0.5 + 1.5 * 0.5
    assert activation_rate(0.9, 0.5, smoothing=1e3) == pytest.approx(0.4 / (0.015 * height))
    assert activation_rate(0.1, 0.5, smoothing=1e3) == pytest.approx(-0.4 * height / 0.060)


def test_a_muscle_takes_few_instructions():
    """Force along the tendon at a rigid tendon: three bells, two exponentials, one asinh."""
    l, v, a = (ca.SX.sym(name) for name in "lva")
    force = a * active_force(l) * force_velocity(v) + passive_force(l)
    count = ca.Function("force", [l, v, a], [force]).n_instructions()
    e = ca.SX.sym("e")
    rate = ca.Function("rate", [e, a], [activation_rate(e, a)]).n_instructions()
    assert (count, rate) == (65, 23)  # constants, inputs and outputs counted


@needs_opensim
@pytest.mark.commands
def test_curves_rates_and_splines_are_those_of_opensim():
    request = {
        "width": 1.3,
        "fibre_strain": 0.55,
        "tendon_strain": 0.06,
        "lengths": np.linspace(0.2, 1.8, 81).tolist(),
        "velocities": np.linspace(-1, 1, 81).tolist(),
        "factors": np.linspace(0, 1.6, 81).tolist(),
        "tendons": np.linspace(0.95, 1.1, 81).tolist(),
        "forces": np.linspace(0, 5, 81).tolist(),
    }
    places = np.cumsum(np.random.default_rng(1).uniform(0.2, 1, 9))
    values = np.random.default_rng(2).uniform(-1, 1, 9)
    everywhere = np.linspace(places[0] - 1, places[-1] + 1, 41)
    knots = [(places[:n].tolist(), values[:n].tolist(), everywhere.tolist()) for n in range(2, 10)]
    for smoothing in (0.1, 10.0):
        rates = {"smoothing": smoothing, "pairs": PAIRS.tolist()}
        answers = opensim_answers(curves=request, activation_rates=rates, splines=knots)
        ours = activation_rate(*PAIRS.T, smoothing=smoothing)
        assert ours == pytest.approx(answers["activation_rates"], rel=1e-10)
    arguments = {
        active_force: (request["lengths"], request["width"]),
        passive_force: (request["lengths"], request["fibre_strain"]),
        force_velocity: (request["velocities"],),
        force_velocity_inverse: (request["factors"],),
        tendon_force: (request["tendons"], request["tendon_strain"]),
        tendon_length: (request["forces"], request["tendon_strain"]),
    }
    for curve, (where, *options) in arguments.items():
        expected = answers["curves"][curve.__name__]
        assert curve(np.array(where), *options) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    x = ca.SX.sym("x")
    for (knot, height, _), (numbers, slopes) in zip(knots, answers["splines"]):
        curve = SimmSpline(places=knot, values=height)(x)
        function = ca.Function("spline", [x], [curve, ca.gradient(curve, x)])
        both = [np.array(each).ravel() for each in function(everywhere[None, :])]
        assert both[0] == pytest.approx(numbers, rel=1e-12, abs=1e-12)
        assert both[1] == pytest.approx(slopes, rel=1e-12, abs=1e-12)


def test_energies_are_integrals_of_their_curves():
    """From 0.2 and from slack on, by 40 nodes of Gauss."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for ends, area, curve, strain in (
        ((0.2, 1.7), passive_energy, passive_force, 0.55),
        ((1.0, 1.07), lambda x, e: tendon_energy(tendon_force(x, e), e), tendon_force, 0.06),
    ):
        half = (ends[1] - ends[0]) / 2
        summed = half * weights @ curve(ends[0] + half * (1 + nodes), strain)
        assert area(ends[1], strain) == pytest.approx(summed, rel=1e-12)
        assert area(ends[0], strain) == pytest.approx(0.0, abs=1e-15)


def test_a_spline_goes_through_its_points_with_one_slope_at_each():
    spline = SimmSpline(places=(0, 1, 2.5, 3, 4), values=(1, 2, 0, 1, -1))
    x = ca.SX.sym("x")
    function = ca.Function("spline", [x], [spline(x), ca.gradient(spline(x), x)])
    for place, value in zip(spline.places, spline.values):
        assert float(function(place)[0]) == pytest.approx(value, abs=1e-14)
        here, beside = float(function(place)[1]), float(function(place + 1e-9)[1])
        assert here == pytest.approx(beside, abs=1e-7)
