"""Certificates of motions of phases: what is true passes, every falsehood is refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from phased_motions import REACH, TILT, fallen, moved

import ocp
from ocp import NotVerified, Solver, continuous, impact, solve, verify
from ocp.certificate import violations
from ocp.certificate.checks.flight_momentum import flights
from ocp.certificate.transition_violations import impacts, link_violations
from ocp.problem import PointMass, Symmetry

TOLERANCE = 1e-6
STRIKE = "fall to rise"


@pytest.fixture(scope="module")
def fall():
    """A rod that falls, strikes with its end, which sticks, and goes on."""
    return fallen(friction=10.0)


@pytest.fixture(scope="module")
def smooth():
    """A motion of an arm in two phases."""
    return solve(moved(), solver=Solver(options={"tol": 1e-10}))


@pytest.fixture(scope="module")
def certificate(fall):
    return verify(fall)


def refused(solution, tolerance=1e9):
    """The lines with which a certificate refuses a solution."""
    with pytest.raises(NotVerified) as error:
        verify(solution).require(tolerance)
    return str(error.value)


def with_phase(solution, name, **changes):
    """A solution in which one phase is another."""
    phase = replace(solution.phases[name], **changes)
    return replace(solution, phases=dict(solution.phases) | {name: phase})


def test_what_is_true_passes(certificate, smooth):
    for each in (certificate, verify(smooth)):
        assert each.require(TOLERANCE).kkt < 1e-8 and not each.refusals


def test_the_whole_has_the_violations_of_its_phases_and_of_links(fall, certificate):
    names = set(certificate.violations)
    assert names == {
        *("fall: at_start.q", "fall: at_start.qd", "fall: passive_joints", "rise: passive_joints"),
        *(f"{STRIKE}: {what}" for what in ("q", "momentum", "leaving.end", "impulse.end")),
    }
    assert set(violations(fall)) == names


def test_an_impact_loses_the_energy_of_its_impulses_and_balances_momentum(certificate):
    (impact,) = certificate.impacts
    assert impact.lost > 1.0
    assert impact.formula == pytest.approx(impact.lost, rel=1e-9)
    assert impact.balance < 1e-9 and impact.time == pytest.approx(0.3)


def test_in_flight_gravity_alone_changes_momentum(fall, certificate):
    for flight in certificate.flights:
        assert max(flight.force, flight.moment, flight.parabola, flight.angular) < 1e-9
    pulled = fall.phases["fall"].points.copy()
    pulled[0, 2] += 0.01
    first, second = flights(with_phase(fall, "fall", points=pulled))
    assert first.force > 0.01 and first.parabola > 1e-3
    assert second == certificate.flights[1]


def test_other_impulses_are_refused_in_every_way_that_they_are_wrong(fall):
    push = fall.impulses[STRIKE]["end"]
    text = refused(replace(fall, impulses={STRIKE: {"end": -push + (0.0, 1.0, 0.0)}}), 0.05)
    for words in (
        "impulse.end (friction): violated",
        "momentum (",
        "momentum is off its balance",
        "energy lost is off the impulses'",
        "first-order",
    ):
        assert words in text
    assert "impulse of 'end' at fall to rise: acts where no motion feels it" in text
    aside = link_violations(replace(fall, impulses={STRIKE: {"end": push * (5, 1, 0.1)}}))
    worst = aside[f"{STRIKE}: impulse.end"]
    assert worst.label == "friction" and worst.dense > 1.0


def test_a_point_leaves_with_its_restitution_times_the_speed_with_which_it_came():
    bounced = fallen(friction=0.0, restitution=0.6)
    name = f"{STRIKE}: leaving.end"
    assert link_violations(bounced)[name].dense < 1e-8
    fall, rise = bounced.phases.values()
    arm = REACH * np.cos(TILT)
    came, left = (rates[1] - arm * rates[2] for rates in (fall.qd(0.3), rise.qd(0.0)))
    assert left == pytest.approx(-0.6 * came, rel=1e-6)
    for restitution in (0.0, 0.4):
        links = (impact("end", friction=0.0, restitution=restitution),)
        stated = replace(bounced, problem=replace(bounced.problem, links=links))
        worst = link_violations(stated)[name]
        assert worst.label == "normal"
        assert worst.dense == pytest.approx(left + restitution * came, rel=1e-6)


def test_a_jump_that_nothing_makes_is_a_violation(smooth):
    points = smooth.phases["part 2"].points.copy()
    points[0, 1] += 0.05  # by which the rate at the start is another
    worst = violations(with_phase(smooth, "part 2", points=points))["part 1 to part 2: qd"]
    assert (worst.label, worst.unit, worst.time) == ("shoulder", "rad/s", pytest.approx(0.4))
    assert worst.dense > 0.1


def test_falsehoods_of_the_whole_and_of_its_phases_are_refused_by_name(smooth):
    first = smooth.phases["part 1"]
    name, weight, value = first.terms[0]
    part = next(iter(smooth.problem.parts.values()))
    heavy = replace(part.tree.links[1], mass=9.0)
    tree = replace(part.tree, links=(part.tree.links[0], heavy))
    known = dict(smooth.multipliers)
    start = known.pop("part 1: at_start.q")
    lying = with_phase(
        smooth,
        "part 1",
        terms=((name, weight, 0.5 * value),),
        problem=replace(part, tree=tree),
        success=False,
        status="infeasible",
        duration=0.3,
    )
    text = refused(replace(lying, duration=0.9, objective=5.0, multipliers=known))
    for words in (
        "duration: reported 0.9 s, its phases last 0.7 s",
        "phase 'part 1': duration: reported 0.3 s, the problem gives 0.4 s",
        "phase 'part 1': effort: reported 1.3",
        "the terms of the whole are not those of its phases",
        "objective: reported 5, its variables make it",
        "phase 'part 1': its problem is another than the statement's",
        "phase 'part 1': status 'infeasible', that of the whole is",
        "multipliers of part 1: at_start.q: missing",
        "phase 'part 1': its multipliers are of other names than the whole's",
    ):
        assert words in text, words
    doubled = {"part 1: at_start.q": replace(start, values=2 * start.values)}
    text = refused(replace(smooth, multipliers=dict(smooth.multipliers) | doubled))
    assert "multipliers of part 1: at_start.q: the whole and its phase have others" in text


def test_multipliers_of_links_count_in_the_first_order_conditions(smooth):
    link = "part 1 to part 2: qdd"
    known = smooth.multipliers[link]
    doubled = dict(smooth.multipliers) | {link: replace(known, values=2 * known.values)}
    assert "first-order conditions are off" in refused(replace(smooth, multipliers=doubled), 1e-3)


def test_phases_of_other_names_and_impulses_of_nothing_are_no_motion(fall):
    renamed = {"down": fall.phases["fall"], "up": fall.phases["rise"]}
    with pytest.raises(NotVerified, match="phases: expected fall, rise, got down, up"):
        verify(replace(fall, phases=renamed))
    with pytest.raises(NotVerified, match="impulses: expected those of fall to rise, got none"):
        verify(replace(fall, impulses={}))
    with pytest.raises(NotVerified, match="phase 'fall': control points: expected numbers"):
        verify(with_phase(fall, "fall", points=np.zeros((3, 4))))


def test_phases_have_the_parameters_of_the_whole_and_no_impulses_of_their_own(fall, smooth):
    push = {STRIKE: {"end": np.ones(3)}}
    with pytest.raises(NotVerified, match="phase 'fall': has phases or impulses of its own"):
        verify(with_phase(fall, "fall", impulses=push))
    with pytest.raises(NotVerified, match="impulses: expected those of fall to rise, got none"):
        verify(replace(fall, impulses=None))
    with pytest.raises(NotVerified, match="parameters: expected numbers by name, got NoneType"):
        verify(replace(smooth, parameters=None))
    text = refused(with_phase(smooth, "part 1", parameters={"way": 0.7}))
    assert "phase 'part 1': parameter 'way': another than that of the whole" in text


def test_under_a_symmetry_the_state_after_is_an_image(smooth):
    swap = Symmetry(index=(1, 0), sign=(1.0, 1.0))
    links = (continuous(symmetry=swap),)
    imaged = replace(smooth, problem=replace(smooth.problem, links=links))
    first, second = (smooth.phases[f"part {k}"] for k in (1, 2))
    worst = violations(imaged)["part 1 to part 2: q"]
    gap = first.q(0.4) - second.q(0.0)[::-1]
    assert worst.dense == pytest.approx(np.abs(gap).max()) and worst.dense > 0.1
    assert impacts(imaged) == ()


def test_a_printed_certificate_names_phases_impacts_and_flight(fall, certificate):
    text = ocp.summary(replace(fall, verification=certificate))
    for words in (
        *("phase ", "fall: 0.3 s (60.0%)", "impact ", "fall to rise, t = 0.3 s: end (-2.76"),
        *("momentum balanced to", "flight ", "centre of mass off its parabola"),
        *("fall to rise: leaving.end",),
    ):
        assert words in text


def test_a_point_mass_at_what_strikes_stops_with_it(fall):
    heavy = fallen(friction=10.0, loads=(PointMass(point="end", mass=1.0),))
    more = heavy.impulses[STRIKE]["end"] - fall.impulses[STRIKE]["end"]
    np.testing.assert_allclose(more, (-0.2, 0.0, 9.81 * 0.3), atol=1e-9)  # N s: its own momentum
    (impact,) = impacts(heavy)
    assert impact.balance < 1e-9 and impact.formula == pytest.approx(impact.lost, rel=1e-9)
    assert impact.lost == pytest.approx(impacts(fall)[0].lost + (0.2**2 + (9.81 * 0.3) ** 2) / 2)
