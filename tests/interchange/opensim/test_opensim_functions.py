"""Paths that are functions, functions of several coordinates, and contacts by formula act as in
OpenSim."""

from itertools import product

import casadi as ca
import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import frames, states_of, torques
from osim_texts import (
    EXPONENTIAL,
    FALL,
    TERMS,
    WAYS,
    body,
    document,
    formula,
    leg_along,
    listed,
    polynomial,
    turning,
    written,
)

from ocp import load_model
from ocp.interchange import ModelWarning, opensim_contacts
from ocp.interchange.opensim.functions import function_of_several
from ocp.interchange.xml_elements import parse_xml
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.muscles import PolynomialPath, muscles_of


def length_and_slopes(tree, q):
    """Length and slopes of the only muscle's path at coordinates."""
    (muscle,) = muscles_of(tree)
    state = State(tree=tree, q=ca.DM([*q, *np.zeros(tree.dof - len(q))]))
    slope = muscle.path.slope(state)
    values = [muscle.path.length(state), *(slope.get(k, ca.DM(0)) for k in range(len(q)))]
    return np.array(ca.evalf(ca.vertcat(*values))).ravel()


def test_a_path_by_terms_is_a_polynomial_in_the_order_of_opensims_powers(tmp_path):
    tree = load_model(written(leg_along(TERMS), tmp_path))
    x, y = 0.3, -0.7
    length = 0.5 + 0.02 * y - 0.01 * y**2 + 0.03 * x + 0.004 * x * y + 0.005 * x**2
    slopes = 0.03 + 0.004 * y + 0.01 * x, 0.02 - 0.02 * y + 0.004 * x
    np.testing.assert_allclose(length_and_slopes(tree, (x, y)), (length, *slopes), atol=1e-15)
    assert isinstance(muscles_of(tree)[0].path, PolynomialPath)


def test_a_path_by_a_formula_has_its_slopes(tmp_path):
    tree = load_model(written(leg_along(formula("0.4+0.02*sin(a)*b^2", "a b")), tmp_path))
    length = 0.4 + 0.02 * np.sin(0.3) * 0.49
    slopes = 0.02 * np.cos(0.3) * 0.49, 0.02 * np.sin(0.3) * 2 * -0.7
    np.testing.assert_allclose(length_and_slopes(tree, (0.3, -0.7)), (length, *slopes), atol=1e-15)


def test_coordinates_that_stand_or_follow_count_by_their_leader(tmp_path):
    text = leg_along(TERMS)
    locked = '<Coordinate name="hip"><default_value>0.3</default_value><locked>true</locked>'
    text = text.replace('<Coordinate name="hip">', locked)
    tree = load_model(written(text, tmp_path))
    expected = length_and_slopes(load_model(written(leg_along(TERMS), tmp_path)), (0.3, -0.7))
    np.testing.assert_allclose(length_and_slopes(tree, (-0.7,)), expected[[0, 2]], atol=1e-15)


ARMS = "<moment_arm_functions>{}{}</moment_arm_functions>"
SLOPES = formula("-0.03-0.004*y-0.01*x", "x y"), formula("-0.02+0.02*y-0.004*x", "x y")


def test_moment_arms_that_are_not_the_slopes_of_the_length_are_said(tmp_path):
    right = load_model(written(leg_along(TERMS, more=ARMS.format(*SLOPES)), tmp_path))
    assert len(right.elements) == 1
    wrong = ARMS.format(SLOPES[0], SLOPES[1].replace("0.02*y", "0.021*y"))
    with pytest.warns(ModelWarning, match="are not its length's slopes, by .*e-04 m"):
        assert not load_model(written(leg_along(TERMS, more=wrong), tmp_path)).elements


@pytest.mark.parametrize(
    ("length", "ways", "words"),
    [
        (TERMS.replace(" 0.005", ""), WAYS, "<coefficients>: expected 6, by <order> 2, got 5"),
        (TERMS.replace(">2</order", ">1e9</order"), WAYS, "<coefficients>: expected 0, by <order>"),
        (TERMS, WAYS.split()[0], "<dimension>: expected 1, by its coordinates, got 2"),
        (TERMS, "/jointset/toe", "<coordinate_paths>: there is no coordinate 'toe'"),
        (TERMS, "", "<coordinate_paths>: expected one coordinate or more, got none"),
        ("", WAYS, "<length_function> is missing"),
        (formula("a+b", "a"), WAYS, "<variables>: expected 2, got a"),
        (formula("a+c", "a b"), WAYS, "<expression>: 'c': expected numbers, a, b, or"),
        (polynomial(1, 2), WAYS, "functions of this class are not read of 2 coordinates"),
    ],
)
def test_functions_that_are_wrong_are_refused_with_their_place(tmp_path, length, ways, words):
    with pytest.raises(ValueError) as error:
        load_model(written(leg_along(length, ways), tmp_path))
    assert str(error.value).startswith("small.osim:") and "\n" not in str(error.value)
    assert words in str(error.value)


def test_terms_of_three_coordinates_are_in_opensims_order():
    count = [each for each in product(range(4), repeat=3) if sum(each) <= 3]
    text = (
        "<MultivariatePolynomialFunction><coefficients>"
        f"{' '.join(map(str, range(20)))}</coefficients><dimension>3</dimension><order>3</order>"
        "</MultivariatePolynomialFunction>"
    )
    terms = function_of_several(parse_xml(text.encode(), "x.osim"), 3)
    assert terms.exponents == tuple(sorted(count))


@needs_opensim
@pytest.mark.parametrize("length", [TERMS, formula("0.4+0.02*sin(a)*b^2", "a b")])
def test_paths_by_functions_are_those_of_opensim(tmp_path, length):
    path = written(leg_along(length), tmp_path)
    tree = load_model(path)
    states = [{"hip": [a, 0, 0], "knee": [b, 0, 0]} for a, b in ((0.3, -0.7), (-0.2, 0.1))]
    answers = opensim_answers(MODELS, paths={"model": str(path), "states": states})["paths"]
    for state, answer in zip(states, answers):
        ours = length_and_slopes(tree, [state["hip"][0], state["knee"][0]])
        theirs, arms = answer["m"]
        np.testing.assert_allclose(ours, (theirs, -arms["hip"], -arms["knee"]), atol=1e-12)


# Axes of several coordinates ----------------------------------------------------------------------


SUMS = {
    "line": ("<LinearFunction><coefficients>0.5 -2 0.1</coefficients></LinearFunction>", "a b"),
    "terms": (
        TERMS.replace("0.004", "0"),
        "a b",
    ),
    "scaled": (
        f"<MultiplierFunction><function>{TERMS.replace('0.004', '0')}</function>"
        "<scale>-1.5</scale></MultiplierFunction>",
        "b a",
    ),
}


@needs_opensim
@pytest.mark.parametrize("case", SUMS)
def test_an_axis_by_a_sum_of_functions_moves_as_in_opensim(tmp_path, case):
    """By its energies: its solver is up to 1e-3 off them where an axis has a curve of two."""
    path = written(turning(*SUMS[case]), tmp_path)
    tree = load_model(path)
    assert [each.name for each in tree.moving] == ["a", "b"]
    states = states_of(tree, 4)
    request = {"model": str(path), "states": states}
    answers = opensim_answers(MODELS, lagrange=request, mechanics=request)
    for state, energetic, plain in zip(states, answers["lagrange"], answers["mechanics"]):
        given, ours = energetic["forces"], torques(tree, state)
        largest = max(map(abs, given.values()))
        for name, needed in ours.items():
            assert needed == pytest.approx(given[name], abs=1e-8 * largest)
        rotation, place = plain["places"]["stone"]
        frame = frames(tree, state)["stone"]
        np.testing.assert_allclose(frame[:3, 3], place, atol=1e-12)
        np.testing.assert_allclose(frame[:3, :3].ravel(), rotation, atol=1e-12)


def test_an_axis_by_a_product_of_two_coordinates_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a sum of functions of one coordinate each is read"):
        load_model(written(turning(TERMS, "a b"), tmp_path))


# Contacts -----------------------------------------------------------------------------------------

HALVES = document(
    [body("stone", 2.0)],
    [FALL],
    listed(
        "ForceSet",
        '<HuntCrossleyForce name="hit"><HuntCrossleyForce::ContactParametersSet><objects>'
        "<HuntCrossleyForce::ContactParameters><geometry>ball</geometry><stiffness>2e6</stiffness>"
        "<dissipation>0.5</dissipation></HuntCrossleyForce::ContactParameters>"
        "<HuntCrossleyForce::ContactParameters><geometry>floor</geometry><stiffness>7e6</stiffness>"
        "<dissipation>1.5</dissipation></HuntCrossleyForce::ContactParameters></objects>"
        "</HuntCrossleyForce::ContactParametersSet></HuntCrossleyForce>".replace("::", "."),
    ),
    listed(
        "ContactGeometrySet",
        '<ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><location>0 0 0'
        "</location><orientation>0 0 -1.5707963267948966</orientation></ContactHalfSpace>",
        '<ContactSphere name="ball"><socket_frame>/bodyset/stone</socket_frame><location>0 0 0'
        "</location><radius>0.05</radius></ContactSphere>",
    ),
)


@needs_opensim
@pytest.mark.filterwarnings("ignore:.*take opensim_contacts")
def test_the_push_of_an_exponential_contact_is_that_of_opensim(tmp_path):
    path = written(EXPONENTIAL, tmp_path)
    tree = load_model(path)
    (load,) = opensim_contacts(path, tree)
    assert load.point == "hit"
    cases = ((0.15, 0.0), (0.147, -0.2), (0.16, 0.3), (0.14, -0.5), (0.152, 2.0))
    states = [{"height": [height, rate, 0.0]} for height, rate in cases]
    request = {"model": str(path), "states": states, "forces": True}
    for state, answer in zip(states, opensim_answers(MODELS, mechanics=request)["mechanics"]):
        height, rate, _ = state["height"]
        push = float(load.law.push(ca.DM(height - 0.15), ca.DM(rate)))
        given = torques(tree, state)["height"] - answer["forces"]["height"]
        assert given == pytest.approx(push, rel=1e-9, abs=1e-9)


@needs_opensim
@pytest.mark.filterwarnings("ignore:.*take opensim_contacts")
def test_two_materials_push_by_both_stiffnesses_as_in_opensim(tmp_path):
    path = written(HALVES.replace("HuntCrossleyForce.", "HuntCrossleyForce::"), tmp_path)
    tree = load_model(path)
    (load,) = opensim_contacts(path, tree)
    states = [{"height": [0.05 - depth, -rate, 0.0]} for depth, rate in ((0.02, 0.0), (0.03, 0.3))]
    request = {"model": str(path), "states": states, "forces": True}
    for state, answer in zip(states, opensim_answers(MODELS, mechanics=request)["mechanics"]):
        height, rate, _ = state["height"]
        push = float(load.law.material.push(ca.DM(0.05 - height), ca.DM(-rate)))
        given = torques(tree, state)["height"] - answer["forces"]["height"]
        assert given == pytest.approx(push, rel=0.02)  # which is smoothed here


@pytest.mark.filterwarnings("ignore:.*take opensim_contacts")
def test_a_contact_without_a_plane_is_refused(tmp_path):
    text = HALVES.replace("<geometry>floor", "<geometry>ball")
    path = written(text, tmp_path)
    with pytest.raises(ValueError, match="expected a ContactSphere and a ContactHalfSpace"):
        opensim_contacts(path, load_model(path))
