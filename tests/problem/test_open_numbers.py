"""Statements with open numbers: they are kept as values, and closed with given ones."""

import casadi as ca
import numpy as np
import pytest

from ocp import Constraint, Parameter
from ocp.mechanics.parameters import closed, parameters_of


def held(lower, upper):
    return Constraint(name="held", function=lambda at: at.q, lower=lower, upper=upper)


def test_open_bounds_are_kept_row_by_row_and_closed_to_numbers():
    low, high = Parameter("low", -1.0), Parameter("high", 2.0)
    open_one = held([low, -np.inf, 0.0], 3 * high)
    assert open_one.open and parameters_of(open_one) == (low, high)
    assert open_one.lower_of(0) is low and open_one.bounds(3)[1].shape == (3,)
    plain = closed(open_one, {low: -4.0, high: 0.5})
    assert not plain.open and plain.lower == (-4.0, -np.inf, 0.0) and plain.upper == 1.5


def test_a_row_is_an_equality_where_its_open_bounds_are_alike():
    place = Parameter("place", 1.0)
    sides = held([place, 2 * place, 1.0, place], [place, 2 * place, place, 3 * place])
    assert [sides.equal(row) for row in range(4)] == [True, True, False, False]
    assert held([place, -np.inf], [np.inf, place]).bounded(1) == (False, True)


def test_closing_checks_bounds_as_if_they_had_been_stated_with_the_numbers():
    low = Parameter("low", 0.0)
    with pytest.raises(ValueError, match="'held': row 1: lower bound 4 is above upper bound 3"):
        closed(held([0.0, low], 3.0), {low: 4.0})


def test_symbols_that_are_no_parameters_are_refused_as_bounds():
    with pytest.raises(ValueError, match="'held': lower bound: expected numbers"):
        held(Parameter("low", 1.0) * ca.SX.sym("x"), 3.0)
