"""Tracking of measured markers, coordinates and forces."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from ocp import (
    BSpline,
    Parameter,
    Problem,
    Series,
    angle_tracking,
    at_start,
    force_tracking,
    marker_tracking,
    smoothness,
    solve,
)
from ocp.mechanics import position
from ocp.models.arms.two_link import two_link
from ocp.problem import curves
from ocp.problems.hopping.pogo_hop import problem as hop

ARM = two_link()
T = np.linspace(0.3, 1.1, 81)  # s: of the recording; the motion starts at 0.4 s
START, SECONDS = 0.4, 0.6


def angles(t):
    """What the arm was seen to do (2, N)."""
    return np.array([np.sin(2 * t), np.cos(3 * t) - 1.5])


def tips(t):
    """Where its tip was, (3, N)."""
    q = angles(t)
    arms = 0.4 * np.exp(1j * q[0]) + 0.4 * np.exp(1j * (q[0] + q[1]))
    return np.array([arms.real, arms.imag, 0 * t])


def followed(objective, **changes):
    """The arm's motion nearest to what was measured."""
    stated = {
        "tree": ARM,
        "motion": BSpline(points=12, degree=5),
        "duration": SECONDS,
        "objective": objective + 1e-9 * smoothness(ARM),
    }
    return solve(Problem(**{**stated, **changes})).require()


def recorded(rng=None, size=0.0, missing=()):
    values = tips(T) + (0.0 if rng is None else size * rng.standard_normal((3, len(T))))
    values[:, list(missing)] = np.nan
    return Series(t=T, values={"tip": values}, source="arm.trc")


def test_coordinates_are_followed_from_the_time_at_which_the_motion_starts():
    values = {"elbow": angles(T)[1], "shoulder": angles(T)[0]}
    series = Series(t=T, values=values, source="arm.mot")
    solution = followed(angle_tracking(ARM, series, size=0.01, offset=START))
    t = solution.times(31)
    np.testing.assert_allclose(solution.q(t), angles(t + START), atol=1e-4)


def test_a_free_offset_is_found():
    offset = Parameter("offset", 0.35, "s", lower=0.3, upper=0.5, free=True)
    values = {"elbow": angles(T)[1], "shoulder": angles(T)[0]}
    objective = angle_tracking(ARM, Series(t=T, values=values), size=0.01, offset=offset)
    known = angles(np.array([START]))[:, 0]
    solution = followed(objective, constraints=(at_start(ARM, q=known),))
    assert solution.parameters["offset"] == pytest.approx(START, abs=1e-3)


def test_markers_are_followed_through_noise_and_gaps():
    series = recorded(np.random.default_rng(0), 1e-3, missing=range(40, 46))
    aim = marker_tracking(ARM, series, size=0.001, offset=START)
    values = {"elbow": angles(T)[1], "shoulder": angles(T)[0]}
    rough = angle_tracking(ARM, Series(t=T, values=values), size=1.0, offset=START)
    solution = followed(aim + 1e-3 * rough)
    t = solution.times(31)
    off = solution.trace(lambda at: at.position("tip"), t) - tips(t + START)
    assert np.sqrt(np.mean(off**2)) < 1e-3  # m: less than the noise of a sample


def test_a_marker_weighs_nothing_while_it_is_missing():
    series = recorded(missing=range(40, 46))  # from 0.7 to 0.75 s
    assert series.gaps("tip") == ((pytest.approx(0.69), pytest.approx(0.76)),)
    seen = curves(series).is_measured
    assert [float(seen(t)[0]) for t in (0.68, 0.7, 0.74, 0.77)] == [1.0, 0.0, 0.0, 1.0]


def test_curves_go_through_what_is_exact_and_hold_their_ends():
    aim = curves(recorded())
    at = np.linspace(0.3, 1.1, 57)
    values = np.hstack([np.array(ca.DM(aim.at(t))) for t in at])
    np.testing.assert_allclose(values, tips(at), atol=2e-6)
    np.testing.assert_array_equal(ca.DM(aim.at(5.0)), ca.DM(aim.at(1.1)))
    np.testing.assert_array_equal(ca.DM(aim.at(-5.0)), ca.DM(aim.at(0.3)))


def test_curves_are_those_of_the_basis_that_cross_validation_chose():
    aim = curves(recorded(np.random.default_rng(1), 1e-3))
    basis = BSpline(points=aim.coefficients.shape[1], degree=3, clamped=False)
    at = np.linspace(0.3, 1.1, 23)
    expected = aim.coefficients @ basis.values((at - 0.3) / 0.8).T
    values = np.hstack([np.array(ca.DM(aim.at(t))) for t in at])
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert aim.coefficients.shape[1] < 20  # for 81 samples


def test_weights_are_of_squares_and_sizes_of_deviations():
    ((_, one),) = marker_tracking(ARM, recorded(), size=0.01, offset=0.3).terms
    seen, heavy = recorded(), {"tip": 16.0}
    ((_, four),) = marker_tracking(ARM, seen, size=0.02, weights=heavy, offset=0.3).terms
    at = instant(q=(0.2, 0.3))
    first, second = (np.array(ca.DM(term.function(at))) for term in (one, four))
    np.testing.assert_allclose(2 * first, second, rtol=1e-12)


def instant(q, t=0.05, duration=SECONDS):
    return SimpleNamespace(
        t=ca.DM(t),
        T=ca.DM(duration),
        q=ca.DM(q),
        position=lambda name: position(ARM, ca.DM(q), name),
    )


def test_a_motion_that_outlasts_a_recording_is_warned_of():
    ((_, term),) = marker_tracking(ARM, recorded(), offset=0.3).terms
    with pytest.warns(UserWarning, match="was recorded until 1.1 s, 0.7 s before the end of the m"):
        term.function(instant(q=(0.2, 0.3), duration=1.5))


def test_forces_that_a_motion_needs_are_followed_without_deviation(hopping):
    stance, flight = hopping.phases.values()
    t = np.linspace(0.0, stance.duration, 41)
    given = stance.trace(lambda at: at.reaction.force("foot"), t)
    series = Series(t=t + 2.0, values={"foot": given}, source="hop.mot")
    ground = stance.problem.ground
    ((_, term),) = force_tracking(ground, series, force=10.0, offset=2.0).terms
    off = stance.trace(term.function, np.linspace(0.0, stance.duration, 17))
    assert np.abs(off).max() < 1e-3  # of 10 N
    ((_, late),) = force_tracking(ground, series, force=10.0, offset=2.0).terms
    none = flight.trace(late.function, np.array([0.0]))
    np.testing.assert_allclose(none[:, 0], -given[:, 0] / 10.0, atol=1e-6)


def two_rows():
    return Series(t=T, values={"tip": angles(T)})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: marker_tracking(ARM, Series(t=T, values={"KNEE": tips(T)}, source="a.trc")),
            "marker_tracking: a.trc: markers KNEE match no point of the tree, whose points are",
        ),
        (lambda: marker_tracking(ARM, two_rows()), "series: 'tip': expected 3 rows, got 2"),
        (
            lambda: marker_tracking(ARM, recorded(), points={"KNEE": "tip"}),
            "points: arm.trc has no marker 'KNEE'; it has tip",
        ),
        (
            lambda: marker_tracking(ARM, recorded(), weights={"KNEE": 1.0}),
            "weights: arm.trc has no 'KNEE'; it has tip",
        ),
        (lambda: marker_tracking(ARM, recorded(), weights={"tip": -1.0}), "weight of 'tip'"),
        (lambda: marker_tracking(ARM, recorded(), size=0.0), "size: expected a number above 0"),
        (
            lambda: angle_tracking(ARM, Series(t=T, values={"knee": T}, source="a.mot")),
            "angle_tracking: a.mot: unknown joint 'knee'",
        ),
        (
            lambda: force_tracking(hop().phases[0].ground, recorded()),
            "force_tracking: arm.trc: 'tip' is no foot of the ground; the feet are foot",
        ),
        (
            lambda: Series(t=T[::-1], values={"a": T}),
            r"series: t: expected times \(s\), each after",
        ),
        (lambda: Series(t=T, values={}), "expected at least one thing that was measured"),
        (lambda: Series(t=T, values={"a": T[1:]}), r"'a': expected \(rows, 81\)"),
        (lambda: Series(t=T, values={"a": np.full(81, np.nan)}), "'a': all 81 samples are missing"),
        (lambda: Series(t=T, values={"a": np.full(81, np.inf)}), "'a': expected finite numbers"),
        (lambda: recorded().only(["nose"]), "arm.trc: 'nose': not measured; it has tip"),
        (lambda: recorded().between(5.0, 6.0), "expected 5 or more samples from 5 to 6 s, got 0"),
        (lambda: recorded().only("tip"), "arm.trc: only: expected a list of names, got 'tip'"),
        (lambda: Series(t=T[:3], values={"a": T[:3]}), r"expected 5 or more times \(s\), got 3"),
        (
            lambda: marker_tracking(ARM, recorded(), offset=1.2),
            "marker_tracking: arm.trc: offset: expected a time from 0.3 to 1.1 s, .* got 1.2 s",
        ),
        (lambda: marker_tracking(ARM, recorded()), "offset: expected a time .*, got 0 s"),
        (
            lambda: marker_tracking(ARM, recorded(), weights={"tip": 0.0}),
            "marker_tracking: weights: arm.trc: all are 0",
        ),
        (
            lambda: marker_tracking(None, recorded()),
            "marker_tracking: tree: expected Tree, got None",
        ),
        (lambda: angle_tracking(None, recorded()), "angle_tracking: tree: expected Tree, got None"),
        (lambda: Series(t=T, values={1: T}), "name: expected str, got int 1"),
        (
            lambda: recorded().rotate(np.diag([1, 1, -1])),
            "rotation: .* that turns and does not mir",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_axes_with_z_up_become_axes_with_y_up():
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    wrench = np.arange(6.0)[:, None] * np.ones(81)
    series = Series(t=T, values={"tip": tips(T), "foot": wrench}).rotate(turn)
    np.testing.assert_allclose(series.values["tip"], turn @ tips(T))
    np.testing.assert_allclose(series.values["foot"][:, 0], (0, 2, -1, 3, 5, -4))
    with pytest.raises(ValueError, match="rotation: expected a matrix that turns"):
        recorded().rotate(2 * np.eye(3))
    with pytest.raises(ValueError, match="'a': expected 3 or 6 rows, got 1"):
        Series(t=T, values={"a": T}).rotate(turn)


def test_samples_are_read_straight_between_and_not_in_gaps():
    values = 2 * T
    values[10:12] = np.nan
    series = Series(t=T, values={"a": values})
    at = [series.at(np.array([t]))["a"][0, 0] for t in (0.305, 0.4, 0.395, 0.42, 1.2)]
    np.testing.assert_allclose(at, (0.61, np.nan, np.nan, 0.84, np.nan))


def test_quicker_samples_are_averaged_over_a_step():
    quick = np.linspace(0.0, 1.0, 1001)
    noisy = Series(t=quick, values={"a": 1.0 + np.where(np.arange(1001) % 2, 0.5, -0.5)})
    means = noisy.at(np.linspace(0.1, 0.9, 81))["a"][0]
    assert np.abs(means - 1.0).max() < 0.06
