"""Values of objectives of torques and accelerations."""

from types import SimpleNamespace

import casadi as ca
import pytest

import ocp

TREE = ocp.Tree(
    links=[ocp.Link(mass=1.0)] * 3,
    joints=(
        ocp.revolute("free"),
        ocp.revolute("turn", "free", torque=(-2.0, 5.0)),
        ocp.prismatic("slide", "turn", torque=4.0),
    ),
)


def residuals(objective, **quantities):
    """The residuals of the only term of an objective."""
    ((weight, term),) = objective.terms
    at = SimpleNamespace(tree=TREE, **{name: ca.DM(values) for name, values in quantities.items()})
    assert weight == 1.0 and term.kind == "squares"
    return ca.DM(term.function(at)).full().ravel().tolist()


def test_dynamic_effort_is_of_torques_over_their_largest_limits():
    assert residuals(ocp.dynamic_effort(TREE), tau=[3.0, 1.0, 2.0]) == pytest.approx([0.2, 0.5])


def test_effort_is_of_all_torques_or_of_those_named():
    assert residuals(ocp.effort(), tau=[3.0, 1.0, 2.0]) == [3.0, 1.0, 2.0]
    assert residuals(ocp.effort(TREE, ["slide", "free"]), tau=[3.0, 1.0, 2.0]) == [2.0, 3.0]


def test_smoothness_scales_turns_and_slides():
    scaled = residuals(ocp.smoothness(TREE, turn=10.0, slide=2.0), qdd=[1.0, 5.0, 1.0])
    assert scaled == pytest.approx([0.1, 0.5, 0.5])
    assert residuals(ocp.smoothness(TREE, ["slide"], slide=2.0), qdd=[1.0, 5.0, 1.0]) == [0.5]


def test_mixed_weighs_duration_against_effort():
    weights = {term.name: weight for weight, term in ocp.mixed_criterion(0.2).terms}
    assert weights == pytest.approx({"duration": 0.8, "effort": 0.2})
    tripled = 3 * (ocp.duration() + 0.5 * ocp.effort())
    assert [weight for weight, _ in tripled.terms] == [3.0, 1.5]


def test_a_stage_cost_is_of_distances_from_the_goal_over_what_counts_as_one():
    goal = {"q": {"turn": 0.5}, "qd": 0.0, "size": 0.1, "rate": 2.0}
    off = residuals(ocp.stage_cost(TREE, **goal), q=[9.0, 0.7, 9.0], qd=[1.0, 2.0, -3.0])
    assert off == pytest.approx([2.0, 0.5, 1.0, -1.5])
    open_one = ocp.stage_cost(TREE, q=(0.0, ocp.Parameter("goal", 0.5, "rad"), 0.0))
    ((_, term),) = open_one.terms
    assert "goal" in str(term.function(SimpleNamespace(q=ca.SX.sym("q", 3))))
    with pytest.raises(ValueError, match="stage_cost: size: expected a number above 0"):
        ocp.stage_cost(TREE, q=0.0, size=0.0)
    with pytest.raises(ValueError, match="unknown joint 'nobody'"):
        ocp.stage_cost(TREE, q={"nobody": 0.0})


@pytest.mark.parametrize("state", [ocp.effort, ocp.jerk, ocp.torque_rate, ocp.smoothness])
def test_joints_are_named_one_or_several_after_their_tree(state):
    values = {name: [3.0, 1.0, 2.0] for name in ("tau", "qdd", "qddd", "tau_rate")}
    assert residuals(state(TREE, "slide"), **values) == residuals(state(TREE, ("slide",)), **values)
    with pytest.raises(ValueError, match=f"^{state.__name__}: tree: expected a Tree, got str"):
        state("slide")
    with pytest.raises(ValueError, match="unknown joint 'slid'"):
        state(TREE, "slid")


def test_dynamic_effort_of_a_name_is_refused():
    with pytest.raises(ValueError, match="^dynamic_effort: tree: expected a Tree, got str 'slide'"):
        ocp.dynamic_effort("slide")


@pytest.mark.parametrize(
    "state",
    [
        lambda: ocp.duration() + 0.1,
        lambda: 0.1 + ocp.duration(),
        lambda: ocp.effort() * ocp.duration(),
        lambda: ocp.effort() / ocp.duration(),
        lambda: ocp.duration() - ocp.effort(),
        lambda: ocp.duration() ** 2,
        lambda: -ocp.duration(),
        lambda: max(ocp.effort(), ocp.duration()),
    ],
)
def test_a_formula_of_objectives_is_refused_with_what_they_take(state):
    with pytest.raises(ValueError, match=r"^objective: .*take \+ of one another and number \*"):
        state()


def test_a_list_of_objectives_is_summed():
    summed, added = sum([ocp.duration(), 0.01 * ocp.effort()]), ocp.duration() + 0.01 * ocp.effort()
    assert [(w, term.name) for w, term in summed.terms] == [(w, t.name) for w, t in added.terms]
