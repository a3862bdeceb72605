"""Recordings: what is refused, the motion between noisy samples, and noise of a bandwidth."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import BSpline, Recording, noisy
from ocp.estimation.recordings import validated_basis

T = np.linspace(0.5, 4.5, 401)
SPEED = 2 * np.pi / 4
Q = np.array([np.sin(SPEED * T), 0.5 * np.cos(3 * SPEED * T)])
RECORDING = Recording(
    t=T, q=Q, outputs={"torque": np.zeros((2, 401))}, deviations={"torque": (0.1, 2.0)}
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"t": T[::-1]}, "recording: t: expected 6 or more times"),
        ({"t": T[:4]}, "recording: t: expected 6 or more times"),
        ({"t": "soon"}, "recording: t: expected numbers"),
        ({"q": Q[:, :-1]}, r"recording: q: expected \(n, 401\), a column for each time"),
        ({"q": Q[0]}, r"recording: q: expected 2 dimensions, got shape \(401,\)"),
        ({"q": Q * np.nan}, "recording: q: expected finite numbers"),
        ({"qd": Q[:1]}, r"recording: qd: expected \(2, 401\) as of q"),
        ({"outputs": {"torque": np.zeros((2, 7))}}, r"output 'torque': expected \(rows, 401\)"),
        (
            {"outputs": {"torque": np.full((2, 401), np.inf)}},
            "output 'torque': expected finite numbers",
        ),
        ({"deviations": {"force": 1.0}}, "unknown output 'force'; it has torque"),
        ({"deviations": {"torque": (1.0, 1.0, 1.0)}}, "expected a number or 2, got 3"),
        ({"deviations": {"torque": 0.0}}, "deviation of 'torque': expected above 0"),
        ({"bandwidth": 0.0}, "bandwidth .Hz.: expected a number above 0"),
        ({"encoder": -1.0}, "recording: encoder: expected above 0"),
        ({"encoder": (1.0, 1.0, 1.0)}, "recording: encoder: expected a number or 2, got 3"),
        ({"encoder": 1.0, "qdd": Q}, "recording: qdd: given beside coordinates whose noise"),
        ({"motion": 12}, "recording: motion: expected BSpline"),
    ],
)
def test_what_is_no_recording_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        replace(RECORDING, **change)


def test_rates_and_accelerations_are_those_of_the_motion():
    q, qd, qdd = RECORDING.curve()
    assert np.abs(q - Q).max() < 1e-8
    assert np.abs(qd[0] - SPEED * np.cos(SPEED * T)).max() < 1e-6
    assert np.abs(qdd[1] + 4.5 * SPEED**2 * np.cos(3 * SPEED * T)).max() < 1e-3


def test_given_accelerations_take_the_place_of_the_splines():
    _, qd, qdd = replace(RECORDING, qdd=7 * Q).curve()
    assert np.abs(qdd - 7 * Q).max() == 0
    assert np.abs(qd[0] - SPEED * np.cos(SPEED * T)).max() < 1e-6


def test_a_basis_of_ones_own_is_taken():
    _, _, qdd = replace(RECORDING, motion=BSpline(points=6, degree=5)).curve()
    assert np.abs(qdd[1] + 4.5 * SPEED**2 * np.cos(3 * SPEED * T)).max() > 1


def test_noise_on_coordinates_is_smoothed_by_fewer_control_points():
    measured = noisy(replace(RECORDING, encoder=1e-3), 3)
    assert validated_basis(measured).points < validated_basis(RECORDING).points
    off = measured.curve()[0] - Q
    assert np.sqrt(np.mean(off**2)) < 0.4e-3


def test_noise_has_the_deviation_of_its_row_and_nothing_above_its_bandwidth():
    spread = []
    for seed in range(20):
        noise = noisy(replace(RECORDING, bandwidth=10.0), seed).outputs["torque"]
        spectrum = np.abs(np.fft.rfft(noise, axis=1))
        assert spectrum[:, np.fft.rfftfreq(401, 0.01) > 10].max() < 1e-9
        spread.append(noise.std(axis=1))
    assert np.sqrt(np.mean(np.square(spread), axis=0)) == pytest.approx([0.1, 2.0], rel=0.05)


def test_noise_is_that_of_its_seed():
    first, again, other = (noisy(RECORDING, seed).outputs["torque"] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()


def test_samples_within_a_bandwidth_count_as_many_as_are_independent():
    assert replace(RECORDING, bandwidth=10.0).shares == pytest.approx(0.2)
    assert replace(RECORDING, bandwidth=80.0).shares == pytest.approx(1.0)


def test_noise_that_cannot_be_made_is_refused():
    with pytest.raises(ValueError, match="output 'torque': noise is asked for"):
        noisy(replace(RECORDING, deviations={}), 0)
    uneven = T + 0.3 * (T - 0.5) ** 2
    with pytest.raises(ValueError, match="needs equally spaced times"):
        noisy(replace(RECORDING, t=uneven, bandwidth=3.0), 0)
