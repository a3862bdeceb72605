"""The certificate of a motion finds what the solver does not say."""

import pickle
import re
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.certificate import certify_solution, violations
from ocp.certificate.checks.replay_motion import Deviations
from ocp.certificate.verification import certificate_data
from ocp.dynamics import FORMULATIONS
from ocp.mechanics.values.validation import plain_amount
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.swing_ups.cart_pole_swing import problem as swing


def test_a_certified_motion_passes_and_a_spoilt_one_does_not(lifted):
    certificate = ocp.verify(lifted).require(1e-2)
    assert certificate.drift < 1e-6 and certificate.energy_error < 1e-12 and certificate.kkt < 1e-6
    spoilt = ocp.verify(replace(lifted, points=lifted.points + 0.01 * np.eye(2, 12)))
    assert spoilt.kkt > 1e-3
    with pytest.raises(
        ocp.NotVerified, match=r"at_start.q \(shoulder\): violated by 0.01 rad at t = 0 s"
    ):
        spoilt.require(1e-3)


def test_solve_reports_the_certificate_when_asked(lifted):
    assert lifted.verification is None
    assert ocp.solve(lift(points=12), certify=True).verification == ocp.verify(lifted)


@pytest.fixture
def built(monkeypatch):
    """The problems that certificates transcribe again."""
    problems, transcribe = [], certify_solution.transcribe

    def transcribed(problem, *settings):
        problems.append(problem)
        return transcribe(problem, *settings)

    monkeypatch.setattr(certify_solution, "transcribe", transcribed)
    return problems


def test_the_program_that_was_solved_is_certified_and_not_transcribed_again(built):
    solution = ocp.solve(lift(points=12))
    known = ocp.verify(solution)
    assert not built and solution == replace(solution, program=None)
    copies = [pickle.loads(pickle.dumps(solution)), deepcopy(solution)]
    for number, other in enumerate([*copies, replace(solution, program=None)], 1):
        again = ocp.verify(other)
        assert other.program is None and len(built) == number
        assert again.kkt == pytest.approx(known.kkt, rel=1e-6, abs=1e-13)
        assert again.objective_error == pytest.approx(known.objective_error, rel=1e-6)
        assert again.refusals == known.refusals and again.violations == known.violations


def test_what_was_not_solved_is_transcribed_for_its_certificate(built):
    solution = ocp.solve(lift(points=12))
    tighter = replace(solution.problem, constraints=lift(points=12).constraints[:-1])
    coarser = replace(solution.transcription, method=ocp.Spline(nodes=3))
    for number, stated in enumerate(({"problem": tighter}, {"transcription": coarser}), 1):
        with pytest.raises(ocp.NotVerified):
            ocp.verify(replace(solution, **stated)).require(1e-2)
        assert len(built) == number
    plan = ocp.prepare(lift(points=12))
    name = plan.problem.constraints[0].name
    assert plan.solve().program is not None and plan.without(name).solve().program is None


def test_a_plan_by_the_simulating_formulation_is_simulated_by_another(lifted):
    certificate = ocp.verify(ocp.solve(lift(points=12), ocp.Transcription(dynamics="lie_group")))
    assert certificate.drift == pytest.approx(ocp.verify(lifted).drift, abs=1e-7)
    assert certificate.energy_error < 1e-12


def test_the_dense_grid_finds_what_the_nodes_hide():
    solution = ocp.solve(fastest(points=22), ocp.Transcription(method=ocp.Spline(nodes=1)))
    worst = ocp.verify(solution).violations["torque_limits"]
    assert (
        worst.nodes < 1e-6 and 0.05 < worst.dense < 0.07 and worst.unit == "N m"
    )  # 0.06 N m: measured by two other programs
    t = worst.time
    joint = ("shoulder", "elbow").index(worst.label)
    assert abs(solution.tau(t)[joint]) - 10 == pytest.approx(worst.dense, rel=1e-9)


def test_forward_simulation_sees_a_wrong_formulation(quick, monkeypatch):
    """Plan with dynamics of the house that forget the Coriolis terms.

    The simulation, by another formulation, must drift away.
    """
    formulation = quick.transcription.dynamics
    wrong = replace(
        formulation,
        inverse=lambda tree, q, qd, qdd, loads=(): formulation.inverse(tree, q, 0 * qd, qdd, loads),
    )
    monkeypatch.setitem(FORMULATIONS, wrong.name, wrong)
    solution = ocp.solve(fastest(points=12), ocp.Transcription(dynamics=wrong, derivatives="ad"))
    certificate = ocp.verify(solution)
    assert solution.success and certificate.drift > 0.01 and certificate.energy_error > 1e-3


def test_an_unstable_motion_drifts_far_but_not_within_a_segment():
    """A pendulum that balances upright.

    Each segment errs a little, which the whole motion multiplies.
    """
    pole = ocp.Tree(
        links=(ocp.Link(mass=1.0, com=(0.5, 0, 0)),),
        joints=(ocp.revolute("pivot"),),
        gravity=(0, -9.81, 0),
    )
    problem = ocp.Problem(
        tree=pole,
        motion=ocp.BSpline(points=30, degree=5),
        duration=3.0,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(pole, q=np.pi / 2 - 0.01, qd=0.0),
            ocp.at_end(pole, q=np.pi / 2, qd=0.0),
        ),
    )
    certificate = ocp.verify(ocp.solve(problem).require()).require(1e-6)
    assert certificate.drift > 100 * certificate.defect and 0 < certificate.defect < 1e-8


def test_a_motion_that_misses_its_goal_is_refused_though_each_segment_errs_little():
    """A pole on 25 control points lands 0.19 rad beside its goal; no segment errs by 0.01 rad."""
    certificate = ocp.verify(ocp.solve(swing(points=25)).require(coarse=True))
    apart = certificate.deviations
    assert apart.defect < 1e-2 < 0.15 < apart.goal_drift <= apart.drift and apart.gathered > 0.1
    with pytest.raises(ocp.NotVerified, match="simulation drifts from the plan by: 0.1"):
        certificate.require(1e-2)


def sledge(forward):
    """The certificate of a mass of 2 kg planned to stay at rest for 2 s, which moves otherwise."""
    tree = ocp.Tree(links=(ocp.Link(mass=2.0),), joints=(ocp.prismatic("x", axis=(1.0, 0, 0)),))
    asleep = ocp.Formulation(
        name="asleep",
        inverse=lambda tree, q, qd, qdd, loads=(): 2.0 * qdd,
        forward=lambda tree, q, qd, tau, loads=(): tau / 2.0 + forward(q),
    )
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=7),
        duration=2.0,
        objective=ocp.effort(),
        constraints=(ocp.at_start(tree, q=0.0, qd=0.0), ocp.at_end(tree, q=0.0, qd=0.0)),
    )
    return ocp.verify(ocp.solve(problem, ocp.Transcription(dynamics=asleep, derivatives="ad")))


def test_the_largest_drift_is_not_that_at_the_end():
    """On a spring of a period of 2 s, pulled aside, it is back in time."""
    certificate = sledge(lambda q: 1.0 - np.pi**2 * q)
    assert certificate.drift == pytest.approx(2.0 / np.pi**2)
    assert certificate.goal_drift < 1e-7


def test_what_segments_gather_is_carried_to_the_end_of_the_motion():
    """Pushed evenly each segment errs alike, and in all it goes as far as the sledge itself."""
    apart, h = sledge(lambda q: 0.5).deviations, 0.5
    assert apart.defect == pytest.approx(0.5 * h**2 / 2) and apart.drift == pytest.approx(1.0)
    carried = sum(0.5 * h**2 / 2 + 0.5 * h * (2.0 - (k + 1) * h) for k in range(4))
    assert apart.gathered == pytest.approx(carried) == pytest.approx(1.0)


@pytest.mark.parametrize("value", [0.02, np.nan, np.inf])
@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("energy_error", "energy balance is off by"),
        ("kkt", "first-order conditions are off by"),
        ("objective_error", "objective is off its integral by"),
    ],
)
def test_every_number_of_a_certificate_is_required(lifted, field, words, value):
    certificate = ocp.verify(lifted)
    with pytest.raises(ocp.NotVerified, match=f"{words}: {value:.4g}"):
        replace(certificate, **{field: value}).require(0.01)


@pytest.mark.parametrize(
    ("drift", "gathered", "passes"),
    [(1.0, 1e-3, True), (1e-3, 1.0, True), (1.0, 1.0, False), (0.0, np.nan, False)],
)
def test_the_smaller_of_drift_and_gathered_defects_judges(lifted, drift, gathered, passes):
    certificate = ocp.verify(lifted)
    apart = replace(certificate.deviations, drift=drift, gathered=gathered)
    changed = replace(certificate, deviations=apart)
    if passes:
        changed.require(1e-2)
    else:
        with pytest.raises(ocp.NotVerified, match="simulation drifts from the plan"):
            changed.require(1e-2)


def test_a_via_point_is_looked_at_where_it_was_asked_for(lifted):
    """Of no node of the grid; between the nodes around it the tip is elsewhere."""
    via = ocp.path("via", lambda at: at.q[0], lower=0.1, upper=0.1, when=(0.37, 0.37), units="rad")
    problem = replace(lifted.problem, constraints=(*lifted.problem.constraints, via))
    worst = ocp.verify(ocp.solve(problem).require()).require(1e-2).violations["via"]
    assert worst.nodes < 1e-8 and worst.dense < 1e-8


def test_control_points_are_looked_at_where_these_were_bounded(lifted):
    """The outermost control point lies beyond the curve, which keeps within its own range."""
    points = lifted.points.copy()
    points[1, 5] += 3.0
    bumpy = replace(lifted, points=points)
    most = float(bumpy.q(bumpy.times(2001))[1].max())
    hull = ocp.path("hull", lambda at: at.q[1], upper=most, when="hull", units="rad")
    asked = replace(lifted.problem, constraints=(hull,))
    worst = violations(replace(bumpy, problem=asked))["hull"]
    assert worst.nodes == pytest.approx(points[1].max() - most) and worst.nodes > 0.1
    assert worst.dense < 1e-5


def test_the_row_that_is_worst_is_told_with_its_own_unit_label_and_bound(lifted):
    """Two kinds of row, both broken: 3 m of 100 m is less than 0.1 rad of 2 rad."""
    both = ocp.path(
        "both",
        lambda at: (103.0 + 0 * at.q[0], 2.1 + 0 * at.q[0]),
        upper=(100.0, 2.0),
        labels=("far", "near"),
        units=("m", "rad"),
    )
    problem = replace(lifted.problem, constraints=(both,))
    worst = violations(replace(lifted, problem=problem))["both"]
    assert (worst.label, worst.unit) == ("near", "rad")
    assert worst.dense == pytest.approx(0.1) and worst.relative == pytest.approx(0.05)


def test_reports_keep_every_number_in_its_place(lifted):
    certificate = replace(
        ocp.verify(lifted),
        deviations=Deviations(drift=0.4, goal_drift=0.3, defect=0.2, gathered=0.1),
        energy_error=0.5,
        kkt=0.6,
        objective=0.7,
        objective_error=0.8,
    )
    numbers = certificate_data(certificate)
    for key, value in (
        ("simulation_drift", 0.4),
        ("goal_drift", 0.3),
        ("defect", 0.2),
        ("gathered", 0.1),
        ("energy_error", 0.5),
        ("kkt", 0.6),
        ("objective", 0.7),
        ("objective_error", 0.8),
    ):
        assert numbers[key] == value
    text = str(certificate)
    assert re.search(r"energy balance +5\.00e-01", text)
    assert re.search(r"first order +6\.00e-01", text)
    assert "drift 4.00e-01, at the end 3.00e-01, of a segment by itself 2.00e-01" in text
    assert repr(certificate).endswith("drift=4.00e-01, energy_error=5.00e-01, kkt=6.00e-01)")


def test_a_certificate_begins_with_its_verdict(lifted):
    certificate = ocp.verify(lifted)
    assert certificate.verdict(0.01) == "certified to 0.01"
    certificate.require(certificate.tightest)
    said = re.match(r"certificate +certified to ([\d.e-]+)\n", str(certificate))
    assert certificate.tightest <= float(said[1]) <= 1.1 * certificate.tightest + 1e-12
    off = replace(certificate, kkt=0.6, energy_error=0.5)
    assert off.verdict(0.01) == (
        "not certified to 0.01: energy balance is off by: 0.5 (relative), and 1 more"
    )
    refused = replace(certificate, refusals=("not solved: at all",))
    assert refused.verdict() == "not certified: not solved: at all"
    assert f"certificate           {certificate.verdict()}" in ocp.summary(
        replace(lifted, verification=certificate)
    )


def test_a_refusal_names_the_next_command(lifted):
    certificate = ocp.verify(lifted)
    coarse = replace(certificate, energy_error=0.5)
    with pytest.raises(ocp.NotVerified, match=r"next: solve\(problem, refine=0.01\)"):
        coarse.require(0.01)
    early = replace(certificate, kkt=0.5)
    with pytest.raises(ocp.NotVerified, match="next: a tighter tolerance of the solver"):
        early.require(0.01)


def test_amounts_are_printed_in_units_rather_than_in_measures():
    assert plain_amount(3.85e-3, "(598.4 N)") == (pytest.approx(2.304, rel=1e-3), "N")
    assert plain_amount(0.2, "rad/s2") == (0.2, "rad/s2")
    turning = ocp.Transcription(method=ocp.HermiteSimpson(intervals=12))
    worst = ocp.verify(ocp.solve(swing(points=12), turning)).violations["dynamics"]
    assert worst.unit in ("N", "N m")
