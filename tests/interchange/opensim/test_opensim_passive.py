"""Bushings, springs, ligaments and formulas of OpenSim's files act as they do there."""

import json

import casadi as ca
import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import motion, states_of, torques
from osim_texts import PASSIVE, leg, written

from ocp import load_model
from ocp.interchange import ModelWarning
from ocp.mechanics import Deflections, PassiveForce, element_loss, element_torques
from ocp.mechanics.elements.generalized_forces import State, elastic_energy, element_loads
from ocp.storage.tree_data import tree_data, tree_of


def force(kind, more=None):
    """A force of a class."""
    return f'<{kind} name="it">{PASSIVE[kind] if more is None else more}</{kind}>'


def at(tree, state):
    """The State of a motion."""
    q, qd, _ = motion(tree, state)
    return State(tree=tree, q=ca.DM(q), qd=ca.DM(qd))


@needs_opensim
def test_passive_forces_take_what_they_take_in_opensim(tmp_path):
    trees, requests = {}, []
    for kind in PASSIVE:
        path = written(leg(force(kind)), tmp_path, f"{kind}.osim")
        trees[kind] = load_model(path)
        states = states_of(trees[kind], 6)
        requests.append({"model": str(path), "states": states, "forces": True})
    answers = opensim_answers(MODELS, several={"of": requests})["several"]
    for (kind, tree), request, answer in zip(trees.items(), requests, answers):
        most = 0.0
        for state, theirs in zip(request["states"], answer):
            here = at(tree, state)
            given = np.array(ca.DM(element_torques(tree, here.q, here.qd))).ravel()
            most = max(most, *abs(given))
            for name, needed in torques(tree, state).items():
                left = needed - given[tree.coordinate(name)]
                expected = pytest.approx(theirs["forces"][name], rel=1e-9, abs=1e-9)
                assert left == expected, kind
        assert most > 0.05, kind


@pytest.mark.parametrize("kind", PASSIVE)
def test_power_is_what_is_stored_and_lost(tmp_path, kind):
    """Along a motion, by a complex step: tau . q' + dV/dt + loss = 0."""
    tree = load_model(written(leg(force(kind)), tmp_path))
    for state in states_of(tree, 3, seed=1):
        here = at(tree, state)
        power = ca.dot(element_torques(tree, here.q, here.qd), here.qd)
        t = ca.SX.sym("t")
        stored = elastic_energy(tree, here.q + t * here.qd)
        rate = ca.Function("rate", [t], [ca.jacobian(ca.SX(stored), t)])(0)
        total = float(power + rate + element_loss(tree, here.q, here.qd))
        assert total == pytest.approx(0.0, abs=1e-9 * max(1.0, abs(float(power))))


def test_forces_on_links_give_the_same_torques(tmp_path):
    """By virtual work of a bushing's wrenches and of a spring's pulls."""
    for kind in ("BushingForce", "PathSpring"):
        tree = load_model(written(leg(force(kind)), tmp_path))
        here = at(tree, states_of(tree, 1, seed=2)[0])
        given = np.array(ca.DM(element_torques(tree, here.q, here.qd))).ravel()
        loads, wrenches = element_loads(tree, here.q, here.qd)
        assert not loads and len(wrenches) == 2
        total = np.zeros(tree.dof)
        for each in wrenches:
            for row, column in here.link_screws(each.link, ca.DM.zeros(3)).items():
                both = ca.vertcat(each.moment, each.force)
                total[row] += float(ca.dot(column, both))
        assert abs(given).max() > 0.1
        np.testing.assert_allclose(total, given, atol=1e-10)


def test_trees_with_passive_forces_are_kept_in_files(tmp_path):
    text = leg(*(force(kind).replace('"it"', f'"{kind}"') for kind in PASSIVE))
    tree = load_model(written(text, tmp_path))
    tapes = []
    data = tree_data(tree, lambda tape: {"tape": tapes.append(tape) or len(tapes) - 1})
    again = tree_of(json.loads(json.dumps(data)), lambda known: tapes[known["tape"]])
    here = at(tree, states_of(tree, 1, seed=3)[0])
    first, second = (element_torques(each, here.q, here.qd) for each in (tree, again))
    np.testing.assert_allclose(np.array(ca.DM(second)), np.array(ca.DM(first)), rtol=1e-14)


@pytest.mark.parametrize(
    ("kind", "old", "new", "words"),
    [
        ("Ligament", "<resting_length>0.4", "<resting_length>0", "expected a number above 0"),
        ("ExpressionBasedCoordinateForce", "cube(q)", "cube(x)", "<expression>: 'x': expected"),
        ("ExpressionBasedCoordinateForce", "cube(q)", "cube(q", "is no formula"),
        ("ExpressionBasedCoordinateForce", "cube(q)", "open(q)", "'open(q)': expected numbers, q"),
        ("ExpressionBasedCoordinateForce", "cube(q)", "max(q)", "another count of numbers"),
        ("ExpressionBasedCoordinateForce", "cube(q)", "q" + "+q" * 2000, "expected at most 2000"),
        ("BushingForce", "400 500 600", "400 500", "expected 3 finite numbers"),
        ("PathSpring", "<stiffness>500</stiffness>", "", "<stiffness> is missing"),
        ("PointToPointSpring", "/bodyset/shank", "/bodyset/foot", "which none has"),
    ],
)
def test_forces_that_are_wrong_are_refused_with_their_place(tmp_path, kind, old, new, words):
    with pytest.raises(ValueError) as error:
        load_model(written(leg(force(kind).replace(old, new)), tmp_path))
    assert str(error.value).startswith("small.osim:")
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_bushing_within_one_body_is_left_out(tmp_path):
    text = force("BushingForce").replace("/bodyset/shank", "/bodyset/thigh")
    with pytest.warns(ModelWarning, match="both its frames are on one body"):
        assert not load_model(written(leg(text), tmp_path)).elements


def test_what_acts_is_checked_by_name():
    over = Deflections(start="ground", end="shank")
    with pytest.raises(ValueError, match="'it': expected a force or an energy, got neither"):
        PassiveForce(name="it", over=over)
    with pytest.raises(ValueError, match="in 'a': expected two links, got one"):
        Deflections(start="a", end="a")
    with pytest.raises(ValueError, match="over: expected a path or Deflections"):
        PassiveForce(name="it", over="shank", energy=ca.sumsqr)
