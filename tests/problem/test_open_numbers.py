"""Statements with open numbers: they are kept as values, and closed with given ones."""

import casadi as ca
import numpy as np
import pytest
from limited_arm import limited

import ocp
from ocp.mechanics.values.parameters import parameters_of, with_values
from ocp.models.arms.two_link import two_link
from ocp.problem import Span


def stated(**changes):
    given = {"motion": ocp.BSpline(points=5), "duration": 1.0, "objective": ocp.effort()}
    return ocp.Problem(**{"tree": two_link()} | given | changes)


def held(lower, upper):
    return ocp.Constraint(name="held", function=lambda at: at.q, lower=lower, upper=upper)


def test_open_bounds_are_kept_row_by_row_and_closed_to_numbers():
    low, high = ocp.Parameter("low", -1.0), ocp.Parameter("high", 2.0)
    open_one = held([low, -np.inf, 0.0], 3 * high)
    assert open_one.open and parameters_of(open_one) == (low, high)
    assert open_one.lower_of(0) is low and open_one.bounds(3)[1].shape == (3,)
    plain = with_values(open_one, {low: -4.0, high: 0.5})
    assert not plain.open and plain.lower == (-4.0, -np.inf, 0.0) and plain.upper == 1.5


def test_a_row_is_an_equality_where_its_open_bounds_are_alike():
    place = ocp.Parameter("place", 1.0)
    sides = held([place, 2 * place, 1.0, place], [place, 2 * place, place, 3 * place])
    assert [sides.equal(row) for row in range(4)] == [True, True, False, False]
    assert held([place, -np.inf], [np.inf, place]).has_bounds(1) == (False, True)


def test_closing_checks_bounds_as_if_they_had_been_stated_with_the_numbers():
    low = ocp.Parameter("low", 0.0)
    with pytest.raises(ValueError, match="'held': row 1: lower bound 4 is above upper bound 3"):
        with_values(held([0.0, low], 3.0), {low: 4.0})


def test_symbols_that_are_no_parameters_are_refused_as_bounds():
    with pytest.raises(ValueError, match="'held': lower bound: expected numbers"):
        held(ocp.Parameter("low", 1.0) * ca.SX.sym("x"), 3.0)


def test_a_duration_is_one_open_expression_or_has_open_ends():
    pace = ocp.Parameter("pace", 2.0)
    assert stated(duration=pace).duration == (pace, pace)
    lower, upper = stated(duration=(0.1, 2 / pace)).duration
    assert lower == 0.1 and parameters_of(upper) == (pace,)
    assert with_values(stated(duration=(0.1, 2 / pace)), {pace: 4.0}).duration == (0.1, 0.5)
    with pytest.raises(ValueError, match="duration: expected 0 < lower <= upper"):
        with_values(stated(duration=pace - 1), {pace: 0.5})


def test_weights_of_an_objective_may_be_open():
    weight = ocp.Parameter("weight", 0.25)
    mixed = (1 - weight) * ocp.duration() + ocp.effort() * weight
    assert parameters_of(mixed) == (weight,)
    numbers = [number for number, _ in with_values(mixed, {weight: 0.75}).terms]
    assert numbers == [0.25, 0.75]


def test_boundary_values_are_open_and_kept_within_their_joints_limits():
    angle = ocp.Parameter("angle", 0.5)
    (constraint,) = ocp.at_end(limited(), q=[angle, 0.0])
    assert constraint.lower == (angle, 0.0) and constraint.equal(0)
    assert ocp.at_end(limited(), q=angle)[0].upper == (angle, angle)
    with pytest.raises(ValueError, match="outside its limits"):
        ocp.at_end(limited(), q={limited().moving[0].name: 100 * angle})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: Span(start=s, end=1.0), "span: expected numbers, got 'strike'"),
        (
            lambda s: ocp.path("held", lambda at: at.q, lower=0, when=(s, 1.0)),
            "'held': when: .*'strike'",
        ),
        (lambda s: ocp.Support(link="foot", when=(0.0, s)), "support on 'foot': when: .*'strike'"),
        (
            lambda s: ocp.Foot(name="left", supports=(), center=(0, 0, 0), bears=(s, 1.0)),
            "foot 'left': bears: .*'strike'",
        ),
        (lambda s: ocp.Symmetry(index=(0, 1), sign=(s, 1)), "symmetry: sign: .*'strike'"),
        (lambda s: ocp.BSpline(points=s), "points: expected a whole number, got strike"),
    ],
)
def test_what_decides_the_structure_takes_no_parameters(build, message):
    with pytest.raises(ValueError, match=message):
        build(ocp.Parameter("strike", 0.4))


def test_parameters_are_tied_by_a_constraint_on_them_alone():
    peak, valley = (ocp.Parameter(name, 1.0, "N m", free=True) for name in ("peak", "valley"))
    tie = ocp.path("tie", lambda at: peak - 3 * valley, lower=0.0, upper=0.0, when="start")
    band = ocp.path("band", lambda at: at.tau, lower=-valley, upper=peak)
    ends = ocp.at_start(limited(), q=0.0, qd=0.0), ocp.at_end(limited(), q=[0.5, 0.2], qd=0.0)
    least = ocp.final("peak", lambda at: peak) + 0.01 * ocp.effort()
    parts = {"tree": limited(), "motion": ocp.BSpline(points=12), "objective": least}
    solution = ocp.solve(stated(**parts, constraints=(*ends, band, tie)))
    known = solution.require().parameters
    assert known["peak"] == pytest.approx(3 * known["valley"], rel=1e-9)
    torque = solution.tau(solution.times())
    assert torque.min() > -1.05 * known["valley"] and torque.max() < 1.05 * known["peak"]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda mass: stated(duration=mass), "duration: expected s, got parameter 'mass' in kg"),
        (
            lambda mass: ocp.at_end(limited(), qd=mass),
            "at_end.qd': shoulder: expected rad/s, got .* in kg",
        ),
        (
            lambda mass: ocp.path("speed", lambda at: at.q, upper=[1.0, mass], units="m/s"),
            "'speed': row 1: expected m/s, got parameter 'mass' in kg",
        ),
    ],
)
def test_a_parameter_of_another_unit_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        build(ocp.Parameter("mass", 2.0, "kg"))
