"""Parameters: open numbers that stay values, and the records closed with given ones."""

import math

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Parameter
from ocp.mechanics.values.parameters import (
    array,
    as_open,
    is_open,
    matrix,
    nominal,
    parameters_of,
    with_values,
)
from ocp.mechanics.values.validation import is_identically_zero, limits, numbers, positive
from ocp.solving.parameter_values import values_of


def test_open_numbers_are_compared_and_hashed_by_their_graph():
    mass, twin = Parameter("mass", 2.0, "kg"), Parameter("mass", 2.0, "kg")
    double = 2 * mass
    assert (1.0, mass) == (1.0, mass) and (1.0, mass) != (1.0, twin)
    assert {double: 1}[double] == 1 and double != mass


def test_arithmetic_gives_open_numbers_and_constants_give_numbers():
    mass = Parameter("mass", 2.0)
    assert nominal(3 * mass - 1) == 5.0
    assert mass - mass == 0.0 and isinstance(0 * mass, float)
    x = ca.SX.sym("x", 3)
    assert float(ca.Function("f", [x, mass.expression], [x[0] * mass + ca.sin(mass)])(1, 0)) == 0


def test_closing_puts_numbers_into_nested_sequences_and_leaves_the_rest_as_it_is():
    length, mass = Parameter("length", 1.0), Parameter("mass", 2.0)
    given = {length: 0.5}
    plain = (1.0, (2.0, 3.0))
    assert with_values(plain, given) is plain
    half = with_values((1.0, (length, 2 * length + mass)), given)
    assert half[:1] == (1.0,) and half[1][0] == 0.5
    assert parameters_of(half) == (mass,)
    assert with_values(half, {mass: 4.0}) == (1.0, (0.5, 5.0))


def test_arrays_and_matrices_of_open_numbers_keep_their_places():
    a = Parameter("a", 7.0)
    assert array([[1, 2], [a, 4]])[1, 0] is a and not is_open(array([1.0, 2.0]))
    values = ca.Function("f", [a.expression], [matrix([[1, a], [3, 4]])])(7)
    assert np.array(values).tolist() == [[1, 7], [3, 4]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("two words", 1.0), "name"),
        (("mass", "heavy"), "parameter 'mass': value"),
        (("mass", float("nan")), "parameter 'mass': value"),
        (("mass", 1.0, "kg", 3.0, 2.0), "lower bound 3 is above upper bound 2"),
        (("mass", 5.0, "kg", 0.0, 2.0), "within 0 and 2 kg, got 5"),
        (("mass", 1.0, 3), "unit"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_by_name(arguments, words):
    with pytest.raises(ValueError, match=words):
        Parameter(*arguments)


def test_given_values_are_refused_by_name_when_unknown_or_out_of_bounds():
    mass = Parameter("mass", 1.0, "kg", 0.0, 2.0)
    assert values_of([mass], {}) == {mass: 1.0}
    with pytest.raises(ValueError, match="'weight': .* has no such parameter; it has mass"):
        values_of([mass], {"weight": 1.0})
    with pytest.raises(ValueError, match="parameter 'mass': expected a number within 0 and 2 kg"):
        values_of([mass], {"mass": 3.0})
    for value in ("1.5", True, None):
        with pytest.raises(ValueError, match=f"'mass': expected a number, got {value!r}"):
            values_of([mass], {"mass": value})


@pytest.mark.parametrize(
    "asked", [bool, lambda m: max(m, 0.1), lambda m: 1 if m + 1 > 1 else 2, lambda m: 0 <= m <= 1]
)
def test_an_open_number_has_no_truth_and_says_so_by_name(asked):
    words = "parameter 'mass': its value is not known while a problem is stated.*casadi.fmax"
    with pytest.raises(ValueError, match=words):
        asked(Parameter("mass", 1.0))


@pytest.mark.parametrize("asked", [float, math.sqrt])
def test_an_open_number_is_no_float_and_says_so_by_name(asked):
    with pytest.raises(TypeError, match="parameter 'mass': its value is not known.*casadi.sqrt"):
        asked(Parameter("mass", 1.0))


def test_comparisons_of_open_numbers_go_into_expressions():
    mass = Parameter("mass", 2.0)
    assert nominal(as_open(ca.if_else(mass > 1, 3 * mass, 0.0))) == 6.0
    assert nominal(as_open(ca.fmax(mass, 2.5))) == 2.5
    assert nominal(Link(mass=1 + ca.fmax(mass, 2.5))).mass == 3.5


def test_numbers_are_open_only_where_their_unit_is_told():
    mass = Parameter("mass", 2.0, "kg")
    assert numbers("load", [mass, 1, 2], (3,), "kg").tolist() == [mass, 1.0, 2.0]
    assert limits("bounds", 2 * mass, "")[1] is not None and positive("m", mass, unit="kg") is mass
    with pytest.raises(ValueError, match="load: .* got 'mass', and no parameter can stand here"):
        numbers("load", [mass, 1, 2], (3,))
    with pytest.raises(ValueError, match="load: expected m, got parameter 'mass' in kg"):
        numbers("load", [mass, 1, 2], (3,), "m")
    with pytest.raises(ValueError, match="bounds: lower bound 3 is above upper bound mass"):
        limits("bounds", (3, mass), "kg")


def test_arrays_times_open_numbers_are_arrays_of_open_numbers():
    length = Parameter("length", 2.0)
    for product in (length * np.array([1.0, 2.0]), np.array([1.0, 2.0]) * length):
        assert nominal(product).tolist() == [2.0, 4.0]


def test_what_vanishes_whatever_the_values_is_told_from_what_is_zero_at_these():
    a, b = Parameter("a", 1.0), Parameter("b", 1.0)
    assert is_identically_zero(0.6 * (0.8 * a) - 0.8 * (0.6 * a)) and not is_identically_zero(a - b)
