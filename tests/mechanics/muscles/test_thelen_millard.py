"""Thelen's and Millard's muscles have their curves, and map onto ours with known differences."""

import numpy as np
import pytest
from opensim_child import needs_opensim, opensim_answers
from refusals import refused

from ocp.mechanics.muscles.thelen_millard import MillardMuscle, ThelenMuscle, curve_differences

SIZES = {"force": 1000.0, "fibre": 0.1, "slack": 0.2}
PLACES = {
    "active_force": np.linspace(0.4, 1.9, 61),
    "passive_force": np.linspace(0.9, 1.8, 61),
    "force_velocity": np.linspace(-1, 1, 61),
    "tendon_force": np.linspace(0.99, 1.06, 61),
}


@needs_opensim
@pytest.mark.commands
def test_curves_are_those_of_opensim():
    strains = {"fibre_strain": 0.65, "tendon_strain": 0.055}
    places = {name: values.tolist() for name, values in PLACES.items()}
    lengths = np.linspace(0.5, 1.6, 23)
    answers = opensim_answers(
        millard_curves={**strains, "places": places}, thelen_curves=lengths.tolist()
    )
    millard = MillardMuscle(**SIZES, **strains).curves
    for name, expected in answers["millard_curves"].items():
        assert millard[name](PLACES[name]) == pytest.approx(expected, abs=1e-6)
    thelen = ThelenMuscle(**SIZES).curves
    for name, expected in answers["thelen_curves"].items():
        assert thelen[name](lengths) == pytest.approx(expected, abs=1e-12)


def test_thelens_velocities_and_tendons_pass_through_their_fixed_points():
    curves = ThelenMuscle(**SIZES).curves
    assert curves["force_velocity"](np.array([-1.0, 0.0, 1e9])) == pytest.approx([0, 1, 1.4])
    assert curves["tendon_force"](np.array([0.99, 1.0, 1.04])) == pytest.approx([0, 0, 1.0])


def test_options_keep_what_opensim_keeps():
    """The shapes are lost; Thelen's muscle has no damping."""
    thelen = ThelenMuscle(**SIZES, pennation=0.2, tendon_strain=0.033).options
    assert thelen == {
        **SIZES,
        "pennation": 0.2,
        "fastest": 10.0,
        "rise": 0.015,
        "fall": 0.05,
        "tendon_strain": 0.033,
        "fibre_strain": 0.6,
        "damping": 0.0,
    }
    assert MillardMuscle(**SIZES, damping=0.01).options["damping"] == 0.01


@pytest.mark.parametrize("kind", [ThelenMuscle, MillardMuscle])
def test_differences_of_curves_are_those_of_the_page(kind):
    shown = {
        ThelenMuscle: {
            "active_force": (0.238, 0.528),
            "passive_force": (0.057, 0.086),
            "force_velocity": (0.181, 0.410),
            "tendon_force": (0.062, 0.106),
        },
        MillardMuscle: {
            "active_force": (0.095, 0.179),
            "passive_force": (0.058, 0.141),
            "force_velocity": (0.190, 0.394),
            "tendon_force": (0.056, 0.090),
        },
    }
    for name, expected in curve_differences(kind(**SIZES)).items():
        assert expected == pytest.approx(shown[kind][name], abs=6e-4)


def test_numbers_that_are_none_are_refused():
    with refused("Thelen's muscle: slack: expected a number above 0, got 0"):
        ThelenMuscle(force=1.0, fibre=0.1, slack=0.0)
    with refused("Millard's muscle: damping: expected a number of at least 0, got -1"):
        MillardMuscle(**SIZES, damping=-1.0)
