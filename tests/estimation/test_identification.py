"""Parameters from recordings: what is found, how well, and what cannot be."""

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline, Load, Parameter, Problem, Recording, effort, fit, noisy, predict
from ocp.models.arms.two_link import two_link
from ocp.models.flat import flat

VISCOUS = [Parameter(f"viscous{k}", 0.0, "", lower=0.0) for k in range(2)]
COULOMB = [Parameter(f"coulomb{k}", 0.0, "", lower=0.0) for k in range(2)]
GAIN = Parameter("gain", 1.0)
OFFSET = Parameter("offset", 0.0, "N m")
TRUTH = {"viscous0": 0.3, "viscous1": 0.2, "coulomb0": 0.5, "coulomb1": 0.1, "gain": 1.1}
TIMES = np.linspace(0, 4, 201)


def motor(at):
    """Torques (2, N m) of drives with a gain and friction."""
    return GAIN * at.tau + ca.vertcat(*VISCOUS) * at.qd + ca.vertcat(*COULOMB) * ca.sign(at.qd)


PROBLEM = Problem(
    tree=two_link(gravity=9.81),
    motion=BSpline(points=8),
    duration=1.0,
    objective=effort(),
    outputs={"motor": motor, "shifted": lambda at: at.tau + OFFSET - OFFSET / 2 + VISCOUS[0]},
)


@lru_cache
def recording():
    """A seeded motion of two joints, and the true torques of its drives."""
    rng = np.random.default_rng(0)
    speeds = 2 * np.pi / 4 * np.arange(1, 4)[:, None]
    sines, cosines = 0.4 * rng.standard_normal((2, 2, 3, 1))
    q = np.sum(sines * np.sin(speeds * TIMES) + cosines * np.cos(speeds * TIMES), axis=1)
    still = Recording(t=TIMES, q=q, outputs={}, motion=BSpline(points=30, degree=5))
    return replace(
        still,
        outputs={"motor": predict(PROBLEM, still, TRUTH, outputs=("motor",))["motor"]},
        deviations={"motor": (0.1, 0.05)},
    )


def test_without_noise_every_parameter_is_the_true_one():
    answer = fit(PROBLEM, [recording()], free=tuple(TRUTH))
    assert answer.success
    assert answer.iterations <= 3  # the outputs are linear in these parameters
    assert {name: answer.values[name] for name in TRUTH} == pytest.approx(TRUTH, abs=1e-9)
    assert not answer.unidentifiable
    assert answer.misfit == pytest.approx(0, abs=1e-12)


def test_standard_errors_are_those_of_the_scatter_over_seeds():
    answers = [fit(PROBLEM, [noisy(recording(), seed)], free=tuple(TRUTH)) for seed in range(40)]
    off = np.array(
        [[(each.values[n] - TRUTH[n]) / each.errors[n] for n in TRUTH] for each in answers]
    )
    assert np.sqrt(np.mean(off**2, axis=0)) == pytest.approx(1, abs=4 / np.sqrt(2 * 40))
    assert np.mean([each.misfit for each in answers]) == pytest.approx(1, abs=0.05)


def test_errors_within_a_bandwidth_are_those_of_as_many_samples():
    narrow = replace(recording(), bandwidth=5.0)
    wide, slow = (fit(PROBLEM, [each], free=("gain",)) for each in (recording(), narrow))
    assert slow.errors["gain"] == pytest.approx(np.sqrt(5) * wide.errors["gain"], rel=0.01)
    off = [
        (fit(PROBLEM, [noisy(narrow, seed)], free=("gain",)).values["gain"] - 1.0)
        for seed in range(3)
    ]
    assert np.abs(off).max() < 0.5


def test_the_problem_with_what_was_found_has_numbers_alone():
    answer = fit(PROBLEM, [recording()], free=("gain",), values={"viscous0": 0.3})
    torques = predict(answer.closed_problem, recording())["motor"]
    values = {**{each.name: each.value for each in answer.parameters}, "viscous0": 0.3}
    again = predict(PROBLEM, recording(), {**values, "gain": answer.values["gain"]})
    assert np.abs(torques - again["motor"]).max() < 1e-12


def test_two_trials_say_more_than_one():
    one = fit(PROBLEM, [noisy(recording(), 1)], free=tuple(TRUTH))
    two = fit(PROBLEM, [noisy(recording(), 1), noisy(recording(), 2)], free=tuple(TRUTH))
    for name in TRUTH:
        assert two.errors[name] == pytest.approx(one.errors[name] / np.sqrt(2), rel=1e-6)
    assert len(two.residuals) == 2


def test_deviations_that_are_not_given_are_those_of_the_residuals():
    known = noisy(recording(), 4)
    answer = fit(PROBLEM, [replace(known, deviations={})], free=tuple(TRUTH))
    assert answer.deviations[0]["motor"] == pytest.approx([0.1, 0.05], rel=0.12)
    assert answer.misfit is None
    given = fit(PROBLEM, [known], free=tuple(TRUTH))
    for name in TRUTH:
        assert answer.errors[name] == pytest.approx(given.errors[name], rel=0.15)


def test_a_bound_that_is_leaned_on_is_told():
    values = dict(TRUTH, coulomb1=0.0)
    still = replace(recording(), outputs={"motor": motor_of(values) - 0.02 * sign()})
    answer = fit(PROBLEM, [still], free=tuple(TRUTH))
    assert answer.at_bounds == ("coulomb1",)
    assert answer.values["coulomb1"] == 0.0
    assert answer.errors["coulomb1"] == 0.0


def motor_of(values):
    """True torques of the drives at some values."""
    return predict(PROBLEM, recording(), values)["motor"]


def sign():
    """Directions of the second joint, as the second row."""
    return np.vstack([np.zeros(201), np.sign(recording().curve()[1][1])])


def test_what_the_outputs_do_not_determine_is_named():
    timed = replace(PROBLEM, duration=Parameter("time", 1.0, "s"))
    torque = predict(timed, recording(), outputs=("shifted",))
    still = replace(recording(), outputs=torque, deviations={"shifted": 0.1})
    answer = fit(timed, [still], free=("offset", "viscous0", "time"))
    assert set(answer.unidentifiable) == {
        "time has no influence",
        "offset +1 N m, viscous0 -0.5 together have no influence",
    }
    assert np.isinf([answer.errors[name] for name in ("offset", "viscous0", "time")]).all()
    total, covariance = answer.estimate([OFFSET / 2 + VISCOUS[0], OFFSET])
    assert total[0] == pytest.approx(0.0, abs=1e-12)
    assert covariance[0, 0] == pytest.approx(0.1**2 / (2 * 201))
    assert np.isinf(covariance[1, 1])


def test_a_parameter_of_a_load_is_found():
    wind = Parameter("wind", 1.0, "N", free=True)
    blown = replace(
        PROBLEM,
        loads=(Load(point="tip", force=lambda t: ca.vertcat(wind * ca.sin(t), 0, 0)),),
        outputs={"tau": lambda at: at.tau},
    )
    torque = predict(blown, recording(), {"wind": 3.0}, outputs=("tau",))
    answer = fit(blown, [replace(recording(), outputs=torque, deviations={"tau": 1.0})])
    assert answer.values["wind"] == pytest.approx(3.0, abs=1e-9)


def test_samples_that_are_missing_count_nothing():
    gaps = np.array(recording().outputs["motor"])
    gaps[:, ::2] = np.nan
    answer = fit(PROBLEM, [replace(recording(), outputs={"motor": gaps})], free=("gain",))
    whole = fit(PROBLEM, [recording()], free=("gain",))
    assert answer.values["gain"] != whole.values["gain"]
    assert answer.errors["gain"] == pytest.approx(np.sqrt(2) * whole.errors["gain"], rel=0.05)


def test_a_problem_that_is_not_true_is_told():
    answer = fit(PROBLEM, [noisy(recording(), 1)], free=("gain",))
    assert answer.misfit > 5
    assert any("not true" in line for line in answer.explanation)
    assert any("residuals of motor are correlated" in line for line in answer.explanation)
    assert "misfit" in str(answer)


def test_bodies_that_cannot_be_are_told():
    inertia = Parameter("inertia", 0.1, "kg m2", free=True)
    links = (PROBLEM.tree.links[0], flat(0.5, (-0.2, 0.0), inertia))
    opened = replace(
        PROBLEM, tree=replace(PROBLEM.tree, links=links), outputs={"tau": lambda at: at.tau}
    )
    answers = {}
    for value in (-0.01, 0.05):
        torque = predict(opened, recording(), {"inertia": value}, outputs=("tau",))
        measured = replace(recording(), outputs=torque, deviations={"tau": 1.0})
        answers[value] = fit(opened, [measured])
        assert answers[value].values["inertia"] == pytest.approx(value, abs=1e-9)
    assert any("inertia x: -0.01 kg m2 was found" in line for line in answers[-0.01].explanation)
    with pytest.raises(ValueError, match="link inertia"):
        _ = answers[-0.01].closed_problem
    assert not any("inertia" in line for line in answers[0.05].explanation)
    assert answers[0.05].closed_problem.tree.links[1].inertia[2][2] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"free": ("mass",)},
            "parameter 'mass': the recorded outputs have no such parameter; they have gain",
        ),
        ({"free": "gain"}, "free: expected a tuple of names, got 'gain'"),
        ({"free": ()}, "free: no parameter is sought; the outputs have gain, viscous0"),
        ({"values": {"viscous0": -1.0}}, "parameter 'viscous0': expected a number within 0"),
        ({"recordings": []}, "recordings: expected one or more"),
        ({"recordings": 3}, "recordings: expected a tuple of Recording"),
        ({"recordings": [{"outputs": {}}]}, "recording: no output was recorded"),
        ({"recordings": [{"outputs": {"sound": TIMES}}]}, "output 'sound': the problem has no"),
        ({"recordings": [{"outputs": {"motor": TIMES}}]}, "output 'motor': expected 2 rows, got 1"),
        ({"recordings": [{"q": np.zeros((3, 201))}]}, r"q: expected 2 rows \(shoulder, elbow\)"),
    ],
)
def test_what_cannot_be_fitted_is_refused(arguments, words):
    arguments = {"recordings": [{}], "free": ("gain",), **arguments}
    recordings = arguments.pop("recordings")
    if isinstance(recordings, list):
        changes = [{"deviations": {}, **each} if "outputs" in each else each for each in recordings]
        recordings = [replace(recording(), **change) for change in changes]
    with pytest.raises(ValueError, match=words):
        fit(PROBLEM, recordings, **arguments)


def test_two_parameters_of_one_name_are_refused():
    twice = replace(PROBLEM, outputs={"motor": lambda at: at.tau * GAIN * Parameter("gain", 2.0)})
    with pytest.raises(ValueError, match="parameter 'gain': two parameters"):
        fit(twice, [recording()], free=("gain",))


def rough():
    """The recording with an encoder's noise, of a motion that its basis can follow."""
    basis = BSpline(points=20, degree=5)
    return replace(recording(), encoder=2e-3, motion=basis)


def test_noise_of_coordinates_that_is_told_is_in_the_standard_errors():
    answers = [fit(PROBLEM, [noisy(rough(), seed)], free=tuple(TRUTH)) for seed in range(10)]
    off = np.array(
        [[(each.values[n] - TRUTH[n]) / each.errors[n] for n in TRUTH] for each in answers]
    )
    assert np.sqrt(np.mean(off**2)) == pytest.approx(1, abs=0.3)
    assert np.mean([each.misfit for each in answers]) == pytest.approx(1, abs=0.05)
    exact = fit(PROBLEM, [noisy(recording(), 0)], free=tuple(TRUTH))
    assert all(answers[0].errors[name] > exact.errors[name] for name in TRUTH)


def test_noise_of_coordinates_that_is_not_told_biases_what_is_found():
    def probability(answer):
        names = [each for each in answer.free if each.name in TRUTH]
        values, covariance = answer.estimate(names)
        off = values - [TRUTH[each.name] for each in names]
        return off @ np.linalg.solve(covariance, off)

    recordings = [noisy(rough(), seed) for seed in range(4)]
    told = [probability(fit(PROBLEM, [each], free=tuple(TRUTH))) for each in recordings]
    untold = [
        probability(fit(PROBLEM, [replace(each, encoder=None)], free=tuple(TRUTH)))
        for each in recordings
    ]
    assert np.mean(told) < 9  # of five squares of normal deviates
    assert np.mean(untold) > 20


def test_a_sought_motion_without_noise_is_the_one_recorded():
    known = fit(PROBLEM, [recording()], free=tuple(TRUTH))
    answer = fit(PROBLEM, [replace(recording(), encoder=1e-9)], free=tuple(TRUTH))
    for name in TRUTH:
        assert answer.values[name] == pytest.approx(TRUTH[name], abs=1e-7)
        assert answer.errors[name] == pytest.approx(known.errors[name], rel=1e-6)
