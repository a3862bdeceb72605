"""Instructions of one kind stand together: the same bits, fewer changes of kind, no derivatives."""

from collections import Counter
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_motion, random_tree

from ocp.codegen.compiler import instruction_grouping
from ocp.dynamics import forward_dynamics
from ocp.dynamics.derivatives import composite_bodies
from ocp.dynamics.formulations import newton_euler
from ocp.models.walkers.human_like import human_like
from ocp.transcription import group_instructions

FUNCTIONS = {
    "torques": newton_euler.inverse,
    "slopes": lambda *at: ca.vertcat(*map(ca.vec, composite_bodies.slope_parts(*at))),
    "accelerations": forward_dynamics,
}


def graph(tree, of):
    motion = [ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd")]
    return ca.Function(of, motion, [FUNCTIONS[of](tree, *motion)], ["q", "qd", "qdd"], ["value"])


def kinds(function):
    return [function.instruction_id(k) for k in range(function.n_instructions())]


def changes(function):
    """How often an instruction follows one of another kind."""
    every = kinds(function)
    return sum(one != other for one, other in pairwise(every))


@pytest.mark.parametrize("of", FUNCTIONS)
@over(range(12))
def test_grouped_functions_of_random_trees_give_the_same_bits(of, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1 + seed)
    plain, place = graph(tree, of), random_motion(rng, tree)
    other = group_instructions(plain)
    assert other is not plain or not plain.n_instructions()
    assert np.array_equal(np.array(other(*place)), np.array(plain(*place)))


@pytest.mark.parametrize("of", FUNCTIONS)
def test_the_same_instructions_change_kind_an_eighth_as_often(of):
    plain = graph(human_like(), of)
    other = group_instructions(plain)
    assert Counter(kinds(other)) == Counter(kinds(plain))
    assert changes(other) < changes(plain) / 8


def test_a_grouped_function_is_named_and_mapped_and_written_as_the_other():
    plain = graph(human_like(), "torques")
    other = group_instructions(plain)
    assert (other.name(), other.name_in(), other.name_out()) == (
        plain.name(),
        plain.name_in(),
        plain.name_out(),
    )
    places = [np.random.default_rng(k).uniform(-1, 1, (55, 3)) for k in range(3)]
    expected = np.array(plain.map(3)(*places))
    for each in (other.map(3), ca.Function.deserialize(other.serialize()).map(3)):
        assert np.array_equal(np.array(each(*places)), expected)
    symbols = [ca.SX.sym(name, 55) for name in ("a", "b", "c")]
    written = ca.Function("written", symbols, [other(*symbols)]).map(3)
    assert np.array_equal(np.array(written(*places)), expected)


def test_the_place_of_a_result_is_taken_again_when_nothing_waits_for_it():
    x = ca.SX.sym("x")
    value = x
    for _ in range(100):
        value = ca.sin(value)
    other = group_instructions(ca.Function("chain", [x], [value]))
    places = {k for n in range(100) for k in other.instruction_output(1 + n)}
    assert len(places) == 1


def test_a_grouped_function_refuses_to_be_differentiated():
    x = ca.MX.sym("x", 2)
    symbol = ca.SX.sym("x", 2)
    other = group_instructions(ca.Function("f", [symbol], [ca.sin(symbol[0]) * symbol[1]]))
    for derivative in (lambda: ca.jacobian(other(x), x), other.jacobian):
        with pytest.raises(RuntimeError):
            derivative()


def test_what_is_no_graph_of_plain_scalars_is_returned_as_it_is():
    x, y, free = ca.MX.sym("x", 2), ca.SX.sym("y"), ca.SX.sym("free")
    inner = ca.Function("inner", [y], [ca.sin(y)], {"never_inline": True})
    outer = ca.Function("outer", [y], [inner(y) + y])
    matrices = ca.Function("matrices", [x], [ca.sin(x)])
    open_graph = ca.Function("open", [y], [y * free], {"allow_free": True})
    for function in (matrices, outer, open_graph, ca.Function("none", [y], [])):
        assert group_instructions(function) is function


@pytest.mark.parametrize("what", ["find_table", "_instructions", "_allocate"])
def test_another_text_or_other_numbers_leave_a_function_as_it_is(what, monkeypatch):
    function, right = graph(human_like(), "torques"), getattr(instruction_grouping, what)

    def wrong(*given):
        if what != "_allocate":
            return None
        codes = right(*given)
        sums = codes[:, 0] == ca.OP_ADD
        codes[sums, 0] = ca.OP_SUB
        return codes

    monkeypatch.setattr(instruction_grouping, what, wrong)
    assert group_instructions(function) is function
